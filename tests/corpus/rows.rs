//! What a reader finds in a trace, and whether it is what a case says.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::case::{Case, Line, check_keys};
use crate::reader::{Arg, Number, Slice, Trace};

/// Counts of what is irregular: none of them is there unless the case says so.
const COUNTS: &[&str] = &[
    "nvtxw.late",
    "nvtxw.overlapping_pushpop",
    "nvtxw.pop_without_push",
    "nvtxw.end_without_start",
    "nvtxw.contradicting_relations",
    "nvtxw.before_sync",
    "nvtxw.refused",
    "nvtxw.outside_base",
    "nvtxw.left_open",
    "nvtxw.refused_calls",
    "nvtxw.left_out",
];

/// A slice, an instant or a counter's value. Of a row that is expected, `lane`, `place` and `flows` are names that the case
/// made up: equal ones stand for the same number.
struct Row<L, F> {
    /// Kind, track, time, duration, depth, name, categories, arguments and value.
    shown: Value,
    track: String,
    lane: L,
    place: L,
    flows: Vec<F>,
}

/// What of the trace is not as the case says; empty if all is.
pub fn differences(case: &Case, trace: &Trace) -> String {
    let mut found = found(trace);
    let mut expected = Vec::new();
    let mut out = String::new();
    let mut attributes: HashMap<&str, Value> =
        COUNTS.iter().map(|count| (*count, Value::Null)).collect();
    for line in &case.rows {
        match &*line.word {
            "attribute" => drop(attributes.insert(line.text(0), line.any(1).clone())),
            "track" => track(line, trace, &mut out),
            "order" => order(line, trace, &mut out),
            _ => expected.push(row(line)),
        }
    }
    for (key, value) in attributes {
        let found = trace.attributes.get(key).map_or(Value::Null, arg);
        if found != value {
            let _ = writeln!(out, "attribute {key}: expected {value}, found {found}");
        }
    }
    let key = |shown: &Value| shown.to_string();
    found.sort_by_cached_key(|row| key(&row.shown));
    expected.sort_by_cached_key(|row| key(&row.shown));
    compare(&expected, &found, &mut out);
    out
}

/// Compares sorted rows, and then what made-up names stand for.
fn compare(expected: &[Row<String, String>], found: &[Row<(u64, u64), u64>], out: &mut String) {
    let mut rest = found.iter().map(|row| &row.shown).collect::<Vec<_>>();
    for row in expected {
        match rest.iter().position(|found| **found == row.shown) {
            Some(index) => drop(rest.remove(index)),
            None => drop(writeln!(out, "missing: {}", row.shown)),
        }
    }
    for row in rest {
        let _ = writeln!(out, "not expected: {row}");
    }
    if !out.is_empty() {
        return;
    }
    let (mut lanes, mut places, mut flows) = (Pairs::default(), Pairs::default(), Pairs::default());
    for (want, row) in expected.iter().zip(found) {
        let at = |name: &str| format!("{} {name}", want.track);
        let fits = lanes.fits(at(&format!("{}/{}", want.place, want.lane)), row.lane)
            && places.fits(at(&want.place), row.place)
            && want.flows.len() == row.flows.len()
            && want
                .flows
                .iter()
                .zip(&row.flows)
                .all(|(name, flow)| flows.fits(name.clone(), (0, *flow)));
        if !fits {
            let _ = writeln!(
                out,
                "{}: lane `{}`, place `{}`, flows {:?} are not those of the rows before: found {:?} {:?} {:?}",
                row.shown, want.lane, want.place, want.flows, row.lane, row.place, row.flows
            );
        }
    }
}

/// Names and what they stand for: never one name for two things, never two names for one.
#[derive(Default)]
struct Pairs {
    by_name: HashMap<String, (u64, u64)>,
    by_number: HashMap<(u64, u64), String>,
}

impl Pairs {
    fn fits(&mut self, name: String, number: (u64, u64)) -> bool {
        *self.by_name.entry(name.clone()).or_insert(number) == number
            && *self.by_number.entry(number).or_insert_with(|| name.clone()) == name
    }
}

/// A row of a case.
fn row(line: &Line) -> Row<String, String> {
    let no_options = Map::new();
    let options = line.options().unwrap_or(&no_options);
    check_keys(
        options,
        &[&["args", "cats", "flows", "lane", "place"]],
        &line.at,
    );
    let get = |key: &str| options.get(key).cloned();
    let list = || json!([]);
    let (cats, args) = (
        get("cats").unwrap_or_else(list),
        get("args").unwrap_or_else(|| json!({})),
    );
    let name = |key: &str| {
        get(key)
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default()
    };
    let (track, ts) = (line.any(0), line.any(1));
    let shown = match &*line.word {
        "slice" => json!([
            "slice",
            track,
            ts,
            line.any(2),
            line.any(3),
            line.any(4),
            cats,
            args
        ]),
        "instant" => json!(["instant", track, ts, line.any(2), cats, args]),
        "counter" => json!(["counter", track, ts, line.any(2)]),
        other => panic!("{}: no row is called `{other}`", line.at),
    };
    let flows = get("flows").unwrap_or_else(list);
    let flows = flows
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| flow.as_str().unwrap().to_owned());
    // Each counter is shown by itself.
    let place = if line.word == "counter" {
        "lane"
    } else {
        "place"
    };
    Row {
        shown,
        track: track.to_string(),
        lane: name("lane"),
        place: name(place),
        flows: flows.collect(),
    }
}

fn found(trace: &Trace) -> Vec<Row<(u64, u64), u64>> {
    let slices = trace.ranges.iter().map(|slice| {
        let duration = slice.end.map_or(json!(-1), |end| json!(end - slice.start));
        let (cats, args) = (&slice.categories, args(slice));
        let shown = json!([
            "slice",
            slice.track,
            slice.start,
            duration,
            slice.depth,
            slice.name,
            cats,
            args
        ]);
        of_slice(trace, slice, shown)
    });
    let instants = trace.instants.iter().map(|slice| {
        let (cats, args) = (&slice.categories, args(slice));
        of_slice(
            trace,
            slice,
            json!(["instant", slice.track, slice.start, slice.name, cats, args]),
        )
    });
    let counters = trace.values.iter().map(|(track, time, value, uuid)| {
        let value = match *value {
            Number::Int(value) => json!(value),
            Number::Double(value) => double(value),
        };
        let shown = json!(["counter", track, time, value]);
        Row {
            shown,
            track: json!(track).to_string(),
            lane: (0, *uuid),
            place: (0, *uuid),
            flows: Vec::new(),
        }
    });
    slices.chain(instants).chain(counters).collect()
}

fn of_slice(trace: &Trace, slice: &Slice, shown: Value) -> Row<(u64, u64), u64> {
    let track = &trace.tracks[&slice.uuid];
    Row {
        shown,
        track: json!(slice.track).to_string(),
        lane: (0, slice.uuid),
        // Siblings with this key are shown as one track.
        place: (track.parent, track.merge_key),
        flows: slice.flows.clone(),
    }
}

fn args(slice: &Slice) -> Map<String, Value> {
    let mut args: Map<_, _> = slice
        .args
        .iter()
        .map(|(name, value)| (name.clone(), arg(value)))
        .collect();
    if let Some(color) = &slice.correlation {
        args.insert("#correlation".to_owned(), json!(color));
    }
    args
}

fn arg(arg: &Arg) -> Value {
    match arg {
        Arg::None => Value::Null,
        Arg::Bool(value) => json!(value),
        Arg::Uint(value) | Arg::Pointer(value) => json!(value),
        Arg::Int(value) => json!(value),
        Arg::Double(value) => double(*value),
        Arg::Text(text) => json!(text),
        Arg::List(elements) => elements.iter().map(self::arg).collect(),
        Arg::Dict(entries) => entries
            .iter()
            .map(|(name, value)| (name.clone(), self::arg(value)))
            .collect(),
    }
}

/// JSON has no words for these.
fn double(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}

/// What a track's descriptor says.
fn track(line: &Line, trace: &Trace, out: &mut String) {
    let options = line.options().expect("what the track is");
    check_keys(
        options,
        &[&[
            "unit",
            "multiplier",
            "incremental",
            "description",
            "name",
            "owner",
        ]],
        &line.at,
    );
    let all = trace.tracks.iter();
    let all = all.filter(|(uuid, _)| json!(trace.path(**uuid)) == *line.any(0));
    // A process, its main thread and their rows have one path.
    let (owners, rows): (Vec<_>, Vec<_>) = all
        .map(|(_, track)| track)
        .partition(|track| track.owner.is_some());
    if let Some(owner) = options.get("owner") {
        if !owners.iter().any(|track| json!(track.owner) == *owner) {
            let found: Vec<_> = owners.iter().map(|track| &track.owner).collect();
            let _ = writeln!(out, "{}: owners are {found:?}", line.at);
        }
        return;
    }
    let mut tracks = rows.into_iter().peekable();
    if tracks.peek().is_none() {
        let _ = writeln!(out, "{}: no track {}", line.at, line.any(0));
    }
    for track in tracks {
        let unit = match (track.unit, &*track.unit_name) {
            (0, name) => name,
            (1, _) => "ns",
            (2, _) => "count",
            (3, _) => "bytes",
            _ => "?",
        };
        let found = json!({
            "unit": unit,
            "multiplier": track.multiplier,
            "incremental": track.is_incremental,
            "description": track.description,
            "name": track.name,
        });
        for (key, value) in options {
            if found[key] != *value {
                let _ = writeln!(out, "{}: {key} is {}", line.at, found[key]);
            }
        }
    }
}

/// The order in which siblings are shown.
fn order(line: &Line, trace: &Trace, out: &mut String) {
    let ranks = |uuid: &u64| {
        let (mut ranks, mut at) = (Vec::new(), *uuid);
        while let Some(track) = trace.tracks.get(&at) {
            ranks.insert(0, track.rank);
            at = track.parent;
        }
        ranks
    };
    let mut uuids: Vec<_> = trace.tracks.keys().collect();
    uuids.sort_by_key(|uuid| ranks(uuid));
    let mut names: Vec<String> = Vec::new();
    for uuid in uuids {
        let mut path = trace.path(*uuid);
        let Some(name) = path.pop() else { continue };
        if json!(path) == *line.any(0) && !names.contains(&name) {
            names.push(name);
        }
    }
    if json!(names) != *line.any(1) {
        let _ = writeln!(out, "{}: they are shown as {names:?}", line.at);
    }
}
