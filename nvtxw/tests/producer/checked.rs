//! Backends with the checker in front of them.

use std::process::Command;

use nvtxw::check::FindingKind;
use nvtxw::{Backend, Config, Session, StreamOptions};

use crate::recorder::{Call, backend, calls};

#[test]
fn the_backend_behind_the_checker_gets_what_was_accepted() {
    let backend = backend().checked();
    let config = Config::new().set("check.output", "off").unwrap();
    let mut session = Session::begin(&backend, "run", &config).unwrap();
    let domain = session.domain("sim").unwrap().id();
    let mut stream = session
        .open_stream("gpu", StreamOptions::new(domain))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    out.mark(100).message("start").write().unwrap();
    out.pop(200).unwrap();
    let written = calls();
    assert!(
        matches!(&written[..], [Call::Event { .. }, Call::Event { .. }]),
        "{written:?}"
    );
    let report = backend.report().expect("it is checked").clone();
    assert_eq!(report.kinds(), [FindingKind::PopWithoutPush]);
    session.close_stream(stream).unwrap();
    session.end().unwrap();
    assert!(matches!(
        calls()[..],
        [Call::StreamClose { .. }, Call::SessionEnd { .. }]
    ));
    // The library is free when nobody uses it any more.
    drop(backend);
    assert_eq!(calls(), []);
    assert_eq!(report.total(), 1);
}

#[test]
fn others_have_no_report() {
    assert!(backend().report().is_none());
}

#[test]
fn a_reason_comes_through_the_checker() {
    let backend = backend().checked();
    let config = Config::new().set("check.live", "perhaps").unwrap();
    let error = Session::begin(&backend, "run", &config).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("check.live is \"perhaps\"; it is true or false"),
        "{error}"
    );
}

/// Runs itself in processes with other environments.
#[test]
#[cfg(feature = "file")]
fn the_environment_asks_for_the_checker() {
    const NAME: &str = "checked::the_environment_asks_for_the_checker";
    const EXPECTED: &str = "NVTXW_TEST_IS_CHECKED";

    if let Some(expected) = std::env::var_os(EXPECTED) {
        assert_eq!(Backend::embedded().report().is_some(), expected == "yes");
        // What a program makes itself is its own affair.
        assert!(backend().report().is_none());
        return;
    }
    for (value, expected) in [("1", "yes"), ("0", "no"), ("", "no")] {
        let test = std::env::current_exe().unwrap();
        let status = Command::new(test)
            .args(["--exact", NAME])
            .env("NVTXW_CHECK", value)
            .env(EXPECTED, expected)
            .output()
            .unwrap()
            .status;
        assert!(status.success(), "NVTXW_CHECK={value}");
    }
}

/// Runs itself in a process whose standard error is read.
#[test]
#[cfg(feature = "file")]
fn what_the_backend_behind_the_checker_refuses_is_told_once() {
    const NAME: &str = "checked::what_the_backend_behind_the_checker_refuses_is_told_once";
    const PATH: &str = "NVTXW_TEST_REFUSED";

    if let Some(path) = std::env::var_os(PATH) {
        let config = [
            ("path", path.to_str().unwrap()),
            ("overwrite", "true"),
            ("check.output", "off"),
        ];
        let set = |config: Config, (key, value): (&str, &str)| config.set(key, value).unwrap();
        let config = config.into_iter().fold(Config::new(), set);
        let backend = Backend::embedded().checked();
        let twice = config.clone().set("window", "1").unwrap();
        Session::begin(&backend, "begin", &twice).unwrap_err();
        let mut session = Session::begin(&backend, "run", &config).unwrap();
        let domain = session.domain("sim").unwrap().id();
        let mut stream = session
            .open_stream("gpu", StreamOptions::new(domain))
            .unwrap();
        let out = session.writer(&mut stream).unwrap();
        out.pop(200).unwrap_err();
        session.end().unwrap();
        return;
    }
    let path = std::env::temp_dir().join(format!("nvtxw-told-once-{}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(PATH, &path)
        .env_remove("NVTXW_LOG")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("nvtxw: "))
        .collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].contains("SessionBegin on \"begin\": INVALID_ARGUMENT (2): config key `window`"),
        "{said}"
    );
    assert!(
        lines[1].contains(
            "EventWrite on \"gpu\" of session \"run\": INVALID_ARGUMENT (2): range_pop at 200"
        ),
        "{said}"
    );
    std::fs::remove_file(path).unwrap();
}

/// Runs itself in a process whose standard error is read.
#[test]
#[cfg(feature = "file")]
fn rejected_batch_is_logged_once_with_the_handle_of_the_program() {
    use nvtxw::{NvtxEvent, StringHandle};

    const NAME: &str = "checked::rejected_batch_is_logged_once_with_the_handle_of_the_program";
    const PATH: &str = "NVTXW_TEST_REJECTED";

    #[derive(NvtxEvent, Clone, Copy)]
    #[repr(C)]
    #[nvtx(kind = mark)]
    struct Named {
        #[nvtx(timestamp)]
        time: i64,
        #[nvtx(message)]
        name: StringHandle,
    }

    if let Some(path) = std::env::var_os(PATH) {
        let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
        let config = config.set("overwrite", "true").unwrap();
        let config = config.set("check.output", "off").unwrap();
        let backend = Backend::embedded().checked();
        let mut session = Session::begin(&backend, "run", &config).unwrap();
        let mut other = session.domain("other").unwrap();
        let name = other.string("foreign").unwrap().handle();
        let mut domain = session.domain("sim").unwrap();
        let schema = domain.schema::<Named>().unwrap();
        let domain = domain.id();
        let mut stream = session
            .open_stream("gpu", StreamOptions::new(domain))
            .unwrap();
        let out = session.writer(&mut stream).unwrap();
        eprintln!("handle: {name:?}");
        let batch = [Named { time: 1, name }];
        out.events(schema).unwrap().write_batch(&batch).unwrap_err();
        session.end().unwrap();
        return;
    }
    let path = std::env::temp_dir().join(format!("nvtxw-rejected-{}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(PATH, &path)
        .env_remove("NVTXW_LOG")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = (said.lines())
        .filter(|line| line.starts_with("nvtxw: "))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(
        lines[0].contains("which is no string of the stream's domain"),
        "{said}"
    );
    assert!(!lines[0].contains("0xffffffffffffffff"), "{said}");
    std::fs::remove_file(path).unwrap();
}
