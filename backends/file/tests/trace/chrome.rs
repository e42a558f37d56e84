//! What is in a file of the format `chrome`.

mod arguments;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};
use serde_json::{Value, json};

use crate::content::mark_time;
use crate::table::{Entry, entry, time, words};
use crate::{Run, Writer, families};

pub fn chrome(config: &str) -> Run {
    Run::with(&format!("format=chrome|{config}"))
}

/// A file that is strictly valid.
pub struct Lines {
    json: Value,
    /// One for each event.
    all: Vec<String>,
}

impl Lines {
    fn parse(text: &str) -> Self {
        let json: Value = serde_json::from_str(text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let all: Vec<_> = (text.lines().skip(1))
            .filter(|line| line.starts_with('{'))
            .map(|line| line.trim_end_matches(',').to_owned())
            .collect();
        let parsed: Vec<Value> = (all.iter())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(&parsed, events, "one event is one line");
        Self { json, all }
    }

    pub fn of(run: Run) -> Self {
        let path = run.path.clone();
        run.session.end().unwrap();
        Self::parse(&std::fs::read_to_string(path).unwrap())
    }

    /// The events of these phases, in the order of the file.
    pub fn of_phases(&self, phases: &str) -> Vec<&str> {
        let of = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            phases.contains(event["ph"].as_str().unwrap())
        };
        self.all.iter().map(|line| &**line).filter(of).collect()
    }

    fn args(&self, name: &str) -> &Value {
        let events = self.json["traceEvents"].as_array().unwrap();
        let mut named = events.iter().filter(|event| event["name"] == name);
        let event = named.next().unwrap();
        assert!(named.next().is_none(), "{name} is there twice");
        &event["args"]
    }

    /// Process and thread of each name.
    fn threads(&self) -> Vec<(String, String)> {
        let events = self.json["traceEvents"].as_array().unwrap();
        let name = |event: &Value| event["args"]["name"].as_str().unwrap().to_owned();
        let of = |kind: &'static str| events.iter().filter(move |event| event["name"] == kind);
        let process = |pid: &Value| name(of("process_name").find(|p| p["pid"] == *pid).unwrap());
        let order = |tid: &Value| {
            let index = of("thread_sort_index").find(|thread| thread["tid"] == *tid);
            index.unwrap()["args"]["sort_index"].as_u64()
        };
        let mut threads: Vec<_> = of("thread_name").collect();
        threads.sort_by_key(|thread| order(&thread["tid"]));
        (threads.into_iter())
            .map(|thread| (process(&thread["pid"]), name(thread)))
            .collect()
    }
}

#[test]
fn an_empty_session_is_a_whole_file() {
    let lines = Lines::of(chrome("base=-5"));
    assert_eq!(lines.json["displayTimeUnit"], "ns");
    assert_eq!(
        lines.json["otherData"],
        json!({
            "nvtxw.session": "run",
            "nvtxw.producer": concat!("nvtxw-file ", env!("CARGO_PKG_VERSION")),
            "nvtxw.time_base": -5,
        })
    );
    assert_eq!(lines.json["metadata"], json!({}));
    assert_eq!(
        lines.all,
        [r#"{"ph":"M","pid":1,"name":"process_name","args":{"name":"run"}}"#]
    );
}

#[test]
fn overlapping_ranges_are_on_threads_of_one_name() {
    for nests in [false, true] {
        let run = chrome("");
        let mut out = Writer::new(&run);
        let range = if nests {
            Writer::pushpop
        } else {
            Writer::startend
        };
        range(&mut out, 0, 300, "a").unwrap();
        range(&mut out, 100, 400, "b").unwrap();
        let lines = Lines::of(run);
        // The order of the two tells whether ranges were declared to nest.
        let at = |tid: u64| match nests {
            true => format!(r#"{{"ph":"X","pid":1,"tid":{tid},"#),
            false => format!(r#"{{"ph":"X","tid":{tid},"pid":1,"#),
        };
        assert_eq!(
            lines.of_phases("X"),
            [
                at(2) + r#""ts":0.000,"dur":0.300,"name":"a","args":{}}"#,
                at(3) + r#""ts":0.100,"dur":0.300,"name":"b","args":{}}"#,
            ]
        );
        let threads = ["main", "main (2)"].map(|name| ("run".to_owned(), name.to_owned()));
        assert_eq!(lines.threads(), threads);
        let crossed = &lines.json["metadata"]["nvtxw.overlapping_pushpop"];
        assert_eq!(crossed.as_u64().unwrap_or(0), u64::from(nests));
    }
}

#[test]
fn parents_stand_before_their_children() {
    for ranges in families() {
        let run = chrome("");
        let mut out = Writer::new(&run);
        for (name, start, end) in ranges {
            out.pushpop(start, end, name).unwrap();
        }
        assert_eq!(
            Lines::of(run).of_phases("X"),
            [
                r#"{"ph":"X","pid":1,"tid":2,"ts":0.000,"dur":0.110,"name":"parent","args":{}}"#,
                r#"{"ph":"X","pid":1,"tid":2,"ts":0.000,"dur":0.100,"name":"first","args":{}}"#,
                r#"{"ph":"X","pid":1,"tid":2,"ts":0.100,"dur":0.010,"name":"next","args":{}}"#,
            ]
        );
    }
}

#[test]
fn zero_lengths_open_ranges_and_halves_without_the_other() {
    let run = chrome("");
    let mut out = Writer::new(&run);
    out.push(0, "open").unwrap();
    out.pushpop(10, 10, "zero").unwrap();
    out.pushpop(20, 10, "backwards").unwrap_err();
    out.start(7, 15, "started").unwrap();
    out.end(8, 16).unwrap_err();
    out.mark(16, "tick").unwrap();
    let mut other = Writer {
        stream: run.session.stream("other", out.domain, 0),
        ..out
    };
    other.pop(5).unwrap_err();
    let lines = Lines::of(run);
    assert_eq!(
        lines.of_phases("XBEi"),
        [
            r#"{"ph":"B","pid":1,"tid":2,"ts":0.000,"name":"open","args":{}}"#,
            r#"{"ph":"X","pid":1,"tid":2,"ts":0.010,"dur":0.000,"name":"zero","args":{}}"#,
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":0.016,"name":"tick","args":{}}"#,
            r#"{"ph":"B","tid":4,"pid":1,"ts":0.015,"name":"started","args":{"range_id":7}}"#,
        ]
    );
    assert_eq!(
        lines.json["metadata"],
        json!({
            "nvtxw.refused_calls": 3,
            "nvtxw.pop_without_push": 1,
            "nvtxw.end_without_start": 1,
            "nvtxw.refused": 2,
            "nvtxw.left_open": 2,
        })
    );
}

#[test]
fn times_of_any_size_are_exact() {
    let run = chrome("");
    let mut out = Writer::new(&run);
    out.mark(i64::MIN, "least").unwrap();
    out.mark(-1, "before").unwrap();
    out.mark(1_700_000_000_123_456_789, "now").unwrap();
    out.startend(-1, i64::MAX, "long").unwrap();
    let lines = Lines::of(run);
    assert_eq!(
        lines.of_phases("Xi"),
        [
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":-9223372036854775.808,"name":"least","args":{}}"#,
            r#"{"ph":"X","tid":2,"pid":1,"ts":-0.001,"dur":9223372036854775.808,"name":"long","args":{}}"#,
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":-0.001,"name":"before","args":{}}"#,
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":1700000000123456.789,"name":"now","args":{}}"#,
        ]
    );

    let run = chrome("base=1700000000000000000");
    let mut out = Writer::new(&run);
    out.startend(i64::MIN, i64::MAX, "a").unwrap();
    out.mark(1_700_000_000_123_456_789, "b").unwrap();
    assert_eq!(
        Lines::of(run).of_phases("Xi"),
        [
            r#"{"ph":"X","tid":2,"pid":1,"ts":-10923372036854775.808,"dur":18446744073709551.615,"name":"a","args":{}}"#,
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":123456.789,"name":"b","args":{}}"#,
        ]
    );
}

#[test]
fn odd_texts_are_escaped() {
    let run = chrome("");
    let domain = run.session.domain("");
    let scope = domain.scope(NVTX_SCOPE_ROOT, "a\"\\\n\u{7f}/b\u{1}한강");
    let mut stream = run.session.stream("main", domain, scope);
    let message = domain.message_schema();
    domain.category(3, "c\"\\");
    let text = Entry {
        count: 8,
        ..entry(EntryType::CStringUtf8, c"t\"\\\n\x01\xF0")
    };
    let entries = [mark_time(), text, entry(EntryType::Category, c"category")];
    let mark = domain.schema("tick", EventKind::Mark.to_raw(), 24, &entries);
    let payload = [&words(&[1])[..], b"\"\\\x01\xFF\n\0\0\0", &words(&[3])].concat();
    stream
        .event(&[(mark, &payload), (message, b"\"\\\n\x01\xFF\xFE")])
        .unwrap();
    let lines = Lines::of(run);
    let name =
        r#""name":"\"\\\n\u0001��","cat":"c\"\\","args":{"t\"\\\n\u0001�":"\"\\\u0001�\n"}}"#;
    assert_eq!(
        lines.of_phases("i"),
        [r#"{"ph":"i","s":"t","pid":2,"tid":2,"ts":0.001,"#.to_owned() + name]
    );
    assert_eq!(
        lines.threads(),
        [("a\"\\\n\u{7f}".to_owned(), "b\u{1}한강".to_owned())]
    );
}

#[test]
fn the_file_is_valid_while_it_grows() {
    let run = chrome("window=2");
    let mut out = Writer::new(&run);
    let mut seen = 0;
    for time in 0..50 {
        out.mark(time, "tick").unwrap();
        let text = std::fs::read_to_string(&run.path).unwrap();
        let found = Lines::parse(&text).of_phases("i").len();
        assert!((seen..=time as usize + 1).contains(&found));
        seen = found;
    }
    // All but the window.
    assert!(seen >= 48);
    let end = Lines::of(run);
    assert_eq!(end.of_phases("i").len(), 50);
}

#[test]
fn an_end_that_had_to_move_tells_its_own_time() {
    let run = chrome("window=2|merge=false");
    let mut out = Writer::new(&run);
    out.push(0, "outer").unwrap();
    for start in [10, 20, 30, 40] {
        out.pushpop(start, 90, "inner").unwrap();
    }
    out.pop(50).unwrap();
    let lines = Lines::of(run);
    assert_eq!(
        lines.of_phases("E"),
        [r#"{"ph":"E","tid":2,"pid":1,"ts":0.090,"args":{"nvtxw.end":0.050}}"#]
    );
}

#[test]
fn counters_are_values_of_their_process() {
    let run = chrome("");
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let gpu = domain.scope(NVTX_SCOPE_ROOT, "GPU[0]");
    let engine = domain.scope(gpu, "Engine");
    let scalar = |name, ty: EntryType, scope, unit| domain.counter(name, ty.to_raw(), scope, unit);
    let unsigned = scalar("memory", EntryType::UInt64, gpu, Some(c"bytes"));
    let float = scalar("power", EntryType::Float64, engine, Some(c"W"));
    let twin = scalar("power", EntryType::Int32, engine, None);
    let local = scalar("local", EntryType::Int64, 0, None);
    let entries = [
        time(c"t", 0),
        entry(EntryType::Int64, c"read"),
        entry(EntryType::Int64, c"written"),
    ];
    let group = nvtxw_abi::SchemaRole::CounterGroup.flags();
    let group = domain.schema("group", group, 24, &entries);
    let group = domain.counter("traffic", group, gpu, None);
    stream.sample(1, unsigned, &u64::MAX.to_ne_bytes()).unwrap();
    stream.sample(1, float, &0.5f64.to_ne_bytes()).unwrap();
    stream.sample(2, float, &f64::NAN.to_ne_bytes()).unwrap();
    stream.sample(1, twin, &5i32.to_ne_bytes()).unwrap();
    stream.sample(1, local, &i64::MIN.to_ne_bytes()).unwrap();
    stream
        .no_value(2, local, NVTX_COUNTER_SAMPLE_UNAVAILABLE)
        .unwrap();
    stream.samples(group, &words(&[3, 7, 8])).unwrap();
    let lines = Lines::of(run);
    let mut counters = lines.of_phases("C");
    counters.sort();
    assert_eq!(
        counters,
        [
            r#"{"ph":"C","source":0,"pid":4,"ts":0.001,"name":"memory","args":{"bytes":18446744073709551615}}"#,
            r#"{"ph":"C","source":1,"pid":4,"ts":0.001,"name":"Engine/power","args":{"W":0.5}}"#,
            r#"{"ph":"C","source":2,"pid":4,"ts":0.001,"name":"Engine/power","id":"5","args":{"value":5}}"#,
            r#"{"ph":"C","source":3,"pid":1,"ts":0.001,"name":"main/local","args":{"value":-9223372036854775808}}"#,
            r#"{"ph":"C","source":4,"pid":4,"ts":0.003,"name":"traffic/read","args":{"value":7}}"#,
            r#"{"ph":"C","source":5,"pid":4,"ts":0.003,"name":"traffic/written","args":{"value":8}}"#,
        ]
    );
    // Viewers draw 0 for what is no number.
    assert_eq!(
        lines.of_phases("i"),
        [
            r#"{"ph":"i","s":"t","pid":4,"tid":3,"ts":0.002,"name":"power: NaN","args":{}}"#,
            r#"{"ph":"i","s":"t","pid":1,"tid":2,"ts":0.002,"name":"local: unavailable","args":{}}"#,
        ]
    );
}

#[test]
fn scopes_are_processes_and_threads_in_the_order_of_their_paths() {
    let run = chrome("");
    let sim = run.session.domain("sim");
    let mark = sim.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
    let mut streams = Vec::new();
    let paths = [
        "B/x",
        "A",
        "B/y",
        "",
        "A/deep/er",
        "B/x/z",
        "Process[7]/Thread[3]",
        "Process[7]",
    ];
    for (index, path) in paths.iter().enumerate() {
        let scope = match *path {
            "" => 0,
            path => sim.scope(NVTX_SCOPE_ROOT, path),
        };
        streams.push(run.session.stream(&format!("s{index}"), sim, scope));
    }
    // The order in which they are used does not matter.
    for stream in streams.iter_mut().rev() {
        stream.event(&[(mark, &words(&[1]))]).unwrap();
    }
    let lines = Lines::of(run);
    let threads = lines.threads();
    let threads: Vec<_> = (threads.iter())
        .map(|(process, thread)| (&**process, &**thread))
        .collect();
    assert_eq!(
        threads,
        [
            ("B", "x"),
            ("B", "x/z"),
            ("B", "y"),
            ("A", "A"),
            ("A", "deep/er"),
            ("run", "s3"),
            // What is right in the process comes before its threads.
            ("Process[7]", "Process[7]"),
            ("Process[7]", "Thread[3]"),
        ]
    );
    let described = &lines.of_phases("M").join("\n");
    assert!(described.contains(r#""name":"s3","description":"Domain: sim""#));
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_rewritten_gets_its_end_once() {
    use std::os::unix::fs::FileTypeExt;

    // A pipe: nobody can go back in it.
    let dir = crate::replay::TempDir::new();
    let path = dir.path().join("pipe");
    assert!(
        (std::process::Command::new("mkfifo").arg(&path))
            .status()
            .unwrap()
            .success()
    );
    assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
    let reading = {
        let path = path.clone();
        std::thread::spawn(move || std::fs::read_to_string(path).unwrap())
    };
    let config = format!(
        "path={}|overwrite=true|format=chrome|window=2",
        path.display()
    );
    let session = crate::table::Session::begin("run", &config).unwrap();
    let domain = session.domain("");
    let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
    let mut stream = session.stream("main", domain, 0);
    for time in 0..10 {
        stream.event(&[(mark, &words(&[time]))]).unwrap();
    }
    session.end().unwrap();
    let lines = Lines::parse(&reading.join().unwrap());
    assert_eq!(lines.of_phases("i").len(), 10);
}

/// Viewers put whole ranges before all else of their time.
#[test]
fn what_starts_together_with_an_open_range_stays_in_it() {
    for config in ["window=2", "window=2|merge=false"] {
        let run = chrome(config);
        let mut out = Writer::new(&run);
        out.push(10, "run").unwrap();
        out.pushpop(10, 95, "whole").unwrap();
        out.pushpop(10, 90, "step").unwrap();
        out.pushpop(10, 50, "load").unwrap();
        out.pushpop(10, 10, "zero").unwrap();
        for at in 0..9 {
            out.pushpop(50 + at, 50 + at, "later").unwrap();
        }
        out.pop(100).unwrap();
        // One that stays open.
        out.push(200, "left").unwrap();
        out.pushpop(200, 210, "first").unwrap();
        for at in 0..9 {
            out.pushpop(220 + at, 221 + at, "next").unwrap();
        }
        let trace = run.read();
        assert_eq!(trace.attributes.get("nvtxw.unmerged"), None);
        let at = |name: &str| {
            let mut named = trace.ranges.iter().filter(|range| range.name == name);
            let range = named.next().unwrap();
            (range.start, range.end, range.depth)
        };
        assert_eq!(at("run"), (10, Some(100), 0));
        assert_eq!(at("whole"), (10, Some(95), 1));
        assert_eq!(at("step"), (10, Some(90), 2));
        assert_eq!(at("load"), (10, Some(50), 3));
        assert_eq!(at("zero"), (10, Some(10), 4));
        assert_eq!(at("left"), (200, None, 0));
        assert_eq!(at("first"), (200, Some(210), 1));
        assert!(
            trace
                .ranges
                .iter()
                .filter(|range| range.name == "next")
                .all(|range| range.depth == 1)
        );
    }
}

/// A range without length whose halves came apart can only be told as a whole.
#[test]
fn halves_at_one_time_become_a_whole_range() {
    let run = chrome("window=2");
    let mut out = Writer::new(&run);
    out.push(10, "run").unwrap();
    out.push(20, "zero").unwrap();
    for _ in 0..9 {
        out.mark(20, "tick").unwrap();
    }
    out.pop(20).unwrap();
    out.pop(30).unwrap();
    let trace = run.read();
    let ranges: Vec<_> = (trace.ranges.iter())
        .map(|range| (&*range.name, range.start, range.end, range.depth))
        .collect();
    assert_eq!(
        ranges,
        [("run", 10, Some(30), 0), ("zero", 20, Some(20), 1)]
    );
}
