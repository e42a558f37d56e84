use nvtxw::{NvtxCounterGroup, NvtxEnum, NvtxEvent};

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u32)]
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
    #[nvtx(category)]
    category: Level,
    #[nvtx(unit = "bytes")]
    value: Level,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    level: Level,
}

fn main() {}
