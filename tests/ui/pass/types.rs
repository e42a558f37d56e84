use nvtxw::__private::{Entry, TypeCode};
use nvtxw::{Argb, CategoryId, NvtxEvent, RangeId, ScopeId, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    wide: i128,
    wide_unsigned: u128,
    #[nvtx(timestamp)]
    time: i64,
    size: usize,
    double: f64,
    long: u64,
    range: RangeId,
    scope: ScopeId,
    name: StringHandle,
    names: [StringHandle; 2],
    float: f32,
    int: i32,
    unsigned: u32,
    color: Argb,
    category: CategoryId,
    grid: [[u32; 3]; 2],
    short: i16,
    unsigned_short: u16,
    byte: u8,
    signed_byte: i8,
    flag: bool,
    flags: [bool; 13],
    letter: char,
    letters: [char; 3],
    #[nvtx(skip)]
    _pad: [u8; 8],
    address: *const Event,
    addresses: [*const u8; 2],
    #[nvtx(skip)]
    _tail: [u8; 8],
}

/// The predefined type (`None`: a registered one), and the length of an array.
fn stored(entry: &Entry) -> (Option<u64>, Option<usize>) {
    let code = match entry.ty.code {
        TypeCode::Predefined(code) => Some(code.to_raw()),
        TypeCode::Registered(_) => None,
    };
    (code, entry.ty.count)
}

fn main() {
    let table = <Event as NvtxEvent>::SCHEMA;
    assert_eq!(table.size, size_of::<Event>());
    let found: Vec<_> = table.entries.iter().map(stored).collect();
    let expected = [
        (Some(33), None),
        (Some(34), None),
        (Some(17), None),
        (Some(22), None),
        (Some(44), None),
        (Some(18), None),
        (Some(18), None),
        (Some(18), None),
        (Some(80), None),
        (Some(80), Some(2)),
        (Some(43), None),
        (Some(15), None),
        (Some(16), None),
        (Some(16), None),
        (Some(16), None),
        (Some(16), Some(6)),
        (Some(13), None),
        (Some(14), None),
        (Some(12), None),
        (Some(11), None),
        (None, None),
        (None, Some(13)),
        (Some(27), None),
        (Some(27), Some(3)),
        (Some(23), None),
        (Some(23), Some(2)),
    ];
    assert_eq!(found, expected);
    // A number without a role is a number, whatever it could be.
    assert!(table.entries.iter().all(|entry| entry.entry_type.is_none()));
}
