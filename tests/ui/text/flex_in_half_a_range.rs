use nvtxw::{FlexStr, NvtxEvent};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Event {
    #[nvtx(timestamp_start)]
    time: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
}

fn main() {}
