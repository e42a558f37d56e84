use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
#[nvtx(kind = range_push)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
