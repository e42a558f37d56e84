use nvtxw::{NvtxEvent, NvtxPayload};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Inner<T> {
    a: T,
    b: u32,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    inner: Inner<u8>,
}

nvtxw::assert_event!(Event);

fn main() {}
