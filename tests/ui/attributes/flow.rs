use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(flow)]
    launch: u64,
}

fn main() {}
