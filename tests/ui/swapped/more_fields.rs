use std::mem::MaybeUninit;

use nvtxw::{NvtxEvent, NvtxPayload};
use nvtxw_swap::swap;

#[derive(NvtxEvent)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Event { time: i64, nothing: [MaybeUninit<u64>; 0] })]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

#[derive(NvtxPayload)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Payload<T: Copy> { value: T, more: MaybeUninit<T> })]
#[repr(C)]
struct Payload<T> {
    value: T,
}

fn main() {}
