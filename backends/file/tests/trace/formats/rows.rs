//! What there is in a file, whatever its format.

use std::collections::{BTreeMap, BTreeSet};

use crate::reader::{Arg, Number, Slice, Trace};

/// A range or a mark, as any format tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The path of its scope, else the name of its stream.
    pub track: String,
    pub start: i64,
    pub end: Option<i64>,
    pub is_mark: bool,
    pub name: String,
    pub category: Option<String>,
    pub color: Option<u32>,
    pub fields: BTreeMap<String, String>,
}

/// What there is in a file.
#[derive(Default)]
pub struct Rows {
    /// By their numbers.
    pub events: BTreeMap<i64, Event>,
    /// Events that are joined, by what joins them.
    pub joined: BTreeMap<u64, BTreeSet<i64>>,
    /// Stream, path, time and value.
    pub values: Vec<(String, String, i64, String)>,
}

impl Rows {
    pub fn add(&mut self, event: Event) -> i64 {
        let number = event.fields["number"].parse().unwrap();
        assert_eq!(self.events.insert(number, event), None, "{number} twice");
        number
    }

    /// What is joined by any number of steps.
    pub fn groups(&self) -> BTreeSet<BTreeSet<i64>> {
        let mut groups: Vec<BTreeSet<i64>> = Vec::new();
        for joined in self.joined.values().filter(|joined| joined.len() > 1) {
            let (with, mut others): (Vec<_>, Vec<_>) =
                (groups.into_iter()).partition(|group| !group.is_disjoint(joined));
            others.push(with.into_iter().flatten().chain(joined.clone()).collect());
            groups = others;
        }
        groups.into_iter().collect()
    }
}

/// A number as text, whether it has a point or not.
pub fn shown(value: f64) -> String {
    match value {
        _ if value == f64::INFINITY => "Infinity".to_owned(),
        _ if value.fract() == 0.0 && value.abs() < 1e15 => (value as i64).to_string(),
        _ => value.to_string(),
    }
}

pub fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

pub fn dict(fields: impl Iterator<Item = (String, String)>) -> String {
    let fields: BTreeMap<_, _> = fields.collect();
    list(
        fields
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}")),
    )
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::None => "null".to_owned(),
        Arg::Bool(value) => value.to_string(),
        Arg::Uint(value) | Arg::Pointer(value) => value.to_string(),
        Arg::Int(value) => value.to_string(),
        Arg::Double(value) => shown(*value),
        Arg::Text(text) => text.clone(),
        Arg::List(items) => list(items.iter().map(self::arg)),
        Arg::Dict(fields) => dict(
            fields
                .iter()
                .map(|(name, arg)| (name.clone(), self::arg(arg))),
        ),
    }
}

impl Rows {
    /// What a reader finds in a file of packets or of JSON, whose times count from `base`.
    pub fn of(trace: &Trace, base: i64) -> Self {
        for told in ["nvtxw.before_sync", "nvtxw.outside_base", "nvtxw.unmerged"] {
            assert!(!trace.attributes.contains_key(told), "{told}");
        }
        // Streams without a scope are threads of the session in Chrome's format.
        let track = |path: &[String]| match path {
            [session, rest @ ..] if session == "run" => rest.join("/"),
            path => path.join("/"),
        };
        let mut rows = Self::default();
        let marks = trace.instants.iter().map(|mark| (mark, true));
        for (slice, is_mark) in trace.ranges.iter().map(|range| (range, false)).chain(marks) {
            let Slice {
                start, end, args, ..
            } = slice;
            let mut fields: BTreeMap<_, _> = args
                .iter()
                .map(|(name, value)| (name.clone(), arg(value)))
                .collect();
            assert_eq!(fields.len(), args.len());
            let color = fields.remove("color").map(|color| {
                let hex = color.strip_prefix('#');
                hex.map_or_else(|| color.parse(), |hex| u32::from_str_radix(hex, 16))
            });
            let number = rows.add(Event {
                track: track(&slice.track),
                start: *start as i64 + base,
                end: end.map(|end| end as i64 + base),
                is_mark,
                name: slice.name.clone(),
                category: slice.categories.first().cloned(),
                color: color.map(Result::unwrap),
                fields,
            });
            for flow in &slice.flows {
                let joined = rows.joined.entry(*flow).or_default();
                joined.extend((!is_mark).then_some(number));
            }
        }
        for (path, time, value, _) in &trace.values {
            let path = track(path);
            let (stream, name) = path.split_once('/').unwrap();
            let value = match value {
                Number::Int(value) => value.to_string(),
                Number::Double(value) => shown(*value),
            };
            let time = *time as i64 + base;
            (rows.values).push((stream.to_owned(), name.to_owned(), time, value));
        }
        rows
    }
}
