use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_end)]
struct Event {
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(range_id)]
    id: u32,
    value: u32,
}

fn main() {}
