use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark, timestamp, nam = "x")]
struct Event {
    #[nvtx(timestamp, kind = mark)]
    time: i64,
}

fn main() {}
