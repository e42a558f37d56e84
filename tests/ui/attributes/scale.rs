use nvtxw::{NvtxEvent, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp, scale = "1/1000")]
    time: i64,
    #[nvtx(scale = "1/0")]
    a: u64,
    #[nvtx(scale = "0.001")]
    b: u64,
    #[nvtx(scale = 1000)]
    c: u64,
    #[nvtx(scale = 0.001)]
    d: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct OfText {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(scale = "1000")]
    name: StringHandle,
}

fn main() {}
