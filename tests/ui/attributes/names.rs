use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark, name = "")]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(name = "")]
    value: u64,
    #[nvtx(name = "a\0b", description = "a\0", unit = "\0")]
    other: u64,
    #[nvtx(correlation = "\0")]
    launch: u64,
}

fn main() {}
