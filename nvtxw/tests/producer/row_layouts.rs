//! Layouts and enums that are known at run time only.

use nvtxw::abi::raw;
use nvtxw::{
    CounterSemantics, EnumLayout, EventKind, Limit, RowLayout, RowType, StaticId,
    TimeDomainOptions, TimestampType,
};

use crate::recorder::{self, Call, Semantics, answer, call, calls};
use crate::rows::{entries, field, mark, schema};

#[test]
fn an_enum_is_registered_once_with_its_values() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let Call::Domain { out: handle, .. } = call() else {
        panic!()
    };
    let layout = EnumLayout::new(2).value("idle", 0).value("lost", 0xFFFF);
    let state = domain.enumeration("state", &layout).unwrap();
    let mask = 0b11110;
    assert_eq!(
        call(),
        Call::Enum {
            domain: handle,
            mask,
            name: "state".into(),
            size: 2,
            values: vec![("idle".into(), 0, 0), ("lost".into(), 0xFFFF, 0)],
            static_id: 0,
            out: state.id(),
        }
    );
    assert_eq!(domain.enumeration("state", &layout).unwrap(), state);
    assert_eq!(calls(), []);
    let id = StaticId::new(0x0200_0000).unwrap();
    let flags = layout.clone().flags().static_id(id);
    let access = domain.enumeration("state", &flags).unwrap();
    assert_eq!(access.id(), 0x0200_0000);
    let Call::Enum {
        mask: found,
        values,
        static_id,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!((found, static_id), (mask | 1 << 5, 0x0200_0000));
    // 0 is no bit to combine.
    assert_eq!(values, [("idle".into(), 0, 0), ("lost".into(), 0xFFFF, 1)]);

    let mut refused =
        |layout: &EnumLayout| domain.enumeration("e", layout).unwrap_err().to_string();
    assert_eq!(
        refused(&EnumLayout::new(3).value("a", 1)),
        "can't register enum `e`: its values have 3 bytes; give 1, 2, 4 or 8"
    );
    assert_eq!(
        refused(&EnumLayout::new(8)),
        "can't register enum `e`: it has no values; add one"
    );
    assert_eq!(
        refused(&EnumLayout::new(1).value("a", 255).value("b", 256)),
        "can't register enum `e`: the value 0x100 of `b` doesn't fit its size of 1 bytes"
    );
    assert_eq!(
        refused(&EnumLayout::new(8).value("\0", u64::MAX)),
        "the name of an enum's value has a NUL byte at position 0, where C's text ends: take it out"
    );
    assert_eq!(calls(), []);
    answer("EnumRegister", 1);
    let error = domain.enumeration("e", &EnumLayout::new(1).value("a", 1));
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("can't register enum `e` in domain `sim` of session `run`: the backend"),
        "{error}"
    );
}

#[test]
fn a_layout_arrives_as_c_would_lay_it_out() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let states = EnumLayout::new(2).value("idle", 0);
    let states = domain.enumeration("state", &states).unwrap();
    let clock = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let point = RowLayout::payload()
        .field(field("x", RowType::F32))
        .field(field("y", RowType::F32));
    calls();
    let point = domain.rows("point", &point).unwrap();
    let (registered, point_id) = schema(call());
    assert_eq!((registered.flags, registered.size), (0, 8));
    assert_eq!((point.kind(), point.id()), (None, point_id));

    let layout = RowLayout::event(EventKind::RangeStartEnd)
        .field(field("flag", RowType::Bool))
        .field(
            field("start", RowType::I64)
                .timestamp_start()
                .time_domain(clock),
        )
        .field(
            field("end", RowType::U64)
                .timestamp_end()
                .time_domain(TimestampType::CpuTsc),
        )
        .field(field("text", RowType::Text(5)).message())
        .field(field("state", RowType::Enumeration(states)).hidden())
        .field(field("color", RowType::U32).color())
        .field(field("category", RowType::U32).category())
        .field(field("scope", RowType::U64).scope())
        .field(field("flow", RowType::U64).correlation("ac2g"))
        .field(field("points", RowType::Row(point)).array(3))
        .field(
            field("shared", RowType::U16)
                .description("of a block")
                .semantics(
                    CounterSemantics::new()
                        .unit("bytes")
                        .scale(1024, 1)
                        .min(Limit::U64(1))
                        .normalize(),
                ),
        )
        .field(field("wide", RowType::I128));
    let kernel = domain.rows("kernel", &layout).unwrap();
    let made = calls();
    let [
        Call::Enum { out: boolean, .. },
        Call::Schema {
            schema: ref registered,
            ..
        },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(
        registered.flags,
        raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND
    );
    assert_eq!((registered.mask, registered.pack_align), (0b111_1110, 0));
    assert_eq!((registered.static_id, registered.size), (0, 112));
    assert_eq!(kernel.row_size(), 112);
    assert_eq!(kernel.kind(), Some(EventKind::RangeStartEnd));
    let timestamp = raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
    assert_eq!(
        entries(registered),
        [
            ("flag", boolean, 0, 0, 0),
            ("start", 17, 8, timestamp | 1 << 12, 0),
            ("end", 18, 16, timestamp | 2 << 12, 0),
            ("text", 76, 24, 1 << 10, 5),
            ("state", states.id(), 30, 1 << 9, 0),
            ("color", 69, 32, 0, 0),
            ("category", 68, 36, 0, 0),
            ("scope", 70, 40, 0, 0),
            ("flow", 18, 48, 0, 0),
            ("points", point_id, 56, 1 << 4, 3),
            ("shared", 14, 80, 0, 0),
            ("wide", 33, 96, 0, 0),
        ]
    );
    assert_eq!(
        registered.entries[1].semantics,
        [Semantics::Time {
            struct_size: 24,
            version: 1,
            time_domain: clock.id()
        }]
    );
    assert!(matches!(
        registered.entries[2].semantics[..],
        [Semantics::Time {
            time_domain: 10,
            ..
        }]
    ));
    assert!(matches!(
        &registered.entries[8].semantics[..],
        [Semantics::Correlation { name: Some(name), .. }] if name == "ac2g"
    ));
    let shared = &registered.entries[10];
    assert_eq!(shared.description.as_deref(), Some("of a block"));
    assert_eq!(
        shared.semantics,
        [Semantics::Counter {
            struct_size: 72,
            version: raw::NVTX_COUNTER_SEMANTIC_VERSION,
            flags: raw::NVTX_COUNTER_FLAG_NORMALIZE | raw::NVTX_COUNTER_FLAG_LIMIT_MIN,
            unit: Some("bytes".into()),
            scale: (1024, 1),
            limit_type: raw::NVTX_COUNTER_LIMIT_U64,
            min: 1,
            max: 0,
        }]
    );

    assert_eq!(domain.rows("kernel", &layout).unwrap(), kernel);
    assert_eq!(calls(), []);
    assert_ne!(domain.rows("other name", &layout).unwrap(), kernel);
}

#[test]
fn every_type_has_its_code_and_size() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    for (ty, code, size) in [
        (RowType::I8, 11, 1),
        (RowType::I16, 13, 2),
        (RowType::I32, 15, 4),
        (RowType::I64, 17, 8),
        (RowType::I128, 33, 16),
        (RowType::U8, 12, 1),
        (RowType::U16, 14, 2),
        (RowType::U32, 16, 4),
        (RowType::U64, 18, 8),
        (RowType::U128, 34, 16),
        (RowType::F16, 42, 2),
        (RowType::BF16, 50, 2),
        (RowType::F32, 43, 4),
        (RowType::F64, 44, 8),
        (RowType::Char, 27, 4),
        (RowType::Byte, 32, 1),
        (RowType::Address, 23, size_of::<usize>()),
        (RowType::Text(3), 76, 3),
    ] {
        let layout = RowLayout::payload().field(field("x", ty));
        let rows = domain.rows(&format!("{ty:?}"), &layout).unwrap();
        let (registered, _) = schema(call());
        assert_eq!((registered.entries[0].ty, registered.size), (code, size));
        assert_eq!(rows.row_size(), size, "{ty:?}");
    }
}

#[test]
fn each_kind_of_event_has_its_times() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let start = || field("start", RowType::I64).timestamp_start();
    let end = || field("end", RowType::I64).timestamp_end();
    let id = || field("id", RowType::U64).range_id();
    for (kind, fields, number) in [
        (EventKind::RangePushPop, vec![start(), end()], 2),
        (EventKind::RangeStartEnd, vec![start(), end()], 3),
        (
            EventKind::Mark,
            vec![field("t", RowType::I64).timestamp()],
            4,
        ),
        (EventKind::RangePush, vec![start()], 5),
        (EventKind::RangePop, vec![end()], 6),
        (EventKind::RangeStart, vec![start(), id()], 7),
        (EventKind::RangeEnd, vec![end(), id()], 8),
    ] {
        let whole = fields
            .iter()
            .cloned()
            .fold(RowLayout::event(kind), RowLayout::field);
        domain.rows(kind.name(), &whole).unwrap();
        let (registered, _) = schema(call());
        assert_eq!(registered.flags, number << 3);
        let text = domain
            .rows(kind.name(), &RowLayout::event(kind))
            .unwrap_err()
            .to_string();
        let first = if kind == EventKind::Mark {
            "timestamp"
        } else if fields[0] == end() {
            "timestamp_end"
        } else {
            "timestamp_start"
        };
        assert_eq!(
            text,
            format!(
                "can't register layout `{0}`: an event of kind {0} needs a field that is its {first}; add one",
                kind.name()
            )
        );
    }
    let stamps: Vec<_> = ["t", "start", "id"].into();
    let layout = RowLayout::event(EventKind::RangeStart)
        .field(start())
        .field(id());
    domain.rows("flags", &layout).unwrap();
    let (registered, _) = schema(call());
    assert!(stamps.contains(&registered.entries[0].name.as_str()));
    assert_eq!(
        (registered.entries[1].ty, registered.entries[1].flags),
        (67, 0)
    );
}

#[test]
fn gaps_packing_and_sizes_are_the_callers() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let mut arrives = |name: &str, layout: &RowLayout| {
        let rows = domain.rows(name, layout).unwrap();
        let (registered, _) = schema(call());
        assert_eq!(registered.size, rows.row_size());
        let offsets: Vec<_> = registered
            .entries
            .iter()
            .map(|entry| entry.offset)
            .collect();
        (offsets, registered.size, registered.pack_align)
    };
    let byte_and_time = RowLayout::event(EventKind::Mark)
        .field(field("a", RowType::U8))
        .field(field("t", RowType::I64).timestamp());
    assert_eq!(arrives("natural", &byte_and_time), (vec![0, 8], 16, 0));
    let packed = byte_and_time.clone().packed();
    assert_eq!(arrives("packed", &packed), (vec![0, 1], 9, 1));
    let size = byte_and_time.clone().size(24);
    assert_eq!(arrives("size", &size), (vec![0, 8], 24, 0));
    let size = byte_and_time.size(20);
    assert_eq!(arrives("odd size", &size), (vec![0, 8], 20, 4));
    let at = RowLayout::event(EventKind::Mark)
        .field(field("a", RowType::U8).at(2))
        .field(field("t", RowType::I64).timestamp().at(4))
        .field(field("b", RowType::U8));
    assert_eq!(arrives("at", &at), (vec![2, 4, 12], 16, 4));
    // A nested row that is packed needs no more alignment outside.
    let inner = RowLayout::payload()
        .field(field("a", RowType::U8))
        .field(field("b", RowType::U32))
        .packed();
    let inner = domain.rows("inner", &inner).unwrap();
    calls();
    let outer = RowLayout::payload()
        .field(field("a", RowType::U8))
        .field(field("inner", RowType::Row(inner)));
    let rows = domain.rows("outer", &outer).unwrap();
    let (registered, _) = schema(call());
    assert_eq!((registered.entries[1].offset, rows.row_size()), (1, 6));
}

#[test]
fn a_layout_that_cannot_be_registered_says_why() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let event = RowLayout::event(EventKind::Mark);
    calls();
    let mut refused = |layout: RowLayout| {
        let text = domain.rows("l", &layout).unwrap_err().to_string();
        let problem = text.strip_prefix("can't register layout `l`: ");
        problem.unwrap_or(&text).to_owned()
    };
    let u64s = || field("x", RowType::U64);
    assert_eq!(
        refused(RowLayout::payload()),
        "it has no fields to hold values; add one"
    );
    assert_eq!(
        refused(mark().field(field("t", RowType::U8))),
        "it has two fields `t`; name each differently"
    );
    assert_eq!(
        refused(mark().field(field("u", RowType::I64).timestamp())),
        "it has 2 fields that are its timestamp; it can have one"
    );
    assert_eq!(
        refused(mark().field(u64s().timestamp_end())),
        "an event of kind mark has no timestamp_end, as field `x` is"
    );
    assert_eq!(
        refused(mark().field(u64s().range_id())),
        "an event of kind mark has no range_id, as field `x` is"
    );
    assert_eq!(
        refused(RowLayout::payload().field(u64s().scope())),
        "a payload has no scope, as field `x` is"
    );
    assert_eq!(
        refused(event.clone().field(field("t", RowType::F64).timestamp())),
        "field `t` is a timestamp, which is an i64 or a u64, not F64"
    );
    assert_eq!(
        refused(mark().field(u64s().message())),
        "field `x` is a message, which is text, not U64"
    );
    assert_eq!(
        refused(mark().field(u64s().color())),
        "field `x` is a color, which is a u32, not U64"
    );
    assert_eq!(
        refused(mark().field(field("x", RowType::U8).correlation("c"))),
        "field `x` is a correlation, which is a u64, an i64 or a u32, not U8"
    );
    assert_eq!(
        refused(event.field(field("t", RowType::I64).timestamp().array(1))),
        "field `t` is an array; only plain numbers, enums and rows are"
    );
    assert_eq!(
        refused(mark().field(field("x", RowType::Text(4)).array(2))),
        "field `x` is an array; only plain numbers, enums and rows are"
    );
    assert_eq!(
        refused(mark().field(u64s().array(0))),
        "field `x` has no bytes; leave it out"
    );
    assert_eq!(
        refused(mark().field(field("x", RowType::Text(0)))),
        "field `x` has no bytes; leave it out"
    );
    assert_eq!(
        refused(mark().field(u64s().at(7))),
        "field `x` begins at 7, inside the field before, which ends at 8"
    );
    assert_eq!(
        refused(mark().field(u64s().array(usize::MAX))),
        "field `x` ends beyond all memory"
    );
    assert_eq!(
        refused(mark().size(7)),
        "its size is given as 7 bytes, and its last field ends at 8"
    );
    let unit = CounterSemantics::new().unit("x");
    assert_eq!(
        refused(mark().field(field("x", RowType::Char).semantics(unit))),
        "field `x` is no plain number, so it has no unit, scale, limits and so on"
    );
    let normalize = CounterSemantics::new().normalize();
    assert_eq!(
        refused(mark().field(field("x", RowType::F16).semantics(normalize))),
        "field `x`: `normalize` is for integers; floats are what they are"
    );
    assert_eq!(
        refused(mark().field(u64s().time_domain(TimestampType::CpuTsc))),
        "field `x` is no timestamp, so it has no time domain"
    );
    assert_eq!(
        refused(RowLayout::counters().field(u64s())),
        "it is a counter group; register it with `counter_rows`"
    );
    assert_eq!(
        refused(mark().field(field("\0", RowType::U8))),
        "the name of a field has a NUL byte at position 0, where C's text ends: take it out"
    );
    assert_eq!(calls(), []);
    let inner = domain.rows("inner", &mark()).unwrap();
    calls();
    let nested = mark().field(field("x", RowType::Row(inner)));
    assert_eq!(
        domain.rows("l", &nested).unwrap_err().to_string(),
        "can't register layout `l`: field `x` is a row of an event or a counter group; nest a `RowLayout::payload`"
    );
    answer("SchemaRegister", 1);
    let error = domain.rows("l", &mark()).unwrap_err().to_string();
    assert!(
        error
            .starts_with("can't register layout `l` in domain `sim` of session `run`: the backend"),
        "{error}"
    );
}

#[test]
fn what_a_layout_refers_to_is_of_its_domain() {
    let mut session = recorder::session("run");
    let mut other = session.domain("other").unwrap();
    let point = RowLayout::payload().field(field("x", RowType::F32));
    let point = other.rows("point", &point).unwrap();
    let states = EnumLayout::new(1).value("idle", 0);
    let states = other.enumeration("state", &states).unwrap();
    let clock = other.time_domain(TimeDomainOptions::new()).unwrap();
    let mut domain = session.domain("sim").unwrap();
    calls();
    let event = RowLayout::event(EventKind::Mark);
    for (what, layout) in [
        (
            "row of field `x`",
            mark().field(field("x", RowType::Row(point))),
        ),
        (
            "enum of field `x`",
            mark().field(field("x", RowType::Enumeration(states))),
        ),
        (
            "time domain of field `t`",
            event.field(field("t", RowType::I64).timestamp().time_domain(clock)),
        ),
    ] {
        assert_eq!(
            domain.rows("l", &layout).unwrap_err().to_string(),
            format!(
                "the {what} belongs to domain `other` of session `run`; the layout is registered in domain `sim` of session \
                 `run`: use it where it belongs, or register it there too"
            )
        );
    }
    assert_eq!(calls(), []);
}

#[test]
fn texts_of_any_length_are_behind_the_rest_of_a_payload() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let text = |name| field(name, RowType::TerminatedText);
    let layout = RowLayout::payload()
        .field(field("a", RowType::U8))
        .field(field("b", RowType::U16))
        .field(text("name").message())
        .field(text("kind").hidden());
    let rows = domain.rows("arguments", &layout).unwrap();
    let (registered, _) = schema(call());
    assert_eq!(
        (registered.ty, registered.size),
        (raw::NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0)
    );
    assert_eq!(
        entries(&registered),
        [
            ("a", 12, 0, 0, 0),
            ("b", 14, 2, 0, 0),
            ("name", 76, 4, 1 << 10 | 2 << 4, 0),
            ("kind", 76, 0, 1 << 9 | 2 << 4, 0),
        ]
    );
    assert_eq!(rows.row_size(), 4);
    let bytes = |bytes: &[u8]| {
        rows.payload_bytes(bytes)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(bytes(b"1234name\0kind\0"), Ok(()));
    assert_eq!(bytes(b"1234\0\0"), Ok(()));
    for bad in [
        &b"1234"[..],
        b"123",
        b"1234name\0kind",
        b"1234name\0",
        b"1234name\0kind\0\0",
    ] {
        assert_eq!(
            bytes(bad).unwrap_err(),
            format!(
                "a row of layout `arguments` has 4 bytes and 2 texts of any length, and {} bytes were given: pass whole \
                 rows, each text with its NUL and no other; nothing was written",
                bad.len()
            )
        );
    }
    assert!(rows.payload(&0_u32).is_err());

    let mut refused = |layout: RowLayout| domain.rows("l", &layout).unwrap_err().to_string();
    assert_eq!(
        refused(mark().field(text("x"))),
        "can't register layout `l`: field `x` is text of any length, which only payloads have; give it a fixed size with \
         `RowType::Text`"
    );
    assert_eq!(
        refused(
            RowLayout::payload()
                .field(text("x"))
                .field(field("y", RowType::U8))
        ),
        "can't register layout `l`: field `y` comes behind text of any length; put it before"
    );
    assert_eq!(
        refused(RowLayout::payload().field(field("x", RowType::Row(rows)))),
        "can't register layout `l`: field `x` is a row with text of any length; nest one whose text has a fixed size"
    );
    assert_eq!(
        refused(RowLayout::payload().field(text("x").array(2))),
        "can't register layout `l`: field `x` is an array; only plain numbers, enums and rows are"
    );
}
