use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    reads: u64,
    busy: f32,
}

fn main() {}
