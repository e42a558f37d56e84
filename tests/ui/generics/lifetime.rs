use nvtxw::NvtxEvent;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event<'a> {
    #[nvtx(timestamp)]
    time: i64,
    name: &'a str,
}

fn main() {}
