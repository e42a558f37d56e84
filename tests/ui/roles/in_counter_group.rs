use nvtxw::NvtxCounterGroup;

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(color)]
    color: u32,
    #[nvtx(registered_string)]
    count: u32,
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(timestamp)]
    other: i64,
}

fn main() {}
