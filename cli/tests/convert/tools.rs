//! Traces in the manner of tools that write this format, each with what the tool's own viewer shows.

use serde_json::Value;

use crate::flows::arrows_of;
use crate::{piped, said, shown};

/// `process/thread name start length` of events, and the warnings without their places.
fn events(trace: &str) -> (Vec<String>, Vec<String>) {
    let output = piped(trace.as_bytes(), &[]);
    let (code, text) = said(&output);
    assert_eq!(code, 0, "{text}");
    let events = shown(&output.stdout).into_iter().map(|line| {
        let (place, event) = line.split_once(" {").unwrap();
        let event: Value = serde_json::from_str(&format!("{{{event}")).unwrap();
        let mut line = format!(
            "{place} {} {}",
            event["name"].as_str().unwrap(),
            event["ts"]
        );
        if let Some(length) = event.get("dur") {
            line += &format!(" {length}");
        }
        if event["ph"] == "C" {
            line += &format!(" {}", event["args"]);
        }
        line
    });
    let mut events: Vec<_> = events.collect();
    events.sort();
    let warnings = text
        .lines()
        .map(|line| line.split(" (").next().unwrap().to_owned());
    (events, warnings.collect())
}

#[track_caller]
fn becomes(trace: &str, want: &[&str], warnings: &[&str]) {
    let (events, said) = events(trace);
    assert_eq!(events, want);
    assert_eq!(said, warnings);
}

/// Bazel's `--profile`: counters whose values are strings, and the critical path as a thread.
#[test]
fn bazel_profiles() {
    becomes(
        r#"{"otherData":{"bazel_version":"release 8.0","build_id":"b-1","profile_finish_ts":5},"traceEvents":[
          {"name":"thread_name","ph":"M","pid":1,"tid":0,"args":{"name":"Critical Path"}},
          {"name":"thread_sort_index","ph":"M","pid":1,"tid":0,"args":{"sort_index":"0"}},
          {"name":"thread_name","ph":"M","pid":1,"tid":14,"args":{"name":"Main Thread"}},
          {"cat":"build phase marker","name":"Launch","ph":"X","ts":-33000,"dur":33000,"pid":1,"tid":14},
          {"cat":"critical path component","name":"action 'Link'","ph":"X","ts":90,"dur":40,"pid":1,"args":{"tid":43},"tid":0},
          {"name":"action count","ph":"C","ts":100,"pid":1,"tid":14,"args":{"action":"7"}},
          {"cat":"gc notification","name":"minor GC","ph":"X","ts":120,"dur":3,"pid":1,"tid":14}
        ]}"#,
        &[
            "Process 1 action count 33100.0 {\"action\":7}",
            "Process 1/Critical Path action 'Link' 33090.0 40.0",
            "Process 1/Main Thread Launch 0.0 33000.0",
            "Process 1/Main Thread minor GC 33120.0 3.0",
        ],
        &[],
    );
}

/// clang's `-ftime-trace`: totals as threads, sources as asynchronous ranges without a category, U+0001 in names.
#[test]
fn clang_time_traces() {
    becomes(
        r#"{"traceEvents":[{"pid":9,"tid":9,"ph":"b","id":0,"ts":5,"name":"Source","cat":"Source","args":{"detail":"a.h"}},
          {"pid":9,"tid":9,"ph":"e","id":0,"ts":8,"name":"Source","cat":"Source"},
          {"pid":9,"tid":9,"ph":"X","ts":1,"dur":90,"name":"ExecuteCompiler"},
          {"pid":9,"tid":9,"ph":"X","ts":40,"dur":7,"name":"OptFunction","args":{"detail":"\u0001-[A b]"}},
          {"pid":9,"tid":10,"ph":"X","ts":0,"dur":7,"name":"Total OptFunction","args":{"count":1,"avg ms":0}},
          {"cat":"","pid":9,"tid":9,"ts":0,"ph":"M","name":"process_name","args":{"name":"clang"}},
          {"cat":"","pid":9,"tid":9,"ts":0,"ph":"M","name":"thread_name","args":{"name":""}}],"beginningOfTime":1700000000000000}"#,
        &[
            "clang 9/Source 0 Source 5.0 3.0",
            "clang 9/Thread 10 Total OptFunction 0.0 7.0",
            "clang 9/Thread 9 ExecuteCompiler 1.0 90.0",
            "clang 9/Thread 9 OptFunction 40.0 7.0",
        ],
        &[],
    );
}

/// `go tool trace`: stack frames by number, counters with names of Go, flows between goroutines.
#[test]
fn go_traces() {
    let trace = r#"{"stackFrames":{"1":{"name":"main.main:9"}},"displayTimeUnit":"ns","traceEvents":[
          {"name":"process_name","ph":"M","ts":0,"pid":0,"tid":0,"args":{"name":"PROCS"}},
          {"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":2,"args":{"name":"Proc 2"}},
          {"name":"G7 main.f","ph":"X","ts":10.123,"dur":5.5,"pid":0,"tid":2,"sf":1,"esf":1,"args":{}},
          {"name":"G8 main.g","ph":"X","ts":20.25,"dur":1,"pid":0,"tid":3,"sf":1},
          {"name":"go","ph":"s","ts":11,"pid":0,"tid":2,"id":4},{"name":"go","ph":"t","ts":20.25,"pid":0,"tid":3,"id":4},
          {"name":"Heap","ph":"C","ts":1,"pid":1,"tid":0,"args":{"Allocated":5,"NextGC":4194304}}]}"#;
    becomes(
        trace,
        &[
            "PROCS 0/Proc 2 G7 main.f 10.123 5.5",
            "PROCS 0/Thread 3 G8 main.g 20.25 1.0",
            "Process 1 Heap Allocated 1.0 {\"value\":5}",
            "Process 1 Heap NextGC 1.0 {\"value\":4194304}",
        ],
        &[
            "warning: the member `esf` of an event is not converted",
            "warning: the member `sf` of an event is not converted",
            "warning: the trace's own `stackFrames` is not converted",
        ],
    );
    assert_eq!(arrows_of(trace).0, ["G7 main.f > G8 main.g"]);
}

/// Node's trace events: asynchronous hooks by id with nested callbacks, marks as `R` and `n`, and metadata of its own.
#[test]
fn node_traces() {
    becomes(
        r#"{"traceEvents":[{"pid":8,"tid":8,"ts":1,"tts":1,"ph":"M","cat":"__metadata","name":"thread_name","dur":0,"tdur":0,"args":{"name":"JavaScriptMainThread"}},
          {"pid":8,"tid":8,"ts":10,"ph":"b","cat":"node,node.async_hooks","name":"Timeout","id":"0x5","args":{"data":{"triggerAsyncId":1}}},
          {"pid":8,"tid":8,"ts":20,"ph":"b","cat":"node,node.async_hooks","name":"Timeout_CALLBACK","id":"0x5","args":{}},
          {"pid":8,"tid":8,"ts":25,"ph":"e","cat":"node,node.async_hooks","name":"Timeout_CALLBACK","id":"0x5","args":{}},
          {"pid":8,"tid":8,"ts":30,"ph":"e","cat":"node,node.async_hooks","name":"Timeout","id":"0x5","args":{}},
          {"pid":8,"tid":8,"ts":40,"ph":"R","cat":"node,node.perf,node.perf.usertiming","name":"ready","args":{}},
          {"pid":8,"tid":8,"ts":41,"ph":"M","cat":"__metadata","name":"node","args":{"process":{"versions":{"node":"22"}}}}]}"#,
        &[
            "Process 8/JavaScriptMainThread ready 40.0",
            "Process 8/node,node.async_hooks 0x5 Timeout 10.0 20.0",
            "Process 8/node,node.async_hooks 0x5 Timeout_CALLBACK 20.0 5.0",
        ],
        &[
            "warning: metadata `node` is not converted",
            "warning: the member `tdur` of an event is not converted",
            "warning: the member `tts` of an event is not converted",
        ],
    );
}

/// VizTracer: nanoseconds as decimals, objects, and large metadata beside the events.
#[test]
fn viztracer_traces() {
    becomes(
        r#"{"traceEvents":[{"ph":"M","pid":5,"tid":5,"name":"process_name","args":{"name":"MainProcess"}},
          {"ph":"M","pid":5,"tid":5,"name":"thread_name","args":{"name":"MainThread"}},
          {"pid":5,"tid":5,"ts":100.001,"dur":9.999,"name":"main (a.py:1)","ph":"X","cat":"FEE"},
          {"pid":5,"tid":5,"ts":101.5,"ph":"C","name":"memory","args":{"rss":1.5,"vms":2}},
          {"pid":5,"tid":5,"ts":102.5,"ph":"i","s":"g","name":"note","cat":"INSTANT"},
          {"pid":5,"tid":5,"ts":103,"ph":"O","name":"tree","id":"0x7f","args":{"snapshot":{"n":1}}}],
          "viztracer_metadata":{"overflow":false,"version":"1.0"},"file_info":{"files":{"a.py":["def f():\n",1]},"functions":{}}}"#,
        &[
            "MainProcess 5 memory rss 101.5 {\"value\":1.5}",
            "MainProcess 5 memory vms 101.5 {\"value\":2}",
            "MainProcess 5/MainThread main (a.py:1) 100.001 9.999",
            "MainProcess 5/tree 0x7f tree 103.0",
            "whole trace/whole trace note 102.5",
        ],
        &[],
    );
}

/// TensorFlow's timeline: tensors as objects, and a flow for each consumer, from `s` to `t`.
#[test]
fn tensorflow_timelines() {
    let op = |name: &str, tid: u32, ts: u32| {
        format!(
            r#"{{"args":{{"name":"{name}","op":"MatMul"}},"cat":"Op","dur":8,"name":"{name}","ph":"X","pid":1,"tid":{tid},"ts":{ts}}}"#
        )
    };
    let flow = |phase: &str, id: u32, tid: u32, ts: u32| {
        format!(
            r#"{{"cat":"DataFlow","id":{id},"name":"a","ph":"{phase}","pid":1,"tid":{tid},"ts":{ts}}}"#
        )
    };
    let trace = [
        op("a", 0, 10),
        op("b", 1, 30),
        op("c", 2, 40),
        flow("s", 1, 0, 18),
        flow("t", 1, 1, 30),
        flow("s", 2, 0, 18),
        flow("t", 2, 2, 40),
    ];
    let trace = format!(r#"{{"traceEvents":[{}]}}"#, trace.join(","));
    assert_eq!(arrows_of(&trace).0, ["a > b", "a > c"]);
}

/// rocprof: an empty first event, ids in strings, and flows that are called `dep`.
#[test]
fn rocprof_traces() {
    let trace = r#"{ "traceEvents":[{}
          ,{"args":{"name":"2 CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":0}
          ,{"ph":"X","name":"hipLaunchKernel","pid":2,"tid":77,"ts":"100","dur":"5","args":{"BeginNs":"100000","EndNs":"105000"}}
          ,{"ph":"X","name":"add(float*)","pid":"8","tid":"0","ts":"120","dur":"9","args":{}}
          ,{"ts":100,"ph":"s","cat":"DataFlow","id":1,"pid":2,"tid":77,"name":"dep"}
          ,{"ts":120,"ph":"t","cat":"DataFlow","id":1,"pid":8,"tid":0,"name":"dep"}
          ]}"#;
    becomes(
        trace,
        &[
            "2 CPU HIP API 2/Thread 77 hipLaunchKernel 100.0 5.0",
            "Process 8/Thread 0 add(float*) 120.0 9.0",
        ],
        &[
            "warning: an event without `ph` is left out",
            "warning: the member `sort_index` of an event is not converted",
        ],
    );
    assert_eq!(arrows_of(trace).0, ["hipLaunchKernel > add(float*)"]);
}

/// Chrome's own traces: ids of a process, legacy flows by `bind_id` over two processes, and clock synchronisation.
#[test]
fn chrome_traces() {
    let trace = r#"{"metadata":{"os-name":"Linux","num-cpus":8},"traceEvents":[
          {"args":{"name":"Browser"},"cat":"__metadata","name":"process_name","ph":"M","pid":1,"tid":0,"ts":0},
          {"args":{"number":8},"cat":"__metadata","name":"num_cpus","ph":"M","pid":1,"tid":0,"ts":0},
          {"args":{"chromeTask":{}},"bind_id":"0x9a","cat":"toplevel.flow","dur":5,"flow_out":true,"name":"Post","ph":"X","pid":1,"tid":3,"ts":10,"tdur":4,"tts":1},
          {"args":{},"bind_id":"0x9a","cat":"toplevel.flow","dur":5,"flow_in":true,"name":"Run","ph":"X","pid":2,"tid":4,"ts":20},
          {"cat":"cc","id2":{"local":"0x1"},"name":"Frame","ph":"b","pid":2,"tid":4,"ts":21,"args":{}},
          {"cat":"cc","id2":{"local":"0x1"},"name":"Frame","ph":"e","pid":2,"tid":5,"ts":29,"args":{}},
          {"args":{"sync_id":"s"},"name":"clock_sync","ph":"c","pid":-1,"tid":-1,"ts":30}]}"#;
    becomes(
        trace,
        &[
            "Browser 1/Thread 3 Post 10.0 5.0",
            "Process 2/Thread 4 Run 20.0 5.0",
            "Process 2/cc 0x1 Frame 21.0 8.0",
        ],
        &[
            "warning: an event of phase `c` is not converted",
            "warning: metadata `num_cpus` is not converted",
            "warning: the member `tdur` of an event is not converted",
            "warning: the member `tts` of an event is not converted",
        ],
    );
    assert_eq!(arrows_of(trace).0, ["Post > Run"]);
}

/// Traces for catapult's viewer: asynchronous ranges that end in another process, and ends that touch the next begin.
#[test]
fn legacy_asynchronous_traces() {
    let event = |phase: &str, name: &str, id: &str, pid: u32, ts: u32| {
        format!(
            r#"{{"cat":"r","pid":{pid},"tid":1,"ts":{ts},"ph":"{phase}","name":"{name}","args":{{}},"id":"{id}"}}"#
        )
    };
    let trace = [
        event("S", "far", "2a", 1, 250),
        event("T", "far", "2a", 3, 450),
        event("F", "far", "2a", 3, 750),
        event("S", "near", "f", 4, 0),
        event("F", "near", "f", 4, 100),
        event("S", "near", "f", 4, 100),
        event("F", "near", "f", 4, 200),
    ];
    becomes(
        &format!("[{}]", trace.join(",")),
        &[
            "Process 1/r 2a far 250.0 500.0",
            "Process 3/r 2a far 450.0",
            "Process 4/r f near 0.0 100.0",
            "Process 4/r f near 100.0 100.0",
        ],
        &[],
    );
}

/// Scripts that print events one by one: commas at every end, numbers as text.
#[test]
fn traces_of_scripts() {
    becomes(
        r#"[{"name":"typecheck","ph":"X","ts":4619295550.000,"dur":8000.000,"pid":30,"tid":3,"args":{"a":[1,2,],"b":1,},},
           {"ph":"C","name":"n","pid":30,"ts":1,"args":{"dot":".75","whole":"246.","zero":"01.25","plus":"+10.5","none":"1.5e"}},"#,
        &[
            "Process 30 n dot 1.0 {\"value\":0.75}",
            "Process 30 n plus 1.0 {\"value\":10.5}",
            "Process 30 n whole 1.0 {\"value\":246.0}",
            "Process 30 n zero 1.0 {\"value\":1.25}",
            "Process 30/Thread 3 typecheck 4619295550.0 8000.0",
        ],
        &[
            "warning: a comma before a closing bracket is passed over",
            "warning: a counter value that is no number is left out",
        ],
    );
}
