//! Rows of layouts that are known at run time only.

use nvtxw::abi::raw;
use nvtxw::{
    BatchOrdering, CounterOptions, CounterSemantics, Domain, EventKind, Interval, NoValueReason,
    NvtxEvent, RecordLayout, RowField, RowLayout, RowType, SampleTimes, Session, StaticId, Stream,
    StreamOptions,
};

use crate::recorder::{self, Call, Schema, answer, call, calls};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
}

pub(crate) fn field(name: &str, ty: RowType) -> RowField {
    RowField::new(name, ty)
}

pub(crate) fn mark() -> RowLayout {
    RowLayout::event(EventKind::Mark).field(field("t", RowType::I64).timestamp())
}

pub(crate) fn schema(call: Call) -> (Schema, u64) {
    let Call::Schema { schema, out, .. } = call else {
        panic!("{call:?}")
    };
    (schema, out)
}

/// Name, type, offset, flags and detail of each entry.
pub(crate) fn entries(schema: &Schema) -> Vec<(&str, u64, u64, u64, u64)> {
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
