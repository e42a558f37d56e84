use nvtxw::{NvtxCounterGroup, NvtxEvent, NvtxField};

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Percent(u8);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(max = 300)]
    level: u8,
    #[nvtx(min = -129)]
    offset: i8,
    #[nvtx(min = -1)]
    newtype: Percent,
    #[nvtx(max = 70000)]
    elements: [[u16; 2]; 3],
    #[nvtx(max = 18446744073709551616)]
    wide: u128,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    #[nvtx(min = -1e39, max = 1e39)]
    load: f32,
    #[nvtx(max = 4294967296)]
    queue: u32,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Generic<T> {
    #[nvtx(max = 300)]
    level: T,
}

const _: () = {
    let _ = <Generic<u64> as NvtxCounterGroup>::SCHEMA;
    let _ = <Generic<u8> as NvtxCounterGroup>::SCHEMA;
};

fn main() {}
