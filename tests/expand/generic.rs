#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed(4))]
#[nvtx(kind = range_push, name = "a reading", crate = "tracing")]
struct Reading<D: Device, T = u8, const N: usize = 3>
where
    T: Into<u64>,
{
    #[nvtx(timestamp_start, time_domain = "cpu_tsc")]
    time: u64,
    #[nvtx(correlation = "launch", hide)]
    launch: u64,
    #[nvtx(max = -0.5)]
    value: D::Value,
    rest: [T; N],
}
