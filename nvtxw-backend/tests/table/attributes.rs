//! The attributes of events: messages, colours, times, scopes, and which of several counts.

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
const SCOPE_ID: u64 = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;

#[test]
fn a_message_is_bounded_by_its_size_and_by_its_null() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let time = bytes![1_i64];
    for (text, shown) in [
        (&b"abc"[..], " \"abc\""),
        (b"abc\0def", " \"abc\""),
        (b"\0", " \"\""),
        (b"\xFF\xFE", " \"\\xff\\xfe\""),
    ] {
        assert_eq!(
            scene.written(&[payload(mark, &time), payload(scene.message, text)]),
            format!("mark @1{shown} of 2 payloads")
        );
    }
    // A size of zero: no message, which is not the same as an empty one.
    assert_eq!(
        scene.written(&[payload(mark, &time), payload(scene.message, b"")]),
        "mark @1"
    );
}

#[test]
fn a_message_may_be_a_fixed_string() {
    let scene = Scene::new();
    let entries = [
        mark_entries()[0],
        array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, c"message", 8),
    ];
    let mark = scene.schema(MARK, &entries);
    for (text, shown) in [
        (b"12345678", "12345678"),
        (b"abc\0\0\0\0\0", "abc"),
        (b"\0bcdefgh", ""),
    ] {
        let bytes = [&1_i64.to_ne_bytes()[..], text].concat();
        assert_eq!(
            scene.written(&[payload(mark, &bytes)]),
            format!("mark @1 \"{shown}\"")
        );
    }
}

#[test]
fn of_an_attribute_given_twice_the_later_counts() {
    let scene = Scene::new();
    let entries = [
        mark_entries()[0],
        entry(0, COLOR, c"first"),
        entry(0, COLOR, c"second"),
        entry(0, CATEGORY, c"category"),
        entry(0, CATEGORY, c"category 2"),
    ];
    let mark = scene.schema(MARK, &entries);
    let time = 1_i64;
    let main =
        |first: u32, second: u32, category: u32| bytes![time, first, second, category, 5_u32];
    assert_eq!(
        scene.written(&[payload(mark, &main(1, 2, 3))]),
        "mark @1 color 00000002 category 5"
    );
    let more = scene.schema(
        0,
        &[
            entry(0, COLOR, c"color"),
            entry(0, CATEGORY, c"category"),
            entry(0, RANGE_ID, c"id"),
        ],
    );
    // 0 says nothing, and leaves what was said before.
    let extra = bytes![9_u32, 0_u32, 44_u64];
    assert_eq!(
        scene.written(&[payload(mark, &main(1, 2, 3)), payload(more, &extra)]),
        "mark @1 color 00000009 category 5 range 44 of 2 payloads"
    );
    let silent = bytes![0_u32, 0_u32, 44_u64];
    assert_eq!(
        scene.written(&[payload(mark, &main(1, 2, 3)), payload(more, &silent)]),
        "mark @1 color 00000002 category 5 range 44 of 2 payloads"
    );
    // The order of the payloads counts, wherever the event's own one stands.
    assert_eq!(
        scene.written(&[payload(more, &extra), payload(mark, &main(1, 2, 3))]),
        "mark @1 color 00000002 category 5 range 44 of 2 payloads"
    );
    let (one, two) = (
        payload(scene.message, b"one"),
        payload(scene.message, b"two"),
    );
    assert_eq!(
        scene.written(&[one, payload(mark, &main(0, 0, 0)), two]),
        "mark @1 \"two\" category 5 of 3 payloads"
    );
    // A null string says nothing either.
    let named = scene.schema(0, &[entry(MESSAGE, STRING, c"message")]);
    let gemm = number(
        scene
            .program
            .string(scene.domain, c"gemm")
            .expect("a string"),
    );
    let (null, gemm) = (bytes![0_u64], bytes![gemm]);
    assert_eq!(
        scene.written(&[
            one,
            payload(mark, &main(0, 0, 0)),
            payload(named, &gemm),
            payload(named, &null)
        ]),
        "mark @1 #0 \"gemm\" category 5 of 4 payloads"
    );
}

#[test]
fn message_may_be_an_array_of_bytes() {
    let scene = Scene::new();
    for ty in [
        NVTX_PAYLOAD_ENTRY_TYPE_BYTE,
        NVTX_PAYLOAD_ENTRY_TYPE_CHAR,
        NVTX_PAYLOAD_ENTRY_TYPE_CHAR8,
    ] {
        let name = array(MESSAGE, ty, c"name", 8);
        let data = array(0, ty, c"data", 2);
        let mark = scene.schema(MARK, &[mark_entries()[0], name, data]);
        for (bytes, text) in [(b"eight by", "eight by"), (b"ab\0c\0\0\0\0", "ab")] {
            let event = [&bytes![1_i64][..], bytes, b"xy", &[0; 6]].concat();
            let written = scene.written(&[payload(mark, &event)]);
            assert!(
                written.starts_with(&format!("mark @1 {text:?} {{data: ")),
                "{written}"
            );
        }
    }
}

#[test]
fn of_two_messages_the_earlier_is_data() {
    let scene = Scene::new();
    let text = |name| array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, name, 4);
    let unnamed = nvtxPayloadSchemaEntry_t {
        name: ptr::null(),
        ..text(c"")
    };
    let string = entry(MESSAGE, STRING, c"kind");
    let gemm = scene.program.string(scene.domain, c"gemm");
    let gemm = number(gemm.expect("a string"));
    let two = scene.schema(MARK, &[mark_entries()[0], string, text(c"name")]);
    assert_eq!(
        scene.written(&[payload(
            two,
            &[&bytes![1_i64, gemm][..], b"one\0", &[0; 4]].concat()
        )]),
        "mark @1 \"one\" {kind: #0 \"gemm\"}"
    );
    scene.refused(
        &[payload(
            two,
            &[&bytes![1_i64, 77_u64][..], b"one\0", &[0; 4]].concat(),
        )],
        "`kind` is 0x4d, which is no string of the stream's domain: register it there",
    );
    let three = scene.schema(
        MARK,
        &[mark_entries()[0], unnamed, text(c"before"), text(c"name")],
    );
    assert_eq!(
        scene.written(&[payload(
            three,
            &[&bytes![1_i64][..], b"one\0two\0tri\0", &[0; 4]].concat()
        )]),
        "mark @1 \"tri\" {message: \"one\", before: \"two\"}"
    );
}

#[test]
fn opaque_black_is_a_colour_and_zero_is_none() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &[mark_entries()[0], entry(0, COLOR, c"color")]);
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, 0xFF00_0000_u32, 0_u32])]),
        "mark @1 color ff000000"
    );
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, 0_u32, 0_u32])]),
        "mark @1"
    );
}

#[test]
fn unsigned_timestamps_are_bounded() {
    let scene = Scene::new();
    for ty in [
        U64,
        NVTX_PAYLOAD_ENTRY_TYPE_ULONG,
        NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG,
        NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
    ] {
        let mark = scene.schema(MARK, &[entry(MARK_TIME, ty, c"time")]);
        assert_eq!(
            scene.written(&[payload(mark, &bytes![i64::MAX])]),
            format!("mark @{}", i64::MAX)
        );
        scene.refused(
            &[payload(mark, &bytes![1_u64 << 63])],
            "the unsigned timestamp 9223372036854775808 is greater than the greatest possible, 2^63 - 1",
        );
    }
    for ty in [
        INT64,
        NVTX_PAYLOAD_ENTRY_TYPE_LONG,
        NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG,
    ] {
        let mark = scene.schema(MARK, &[entry(MARK_TIME, ty, c"time")]);
        assert_eq!(
            scene.written(&[payload(mark, &bytes![i64::MIN])]),
            format!("mark @{}", i64::MIN)
        );
    }
    // As data the same bits are fine, also in a payload of its own.
    let sent = scene.schema(0, &[entry(TIMESTAMP, U64, c"sent")]);
    let plain = scene.schema(MARK, &mark_entries());
    assert_eq!(
        scene.written(&[
            payload(plain, &bytes![1_i64]),
            payload(sent, &bytes![u64::MAX])
        ]),
        "mark @1 of 2 payloads {sent: U64(18446744073709551615)}"
    );
    let mark = scene.schema(MARK, &[mark_entries()[0], entry(TIMESTAMP, U64, c"sent")]);
    assert_eq!(
        scene.written(&[payload(mark, &bytes![1_i64, u64::MAX])]),
        "mark @1 {sent: U64(18446744073709551615)}"
    );
}

#[test]
fn time_domains_by_precedence() {
    let scene = Scene::new();
    let time = nvtxSemanticsTime_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsTime_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_TIME_V1,
            version: 1,
            next: ptr::null(),
        },
        timeDomainId: NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
    };
    let own = scene.schema(
        MARK,
        &[nvtxPayloadSchemaEntry_t {
            semantics: &time.header,
            ..mark_entries()[0]
        }],
    );
    let plain = scene.schema(MARK, &mark_entries());
    let attr = nvtxwStreamAttributes_t {
        timeDomainId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
        ..stream_attr(c"tsc", scene.domain)
    };
    let stream = scene
        .program
        .open_with(scene.session, &attr)
        .expect("a stream");
    scene.program.journal.take();
    let bytes = bytes![1_i64];
    for schema in [own, plain] {
        scene
            .program
            .write(stream, &[payload(schema, &bytes)])
            .expect("written");
    }
    assert_eq!(
        scene.program.journal.take(),
        ["mark @1 time domain 80", "mark @1 time domain 10"]
    );
    assert_eq!(
        scene.written(&[payload(own, &bytes)]),
        "mark @1 time domain 80"
    );
    assert_eq!(scene.written(&[payload(plain, &bytes)]), "mark @1");
}

#[test]
fn start_and_end_may_be_in_different_time_domains() {
    let scene = Scene::new();
    let time = |id| nvtxSemanticsTime_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsTime_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_TIME_V1,
            version: 1,
            next: ptr::null(),
        },
        timeDomainId: id,
    };
    let (gpu, tsc, none) = (
        time(NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER),
        time(NVTX_TIMESTAMP_TYPE_CPU_TSC),
        time(999),
    );
    let entries = |start: Option<&nvtxSemanticsTime_t>, end: Option<&nvtxSemanticsTime_t>| {
        let mut entries = pushpop_entries();
        for (entry, time) in entries.iter_mut().zip([start, end]) {
            entry.semantics = time.map_or(ptr::null(), |time| &raw const time.header);
        }
        entries
    };
    let pushpop =
        |start, end| scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, &entries(start, end));
    // Each with the stream's where it names none; only in one time domain does the end come after the start.
    let later = bytes![5_i64, 3_i64];
    for (start, end, shown) in [
        (Some(&gpu), Some(&tsc), "time domain 80 to 10"),
        (Some(&gpu), None, "time domain 80 to 0"),
        (None, Some(&tsc), "to 10"),
    ] {
        let schema = pushpop(start, end);
        assert_eq!(
            scene.written(&[payload(schema, &later)]),
            format!("range_pushpop @5..3 {shown}")
        );
        let info = scene.program.journal.domain().schema(schema);
        let info = info.expect("it is registered");
        assert_eq!(
            (info.time_domain(), info.end_time_domain()),
            (
                start.map(|time| time.timeDomainId),
                end.map(|time| time.timeDomainId)
            )
        );
    }
    for domain in [None, Some(&gpu)] {
        scene.refused(
            &[payload(pushpop(domain, domain), &later)],
            "ends before it starts: start 5, end 3",
        );
    }
    assert_invalid(
        scene.program.schema(
            scene.domain,
            &schema_attr(
                NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP,
                &entries(None, Some(&none)),
            ),
        ),
        "SchemaRegister on \"\": entry 1 `end`: the time semantics name 999, which is neither a timestamp type nor a time \
         domain of the domain",
    );
}

#[test]
fn scopes_by_precedence() {
    let scene = Scene::new();
    let scope = |path| {
        scene
            .program
            .scope(scene.domain, NVTX_SCOPE_ROOT, Some(path), 0)
            .expect("a scope")
    };
    let (stream_scope, semantics_scope, batch_scope) =
        (scope(c"stream"), scope(c"semantics"), scope(c"batch"));
    let (general, purpose_semantics, purpose) = (
        scope(c"general"),
        scope(c"purpose semantics"),
        scope(c"purpose"),
    );
    let attr = nvtxwStreamAttributes_t {
        scopeId: stream_scope,
        ..stream_attr(c"scoped", scene.domain)
    };
    let stream = scene
        .program
        .open_with(scene.session, &attr)
        .expect("a stream");

    let node = |scope| nvtxSemanticsScope_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsScope_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_SCOPE_V1,
            version: 1,
            next: ptr::null(),
        },
        scopeId: scope,
    };
    let (on_data, on_time) = (node(semantics_scope), node(purpose_semantics));
    let time = mark_entries()[0];
    let time_with = nvtxPayloadSchemaEntry_t {
        semantics: &on_time.header,
        ..time
    };
    let data = nvtxPayloadSchemaEntry_t {
        semantics: &on_data.header,
        ..entry(0, U64, c"data")
    };
    let general_entry = entry(0, SCOPE_ID, c"scope");
    let purpose_entry = entry(NVTX_PAYLOAD_ENTRY_FLAG_MARK, SCOPE_ID, c"mark scope");
    let data_bytes = 5_u64;

    scene.program.journal.take();
    let check =
        |entries: &[nvtxPayloadSchemaEntry_t], bytes: &[u8], batch_scope: u64, expected: u64| {
            let schema = scene.schema(MARK, entries);
            let attr = nvtxEventBatch_t {
                scope: batch_scope,
                ..batch(schema, bytes)
            };
            scene.program.write_batch(stream, &attr).expect("written");
            let lines = scene.program.journal.take();
            let scope = lines[1]
                .split(" scope ")
                .nth(1)
                .expect("a scope")
                .split(' ')
                .next()
                .expect("a number");
            assert_eq!(scope, expected.to_string(), "{lines:?}");
        };
    check(&[time], &bytes![1_i64], 0, stream_scope);
    check(
        &[time, data],
        &bytes![1_i64, data_bytes],
        0,
        semantics_scope,
    );
    check(&[time], &bytes![1_i64], batch_scope, batch_scope);
    check(
        &[time, data],
        &bytes![1_i64, data_bytes],
        batch_scope,
        batch_scope,
    );
    check(
        &[time, data, general_entry],
        &bytes![1_i64, data_bytes, general],
        batch_scope,
        general,
    );
    check(
        &[time, data, general_entry],
        &bytes![1_i64, data_bytes, 0_u64],
        batch_scope,
        batch_scope,
    );
    check(
        &[time_with, general_entry],
        &bytes![1_i64, general],
        batch_scope,
        purpose_semantics,
    );
    check(
        &[time_with, general_entry, purpose_entry],
        &bytes![1_i64, general, purpose],
        0,
        purpose,
    );
    check(
        &[time_with, general_entry, purpose_entry],
        &bytes![1_i64, general, 0_u64],
        0,
        purpose_semantics,
    );
    // A later payload counts for more, within a rank.
    check(
        &[time, general_entry],
        &bytes![1_i64, NVTX_SCOPE_CURRENT_SW_PROCESS],
        0,
        NVTX_SCOPE_CURRENT_SW_PROCESS,
    );
    let mark = scene.schema(MARK, &[time, general_entry]);
    let more = scene.schema(0, &[general_entry]);
    let (first, second) = (bytes![1_i64, general], bytes![batch_scope]);
    assert_eq!(
        scene.written(&[payload(mark, &first), payload(more, &second)]),
        format!("mark @1 scope {batch_scope} of 2 payloads")
    );

    for unknown in [9, 1 << 24, purpose + 1] {
        scene.refused(
            &[payload(mark, &bytes![1_i64, unknown])],
            &format!(
                "the scope {unknown} is neither predefined nor registered in the stream's domain"
            ),
        );
        assert_invalid(
            scene.program.write_batch(
                scene.stream,
                &nvtxEventBatch_t {
                    scope: unknown,
                    ..batch(mark, &[])
                },
            ),
            &format!(
                "EventBatchWrite on \"gpu\": scope {unknown} is neither predefined nor registered in the stream's domain"
            ),
        );
    }
}
