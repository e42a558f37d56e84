//! What is worked out of schemas: offsets, names, roles.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{EntryType, EventKind, FieldKind, FieldRole, SchemaRole, TimestampRole};

use crate::program::*;
use crate::registered::{assert_schema_invalid, offsets, register};

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const U128: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT128;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;

#[test]
fn offsets_are_computed_as_c_does() {
    let entries = [
        entry(0, U8, c"a"),
        entry(0, U64, c"t"),
        entry(0, U16, c"c"),
        entry(0, U128, c"w"),
    ];
    let natural = register(&schema_attr(0, &entries)).expect("a schema");
    assert_eq!(
        (offsets(&natural), natural.size()),
        (vec![0, 8, 16, 32], 48)
    );
    for (pack, expected, size) in [
        (1, [0, 1, 9, 11], 27),
        (2, [0, 2, 10, 12], 28),
        (8, [0, 8, 16, 24], 40),
    ] {
        let schema = register(&packed(pack, schema_attr(0, &entries))).expect("a schema");
        assert_eq!(
            (offsets(&schema), schema.size()),
            (expected.to_vec(), size),
            "pack {pack}"
        );
    }
    let explicit = [
        at(4, entry(0, U16, c"a")),
        entry(0, U8, c"b"),
        at(16, entry(0, U8, c"c")),
        entry(0, U16, c"d"),
    ];
    let schema = register(&sized(24, schema_attr(0, &explicit))).expect("a schema");
    assert_eq!((offsets(&schema), schema.size()), (vec![4, 6, 16, 18], 24));
    // Entries may come in any order.
    let backwards = [
        at(8, entry(0, U64, c"a")),
        at(4, entry(0, U16, c"b")),
        at(2, entry(0, U16, c"c")),
    ];
    let schema = register(&schema_attr(0, &backwards)).expect("a schema");
    assert_eq!((offsets(&schema), schema.size()), (vec![8, 4, 2], 16));
}

#[test]
fn a_size_of_zero_is_computed() {
    let schema = register(&sized(
        0,
        schema_attr(0, &[entry(0, U64, c"a"), entry(0, U8, c"b")]),
    ))
    .expect("a schema");
    assert_eq!(schema.size(), 16);
}

#[test]
fn names_are_unique_and_never_empty() {
    let nameless = nvtxPayloadSchemaEntry_t {
        name: ptr::null(),
        ..entry(0, U8, c"")
    };
    let entries = [
        nameless,
        entry(0, U8, c""),
        entry(0, U8, c"x"),
        entry(0, U8, c"x"),
        entry(0, U8, c"field 5"),
        nameless,
    ];
    let schema = register(&named(c"S\xFF", schema_attr(0, &entries))).expect("a schema");
    let names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
    assert_eq!(
        names,
        ["field 0", "field 1", "x", "x (3)", "field 5", "field 5 (5)"]
    );
    assert_eq!(schema.name(), Some("S\u{FFFD}"));
    assert_eq!(
        register(&schema_attr(0, &entries))
            .expect("a schema")
            .name(),
        None,
        "not set, not read"
    );
}

#[test]
fn fields_tell_what_they_are() {
    let described = nvtxPayloadSchemaEntry_t {
        description: c"what it is".as_ptr(),
        ..entry(NVTX_PAYLOAD_ENTRY_FLAG_HIDE, U8, c"hidden")
    };
    let entries = [
        entry(MARK_TIME, INT64, c"time"),
        entry(MESSAGE, STRING, c"message"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, c"color"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"category"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
        described,
        array(0, U16, c"array", 3),
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"text", 5),
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, c"palette", 2),
    ];
    let schema = register(&schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries)).expect("a schema");
    assert_eq!(schema.role(), SchemaRole::Event(EventKind::Mark));
    let roles: Vec<_> = schema.fields().iter().map(|field| field.role()).collect();
    assert_eq!(
        roles,
        [
            FieldRole::Time(TimestampRole::Mark),
            FieldRole::Message,
            FieldRole::Color,
            FieldRole::Category,
            FieldRole::RangeId,
            FieldRole::Scope,
            FieldRole::Plain,
            FieldRole::Plain,
            FieldRole::Plain,
            FieldRole::Plain,
        ]
    );
    let [.., hidden, array, text, _] = schema.fields() else {
        panic!("ten fields")
    };
    assert_eq!(
        (hidden.index(), hidden.is_hidden(), hidden.description()),
        (6, true, Some("what it is"))
    );
    assert_eq!(
        (array.is_hidden(), array.description(), array.count()),
        (false, None, Some(3))
    );
    assert!(matches!(array.kind(), FieldKind::Scalar(EntryType::UInt16)));
    assert!(matches!(text.kind(), FieldKind::Text(EntryType::CString)));
    assert_eq!(text.count(), None, "one text, not an array");
}

#[test]
fn flags_beside_the_role_do_not_change_it() {
    let deep = NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY | NVTX_PAYLOAD_SCHEMA_FLAG_REFERENCED;
    for kind in EventKind::ALL {
        let role = match kind {
            EventKind::Mark => MARK_TIME,
            EventKind::RangePop | EventKind::RangeEnd => END_TIME,
            _ => BEGIN_TIME,
        };
        let entries = [
            entry(role, INT64, c"time"),
            entry(0, NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID, c"id"),
            entry(END_TIME, INT64, c"end"),
        ];
        let is_whole = matches!(kind, EventKind::RangePushPop | EventKind::RangeStartEnd);
        let entries = if is_whole {
            &entries[..]
        } else {
            &entries[..2]
        };
        let schema = register(&schema_attr(kind.schema_flags() | deep | 1 << 40, entries))
            .expect("a schema");
        assert_eq!(schema.role(), SchemaRole::Event(*kind));
    }
}

#[test]
fn one_plain_timestamp_will_do_where_one_is_needed() {
    let entries = [entry(TIMESTAMP, INT64, c"time")];
    for flags in [
        NVTX_PAYLOAD_SCHEMA_FLAG_MARK,
        NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH,
        NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP,
    ] {
        register(&schema_attr(flags, &entries)).expect("a schema");
    }
    let two = [
        entry(TIMESTAMP, INT64, c"one"),
        entry(TIMESTAMP, INT64, c"two"),
    ];
    assert_schema_invalid(
        &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &two),
        "the schema's kind is mark, which needs an entry with the roles timestamp and mark",
    );
    let beside = [
        entry(TIMESTAMP, INT64, c"submitted"),
        entry(MARK_TIME, INT64, c"time"),
    ];
    register(&schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &beside))
        .expect("a schema with one more timestamp as data");
}

#[test]
fn timestamps_must_be_those_of_the_kind() {
    let pushpop = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;
    let begin = entry(BEGIN_TIME, INT64, c"start");
    let end = entry(END_TIME, INT64, c"end");
    for (flags, entries, reason) in [
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_MARK,
            &[entry(0, INT64, c"time")][..],
            "the schema's kind is mark, which needs an entry with the roles timestamp and mark",
        ),
        (
            pushpop,
            &[begin],
            "the schema's kind is range_pushpop, which needs an entry with the roles timestamp and range end",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND,
            &[end],
            "the schema's kind is range_startend, which needs an entry with the roles timestamp and range begin",
        ),
        (
            pushpop,
            &[begin, end, entry(BEGIN_TIME, INT64, c"again")],
            "`start` and `again` both have the roles timestamp and range begin; range_pushpop has exactly one such entry",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_MARK,
            &[entry(MARK_TIME, INT64, c"time"), end],
            "`end` is the timestamp of something else than mark, which is the schema's kind",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH,
            &[begin, end],
            "`end` is the timestamp of something else than range_push, which is the schema's kind",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START,
            &[begin],
            "the schema's kind is range_start, which needs an entry of the type NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END,
            &[end],
            "the schema's kind is range_end, which needs an entry of the type NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID",
        ),
        (
            NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
            &[
                entry(TIMESTAMP, INT64, c"one"),
                entry(TIMESTAMP, INT64, c"two"),
            ],
            "`one` and `two` are both timestamps; a counter group has at most one",
        ),
    ] {
        assert_schema_invalid(&schema_attr(flags, entries), reason);
        assert_schema_invalid(
            &named(c"Kernel", schema_attr(flags, entries)),
            &format!("schema `Kernel`: {reason}"),
        );
    }
}
