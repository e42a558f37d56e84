//! What `nvtxw convert` says and does, as its users meet it.

#[path = "../info/scratch.rs"]
mod scratch;

mod events;
mod files;
mod flows;
mod metadata;
mod own;
mod shared;
mod tables;
mod tools;

use std::collections::HashMap;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io::Write};

use serde_json::Value;

use scratch::Scratch;

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
    command.arg("convert");
    command
}

fn convert(input: &Path, output: &Path, options: &[&str]) -> Output {
    command()
        .args([input, Path::new("-o"), output])
        .args(options)
        .output()
        .unwrap()
}

/// Standard input to standard output, as Chrome's JSON.
fn piped(input: &[u8], options: &[&str]) -> Output {
    let mut child = command()
        .args(["-", "-o", "-", "--format", "chrome"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What the command doesn't read is not this test's matter.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The exit code and what was said on standard error.
fn said(output: &Output) -> (i32, String) {
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr.clone()).unwrap(),
    )
}

/// Events of the output: `process/thread`, then the members but those of places and of no meaning to viewers, in a line of
/// JSON.
fn shown(json: &[u8]) -> Vec<String> {
    let trace: Value = serde_json::from_slice(json).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names = HashMap::new();
    for event in events.iter().filter(|event| event["ph"] == "M") {
        if let Some(name) = event["args"]["name"].as_str() {
            let place = (event["pid"].as_u64(), event["tid"].as_u64());
            names.insert(place, name.to_owned());
        }
    }
    let mut shown: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] != "M")
        .map(|event| {
            let mut members = event.as_object().unwrap().clone();
            let process = names[&(event["pid"].as_u64(), None)].clone();
            let thread = names.get(&(event["pid"].as_u64(), event["tid"].as_u64()));
            for member in ["pid", "tid", "source", "flow"] {
                members.remove(member);
            }
            let thread = if event["tid"].is_null() { None } else { thread };
            let thread = thread.map_or_else(String::new, |thread| format!("/{thread}"));
            format!("{process}{thread} {}", Value::Object(members))
        })
        .collect();
    shown.sort();
    shown
}

/// What events become, and what is said about them.
fn through(events: &str) -> (Vec<String>, String) {
    let output = piped(format!("[{events}]").as_bytes(), &[]);
    let (code, text) = said(&output);
    assert_eq!(code, 0, "{text}");
    (shown(&output.stdout), text)
}

/// The recorder as a library: Cargo puts it beside the test programs.
fn recorder() -> PathBuf {
    let name = format!("{DLL_PREFIX}nvtxw_recorder{DLL_SUFFIX}");
    std::env::current_exe().unwrap().with_file_name(name)
}

/// The calls that a backend gets for a trace, and the text on standard error.
fn recorded(name: &str, trace: &[u8]) -> (Vec<Value>, String) {
    // Tests run side by side.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&format!("convert-recorded-{number}"));
    let (input, record) = (scratch.path(name), scratch.path("calls.jsonl"));
    fs::write(&input, trace).unwrap();
    let mut command = command();
    command.env("NVTXW_RECORD", &record);
    let output = command.arg(&input).arg("--backend").arg(recorder());
    let (code, text) = said(&output.output().unwrap());
    assert_eq!(code, 0, "{text}");
    let calls = fs::read_to_string(&record).unwrap();
    let calls = calls
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (calls.collect(), text)
}

fn read(scratch: &Scratch, name: &str) -> Vec<u8> {
    fs::read(scratch.path(name)).unwrap()
}
