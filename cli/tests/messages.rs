//! Names with control characters in the command's output.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// All characters that could end a line or control a terminal, but for NUL.
fn controls() -> String {
    let controls = ('\u{1}'..='\u{1F}').chain('\u{7F}'..='\u{9F}');
    let controls = controls
        .chain('\u{2028}'..='\u{202E}')
        .chain('\u{2066}'..='\u{2069}');
    "\nerror: forged".chars().chain(controls).collect()
}

/// A folder whose name holds them, with a trace in it whose names do.
fn trace(test: &str) -> PathBuf {
    let controls = controls();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("messages-{test}-{}{controls}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("trace.json");
    let name = |kind: &str| format!("{kind}한강{controls}");
    let event = serde_json::json!([
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": name("process")}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": name("thread")}},
        {"ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "name": name("event"), "args": {(name("key")): name("value")}},
        {"ph": "C", "ts": 1, "pid": 1, "name": name("counter"), "args": {(name("series")): 1}},
        {"ph": name("?"), "ts": 1, "pid": 1, "tid": 1},
        {"ph": "E", "ts": 9, "pid": 1, "tid": 1, "name": name("end")},
    ]);
    fs::write(&path, event.to_string()).unwrap();
    path
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Checks that no line is forged, and that something was printed.
fn check(arguments: &[&str], start: &str) -> String {
    let Output { stdout, stderr, .. } = run(arguments);
    let text = String::from_utf8([stdout, stderr].concat()).unwrap();
    for line in text.split('\n') {
        let is_control = |c: char| {
            c.is_control() || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!line.contains(is_control), "{arguments:?}: {line:?}");
        assert!(!line.starts_with("error: forged"), "{arguments:?}: {text}");
    }
    assert!(text.contains(start), "{arguments:?}: {text}");
    text
}

#[test]
fn control_characters_of_names_are_escaped() {
    let path = trace("names");
    let trace = path.to_str().unwrap();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("messages-{}.pftrace", std::process::id()));
    let out = out.to_str().unwrap();
    let wrong = path.with_extension("pftrace");
    let wrong = wrong.to_str().unwrap();
    let shown = r"한강\nerror: forged\u{1}";
    check(&["convert", trace, "-o", out], "warning: ");
    check(&["convert", trace, "-o", out, "--strict"], "error: ");
    check(&["convert", trace, "-o", wrong], "error: ");
    for (file, start) in [(trace, r"\nerror: forged"), (out, "")] {
        let text = check(&["info", file], start);
        for name in ["process", "thread", "event", "counter"] {
            assert!(text.contains(&format!("{name}{shown}")), "{name}: {text}");
        }
    }
    check(&["check", trace], "no findings");
    check(&["check", wrong], r"\nerror: forged");
    check(&["replay", trace, "--config", "path=x"], r"\nerror: forged");
    for library in [trace, &format!("{trace}.so")] {
        check(&["backends", library], r"\nerror: forged");
        let replay = ["replay", trace, "--backend", library];
        check(&replay, r"\nerror: forged");
        let convert = ["convert", trace, "--backend", library];
        check(&convert, r"\nerror: forged");
    }
    // Files that a pattern matches, where one argument is expected.
    check(&["info", out, trace], r"\nerror: forged");
    check(&["convert", trace, "--from", wrong], r"\nerror: forged");
    check(
        &[
            "convert",
            trace,
            "-o",
            out,
            "--overwrite",
            "--config",
            wrong,
        ],
        r"\nerror: forged",
    );
    fs::remove_file(out).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn json_has_no_raw_control_characters() {
    let path = trace("json");
    let Output { stdout, .. } = run(&["info", "--json", path.to_str().unwrap()]);
    let text = String::from_utf8(stdout).unwrap();
    for line in text.lines() {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let name = format!("event한강{}", controls());
    assert_eq!(document["names"][0]["name"], name);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}
