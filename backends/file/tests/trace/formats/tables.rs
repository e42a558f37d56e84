//! Reads what a dataset of the format `parquet` has.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::STREAMS;
use super::rows::{Event, Rows, dict, list, shown};
use crate::dataset::read;

/// A cell, or a field in JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => match &**text {
            "inf" => "Infinity".to_owned(),
            text => text.to_owned(),
        },
        Value::Number(number) if number.is_f64() => shown(number.as_f64().unwrap()),
        Value::Array(items) => list(items.iter().map(cell)),
        Value::Object(fields) => dict(fields.iter().map(|(name, at)| (name.clone(), cell(at)))),
        other => other.to_string(),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The columns of tables of schemas that all of them have.
const COMMON: [&str; 6] = [
    "event_id", "name", "category", "start_ns", "end_ns", "scope",
];

/// All fields of an event: those in its schema's table, and those in none.
fn fields(event: &Value, typed: &mut BTreeMap<i64, Value>) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    if let Some(typed) = typed.remove(&event["event_id"].as_i64().unwrap()) {
        for name in COMMON {
            assert_eq!(typed[name], event[name], "{name}: {typed} {event}");
        }
        let own = typed.as_object().unwrap().iter();
        let own = own.filter(|(name, _)| !COMMON.contains(&&***name));
        fields.extend(own.map(|(name, value)| (name.clone(), cell(value))));
    }
    if let Some(args) = event["args"].as_str() {
        let args: BTreeMap<String, Value> = serde_json::from_str(args).unwrap();
        for (name, value) in args {
            assert_eq!(fields.insert(name, cell(&value)), None);
        }
    }
    fields
}

impl Rows {
    /// What is in the tables of the session `run`.
    pub(super) fn in_tables(path: &Path) -> Self {
        let told = read(path.join("metadata")).rows;
        let is_odd = |key: &Value| key == "nvtxw.before_sync" || key == "nvtxw.unmerged";
        assert!(!told.iter().any(|row| is_odd(&row["key"])));
        let mut rows = Self::default();
        for stream in STREAMS {
            let of_stream = format!("nvtxw_session=run/nvtxw_stream={stream}");
            let mut typed = BTreeMap::new();
            for table in std::fs::read_dir(path.join("typed")).into_iter().flatten() {
                for row in read(table.unwrap().path().join(&of_stream)).rows {
                    let id = row["event_id"].as_i64().unwrap();
                    assert_eq!(typed.insert(id, row), None, "{id} twice");
                }
            }
            for row in read(path.join("events").join(&of_stream)).rows {
                let is_mark = row["kind"] == "mark";
                let scope = text(&row["scope"]).filter(|scope| scope != "/");
                let number = rows.add(Event {
                    track: scope.map_or(stream.to_owned(), |scope| scope[1..].to_owned()),
                    start: row["start_ns"].as_i64().unwrap(),
                    end: row["end_ns"].as_i64(),
                    is_mark,
                    name: text(&row["name"]).unwrap(),
                    category: text(&row["category"]),
                    color: row["color"].as_u64().map(|color| color as u32),
                    fields: fields(&row, &mut typed),
                });
                for flow in row["correlation"].as_array().into_iter().flatten() {
                    let joined = rows.joined.entry(flow.as_u64().unwrap()).or_default();
                    joined.extend((!is_mark).then_some(number));
                }
            }
            assert!(typed.is_empty(), "{typed:?} are no events");
            for row in read(path.join("counters").join(&of_stream)).rows {
                let name = text(&row["name"]).unwrap();
                let path = match row["group"].as_str() {
                    None => name,
                    Some(group) => format!("{group}/{name}"),
                };
                let value = match &row["value_i64"] {
                    Value::Null => &row["value"],
                    value => value,
                };
                let time = row["time_ns"].as_i64().unwrap();
                let value = cell(value);
                rows.values.push((stream.to_owned(), path, time, value));
            }
        }
        rows
    }
}
