use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event<T> {
    #[nvtx(timestamp)]
    time: T,
}

nvtxw::assert_event!(Event<u64>);
nvtxw::assert_event!(Event<u32>);

fn main() {}
