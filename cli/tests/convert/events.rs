//! Each phase of Chrome's format.

use std::fs;
use std::process::Command;

use crate::scratch::Scratch;
use crate::{convert, said, through};

/// The lines of what events become; nothing is said about them.
fn becomes(events: &str, want: &[&str]) {
    let (found, text) = through(events);
    assert_eq!(text, "", "{events}");
    assert_eq!(found, want, "{events}");
}

#[test]
fn complete_events_keep_names_times_and_arguments() {
    becomes(
        r#"{"ph":"X","name":"a","cat":"c","pid":1,"tid":2,"ts":1.001,"dur":2.5,"args":{"i":-1,"f":0.5,"b":false,"s":"\u00e4\n","g":[1,2],"o":{"k":[1,"x"]},"n":null,"u":18446744073709551615}}"#,
        &[
            r#"Process 1/Thread 2 {"args":{"b":false,"f":0.5,"g":[1,2],"i":-1,"o":"{\"k\":[1,\"x\"]}","s":"ä\n","u":"18446744073709551615"},"cat":"c","dur":2.5,"name":"a","ph":"X","ts":1.001}"#,
        ],
    );
}

#[test]
fn numbers_may_be_strings_and_members_may_be_missing() {
    becomes(
        r#"{"ph":"X","name":"a","pid":"1","tid":"2","ts":"1.5","dur":"2"},{"ph":"X","pid":1.0,"tid":2e0,"ts":9},{"ph":"X","name":7,"ts":1}"#,
        &[
            r#"(no process)/(no process) {"args":{},"dur":0.0,"name":"7","ph":"X","ts":1.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":0.0,"name":"","ph":"X","ts":9.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":2.0,"name":"a","ph":"X","ts":1.5}"#,
        ],
    );
}

#[test]
fn begins_and_ends_are_one_range_wherever_they_stand() {
    becomes(
        r#"{"ph":"E","pid":1,"tid":2,"ts":9,"args":{"y":2}},
           {"ph":"B","name":"in","pid":1,"tid":2,"ts":2},
           {"ph":"E","pid":1,"tid":2,"ts":3},
           {"ph":"B","name":"next","pid":1,"tid":2,"ts":3},
           {"ph":"E","pid":1,"tid":2,"ts":3},
           {"ph":"B","name":"out","pid":1,"tid":2,"ts":1,"args":{"x":1}}"#,
        &[
            r#"Process 1/Thread 2 {"args":{"x":1,"y":2},"dur":8.0,"name":"out","ph":"X","ts":1.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":0.0,"name":"next","ph":"X","ts":3.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":1.0,"name":"in","ph":"X","ts":2.0}"#,
        ],
    );
}

#[test]
fn arguments_are_those_of_the_file() {
    // Of one name, that of the `E` event and the last one count; `null` is none; an open range has no `id` that is not its own.
    becomes(
        r#"{"ph":"B","name":"job","pid":1,"tid":2,"ts":1,"args":{"state":"queued","n":1,"x":null}},
           {"ph":"E","pid":1,"tid":2,"ts":3,"args":{"state":"done","m":[1]}},
           {"ph":"X","name":"twice","pid":1,"tid":2,"ts":4,"args":{"flow":1,"correlation":5,"a":1,"a":2}}"#,
        &[
            r#"Process 1/Thread 2 {"args":{"a":2,"correlation":5,"flow":1},"dur":0.0,"name":"twice","ph":"X","ts":4.0}"#,
            r#"Process 1/Thread 2 {"args":{"m":[1],"n":1,"state":"done"},"dur":2.0,"name":"job","ph":"X","ts":1.0}"#,
        ],
    );
    let (found, _) = through(
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1,"args":{"x":1}},
           {"ph":"B","name":"b","pid":1,"tid":1,"ts":2,"args":{"id":77}},{"ph":"E","name":"a","pid":1,"tid":1,"ts":9}"#,
    );
    let args = found
        .iter()
        .map(|line| line.split_once("\"args\":").unwrap().1);
    let args: Vec<_> = args.map(|args| args.split_once('}').unwrap().0).collect();
    assert_eq!(args, [r#"{"id":77"#, r#"{"x":1"#]);
}

#[test]
fn halves_without_another_are_told() {
    let (found, text) = through(
        r#"{"ph":"E","pid":1,"tid":2,"ts":1},{"ph":"B","name":"a","pid":1,"tid":2,"ts":2},
           {"ph":"X","name":"b","pid":1,"tid":2,"ts":3,"dur":1}"#,
    );
    assert_eq!(
        text,
        "warning: a range that does not end stays open (event 2, at ts 2.000)\n\
         warning: the end of a range that did not begin is left out (event 1, at ts 1.000)\n"
    );
    assert_eq!(
        found,
        [
            r#"Process 1/Thread 2 {"args":{},"dur":1.0,"name":"b","ph":"X","ts":3.0}"#,
            r#"Process 1/Thread 2 {"args":{},"name":"a","ph":"B","ts":2.0}"#,
        ]
    );
}

#[test]
fn ends_with_names_are_those_of_their_ranges() {
    becomes(
        r#"{"ph":"B","name":"a","pid":1,"tid":2,"ts":1},{"ph":"B","name":"b","pid":1,"tid":2,"ts":2},
           {"ph":"E","name":"a","pid":1,"tid":2,"ts":3},{"ph":"E","name":"b","pid":1,"tid":2,"ts":4},
           {"ph":"b","cat":"c","id":1,"name":"a","pid":1,"ts":1},{"ph":"b","cat":"c","id":1,"name":"b","pid":1,"ts":2},
           {"ph":"e","cat":"c","id":1,"name":"a","pid":1,"ts":3},{"ph":"e","cat":"c","id":1,"name":"no such","pid":1,"ts":4}"#,
        &[
            r#"Process 1/Thread 2 (2) {"args":{},"dur":2.0,"name":"b","ph":"X","ts":2.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":2.0,"name":"a","ph":"X","ts":1.0}"#,
            r#"Process 1/c 1 (2) {"args":{},"cat":"c","dur":2.0,"name":"b","ph":"X","ts":2.0}"#,
            r#"Process 1/c 1 {"args":{},"cat":"c","dur":2.0,"name":"a","ph":"X","ts":1.0}"#,
        ],
    );
}

#[test]
fn layouts_that_no_event_has_are_not_registered() {
    for (events, want) in [
        (r#"{"ph":"X","name":"a","ts":1,"dur":2}"#, vec![]),
        (
            r#"{"ph":"X","name":"a","ts":1,"dur":2,"args":{"i":1}},{"ph":"s","id":1,"ts":1},{"ph":"f","id":1,"ts":1}"#,
            vec![("arguments", 1)],
        ),
    ] {
        let scratch = Scratch::new("convert-layouts");
        let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
        fs::write(&input, format!("[{events}]")).unwrap();
        assert_eq!(said(&convert(&input, &output, &[])), (0, String::new()));
        let mut info = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        let info = info.args(["info", "--json"]).arg(&output).output().unwrap();
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        let schemas = info["schemas"].as_array().unwrap().iter();
        let rows = schemas.filter(|schema| schema["kind"].is_null());
        let rows = rows.map(|schema| {
            let events = schema["events"].as_u64().unwrap();
            (schema["name"].as_str().unwrap(), events)
        });
        assert_eq!(rows.collect::<Vec<_>>(), want);
    }
}

#[test]
fn ranges_in_halves_cross_whole_ones() {
    for events in [
        r#"{"ph":"X","name":"x","pid":1,"tid":2,"ts":1,"dur":4},{"ph":"B","name":"h","pid":1,"tid":2,"ts":3},{"ph":"E","pid":1,"tid":2,"ts":7}"#,
        r#"{"ph":"B","name":"h","pid":1,"tid":2,"ts":3},{"ph":"X","name":"x","pid":1,"tid":2,"ts":4,"dur":9},{"ph":"E","pid":1,"tid":2,"ts":7}"#,
    ] {
        let scratch = Scratch::new("convert-crossing");
        let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
        fs::write(&input, format!("[{events}]")).unwrap();
        assert_eq!(said(&convert(&input, &output, &[])), (0, String::new()));
        let mut info = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        let info = info.args(["info", "--json"]).arg(&output).output().unwrap();
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        // They must not be told to nest.
        assert_eq!(info["counts"]["startend"], 2, "{events}");
    }
}

#[test]
fn halves_of_characters_are_replaced() {
    becomes(
        r#"{"ph":"X","name":"\ud83d\ude00 \ud800\n\udc00x\\ud800","pid":1,"tid":2,"ts":1,"args":{"\ud800":"\udfff"}}"#,
        &[
            "Process 1/Thread 2 {\"args\":{\"\u{FFFD}\":\"\u{FFFD}\"},\"dur\":0.0,\"name\":\"\u{1F600} \u{FFFD}\\n\u{FFFD}x\\\\ud800\",\"ph\":\"X\",\"ts\":1.0}",
        ],
    );
}

#[test]
fn instants_of_the_whole_trace_have_a_track_of_their_own() {
    becomes(
        r#"{"ph":"i","name":"t","pid":1,"tid":2,"ts":1,"s":"t","args":{"a":1}},{"ph":"I","name":"g","pid":1,"tid":2,"ts":2,"s":"g"},
           {"ph":"I","name":"p","pid":1,"tid":2,"ts":3,"s":"p"}"#,
        &[
            r#"Process 1/Thread 2 {"args":{"a":1},"name":"t","ph":"i","s":"t","ts":1.0}"#,
            r#"Process 1/Thread 2 {"args":{},"name":"p","ph":"i","s":"t","ts":3.0}"#,
            r#"whole trace/whole trace {"args":{},"name":"g","ph":"i","s":"t","ts":2.0}"#,
        ],
    );
}

#[test]
fn asynchronous_ranges_meet_by_their_ids() {
    becomes(
        r#"{"ph":"b","cat":"net","id":"0x1","name":"a","pid":1,"tid":2,"ts":1,"args":{"x":1}},
           {"ph":"b","cat":"net","id":"0x2","name":"b","pid":1,"tid":2,"ts":2},
           {"ph":"b","cat":"net","id":"0x1","name":"in","pid":1,"tid":2,"ts":2},
           {"ph":"n","cat":"net","id":"0x1","name":"n","pid":1,"tid":2,"ts":3},
           {"ph":"e","cat":"net","id":"0x1","name":"in","pid":1,"tid":3,"ts":4},
           {"ph":"e","cat":"net","id":"0x1","name":"a","pid":1,"tid":3,"ts":8},
           {"ph":"e","cat":"net","id":"0x2","name":"b","pid":1,"tid":2,"ts":9},
           {"ph":"b","cat":"net","id2":{"local":1},"name":"c","pid":1,"ts":10},
           {"ph":"b","cat":"net","id2":{"local":1},"name":"d","pid":2,"ts":11},
           {"ph":"e","cat":"net","id2":{"local":1},"pid":1,"ts":12},
           {"ph":"e","cat":"net","id2":{"local":1},"pid":2,"ts":13}"#,
        &[
            r#"Process 1/net 0x1 {"args":{"x":1},"cat":"net","dur":7.0,"name":"a","ph":"X","ts":1.0}"#,
            r#"Process 1/net 0x1 {"args":{},"cat":"net","dur":2.0,"name":"in","ph":"X","ts":2.0}"#,
            r#"Process 1/net 0x1 {"args":{},"cat":"net","name":"n","ph":"i","s":"t","ts":3.0}"#,
            r#"Process 1/net 0x2 {"args":{},"cat":"net","dur":7.0,"name":"b","ph":"X","ts":2.0}"#,
            r#"Process 1/net 1 {"args":{},"cat":"net","dur":2.0,"name":"c","ph":"X","ts":10.0}"#,
            r#"Process 2/net 1 {"args":{},"cat":"net","dur":2.0,"name":"d","ph":"X","ts":11.0}"#,
        ],
    );
}

#[test]
fn other_phases_are_instants_and_asynchronous_ranges() {
    becomes(
        r#"{"ph":"R","cat":"timing","name":"ready","pid":1,"tid":2,"ts":1,"args":{"a":1}},{"ph":"P","name":"sample","pid":1,"tid":2,"ts":2},
           {"ph":"S","cat":"net","name":"get","id":"0x1","pid":1,"tid":2,"ts":3,"args":{"url":"u"}},
           {"ph":"T","cat":"net","name":"get","id":"0x1","pid":1,"tid":2,"ts":4,"args":{"step":"head"}},
           {"ph":"F","cat":"net","name":"get","id":"0x1","pid":1,"tid":2,"ts":9,"args":{"bytes":3}},
           {"ph":"N","name":"Tree","id":7,"pid":1,"tid":2,"ts":1},{"ph":"D","name":"Tree","id":7,"pid":1,"tid":2,"ts":9},
           {"ph":"O","name":"Tree","id":7,"pid":1,"tid":2,"ts":5,"args":{"snapshot":[1]}}"#,
        &[
            r#"Process 1/Thread 2 {"args":{"a":1},"cat":"timing","name":"ready","ph":"i","s":"t","ts":1.0}"#,
            r#"Process 1/Thread 2 {"args":{},"name":"sample","ph":"i","s":"t","ts":2.0}"#,
            r#"Process 1/Tree 7 {"args":{"snapshot":[1]},"name":"Tree","ph":"i","s":"t","ts":5.0}"#,
            r#"Process 1/Tree 7 {"args":{},"name":"Tree created","ph":"i","s":"t","ts":1.0}"#,
            r#"Process 1/Tree 7 {"args":{},"name":"Tree deleted","ph":"i","s":"t","ts":9.0}"#,
            r#"Process 1/net 0x1 {"args":{"bytes":3,"url":"u"},"cat":"net","dur":6.0,"name":"get","ph":"X","ts":3.0}"#,
            r#"Process 1/net 0x1 {"args":{"step":"head"},"cat":"net","name":"get","ph":"i","s":"t","ts":4.0}"#,
        ],
    );
}

#[test]
fn asynchronous_ranges_of_one_id_nest_and_others_have_tracks_of_their_own() {
    let range = |name: &str, id: u32, pid: u32, from: u32, to: u32| {
        let event = format!(r#""cat":"io","name":"{name}","id":{id},"pid":{pid}"#);
        format!(r#"{{"ph":"b",{event},"ts":{from}}},{{"ph":"e",{event},"ts":{to}}}"#)
    };
    let events = [
        range("all", 0, 1, 1, 10),
        range("read", 0, 1, 2, 5),
        range("write", 0, 1, 3, 7),
        range("all", 1, 2, 1, 10),
        range("read", 2, 2, 2, 5),
        range("write", 3, 2, 3, 7),
    ];
    let (found, text) = through(&events.join(","));
    assert_eq!(text, "");
    let places = found.iter().map(|line| line.split_once(" {").unwrap().0);
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            "Process 1/io 0 (2)",
            "Process 1/io 0",
            "Process 1/io 0",
            "Process 2/io 1",
            "Process 2/io 2",
            "Process 2/io 3",
        ]
    );
}

#[test]
fn pairs_of_one_time_meet_by_their_names() {
    becomes(
        r#"{"ph":"B","name":"outer","pid":1,"tid":1,"ts":0},{"ph":"E","name":"empty","pid":1,"tid":1,"ts":2},
           {"ph":"B","name":"empty","pid":1,"tid":1,"ts":2},{"ph":"E","name":"outer","pid":1,"tid":1,"ts":9},
           {"ph":"B","name":"named","pid":1,"tid":1,"ts":20},{"ph":"E","name":"otherwise","pid":1,"tid":1,"ts":22}"#,
        &[
            r#"Process 1/Thread 1 {"args":{},"dur":0.0,"name":"empty","ph":"X","ts":2.0}"#,
            r#"Process 1/Thread 1 {"args":{},"dur":2.0,"name":"named","ph":"X","ts":20.0}"#,
            r#"Process 1/Thread 1 {"args":{},"dur":9.0,"name":"outer","ph":"X","ts":0.0}"#,
        ],
    );
}

#[test]
fn ends_are_rounded_and_not_durations() {
    becomes(
        r#"{"ph":"X","name":"outer","pid":1,"tid":1,"ts":10.0004,"dur":5.0004},{"ph":"X","name":"inner","pid":1,"tid":1,"ts":12.0008,"dur":3.0000},
           {"ph":"X","name":"first","pid":1,"tid":2,"ts":0.0006,"dur":0.9996},{"ph":"X","name":"second","pid":1,"tid":2,"ts":1.0002,"dur":1.0}"#,
        &[
            r#"Process 1/Thread 1 {"args":{},"dur":3.0,"name":"inner","ph":"X","ts":12.001}"#,
            r#"Process 1/Thread 1 {"args":{},"dur":5.001,"name":"outer","ph":"X","ts":10.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":0.999,"name":"first","ph":"X","ts":0.001}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":1.0,"name":"second","ph":"X","ts":1.0}"#,
        ],
    );
}

#[test]
fn a_bad_optional_member_costs_that_member_only() {
    let (found, text) = through(
        r#"{"ph":"X","name":"a","cat":null,"pid":1,"tid":1,"ts":0,"dur":null,"args":["x",3]},
           {"ph":"B","name":"b","pid":1,"tid":null,"ts":5,"args":[]},{"ph":"E","name":"b","pid":1,"ts":9,"args":""}"#,
    );
    assert_eq!(
        found,
        [
            r#"Process 1/Process 1 {"args":{},"dur":4.0,"name":"b","ph":"X","ts":5.0}"#,
            r#"Process 1/Thread 1 {"args":{},"dur":0.0,"name":"a","ph":"X","ts":0.0}"#,
        ]
    );
    assert_eq!(
        text,
        "warning: the member `args` of an event is left out, as it is not an object (3 times, first in line 1, byte 2)
"
    );
}

#[test]
fn tracks_are_in_the_order_of_sort_indices_and_names() {
    let (calls, _) = crate::recorded(
        "order.json",
        br#"[{"ph":"X","name":"q","pid":1,"tid":1,"ts":1},{"ph":"X","name":"q","pid":1,"tid":2,"ts":1},{"ph":"X","name":"q","pid":1,"tid":3,"ts":1},
            {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"Cedar"}},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Birch"}},
            {"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"Alder"}},{"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":0}},
            {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":0}},{"ph":"M","name":"thread_sort_index","pid":1,"tid":3,"args":{"sort_index":0}},
            {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":5}},{"ph":"i","name":"all","s":"g","ts":1},
            {"ph":"X","name":"q","pid":10,"tid":1,"ts":1},{"ph":"X","name":"q","pid":9,"tid":1,"ts":1},
            {"ph":"M","name":"process_name","pid":9,"args":{"name":7}},{"ph":"M","name":"thread_name","pid":9,"tid":1,"args":{"name":3}},
            {"ph":"X","name":"q","ts":1}]"#,
    );
    let opened = calls.iter().filter(|call| call["call"] == "StreamOpen");
    let opened: Vec<_> = opened.map(|call| call["name"].as_str().unwrap()).collect();
    assert_eq!(
        opened,
        [
            "Process 1/Alder",
            "Process 1/Birch",
            "Process 1/Cedar",
            "7 9/3",
            "(no process)",
            "Process 10/Thread 1",
            "whole trace",
        ]
    );
}

/// Open streams take memory, and there may be very many such ranges.
#[test]
fn asynchronous_tracks_but_the_first_of_a_process_are_opened_late() {
    let range = |pid: u32, id: &str| {
        let event = format!(r#""cat":"io","name":"x","id":"{id}","pid":{pid}"#);
        format!(r#"{{"ph":"b",{event},"ts":1}},{{"ph":"e",{event},"ts":2}}"#)
    };
    let index = |pid: u32, index: u32| {
        format!(
            r#"{{"ph":"M","name":"process_sort_index","pid":{pid},"args":{{"sort_index":{index}}}}}"#
        )
    };
    let thread = r#"{"ph":"X","name":"x","pid":1,"tid":1,"ts":1}"#.to_owned();
    let trace = [
        range(1, "c"),
        range(2, "b"),
        range(2, "a"),
        thread,
        index(1, 2),
        index(2, 1),
    ];
    let (calls, _) = crate::recorded("late.json", format!("[{}]", trace.join(",")).as_bytes());
    let calls = calls
        .iter()
        .filter_map(|call| match call["call"].as_str().unwrap() {
            "StreamOpen" => call["name"].as_str(),
            "StreamClose" => Some("close"),
            _ => None,
        });
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [
            "Process 2/io a",
            "Process 1/Thread 1",
            "Process 1/io c",
            "close",
            "Process 2/io b",
            "close",
            "close",
            "close",
        ]
    );
}

#[test]
fn counters_are_in_their_process() {
    becomes(
        r#"{"ph":"C","name":"memory","pid":1,"tid":9,"ts":1,"args":{"bytes":5}},
           {"ph":"C","name":"memory","pid":1,"ts":2,"args":{"bytes":"6"}},
           {"ph":"C","name":"load","pid":1,"ts":2,"args":{"user":0.5,"system":1}},
           {"ph":"C","name":"load","pid":1,"ts":3,"args":{"user":1}},
           {"ph":"C","name":"x","id":7,"pid":1,"ts":3,"args":{"value":9007199254740993}}"#,
        &[
            r#"Process 1 {"args":{"bytes":5},"name":"memory","ph":"C","ts":1.0}"#,
            r#"Process 1 {"args":{"bytes":6},"name":"memory","ph":"C","ts":2.0}"#,
            r#"Process 1 {"args":{"value":0.5},"name":"load user","ph":"C","ts":2.0}"#,
            r#"Process 1 {"args":{"value":1.0},"name":"load user","ph":"C","ts":3.0}"#,
            r#"Process 1 {"args":{"value":1},"name":"load system","ph":"C","ts":2.0}"#,
            r#"Process 1 {"args":{"value":9007199254740993},"name":"x 7","ph":"C","ts":3.0}"#,
        ],
    );
}

#[test]
fn floats_that_json_has_no_words_for_are_floats() {
    let (calls, text) = crate::recorded(
        "floats.json",
        br#"[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"args":{"a":NaN,"b":[-Infinity,0.5],"c": -inf,"d":INF,"e":-nan(ind),"f":1.#INF}},
            {"ph":"C","name":"load","pid":1,"ts":2,"args":{"user":nan,"idle":"+Infinity"}}]"#,
    );
    assert_eq!(
        text,
        "warning: `NaN`, `Infinity` and the like, for which JSON has no words, are taken as floats (7 times, first in line 1, byte 58)\n"
    );
    let written = |call: &'static str| {
        calls
            .iter()
            .filter(move |found| found["call"] == call)
            .cloned()
    };
    let event = written("EventWrite").next().unwrap();
    let bytes = event["payloads"][1]["bytes"].as_str().unwrap().to_owned();
    let floats = |bytes: &str| -> Vec<f64> {
        let bytes: Vec<_> = (0..bytes.len() / 2)
            .map(|at| u8::from_str_radix(&bytes[at * 2..][..2], 16).unwrap())
            .collect();
        let floats = bytes.chunks_exact(8);
        floats
            .map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap()))
            .collect()
    };
    let found = format!("{:?}", floats(&bytes));
    assert_eq!(found, "[NaN, -inf, 0.5, -inf, inf, NaN, inf]");
    assert_eq!(written("CounterWrite").count(), 2);
}

#[test]
fn what_is_no_json_in_a_member_costs_that_member() {
    let (found, text) = through(
        "{\"ph\":\"X\",\"name\":\"a(\n b)\",\"pid\":1,\"tid\":2,\"ts\":1,\"args\":{\"x\":None,\"y\":1,\"path\":\"C:\\Users\\new\"}},\
         {\"ph\":\"X\",\"name\":\"\u{1}b\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":?},{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":5}",
    );
    assert_eq!(
        found,
        [
            "Process 1/Thread 2 {\"args\":{\"path\":\"C:\\\\Users\\new\",\"y\":1},\"dur\":0.0,\"name\":\"a(\\n b)\",\"ph\":\"X\",\"ts\":1.0}",
            r#"Process 1/Thread 2 {"args":{},"dur":0.0,"name":"\u0001b","ph":"X","ts":3.0}"#,
            r#"Process 1/Thread 2 {"args":{},"dur":0.0,"name":"c","ph":"X","ts":5.0}"#,
        ]
    );
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split(" (").next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "warning: a value that is no JSON is left out",
            "warning: control characters in strings, for which JSON has escapes, are taken as they are",
            "warning: escapes that JSON doesn't have are taken as they are",
            "warning: the member `dur` of an event is left out, as it is not a number from 0 on",
        ]
    );
}

#[test]
fn metadata_names_and_sorts_wherever_it_stands() {
    let (found, text) = through(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1},{"ph":"X","name":"b","pid":2,"tid":1,"ts":1},
           {"ph":"X","name":"c","pid":1,"tid":2,"ts":1},
           {"ph":"M","name":"process_name","pid":1,"args":{"name":"a/b[c]\\"}},
           {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"CPU"}},
           {"ph":"M","name":"process_sort_index","pid":2,"args":{"sort_index":-5}},
           {"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":3}},
           {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"same"}},
           {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"same"}},
           {"ph":"M","name":"thread_name","pid":3,"tid":2,"args":{"name":"unused"}}"#,
    );
    assert_eq!(text, "");
    assert_eq!(
        found,
        [
            r#"Process 2/Thread 1 {"args":{},"dur":0.0,"name":"b","ph":"X","ts":1.0}"#,
            r#"a/b[c]\ 1 (CPU)/same 1 {"args":{},"dur":0.0,"name":"a","ph":"X","ts":1.0}"#,
            r#"a/b[c]\ 1 (CPU)/same 2 {"args":{},"dur":0.0,"name":"c","ph":"X","ts":1.0}"#,
        ]
    );
}

#[test]
fn what_is_not_converted_is_told_once_by_kind() {
    let bad = [
        (r#"{"name":"a"}"#, "an event without `ph` is left out"),
        (r#"{"ph":"X"}"#, "an event without `ts` is left out"),
        (
            r#"{"ph":"X","ts":1,"dur":-1}"#,
            "the member `dur` of an event is left out, as it is not a number from 0 on",
        ),
        (
            r#"{"ph":"X","ts":1,"args":[]}"#,
            "the member `args` of an event is left out, as it is not an object",
        ),
        (
            r#"{"ph":"X","ts":1,"pid":[]}"#,
            "the member `pid` of an event is left out, as it is not a number or a string",
        ),
        (r#"{"ph":"s","ts":1}"#, "an event without `id` is left out"),
        (
            r#"{"ph":"M","name":"process_name","pid":1}"#,
            "metadata `process_name` without a usable `args.name` is left out",
        ),
        (
            r#"{"ph":"M","name":"mood","pid":1}"#,
            "metadata `mood` is not converted",
        ),
        (
            r#"{"ph":"C","name":"c","ts":1,"args":{"a":"b"}}"#,
            "a counter value that is no number is left out",
        ),
        (
            r#"{"ph":"V","ts":1}"#,
            "an event of phase `V` is not converted",
        ),
        ("7", "an event that is no object is left out"),
        (
            r#"{"ph":"X","ts":1,"tts":2}"#,
            "the member `tts` of an event is not converted",
        ),
    ];
    let (found, text) = through(
        r#"{"ph":"C","name":"c","ts":1,"args":{"a":null,"b":[1],"c":2,"d":"x"}},{"ph":"C","name":"c","ts":2}"#,
    );
    assert_eq!(found.len(), 1);
    assert_eq!(
        text,
        "warning: a counter value that is no number is left out (3 times, first in line 1, byte 2)\n"
    );
    let (_, text) = through(r#"{"ph":"X","ts":1,"tts":2,"cname":"good"}"#);
    assert_eq!(
        text,
        "warning: the member `cname` of an event is not converted (line 1, byte 2)\n\
         warning: the member `tts` of an event is not converted (line 1, byte 2)\n"
    );
    for (event, kind) in bad {
        let (_, text) = through(event);
        assert_eq!(text, format!("warning: {kind} (line 1, byte 2)\n"));
        let (_, text) = through(&format!("{event},\n{event}"));
        assert_eq!(
            text,
            format!("warning: {kind} (2 times, first in line 1, byte 2)\n")
        );
    }
}
