use nvtxw::{NvtxCounterGroup, NvtxEvent, NvtxField, StringHandle};

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Seconds(f64);

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Handle(usize);

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Name(StringHandle);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: Seconds,
    #[nvtx(message)]
    name: Handle,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    name: Name,
}

fn main() {}
