//! Fields of all types, in structs of all layouts.

use nvtxw::{EventKind, NvtxEvent, NvtxField, StringHandle};

use crate::data::{Data, Values, described, field, hidden, text, unsigned_times, values};
use crate::seen::{Shown, Tree, Type};
use crate::stage::{Attributes, Case, round_trip_in_batches};

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Integers {
    wide: i128,
    wide_unsigned: u128,
    #[nvtx(timestamp)]
    time: i64,
    size: usize,
    long: u64,
    int: i32,
    unsigned: u32,
    short: i16,
    unsigned_short: u16,
    byte: i8,
    unsigned_byte: u8,
    tail: [u16; 5],
}

values!(Integers: wide, wide_unsigned, time, size, long, int, unsigned, short, unsigned_short, byte, unsigned_byte, tail);

impl Case for Integers {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Integers";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("wide", self.wide),
            field("wide_unsigned", self.wide_unsigned),
            field("size", self.size),
            field("long", self.long),
            field("int", self.int),
            field("unsigned", self.unsigned),
            field("short", self.short),
            field("unsigned_short", self.unsigned_short),
            field("byte", self.byte),
            field("unsigned_byte", self.unsigned_byte),
            field("tail", self.tail),
        ]
    }
}

#[test]
fn integers() {
    round_trip_in_batches::<Integers>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_pushpop, name = "others of all kinds")]
struct Others {
    #[nvtx(timestamp_start)]
    start: i64,
    double: f64,
    float: f32,
    letter: char,
    address: *const Others,
    #[nvtx(timestamp_end)]
    end: i64,
    name: StringHandle,
    flag: bool,
    flags: [bool; 7],
}

values!(Others: start, double, float, letter, address, end, name, flag, flags);

impl Case for Others {
    const KIND: EventKind = EventKind::RangePushPop;
    const NAME: &'static str = "others of all kinds";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start, Some(self.end))
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("double", self.double),
            field("float", self.float),
            field("letter", self.letter),
            field("address", self.address),
            field("name", self.name),
            field("flag", self.flag),
            field("flags", self.flags),
        ]
    }
}

#[test]
fn floats_letters_addresses_strings_and_flags() {
    round_trip_in_batches::<Others>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Arrays {
    wide: [i128; 2],
    #[nvtx(timestamp_start)]
    start: u64,
    #[nvtx(timestamp_end)]
    end: u64,
    grid: [[u32; 3]; 2],
    cube: [[[i16; 2]; 2]; 2],
    doubles: [f64; 1],
    floats: [f32; 3],
    letters: [[char; 2]; 3],
    bytes: [u8; 20],
    names: [StringHandle; 2],
    addresses: [*const u8; 1],
    flags: [[bool; 4]; 4],
}

values!(
    Arrays: wide, start in unsigned_times(), end in unsigned_times(), grid, cube, doubles, floats, letters, bytes, names,
    addresses, flags,
);

impl Case for Arrays {
    const KIND: EventKind = EventKind::RangeStartEnd;
    const NAME: &'static str = "Arrays";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start as i64, Some(self.end as i64))
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("wide", self.wide),
            field("grid", self.grid),
            field("cube", self.cube),
            field("doubles", self.doubles),
            field("floats", self.floats),
            field("letters", self.letters),
            field("bytes", self.bytes),
            field("names", self.names),
            field("addresses", self.addresses),
            field("flags", self.flags),
        ]
    }
}

#[test]
fn arrays_of_arrays() {
    round_trip_in_batches::<Arrays>();
}

/// Each field lies where its alignment would not put it.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C, packed)]
#[nvtx(kind = mark)]
struct Packed {
    byte: u8,
    #[nvtx(timestamp)]
    time: u64,
    flag: bool,
    wide: u128,
    letter: char,
    short: i16,
    double: f64,
    floats: [f32; 3],
    name: StringHandle,
    last: u8,
}

values!(Packed: byte, time in unsigned_times(), flag, wide, letter, short, double, floats, name, last);

impl Case for Packed {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Packed";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time as i64, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("byte", self.byte),
            field("flag", self.flag),
            field("wide", self.wide),
            field("letter", self.letter),
            field("short", self.short),
            field("double", self.double),
            field("floats", self.floats),
            field("name", self.name),
            field("last", self.last),
        ]
    }
}

#[test]
fn packed_structs() {
    assert_eq!(size_of::<Packed>(), 61);
    round_trip_in_batches::<Packed>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C, packed(2))]
#[nvtx(kind = mark)]
struct HalfPacked {
    short: i16,
    #[nvtx(timestamp)]
    time: i64,
    bytes: [i8; 2],
    wide: i128,
    int: u32,
    other: u16,
    double: f64,
}

values!(HalfPacked: short, time, bytes, wide, int, other, double);

impl Case for HalfPacked {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "HalfPacked";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![
            field("short", self.short),
            field("bytes", self.bytes),
            field("wide", self.wide),
            field("int", self.int),
            field("other", self.other),
            field("double", self.double),
        ]
    }
}

#[test]
fn structs_packed_to_two_bytes() {
    assert_eq!(size_of::<HalfPacked>(), 42);
    round_trip_in_batches::<HalfPacked>();
}

/// Larger than its fields, because of its alignment.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C, align(32))]
#[nvtx(kind = mark)]
struct Aligned {
    #[nvtx(timestamp)]
    time: i64,
    value: u64,
    values: [u32; 4],
}

values!(Aligned: time, value, values);

impl Case for Aligned {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Aligned";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("value", self.value), field("values", self.values)]
    }
}

#[test]
fn structs_with_an_alignment_of_their_own() {
    round_trip_in_batches::<Aligned>();
}

/// Skipped fields are not there, hidden ones are hidden, and names are what attributes say.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Told {
    #[nvtx(skip)]
    before: u64,
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(hide)]
    secret: u32,
    #[nvtx(name = "a name, with \u{20AC}")]
    named: u32,
    #[nvtx(
        description = "what it holds",
        unit = "bytes",
        scale = "1/1024",
        min = 0,
        max = 9
    )]
    described: i64,
    r#type: u16,
    größe: u16,
    #[nvtx(skip)]
    gap: [u8; 3],
    #[nvtx(hide, name = "other", description = "more")]
    both: u8,
}

values!(Told: before, time, secret, named, described, r#type, größe, gap, both);

impl Case for Told {
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Told";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        let mut both = described("other", "more", self.both);
        both.is_hidden = true;
        vec![
            hidden("secret", self.secret),
            field("a name, with \u{20AC}", self.named),
            described("described", "what it holds", self.described),
            field("type", self.r#type),
            field("größe", self.größe),
            both,
        ]
    }
}

#[test]
fn skipped_hidden_named_and_described_fields() {
    round_trip_in_batches::<Told>();
}

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Generic<T, U, const N: usize> {
    #[nvtx(timestamp)]
    time: i64,
    one: T,
    more: [U; N],
}

impl<T: Values, U: Values + Clone, const N: usize> Values for Generic<T, U, N> {
    fn values() -> proptest::strategy::BoxedStrategy<Self> {
        use proptest::strategy::Strategy;
        (i64::values(), T::values(), <[U; N]>::values())
            .prop_map(|(time, one, more)| Self { time, one, more })
            .boxed()
    }
}

impl<T, U, const N: usize> Case for Generic<T, U, N>
where
    T: NvtxField + Data + Values,
    U: NvtxField + Data + Values,
{
    const KIND: EventKind = EventKind::Mark;
    const NAME: &'static str = "Generic";

    fn times(&self) -> (i64, Option<i64>) {
        (self.time, None)
    }

    fn fields(&self) -> Vec<Shown> {
        vec![field("one", self.one), field("more", self.more)]
    }
}

#[test]
fn generic_structs() {
    round_trip_in_batches::<Generic<u64, i32, 2>>();
    round_trip_in_batches::<Generic<[u16; 2], f32, 3>>();
    round_trip_in_batches::<Generic<[bool; 8], StringHandle, 1>>();
    round_trip_in_batches::<Generic<f64, [[u8; 8]; 2], 1>>();
}

/// Text in the struct itself.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Named {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, string)]
    name: [u8; 10],
    #[nvtx(string)]
    one: [u8; 1],
    #[nvtx(string, hide)]
    other: [u8; 5],
}

values!(Named: start, end, name, one, other);

impl Case for Named {
    const KIND: EventKind = EventKind::RangePushPop;
    const NAME: &'static str = "Named";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start, Some(self.end))
    }

    fn attributes(&self) -> Attributes {
        let name = crate::data::before_null(&self.name);
        Attributes {
            message: Some(String::from_utf8_lossy(name).into_owned()),
            ..Attributes::default()
        }
    }

    fn fields(&self) -> Vec<Shown> {
        let mut other = text("other", &self.other);
        other.is_hidden = true;
        vec![text("one", &self.one), other]
    }
}

#[test]
fn text_of_a_fixed_size() {
    round_trip_in_batches::<Named>();
}

#[derive(NvtxField, Clone, Copy, Debug)]
#[repr(transparent)]
struct Cycles(i64);

#[derive(NvtxField, Clone, Copy, Debug)]
#[repr(transparent)]
struct Bytes(u64);

/// Around another one.
#[derive(NvtxField, Clone, Copy, Debug)]
#[repr(transparent)]
struct Traffic(Bytes);

#[derive(NvtxField, Clone, Copy, Debug)]
#[repr(transparent)]
struct Tag([u8; 4]);

#[derive(NvtxField, Clone, Copy, Debug)]
#[repr(transparent)]
struct Name(StringHandle);

#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Wrapped {
    #[nvtx(timestamp_start)]
    start: Cycles,
    #[nvtx(timestamp_end)]
    end: Cycles,
    #[nvtx(message)]
    name: Name,
    #[nvtx(unit = "bytes")]
    read: Bytes,
    moved: [Traffic; 2],
    #[nvtx(string)]
    tag: Tag,
    raw: Tag,
}

impl Values for Wrapped {
    fn values() -> proptest::strategy::BoxedStrategy<Self> {
        use proptest::strategy::Strategy;
        type Parts = ([i64; 2], StringHandle, u64, [u64; 2], [[u8; 4]; 2]);
        let parts = (
            Values::values(),
            Values::values(),
            Values::values(),
            Values::values(),
            Values::values(),
        );
        parts
            .prop_map(|(times, name, read, moved, [tag, raw]): Parts| Self {
                start: Cycles(times[0]),
                end: Cycles(times[1]),
                name: Name(name),
                read: Bytes(read),
                moved: moved.map(|moved| Traffic(Bytes(moved))),
                tag: Tag(tag),
                raw: Tag(raw),
            })
            .boxed()
    }
}

impl Case for Wrapped {
    const KIND: EventKind = EventKind::RangeStartEnd;
    const NAME: &'static str = "Wrapped";

    fn times(&self) -> (i64, Option<i64>) {
        (self.start.0, Some(self.end.0))
    }

    fn attributes(&self) -> Attributes {
        Attributes {
            message: crate::data::text_of(self.name.0),
            ..Attributes::default()
        }
    }

    fn fields(&self) -> Vec<Shown> {
        let moved = self.moved.map(|Traffic(Bytes(moved))| moved);
        vec![
            field("read", self.read.0),
            field("moved", moved),
            text("tag", &self.tag.0),
            field("raw", self.raw.0),
        ]
    }
}

#[test]
fn newtypes() {
    round_trip_in_batches::<Wrapped>();
}

/// The expectations themselves, for one value of each form.
#[test]
fn what_is_expected_is_what_it_looks_like() {
    assert_eq!(
        field("grid", [[1_u32, 2], [3, 4]]),
        Shown {
            name: "grid".to_owned(),
            ty: Type::Number(16),
            count: Some(4),
            is_hidden: false,
            description: None,
            value: Tree::List(vec![Tree::U64(1), Tree::U64(2), Tree::U64(3), Tree::U64(4)]),
        }
    );
    assert_eq!(text("t", b"ab\0c").value, Tree::Text(b"ab".to_vec()));
    assert_eq!(field("x", -1.5_f32).value, Tree::F32(0xBFC0_0000));
    assert_eq!(
        field("x", true).value,
        Tree::Enum(1, Some("true".to_owned()))
    );
}
