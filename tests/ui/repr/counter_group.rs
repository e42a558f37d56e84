use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
struct Channel {
    reads: u64,
}

fn main() {}
