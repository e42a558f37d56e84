//! The 13 schemas of plain events: what the helpers of C and Python register.

use nvtxw::StreamOptions;
use nvtxw::abi::raw::*;

use crate::recorder::{Call, Entry, Schema, call, calls, session};

const TIMESTAMP: u64 = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
const MARK: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK;
const BEGIN: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
const END: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
const MESSAGE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;

/// Flags, type, name, offset.
type Row = (u64, u64, &'static str, u64);

fn time(flags: u64, name: &'static str, offset: u64) -> Row {
    (flags, NVTX_PAYLOAD_ENTRY_TYPE_INT64, name, offset)
}

fn color(offset: u64) -> Row {
    (0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", offset)
}

fn category(offset: u64) -> Row {
    (0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category", offset)
}

fn range_id() -> Row {
    (0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, "rangeId", 0)
}

fn message(offset: u64) -> Row {
    (
        MESSAGE,
        NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
        "message",
        offset,
    )
}

fn schema(ty: u64, flags: u64, size: usize, entries: &[Row]) -> Schema {
    Schema {
        mask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
        name: None,
        ty,
        flags,
        size,
        pack_align: 0,
        static_id: 0,
        entries: entries
            .iter()
            .map(|&(flags, ty, name, offset)| Entry {
                flags,
                ty,
                name: name.into(),
                description: None,
                detail: 0,
                offset,
                semantics: Vec::new(),
            })
            .collect(),
    }
}

fn expected() -> Vec<Schema> {
    let event = |flags, size, entries: &[Row]| {
        schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, flags, size, entries)
    };
    let point_text = |flags, role| {
        event(
            flags,
            16,
            &[time(role, "timestamp", 0), color(8), category(12)],
        )
    };
    let point_handle = |flags, role| {
        event(
            flags,
            24,
            &[
                time(role, "timestamp", 0),
                color(8),
                category(12),
                message(16),
            ],
        )
    };
    let times = [
        time(BEGIN, "timestampBegin", 0),
        time(END, "timestampEnd", 8),
    ];
    let range_text = |flags| event(flags, 24, &[times[0], times[1], color(16), category(20)]);
    let range_handle = |flags| {
        event(
            flags,
            32,
            &[times[0], times[1], color(16), category(20), message(24)],
        )
    };
    let start = [
        range_id(),
        time(BEGIN, "timestamp", 8),
        color(16),
        category(20),
        message(24),
    ];
    vec![
        point_text(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, MARK),
        point_handle(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, MARK),
        range_text(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP),
        range_handle(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP),
        range_text(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND),
        range_handle(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND),
        point_text(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH, BEGIN),
        point_handle(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH, BEGIN),
        event(
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP,
            8,
            &[time(END, "timestamp", 0)],
        ),
        event(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START, 24, &start[..4]),
        event(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START, 32, &start),
        event(
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END,
            16,
            &[range_id(), time(END, "timestamp", 8)],
        ),
        schema(
            NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
            0,
            0,
            &[(
                MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
                NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8,
                "message",
                0,
            )],
        ),
    ]
}

#[test]
fn they_are_registered_with_the_first_plain_stream_of_a_domain() {
    let mut session = session("run");
    let domain = session.domain("sim").unwrap().id();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let options = StreamOptions::new(domain);
    session
        .open_stream("typed", options.plain_events(false))
        .unwrap();
    assert!(matches!(call(), Call::StreamOpen { .. }));

    session.open_stream("first", options).unwrap();
    let mut all = calls();
    assert!(matches!(all.pop(), Some(Call::StreamOpen { .. })));
    let schemas: Vec<_> = all
        .into_iter()
        .map(|call| match call {
            Call::Schema { domain, schema, .. } if domain == handle => schema,
            call => panic!("{call:?}"),
        })
        .collect();
    assert_eq!(schemas, expected());

    session.open_stream("second", options).unwrap();
    assert!(matches!(call(), Call::StreamOpen { .. }));
    let other = session.domain("other").unwrap().id();
    session
        .open_stream("third", StreamOptions::new(other))
        .unwrap();
    assert_eq!(calls().len(), 1 + 13 + 1);
}
