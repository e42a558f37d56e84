use nvtxw::{Flags, NvtxEnum, NvtxEvent};

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u64)]
enum Access {
    Read = 1,
    Write = 2,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    access: Flags<Access>,
}

fn main() {
    let _ = Event { time: 0, access: Flags::from(Access::Read) };
    let _ = Event { time: 0, access: Flags::none() };
}
