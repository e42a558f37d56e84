//! Layouts and enums that are known at run time only, and their rows.

use nvtxw::abi::raw;
use nvtxw::{
    BatchOrdering, CounterOptions, CounterSemantics, Domain, EnumLayout, EventKind, Interval,
    Limit, NoValueReason, NvtxEvent, RecordLayout, RowField, RowLayout, RowType, SampleTimes,
    Session, StaticId, Stream, StreamOptions, TimeDomainOptions, TimestampType,
};

use crate::recorder::{self, Call, Schema, Semantics, answer, call, calls};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
}

fn field(name: &str, ty: RowType) -> RowField {
    RowField::new(name, ty)
}

fn mark() -> RowLayout {
    RowLayout::event(EventKind::Mark).field(field("t", RowType::I64).timestamp())
}

fn schema(call: Call) -> (Schema, u64) {
    let Call::Schema { schema, out, .. } = call else {
        panic!("{call:?}")
    };
    (schema, out)
}

/// Name, type, offset, flags and detail of each entry.
fn entries(schema: &Schema) -> Vec<(&str, u64, u64, u64, u64)> {
    let entry = |entry: &'_ recorder::Entry| (entry.ty, entry.offset, entry.flags, entry.detail);
    schema
        .entries
        .iter()
        .map(|it| {
            let (ty, offset, flags, detail) = entry(it);
            (it.name.as_str(), ty, offset, flags, detail)
        })
        .collect()
}

fn open(session: &mut Session) -> Stream {
    let domain = session.domain("sim").unwrap().id();
    let options = StreamOptions::new(domain).plain_events(false);
    let stream = session.open_stream("s", options).unwrap();
    calls();
    stream
}

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
fn rows_are_the_slice_itself() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let gpu = domain.scope("GPU 0").unwrap();
    let id = StaticId::new(0x0300_0000).unwrap();
    let layout = mark()
        .field(field("x", RowType::U32).array(2))
        .static_id(id);
    let rows = domain.rows("rows", &layout).unwrap();
    let made = calls();
    let Some(Call::Schema { schema, out, .. }) = made.last() else {
        panic!()
    };
    assert_eq!((schema.static_id, *out), (0x0300_0000, 0x0300_0000));
    assert_eq!(schema.mask & 1 << 8, 1 << 8);
    let mut stream = open(&mut session);
    let out = session.writer(&mut stream).unwrap();
    let writer = out.rows(rows).unwrap();

    let values = [[1_u64, 2], [3, 4]];
    writer.write_rows(&values).unwrap();
    let batch = |call: Call| {
        let Call::Batch {
            schema,
            address,
            bytes,
            scope,
            flags,
            flex,
            ..
        } = call
        else {
            panic!("{call:?}")
        };
        assert_eq!((schema, flex), (0x0300_0000, (0, 0, 0)));
        (address, bytes, scope, flags)
    };
    let bytes: Vec<u8> = [1_u64, 2, 3, 4]
        .into_iter()
        .flat_map(u64::to_ne_bytes)
        .collect();
    let address = values.as_ptr().addr();
    assert_eq!(
        batch(call()),
        (address, bytes.clone(), 0, raw::NVTX_BATCH_FLAG_UNSORTED)
    );
    writer.write_bytes(&bytes[..16]).unwrap();
    let address = bytes.as_ptr().addr();
    assert_eq!(batch(call()).0, address);
    let scoped = out.rows(rows).unwrap().scope(gpu).unwrap();
    let scoped = scoped.ordering(BatchOrdering::Sorted);
    scoped.write_bytes(&bytes).unwrap();
    assert_eq!(
        batch(call()),
        (address, bytes.clone(), gpu.id().to_u64(), 0)
    );
    writer.write_rows::<[u64; 2]>(&[]).unwrap();
    writer.write_bytes(&[]).unwrap();
    assert_eq!(calls(), []);

    assert_eq!(
        writer.write_rows(&[1_u64, 2]).unwrap_err().to_string(),
        "a row of layout `rows` has 16 bytes, and a given value has 8: pass values that the layout describes; nothing was \
         written"
    );
    assert!(writer.write_rows::<u64>(&[]).is_err());
    assert_eq!(
        writer.write_bytes(&bytes[..17]).unwrap_err().to_string(),
        "a row of layout `rows` has 16 bytes, and 17 bytes were given: pass whole rows; nothing was written"
    );
    assert_eq!(calls(), []);
    answer("EventBatchWrite", 1);
    let error = writer.write_rows(&values).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "can't write rows of layout `rows` to stream `s` of domain `sim` of session `run`: the backend answered FAILED"
        ),
        "{error}"
    );
}

#[test]
fn starts_and_ends_are_written_one_by_one() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let gpu = domain.scope("GPU 0").unwrap();
    let layout = RowLayout::event(EventKind::RangeEnd)
        .field(field("end", RowType::I64).timestamp_end())
        .field(field("id", RowType::U64).range_id());
    let ends = domain.rows("ends", &layout).unwrap();
    let mut stream = open(&mut session);
    let out = session.writer(&mut stream).unwrap();
    let writer = out.rows(ends).unwrap();
    let values = [[1_u64, 2], [3, 4]];
    writer.write_rows(&values).unwrap();
    let made = calls();
    assert_eq!(made.len(), 2);
    for (made, row) in made.into_iter().zip(&values) {
        let Call::Event { payloads, .. } = made else {
            panic!()
        };
        assert_eq!(payloads.len(), 1);
        assert_eq!(
            (payloads[0].schema, payloads[0].bytes.len()),
            (ends.id(), 16)
        );
        assert_eq!(payloads[0].address, row.as_ptr().addr());
    }
    assert_eq!(
        writer.scope(gpu).unwrap_err().to_string(),
        "layout `ends` holds starts or ends of ranges, which take no scope from their writer: give the layout a scope field"
    );
}

#[test]
fn a_row_goes_beside_an_event() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let launch = domain.schema::<Launch>().unwrap();
    let marks = domain.rows("marks", &mark()).unwrap();
    let layout = RowLayout::payload().field(field("grid", RowType::U32).array(3));
    let grid = domain.rows("grid", &layout).unwrap();
    let record = domain
        .record("args", &RecordLayout::new().u64("n"))
        .unwrap();
    let gpu = domain.scope("GPU 0").unwrap();
    let mut other = session.domain("other").unwrap();
    let foreign = other.rows("grid", &layout).unwrap();
    let mut stream = open(&mut session);
    let out = session.writer(&mut stream).unwrap();

    let beside = grid.payload(&[1_u32, 2, 3]).unwrap();
    let launches = out.events(launch).unwrap();
    launches.write_with(&Launch { time: 5 }, beside).unwrap();
    let Call::Event { payloads, .. } = call() else {
        panic!()
    };
    assert_eq!(
        (payloads[0].schema, payloads[1].schema, payloads.len()),
        (launch.id(), grid.id(), 2)
    );
    let bytes: Vec<u8> = [1_u32, 2, 3]
        .into_iter()
        .flat_map(u32::to_ne_bytes)
        .collect();
    assert_eq!(payloads[1].bytes, bytes);

    let writer = out.rows(marks).unwrap();
    let row = record.row();
    let beside = grid.payload_bytes(&bytes).unwrap();
    writer.write_with(&9_i64, (beside, &row)).unwrap();
    let Call::Event { payloads, .. } = call() else {
        panic!()
    };
    assert_eq!((payloads[0].schema, payloads.len()), (marks.id(), 3));
    assert_eq!(payloads[0].bytes, 9_i64.to_ne_bytes());
    assert_eq!(
        (payloads[1].schema, &payloads[1].bytes),
        (grid.id(), &bytes)
    );
    assert_eq!(payloads[2].bytes, [0; 8]);

    let text = |result: nvtxw::Result<()>| result.unwrap_err().to_string();
    assert_eq!(
        text(writer.write_with(&9_i32, &row)),
        "a row of layout `marks` has 8 bytes, and a given value has 4: pass values that the layout describes; nothing was \
         written"
    );
    assert_eq!(
        text(grid.payload(&1_u64).map(|_| ())),
        "a row of layout `grid` has 12 bytes, and a given value has 8: pass values that the layout describes; nothing was \
         written"
    );
    assert_eq!(
        text(grid.payload_bytes(&bytes[1..]).map(|_| ())),
        "a row of layout `grid` has 12 bytes, and 11 bytes were given: pass whole rows; nothing was written"
    );
    assert_eq!(
        text(marks.payload(&1_u64).map(|_| ())),
        "layout `marks` holds events, which have calls of their own; make a `RowLayout::payload`"
    );
    assert_eq!(
        text(out.rows(grid).map(|_| ())),
        "layout `grid` holds payloads, which go beside an event: make one with `RowSchema::payload`"
    );
    let error = text(writer.write_with(&9_i64, foreign.payload(&[1_u32; 3]).unwrap()));
    assert!(
        error.starts_with("can't write rows of layout `marks` to stream `s`")
            && error.contains("belongs to domain `other` of session `run`"),
        "{error}"
    );
    let scoped = out.rows(marks).unwrap().scope(gpu).unwrap();
    let error = text(scoped.write_with(&9_i64, &row));
    assert!(error.contains("through a writer with a scope"), "{error}");
    assert_eq!(calls(), []);
}

fn channel(domain: &mut Domain<'_>, timed: bool) -> nvtxw::RowCounter {
    let mut layout = RowLayout::counters();
    if timed {
        layout = layout.field(field("time", RowType::I64).timestamp());
    }
    let layout = layout
        .field(field("read", RowType::U32).semantics(CounterSemantics::new().unit("bytes")))
        .field(field("busy", RowType::F32));
    let name = if timed { "timed" } else { "channel" };
    let options = CounterOptions::new().description("one of four");
    domain.counter_rows(name, &layout, options).unwrap()
}

#[test]
fn a_counter_group_is_registered_with_its_layout() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let timed = channel(&mut domain, true);
    let made = calls();
    let [
        Call::Schema {
            ref schema,
            out: schema_id,
            ..
        },
        Call::Counter {
            ref counter, out, ..
        },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(schema.flags, raw::NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP);
    let counts = raw::NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;
    assert_eq!(
        entries(schema),
        [
            ("time", 17, 0, raw::NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, 0),
            ("read", 16, 8, counts, 0),
            ("busy", 43, 12, counts, 0),
        ]
    );
    assert_eq!(
        (counter.schema, counter.name.as_str()),
        (schema_id, "timed")
    );
    assert_eq!(counter.description.as_deref(), Some("one of four"));
    assert_eq!((timed.id(), timed.row_size()), (out, 16));
    assert_eq!(channel(&mut domain, true), timed);
    assert_eq!(calls(), []);

    let mut refused = |layout: &RowLayout, options| {
        let error = domain.counter_rows("g", layout, options);
        error.unwrap_err().to_string()
    };
    let plain = CounterOptions::new;
    assert_eq!(
        refused(&mark(), plain()),
        "can't register layout `g`: it is no counter group; begin it with `RowLayout::counters`"
    );
    let counters = RowLayout::counters;
    assert_eq!(
        refused(
            &counters().field(field("t", RowType::I64).timestamp()),
            plain()
        ),
        "can't register layout `g`: it has no fields to hold values; add one"
    );
    for wrong in [field("x", RowType::Bool), field("x", RowType::U8).array(2)] {
        assert_eq!(
            refused(&counters().field(wrong), plain()),
            "can't register layout `g`: field `x` is not one number; a counter is an integer or a float"
        );
    }
    assert_eq!(
        refused(&counters().field(field("x", RowType::U32).color()), plain()),
        "can't register layout `g`: a counter group has no color, as field `x` is"
    );
    assert_eq!(calls(), []);
    assert_eq!(
        refused(
            &counters().field(field("x", RowType::U8)),
            plain().unit("x")
        ),
        "can't register counter `g`: unit, scale, limits, interpolation and value type belong to the fields of the group's \
         struct"
    );
}

#[test]
fn rows_of_a_counter_group_have_their_times_beside_or_inside() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let (plain, timed) = (channel(&mut domain, false), channel(&mut domain, true));
    let mut stream = open(&mut session);
    let out = session.writer(&mut stream).unwrap();
    let plain_writer = out.row_counter(plain).unwrap();
    let values = [[1_u32, 2], [3, 4]];
    let bytes: Vec<u8> = [1_u32, 2, 3, 4]
        .into_iter()
        .flat_map(u32::to_ne_bytes)
        .collect();
    let batch = |call: Call, id: u64| {
        let Call::Samples {
            counter,
            bytes,
            flags,
            times_address,
            times,
            ..
        } = call
        else {
            panic!("{call:?}")
        };
        assert_eq!(counter, id);
        (bytes, flags, times_address, times)
    };
    let unsorted = raw::NVTX_BATCH_FLAG_UNSORTED;

    let times = [10, 20];
    plain_writer.write_rows(&times, &values).unwrap();
    let (found, flags, address, found_times) = batch(call(), plain.id());
    assert_eq!((found, flags), (bytes.clone(), unsorted));
    assert_eq!(
        (address, found_times),
        (times.as_ptr().addr(), vec![10, 20])
    );
    let sorted = out
        .row_counter(plain)
        .unwrap()
        .ordering(BatchOrdering::Sorted);
    sorted
        .write_bytes(Interval::from_end(90, 5), &bytes)
        .unwrap();
    let (found, flags, _, times) = batch(call(), plain.id());
    assert_eq!((found, flags, times), (bytes.clone(), 2 << 32, vec![90, 5]));

    let timed_writer = out.row_counter(timed).unwrap();
    let rows = [[1_u64, 2], [3, 4]];
    timed_writer
        .write_rows(SampleTimes::Embedded, &rows)
        .unwrap();
    let (found, flags, address, _) = batch(call(), timed.id());
    assert_eq!((found.len(), flags, address), (32, unsorted, 0));
    timed_writer.write_rows(&[7, 8][..], &rows).unwrap();
    assert_eq!(batch(call(), timed.id()).3, [7, 8]);

    plain_writer.sample(4, &[5_u32, 6]).unwrap();
    assert!(
        matches!(call(), Call::Sample { time: 4, counter, bytes, .. }
        if counter == plain.id() && bytes.len() == 8 && bytes[0] == 5_u32.to_ne_bytes()[0])
    );
    plain_writer.no_value(5, NoValueReason::Unchanged).unwrap();
    assert!(matches!(
        call(),
        Call::NoValue {
            time: 5,
            reason: 1,
            ..
        }
    ));
    plain_writer.write_bytes(&[], &[]).unwrap();
    assert_eq!(calls(), []);

    let text = |result: nvtxw::Result<()>| result.unwrap_err().to_string();
    assert_eq!(
        text(plain_writer.write_rows(&[1], &values)),
        "a batch of counter `channel` has 1 times and 2 values: give one time per value; nothing was written"
    );
    assert_eq!(
        text(plain_writer.write_rows(SampleTimes::Embedded, &values)),
        "layout `channel` has no timestamp field, so the times of its rows go beside them: give `SampleTimes::Each`"
    );
    assert_eq!(
        text(plain_writer.write_rows(&[1], &[1_u32])),
        "a row of layout `channel` has 8 bytes, and a given value has 4: pass values that the layout describes; nothing was \
         written"
    );
    assert_eq!(
        text(plain_writer.sample(1, &1_u32)),
        text(plain_writer.write_rows(&[1], &[1_u32]))
    );
    assert_eq!(
        text(plain_writer.write_bytes(&[1], &bytes[1..])),
        "a row of layout `channel` has 8 bytes, and 15 bytes were given: pass whole rows; nothing was written"
    );
    assert_eq!(calls(), []);
    answer("CounterBatchWrite", 7);
    let error = plain_writer.write_rows(&[1, 2], &values).unwrap_err();
    assert!(error.is_not_supported());
    assert!(
        error.to_string().starts_with(
            "can't write rows of counter `channel` to stream `s` of domain `sim` of session `run`: "
        ),
        "{error}"
    );
}

#[test]
fn rows_stay_in_their_domain() {
    let mut session = recorder::session("run");
    let mut other = session.domain("other").unwrap();
    let rows = other.rows("marks", &mark()).unwrap();
    let counter = channel(&mut other, false);
    let scope = other.scope("x").unwrap();
    let own = session
        .domain("sim")
        .unwrap()
        .rows("marks", &mark())
        .unwrap();
    let mut stream = open(&mut session);
    let out = session.writer(&mut stream).unwrap();
    let rest = "belongs to domain `other` of session `run`; stream `s` writes to domain `sim` of session `run`: use it where \
                it belongs, or register it there too";
    assert_eq!(
        out.rows(rows).unwrap_err().to_string(),
        format!("layout `marks` {rest}")
    );
    assert_eq!(
        out.row_counter(counter).unwrap_err().to_string(),
        format!("counter `channel` {rest}")
    );
    let error = out.rows(own).unwrap().scope(scope).unwrap_err();
    assert_eq!(error.to_string(), format!("a scope that was passed {rest}"));
}
