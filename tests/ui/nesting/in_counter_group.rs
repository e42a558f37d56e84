use nvtxw::{NvtxCounterGroup, NvtxPayload};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner {
    a: u64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    inner: Inner,
}

fn main() {}
