//! What the log says where no hook is set: on standard error, not too much of it.

use std::process::Command;

use nvtxw_abi::raw::nvtxwInterface_v2_t;
use nvtxw_backend::*;
use std::sync::Arc;

struct Quiet;

impl Backend for Quiet {
    type Session = Quiet;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Quiet> {
        Ok(Quiet)
    }
}

impl Session for Quiet {
    type Stream = Quiet;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Quiet> {
        Ok(Quiet)
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

fn refuse(table: &nvtxwInterface_v2_t) {
    let close = table.StreamClose.expect("a member");
    // SAFETY:
    // - Handles are never followed.
    let code = unsafe { close(std::ptr::null_mut()) };
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
fn a_hook_that_panics() {
    log::set_hook(Some(|report| panic!("{}", report.member)));
    let backend = in_process(Quiet);
    refuse(backend.table());
    log::set_hook(None);
    refuse(backend.table());
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
    text.lines()
        .filter(|line| line.starts_with("nvtxw: "))
        .map(str::to_owned)
        .collect()
}

const LINE: &str = "nvtxw: StreamClose on \"\": INVALID_ARGUMENT (2): the stream handle is null";

#[test]
fn twenty_lines_then_one_that_says_so() {
    let lines = lines_of("thirty_refusals", None);
    assert_eq!(lines.len(), 21, "{lines:?}");
    assert!(lines[..20].iter().all(|line| line == LINE), "{lines:?}");
    assert_eq!(lines[20], "nvtxw: further refusals are not shown (20 were)");
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
