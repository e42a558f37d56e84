use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    bytes: u64,
    #[nvtx(name = "bytes")]
    value: u64,
}

fn main() {}
