//! Arrows: of flow events, of `bind_id` and of the argument `correlation`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::{recorded, through};

/// The arrows that a trace becomes, `from > to` by the names of events, and the text on standard error.
pub fn arrows_of(trace: &str) -> (Vec<String>, String) {
    let (calls, text) = recorded("trace.json", trace.as_bytes());
    let mut ends: BTreeMap<u64, Vec<(i64, String)>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call["call"] == "EventWrite") {
        let payloads = call["payloads"].as_array().unwrap();
        let event = &payloads[0]["values"];
        let time = ["start", "time"].map(|name| event[name].as_i64());
        let end = (
            time[0].or(time[1]).unwrap(),
            event["name"].as_str().unwrap(),
        );
        let fields = payloads[1..]
            .iter()
            .filter_map(|payload| payload["values"].as_object());
        for (_, number) in fields
            .flatten()
            .filter(|(name, _)| name.starts_with("flow"))
        {
            if let Some(number) = number.as_u64().filter(|number| *number != 0) {
                let ends = ends.entry(number).or_default();
                ends.push((end.0, end.1.to_owned()));
            }
        }
    }
    let mut arrows = Vec::new();
    for mut ends in ends.into_values() {
        ends.sort();
        let [(_, from), (_, to)] = &ends[..] else {
            panic!("an arrow has two ends: {ends:?}");
        };
        arrows.push(format!("{from} > {to}"));
    }
    arrows.sort();
    (arrows, text)
}

/// The arrows of events, about which there is nothing to say.
#[track_caller]
fn arrows(events: &str) -> Vec<String> {
    let (arrows, text) = arrows_of(&format!("[{events}]"));
    assert_eq!(text, "");
    arrows
}

fn range(name: &str, tid: u32, ts: u32, more: &str) -> String {
    format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":4{more}}}"#)
}

fn point(phase: &str, id: &str, tid: u32, ts: u32) -> String {
    format!(r#"{{"ph":"{phase}","bp":"e","id":{id},"pid":1,"tid":{tid},"ts":{ts}}}"#)
}

#[test]
fn points_bind_to_the_innermost_range_around_them() {
    let (found, text) = arrows_of(
        r#"[{"ph":"X","name":"child","pid":1,"tid":1,"ts":11,"dur":9},
            {"ph":"X","name":"parent","pid":1,"tid":1,"ts":10,"dur":90},
            {"ph":"X","name":"next","pid":1,"tid":1,"ts":20,"dur":10},
            {"ph":"X","name":"other","pid":1,"tid":2,"ts":40,"dur":50},
            {"ph":"s","cat":"a","id":1,"pid":1,"tid":1,"ts":15},
            {"ph":"f","cat":"a","id":"1","pid":1,"tid":2,"ts":90,"bp":"e"},
            {"ph":"s","cat":"b","id":1,"pid":1,"tid":1,"ts":35},
            {"ph":"f","cat":"b","id":1,"pid":1,"tid":2,"ts":91,"bp":"e"},
            {"ph":"s","cat":"c","id":1,"pid":1,"tid":1,"ts":20},
            {"ph":"f","cat":"c","id":1,"pid":1,"tid":2,"ts":50,"bp":"e"},
            {"ph":"f","cat":"d","id":1,"pid":1,"tid":2,"ts":36},
            {"ph":"s","cat":"d","id":1,"pid":1,"tid":1,"ts":35},
            {"ph":"f","cat":"e","id":1,"pid":1,"tid":2,"ts":95}]"#,
    );
    assert_eq!(found, ["child > other", "next > other", "parent > other"]);
    assert_eq!(
        text,
        "warning: a point of a flow that is in no range is left out (2 times, such as event 8, at ts 91.000)\n"
    );
}

#[test]
fn a_start_begins_its_flow_anew() {
    let mut events = Vec::new();
    for (run, ts) in [(1, 10), (2, 900)] {
        events.push(range(&format!("out{run}"), 1, ts, ""));
        events.push(point("s", "7", 1, ts + 1));
        events.push(range(&format!("in{run}"), 2, ts + 50, ""));
        events.push(point("f", "7", 2, ts + 51));
    }
    assert_eq!(arrows(&events.join(",")), ["out1 > in1", "out2 > in2"]);
}

#[test]
fn ends_and_steps_join_what_came_before_them() {
    let ranges = ["a", "b", "c", "d"].iter().zip(1..);
    let ranges = ranges.map(|(name, tid)| range(name, tid, tid * 10, ""));
    let ranges = ranges.collect::<Vec<_>>().join(",");
    for (phases, want) in [
        ("sff", &["a > b", "a > c"][..]),
        ("stff", &["a > b", "b > c", "b > d"]),
        ("tf", &["a > b"]),
        ("ssf", &["b > c"]),
        ("fsf", &["b > c"]),
        ("sf", &["a > b"]),
    ] {
        let points = phases.chars().zip(1..);
        let points = points.map(|(phase, tid)| point(&phase.to_string(), "1", tid, tid * 10 + 2));
        // Their order in the file is of no importance.
        let mut points: Vec<_> = points.collect();
        points.reverse();
        assert_eq!(
            arrows(&format!("{ranges},{}", points.join(","))),
            want,
            "{phases}"
        );
    }
}

#[test]
fn points_of_one_time_count_in_the_order_of_their_phases() {
    let events = [
        range("a", 1, 10, ""),
        range("b", 2, 10, ""),
        point("f", "1", 2, 10),
        point("s", "1", 1, 10),
    ];
    assert_eq!(arrows(&events.join(",")).len(), 1);
}

#[test]
fn category_and_name_tell_flows_of_one_id_apart() {
    let mut events = Vec::new();
    for (name, tid, ts) in [
        ("put", 1, 10),
        ("reserve", 2, 12),
        ("get", 3, 30),
        ("release", 4, 40),
    ] {
        events.push(range(name, tid, ts, ""));
        let (phase, flow) = if ts < 20 { ("s", tid) } else { ("f", tid - 2) };
        let point = point(phase, "1", tid, ts + 1);
        let named = format!(r#","cat":"c","name":"flow {flow}"}}"#);
        events.push(point.replace('}', &named));
    }
    assert_eq!(
        arrows(&events.join(",")),
        ["put > get", "reserve > release"]
    );
}

#[test]
fn points_without_a_partner_are_normal() {
    let events = [
        range("a", 1, 10, ""),
        point("s", "1", 1, 10),
        point("f", "2", 1, 12),
    ];
    assert_eq!(arrows(&events.join(",")), [""; 0]);
}

#[test]
fn an_arrow_that_would_end_before_it_starts_is_left_out() {
    let events = [
        range("long", 2, 10, "").replace("\"dur\":4", "\"dur\":90"),
        range("a", 1, 20, ""),
        point("s", "1", 1, 21),
        point("f", "1", 2, 50),
    ];
    let (found, text) = arrows_of(&format!("[{}]", events.join(",")));
    assert_eq!(found, [""; 0]);
    assert_eq!(
        text,
        "warning: an arrow that would end before it starts is left out (event 4, at ts 50.000)\n"
    );
}

#[test]
fn a_point_binds_to_an_instant_at_its_time() {
    assert_eq!(
        arrows(
            r#"{"ph":"X","name":"around","pid":1,"tid":1,"ts":0,"dur":90},
               {"ph":"s","id":1,"pid":1,"tid":1,"ts":10},{"ph":"s","id":2,"pid":1,"tid":1,"ts":11},
               {"ph":"i","name":"sent","s":"t","pid":1,"tid":1,"ts":10},
               {"ph":"i","name":"got","pid":1,"tid":2,"ts":20},{"ph":"f","id":1,"pid":1,"tid":2,"ts":20},
               {"ph":"X","name":"work","pid":1,"tid":2,"ts":30,"dur":4},{"ph":"f","id":2,"pid":1,"tid":2,"ts":25}"#
        ),
        ["around > work", "sent > got"]
    );
}

#[test]
fn many_flows_may_leave_one_range() {
    let fan = |count: usize| {
        let mut events = r#"{"ph":"X","name":"out","pid":1,"tid":1,"ts":0,"dur":9000}"#.to_owned();
        for id in 0..count {
            let time = 10_000 + id;
            let _ = write!(
                events,
                r#",{{"ph":"s","id":{id},"pid":1,"tid":1,"ts":{id}}},{{"ph":"X","name":"in","pid":1,"tid":2,"ts":{time},"dur":1}}
                   ,{{"ph":"f","bp":"e","id":{id},"pid":1,"tid":2,"ts":{time}}}"#,
            );
        }
        let (found, text) = through(&events);
        let is_end = |line: &&String| line.contains(r#""ph":"f""#);
        (found.iter().filter(is_end).count(), text)
    };
    assert_eq!(fan(100), (100, String::new()));
    let warning =
        "warning: a flow of an event that more than 1024 flows pass is left out (3 times)\n";
    assert_eq!(fan(1027), (1024, warning.to_owned()));
}

#[test]
fn flows_bind_to_begin_end_pairs() {
    assert_eq!(
        arrows(
            r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"s","cat":"f","id":1,"pid":1,"tid":1,"ts":2},
               {"ph":"E","pid":1,"tid":1,"ts":3},
               {"ph":"B","name":"b","pid":1,"tid":2,"ts":4},{"ph":"E","pid":1,"tid":2,"ts":5},
               {"ph":"f","cat":"f","id":1,"pid":1,"tid":2,"ts":5,"bp":"e"}"#
        ),
        ["a > b"]
    );
}

/// The event itself, and not the innermost range at that time.
#[test]
fn bind_id_joins_events_by_their_directions() {
    assert_eq!(
        arrows(
            r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":9,"bind_id":"0x1f","flow_out":true},
               {"ph":"X","name":"inner","pid":1,"tid":1,"ts":1,"dur":5},
               {"ph":"B","name":"b","pid":1,"tid":2,"ts":4,"bind_id":"0x1f","flow_in":true,"flow_out":true},
               {"ph":"B","name":"inner","pid":1,"tid":2,"ts":4},{"ph":"E","pid":1,"tid":2,"ts":5},{"ph":"E","pid":1,"tid":2,"ts":6},
               {"ph":"X","name":"c","pid":1,"tid":1,"ts":20,"dur":9,"bind_id":"0x1f","flow_in":true},
               {"ph":"X","name":"d","pid":1,"tid":2,"ts":25,"dur":9,"bind_id":"0x1f","flow_in":true},
               {"ph":"X","name":"unbound","pid":1,"tid":1,"ts":30,"dur":9,"bind_id":"0x1f"}"#
        ),
        ["a > b", "b > c", "b > d"]
    );
}

#[test]
fn directions_are_kept_in_chrome_json() {
    let ends = r#","bind_id":"0x9","flow_out":true"#;
    let events = [
        range("from", 1, 0, ends),
        range("to", 2, 20, &ends.replace("out", "in")),
    ];
    let (found, text) = through(&events.join(","));
    assert_eq!(text, "");
    let found: Vec<Value> = found
        .iter()
        .map(|line| serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap())
        .collect();
    let ends = found
        .iter()
        .map(|event| (event["flow_out"] == true, event["flow_in"] == true));
    assert_eq!(ends.collect::<Vec<_>>(), [(true, false), (false, true)]);
    assert_eq!(found[0]["bind_id"], found[1]["bind_id"]);
}

/// A range with a category and a correlation, in a process of this id.
fn call(name: &str, cat: &str, pid: &str, ts: u32, correlation: &str) -> String {
    format!(
        r#"{{"ph":"X","name":"{name}","cat":"{cat}","pid":{pid},"tid":1,"ts":{ts},"dur":3,"args":{{"correlation":{correlation}}}}}"#
    )
}

#[test]
fn correlation_joins_calls_with_device_work_of_their_rank() {
    let (a, b) = (r#""rank4 900""#, r#""rank5 901""#);
    let (a_gpu, b_gpu) = (r#""rank4 GPU""#, r#""rank5 GPU""#);
    let events = [
        call("launch4", "cuda_runtime", a, 50, "9"),
        call("softmax4", "kernel", a_gpu, 60, "9"),
        call("launch5", "hip_runtime", b, 51, "9"),
        call("copy5", "gpu_memcpy", b_gpu, 63, "9"),
        // Another number, and one that means none.
        call("launch6", "cuda_driver", a, 70, "10"),
        call("launch7", "cuda_runtime", a, 75, "4294967295"),
        call("kernel7", "kernel", a_gpu, 80, "4294967295"),
    ];
    assert_eq!(
        arrows(&events.join(",")),
        ["launch4 > softmax4", "launch5 > copy5"]
    );
    // Processes without ranks are those of one file.
    let events = [
        call("launch", "cuda_driver", "100", 50, "9"),
        call("kernel", "kernel", "0", 60, "9"),
        call("copy", "gpu_memset", r#""rank4 GPU""#, 70, "9"),
    ];
    assert_eq!(
        arrows(&events.join(",")),
        ["launch > copy", "launch > kernel"]
    );
}

#[test]
fn correlation_of_other_events_joins_nothing() {
    for (cat, correlation) in [
        ("", "5"),
        ("cpu_op", "5"),
        ("cuda_runtime", "0.5"),
        ("cuda_runtime", "\"5\""),
    ] {
        let events = [
            call("fit A", cat, "1", 10, correlation),
            call(
                "fit B",
                if cat.is_empty() { "" } else { "kernel" },
                "1",
                20,
                correlation,
            ),
        ];
        assert_eq!(arrows(&events.join(",")), [""; 0], "{cat} {correlation}");
    }
}

#[test]
fn correlation_adds_nothing_to_flows_of_the_same_events() {
    let events = [
        call("launch", "cuda_runtime", "1", 10, "5"),
        call("gemm", "kernel", "0", 20, "5"),
        r#"{"ph":"f","bp":"e","id":5,"cat":"ac2g","name":"ac2g","pid":0,"tid":1,"ts":20}"#
            .to_owned(),
        r#"{"ph":"s","id":5,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":10}"#.to_owned(),
    ];
    assert_eq!(arrows(&events.join(",")), ["launch > gemm"]);
}
