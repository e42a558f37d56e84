//! What the log says where no hook is set: on standard error, not too much of it.

use std::ffi::{CStr, CString};
use std::process::Command;
use std::ptr;
use std::sync::Arc;

use nvtxw_abi::raw::{
    nvtxwInterface_v2_t, nvtxwSessionAttributes_t, nvtxwSessionHandle_t, nvtxwStreamAttributes_t,
    nvtxwStreamHandle_t,
};
use nvtxw_backend::log::Report;
use nvtxw_backend::*;

struct Quiet;

impl Backend for Quiet {
    type Session = Quiet;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Quiet> {
        if request.name() == Some("refused") {
            return Err(Refusal::failed("no more sessions today"));
        }
        Ok(Quiet)
    }
}

impl Session for Quiet {
    type Stream = Quiet;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<Quiet> {
        if stream.name() == "odd" {
            stream.report("StreamOpen", &Refusal::invalid("odd, but taken"));
        }
        if stream.name().contains(char::is_control) {
            return Err(Refusal::invalid(format!(
                "stream `{}` is not opened",
                stream.name()
            )));
        }
        Ok(Quiet)
    }

    fn note_refusal(&self, report: &Report<'_>) {
        if report.object == "odd" {
            eprintln!("nvtxw: the session is told of a call that was taken");
        }
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        panic!("{counts:?}");
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

impl Stream for Quiet {
    fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
        Ok(())
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

/// Begins a session; its handle is null where that is refused.
fn begin(backend: &InProcess, name: &CStr) -> (ResultCode, nvtxwSessionHandle_t) {
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: name.as_ptr(),
        configString: ptr::null(),
    };
    let mut session = ptr::null_mut();
    // SAFETY:
    // - The name is null-terminated, and there is no config.
    let code = unsafe { backend.begin(&attr, &mut session) };
    (code, session)
}

/// Opens a stream, or tries to where `has_place` is false.
fn open(
    backend: &InProcess,
    session: nvtxwSessionHandle_t,
    name: &CStr,
    has_place: bool,
) -> (ResultCode, nvtxwStreamHandle_t) {
    let attr = nvtxwStreamAttributes_t {
        structSize: size_of::<nvtxwStreamAttributes_t>(),
        name: name.as_ptr(),
        domain: ptr::null_mut(),
        scopeId: 0,
        timeDomainId: 0,
        orderInterleaving: 0,
        orderingType: 0,
        orderingSkid: 0,
        orderingSkidAmount: 0,
    };
    let mut stream = ptr::null_mut();
    let place = match has_place {
        true => &raw mut stream,
        false => ptr::null_mut(),
    };
    let open = backend.table().StreamOpen.expect("a member");
    // SAFETY:
    // - The session lives; the attributes are what the call says, and so is the place if there is one.
    let code = unsafe { open(session, &attr, place) };
    (ResultCode::new(code), stream)
}

fn refuse(table: &nvtxwInterface_v2_t) {
    let close = table.StreamClose.expect("a member");
    // SAFETY:
    // - Handles are never followed.
    let code = unsafe { close(ptr::null_mut()) };
    assert_eq!(ResultCode::new(code), ResultCode::INVALID_ARGUMENT);
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn thirty_refusals() {
    let backend = in_process(Quiet);
    for _ in 0..30 {
        refuse(backend.table());
    }
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn refusals_of_two_sessions() {
    let backend = in_process(Quiet);
    for name in [c"one", c"two"] {
        let (code, session) = begin(&backend, name);
        assert_eq!(code, ResultCode::SUCCESS);
        let (code, stream) = open(&backend, session, c"s", true);
        assert_eq!(code, ResultCode::SUCCESS);
        let write = backend.table().EventWrite.expect("a member");
        for _ in 0..15 {
            let (code, _) = open(&backend, session, c"s", false);
            assert_eq!(code, ResultCode::INVALID_ARGUMENT);
            // SAFETY:
            // - The stream is open, and there are no payloads.
            let code = unsafe { write(stream, ptr::null(), 0) };
            assert_eq!(ResultCode::new(code), ResultCode::INVALID_ARGUMENT);
        }
    }
    // Sessions that don't begin have no more than this one line each.
    for _ in 0..30 {
        assert_eq!(begin(&backend, c"refused").0, ResultCode::FAILED);
    }
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn a_refusal_of_the_default_domain() {
    let backend = in_process(Quiet);
    let (code, session) = begin(&backend, c"one");
    assert_eq!(code, ResultCode::SUCCESS);
    let mut domain = ptr::null_mut();
    let register = backend.table().DomainRegister.expect("a member");
    // SAFETY:
    // - The session lives, and the attributes may be null.
    let code = unsafe { register(session, ptr::null(), &mut domain) };
    assert_eq!(ResultCode::new(code), ResultCode::SUCCESS);
    let register = backend.table().CategoryRegister.expect("a member");
    // SAFETY:
    // - The domain's session lives, and the name is null-terminated.
    let code = unsafe { register(domain, 0, c"none".as_ptr()) };
    assert_eq!(ResultCode::new(code), ResultCode::INVALID_ARGUMENT);
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn a_report_of_a_stream_that_is_taken() {
    let backend = in_process(Quiet);
    let (code, session) = begin(&backend, c"one");
    assert_eq!(code, ResultCode::SUCCESS);
    let (code, _) = open(&backend, session, c"odd", true);
    assert_eq!(code, ResultCode::SUCCESS);
    let end = backend.table().SessionEnd.expect("a member");
    // SAFETY:
    // - The session lives.
    let code = unsafe { end(session) };
    assert_eq!(ResultCode::new(code), ResultCode::SUCCESS);
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn a_hook_that_panics() {
    log::set_hook(Some(|report| panic!("{}", report.member)));
    let backend = in_process(Quiet);
    refuse(backend.table());
    log::set_hook(None);
    refuse(backend.table());
}

/// All characters that could end a line or control a terminal, but for NUL.
fn controls() -> String {
    let controls = ('\u{1}'..='\u{1F}').chain('\u{7F}'..='\u{9F}');
    let controls = controls
        .chain('\u{2028}'..='\u{202E}')
        .chain('\u{2066}'..='\u{2069}');
    "한강\nnvtxw: forged".chars().chain(controls).collect()
}

/// Runs in a process of its own, by the other tests.
#[test]
#[ignore = "a part of the other tests"]
fn a_refusal_that_quotes_control_characters() {
    let backend = in_process(Quiet);
    let name = CString::new(controls()).expect("no NUL");
    let (code, session) = begin(&backend, &name);
    assert_eq!(code, ResultCode::SUCCESS);
    let (code, _) = open(&backend, session, &name, true);
    assert_eq!(code, ResultCode::INVALID_ARGUMENT);
}

fn lines_of(test: &str, env: Option<(&str, &str)>) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().expect("the test program"));
    command
        .args(["--ignored", "--exact", "--nocapture", test])
        .env_remove("NVTXW_LOG")
        .envs(env);
    let output = command.output().expect("the test program starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    // Other ends of lines are none of the log's.
    text.split('\n')
        .filter(|line| line.starts_with("nvtxw: "))
        .map(str::to_owned)
        .collect()
}

const LINE: &str = "nvtxw: StreamClose: INVALID_ARGUMENT (2): the stream handle is null";

#[test]
fn twenty_lines_then_one_that_says_so() {
    let lines = lines_of("thirty_refusals", None);
    assert_eq!(lines.len(), 21, "{lines:?}");
    assert!(lines[..20].iter().all(|line| line == LINE), "{lines:?}");
    assert_eq!(
        lines[20],
        "nvtxw: further refusals outside of sessions are not shown (20 were)"
    );
}

#[test]
fn each_session_has_its_lines() {
    let lines = lines_of("refusals_of_two_sessions", None);
    assert_eq!(lines.len(), 21 + 21 + 30, "{lines:?}");
    assert_eq!(
        lines[..2],
        [
            "nvtxw: StreamOpen on \"one\": INVALID_ARGUMENT (2): streamOut is null, so that the result has no place",
            "nvtxw: EventWrite on \"s\" of session \"one\": INVALID_ARGUMENT (2): no payload has an event role: there is none; \
             an event has exactly one",
        ]
    );
    assert!(lines[20].contains("session \"one\""), "{lines:?}");
    assert_eq!(
        lines[41],
        "nvtxw: further refusals of session \"two\" are not shown (20 were)"
    );
    assert_eq!(
        lines[71],
        "nvtxw: SessionBegin on \"refused\": FAILED (1): no more sessions today"
    );
}

#[test]
fn what_has_no_name_is_told_by_its_session() {
    let lines = lines_of("a_refusal_of_the_default_domain", None);
    // The exit of the process ends the session, and this backend panics then.
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("nvtxw: CategoryRegister in session \"one\": INVALID_ARGUMENT (2): "),
        "{lines:?}"
    );
}

#[test]
fn control_characters_of_names_are_escaped() {
    let lines = lines_of("a_refusal_that_quotes_control_characters", None);
    // The exit of the process ends the session, and this backend panics then.
    assert_eq!(lines.len(), 2, "{lines:?}");
    let is_control =
        |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    assert!(!lines.concat().contains(is_control), "{lines:?}");
    assert!(
        lines[0].contains(r"stream `한강\nnvtxw: forged\u{1}"),
        "{lines:?}"
    );
}

#[test]
fn what_is_reported_is_not_refused() {
    assert_eq!(
        lines_of("a_report_of_a_stream_that_is_taken", None),
        ["nvtxw: StreamOpen on \"odd\" of session \"one\": odd, but taken"]
    );
}

#[test]
fn nvtxw_log_off_silences() {
    assert_eq!(
        lines_of("thirty_refusals", Some(("NVTXW_LOG", "off"))),
        [""; 0]
    );
    assert_eq!(
        lines_of("thirty_refusals", Some(("NVTXW_LOG", "on"))).len(),
        21
    );
}

#[test]
fn a_panic_of_the_hook_ends_in_the_call() {
    assert_eq!(lines_of("a_hook_that_panics", None), [LINE]);
}
