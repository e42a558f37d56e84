use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: u32,
    #[nvtx(category)]
    category: u16,
    #[nvtx(skip)]
    _pad1: u16,
    #[nvtx(scope)]
    scope: u32,
    #[nvtx(color)]
    color: [u8; 4],
}

fn main() {}
