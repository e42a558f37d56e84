//! Captures.

use std::fs;
use std::path::Path;

use nvtxw::{Backend, Config, Session, StreamOptions};
use serde_json::{Value, json};

use crate::scratch::Scratch;
use crate::{info, perfetto, run, scene, text};

/// The scene as a capture.
fn scene(path: &Path) -> Vec<u8> {
    scene::write(path, &[("format", "capture")]);
    fs::read(path).unwrap()
}

/// What it says of `file`, with what is told to people.
fn part(file: &[u8], code: i32) -> (Value, String) {
    let output = run(&["--json", "--top", "0", "-"], file);
    assert_eq!(output.status.code(), Some(code));
    let found = serde_json::from_slice(&output.stdout).unwrap();
    (found, text(&output.stderr).to_owned())
}

/// Where records start, and where the file ends.
fn records(file: &[u8]) -> Vec<usize> {
    let mut starts = vec![32];
    while let Some(&start) = starts.last().filter(|start| **start < file.len()) {
        let size = u64::from_ne_bytes(file[start..start + 8].try_into().unwrap());
        starts.push(start + 16 + (size as usize).next_multiple_of(16));
    }
    starts
}

/// What is not the same in two files of one trace.
fn without_file(mut found: Value) -> Value {
    for member in ["file", "format", "facts", "warnings"] {
        found.as_object_mut().unwrap().remove(member);
    }
    found
}

#[test]
fn a_capture_shows_what_a_file_of_its_calls_does() {
    let scratch = Scratch::new("capture");
    let path = scratch.path("run.nvtxw");
    let file = scene(&path);
    let found = info(&path);
    assert_eq!(found["format"], "capture");
    // Only what the capture tells, and nothing of the file that is made of it.
    let facts = found["facts"].as_object().unwrap();
    assert!(!facts.contains_key("nvtxw.time_base"), "{facts:?}");
    perfetto::check_figures(&found);
    // The backend that writes the file refuses it; that which captures doesn't know.
    let warnings = found["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    let warning = warnings[0].as_str().unwrap();
    assert!(
        warning.starts_with("1 call of EventWrite can't be shown: "),
        "{warning}"
    );
    let trace = scratch.path("run.pftrace");
    scene::write(&trace, &[]);
    assert_eq!(without_file(found.clone()), without_file(info(&trace)));

    let (mut piped, said) = part(&file, 0);
    assert_eq!(said, "");
    piped["file"] = json!(path);
    assert_eq!(piped, found);
}

#[test]
fn options_of_the_captured_session_change_nothing() {
    let scratch = Scratch::new("captured-options");
    let path = scratch.path("run.nvtxw");
    let settings = [
        ("format", "capture"),
        ("window", "2"),
        ("merge", "false"),
        ("base", "-5000"),
    ];
    scene::write(&path, &settings);
    perfetto::check_figures(&info(&path));
}

#[test]
fn a_capture_that_was_cut_is_shown_up_to_its_last_whole_record() {
    let scratch = Scratch::new("capture-cut");
    let path = scratch.path("run.nvtxw");
    let file = scene(&path);
    let all = info(&path);
    let records = records(&file);
    assert_eq!(records.last(), Some(&file.len()));
    let mut seen = Vec::new();
    // From the session's end to its begin, without which there is nothing.
    for bounds in records[1..].windows(2).rev().step_by(7) {
        let (start, end) = (bounds[0], bounds[1]);
        let cut = end - 7;
        let (found, said) = part(&file[..cut], 1);
        let damage = format!(
            "the capture ends inside a record: its last {} bytes, from byte {start} on, are left out",
            cut - start
        );
        assert_eq!(said, format!("error: -: {damage}\n"));
        assert_eq!(
            (&found["damage"], &found["complete"]),
            (&json!(damage), &json!(false))
        );
        seen.push(found["counts"]["ranges"].as_u64().unwrap());
    }
    assert_eq!(all["counts"]["ranges"], seen[0]);
    assert!(seen.is_sorted_by(|more, less| more >= less), "{seen:?}");
    seen.dedup();
    assert!(seen.len() > 2, "{seen:?}");

    // Without it, as after a kill.
    let (found, said) = part(&file[..records[records.len() - 2]], 0);
    assert_eq!(said, "");
    let warnings = found["warnings"].as_array().unwrap();
    assert_eq!(
        warnings[0],
        "the capture ends without its session's end, as after a kill"
    );
    assert_eq!(found["counts"], all["counts"]);
}

#[test]
fn what_follows_a_damaged_record_is_left_out() {
    let scratch = Scratch::new("capture-damage");
    let mut file = scene(&scratch.path("run.nvtxw"));
    let records = records(&file);
    let at = records[records.len() - 2];
    file[at + 12..at + 16].fill(0xFF);
    let (found, said) = part(&file, 1);
    assert!(
        said.starts_with(&format!(
            "error: -: the capture is damaged: the record at byte {at} "
        )),
        "{said}"
    );
    assert!(said.ends_with("; it and all that follows is left out\n"));
    assert_eq!(found["counts"]["ranges"], 341);
}

#[test]
fn a_capture_without_a_session_is_refused() {
    let scratch = Scratch::new("capture-none");
    let file = scene(&scratch.path("run.nvtxw"));
    let output = run(&["-"], &file[..40]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(
        text(&output.stderr),
        "error: -: the capture holds no session: it ends before the first record, or the file is damaged\n"
    );
}

#[test]
fn timestamps_before_the_first_ones_may_be_negative() {
    let scratch = Scratch::new("capture-negative");
    let path = scratch.path("run.nvtxw");
    let config = Config::new().set("format", "capture").unwrap();
    let config = config.set("path", path.to_str().unwrap()).unwrap();
    let mut session = Session::begin(&Backend::embedded(), "run", &config).unwrap();
    let domain = session.default_domain().unwrap().id();
    for (name, time) in [("late", 1_700_000_000_000_000_000), ("early", -5)] {
        let options = StreamOptions::new(domain);
        let mut stream = session.open_stream(name, options).unwrap();
        let out = session.writer(&mut stream).unwrap();
        // More than one flush waits for.
        for _ in 0..5000 {
            out.mark(time).message(name).write().unwrap();
        }
        session.close_stream(stream).unwrap();
    }
    session.end().unwrap();
    let found = info(&path);
    assert_eq!(
        (
            &found["start_ns"],
            &found["end_ns"],
            &found["counts"]["marks"]
        ),
        (
            &json!(-5),
            &json!(1_700_000_000_000_000_000_i64),
            &json!(10_000)
        )
    );
}
