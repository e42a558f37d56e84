//! What the checker says on standard error.

use std::ffi::{CStr, CString};
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
use nvtxw_backend::in_process;
use nvtxw_check::Checked;

use program::*;
use recorder::{Journal, Recorder};
use scene::Scene;

/// A name with all characters that could end a line or control a terminal, but for NUL.
fn controls() -> &'static CStr {
    let controls = ('\u{1}'..='\u{1F}').chain('\u{7F}'..='\u{9F}');
    let controls = controls
        .chain('\u{2028}'..='\u{202E}')
        .chain('\u{2066}'..='\u{2069}');
    let name: String = "한강\nforged: ".chars().chain(controls).collect();
    Box::leak(CString::new(name).expect("no NUL").into_boxed_c_str())
}

/// Runs in a process of its own, by the test.
#[test]
#[ignore = "a part of the other test"]
fn quotes() {
    let name = controls();
    let program = Program::of(in_process(Checked::new(Recorder(Journal::default()))));
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: name.as_ptr(),
        configString: c"check.live=true".as_ptr(),
    };
    let session = program.begin_with(&attr).expect("a session");
    let domain = program.domain(session, Some(name)).expect("a domain");
    let stream = program.open(session, name, domain);
    let text = entry(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, name);
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &[text]);
    let attr = named(name, attr);
    program.schema(domain, &attr).expect_err("no text");
    let count = counter_attr(name, NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let count = program.counter(domain, &count).expect("a counter");
    program
        .write_counter(stream, 1, count, &bytes![1_u8])
        .expect_err("too short");
    for category in [name, c"another"] {
        member!(program, CategoryRegister(domain, 1, category.as_ptr())).expect("named");
    }
    program.end(session).expect("ended");
}

#[test]
fn control_characters_of_names_are_escaped() {
    let said = said("quotes", &[]);
    let starts = [
        "nvtxw check: ",
        "name-twice (",
        "refused-call (",
        "    ",
        "  why: ",
        "  fix: ",
    ];
    for line in said.split('\n').filter(|line| !line.is_empty()) {
        let is_control =
            |c| matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}') || c.is_control();
        assert!(!line.contains(is_control), "{line:?}");
        let is_ours = starts.iter().any(|start| line.starts_with(start));
        assert!(is_ours, "{line:?}");
    }
    for start in &starts[..4] {
        let mut lines = said.lines().filter(|line| line.starts_with(start));
        assert!(lines.next().is_some(), "no {start:?} in {said}");
    }
}

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

fn said(test: &str, variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test, "--ignored", "--nocapture"])
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
    assert_eq!(
        said("breaks", &[]),
        [ends, end, more, ORDER, LATER].concat()
    );

    let first = "nvtxw check: session \"run\": stream-order: stream \"gpu\", event 1, at 1: \
                 1 comes after 100 in a stream of ordering Strict, skid None 0\n";
    let counted = "    and 1 more\n";
    assert_eq!(
        said(
            "breaks",
            &[("NVTXW_CHECK_LIVE", "1"), ("NVTXW_CHECK_EXAMPLES", "1")]
        ),
        [first, ORDER, ends, end, counted, ORDER, LATER].concat()
    );
    assert_eq!(said("breaks", &[("NVTXW_CHECK_OUTPUT", "off")]), ends);
}
