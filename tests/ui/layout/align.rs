use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, align(16))]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    t: i64,
    c: u32,
}

fn main() {}
