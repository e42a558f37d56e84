use std::marker::PhantomData;

use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    value: u32,
    #[nvtx(skip)]
    marker: PhantomData<u64>,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct NotSkipped {
    #[nvtx(timestamp)]
    time: i64,
    marker: PhantomData<u64>,
}

fn main() {}
