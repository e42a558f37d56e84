use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Misspelled {
    #[nvtx(timestamp_start, time_domain = "clock_monotonik")]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(time_domain = "cpu_tsc")]
    value: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Two {
    #[nvtx(timestamp_start, time_domain = "clock_realtime")]
    start: i64,
    #[nvtx(timestamp_end, time_domain = "cpu_tsc")]
    end: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct One {
    #[nvtx(timestamp_start, time_domain = "clock_realtime")]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
}

fn main() {}
