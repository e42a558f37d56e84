use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pop)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
