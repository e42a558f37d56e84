use nvtxw::{NvtxEnum, NvtxEvent};

#[derive(NvtxEnum, Clone, Copy)]
enum Level {
    Low,
    High,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    levels: [Level; 8],
}

fn main() {}
