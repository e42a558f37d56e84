//! A summary as JSON: docs/info.md describes the members.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::summary::{
    Counter, Counts, Fact, Field, Name, Number, RangeKind, Schema, Span, Stream, Summary,
};
use crate::page::Page;

/// What changes when members change their meaning or go.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    file: String,
    format: &'a str,
    complete: bool,
    damage: Option<&'a str>,
    warnings: &'a [String],
    #[serde(flatten)]
    span: Times,
    duration_ns: u64,
    counts: AllCounts,
    streams: Vec<OneStream<'a>>,
    schemas: Vec<OneSchema<'a>>,
    events_of_other_schemas: u64,
    counters: Vec<OneCounter<'a>>,
    distinct_names: usize,
    names: Vec<OneName<'a>>,
    facts: BTreeMap<&'a str, FactValue<'a>>,
}

#[derive(Serialize)]
struct Times {
    start_ns: Option<i64>,
    end_ns: Option<i64>,
}

impl From<Span> for Times {
    fn from(span: Span) -> Self {
        let (start_ns, end_ns) = span.0.unzip();
        Self { start_ns, end_ns }
    }
}

#[derive(Serialize)]
struct AllCounts {
    #[serde(flatten)]
    counts: SomeCounts,
    pushpop: Option<u64>,
    startend: Option<u64>,
    unmatched_ends: u64,
    flows: u64,
}

#[derive(Serialize)]
struct SomeCounts {
    ranges: u64,
    open_ranges: u64,
    marks: u64,
    samples: u64,
}

impl From<&Counts> for SomeCounts {
    fn from(counts: &Counts) -> Self {
        Self {
            ranges: counts.all_ranges(),
            open_ranges: counts.open,
            marks: counts.marks,
            samples: counts.samples,
        }
    }
}

impl From<&Counts> for AllCounts {
    fn from(counts: &Counts) -> Self {
        let is_told = counts.ranges[RangeKind::Any as usize] == 0;
        let of = |kind| is_told.then_some(counts.ranges[kind as usize]);
        Self {
            counts: counts.into(),
            pushpop: of(RangeKind::PushPop),
            startend: of(RangeKind::StartEnd),
            unmatched_ends: counts.unmatched,
            flows: counts.flows,
        }
    }
}

#[derive(Serialize)]
struct OneStream<'a> {
    name: Option<&'a str>,
    #[serde(flatten)]
    counts: SomeCounts,
    #[serde(flatten)]
    span: Times,
    scopes: Vec<OneScope<'a>>,
}

#[derive(Serialize)]
struct OneScope<'a> {
    path: &'a str,
    #[serde(flatten)]
    counts: SomeCounts,
    #[serde(flatten)]
    span: Times,
}

impl<'a> From<&'a Stream> for OneStream<'a> {
    fn from(stream: &'a Stream) -> Self {
        let scopes = stream.scopes.iter().map(|scope| OneScope {
            path: &scope.path,
            counts: (&scope.counts).into(),
            span: scope.span.into(),
        });
        Self {
            name: stream.name.as_deref(),
            counts: (&stream.counts).into(),
            span: stream.span.into(),
            scopes: scopes.collect(),
        }
    }
}

#[derive(Serialize)]
struct OneSchema<'a> {
    name: Option<&'a str>,
    kind: Option<&'a str>,
    events: Option<u64>,
    fields: Vec<OneField<'a>>,
    examples: &'a [String],
}

#[derive(Serialize)]
struct OneField<'a> {
    name: &'a str,
    types: &'a [String],
    unit: Option<&'a str>,
}

impl<'a> From<&'a Schema> for OneSchema<'a> {
    fn from(schema: &'a Schema) -> Self {
        let field = |field: &'a Field| OneField {
            name: &field.name,
            types: &field.types,
            unit: field.unit.as_deref(),
        };
        Self {
            name: schema.name.as_deref(),
            kind: schema.kind.as_deref(),
            events: schema.events,
            fields: schema.fields.iter().map(field).collect(),
            examples: &schema.examples,
        }
    }
}

#[derive(Serialize)]
struct OneCounter<'a> {
    path: &'a str,
    unit: Option<&'a str>,
    description: Option<&'a str>,
    is_delta: bool,
    samples: u64,
    gaps: u64,
    min: Option<Value>,
    mean: Option<Value>,
    max: Option<Value>,
}

impl<'a> From<&'a Counter> for OneCounter<'a> {
    fn from(counter: &'a Counter) -> Self {
        let values = &counter.values;
        Self {
            path: &counter.path,
            unit: counter.unit.as_deref(),
            description: counter.description.as_deref(),
            is_delta: counter.is_delta,
            samples: values.samples,
            gaps: values.gaps,
            min: values.least().map(Value),
            mean: values.mean().map(|mean| Value(Number::Float(mean))),
            max: values.most().map(Value),
        }
    }
}

/// A number; JSON has no infinities.
struct Value(Number);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Number::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => out.serialize_i64(value),
                (_, Ok(value)) => out.serialize_u64(value),
                _ => out.serialize_f64(value as f64),
            },
            Number::Float(value) if value.is_finite() => out.serialize_f64(value),
            Number::Float(value) if value > 0.0 => out.serialize_str("Infinity"),
            Number::Float(value) if value < 0.0 => out.serialize_str("-Infinity"),
            Number::Float(_) => out.serialize_str("NaN"),
        }
    }
}

#[derive(Serialize)]
struct OneName<'a> {
    name: &'a str,
    ranges: u64,
    open_ranges: u64,
    marks: u64,
    total_ns: u64,
    mean_ns: Option<f64>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl<'a> From<(&'a str, Name)> for OneName<'a> {
    fn from((text, name): (&'a str, Name)) -> Self {
        let closed = name.closed() > 0;
        Self {
            name: text,
            ranges: name.ranges,
            open_ranges: name.open,
            marks: name.marks,
            total_ns: name.total.try_into().unwrap_or(u64::MAX),
            mean_ns: closed.then(|| name.mean()),
            min_ns: closed.then_some(name.shortest),
            max_ns: closed.then_some(name.longest),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum FactValue<'a> {
    Number(i64),
    Text(&'a str),
}

impl<'a> From<&'a Fact> for FactValue<'a> {
    fn from(fact: &'a Fact) -> Self {
        match fact {
            Fact::Number(number) => Self::Number(*number),
            Fact::Text(text) => Self::Text(text),
        }
    }
}

/// `top` names are told.
pub(super) fn write(summary: &Summary, file: &Path, top: usize, out: &mut Page) -> io::Result<()> {
    let names = summary.names.by_time();
    let document = Document {
        version: VERSION,
        file: file.to_string_lossy().into_owned(),
        format: summary.format,
        complete: summary.damage.is_none(),
        damage: summary.damage.as_deref(),
        warnings: &summary.warnings,
        span: summary.span.into(),
        duration_ns: summary.span.duration(),
        counts: (&summary.counts).into(),
        streams: summary.streams.iter().map(Into::into).collect(),
        schemas: summary.schemas.iter().map(Into::into).collect(),
        events_of_other_schemas: summary.other_fields,
        counters: summary.counters.iter().map(Into::into).collect(),
        distinct_names: names.len(),
        names: names.into_iter().take(top).map(Into::into).collect(),
        facts: summary
            .facts
            .0
            .iter()
            .map(|(key, fact)| (&**key, fact.into()))
            .collect(),
    };
    out.json(&document)
}
