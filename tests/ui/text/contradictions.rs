use nvtxw::{FlexStr, NvtxEvent, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp, string)]
    time: i64,
    #[nvtx(message, registered_string, string)]
    name: StringHandle,
    #[nvtx(flex, string)]
    text: FlexStr,
    #[nvtx(string, unit = "bytes")]
    letters: [u8; 8],
    #[nvtx(color, flex)]
    color: u32,
    #[nvtx(flex = "x")]
    more: FlexStr,
}

fn main() {}
