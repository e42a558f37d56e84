//! Calls that must not be, or not now.

use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::relay::Relay;
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, EventKind, NoValueReason, Refusal, Result,
    SessionRequest, StreamInfo, in_process,
};
use nvtxw_check::{Behind, FindingKind};

use crate::program::*;
use crate::recorder::{Journal, Recorder, from_inside};
use crate::scene::Scene;

#[test]
fn streams_of_a_session_have_different_names() {
    let scene = Scene::new();
    scene.program.close(scene.stream).expect("closed");
    scene.program.open(scene.session, c"gpu", scene.domain);
    assert_eq!(
        scene.found(),
        ["name-twice: stream \"gpu\": an earlier stream of the session has this name"]
    );
}

#[test]
fn nothing_opens_while_another_call_writes() {
    let scene = Scene::new();
    let marks = scene.marks();
    let (session, domain) = (number(scene.session), number(scene.domain));
    let table = scene.program.table();
    from_inside(move || {
        let attr = stream_attr(c"inner", handle(domain));
        let mut stream = std::ptr::null_mut();
        let open = table.StreamOpen.expect("a member");
        // SAFETY:
        // - The attributes and the place live until the call returns.
        let code = unsafe { open(handle(session), &attr, &mut stream) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
    });
    scene.write_marks(marks, &[1]);
    assert_eq!(
        scene.found(),
        ["overlapping-calls: stream \"inner\": StreamOpen runs while another call does"]
    );
}

#[test]
fn nothing_registers_while_another_call_writes() {
    let scene = Scene::new();
    let marks = scene.marks();
    let (table, domain) = (scene.program.table(), number(scene.domain));
    from_inside(move || {
        let register = table.CategoryRegister.expect("a member");
        // SAFETY:
        // - The name is null-terminated.
        let code = unsafe { register(handle(domain), 7, c"io".as_ptr()) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS);
    });
    scene.write_marks(marks, &[1]);
    assert_eq!(
        scene.found(),
        ["overlapping-calls: CategoryRegister runs while another call does"]
    );
}

#[test]
fn findings_are_bounded_and_counted() {
    let scene = Scene::with(c"check.output=off|check.examples=2", |attr| {
        attr.orderingType = NVTXW_STREAM_ORDERING_TYPE_STRICT;
    });
    let marks = scene.marks();
    scene.write_marks(marks, &[100, 1, 2, 3, 4, 5]);
    assert_eq!(scene.found().len(), 2);
    assert_eq!(scene.report.count(FindingKind::StreamOrder), 5);
    assert_eq!(scene.report.total(), 5);
    assert!(scene.report.to_string().contains("    and 3 more\n"));
}

#[test]
fn what_is_clean_has_no_findings_and_reaches_the_backend() {
    let scene = Scene::new();
    let marks = scene.marks();
    scene.write_marks(marks, &[3, 2, 1]);
    assert_eq!(scene.found(), [""; 0]);
    assert!(scene.report.is_clean());
    let lines = scene.journal.take();
    let marks: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("mark"))
        .collect();
    assert_eq!(marks, ["mark @3", "mark @2", "mark @1"]);
    assert!(lines.iter().any(|line| line == "end run"));
}

/// Refuses marks, as it should, and fails at all else.
struct Picky;

impl Backend for Picky {
    type Session = Self;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl nvtxw_backend::Session for Picky {
    type Stream = Self;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Self> {
        Ok(Self)
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

impl nvtxw_backend::Stream for Picky {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        Err(match event.kind() {
            EventKind::Mark => Refusal::invalid("marks are not for me"),
            _ => Refusal::failed("the disk is full"),
        })
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn what_the_backend_finds_invalid_is_told() {
    let scene = Scene::before(Picky, c"check.output=off", |attr| {
        attr.orderingType = NVTXW_STREAM_ORDERING_TYPE_STRICT;
    });
    let (marks, ranges) = (scene.marks(), scene.whole_ranges());
    let refused = scene.write(marks, &bytes![10_i64]);
    assert_invalid(refused, "EventWrite on \"gpu\": marks are not for me");
    // Why this one is refused the other finding tells.
    scene.write(marks, &bytes![9_i64]).expect_err("refused");
    // A full disk is not the producer's fault.
    let end_in_order = bytes![10_i64, 20_i64];
    scene.write(ranges, &end_in_order).expect_err("refused");
    let found = scene.found();
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(
        found[2],
        "refused-call: stream \"gpu\": EventWrite: the backend refuses it: marks are not for me"
    );
}

#[test]
fn strings_are_those_of_the_domain() {
    let scene = Scene::new();
    let other = scene
        .program
        .domain(scene.session, Some(c"other"))
        .expect("a domain");
    let foreign = scene.program.string(other, c"gemm").expect("a string");
    let entries = [
        mark_entries()[0],
        entry(
            MESSAGE,
            NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
            c"name",
        ),
    ];
    let marks = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let event = bytes![10_i64, number(foreign)];
    scene.write(marks, &event).expect_err("refused");
    let found = scene.report.examples(FindingKind::UnknownHandle);
    let found = found.iter().find(|finding| finding.stream() == Some("gpu"));
    let found = found.expect("a finding in the stream");
    assert!(
        found.what().starts_with("EventWrite: `message` is 0x"),
        "{found}"
    );
    assert_eq!(
        (found.session(), found.event(), found.time()),
        ("run", None, None)
    );
}

#[test]
fn ids_are_those_that_were_registered() {
    let scene = Scene::new();
    let marks = scene.marks();
    let mark = bytes![10_i64];
    scene.write(marks + 1, &mark).expect_err("refused");
    scene
        .program
        .write_counter(scene.stream, 5, 1 << 33, &mark)
        .expect_err("refused");
    let batch = nvtxEventBatch_t {
        scope: 1 << 33,
        ..batch(marks, &mark)
    };
    scene
        .program
        .write_batch(scene.stream, &batch)
        .expect_err("refused");
    assert_eq!(
        scene
            .report
            .examples(FindingKind::UnknownId)
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        [
            "stream \"gpu\": EventWrite: payload 0: 4294967297 is no schema of the stream's domain: register it there, and use the ID it gets",
            "stream \"gpu\": CounterWrite: counterId 8589934592 is no counter of the stream's domain: register it there, and use the ID it gets",
            "stream \"gpu\": EventBatchWrite: scope 8589934592 is neither predefined nor registered in the stream's domain",
        ]
    );
    assert_eq!(scene.report.count(FindingKind::UnknownId), 3);
    let attr = nvtxwStreamAttributes_t {
        timeDomainId: 1 << 33,
        ..stream_attr(c"other", scene.domain)
    };
    scene
        .program
        .open_with(scene.session, &attr)
        .expect_err("refused");
    assert_eq!(scene.report.count(FindingKind::UnknownId), 4);
}

#[test]
fn one_stream_is_written_by_one_thread_at_a_time() {
    let scene = Scene::new();
    let marks = scene.marks();
    let (table, stream) = (scene.program.table(), number(scene.stream));
    from_inside(move || {
        let mark = bytes![11_i64];
        let payload = payload(marks, &mark);
        let write = table.EventWrite.expect("a member");
        // SAFETY:
        // - The payload lives until the call returns.
        let code = unsafe { write(handle(stream), &payload, 1) };
        assert_eq!(code, NVTXW_RESULT_FAILED);
    });
    scene.program.table();
    let write = table.EventWrite.expect("a member");
    let mark = bytes![10_i64];
    // SAFETY:
    // - The payload lives until the call returns.
    let code = unsafe { write(scene.stream, &payload(marks, &mark), 1) };
    assert_eq!(code, NVTXW_RESULT_SUCCESS);
    assert_eq!(
        scene.found(),
        [
            "overlapping-calls: stream \"gpu\": EventWrite: another call is inside this stream: calls on one stream must not overlap, nor come from inside the backend"
        ]
    );
}

#[test]
fn no_session_ends_under_a_call() {
    let scene = Scene::new();
    let marks = scene.marks();
    let (table, session) = (scene.program.table(), number(scene.session));
    from_inside(move || {
        let end = table.SessionEnd.expect("a member");
        // SAFETY:
        // - Handles are never followed.
        let code = unsafe { end(handle(session)) };
        assert_eq!(code, NVTXW_RESULT_FAILED);
    });
    let write = table.EventWrite.expect("a member");
    let mark = bytes![10_i64];
    // SAFETY:
    // - The payload lives until the call returns.
    let code = unsafe { write(scene.stream, &payload(marks, &mark), 1) };
    assert_eq!(code, NVTXW_RESULT_SUCCESS);
    let found = scene.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("overlapping-calls: SessionEnd: nothing was ended: "),
        "{found:?}"
    );
}

#[test]
fn a_batch_is_a_whole_number_of_items() {
    let scene = Scene::new();
    let marks = scene.marks();
    let bytes = [0; 12];
    scene
        .program
        .write_batch(scene.stream, &batch(marks, &bytes))
        .expect_err("refused");
    let attr = counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = scene
        .program
        .counter(scene.domain, &attr)
        .expect("a counter");
    let samples = counter_batch(counter, &bytes, Some(&[7, 8]));
    scene
        .program
        .write_counters(scene.stream, &samples)
        .expect_err("refused");
    let found = scene.report.examples(FindingKind::BatchSize);
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "stream \"gpu\": EventBatchWrite: size is 12, which leaves 4 bytes over: each event has 8 bytes; nothing was written",
            "stream \"gpu\": CounterBatchWrite: countersSize is 12, which leaves 4 bytes over: each sample has 8 bytes; nothing was written",
        ]
    );
}

#[test]
fn what_the_sdk_finds_invalid_is_told() {
    what_the_sdk_finds_invalid(&Scene::new());
    // A backend that finds it too, but can say no more than that it refuses.
    let relay = Relay::to_instance(in_process(Recorder(Journal::default())));
    let behind = Behind::relay(relay, ());
    what_the_sdk_finds_invalid(&Scene::before(behind, c"check.output=off", |_| {}));
}

fn what_the_sdk_finds_invalid(scene: &Scene) {
    let ranges = scene.whole_ranges();
    let bytes = [bytes![10_i64, 20_i64], bytes![30_i64, 29_i64]].concat();
    scene
        .program
        .write_batch(scene.stream, &batch(ranges, &bytes))
        .expect_err("refused");
    scene.program.write(scene.stream, &[]).expect_err("refused");
    let found = |kind| {
        let found = scene.report.examples(kind);
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        found(FindingKind::EndBeforeStart),
        ["stream \"gpu\": EventBatchWrite: event 1 of 2: ends before it starts: start 30, end 29"]
    );
    assert_eq!(
        found(FindingKind::RefusedCall),
        [
            "stream \"gpu\": EventWrite: no payload has an event role: there is none; an event has exactly one"
        ]
    );
}
