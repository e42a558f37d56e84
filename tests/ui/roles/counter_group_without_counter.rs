use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(skip)]
    reads: u64,
}

fn main() {}
