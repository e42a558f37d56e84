use nvtxw::__private::{EnumTable, TypeCode};
use nvtxw::{Flags, NvtxEnum, NvtxEvent};

#[derive(NvtxEnum, Clone, Copy)]
#[repr(i8)]
enum Level {
    Low = -1,
    #[nvtx(name = "in between")]
    Middle,
    r#High,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u16)]
#[nvtx(name = "access", flags)]
enum Access {
    None = 0,
    Read = 1,
    Write = 2,
}

/// Its size is that of C's `int`.
#[derive(NvtxEnum, Clone, Copy)]
#[repr(C)]
enum Mode {
    On = 1,
    Off = -2,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u64)]
enum Wide {
    Last = u64::MAX,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Event {
    #[nvtx(timestamp)]
    time: i64,
    levels: [Level; 2],
    access: Flags<Access>,
    mode: Mode,
    wide: Wide,
}

fn values<E: NvtxEnum>() -> (usize, bool, Vec<(&'static str, u64)>) {
    let EnumTable { size, flags, values, .. } = E::TABLE;
    (size, flags, values.iter().map(|(name, value)| (name.to_str().unwrap(), *value)).collect())
}

fn main() {
    assert_eq!((Level::TABLE.name, Access::TABLE.name), (c"Level", c"access"));
    // A value is its bytes, and nothing beyond the enum's size.
    assert_eq!(values::<Level>(), (1, false, vec![("Low", 0xFF), ("in between", 0), ("High", 1)]));
    assert_eq!(values::<Access>(), (2, true, vec![("None", 0), ("Read", 1), ("Write", 2)]));
    assert_eq!(values::<Mode>(), (4, false, vec![("On", 1), ("Off", 0xFFFF_FFFE)]));
    assert_eq!(values::<Wide>(), (8, false, vec![("Last", u64::MAX)]));

    let entries = Event::SCHEMA.entries;
    let found: Vec<_> = entries[1..].iter().map(|entry| (entry.offset, entry.ty.count)).collect();
    assert_eq!(found, [(8, Some(2)), (10, None), (12, None), (16, None)]);
    assert!(entries[1..].iter().all(|entry| matches!(entry.ty.code, TypeCode::Registered(_))));

    let both = Access::Read | Access::Write | Access::None;
    assert_eq!(both, Flags::from(Access::Read) | Access::Write);
    assert_eq!(Access::Write | (Access::Read | Access::None), both);
    assert_eq!((both.bits(), Flags::<Access>::none().bits()), (3, 0));
    assert!(both.contains(Access::Write) && !Flags::from(Access::Read).contains(Access::Write));
    assert_eq!(Flags::<Access>::from_bits(3), both);
    let _ = (Level::Low, Level::Middle, Level::High, Mode::On, Mode::Off, Wide::Last);
}
