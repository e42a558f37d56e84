use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    #[nvtx(timestamp)]
    time: i32,
    ready: bool,
    #[nvtx(skip)]
    _pad1: [u8; 3],
    reads: [u64; 2],
}

fn main() {}
