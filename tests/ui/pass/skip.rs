use std::marker::PhantomData;

use nvtxw::{NvtxCounterGroup, NvtxEvent, NvtxPayload};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Sent<T, const PAD: usize> {
    #[nvtx(skip)]
    first: PhantomData<T>,
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(skip)]
    middle: PhantomData<[T]>,
    value: u64,
    #[nvtx(skip)]
    rest: [u8; PAD],
    #[nvtx(skip)]
    last: PhantomData<fn(T) -> T>,
}

#[derive(Clone, Copy)]
struct Bytes;

nvtxw::assert_event!(Sent<Bytes, 0>);
nvtxw::assert_event!(Sent<Bytes, 8>);

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Amount<T> {
    value: u64,
    #[nvtx(skip)]
    of: PhantomData<T>,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    value: u64,
    #[nvtx(skip)]
    marker: PhantomData<str>,
}

fn main() {
    let table = <Sent<Bytes, 0> as NvtxEvent>::SCHEMA;
    assert_eq!(table.size, 16);
    let names: Vec<_> = table.entries.iter().map(|entry| (entry.name, entry.offset)).collect();
    assert_eq!(names, [(c"time", 0), (c"value", 8)]);

    const { <Amount<Bytes> as NvtxPayload>::CHECK };
    assert_eq!(<Amount<Bytes> as NvtxPayload>::SCHEMA.entries.len(), 1);
    assert_eq!(Group::SCHEMA.entries.len(), 1);
}
