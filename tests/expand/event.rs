#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(color)]
    color: u32,
    grid: [u32; 3],
    #[nvtx(unit = "bytes", scale = "1/1024", min = 0, description = "shared memory")]
    r#shared: u64,
    #[nvtx(skip)]
    _rest: u64,
}
