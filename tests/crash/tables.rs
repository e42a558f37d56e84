//! Datasets of the format `parquet`, told as a trace.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::dataset;
use crate::reader::{Arg, Number, Slice, Trace};

/// What is in complete parts, and whether there are others.
pub fn read(path: &Path) -> (Trace, bool) {
    let mut trace = Trace::default();
    let typed = of_each_stream(&path.join("typed/Step"));
    let numbers: HashMap<_, _> = (typed.iter())
        .map(|(stream, row)| {
            (
                (&**stream, number(&row["event_id"])),
                number(&row["number"]),
            )
        })
        .collect();
    let mut met = 0;
    for (stream, row) in of_each_stream(&path.join("events")) {
        let step = numbers.get(&(&*stream, number(&row["event_id"])));
        let is_step = row["name"] == "step";
        if is_step && step.is_none() {
            // The part of the other table was not complete.
            continue;
        }
        met += usize::from(is_step);
        let slice = Slice {
            track: vec![stream.clone()],
            uuid: 0,
            name: row["name"].as_str().unwrap().to_owned(),
            start: number(&row["start_ns"]),
            end: row["end_ns"].as_u64(),
            depth: 0,
            categories: Vec::new(),
            args: step
                .map(|step| ("number".to_owned(), Arg::Uint(*step)))
                .into_iter()
                .collect(),
            flows: Vec::new(),
            correlation: None,
        };
        match row["kind"].as_str().unwrap() {
            "mark" => trace.instants.push(slice),
            _ => trace.ranges.push(slice),
        }
    }
    assert!(met <= numbers.len());
    for (stream, row) in of_each_stream(&path.join("counters")) {
        let track = vec![stream, row["name"].as_str().unwrap().to_owned()];
        let value = Number::Int(row["value_i64"].as_i64().unwrap());
        trace
            .values
            .push((track, number(&row["time_ns"]), value, 0));
    }
    (trace, has_hidden(path))
}

/// How many rows complete parts have: of all events and values, and of fields.
pub fn count(path: &Path) -> [u64; 2] {
    let rows = |table| of_each_stream(&path.join(table)).len() as u64;
    [rows("events") + rows("counters"), rows("typed/Step")]
}

/// The rows of a table, each with its stream.
fn of_each_stream(table: &Path) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let session = table.join("nvtxw_session=crash");
    for entry in std::fs::read_dir(session).into_iter().flatten() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let stream = name.strip_prefix("nvtxw_stream=").unwrap().to_owned();
        let rows = dataset::read(&folder).rows.into_iter();
        all.extend(rows.map(|row| (stream.clone(), row)));
    }
    all
}

/// Whether parts were left that nobody reads.
pub fn has_hidden(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.any(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.is_dir() && has_hidden(&path) || name.starts_with(".part-")
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
