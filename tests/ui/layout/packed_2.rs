use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed(2))]
#[nvtx(kind = mark)]
struct Event {
    a: u8,
    #[nvtx(timestamp)]
    t: i64,
    c: u16,
}

fn main() {}
