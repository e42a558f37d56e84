//! Events, one by one: what reaches the backend, and what is refused.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const COLOR: u64 = NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB;
const CATEGORY: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY;
const RANGE_ID: u64 = NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const PUSHPOP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;

#[test]
fn the_seven_kinds_as_the_c_helpers_write_them() {
    let scene = Scene::new();
    let attributes = [
        entry(0, COLOR, c"color"),
        entry(0, CATEGORY, c"category"),
        entry(MESSAGE, STRING, c"message"),
    ];
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    let rest = [bytes![0xFF00_FF00_u32, 7_u32], bytes![gemm]].concat();
    let begin = entry(BEGIN_TIME, INT64, c"timestamp");
    let end = entry(END_TIME, INT64, c"timestamp");
    let id = entry(0, RANGE_ID, c"rangeId");
    for (flags, head, bytes, line) in [
        (MARK, &[mark_entries()[0]][..], bytes![-5_i64], "mark @-5"),
        (
            PUSHPOP,
            &pushpop_entries(),
            bytes![10_i64, 20_i64],
            "range_pushpop @10..20",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND,
            &pushpop_entries(),
            bytes![10_i64, 10_i64],
            "range_startend @10..10",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH,
            &[begin],
            bytes![1_i64],
            "range_push @1",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP,
            &[end],
            bytes![2_i64],
            "range_pop @2",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START,
            &[id, begin],
            bytes![99_u64, 3_i64],
            "range_start @3",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END,
            &[id, end],
            bytes![99_u64, 4_i64],
            "range_end @4",
        ),
    ] {
        let range = if head.len() == 2 && head[0].r#type == RANGE_ID {
            " range 99"
        } else {
            ""
        };
        let registered = scene.schema(flags, &[head, &attributes].concat());
        assert_eq!(
            scene.written(&[payload(registered, &[&bytes[..], &rest].concat())]),
            format!("{line} #0 \"gemm\" color ff00ff00 category 7{range}")
        );
        // The UTF-8 form: a fixed header, then the message, which has a length and no terminator (case B5).
        let utf8 = scene.schema(flags, &[head, &attributes[..2]].concat());
        assert_eq!(
            scene.written(&[
                payload(utf8, &[&bytes[..], &rest[..8]].concat()),
                payload(scene.message, b"gemm")
            ]),
            format!("{line} \"gemm\" color ff00ff00 category 7{range} of 2 payloads")
        );
    }
}

#[test]
fn payloads_that_are_not_shown_are_ignored() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    assert_eq!(
        scene.written(&[
            payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, b"blob"),
            payload(mark, &time),
            // Of size 0: neither schema nor pointer matter.
            nvtxPayloadData_t {
                schemaId: 0xDEAD,
                size: 0,
                payload: garbage()
            },
        ]),
        "mark @1"
    );
}

#[test]
fn raw_payloads_are_bytes() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    for (blob, shown) in [(&b"ab"[..], "[97, 98]"), (b"\0", "[0]")] {
        let raw = payload(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, blob);
        assert_eq!(
            scene.written(&[payload(mark, &time), raw]),
            format!("mark @1 of 2 payloads {{raw: Bytes({shown})}}")
        );
    }
}

#[test]
fn payloads_of_predefined_types() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    let written =
        |ty: u64, bytes: &[u8]| scene.written(&[payload(mark, &time), payload(ty, bytes)]);
    let shown = |values: &str| format!("mark @1 of 2 payloads {{value: {values}}}");
    assert_eq!(
        written(NVTX_PAYLOAD_ENTRY_TYPE_INT32, &bytes![-7_i32]),
        shown("I64(-7)")
    );
    assert_eq!(
        written(NVTX_PAYLOAD_ENTRY_TYPE_INT32, &bytes![1_i32, 2_i32]),
        shown("2[I64(1) I64(2)]")
    );
    // Bytes after the last whole element are ignored.
    assert_eq!(
        written(U64, &[bytes![u64::MAX], vec![1, 2, 3]].concat()),
        shown("U64(18446744073709551615)")
    );
    assert_eq!(
        written(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, &[1, 2, 3]),
        shown("Bytes([1, 2, 3])")
    );
    assert_eq!(
        written(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, b"text\0more"),
        shown("\"text\"")
    );
    assert_eq!(
        written(COLOR, &bytes![0xFF12_3456_u32]),
        "mark @1 color ff123456 of 2 payloads"
    );
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    assert_eq!(
        written(STRING, &bytes![gemm, 0_u64]),
        shown("2[#0 \"gemm\" Registered(None)]")
    );

    scene.refused(
        &[payload(mark, &time), payload(INT64, &[1, 2, 3])],
        "payload 1: size is 3, but a payload of schema 17 has 8 bytes",
    );
    scene.refused(
        &[
            payload(mark, &time),
            payload(STRING, &bytes![gemm, gemm + 1]),
        ],
        &format!(
            "`value` is {:#x}, which is no string of the stream's domain: register it there",
            gemm + 1
        ),
    );
    for unknown in [0, 31, 1000, (1 << 24) - 1] {
        scene.refused(
            &[payload(mark, &time), payload(unknown, &time)],
            &format!(
                "payload 1: {unknown} is no predefined type; schemas have IDs from 2^24 on: register one, and use the ID it gets"
            ),
        );
    }
}

#[test]
fn many_payloads() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    for count in [1, 7, 8, 9, 100] {
        let mut payloads = vec![payload(U64, &time); count - 1];
        payloads.push(payload(mark, &time));
        let line = scene.written(&payloads);
        assert_eq!(line.matches("value: U64(1)").count(), count - 1, "{line}");
    }
    assert_invalid(
        member!(
            scene.program,
            EventWrite(
                scene.stream,
                payload(mark, &time).payload.cast(),
                usize::MAX
            )
        ),
        "EventWrite on \"gpu\": payloadCount is 18446744073709551615; at most 1048576 are taken",
    );
}

#[test]
fn bad_events_are_refused() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let pushpop = scene.schema(PUSHPOP, &pushpop_entries());
    let named = scene
        .program
        .schema(
            scene.domain,
            &named(c"Named", schema_attr(MARK, &mark_entries())),
        )
        .expect("a schema");
    let plain = scene.schema(0, &[entry(0, U64, c"x")]);
    let time = bytes![1_i64];
    scene.refused(
        &[],
        "no payload has an event role: there is none; an event has exactly one",
    );
    scene.refused(
        &[payload(plain, &time)],
        "no payload has an event role: set the kind in the flags of one schema",
    );
    scene.refused(
        &[payload(mark, &time), payload(named, &time)],
        &format!(
            "two payloads have an event role, of schema {mark} and schema {named} `Named`; an event has exactly one"
        ),
    );
    scene.refused(
        &[payload(1 << 40, &time)],
        "payload 0: 1099511627776 is no schema of the stream's domain: register it there, and use the ID it gets",
    );
    scene.refused(
        &[payload(pushpop, &time)],
        &format!("payload 0: size is 8, but a payload of schema {pushpop} has 16 bytes"),
    );
    scene.refused(
        &[payload(pushpop, &bytes![20_i64, 10_i64])],
        "ends before it starts: start 20, end 10",
    );
    let null = nvtxPayloadData_t {
        schemaId: mark,
        size: 8,
        payload: ptr::null(),
    };
    scene.refused(&[null], "payload 0: payload is null, but size is 8");
    let endless = nvtxPayloadData_t {
        size: usize::MAX,
        ..payload(mark, &time)
    };
    scene.refused(
        &[endless],
        "payload 0: size is SIZE_MAX, which only zero-terminated text may have; give the size",
    );
    let huge = nvtxPayloadData_t {
        size: usize::MAX - 1,
        ..payload(mark, &time)
    };
    scene.refused(
        &[huge],
        "payload 0: size is 18446744073709551614, more than the address space holds",
    );
    let null_text = nvtxPayloadData_t {
        schemaId: scene.message,
        size: usize::MAX,
        payload: ptr::null(),
    };
    scene.refused(
        &[payload(mark, &time), null_text],
        "payload 1: payload is null, but size is 18446744073709551615",
    );
    assert_invalid(
        member!(scene.program, EventWrite(scene.stream, ptr::null(), 3)),
        "EventWrite on \"gpu\": payloads is null, but payloadCount is 3",
    );
    // A schema of another domain is none of this one.
    let other = scene
        .program
        .domain(scene.session, Some(c"other"))
        .expect("a domain");
    let foreign = scene
        .program
        .schema(other, &with_id(1 << 24, schema_attr(MARK, &mark_entries())))
        .expect("a schema");
    scene.refused(
        &[payload(foreign, &time)],
        "payload 0: 16777216 is no schema of the stream's domain: register it there, and use the ID it gets",
    );
    // An enum is no schema.
    let enumeration = scene
        .program
        .enumeration(scene.domain, &enum_attr(&[], 8))
        .expect("an enum");
    scene.refused(
        &[payload(enumeration, &time)],
        &format!(
            "payload 0: {enumeration} is no schema of the stream's domain: register it there, and use the ID it gets"
        ),
    );
    // A payload that is larger than its schema is fine.
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, 2_i64])]),
        "mark @1"
    );
}

/// With the payload walked through, and without.
#[test]
fn handles_of_earlier_messages_are_checked() {
    let scene = Scene::new();
    let entries = [
        mark_entries()[0],
        entry(MESSAGE, STRING, c"first"),
        array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, c"second", 8),
        entry(
            NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
            NVTX_PAYLOAD_ENTRY_TYPE_BYTE,
            c"more",
        ),
    ];
    for entries in [&entries[..3], &entries] {
        let mark = scene.schema(MARK, entries);
        let event = |first: u64| bytes![1_i64, first, u64::from_ne_bytes(*b"a name\0\0"), 0_u64];
        assert_eq!(
            scene.written(&[payload(mark, &event(0))]),
            "mark @1 \"a name\" {first: Registered(None)}"
        );
        scene.refused(
            &[payload(mark, &event(7))],
            "`first` is 0x7, which is no string of the stream's domain: register it there",
        );
    }
}

#[test]
fn handles_of_strings_in_events_are_checked() {
    let scene = Scene::new();
    let other = scene
        .program
        .domain(scene.session, Some(c"other"))
        .expect("a domain");
    let foreign = number(scene.program.string(other, c"foreign").expect("a string"));
    let known = number(
        scene
            .program
            .string(scene.domain, c"known")
            .expect("a string"),
    );
    let inner = scene.schema(0, &[array(0, STRING, c"names", 2)]);
    let entries = [
        mark_entries()[0],
        entry(MESSAGE, STRING, c"message"),
        entry(0, STRING, c"kernel"),
        array(0, inner, c"inner", 2),
    ];
    let mark = scene.schema(MARK, &entries);
    let event = |handles: [u64; 6]| {
        let mut bytes = bytes![1_i64];
        handles
            .iter()
            .for_each(|handle| bytes.extend(handle.to_ne_bytes()));
        bytes
    };
    assert_eq!(
        scene.written(&[payload(mark, &event([known, 0, 0, known, 0, known]))]),
        "mark @1 #0 \"known\" {kernel: Registered(None), inner: 2[{names: 2[Registered(None) #0 \"known\"]} \
         {names: 2[Registered(None) #0 \"known\"]}]}"
    );
    for (place, name) in [(0, "message"), (1, "kernel"), (2, "names"), (5, "names")] {
        for bad in [foreign, known + 1, 1, number(scene.stream), u64::MAX] {
            let mut handles = [0; 6];
            handles[place] = bad;
            scene.refused(
                &[payload(mark, &event(handles))],
                &format!("`{name}` is {bad:#x}, which is no string of the stream's domain: register it there"),
            );
        }
    }
}
