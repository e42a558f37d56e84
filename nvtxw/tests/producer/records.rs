//! Layouts that are known at run time only.

use nvtxw::abi::raw;
use nvtxw::{NvtxEvent, RecordLayout, StreamOptions};

use crate::recorder::{self, Call, Semantics, answer, call, calls};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Related {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(correlation = "ac2g")]
    flow: u64,
}

fn layout() -> RecordLayout {
    RecordLayout::new()
        .i64("External id")
        .u64("bytes")
        .f64("blocks per SM")
        .bool("async")
        .string("kind")
        .correlation("ac2g")
}

#[test]
fn a_record_is_a_schema_without_a_role() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    domain.schema::<Related>().unwrap();
    let Some(Call::Schema {
        schema: related, ..
    }) = calls().pop()
    else {
        panic!()
    };
    assert_eq!((layout().len(), layout().is_empty()), (6, false));
    domain.record("args", &layout()).unwrap();
    let made = calls();
    let [
        Call::Enum { out: boolean, .. },
        Call::Schema { ref schema, .. },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(
        (schema.name.as_deref(), schema.flags, schema.size),
        (Some("args"), 0, 48)
    );
    assert_eq!(schema.ty, raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
    let columns: Vec<_> = schema
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.ty, entry.offset, entry.flags))
        .collect();
    assert_eq!(
        columns,
        [
            ("External id", raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64, 0, 0),
            ("bytes", raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 8, 0),
            ("blocks per SM", raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, 16, 0),
            ("async", boolean, 24, 0),
            (
                "kind",
                raw::NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
                32,
                0
            ),
            ("ac2g", raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 40, 0),
        ]
    );
    // The same correlation as a struct's field of that name.
    let semantics: &[Semantics] = &schema.entries[5].semantics;
    assert!(
        matches!(semantics, [Semantics::Correlation { name: Some(name), .. }] if name == "ac2g")
    );
    assert_eq!(semantics, related.entries[1].semantics);
}

#[test]
fn a_row_follows_its_event() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let launch = domain.schema::<Launch>().unwrap();
    let record = domain.record("args", &layout()).unwrap();
    let kind = domain.string("sync").unwrap();
    let domain = domain.id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    let made = calls();
    let ids: Vec<u64> = made
        .iter()
        .filter_map(|call| match call {
            Call::Schema { out, .. } => Some(*out),
            _ => None,
        })
        .collect();
    let Some(handle) = made.iter().find_map(|call| match call {
        Call::String { out, .. } => Some(*out as u64),
        _ => None,
    }) else {
        panic!()
    };
    let out = session.writer(&mut stream).unwrap();
    let launches = out.events(launch).unwrap();

    let mut row = record.row();
    launches.write_with(&Launch { time: 5 }, &row).unwrap();
    let Call::Event { payloads, .. } = call() else {
        panic!()
    };
    assert_eq!(
        (payloads[0].schema, &*payloads[0].bytes),
        (ids[0], &5_i64.to_ne_bytes()[..])
    );
    assert_eq!(
        (payloads[1].schema, &payloads[1].bytes),
        (ids[1], &vec![0; 48])
    );

    row.set(0, -17_i64).unwrap();
    row.set(1, u64::MAX).unwrap();
    row.set(2, 0.75).unwrap();
    row.set(3, true).unwrap();
    row.set(4, kind).unwrap();
    row.set(5, 99_u64).unwrap();
    launches.write_with(&Launch { time: 6 }, &row).unwrap();
    let Call::Event { payloads, .. } = call() else {
        panic!()
    };
    let mut bytes = Vec::new();
    bytes.extend((-17_i64).to_ne_bytes());
    bytes.extend([0xFF; 8]);
    bytes.extend(0.75_f64.to_ne_bytes());
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(handle.to_ne_bytes());
    bytes.extend(99_u64.to_ne_bytes());
    assert_eq!(payloads[1].bytes, bytes);
    assert_eq!(payloads.len(), 2);

    row.clear();
    launches.write_with(&Launch { time: 7 }, &row).unwrap();
    assert!(matches!(call(), Call::Event { payloads, .. } if payloads[1].bytes == [0; 48]));

    answer("EventWrite", 7);
    assert!(
        launches
            .write_with(&Launch { time: 8 }, &row)
            .unwrap_err()
            .is_not_supported()
    );
}

#[test]
fn what_a_row_cannot_hold_is_refused_and_changes_nothing() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let mut row = domain.record("args", &layout()).unwrap().row();
    let text = domain.string("x").unwrap();
    let mut refused =
        |column: usize, value: nvtxw::Value| row.set(column, value).unwrap_err().to_string();
    assert_eq!(
        refused(0, 1_u64.into()),
        "can't set column 0 of record `args`: it holds i64 values, and the given one is u64"
    );
    assert_eq!(
        refused(5, 1_i64.into()),
        "can't set column 5 of record `args`: it holds u64 correlation values, and the given one is i64"
    );
    assert_eq!(
        refused(2, text.into()),
        "can't set column 2 of record `args`: it holds f64 values, and the given one is string"
    );
    assert_eq!(
        refused(6, true.into()),
        "can't set column 6 of record `args`: it has 6 columns, counted from 0"
    );

    let mut other = session.domain("other").unwrap();
    let foreign = other.string("x").unwrap();
    assert_eq!(
        row.set(4, foreign).unwrap_err().to_string(),
        "a string for column 4 of record `args` belongs to domain `other` of session `run`; the record belongs to domain \
         `sim` of session `run`: use it where it belongs, or register it there too"
    );
}

#[test]
fn a_layout_that_cannot_be_registered_says_why() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let mut refused =
        |name: &str, layout: RecordLayout| domain.record(name, &layout).unwrap_err().to_string();
    assert_eq!(
        refused("args", RecordLayout::new()),
        "can't register record `args`: it has no columns; add one, or write the event alone"
    );
    assert_eq!(
        refused("args", RecordLayout::new().i64("a").f64("b").bool("a")),
        "can't register record `args`: it has two columns `a`; name each differently"
    );
    assert_eq!(
        refused("args", RecordLayout::new().i64("a\0")),
        "the name of a record's column has a NUL byte at position 1, where C's text ends: take it out"
    );
    assert_eq!(
        refused("\0", RecordLayout::new().i64("a")),
        "the record name has a NUL byte at position 0, where C's text ends: take it out"
    );
    assert_eq!(calls(), []);
    answer("SchemaRegister", raw::NVTXW_RESULT_FAILED);
    let error = domain.record("args", &layout()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "can't register record `args` in domain `sim` of session `run`: the backend"
        ),
        "{error}"
    );
}

#[test]
fn a_record_may_hold_the_message() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let text = domain.string("x").unwrap();
    calls();
    let layout = RecordLayout::new().string("kind").message("name");
    let mut row = domain.record("args", &layout).unwrap().row();
    let Call::Schema { schema, .. } = call() else {
        panic!()
    };
    let flags: Vec<_> = schema.entries.iter().map(|entry| entry.flags).collect();
    assert_eq!(flags, [0, raw::NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE]);
    let string = raw::NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
    assert!(schema.entries.iter().all(|entry| entry.ty == string));
    row.set(1, text).unwrap();
    assert_eq!(
        row.set(1, 1_u64).unwrap_err().to_string(),
        "can't set column 1 of record `args`: it holds string values, and the given one is u64"
    );
    let twice = layout.message("another");
    assert_eq!(
        domain.record("args", &twice).unwrap_err().to_string(),
        "can't register record `args`: it has two columns of messages; an event has one"
    );
}
