use nvtxw::__private::{Limit, SchemaRole, Semantics, TypeCode};
use nvtxw::{NvtxEvent, NvtxPayload, StringHandle};

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Pair {
    #[nvtx(unit = "bytes", max = 9)]
    a: u32,
    b: u32,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(name = "inner")]
struct Inner<T> {
    pairs: [Pair; 2],
    #[nvtx(registered_string)]
    file: StringHandle,
    #[nvtx(correlation = "launch")]
    launch: u64,
    value: T,
    #[nvtx(skip)]
    rest: Pair,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    x: u64,
    inner: [Pair; 2],
    bytes: Inner<u8>,
    last: [[Inner<[u8; 2]>; 2]; 3],
    y: [u8; 3],
}

nvtxw::assert_event!(Event);

fn main() {
    let table = <Inner<u8> as NvtxPayload>::SCHEMA;
    assert_eq!((table.name, table.size, table.pack_align), (c"inner", 41, Some(1)));
    assert_eq!(table.role, SchemaRole::Generic);
    let offsets: Vec<_> = table.entries.iter().map(|entry| entry.offset).collect();
    assert_eq!(offsets, [0, 16, 24, 32]);
    assert!(table.entries.iter().all(|entry| entry.role_flags == 0));
    let max = match Pair::SCHEMA.entries[0].semantics {
        Semantics::Counter { max, .. } => max,
        other => panic!("{other:?}"),
    };
    assert_eq!(max, Some(Limit::U64(9)));

    let found: Vec<_> = Event::SCHEMA.entries[1..4]
        .iter()
        .map(|entry| (entry.offset, entry.ty.count, matches!(entry.ty.code, TypeCode::Registered(_))))
        .collect();
    assert_eq!(found, [(8, Some(2), true), (24, None, true), (65, Some(6), true)]);
}
