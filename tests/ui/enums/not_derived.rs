use nvtxw::NvtxEvent;

#[derive(Clone, Copy)]
#[repr(u64)]
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
    level: Level,
}

fn main() {}
