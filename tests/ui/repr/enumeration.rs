use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(u8)]
#[nvtx(kind = mark)]
enum Event {
    Start,
    Stop,
}

fn main() {}
