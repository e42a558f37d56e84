//! Reads a trace in Chrome's JSON as viewers do: by time, then ends, then whole ranges by their lengths, then all else; then by
//! place in the file.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::{Arg, Number, Slice, Trace, Track};

/// A range that has begun on a thread.
struct Open {
    /// Among all ranges.
    index: usize,
    /// `None` for one whose end is an event of its own.
    end: Option<u64>,
}

/// The same for a file whose end may be cut.
pub fn read_cut(text: &str) -> (Trace, bool) {
    if serde_json::from_str::<Value>(text).is_ok() {
        return (read(text), false);
    }
    // Between lines there is a comma before each but the first.
    let end = text.rfind(",\n").expect("a whole line");
    (read(&format!("{}\n]}}", &text[..end])), true)
}

/// What is in a file that is strictly valid. Times are nanoseconds from the file's zero.
pub fn read(text: &str) -> Trace {
    let file: Value = serde_json::from_str(text).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    let mut trace = Trace::default();
    for told in ["otherData", "metadata"] {
        for (key, value) in file[told].as_object().into_iter().flatten() {
            trace.attributes.insert(key.clone(), arg(value));
        }
    }
    let mut names = HashMap::new();
    for event in events {
        let name = event["name"].as_str().unwrap_or_default();
        if matches!(name, "process_name" | "thread_name") && event["ph"] == "M" {
            let key = (event["pid"].as_u64().unwrap(), event["tid"].as_u64());
            let name = event["args"]["name"].as_str().unwrap().to_owned();
            if let Some(thread) = key.1 {
                let track = Track {
                    name: name.clone(),
                    parent: key.0,
                    ..Track::default()
                };
                trace.tracks.insert(thread, track);
            }
            assert_eq!(names.insert(key, name), None, "{key:?} is named twice");
        }
    }
    // A complete file tells the order of what it names.
    let sorted = events
        .iter()
        .filter(|event| event["name"] == "thread_sort_index");
    let sorted: Vec<_> = sorted.map(|event| event["tid"].as_u64().unwrap()).collect();
    if !sorted.is_empty() {
        let named: BTreeSet<_> = trace.tracks.keys().copied().collect();
        assert_eq!(named.len(), sorted.len());
        assert_eq!(named, sorted.into_iter().collect());
    }
    let mut timed: Vec<_> = (events.iter())
        .filter(|event| event["ph"] != "M")
        .map(|event| (nanoseconds(&event["ts"]), event))
        .collect();
    timed.sort_by_key(|(time, event)| {
        let rank = match event["ph"].as_str().unwrap() {
            "E" => 0,
            "X" => u64::MAX - nanoseconds(&event["dur"]),
            _ => u64::MAX,
        };
        (*time, rank)
    });
    let (mut open, mut arrows) = (HashMap::new(), HashMap::new());
    // By what they are joined by, the range that came last; and how many times two were joined.
    let (mut joined, mut joints) = (HashMap::new(), 0);
    for (time, event) in timed {
        let name = event["name"].as_str().unwrap_or_default();
        let pid = event["pid"].as_u64().unwrap();
        let process = names[&(pid, None)].clone();
        if event["ph"] == "C" {
            let args = event["args"].as_object().unwrap();
            assert_eq!(args.len(), 1);
            let path = vec![process, name.to_owned()];
            (trace.values).push((path, time, number(args.values().next().unwrap()), pid));
            continue;
        }
        let tid = event["tid"].as_u64().unwrap();
        let stack: &mut Vec<Open> = open.entry(tid).or_default();
        let phase = event["ph"].as_str().unwrap();
        if matches!(phase, "s" | "f") {
            let here = stack.last().expect("an arrow at a range").index;
            let arrow = event["id"].as_u64().unwrap();
            if phase == "s" {
                assert_eq!(arrows.insert(arrow, here), None);
            } else {
                assert_eq!(event["bp"], "e");
                for range in [arrows[&arrow], here] {
                    trace.ranges[range].flows.push(arrow);
                }
            }
            continue;
        }
        while (stack.last()).is_some_and(|range| range.end.is_some_and(|end| end <= time)) {
            stack.pop();
        }
        let args = args(event["args"].as_object().unwrap());
        if phase == "E" {
            let range = stack.pop().expect("nothing is open");
            assert_eq!(range.end, None, "a whole range is cut at {time}");
            let range = &mut trace.ranges[range.index];
            range.end = Some(time);
            range.args.extend(args);
            range.args.sort_by(|one, other| one.0.cmp(&other.0));
            continue;
        }
        let thread = &names[&(pid, Some(tid))];
        let thread = match thread.rsplit_once(" (") {
            Some((thread, number)) if number.ends_with(')') => thread,
            _ => thread,
        };
        let mut slice = Slice {
            track: vec![process, thread.to_owned()],
            uuid: tid,
            name: name.to_owned(),
            start: time,
            end: None,
            depth: stack.len(),
            categories: event["cat"]
                .as_str()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            args,
            flows: Vec::new(),
            correlation: None,
        };
        if phase == "i" {
            trace.instants.push(slice);
            continue;
        }
        if phase == "X" {
            let end = time + nanoseconds(&event["dur"]);
            let around = stack.last().and_then(|range| range.end);
            assert!(around.is_none_or(|around| end <= around), "{name} overlaps");
            slice.end = Some(end);
        } else {
            assert_eq!(phase, "B");
        }
        let index = trace.ranges.len();
        stack.push(Open {
            index,
            end: slice.end,
        });
        trace.ranges.push(slice);
        if let Some(number) = event["bind_id"].as_str() {
            let number = u64::from_str_radix(number.strip_prefix("0x").unwrap(), 16).unwrap();
            let [follows, leads] = ["flow_in", "flow_out"].map(|end| event[end] == true);
            let before = joined.get(&number).copied();
            assert!(follows || leads);
            assert_eq!(follows, before.is_some(), "{number} begins once");
            if leads {
                joined.insert(number, index);
            }
            if let Some(before) = before {
                joints += 1;
                for range in [before, index] {
                    trace.ranges[range].flows.push(u64::MAX - joints);
                }
            }
        }
    }
    trace
}

fn args(fields: &Map<String, Value>) -> Vec<(String, Arg)> {
    let fields = fields.iter();
    fields
        .map(|(name, value)| (name.clone(), arg(value)))
        .collect()
}

fn arg(value: &Value) -> Arg {
    match value {
        Value::Null => Arg::None,
        Value::Bool(value) => Arg::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Arg::Int(value),
            None => Arg::Double(number.as_f64().unwrap()),
        },
        Value::String(text) => Arg::Text(text.clone()),
        Value::Array(items) => Arg::List(items.iter().map(arg).collect()),
        Value::Object(fields) => Arg::Dict(args(fields)),
    }
}

fn number(value: &Value) -> Number {
    match value.as_i64() {
        Some(value) => Number::Int(value),
        None => Number::Double(value.as_f64().unwrap_or(f64::NAN)),
    }
}

/// Tests' times are small: a double has them exactly.
fn nanoseconds(micros: &Value) -> u64 {
    (micros.as_f64().unwrap() * 1000.0).round() as u64
}
