use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(category, unit = "bytes", value_type = "delta")]
    category: u32,
    flags: u32,
}

fn main() {}
