use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
