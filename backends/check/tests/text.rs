//! What the checker says on standard error.

use std::process::Command;

#[allow(dead_code, unused_imports, reason = "it serves the SDK's tests too")]
#[path = "../../../nvtxw-backend/tests/table/program.rs"]
mod program;
#[allow(dead_code, reason = "it serves the SDK's tests too")]
#[path = "../../../nvtxw-backend/tests/table/recorder.rs"]
mod recorder;
#[allow(dead_code, reason = "it serves the tests of the findings too")]
#[path = "findings/scene.rs"]
mod scene;

use nvtxw_abi::raw::*;

use program::bytes;
use scene::Scene;

/// Runs in a process of its own, by the test.
#[test]
#[ignore = "a part of the other test"]
fn breaks() {
    let scene = Scene::with(c"", |attr| {
        attr.orderingType = NVTXW_STREAM_ORDERING_TYPE_STRICT;
    });
    let marks = scene.marks();
    scene.write_marks(marks, &[100, 1, 2]);
    eprintln!("here the session ends");
    scene.found();
    // Nothing but this tells of what comes after it.
    scene.write(marks, &bytes![3_i64]).expect_err("refused");
}

fn said(variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "breaks", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    // A handle is another number each time.
    match said.find("handle 0x") {
        Some(at) => [&said[..at + 7], &said[at + 25..]].concat(),
        None => said,
    }
}

const ORDER: &str = "  why: a tool relies on the claim and does not sort: events are misplaced or lost without a word
  fix: open the stream with the ordering type UNKNOWN, or with a skid that is large enough, or write in order
";

const LATER: &str = "\
nvtxw check: session \"run\": unknown-handle: stream \"gpu\": EventWrite: the stream handle  is stale: its stream has ended
  why: a backend may follow a handle as a pointer: such a call crashes some programs, and is refused or mixed up in others
  fix: use the handle that the register, open or begin call of the same session gave, and none after its end
";

#[test]
fn findings_are_told_at_the_end_or_as_they_come() {
    let end = "nvtxw check: session \"run\": 2 findings
stream-order (2): data is not in the order that its stream was opened with
    stream \"gpu\", event 1, at 1: 1 comes after 100 in a stream of ordering Strict, skid None 0
";
    let more = "    stream \"gpu\", event 2, at 2: 2 comes after 100 in a stream of ordering Strict, skid None 0\n";
    let ends = "here the session ends\n";
    assert_eq!(said(&[]), [ends, end, more, ORDER, LATER].concat());

    let first = "nvtxw check: session \"run\": stream-order: stream \"gpu\", event 1, at 1: \
                 1 comes after 100 in a stream of ordering Strict, skid None 0\n";
    let counted = "    and 1 more\n";
    assert_eq!(
        said(&[("NVTXW_CHECK_LIVE", "1"), ("NVTXW_CHECK_EXAMPLES", "1")]),
        [first, ORDER, ends, end, counted, ORDER, LATER].concat()
    );
    assert_eq!(said(&[("NVTXW_CHECK_OUTPUT", "off")]), ends);
}
