use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes" hide)]
    value: u64,
    #[nvtx("value")]
    other: u64,
}

fn main() {}
