use nvtxw::{FlexStr, NvtxEvent, NvtxPayload};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    text: FlexStr,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Payload {
    texts: [FlexStr; 2],
}

fn main() {}
