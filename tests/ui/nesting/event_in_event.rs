use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Inner {
    #[nvtx(timestamp)]
    time: i64,
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
