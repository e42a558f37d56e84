use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Event {
    #[nvtx(timestamp_start)]
    start: i64,
}

fn main() {}
