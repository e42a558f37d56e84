use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Event {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_start)]
    other: i64,
    #[nvtx(timestamp_end)]
    end: i64,
}

fn main() {}
