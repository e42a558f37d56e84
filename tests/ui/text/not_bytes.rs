use nvtxw::{FlexStr, NvtxEvent, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(string)]
    name: StringHandle,
    #[nvtx(string)]
    letters: [char; 2],
    #[nvtx(string)]
    lines: [[u8; 8]; 4],
    #[nvtx(message, flex)]
    text: u64,
    #[nvtx(flex)]
    texts: [FlexStr; 2],
}

fn main() {}
