use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark, crate = "::tracing_library")]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    value: u64,
}

fn main() {}
