use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark, crate = "not a path")]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
}

fn main() {}
