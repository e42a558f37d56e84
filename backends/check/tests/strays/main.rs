//! Calls that belong to no session. Nobody knows whose they are, so that all checkers of the process are told: these tests
//! come one after the other.

#[allow(dead_code, reason = "it serves the SDK's tests too")]
#[path = "../../../../nvtxw-backend/tests/table/program.rs"]
mod program;
#[allow(dead_code, reason = "it serves the SDK's tests too")]
#[path = "../../../../nvtxw-backend/tests/table/recorder.rs"]
mod recorder;
#[allow(dead_code, reason = "it serves the tests of the other findings too")]
#[path = "../findings/scene.rs"]
mod scene;

use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_abi::raw::*;
use nvtxw_backend::in_process;
use nvtxw_check::{Behind, Checked, FindingKind};

use program::*;
use scene::Scene;

fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn handles_are_those_that_were_given_out() {
    let _alone = alone();
    let scene = Scene::new();
    let marks = scene.marks();
    let mark = bytes![10_i64];
    let write = |stream| scene.program.write(stream, &[payload(marks, &mark)]);
    // It is also of a domain.
    write(handle(number(scene.domain))).expect_err("refused");
    scene.program.close(scene.stream).expect("closed");
    write(scene.stream).expect_err("refused");
    let found = scene.found();
    assert_eq!(scene.report.kinds(), [FindingKind::UnknownHandle]);
    assert!(
        found[0].starts_with("unknown-handle: EventWrite: 0x"),
        "{found:?}"
    );
    assert!(
        found[0].ends_with(" is no stream handle, but that of a domain"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("unknown-handle: stream \"gpu\": EventWrite: the stream handle 0x"),
        "{found:?}"
    );
    assert!(
        found[1].ends_with(" is stale: its stream has ended"),
        "{found:?}"
    );
}

#[test]
fn after_a_session_its_handles_are_stale() {
    let _alone = alone();
    let scene = Scene::new();
    assert_eq!(scene.found(), [""; 0]);
    member!(scene.program, StreamClose(scene.stream)).expect_err("refused");
    member!(scene.program, SessionEnd(scene.session)).expect_err("refused");
    let found = scene.so_far();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("unknown-handle: stream \"gpu\": StreamClose: the stream handle 0x")
    );
    assert!(found[1].starts_with("unknown-handle: SessionEnd: the session handle 0x"));
}

#[test]
fn bad_options_are_refused_by_name() {
    let _alone = alone();
    let refused = |config: &std::ffi::CStr| {
        let checked = Checked::new(Behind::nothing());
        let program = Program::of(in_process(checked));
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

#[test]
fn what_comes_before_a_session_is_found_too() {
    let _alone = alone();
    let checked = Checked::new(Behind::nothing());
    let report = checked.report();
    let program = Program::of(in_process(checked));
    member!(program, StreamClose(std::ptr::null_mut())).expect_err("refused");
    let found = report.examples(FindingKind::UnknownHandle);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "StreamClose: the stream handle is null"
    );
    assert_eq!(found[0].session(), "");
}
