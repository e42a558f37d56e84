use nvtxw::{NvtxEvent, NvtxPayload};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner {
    a: u32,
    b: u32,
    c: u32,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    inner: Inner,
    #[nvtx(timestamp)]
    time: i64,
    inners: [Inner; 3],
}

fn main() {}
