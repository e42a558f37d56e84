//! The shared cases of odd inputs, each with what becomes of it.

use std::fs;

use crate::flows::arrows_of;
use crate::{piped, recorded, said, shown};

fn case(name: &str) -> Option<Vec<u8>> {
    let path = nvtxw_tests::shared(&format!("cases/convert/{name}"))?;
    Some(fs::read(path).unwrap())
}

/// The lines of what a case becomes, without the arguments of no importance, and the number of warnings.
fn lines(name: &str) -> Option<(Vec<String>, usize)> {
    let output = piped(&case(name)?, &[]);
    let (code, text) = said(&output);
    assert_eq!(code, 0, "{name}: {text}");
    Some((shown(&output.stdout), text.lines().count()))
}

#[test]
fn arrows_of_the_shared_cases() {
    for (name, want) in [
        (
            "flow_id_reuse.json",
            &["send1 > recv1", "send2 > recv2"][..],
        ),
        ("bind_fanout.json", &["source > sink 1", "source > sink 2"]),
        ("flow_fanout.json", &["launch > k1", "launch > k2"]),
        (
            "flow_same_id_interleaved.json",
            &["alloc > free", "submit > kernel"],
        ),
        ("corr_stat.json", &[]),
        ("flow_instant.json", &["post > run"]),
    ] {
        let Some(bytes) = case(name) else { return };
        let (arrows, text) = arrows_of(str::from_utf8(&bytes).unwrap());
        assert_eq!(
            (arrows, &*text),
            (want.iter().map(|&arrow| arrow.to_owned()).collect(), ""),
            "{name}"
        );
    }
    // Two ranks with events of the same names.
    for (name, pairs) in [
        (
            "merge_flows.json",
            [("rank0 100", "rank0 GPU"), ("rank1 200", "rank1 GPU")],
        ),
        (
            "merge_correlation.json",
            [("rank4 900", "rank4 GPU"), ("rank5 901", "rank5 GPU")],
        ),
    ] {
        let Some(bytes) = case(name) else { return };
        let (calls, _) = recorded(name, &bytes);
        let mut places = std::collections::BTreeMap::<u64, Vec<String>>::new();
        for call in calls.iter().filter(|call| call["call"] == "EventWrite") {
            let stream = call["stream"].as_str().unwrap();
            let process = stream.split('/').next().unwrap().to_owned();
            let flow = call["payloads"][1]["values"]["flow"].as_u64().unwrap();
            places.entry(flow).or_default().push(process);
        }
        let mut found: Vec<_> = places.into_values().collect();
        found.iter_mut().for_each(|pair| pair.sort());
        found.sort();
        assert_eq!(
            found,
            pairs.map(|(from, to)| [from, to].map(str::to_owned).to_vec()),
            "{name}"
        );
    }
}

#[test]
fn events_of_the_shared_cases() {
    for (name, warnings, want) in [
        (
            "frac_rounding.json",
            0,
            &[
                "Thread 1 child 12.001 3.0",
                "Thread 1 parent 10.0 5.001",
                "Thread 2 op1 0.001 0.999",
                "Thread 2 op2 1.0 1.0",
            ][..],
        ),
        (
            "args_not_object.json",
            1,
            &[
                "Thread 1 handle request 0.0 100.0",
                "Thread 1 ok 40.0 5.0 a=1",
                "Thread 1 strlen 10.0 20.0",
                "Thread 2 TaskRun 5.0 9.0",
                "Thread 3 b 5.0 4.0",
                "Thread 3 mark 7.0",
            ],
        ),
        (
            "marks_R.json",
            0,
            &["Thread 9 Task 100.0 100.0", "Thread 9 appReady 150.0"],
        ),
        (
            "async_ST.json",
            0,
            &["net 0x1 load 110.0 80.0", "net 0x1 load 120.0"],
        ),
        (
            "zero_before.json",
            0,
            &["Thread 1 A 0.0 10.0", "Thread 1 C 2.0 0.0"],
        ),
        ("be_args.json", 0, &["Thread 1 A 0.0 2.0 n=1 status=done"]),
        (
            "open_id_arg.json",
            1,
            &["Thread 1 A 0.0 10.0 x=1", "Thread 1 (2) B 1.0 id=77 x=2"],
        ),
        (
            "async_3800.json",
            0,
            &[
                "hi 0 R 2.0 3.0",
                "hi 0 N 1.0 9.0",
                "hi 0 (2) W 3.0 4.0",
                "hi 1 Top 1.0 9.0",
                "hi 2 Tr 2.0 3.0",
                "hi 3 Tw 3.0 4.0",
            ],
        ),
        (
            "sort_3273.json",
            0,
            &[
                "Apple Q 30.0 30.0",
                "Banana Q 20.0 20.0",
                "Cherry Q 10.0 20.0",
            ],
        ),
        ("null_arg.json", 0, &["Thread 2 a 1.0 1.0 w=null"]),
        (
            "dur_null.json",
            0,
            &["Process 1 b 2.0 1.0", "Thread 1 a 1.0 0.0"],
        ),
        ("name_number.json", 0, &["3 a 1.0 1.0"]),
        (
            "ctrl_char.json",
            1,
            &[
                "Thread 1 a 1.0 1.0",
                "Thread 1 c 5.0 1.0",
                "Thread 1 |S\u{1}(1): <module> 3.0 1.0",
            ],
        ),
        (
            "raw_newline.json",
            1,
            &[
                "Thread 1 a 1.0 1.0",
                "Thread 1 c 5.0 1.0",
                "Thread 1 lib = make(\n  2) 3.0 1.0",
            ],
        ),
        (
            "units_differ.csv",
            0,
            &["Stream 7 gemm 250000.0 12.5", "Stream 7 relu 250020.0 3.0"],
        ),
    ] {
        let Some((found, said)) = lines(name) else {
            return;
        };
        let mut found: Vec<_> = found.iter().map(|line| short(line)).collect();
        let mut want: Vec<_> = want.iter().map(|&line| line.to_owned()).collect();
        found.sort();
        want.sort();
        assert_eq!((found, said), (want, warnings), "{name}");
    }
}

/// Thread, name, times and arguments of a line.
fn short(line: &str) -> String {
    let (place, event) = line.split_once(" {").unwrap();
    let event: serde_json::Value = serde_json::from_str(&format!("{{{event}")).unwrap();
    let mut short = place.split_once('/').unwrap().1.to_owned();
    short += &format!(" {} {}", event["name"].as_str().unwrap(), event["ts"]);
    if let Some(length) = event.get("dur") {
        short += &format!(" {length}");
    }
    if !matches!(event["ph"].as_str(), Some("X" | "B")) {
        return short;
    }
    for (name, value) in event["args"].as_object().into_iter().flatten() {
        if !["data", "url", "bytes"].contains(&&**name) {
            short += &format!(" {name}={}", value.to_string().trim_matches('"'));
        }
    }
    short
}

#[test]
fn floats_of_the_shared_cases() {
    let Some(bytes) = case("nan_counters.json") else {
        return;
    };
    let (calls, text) = recorded("nan_counters.json", &bytes);
    let samples = calls
        .iter()
        .filter(|call| call["call"] == "CounterWrite")
        .count();
    assert_eq!((samples, text.lines().count()), (7, 1), "{text}");
}
