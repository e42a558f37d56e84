use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(skip = true)]
    a: u64,
    #[nvtx(hide(yes))]
    b: u64,
    #[nvtx(name)]
    c: u64,
    #[nvtx(description = bytes)]
    d: u64,
    #[nvtx(max = "9")]
    e: u64,
    #[nvtx(color = "red")]
    f: u32,
    g: u32,
}

fn main() {}
