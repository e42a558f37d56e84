use nvtxw::{FlexStr, NvtxPayload, StringHandle};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Payload {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message)]
    name: StringHandle,
    #[nvtx(flex)]
    text: FlexStr,
}

fn main() {}
