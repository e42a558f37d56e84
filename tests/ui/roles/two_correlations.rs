use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(correlation = "launch")]
    launch: u64,
    #[nvtx(correlation = "launch")]
    parent: u64,
    #[nvtx(correlation)]
    other: u64,
}

fn main() {}
