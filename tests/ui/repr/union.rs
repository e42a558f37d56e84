use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
union Event {
    #[nvtx(timestamp)]
    time: i64,
    other: u64,
}

fn main() {}
