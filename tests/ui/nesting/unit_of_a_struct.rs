use nvtxw::{NvtxEvent, NvtxPayload};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner {
    a: u64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes")]
    inner: Inner,
}

fn main() {}
