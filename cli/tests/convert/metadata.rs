//! Metadata of the trace: what its session keeps, its name and its dates.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Scratch, convert, recorded, said};

fn info(path: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
    let output = command.args(["info", "--json"]).arg(path).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

const TRACE: &str = r#"{"schemaVersion": 1, "deviceProperties": [
    {"id": 0, "name": "GPU | 0", "memory": 34079637504}
  ], "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "host_name": "node|7\nrow 2", "a=b": 5,
  "displayTimeUnit": "ms", "baseTimeNanoseconds": 1719853884000000000, "otherData": {"version": "1.2"},
  "traceEvents": [{"ph":"X","name":"a","pid":1,"tid":2,"ts":1212075548353.304,"dur":2.5}]}"#;

#[test]
fn members_of_the_trace_are_metadata_of_the_session() {
    let scratch = Scratch::new("convert-metadata");
    let input = scratch.path("run.pt.trace.json");
    fs::write(&input, TRACE).unwrap();
    for (output, further) in [
        ("out.pftrace", "out.json"),
        ("again.nvtxw", "replayed.json"),
    ] {
        let (output, further) = (scratch.path(output), scratch.path(further));
        assert_eq!(said(&convert(&input, &output, &[])), (0, String::new()));
        // Of captures and from other files of the built-in backend too.
        if output.ends_with("again.nvtxw") {
            assert_eq!(said(&convert(&output, &further, &[])), (0, String::new()));
        } else {
            assert_eq!(said(&convert(&input, &further, &[])), (0, String::new()));
        }
        for path in [&output, &further] {
            let found = info(path);
            let facts = &found["facts"];
            assert_eq!(facts["nvtxw.session"], "run.pt.trace rank 3", "{path:?}");
            assert_eq!(facts["host_name"], "node|7\nrow 2", "{path:?}");
            assert_eq!(facts["version"], "1.2");
            assert_eq!(facts["a_b"], "5");
            let devices = facts["deviceProperties"].as_str().unwrap();
            let devices: Value = serde_json::from_str(devices).unwrap();
            assert_eq!(devices[0]["name"], "GPU | 0");
            assert_eq!(facts["schemaVersion"], Value::Null);
            let start = 1_719_853_884_000_000_000_i64 + 1_212_075_548_353_304;
            assert_eq!(
                (&found["start_ns"], &found["end_ns"]),
                (&json!(start), &json!(start + 2500)),
                "{path:?}"
            );
        }
    }
    // Metadata read from a file of the built-in backend is in the next one.
    let (from, to) = (scratch.path("out.json"), scratch.path("back.pftrace"));
    assert_eq!(
        said(&convert(&from, &to, &["--strict"])),
        (0, String::new())
    );
    let found = info(&to);
    assert_eq!(found["facts"]["host_name"], "node|7\nrow 2");
    assert_eq!(found["start_ns"], info(&from)["start_ns"]);
}

#[test]
fn times_that_count_from_1970_are_dates() {
    let clock = |trace: &str| {
        let (calls, _) = recorded("trace.json", trace.as_bytes());
        let opened = calls.iter().find(|call| call["call"] == "StreamOpen");
        let write = calls.iter().find(|call| call["call"] == "EventWrite");
        let start = write.unwrap()["payloads"][0]["values"]["start"].as_i64();
        (
            opened.unwrap()["time_domain"].as_str().unwrap().to_owned(),
            start.unwrap(),
        )
    };
    let (name, start) = clock(TRACE);
    assert!(name.contains("REALTIME"), "{name}");
    assert_eq!(start, 1_721_065_959_548_353_304);
    // Older files of PyTorch have such times already, and other tools' say nothing.
    let old = TRACE.replace("1212075548353.304", "1712195495519689.047");
    assert_eq!(clock(&old), ("NONE".to_owned(), 1_712_195_495_519_689_047));
    let other = TRACE.replace("baseTimeNanoseconds", "base");
    assert_eq!(clock(&other), ("NONE".to_owned(), 1_212_075_548_353_304));
}

#[test]
fn large_members_and_data_are_no_metadata() {
    let scratch = Scratch::new("convert-data");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    let large = "x".repeat((1 << 20) + 1);
    fs::write(
        &input,
        format!(r#"{{"traceEvents":[],"samples":[],"large":"{large}","small":true}}"#),
    )
    .unwrap();
    let warning = "warning: the trace's own `samples`, `large` is not converted\n";
    assert_eq!(
        said(&convert(&input, &output, &[])),
        (0, warning.to_owned())
    );
    assert_eq!(info(&output)["facts"]["small"], "true");
}

#[test]
fn a_session_has_the_name_of_its_file() {
    for (file, name) in [
        ("a.b.json", "a.b"),
        ("run.pt.trace", "run.pt.trace"),
        (".json", ".json"),
    ] {
        let (calls, _) = recorded(file, b"[]");
        assert_eq!(calls[0]["name"], name, "{file}");
    }
}
