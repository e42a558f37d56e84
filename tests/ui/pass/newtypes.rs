use nvtxw::__private::{Entry, TypeCode};
use nvtxw::{Argb, NvtxCounterGroup, NvtxEvent, NvtxField, StringHandle};

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Cycles(i64);

/// A newtype of a newtype.
#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Start {
    at: Cycles,
}

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Name(StringHandle);

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Number<T>(T);

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Label([u8; 6]);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_start)]
struct Event {
    #[nvtx(timestamp_start)]
    start: Start,
    #[nvtx(range_id)]
    id: Number<u64>,
    #[nvtx(message, registered_string)]
    name: Name,
    #[nvtx(scope)]
    scope: Number<u64>,
    #[nvtx(correlation)]
    launch: Number<u64>,
    #[nvtx(color)]
    color: Number<Argb>,
    #[nvtx(category)]
    category: Number<u32>,
    #[nvtx(unit = "bytes", min = -1)]
    value: Number<i64>,
    values: [Cycles; 3],
    #[nvtx(string)]
    label: Label,
    flag: Number<bool>,
    last: Number<[u8; 1]>,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Group {
    #[nvtx(timestamp)]
    time: Start,
    value: Number<f64>,
}

/// The type that is registered for the entry, 0 for one that the domain registers.
fn code(entry: &Entry) -> u64 {
    match (entry.entry_type, entry.ty.code) {
        (Some(code), _) | (None, TypeCode::Predefined(code)) => code.to_raw(),
        (None, TypeCode::Registered(_)) => 0,
    }
}

fn main() {
    let entries = Event::SCHEMA.entries;
    let found: Vec<_> = entries.iter().map(|entry| (code(entry), entry.ty.count, entry.role_flags)).collect();
    let expected = [
        (17, None, 2 << 10 | 1 << 12),
        (67, None, 0),
        (80, None, 1 << 10),
        (70, None, 0),
        (18, None, 0),
        (69, None, 0),
        (68, None, 0),
        (17, None, 0),
        (17, Some(3), 0),
        (76, Some(6), 0),
        (0, None, 0),
        (12, Some(1), 0),
    ];
    assert_eq!(found, expected);
    let found: Vec<_> = Group::SCHEMA.entries.iter().map(|entry| (code(entry), entry.role_flags)).collect();
    assert_eq!(found, [(17, 2 << 10), (44, 4 << 12)]);
}
