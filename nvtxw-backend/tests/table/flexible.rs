//! Data behind offsets and pointers, and lengths that are elsewhere.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const I32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const BASE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;
const HERE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;
const POINTER: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
const BY_INDEX: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
const BY_PAYLOAD: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
const TO_ZERO: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
const HIDE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
const REFERENCED: u64 = NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED;

/// An entry whose length is in the entry, or payload, of this index.
fn of_length(
    flags: u64,
    ty: u64,
    name: &'static std::ffi::CStr,
    index: u64,
) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: index,
        ..entry(flags, ty, name)
    }
}

/// What `nvtxw` registers for an event with a message and a name in a pool.
fn flex_entries() -> [nvtxPayloadSchemaEntry_t; 5] {
    [
        mark_entries()[0],
        entry(HIDE, U64, c"message length"),
        of_length(MESSAGE | BASE | BY_INDEX, TEXT, c"message", 1),
        entry(HIDE, U64, c"name length"),
        of_length(BASE | BY_INDEX, TEXT, c"name", 3),
    ]
}

fn flex_batch(schema: u64, events: &[u8], flex: &[u8], offset: usize) -> nvtxEventBatch_t {
    nvtxEventBatch_t {
        flexData: flex.as_ptr().cast(),
        flexDataSize: flex.len() - offset,
        flexDataOffset: offset,
        ..batch(schema, events)
    }
}

#[test]
fn text_in_the_flexible_data_of_a_batch() {
    let scene = Scene::new();
    let schema = scene.schema(MARK, &flex_entries());
    let events = bytes![
        1_i64, 3_u64, 0_u64, 2_u64, 3_u64, // "abc", "de"
        2_i64, 0_u64, 0_u64, 5_u64, 0_u64, // "", "abcde"
        3_i64, 0_u64, 5_u64, 0_u64, 5_u64, // "", "" at the end
    ];
    scene
        .program
        .write_batch(scene.stream, &flex_batch(schema, &events, b"abcde", 0))
        .expect("written");
    let hidden = |a: u32, b: u32, name: &str| {
        format!(
            "{{(hidden) message length: U64({a}), (hidden) name length: U64({b}), name: {name:?}}}"
        )
    };
    assert_eq!(
        scene.program.journal.take(),
        [
            "batch of 3, Sorted".to_owned(),
            format!("mark @1 \"abc\" {}", hidden(3, 2, "de")),
            format!("mark @2 \"\" {}", hidden(0, 5, "abcde")),
            format!("mark @3 \"\" {}", hidden(0, 0, "")),
        ]
    );
}

#[test]
fn the_usable_part_may_start_later() {
    let scene = Scene::new();
    let schema = scene.schema(MARK, &flex_entries());
    let events = bytes![
        1_i64,
        3_u64,
        4_u64,
        0_u64,
        4_u64, // From the first usable byte.
        2_i64,
        1_u64,
        3_u64,
        0_u64,
        4_u64, // One before it.
        3_i64,
        3_u64,
        4_u64,
        0_u64,
        7_u64, // The end.
        4_i64,
        0_u64,
        8_u64,
        0_u64,
        4_u64, // One after it.
        5_i64,
        4_u64,
        4_u64,
        0_u64,
        4_u64, // Too long.
        6_i64,
        u64::MAX,
        4_u64,
        0_u64,
        4_u64,
        7_i64,
        1_u64,
        u64::MAX,
        0_u64,
        4_u64,
    ];
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &flex_batch(schema, &events, b"headabc", 4)),
        "EventBatchWrite on \"gpu\": event 1 of 7: `message` is the offset 3, which is not in the flexible data: offsets from \
         4 to 7 are (flexDataOffset, flexDataSize); 4 more events of the batch were refused, the others were taken",
    );
    let lines = scene.program.journal.take();
    let marks: Vec<_> = lines.iter().map(|line| &line[..7]).collect();
    assert_eq!(marks, ["batch o", "mark @1", "mark @3"]);
    assert!(lines[1].starts_with("mark @1 \"abc\""), "{lines:?}");

    for (event, reason) in [
        (
            4,
            "`message` would have 4 bytes at offset 0, but there are only 3 bytes",
        ),
        (
            5,
            "`message` would have 18446744073709551615 bytes at offset 0, but there are only 3 bytes",
        ),
        (
            6,
            "`message` is the offset 18446744073709551615, which is not in the flexible data: offsets from 4 to 7 are \
             (flexDataOffset, flexDataSize)",
        ),
    ] {
        let event = &events[event * 40..][..40];
        assert_invalid(
            scene
                .program
                .write_batch(scene.stream, &flex_batch(schema, event, b"headabc", 4)),
            &format!("EventBatchWrite on \"gpu\": event 0 of 1: {reason}"),
        );
    }
}

#[test]
fn bad_flexible_data_is_refused() {
    let scene = Scene::new();
    let schema = scene.schema(MARK, &flex_entries());
    let event = bytes![1_i64, 0_u64, 0_u64, 0_u64, 0_u64];
    let attr = nvtxEventBatch_t {
        flexDataSize: usize::MAX,
        ..flex_batch(schema, &event, b"abc", 0)
    };
    assert_invalid(
        scene.program.write_batch(scene.stream, &attr),
        "EventBatchWrite on \"gpu\": flexDataSize is 18446744073709551615, more than the address space holds",
    );
    // Without any, events refer to their own bytes.
    scene
        .program
        .write_batch(scene.stream, &batch(schema, &event))
        .expect("empty text at the event's start");
    let long = bytes![1_i64, 0_u64, 41_u64, 0_u64, 0_u64];
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &batch(schema, &long)),
        "EventBatchWrite on \"gpu\": event 0 of 1: `message` is the offset 41, which leads out of the payload of 40 bytes",
    );
}

#[test]
fn structs_in_flexible_data_refer_to_it_too() {
    let scene = Scene::new();
    let inner = scene.schema(
        0,
        &[
            entry(0, U8, c"n"),
            of_length(BASE | BY_INDEX, TEXT, c"text", 0),
        ],
    );
    let entries = [
        mark_entries()[0],
        entry(0, I32, c"count"),
        of_length(BASE | BY_INDEX, inner, c"inner", 1),
        entry(HERE, U16, c"number"),
    ];
    let schema = scene.schema(MARK, &entries);
    // Two structs of 16 bytes, then text, then a number.
    let flex = [
        vec![2, 0, 0, 0, 0, 0, 0, 0],
        bytes![32_u64],
        vec![3, 0, 0, 0, 0, 0, 0, 0],
        bytes![33_u64],
        b"abcd".to_vec(),
        bytes![7_u16],
    ]
    .concat();
    let events = bytes![1_i64, 2_u64, 0_u64, 36_u64, 2_i64, -1_i64, 0_u64, 36_u64];
    scene
        .program
        .write_batch(scene.stream, &flex_batch(schema, &events, &flex, 0))
        .expect("written");
    assert_eq!(
        scene.program.journal.take()[1..],
        [
            "mark @1 {count: I64(2), inner: 2[{n: U64(2), text: \"ab\"} {n: U64(3), text: \"bcd\"}], number: U64(7)}",
            "mark @2 {count: I64(-1), inner: 0[], number: U64(7)}",
        ]
    );
}

#[test]
fn offsets_into_the_payload_itself() {
    let scene = Scene::new();
    let entries = [
        mark_entries()[0],
        entry(BASE | TO_ZERO, U16, c"numbers"),
        entry(HERE, I32, c"one"),
        entry(BASE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"text"),
        array(HERE, TEXT, c"four", 4),
    ];
    let mark = scene.schema(MARK, &entries);
    let event = |one: i64, four: i64| {
        [
            bytes![1_i64, 40_u64, one, 48_u64, four],
            bytes![5_u16, 6_u16, 7_u16, 0_u16],
            b"text\0rest".to_vec(),
        ]
        .concat()
    };
    // The one is in the timestamp's bytes, 24 before the end of its entry.
    assert_eq!(
        scene.written(&[payload(mark, &event(-24, 8 + 5))]),
        "mark @1 {numbers: 3[U64(5) U64(6) U64(7)], one: I64(1), text: \"text\", four: \"rest\"}"
    );
    for (one, four, reason) in [
        (
            -25,
            0,
            "`one` is the offset -25, which leads out of the payload of 57 bytes",
        ),
        (
            34,
            0,
            "`one` is the offset 34, which leads out of the payload of 57 bytes",
        ),
        (
            33,
            0,
            "`one` would have 4 bytes at offset 57, but there are only 57 bytes",
        ),
        (
            i64::MAX,
            0,
            "`one` is the offset 9223372036854775807, which leads out of the payload of 57 bytes",
        ),
        (
            -24,
            8 + 6,
            "`four` would have 4 bytes at offset 54, but there are only 57 bytes",
        ),
    ] {
        scene.refused(&[payload(mark, &event(one, four))], reason);
    }
    // No zero before the end.
    let cut = &event(-24, 0)[..46];
    scene.refused(
        &[payload(mark, cut)],
        "`numbers` has no element of all zero bytes that would end it within 6 bytes",
    );
}

#[test]
fn pointers_into_other_payloads() {
    let scene = Scene::new();
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    let point = scene.schema(0, &[entry(0, U8, c"x"), entry(0, U8, c"y")]);
    let entries = [
        mark_entries()[0],
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, c"text"),
        entry(POINTER, point, c"point"),
        array(POINTER, U16, c"pair", 2),
        entry(POINTER | MESSAGE, STRING, c"string"),
    ];
    // A message is text or a handle in place.
    assert_invalid(
        scene
            .program
            .schema(scene.domain, &schema_attr(MARK, &entries)),
        "SchemaRegister on \"\": entry 4 `string`: a message is text, an array of bytes or the handle of a registered string; the entry is \
         none of these",
    );
    let mut entries = entries;
    entries[4].flags = POINTER;
    let mark = scene.schema(MARK, &entries);
    let blob = [
        bytes!['a' as u16, '한' as u16, 0_u16, 9_u16],
        vec![1, 2, 0, 0, 0, 0, 0, 0],
        bytes![gemm],
        bytes![5_u16, 6_u16],
    ]
    .concat();
    let at = |offset: usize| blob.as_ptr().addr() + offset;
    let event = |text: usize, point: usize, pair: usize, string: usize| {
        bytes![1_i64, text, point, pair, string]
    };
    let good = event(at(0), at(8), at(24), at(16));
    let shown = "mark @1 {text: wide \"a한\", point: {x: U64(1), y: U64(2)}, pair: 2[U64(5) U64(6)], string: #0 \"gemm\"}";
    assert_eq!(
        scene.written(&[payload(mark, &good), payload(REFERENCED, &blob)]),
        shown
    );
    // Raw data is shown itself, too.
    let raw = payload(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, &blob);
    assert_eq!(
        scene.written(&[payload(mark, &good), raw]),
        format!(
            "{}, raw: Bytes({blob:?})}}",
            shown
                .replace("@1", "@1 of 2 payloads")
                .trim_end_matches('}')
        )
    );
    // Null is absent.
    assert_eq!(
        scene.written(&[
            payload(mark, &event(0, 0, 0, 0)),
            payload(REFERENCED, &blob)
        ]),
        "mark @1"
    );
    let outside = |name: &str, address: usize| {
        format!(
            "`{name}` points to {address:#x}, which is in no payload of the event: add the data as a payload of schema \
             NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED"
        )
    };
    scene.refused(&[payload(mark, &good)], &outside("text", at(0)));
    for (event, reason) in [
        (event(0, at(28), 0, 0), outside("point", at(28))),
        (
            event(0, at(27), 0, 0),
            "`point` would have 2 bytes at offset 27, but there are only 28 bytes".to_owned(),
        ),
        (
            event(0, 0, at(25), 0),
            "`pair` would have 4 bytes at offset 25, but there are only 28 bytes".to_owned(),
        ),
        (event(at(0) - 1, 0, 0, 0), outside("text", at(0) - 1)),
        (
            event(0, 0, 0, at(8)),
            "`string` is 0x201, which is no string of the stream's domain: register it there"
                .to_owned(),
        ),
    ] {
        scene.refused(
            &[payload(mark, &event), payload(REFERENCED, &blob)],
            &reason,
        );
    }
    // Text without a null ends with its payload.
    let units = bytes!['x' as u16, 'y' as u16];
    assert_eq!(
        scene.written(&[
            payload(mark, &event(units.as_ptr().addr(), 0, 0, 0)),
            payload(REFERENCED, &units)
        ]),
        "mark @1 {text: wide \"xy\"}"
    );
}

#[test]
fn pointers_to_be_copied_stay_addresses_where_they_lead_outside() {
    let scene = Scene::new();
    let deep = NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
    let entries = [
        mark_entries()[0],
        entry(deep, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"text"),
        array(deep | POINTER, U8, c"bytes", 2),
    ];
    let mark = scene.schema(MARK | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY, &entries);
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, 0xABC_u64, 0xDEF_u64])]),
        "mark @1 {text: Address(2748), bytes: Address(3567)}"
    );
    let blob = b"ab\0";
    let address = blob.as_ptr().addr();
    assert_eq!(
        scene.written(&[
            payload(mark, &bytes![1_i64, address, address]),
            payload(REFERENCED, blob)
        ]),
        "mark @1 {text: \"ab\", bytes: 2[U64(97) U64(98)]}"
    );
}

#[test]
fn lengths_in_other_payloads() {
    let scene = Scene::new();
    let entries = [of_length(BY_PAYLOAD, U8, c"matrix", 2)];
    let matrix = scene
        .program
        .schema(scene.domain, &dynamic(schema_attr(0, &entries)))
        .expect("a schema");
    let mark = scene.schema(MARK, &mark_entries());
    let sizes = scene.schema(0, &[array(0, I32, c"sizes", 2)]);
    let time = bytes![1_i64];
    let with = |length: nvtxPayloadData_t| {
        [
            payload(mark, &time),
            payload(matrix, &[1, 2, 3, 4, 5, 6]),
            length,
        ]
    };
    let shown =
        |what: &str, sizes: &str| format!("mark @1 of 3 payloads {{matrix: {what}, {sizes}}}");
    assert_eq!(
        scene.written(&with(payload(U64, &bytes![3_u64]))),
        shown("3[U64(1) U64(2) U64(3)]", "value: U64(3)")
    );
    let rows = "3[2[U64(1) U64(2)] 2[U64(3) U64(4)] 2[U64(5) U64(6)]]";
    assert_eq!(
        scene.written(&with(payload(U16, &bytes![3_u16, 2_u16]))),
        shown(rows, "value: 2[U64(3) U64(2)]")
    );
    assert_eq!(
        scene.written(&with(payload(sizes, &bytes![3_i32, 2_i32]))),
        shown(rows, "sizes: 2[I64(3) I64(2)]")
    );
    assert_eq!(
        scene.written(&with(payload(sizes, &bytes![1_000_000_i32, -2_i32]))),
        shown("0[]", "sizes: 2[I64(1000000) I64(-2)]")
    );
    scene.refused(
        &with(payload(U64, &bytes![7_u64])),
        "`matrix` would have 7 bytes at offset 0, but there are only 6 bytes",
    );
    let huge = bytes![1_u64 << 40, 1_u64 << 40];
    scene.refused(
        &with(payload(U64, &huge)),
        "`matrix` would have 18446744073709551615 bytes at offset 0, but there are only 6 bytes",
    );
    let deep = scene.written(&with(payload(U8, &[1; 32])));
    let nested = format!("{}U64(1){}", "1[".repeat(32), "]".repeat(32));
    assert!(deep.contains(&format!("matrix: {nested},")), "{deep}");
    assert_unsupported(
        scene.write(&with(payload(U8, &[1; 33]))),
        "EventWrite on \"gpu\": `matrix` has more than 32 dimensions, which are not decoded",
    );
    scene.refused(
        &with(payload(REFERENCED, &[1; 8])),
        "the length of `matrix` is in payload 2 of the event, which holds no integer in its one entry",
    );
    scene.refused(
        &with(payload(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &[1; 8])),
        "the length of `matrix` is in payload 2 of the event, which holds no integer in its one entry",
    );
    scene.refused(
        &with(payload(U64, &[]))[..2],
        "the length of `matrix` is in payload 2 of the event, which has only 2",
    );
    // Payloads that are ignored count.
    let ignored = payload(REFERENCED, &[]);
    let entries = [
        mark_entries()[0],
        of_length(BASE | BY_PAYLOAD, TEXT, c"text", 1),
    ];
    let text = scene.schema(MARK, &entries);
    assert_eq!(
        scene.written(&[
            ignored,
            payload(U8, &[4]),
            payload(
                text,
                &[bytes![1_i64, 16_u64], b"text and more".to_vec()].concat()
            )
        ]),
        "mark @1 of 2 payloads {value: U64(4), text: \"text\"}"
    );
}
