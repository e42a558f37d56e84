use nvtxw::{NvtxEvent, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes")]
    name: StringHandle,
}

fn main() {}
