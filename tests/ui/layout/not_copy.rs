use nvtxw::NvtxEvent;

#[derive(NvtxEvent)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
