use nvtxw::NvtxEvent;

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: u32,
    y: u32,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    point: Point,
}

fn main() {}
