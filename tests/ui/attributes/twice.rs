use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes", unit = "bits")]
    value: u64,
    #[nvtx(color)]
    #[nvtx(color)]
    color: u32,
    flags: u32,
}

fn main() {}
