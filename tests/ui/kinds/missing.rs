use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
