use nvtxw::{NvtxEvent, NvtxField};

#[derive(NvtxField, Clone, Copy)]
struct Cycles(i64);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: Cycles,
}

fn main() {}
