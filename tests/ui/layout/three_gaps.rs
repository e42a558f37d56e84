use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    a: u8,
    b: u16,
    r#type: u8,
    größe: u32,
    #[nvtx(skip)]
    pad: [u8; 3],
}

fn main() {}
