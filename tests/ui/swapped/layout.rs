use nvtxw::{NvtxEvent, NvtxPayload};
use nvtxw_swap::swap;

#[derive(NvtxEvent)]
#[swap(#[derive(Clone, Copy)] #[repr(C)] struct Event { low: u32, high: u32, time: i64 })]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    low: u32,
    high: u32,
}

#[derive(NvtxPayload)]
#[swap(#[derive(Clone, Copy)] #[repr(C, align(8))] struct Payload { value: u32 })]
#[repr(C)]
struct Payload {
    value: u32,
}

fn main() {}
