use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(interpolation = "spline")]
    a: u64,
    #[nvtx(value_type = "dleta")]
    b: u64,
    #[nvtx(interpolation = linear)]
    c: u64,
}

fn main() {}
