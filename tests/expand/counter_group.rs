#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes", value_type = "delta")]
    read: u64,
    #[nvtx(interpolation = "linear")]
    busy: f64,
}
