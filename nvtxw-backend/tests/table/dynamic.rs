//! Dynamic schemas: entries of varying size, one after the other.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const I32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const UTF16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const TO_ZERO: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;

fn by_index(ty: u64, name: &'static std::ffi::CStr, index: u64) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: index,
        ..entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, ty, name)
    }
}

impl Scene {
    fn dynamic(&self, flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> u64 {
        self.program
            .schema(self.domain, &dynamic(schema_attr(flags, entries)))
            .expect("a schema")
    }
}

#[test]
fn entries_come_one_after_the_other_aligned_as_c_does() {
    let scene = Scene::new();
    let time = mark_entries()[0];
    let mark = scene.dynamic(
        MARK,
        &[
            time,
            entry(MESSAGE | TO_ZERO, TEXT, c"message"),
            entry(0, U16, c"length"),
            by_index(TEXT, c"text", 2),
            entry(0, I32, c"number"),
            entry(TO_ZERO, U16, c"numbers"),
            entry(TO_ZERO, UTF16, c"wide"),
            entry(0, U8, c"last"),
        ],
    );
    let event = [
        bytes![7_i64],
        // At 8: up to its null at 11, then at 12 the length.
        b"abc\0".to_vec(),
        bytes![5_u16],
        // At 14 the text, at 19 padding, at 20 the number.
        b"de\0gh".to_vec(),
        vec![0xEE],
        bytes![-3_i32],
        bytes![1_u16, 2_u16, 0_u16],
        bytes!['한' as u16, 0_u16],
        vec![9],
    ]
    .concat();
    let shown = "mark @7 \"abc\" {length: U64(5), text: \"de\\0gh\", number: I64(-3), numbers: 2[U64(1) U64(2)], \
                 wide: wide \"한\", last: U64(9)}";
    assert_eq!(scene.written(&[payload(mark, &event)]), shown);
    // Bytes after the last entry don't matter.
    let longer = [&event[..], &[1, 2, 3]].concat();
    assert_eq!(scene.written(&[payload(mark, &longer)]), shown);
    // Any cut is found, and told where.
    for len in 1..event.len() {
        let refused = scene.write(&[payload(mark, &event[..len])]);
        let report = refused.expect_err("a refusal").report;
        assert!(
            report.contains("bytes") || report.contains("has no element of all zero bytes"),
            "{len}: {report}"
        );
    }
    scene.refused(
        &[payload(mark, &event[..7])],
        &format!("payload 0: size is 7, but a payload of schema {mark} has 8 bytes"),
    );
    scene.refused(
        &[payload(mark, &event[..18])],
        "`text` would have 5 bytes at offset 14, but there are only 18 bytes",
    );
    assert_eq!(scene.program.journal.take(), [""; 0]);
}

#[test]
fn explicit_offsets_hold() {
    let scene = Scene::new();
    let time = mark_entries()[0];
    let mark = scene.dynamic(
        MARK,
        &[
            time,
            entry(TO_ZERO, TEXT, c"text"),
            at(20, entry(0, U8, c"at 20")),
            entry(0, U16, c"at 22"),
        ],
    );
    let event = [
        bytes![1_i64],
        b"ab\0\0\0\0\0\0\0\0\0\0".to_vec(),
        vec![5, 0],
        bytes![6_u16],
    ]
    .concat();
    assert_eq!(
        scene.written(&[payload(mark, &event)]),
        "mark @1 {text: \"ab\", at 20: U64(5), at 22: U64(6)}"
    );
}

#[test]
fn dynamic_schemas_nest() {
    let scene = Scene::new();
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    let inner = scene.dynamic(
        0,
        &[
            entry(0, U8, c"n"),
            by_index(U16, c"values", 0),
            entry(0, STRING, c"name"),
        ],
    );
    let middle = scene.dynamic(0, &[entry(0, inner, c"inner"), entry(0, U8, c"after")]);
    let mark = scene.dynamic(
        MARK,
        &[
            mark_entries()[0],
            entry(0, middle, c"first"),
            entry(0, middle, c"second"),
        ],
    );
    let part = |values: &[u16], name: u64, after: u8| {
        let mut bytes = vec![values.len() as u8, 0xEE];
        bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes.extend(name.to_ne_bytes());
        bytes.push(after);
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes
    };
    let event = |name| [bytes![1_i64], part(&[7, 8], gemm, 9), part(&[], name, 10)].concat();
    assert_eq!(
        scene.written(&[payload(mark, &event(0))]),
        "mark @1 {first: {inner: {n: U64(2), values: 2[U64(7) U64(8)], name: #0 \"gemm\"}, after: U64(9)}, \
         second: {inner: {n: U64(0), values: 0[], name: Registered(None)}, after: U64(10)}}"
    );
    scene.refused(
        &[payload(mark, &event(gemm + 1))],
        &format!(
            "`name` is {:#x}, which is no string of the stream's domain: register it there",
            gemm + 1
        ),
    );
}

#[test]
fn arrays_of_many_dimensions() {
    let scene = Scene::new();
    let fixed = [
        mark_entries()[0],
        array(0, U16, c"sizes", 3),
        by_index(U8, c"cube", 1),
        entry(0, U8, c"last"),
    ];
    let fixed = scene.dynamic(MARK, &fixed);
    let event = |sizes: [u16; 3], values: &[u8]| {
        [bytes![1_i64, sizes[0], sizes[1], sizes[2]], values.to_vec()].concat()
    };
    assert_eq!(
        scene.written(&[payload(fixed, &event([2, 1, 2], &[1, 2, 3, 4, 5]))]),
        "mark @1 {sizes: 3[U64(2) U64(1) U64(2)], cube: 2[1[2[U64(1) U64(2)]] 1[2[U64(3) U64(4)]]], last: U64(5)}"
    );
    assert_eq!(
        scene.written(&[payload(fixed, &event([9, 0, 9], &[5]))]),
        "mark @1 {sizes: 3[U64(9) U64(0) U64(9)], cube: 0[], last: U64(5)}"
    );
    scene.refused(
        &[payload(fixed, &event([u16::MAX; 3], &[5]))],
        "`cube` would have 281462092005375 bytes at offset 14, but there are only 15 bytes",
    );
    // Dimensions up to a zero; bytes come row by row.
    let counted = [
        mark_entries()[0],
        entry(TO_ZERO, U8, c"sizes"),
        by_index(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, c"rows", 1),
    ];
    let counted = scene.dynamic(MARK, &counted);
    let event = [bytes![1_i64], vec![2, 2, 0, 1, 2, 3, 4]].concat();
    assert_eq!(
        scene.written(&[payload(counted, &event)]),
        "mark @1 {sizes: 2[U64(2) U64(2)], rows: 2[Bytes([1, 2]) Bytes([3, 4])]}"
    );
    let event = [bytes![1_i64], vec![0, 4]].concat();
    assert_eq!(
        scene.written(&[payload(counted, &event)]),
        "mark @1 {sizes: 0[], rows: Bytes([4])}"
    );
}

#[test]
fn attributes_may_come_after_data_of_varying_size() {
    const COLOR: u64 = NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB;
    const SCOPE: u64 = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;

    let scene = Scene::new();
    let scope = |path| {
        let scope = scene
            .program
            .scope(scene.domain, NVTX_SCOPE_ROOT, Some(path), 0);
        scope.expect("a scope")
    };
    let (general, purpose) = (scope(c"general"), scope(c"purpose"));
    let [start, end] = pushpop_entries();
    let message = entry(MESSAGE | TO_ZERO, TEXT, c"message");
    let range = scene.dynamic(
        NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START,
        &[
            message,
            start,
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id"),
            // Of two, the later counts, wherever they are.
            entry(0, COLOR, c"first"),
            entry(0, COLOR, c"color"),
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"category"),
            entry(0, SCOPE, c"scope"),
            entry(0, U8, c"last"),
        ],
    );
    // At 6 padding, at 8 the times and IDs, at 24 the colours.
    let event = [
        b"hello\0\xEE\xEE".to_vec(),
        bytes![
            5_i64,
            77_u64,
            0xFF00_00FF_u32,
            0xFF00_FF00_u32,
            3_u32,
            0_u32,
            general
        ],
        vec![9],
    ];
    assert_eq!(
        scene.written(&[payload(range, &event.concat())]),
        format!(
            "range_start @5 \"hello\" color ff00ff00 category 3 range 77 scope {general} {{last: U64(9)}}"
        )
    );
    let unknown = [
        b"hello\0\xEE\xEE".to_vec(),
        bytes![5_i64, 77_u64, 0_u32, 0_u32, 3_u32, 0_u32, 999_u64],
        vec![9],
    ];
    scene.refused(
        &[payload(range, &unknown.concat())],
        "the scope 999 is neither predefined nor registered in the stream's domain",
    );

    let pushpop = scene.dynamic(
        NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP,
        &[
            start,
            entry(0, COLOR, c"color"),
            message,
            entry(0, SCOPE, c"scope"),
            end,
            entry(NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, SCOPE, c"end's scope"),
        ],
    );
    let event = |start: i64, text: &str, end: i64| {
        let mut event = [bytes![start, 7_u32], text.as_bytes().to_vec(), vec![0]].concat();
        event.resize(event.len().next_multiple_of(8), 0xEE);
        [event, bytes![general, end, purpose]].concat()
    };
    let events = [
        event(1, "a", 10),
        event(9, "longer than that", 8),
        event(2, "", 20),
    ]
    .concat();
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &batch(pushpop, &events)),
        "EventBatchWrite on \"gpu\": event 1 of 3: ends before it starts: start 9, end 8",
    );
    assert_eq!(
        scene.program.journal.take()[1..],
        [
            format!("range_pushpop @1..10 \"a\" color 00000007 scope {purpose}"),
            format!("range_pushpop @2..20 \"\" color 00000007 scope {purpose}"),
        ]
    );
    // One of several payloads.
    let mark = scene.schema(MARK, &mark_entries());
    let late = scene.dynamic(
        0,
        &[entry(TO_ZERO, TEXT, c"text"), entry(0, COLOR, c"color")],
    );
    assert_eq!(
        scene.written(&[
            payload(mark, &bytes![1_i64]),
            payload(late, &[b"abc\0".to_vec(), bytes![7_u32]].concat()),
        ]),
        "mark @1 color 00000007 of 2 payloads {text: \"abc\"}"
    );
}

#[test]
fn as_many_lengths_as_there_are() {
    let scene = Scene::new();
    let pairs = |count: u64| {
        let pair = |index| {
            let items = by_index(U8, c"items", 2 * index + 1);
            [entry(0, U8, c"n"), items]
        };
        let mut entries = vec![entry(TO_ZERO, U8, c"first")];
        entries.extend((0..count).flat_map(pair));
        entries.push(entry(MARK_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"time"));
        entries
    };
    for count in [15, 16, 17, 100] {
        let mark = scene.dynamic(MARK, &pairs(count));
        let mut event = vec![7, 0];
        for n in 0..count {
            event.push((n % 3) as u8);
            event.extend(vec![n as u8; (n % 3) as usize]);
        }
        event.resize(event.len().next_multiple_of(8), 0xEE);
        event.extend(bytes![4_i64]);
        // Each with places of its own, also when one is inside of another.
        for _ in 0..2 {
            let line = scene.written(&[payload(mark, &event)]);
            assert!(
                line.starts_with("mark @4 {first: 1[U64(7)], n: U64(0), items: 0[], n ("),
                "{line}"
            );
            for n in 0..count {
                let length = (n % 3) as usize;
                let items = vec![format!("U64({n})"); length].join(" ");
                let name = match n {
                    0 => "items".to_owned(),
                    n => format!("items ({})", 2 * n + 2),
                };
                let shown = format!("{name}: {length}[{items}]");
                assert!(line.contains(&shown), "{shown} in {line}");
            }
        }
    }
}

#[test]
fn a_batch_is_read_event_by_event() {
    let scene = Scene::new();
    let mark = scene.dynamic(
        MARK,
        &[
            mark_entries()[0],
            entry(MESSAGE | TO_ZERO, TEXT, c"message"),
        ],
    );
    let event = |time: i64, text: &str| [bytes![time], text.as_bytes().to_vec(), vec![0]].concat();
    let events = [event(1, "one"), event(2, ""), event(3, "three")].concat();
    scene
        .program
        .write_batch(scene.stream, &batch(mark, &events))
        .expect("written");
    assert_eq!(
        scene.program.journal.take(),
        [
            "batch of 3, Sorted",
            "mark @1 \"one\"",
            "mark @2 \"\"",
            "mark @3 \"three\"",
        ]
    );
    // The rest is too short.
    let cut = [&events[..], &[1, 2, 3]].concat();
    assert_invalid(
        scene.program.write_batch(scene.stream, &batch(mark, &cut)),
        &format!(
            "EventBatchWrite on \"gpu\": event 3 of 4: only 3 bytes are left, but an event of schema {mark} has at least 8; \
             where the next event starts can't be told, so that this and all after it are left out"
        ),
    );
    assert_eq!(scene.program.journal.take().len(), 4);
    // Text in flexible data has no part in where an event ends.
    let flexible = scene.dynamic(
        MARK,
        &[
            mark_entries()[0],
            entry(NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE, TEXT, c"text"),
            entry(TO_ZERO, U8, c"values"),
        ],
    );
    let events = [
        bytes![1_i64, 0_u64],
        vec![1, 0],
        bytes![2_i64, 3_u64],
        vec![2, 3, 0],
    ]
    .concat();
    let attr = nvtxEventBatch_t {
        flexData: c"ab".to_bytes_with_nul().as_ptr().cast(),
        flexDataSize: 3,
        ..batch(flexible, &events)
    };
    scene
        .program
        .write_batch(scene.stream, &attr)
        .expect("written");
    assert_eq!(
        scene.program.journal.take(),
        [
            "batch of 2, Sorted",
            "mark @1 {text: \"ab\", values: 1[U64(1)]}",
            "mark @2 {text: \"\", values: 2[U64(2) U64(3)]}",
        ]
    );
}

#[test]
fn messages_in_all_forms() {
    let scene = Scene::new();
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    let prefix = entry(TO_ZERO, U8, c"before");
    for (message, bytes, shown) in [
        (entry(MESSAGE, STRING, c"m"), bytes![gemm], " #0 \"gemm\""),
        (entry(MESSAGE, STRING, c"m"), bytes![0_u64], ""),
        (array(MESSAGE, TEXT, c"m", 4), b"ab\0d".to_vec(), " \"ab\""),
        (
            entry(MESSAGE | TO_ZERO, UTF16, c"m"),
            bytes!['x' as u16, 0_u16],
            " wide \"x\"",
        ),
        (entry(MESSAGE, TEXT, c"m"), bytes![0_u64], ""),
    ] {
        let mark = scene.dynamic(MARK, &[mark_entries()[0], prefix, message]);
        let event = [bytes![1_i64], vec![1, 2, 3, 4, 5, 6, 7, 0], bytes].concat();
        assert_eq!(
            scene.written(&[payload(mark, &event)]),
            format!(
                "mark @1{shown} {{before: 7[U64(1) U64(2) U64(3) U64(4) U64(5) U64(6) U64(7)]}}"
            )
        );
    }
}

#[test]
fn whole_payloads_of_text() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    let utf32 = bytes!['한' as u32, '🦀' as u32, 0_u32, 'x' as u32];
    for (size, shown) in [(4, "한"), (7, "한"), (8, "한🦀"), (16, "한🦀")] {
        let text = nvtxPayloadData_t {
            size,
            ..payload(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, &utf32)
        };
        assert_eq!(
            scene.written(&[payload(mark, &time), text]),
            format!("mark @1 of 2 payloads {{value: wide {shown:?}}}")
        );
    }
    let message = [entry(MESSAGE | TO_ZERO, UTF16, c"message")];
    let message = scene.dynamic(0, &message);
    let utf16 = bytes!['a' as u16, 0xD83E_u16, 0xDD80_u16];
    assert_eq!(
        scene.written(&[payload(mark, &time), payload(message, &utf16)]),
        "mark @1 wide \"a🦀\" of 2 payloads"
    );
    assert_eq!(
        scene.written(&[payload(mark, &time), payload(message, &[0, 0])]),
        "mark @1 wide \"\" of 2 payloads"
    );
}

#[test]
fn shared_data_is_not_looked_at_for_ever() {
    let scene = Scene::new();
    // A hundred structs, each of which has all of a long array.
    let inner = [
        entry(0, U64, c"n"),
        nvtxPayloadSchemaEntry_t {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX
                | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
            ..by_index(U8, c"values", 0)
        },
    ];
    let inner = scene.schema(0, &inner);
    let mark = scene.dynamic(
        MARK,
        &[
            mark_entries()[0],
            entry(0, U64, c"count"),
            by_index(inner, c"inner", 1),
        ],
    );
    let event = |count: u64, len: u64| {
        let mut event = bytes![1_i64, count];
        for _ in 0..count {
            event.extend(bytes![len, 16 * (count + 1)]);
        }
        event.resize(event.len() + len as usize, 7);
        event
    };
    scene
        .write(&[payload(mark, &event(10, 10_000))])
        .expect("ten times is fine");
    scene.program.journal.take();
    // In a batch one event may take what others don't need, and is shown as a whole.
    let large = [bytes![1_i64, 30_u64], bytes![10_000_u64, 0_u64].repeat(30)].concat();
    let events = [large, bytes![2_i64, 0_u64].repeat(5_000)].concat();
    let flex = [7_u8; 10_000];
    let attr = nvtxEventBatch_t {
        flexData: flex.as_ptr().cast(),
        flexDataSize: flex.len(),
        ..batch(mark, &events)
    };
    scene
        .program
        .write_batch(scene.stream, &attr)
        .expect("written");
    let line = &scene.program.journal.take()[1];
    assert!(
        line.ends_with("]}]}") && line.matches("values").count() == 30,
        "{}",
        line.len()
    );
    assert_unsupported(
        scene.write(&[payload(mark, &event(100, 10_000))]),
        "EventWrite on \"gpu\": `values` is more than is decoded for so few bytes: some data is referred to too often; write it once, or register the text",
    );
}

#[test]
fn flexible_data_is_not_searched_for_ever() {
    let scene = Scene::new();
    let mark = scene.schema(
        MARK,
        &[
            mark_entries()[0],
            entry(
                NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | TO_ZERO,
                U8,
                c"values",
            ),
        ],
    );
    // Each event would look through all of it for a zero that isn't there: 1.6 TB, which never end.
    let flex = vec![1_u8; 1 << 22];
    let events = bytes![1_i64, 0_u64].repeat(400_000);
    let attr = nvtxEventBatch_t {
        flexData: flex.as_ptr().cast(),
        flexDataSize: flex.len(),
        ..batch(mark, &events)
    };
    assert_invalid(
        scene.program.write_batch(scene.stream, &attr),
        "EventBatchWrite on \"gpu\": event 0 of 400000: `values` has no element of all zero bytes that would end it within 4194304 \
         bytes; 399999 more events of the batch were refused, the others were taken",
    );
}
