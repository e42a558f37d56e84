use std::mem::MaybeUninit;

use nvtxw::{NvtxCounterGroup, NvtxEvent, NvtxPayload, StringHandle};
use nvtxw_swap::swap;

#[derive(NvtxEvent)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Event { time: i64, value: MaybeUninit<u64> })]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    value: u64,
}

#[derive(NvtxEvent)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Named { time: i64, name: u64 })]
#[repr(C)]
#[nvtx(kind = mark)]
struct Named {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message)]
    name: StringHandle,
}

#[derive(NvtxCounterGroup)]
#[swap(#[derive(Clone, Copy)] #[repr(C, packed)] struct Group<T> { count: T, rest: MaybeUninit<T> })]
#[repr(C, packed)]
struct Group<T> {
    count: T,
    #[nvtx(skip)]
    rest: T,
}

#[derive(NvtxPayload)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Payload { at: &'static u64 })]
#[repr(C)]
struct Payload {
    at: *const u64,
}

fn main() {}
