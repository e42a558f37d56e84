use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(min = -1)]
    value: u64,
    #[nvtx(min = -1)]
    other: u64,
    #[nvtx(max = 1)]
    flag: bool,
    #[nvtx(max = 1)]
    c: char,
    d: [char; 3],
}

fn main() {}
