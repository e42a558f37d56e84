use nvtxw::{NvtxCounterGroup, NvtxEvent};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Value<T> {
    #[nvtx(timestamp)]
    time: i64,
    value: T,
}

nvtxw::assert_event!(Value<u64>);
nvtxw::assert_event!(Value<[u8; 8]>);
nvtxw::assert_event!(Value<[f32; 2]>,);

trait Device {
    type Counter: Copy + 'static;
}

#[derive(Clone, Copy)]
struct Memory;

impl Device for Memory {
    type Counter = u64;
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Reading<D: Device, T = u8, const N: usize = 3>
where
    T: Into<u64>,
{
    #[nvtx(skip)]
    before: [T; N],
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(unit = "bytes")]
    value: D::Counter,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Pair<T, U> {
    first: T,
    #[nvtx(max = 100)]
    second: U,
}

fn main() {
    let _ = Value { time: 0, value: 0_u64 };
    assert_eq!(<Value<u64> as NvtxEvent>::SCHEMA.size, 16);
    assert_eq!(<Value<[u8; 8]> as NvtxEvent>::SCHEMA.entries[1].ty.count, Some(8));

    const { <Reading<Memory> as NvtxEvent>::CHECK };
    let table = <Reading<Memory> as NvtxEvent>::SCHEMA;
    assert_eq!((table.size, table.pack_align), (19, Some(1)));
    assert_eq!(table.entries.iter().map(|entry| entry.offset).collect::<Vec<_>>(), [3, 11]);

    const { <Pair<u64, f64> as NvtxCounterGroup>::CHECK };
    assert_eq!(<Pair<u64, f64> as NvtxCounterGroup>::SCHEMA.size, 16);
}
