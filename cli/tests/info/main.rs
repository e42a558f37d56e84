//! What `nvtxw info` shows of traces whose figures are known.

mod capture;
mod chrome;
mod parquet;
mod perfetto;
mod scene;
mod scratch;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use scratch::Scratch;

/// The command, which reads `input` if there is any.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .arg("info")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It need not read all.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// What it says with `--json`, of a whole file.
fn info(path: &Path) -> Value {
    let output = run(&["--json", "--top", "0", path.to_str().unwrap()], b"");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The member of `list` whose `key` is `value`.
fn only<'v>(list: &'v Value, key: &str, value: &str) -> &'v Value {
    let mut found = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item[key] == value);
    let item = found
        .next()
        .unwrap_or_else(|| panic!("no {value} in {list:#}"));
    assert!(found.next().is_none(), "{value} is there twice");
    item
}

/// What must be found of the scene, whatever the format; `None` where it has no such thing.
fn check_scene(info: &Value) {
    assert_eq!(info["version"], 1);
    assert_eq!(info["complete"], true);
    assert_eq!(info["facts"]["nvtxw.session"], "known");
    check_names(info);
    check_counters(info);
    let counts = &info["counts"];
    let gaps = gaps(info);
    let samples = 100 + 2 + gaps + 2 * 50 + 40;
    assert_eq!(counts["ranges"], 300 + 2 * 20 + 1);
    assert_eq!(counts["open_ranges"], 1);
    assert_eq!(counts["marks"], 12 + 1 - gaps);
    assert_eq!(counts["samples"], samples);
    assert_eq!(counts["unmatched_ends"], 0);
    let last = scene::frames().map(|[frame, _]| frame.1).max().unwrap();
    assert_eq!(
        (&info["start_ns"], &info["end_ns"]),
        (&json!(0), &json!(last))
    );
    assert_eq!(info["duration_ns"], last);
}

/// How many samples have no value: in files for viewers it is a mark that says so.
fn gaps(info: &Value) -> i64 {
    i64::from(info["format"] == "parquet")
}

fn check_names(info: &Value) {
    let mut want: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (start, end, name) in scene::kernels() {
        want.entry(name).or_default().push(end - start);
    }
    for [frame, step] in scene::frames() {
        want.entry("frame").or_default().push(frame.1 - frame.0);
        want.entry("step").or_default().push(step.1 - step.0);
    }
    let names = &info["names"];
    for (name, durations) in &want {
        let total: i64 = durations.iter().sum();
        let found = only(names, "name", name);
        assert_eq!(found["ranges"], durations.len(), "{name}");
        assert_eq!(found["total_ns"], total, "{name}");
        assert_eq!(found["min_ns"], *durations.iter().min().unwrap(), "{name}");
        assert_eq!(found["max_ns"], *durations.iter().max().unwrap(), "{name}");
        assert_eq!(
            found["mean_ns"],
            total as f64 / durations.len() as f64,
            "{name}"
        );
    }
    let open = only(names, "name", "never ends");
    assert_eq!(
        (&open["ranges"], &open["open_ranges"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&open["total_ns"], &open["mean_ns"]),
        (&json!(0), &Value::Null)
    );
    let tick = only(names, "name", "tick");
    assert_eq!((&tick["ranges"], &tick["marks"]), (&json!(0), &json!(12)));
    if gaps(info) == 0 {
        let gap = only(names, "name", "load: unavailable");
        assert_eq!((&gap["ranges"], &gap["marks"]), (&json!(0), &json!(1)));
    }
    assert_eq!(info["distinct_names"], want.len() as i64 + 3 - gaps(info));
    let totals: Vec<_> = names
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name["total_ns"].as_i64())
        .collect();
    assert!(totals.is_sorted_by(|one, other| one >= other), "{totals:?}");
}

fn check_counters(info: &Value) {
    let check = |path: &str, unit: Option<&str>, values: &[i64]| {
        let found = only(&info["counters"], "path", path);
        assert_eq!(found["unit"], json!(unit), "{path}");
        assert_eq!(
            (&found["samples"], &found["gaps"]),
            (&json!(values.len()), &json!(0))
        );
        assert_eq!(found["min"], *values.iter().min().unwrap(), "{path}");
        assert_eq!(found["max"], *values.iter().max().unwrap(), "{path}");
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        assert_eq!(found["mean"], sum as f64 / values.len() as f64, "{path}");
    };
    let place = "GPU[0]/Engine";
    let depths: Vec<_> = scene::depths().map(|(_, value)| value).collect();
    check(&format!("{place}/depth"), Some("kernels"), &depths);
    let read: Vec<_> = scene::traffic().map(|(_, it)| it.read as i64).collect();
    check(&format!("{place}/traffic/read"), Some("bytes"), &read);
    let written: Vec<_> = scene::traffic().map(|(_, it)| it.written as i64).collect();
    check(&format!("{place}/traffic/written"), Some("bytes"), &written);
    let sums: Vec<_> = scene::differences()
        .scan(0, |sum, (_, difference)| {
            *sum += difference;
            Some(*sum)
        })
        .collect();
    check(&format!("{place}/sent"), None, &sums);
    let load = only(&info["counters"], "path", &format!("{place}/load"));
    let gaps = gaps(info);
    assert_eq!(
        (&load["samples"], &load["gaps"]),
        (&json!(2 + gaps), &json!(gaps))
    );
    assert_eq!(
        (&load["min"], &load["mean"], &load["max"]),
        (&json!(0.25), &json!(0.5), &json!(0.75))
    );
}

/// What all formats of ours but Chrome's tell of the streams.
fn check_streams(info: &Value) {
    check_scene(info);
    let counts = &info["counts"];
    assert_eq!(
        (&counts["pushpop"], &counts["startend"]),
        (&json!(40), &json!(301))
    );
    // Each kernel's number of the launch that it shares with another.
    assert_eq!(counts["flows"], 300);
    assert_eq!(info["facts"]["nvtxw.end_without_start"], 1);
    let gpu = only(&info["streams"], "name", "gpu 0");
    assert_eq!(
        (&gpu["ranges"], &gpu["samples"]),
        (&json!(300), &json!(242 + gaps(info)))
    );
    let scope = only(&gpu["scopes"], "path", "GPU[0]/Engine");
    let first = if gaps(info) == 0 { 10 } else { 1000 };
    assert_eq!(
        (&scope["ranges"], &scope["start_ns"]),
        (&json!(300), &json!(first))
    );
    let host = only(&info["streams"], "name", "host");
    assert_eq!(
        (&host["ranges"], &host["open_ranges"]),
        (&json!(41), &json!(1))
    );
    check_kernel(info);
}

/// What must be told of the kernels' schema by files that the backend completed.
fn check_kernel(info: &Value) {
    let kernel = only(&info["schemas"], "name", "Kernel");
    assert_eq!(
        (&kernel["kind"], &kernel["events"]),
        (&json!("range_startend"), &json!(300))
    );
    let fields = [
        ("shared", "u64", json!("bytes")),
        ("waited", "f64", json!("1/1000 s")),
        ("grid", "[u32; 2]", Value::Null),
        ("launch", "i64", Value::Null),
    ];
    let fields =
        fields.map(|(name, ty, unit)| json!({ "name": name, "types": [ty], "unit": unit }));
    assert_eq!(kernel["fields"], json!(fields));
}

#[test]
fn a_file_that_can_not_be_read_is_named() {
    let output = run(&["/nowhere/run.pftrace"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: can't read /nowhere/run.pftrace: No such file or directory (os error 2)\n"
    );
}

#[test]
fn what_is_no_trace_is_said() {
    for (input, problem) in [
        (
            &b"hello, world"[..],
            "this is no trace that `nvtxw info` knows",
        ),
        (b"", "the file is empty"),
    ] {
        let output = run(&["-"], input);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.starts_with(&format!("error: -: {problem}")), "{said}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn who_closes_the_pipe_has_seen_enough() {
    let scratch = Scratch::new("pipe");
    let path = scratch.path("run.pftrace");
    scene::write(&path, &[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .args(["info", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads what comes.
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&std::fs::read(&path).unwrap())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn people_get_the_same_as_a_table() {
    let scratch = Scratch::new("table");
    let path = scratch.path("run.pftrace");
    scene::write(&path, &[]);
    let output = run(&["--top", "2", path.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    assert!(!shown.contains('\u{1b}'), "colours in a pipe");
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(lines.contains(&words), "no line {line:?} in\n{shown}");
    };
    has("from 0 ns to 39500 ns: 39.500 µs");
    has(
        "341 ranges (40 pushpop, 301 startend), 13 marks, 242 samples, 300 flow ends, 1 open range",
    );
    has("300 1 242 0 30.959 µs gpu 0, GPU[0]/Engine");
    has("Names by total time: the first 2 of 8, see --top");
    has("30.000 µs 20 0 1.500 µs 1.500 µs 1.500 µs frame");
    has("2 0 0.2500 0.5000 0.7500 GPU[0]/Engine/load");
    let mean = scene::depths().map(|(_, value)| value as f64).sum::<f64>() / 100.0;
    has(&format!(
        "100 0 -5 {mean:.4} 17 kernels GPU[0]/Engine/depth"
    ));
    has("nvtxw.end_without_start = 1");
    assert!(!shown.contains("softmax\n"), "more than --top says");
}
