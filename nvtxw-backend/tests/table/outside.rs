//! Memory outside of events: read for who has the backend as a library, and so promises that its pointers hold.
//!
//! What pointers lead to has exactly the size that it needs, so that a sanitizer tells of every byte more that is read.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const I32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const LOCAL: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const UTF16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16;
const UTF32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const POINTER: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
const BASE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;
const HERE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;
const BY_INDEX: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
const TO_ZERO: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
/// A pointer to what is to be copied, in a schema that holds such.
const COPIED: u64 = POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
const COPIES: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY;

/// Bytes in a place of their own, and where that is.
fn outside(bytes: impl Into<Box<[u8]>>) -> (Box<[u8]>, u64) {
    let bytes = bytes.into();
    let address = bytes.as_ptr().expose_provenance() as u64;
    (bytes, address)
}

fn detail(detail: u64, entry: nvtxPayloadSchemaEntry_t) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: detail,
        ..entry
    }
}

fn mark_with<const N: usize>(
    entries: [nvtxPayloadSchemaEntry_t; N],
) -> Vec<nvtxPayloadSchemaEntry_t> {
    [mark_entries().as_slice(), &entries].concat()
}

#[test]
fn strings_in_all_encodings() {
    let scene = Scene::loaded();
    let entries = mark_with([
        entry(0, LOCAL, c"local"),
        entry(MESSAGE, TEXT, c"message"),
        entry(POINTER, TEXT, c"text"),
        entry(0, UTF16, c"utf16"),
        entry(0, UTF32, c"utf32"),
    ]);
    let mark = scene.schema(MARK, &entries);
    let (_local, local) = outside(*b"local\xFF\0");
    let (_message, message) = outside(*b"message\0");
    let (_empty, empty) = outside(*b"\0");
    // At odd addresses, too.
    let (_utf16, utf16) =
        outside([vec![7], bytes!['a' as u16, 0xD83E_u16, 0xDD80_u16, 0_u16]].concat());
    let (_utf32, utf32) = outside([vec![7], bytes!['한' as u32, 0_u32]].concat());
    let event = bytes![1_i64, local, message, empty, utf16 + 1, utf32 + 1];
    assert_eq!(
        scene.written(&[payload(mark, &event)]),
        "mark @1 \"message\" {local: \"local\u{FFFD}\", text: \"\", utf16: wide \"a🦀\", utf32: wide \"한\"}"
    );
    // Null is absent.
    assert_eq!(
        scene.written(&[payload(
            mark,
            &bytes![1_i64, 0_u64, 0_u64, 0_u64, 0_u64, 0_u64]
        )]),
        "mark @1"
    );
    // What is in the event is still found there, where a payload ends it.
    let inside = b"inside";
    let event = bytes![1_i64, 0_u64, inside.as_ptr().addr(), 0_u64, 0_u64, 0_u64];
    assert_eq!(
        scene.written(&[
            payload(mark, &event),
            payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, inside)
        ]),
        "mark @1 \"inside\""
    );
    // In a batch, each event with its own.
    let events = bytes![
        1_i64, 0_u64, message, 0_u64, 0_u64, 0_u64, 2_i64, local, 0_u64, 0_u64, 0_u64, 0_u64
    ];
    let stream = scene.stream;
    (scene.program.write_batch(stream, &batch(mark, &events))).expect("written");
    assert_eq!(
        scene.program.journal.take()[1..],
        ["mark @1 \"message\"", "mark @2 {local: \"local\u{FFFD}\"}"]
    );
}

#[test]
fn data_that_is_to_be_copied() {
    copied(&Scene::loaded());
}

#[test]
fn data_that_is_to_be_copied_is_passed_on() {
    copied(&Scene::relayed());
}

fn copied(scene: &Scene) {
    let gemm = scene.program.string(scene.domain, c"gemm");
    let gemm = number(gemm.expect("a string"));
    let point = scene.schema(0, &[entry(0, U8, c"x"), entry(0, U16, c"y")]);
    let entries = mark_with([
        entry(COPIED, point, c"point"),
        array(COPIED, point, c"points", 2),
        entry(0, I32, c"count"),
        detail(4 - 1, entry(COPIED | BY_INDEX, U16, c"counted")),
        detail(4 - 1, entry(COPIED | BY_INDEX, TEXT, c"text")),
        array(COPIED, UTF16, c"four", 4),
        entry(COPIED | TO_ZERO, U16, c"to zero"),
        entry(COPIED, STRING, c"string"),
        entry(COPIED, U64, c"number"),
    ]);
    let mark = scene.schema(MARK | COPIES, &entries);
    let (_point, point) = outside([1, 0, 2, 0]);
    let (_points, points) = outside([3, 0, 4, 0, 5, 0, 6, 0]);
    let (_counted, counted) = outside(bytes![7_u16, 8_u16, 9_u16]);
    let (_text, text) = outside(*b"abc");
    let (_four, four) = outside(bytes!['x' as u16, 'y' as u16, 0_u16, 'z' as u16]);
    let (_to_zero, to_zero) = outside(bytes![0x100_u16, 1_u16, 0_u16]);
    let (_string, string) = outside(bytes![gemm]);
    // Not aligned.
    let (_number, number) = outside([vec![0xEE], bytes![u64::MAX]].concat());
    let event = |count: i32| {
        bytes![
            1_i64,
            point,
            points,
            count,
            0_i32,
            counted,
            text,
            four,
            to_zero,
            string,
            number + 1
        ]
    };
    assert_eq!(
        scene.written(&[payload(mark, &event(3))]),
        "mark @1 {point: {x: U64(1), y: U64(2)}, points: 2[{x: U64(3), y: U64(4)} {x: U64(5), y: U64(6)}], count: I64(3), \
         counted: 3[U64(7) U64(8) U64(9)], text: \"abc\", four: wide \"xy\", to zero: 2[U64(256) U64(1)], \
         string: #0 \"gemm\", number: U64(18446744073709551615)}"
    );
    let shown = scene.written(&[payload(mark, &event(-1))]);
    assert!(shown.contains("counted: 0[], text: \"\""), "{shown}");
    // A handle out there is checked like others.
    let (_string, string) = outside(bytes![7_u64]);
    let event = bytes![
        1_i64, 0_u64, 0_u64, 0_i32, 0_i32, 0_u64, 0_u64, 0_u64, 0_u64, string, 0_u64
    ];
    scene.refused(
        &[payload(mark, &event)],
        "`string` is 0x7, which is no string of the stream's domain: register it there",
    );
}

#[test]
fn structs_outside_hold_all_that_structs_hold() {
    structs(&Scene::loaded());
}

#[test]
fn structs_outside_are_passed_on() {
    structs(&Scene::relayed());
}

fn structs(scene: &Scene) {
    let schema = |attr: nvtxPayloadSchemaAttr_t| {
        (scene.program.schema(scene.domain, &attr)).expect("a schema")
    };
    let either = schema(union(schema_attr(
        0,
        &[entry(0, U16, c"a"), entry(0, U8, c"b")],
    )));
    let inner = [
        entry(0, U8, c"which"),
        detail(0, entry(0, either, c"either")),
        // From the struct's start, and from the entry's end.
        array(BASE, TEXT, c"base", 2),
        entry(HERE, U16, c"here"),
        entry(COPIED, TEXT, c"name"),
    ];
    let inner = schema(schema_attr(COPIES, &inner));
    let varying = [
        entry(0, U8, c"size"),
        detail(0, entry(BY_INDEX, TEXT, c"text")),
        entry(0, I32, c"after"),
        entry(TO_ZERO, U16, c"numbers"),
        entry(TO_ZERO, TEXT, c"last"),
    ];
    let varying = schema(dynamic(schema_attr(0, &varying)));
    let entries = mark_with([
        entry(COPIED, inner, c"inner"),
        entry(COPIED, varying, c"varying"),
    ]);
    let mark = schema(schema_attr(MARK | COPIES, &entries));

    let (_name, name) = outside(*b"name\0");
    let bytes = [
        vec![1, 0xEE, 9, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE],
        bytes![32_u64, 10_i64, name],
        b"ab".to_vec(),
        bytes![5_u16],
    ];
    let (_inner, inner) = outside(bytes.concat());
    let bytes = [
        vec![2, b'x', b'y', 0xEE],
        bytes![-1_i32, 6_u16, 0_u16],
        b"z\0".to_vec(),
    ];
    let (_varying, varying) = outside(bytes.concat());
    let shown = scene.written(&[payload(mark, &bytes![1_i64, inner, varying])]);
    assert_eq!(
        shown,
        "mark @1 {inner: {which: U64(1), either: {b: U64(9)}, base: \"ab\", here: U64(5), name: \"name\"}, \
         varying: {size: U64(2), text: \"xy\", after: I64(-1), numbers: 1[U64(6)], last: \"z\"}}"
    );

    // What is wrong out there refuses the event.
    let bad = [vec![2; 8], bytes![0_u64, 0_i64, 0_u64]].concat();
    let (_bad, address) = outside(bad);
    scene.refused(
        &[payload(mark, &bytes![1_i64, address, 0_u64])],
        &format!(
            "the selector of the union schema {either} is 2, which is none of its members: that is the index of an entry"
        ),
    );
    let before = [vec![0; 8], bytes![0_u64, -25_i64, 0_u64]].concat();
    let (_before, address) = outside(before);
    scene.refused(
        &[payload(mark, &bytes![1_i64, address, 0_u64])],
        &format!(
            "`here` is the offset -25, which leads out of the payload of {} bytes",
            (u64::MAX - address).min(i64::MAX as u64)
        ),
    );
}

#[test]
fn text_payloads_may_end_where_their_null_is() {
    let scene = Scene::loaded();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    let (text, _) = outside(*b"to the null\0");
    let terminated = |schema: u64, text: &[u8]| nvtxPayloadData_t {
        size: usize::MAX,
        ..payload(schema, text)
    };
    assert_eq!(
        scene.written(&[payload(mark, &time), terminated(scene.message, &text)]),
        "mark @1 \"to the null\" of 2 payloads"
    );
    assert_eq!(
        scene.written(&[payload(mark, &time), terminated(LOCAL, &text)]),
        "mark @1 of 2 payloads {value: \"to the null\"}"
    );
    // Units count, not bytes.
    let (utf32, _) = outside(bytes!['한' as u32, 0x100_u32, 0_u32]);
    assert_eq!(
        scene.written(&[payload(mark, &time), terminated(UTF32, &utf32)]),
        "mark @1 of 2 payloads {value: wide \"한Ā\"}"
    );
    let (long, _) = outside(vec![b'x'; 1 << 20]);
    scene.refused(
        &[payload(mark, &time), terminated(LOCAL, &long)],
        "payload 1: size is SIZE_MAX, but no null comes within 1048576 bytes; give the size",
    );
}

#[test]
fn only_who_promises_that_pointers_hold_has_them_followed() {
    let scene = Scene::new();
    let entries = mark_with([
        entry(0, LOCAL, c"string"),
        entry(COPIED, LOCAL, c"text"),
        array(COPIED, U8, c"bytes", 2),
    ]);
    let mark = scene.schema(MARK | COPIES, &entries);
    // Addresses that nothing is at.
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, 0_u64, 0xABC_u64, 0xDEF_u64])]),
        "mark @1 {text: Address(2748), bytes: Address(3567)}"
    );
    scene.refused(
        &[payload(mark, &bytes![1_i64, 0xABC_u64, 0_u64, 0_u64])],
        "`string` points to 0xabc, which is in no payload of the event: add the data as a payload of schema \
         NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED",
    );
    let endless = nvtxPayloadData_t {
        schemaId: scene.message,
        size: usize::MAX,
        payload: garbage(),
    };
    let time = scene.schema(MARK, &mark_entries());
    let written = scene.write(&[payload(time, &bytes![1_i64]), endless]);
    assert_unsupported(
        written,
        "EventWrite on \"gpu\": payload 1: size is SIZE_MAX, but this backend was not loaded as a library, so that it looks \
         for no null; give the size",
    );
    assert_eq!(scene.program.journal.take(), [""; 0]);
}

#[test]
fn copies_are_what_both_the_entry_and_the_schema_say() {
    let scene = Scene::loaded();
    let event = bytes![1_i64, 0xABC_u64];
    let entries = mark_with([entry(COPIED, U8, c"byte")]);
    let mark = scene.schema(MARK, &entries);
    assert_eq!(
        scene.written(&[payload(mark, &event)]),
        "mark @1 {byte: Address(2748)}"
    );
    let mark = scene.schema(MARK | COPIES, &mark_with([entry(POINTER, U8, c"byte")]));
    scene.refused(
        &[payload(mark, &event)],
        "`byte` points to 0xabc, which is in no payload of the event: add the data as a payload of schema \
         NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED",
    );
}

#[test]
fn what_is_read_outside_is_bounded() {
    let scene = Scene::loaded();
    let entries = mark_with([entry(0, TEXT, c"text")]);
    let one = scene.schema(MARK, &entries);
    let (_endless, endless) = outside(vec![b'x'; 1 << 20]);
    scene.refused(
        &[payload(one, &bytes![1_i64, endless])],
        "`text` points to memory outside of the event that has no element of all zero bytes within 1048576 bytes; store its \
         length in another entry",
    );
    let mut longest = vec![b'x'; 1 << 20];
    longest[(1 << 20) - 1] = 0;
    let (_longest, longest) = outside(longest);
    let shown = scene.written(&[payload(one, &bytes![1_i64, longest])]);
    assert_eq!(
        shown.matches('x').count(),
        "text".matches('x').count() + (1 << 20) - 1
    );

    // Many texts are read as far as they are in proportion to the event.
    let inner = scene.schema(0, &[entry(0, TEXT, c"text")]);
    let many = scene.schema(MARK, &mark_with([array(0, inner, c"many", 64)]));
    let event = |address: u64| [bytes![1_i64], bytes![address].repeat(64)].concat();
    let text_of = |len: usize| outside([vec![b'x'; len], vec![0]].concat());
    let (_few, few) = text_of(4096);
    let shown = scene.written(&[payload(many, &event(few))]);
    assert_eq!(shown.matches("\"xxx").count(), 64);
    let (_much, much) = text_of(100_000);
    assert_unsupported(
        scene.write(&[payload(many, &event(much))]),
        "EventWrite on \"gpu\": `text` is more than is decoded for so few bytes: some data is referred to too often; write it \
         once, or register the text",
    );
}
