//! Calls that must not be, or not now.

use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, EventKind, NoValueReason, Refusal, Result,
    SessionRequest, StreamInfo,
};
use nvtxw_check::FindingKind;

use crate::program::*;
use crate::recorder::from_inside;
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

#[test]
fn bad_options_are_refused_by_name() {
    let refused = |config: &std::ffi::CStr| {
        let checked = nvtxw_check::Checked::new(nvtxw_check::Nothing);
        let program = Program::of(nvtxw_backend::in_process(checked));
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: c"run".as_ptr(),
            configString: config.as_ptr(),
        };
        program.begin_with(&attr).expect_err("refused").report
    };
    assert_eq!(
        refused(c"check.live=perhaps"),
        "SessionBegin on \"run\": check.live is \"perhaps\"; it is true or false"
    );
    assert_eq!(
        refused(c"check.examples=all"),
        "SessionBegin on \"run\": check.examples is \"all\"; it is a number: how many cases of each kind are told in full"
    );
    let report = refused(c"check.output=/nowhere/findings.jsonl");
    assert!(
        report.starts_with(
            "SessionBegin on \"run\": check.output: can't write to \"/nowhere/findings.jsonl\": "
        ) && report.ends_with("; name a file that can be written, or `stderr` or `off`"),
        "{report}"
    );
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
