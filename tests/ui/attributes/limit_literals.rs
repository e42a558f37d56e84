use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(min = 0u64)]
    a: u64,
    #[nvtx(max = 340282366920938463463374607431768211456)]
    b: u64,
    #[nvtx(max = 1e999)]
    c: f64,
    #[nvtx(max = LIMIT)]
    d: u64,
}

fn main() {}
