use nvtxw::{NvtxEvent, NvtxPayload};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner {
    a: u8,
    b: u32,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    inner: Inner,
}

fn main() {}
