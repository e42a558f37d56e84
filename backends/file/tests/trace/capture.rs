//! Captures: they reject what the other formats reject, and their replays are whole.

use std::fs::File;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::{Reader, replay::Replay};

use crate::reader::Trace;
use crate::replay::TempDir;
use crate::table::{Entry, Failure, Session, entry, time, words};

fn describe(failure: &Failure) -> String {
    format!("{}: {}", failure.code, failure.reason)
}

/// Writes batches with bad items, and returns the errors.
fn write(session: &Session) -> Vec<String> {
    let domain = session.domain("");
    let mut stream = session.stream("main", domain, 0);
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
    ];
    let kind = EventKind::RangePushPop.to_raw();
    let fixed = domain.schema("range", kind, 16, &entries);
    let text = Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
        ..entry(EntryType::CStringUtf8, c"text")
    };
    let [start, end] = entries;
    let variable = domain.schema_of(
        "named range",
        NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
        kind,
        &[start, end, text],
    );
    let group = [time(c"time", 0), entry(EntryType::Int64, c"value")];
    let unsigned = Entry {
        ty: EntryType::UInt64.to_raw(),
        ..group[0]
    };
    let [_, value] = group;
    let group = domain.schema(
        "group",
        NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
        16,
        &[unsigned, value],
    );
    let counter = domain.counter("group", group, 0, None);
    let named = |times: [i64; 2], text: &[u8; 8]| [&*words(&times), text].concat();
    let variable_events = [
        named([11, 12], b"first\0\0\0"),
        named([14, 13], b"second\0\0"),
        named([15, 16], b"third\0\0\0"),
    ];
    let written = [
        stream.batch(fixed, &words(&[1, 2, 4, 3, 5, 6, 7, 8, 10, 9])),
        stream.batch(fixed, &words(&[2, 1])),
        stream.batch(variable, &variable_events.concat()),
        stream.samples(counter, &words(&[1, 10, -1, 20, 3, 30])),
        stream.batch(fixed, &words(&[20, 21])),
    ];
    let errors = written.iter().filter_map(|written| written.as_ref().err());
    errors.map(describe).collect()
}

#[test]
fn bad_items_of_batches_are_rejected_as_in_other_formats_and_not_replayed() {
    let dir = TempDir::new();
    let begin = |format: &str| {
        let path = dir.path().join(format);
        let config = format!("format={format}|path={}", path.display());
        (Session::begin("run", &config).unwrap(), path)
    };
    let (session, path) = begin("perfetto");
    let want = write(&session);
    assert_eq!(want.len(), 4, "{want:#?}");
    session.end().unwrap();
    let expected = Trace::read(&path);

    let (session, path) = begin("capture");
    assert_eq!(write(&session), want);
    session.end().unwrap();
    let mut reader = Reader::new(File::open(&path).unwrap()).unwrap();
    let trace = dir.path().join("replayed");
    let replayed = Replay::new(Relay::to_instance(nvtxw_file::in_process()))
        .set("path", trace.to_str().unwrap())
        .run(&mut reader, |_| ())
        .unwrap();
    assert_eq!(replayed.refused(), 0, "{:?}", replayed.refusals);
    assert_eq!(replayed.refused_before, 4);
    replayed.end.unwrap();
    let found = Trace::read(&trace);
    let ranges = |trace: &Trace| {
        let ranges = trace.ranges.iter();
        let mut ranges: Vec<_> = ranges.map(|range| (range.start, range.end)).collect();
        ranges.sort_unstable();
        ranges
    };
    assert_eq!(ranges(&found).len(), 6);
    assert_eq!(ranges(&found), ranges(&expected));
    assert_eq!(found.values, expected.values);
    assert_eq!(found.values.len(), 2);
}
