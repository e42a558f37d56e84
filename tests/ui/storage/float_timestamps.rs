use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Event {
    #[nvtx(timestamp_start)]
    start: f64,
    #[nvtx(timestamp_end)]
    end: f64,
}

fn main() {}
