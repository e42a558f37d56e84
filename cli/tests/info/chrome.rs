//! Chrome's trace-event JSON.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::scratch::Scratch;
use crate::{check_kernel, check_scene, info, only, run, scene, text};

#[test]
fn all_of_a_file_of_ours_is_shown() {
    let scratch = Scratch::new("chrome");
    for (name, settings) in [
        ("plain", &[][..]),
        ("base", &[("base", "-5000")]),
        ("window", &[("window", "2")]),
        ("unmerged", &[("window", "2"), ("merge", "false")]),
    ] {
        let path = scratch.path(format!("{name}.json"));
        scene::write(&path, &[settings, &[("format", "chrome")]].concat());
        let info = info(&path);
        check_scene(&info);
        check_kernel(&info);
        assert_eq!(
            (&info["format"], &info["warnings"]),
            (&json!("chrome"), &json!([]))
        );
        // The format doesn't tell.
        assert_eq!(
            (&info["counts"]["pushpop"], &info["counts"]["startend"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(info["facts"]["nvtxw.end_without_start"], 1);
        assert_eq!(info["facts"]["nvtxw.domain.0"], "sim");
        let gpu = only(&info["streams"], "name", "gpu 0");
        assert_eq!(gpu["ranges"], 300);
        let scope = only(&gpu["scopes"], "path", "GPU[0]/Engine");
        assert_eq!(
            (&scope["ranges"], &scope["start_ns"]),
            (&json!(300), &json!(10))
        );
        let host = only(&info["streams"], "name", "host");
        assert_eq!(
            (&host["ranges"], &host["open_ranges"], &host["marks"]),
            (&json!(41), &json!(1), &json!(12))
        );
        let depth = only(&info["counters"], "path", "GPU[0]/Engine/depth");
        assert!(
            depth["description"]
                .as_str()
                .unwrap()
                .contains("what waits"),
            "{depth}"
        );
    }
}

/// A trace by another tool, in the array form, which nobody closed.
const FOREIGN: &str = r#"[
{"ph":"M","pid":7,"tid":1,"name":"process_name","args":{"name":"server"}},
{"ph":"M","pid":7,"tid":1,"name":"thread_name","args":{"name":"main"}},
{"ph":"X","pid":7,"tid":1,"ts":10.5,"dur":4,"name":"call","cat":"a","args":{"size":1,"to":"x"}},
{"ph":"X","pid":"7","tid":"1","ts":"20","dur":"2.001","name":"call","args":{"size":2.5,"to":null}},
{"ph":"B","pid":7,"tid":2,"ts":1,"name":"outer"},
{"ph":"B","pid":7,"tid":2,"ts":2,"name":"inner"},
{"ph":"E","pid":7,"tid":2,"ts":5,"args":{"result":true}},
{"ph":"b","pid":7,"tid":1,"ts":3,"id":"0x1","cat":"net","name":"request"},
{"ph":"b","pid":7,"tid":1,"ts":4,"id":"0x2","cat":"net","name":"request"},
{"ph":"n","pid":7,"tid":1,"ts":6,"id":"0x1","cat":"net","name":"header"},
{"ph":"e","pid":7,"tid":2,"ts":8,"id":"0x1","cat":"net","name":"request"},
{"ph":"e","pid":7,"tid":2,"ts":8,"id":"0x9","cat":"net","name":"request"},
{"ph":"i","pid":"GPU","ts":30,"name":"tick","s":"g"},
{"ph":"C","pid":7,"ts":1,"name":"memory","args":{"used":5,"free":"7"}},
{"ph":"C","pid":7,"ts":2,"name":"memory","args":{"used":8,"free":4.5}},
{"ph":"s","pid":7,"tid":1,"ts":11,"id":5,"name":"f","cat":"f"},
{"ph":"f","bp":"e","pid":7,"tid":2,"ts":12,"id":5,"name":"f","cat":"f"},
{"ph":"V","pid":7,"tid":1,"ts":1,"name":"sampled"},
{"ph":"X","pid":7,"tid":1,"name":"when?"},
{"ph":"C","pid":7,"ts":2,"name":"none","args":{}},
"#;

/// Where the line stands in which `what` is.
fn place(what: &str) -> String {
    let before = &FOREIGN[..FOREIGN.find(what).unwrap()];
    let start = before.rfind('\n').unwrap() + 1;
    let line = before.matches('\n').count() + 1;
    format!("line {line}, byte {}", start + 1)
}

fn check_foreign(info: &Value) {
    let counts = &info["counts"];
    for (what, count) in [
        ("ranges", 6),
        ("open_ranges", 2),
        ("unmatched_ends", 1),
        ("marks", 2),
        ("samples", 4),
        ("flows", 2),
    ] {
        assert_eq!(counts[what], count, "{what}");
    }
    assert_eq!(
        (&info["start_ns"], &info["end_ns"]),
        (&json!(1000), &json!(30_000))
    );
    let names = &info["names"];
    let call = only(names, "name", "call");
    assert_eq!(
        (&call["total_ns"], &call["min_ns"], &call["max_ns"]),
        (&json!(6001), &json!(2001), &json!(4000))
    );
    assert_eq!(only(names, "name", "inner")["total_ns"], 3000);
    assert_eq!(only(names, "name", "outer")["open_ranges"], 1);
    let request = only(names, "name", "request");
    assert_eq!(
        (&request["total_ns"], &request["open_ranges"]),
        (&json!(5000), &json!(1))
    );
    let counters = &info["counters"];
    let used = only(counters, "path", "server 7/memory/used");
    assert_eq!(
        (&used["min"], &used["mean"], &used["max"]),
        (&json!(5), &json!(6.5), &json!(8))
    );
    let free = only(counters, "path", "server 7/memory/free");
    assert_eq!(
        (&free["min"], &free["mean"], &free["max"]),
        (&json!(4.5), &json!(5.75), &json!(7))
    );
    let streams: Vec<_> = info["streams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        streams,
        ["server 7", "server 7/main", "server 7/thread 2", "GPU"]
    );
    let schemas = info["schemas"].as_array().unwrap();
    let is_call = |it: &&Value| it["examples"] == json!(["call"]);
    let fields = &schemas.iter().find(is_call).unwrap()["fields"];
    let want = json!([
        { "name": "size", "types": ["int", "float"], "unit": null },
        { "name": "to", "types": ["text", "null"], "unit": null },
    ]);
    assert_eq!(fields, &want);
    assert_eq!(
        info["warnings"],
        json!([
            format!(
                "a counter value that is no number is left out ({})",
                place("\"none\"")
            ),
            format!(
                "an event of phase `V` is not converted ({})",
                place("\"ph\":\"V\"")
            ),
            format!("an event without `ts` is left out ({})", place("when?")),
        ])
    );
}

#[test]
fn all_of_another_tools_file_is_shown() {
    let object = format!(
        "{{\"deviceProperties\":[1],\"traceEvents\":{}],\"otherData\":{{\"version\":\"2\",\"n\":7}}}}",
        FOREIGN.trim_end().trim_end_matches(',')
    );
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(FOREIGN.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for input in [FOREIGN.as_bytes(), &gzip] {
        let output = run(&["--json", "-"], input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        check_foreign(&serde_json::from_slice(&output.stdout).unwrap());
    }
    let output = run(&["--json", "-"], object.as_bytes());
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["facts"], json!({ "version": "2", "n": 7 }));
    // The places are others.
    let warnings = found["warnings"].as_array().unwrap().len();
    assert_eq!(warnings, 3);
    let whole = run(&["--json", "-"], FOREIGN.as_bytes());
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    found["warnings"] = whole["warnings"].clone();
    check_foreign(&found);
    let shown = run(&["-"], FOREIGN.as_bytes());
    let warning = format!(
        "\nwarning: an event of phase `V` is not converted ({})\n",
        place("\"ph\":\"V\"")
    );
    assert!(text(&shown.stdout).contains(&warning));
}

#[test]
fn a_file_that_was_cut_is_shown_up_to_there() {
    let scratch = Scratch::new("chrome-cut");
    let path = scratch.path("run.json");
    scene::write(&path, &[("format", "chrome")]);
    let whole = fs::read(&path).unwrap();
    // In the middle of a line, behind its brace.
    let line = whole[..whole.len() / 2]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    let lines = whole[..line].iter().filter(|byte| **byte == b'\n').count();
    let output = run(&["--json", "-"], &whole[..line + 5]);
    let damage = format!(
        "line {}, byte {}: the file ends inside an event; what follows is left out",
        lines + 2,
        line + 2
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), format!("error: -: {damage}\n"));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["complete"], &found["damage"]),
        (&json!(false), &json!(damage))
    );
    let events =
        found["counts"]["ranges"].as_u64().unwrap() + found["counts"]["samples"].as_u64().unwrap();
    assert!(events > 100, "{events}");

    let broken = [&whole[..line + 1], b"{]", &whole[line + 1..]].concat();
    let output = run(&["-"], &broken);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with(&format!("error: -: line {}, byte ", lines + 2)),
        "{said}"
    );
    assert!(said.ends_with("; what follows is left out\n"), "{said}");
    let gzip = |text: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    let zipped = gzip(&whole);
    let output = run(&["-"], &zipped[..zipped.len() - 20]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_is_no_trace_in_json_is_said() {
    for (input, problem) in [
        (
            "{\"a\": 1}",
            "there is no array `traceEvents` in it, so it is no trace of Chrome's format",
        ),
        (
            "{\"traceEvents\": [{], {\"ph\": \"X\", \"name\": \"further on\"}]}",
            "line 1, byte 19: ",
        ),
    ] {
        let output = run(&["-"], input.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{input}");
        let said = text(&output.stderr);
        assert!(said.starts_with(&format!("error: -: {problem}")), "{said}");
        assert_eq!(text(&output.stdout), "");
    }
}
