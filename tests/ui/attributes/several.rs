use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[nvtx(kind = range_pushpop)]
struct Event {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(range_id)]
    id: u64,
    #[nvtx(colour)]
    color: u32,
    #[nvtx(skip, hide)]
    flags: u32,
}

fn is_an_event<E: NvtxEvent>() {}

fn main() {
    is_an_event::<Event>();
}
