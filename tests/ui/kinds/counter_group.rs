use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Channel {
    reads: u64,
}

fn main() {}
