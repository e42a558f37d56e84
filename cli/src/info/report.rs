//! A summary for people.

use std::io;
use std::path::Path;

use super::summary::{Counts, Fact, Number, RangeKind, Schema, Span, Summary};
use crate::page::{Page, Table};

/// `top` names are listed.
pub(super) fn write(summary: &Summary, file: &Path, top: usize, page: &mut Page) -> io::Result<()> {
    page.line(format_args!("{}: {}", file.display(), summary.format))?;
    if let Some(damage) = &summary.damage {
        page.line(format_args!("NOT COMPLETE: {}", damage))?;
    }
    match summary.span.0 {
        None => page.line("no events")?,
        Some((first, last)) => {
            let duration = time(summary.span.duration() as f64);
            page.line(format_args!("from {first} ns to {last} ns: {duration}"))?;
        }
    }
    page.line(counts(&summary.counts))?;
    for warning in &summary.warnings {
        page.line(format_args!("warning: {}", warning))?;
    }
    streams(summary, page)?;
    names(summary, top, page)?;
    counters(summary, page)?;
    schemas(summary, page)?;
    facts(summary, page)
}

fn counts(counts: &Counts) -> String {
    let [any, pushpop, startend] = [RangeKind::Any, RangeKind::PushPop, RangeKind::StartEnd]
        .map(|kind| counts.ranges[kind as usize]);
    let mut told = vec![many(counts.all_ranges(), "range")];
    if any == 0 && counts.all_ranges() > 0 {
        told[0] += &format!(" ({pushpop} pushpop, {startend} startend)");
    }
    told.push(many(counts.marks, "mark"));
    told.push(many(counts.samples, "sample"));
    for (count, what) in [
        (counts.flows, "flow end"),
        (counts.open, "open range"),
        (counts.unmatched, "end without start"),
    ] {
        if count > 0 {
            told.push(many(count, what));
        }
    }
    told.join(", ")
}

fn many(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "end without start") => format!("{count} ends without start"),
        _ => format!("{count} {what}s"),
    }
}

fn streams(summary: &Summary, page: &mut Page) -> io::Result<()> {
    let mut table = Table::new(&[
        "ranges",
        "marks",
        "samples",
        "start",
        "duration",
        "stream, scope",
    ]);
    let mut row = |counts: &Counts, span: Span, text: String| {
        table.row([
            counts.all_ranges().to_string(),
            counts.marks.to_string(),
            counts.samples.to_string(),
            span.0
                .map_or_else(String::new, |(first, _)| first.to_string()),
            time(span.duration() as f64),
            text,
        ]);
    };
    for stream in &summary.streams {
        let name = stream.name.as_deref().unwrap_or("?").to_owned();
        match &stream.scopes[..] {
            [] => row(&stream.counts, stream.span, name),
            [scope] => {
                let path = match scope.path == name {
                    true => name,
                    false => format!("{name}, {}", scope.path),
                };
                row(&stream.counts, stream.span, path);
            }
            scopes => {
                row(&stream.counts, stream.span, name);
                for scope in scopes {
                    row(&scope.counts, scope.span, format!("  {}", scope.path));
                }
            }
        }
    }
    section("Streams", &table, page)
}

fn names(summary: &Summary, top: usize, page: &mut Page) -> io::Result<()> {
    let mut table = Table::new(&["total", "ranges", "marks", "mean", "min", "max", "name"]);
    let names = summary.names.by_time();
    for (text, name) in names.iter().take(top) {
        let is_timed = name.closed() > 0;
        let timed = |value: f64| if is_timed { time(value) } else { String::new() };
        table.row([
            timed(name.total as f64),
            name.ranges.to_string(),
            name.marks.to_string(),
            timed(name.mean()),
            timed(name.shortest as f64),
            timed(name.longest as f64),
            text.to_string(),
        ]);
    }
    let heading = match names.len() {
        all if all > top => format!("Names by total time: the first {top} of {all}, see --top"),
        _ => "Names by total time".to_owned(),
    };
    section(&heading, &table, page)
}

fn counters(summary: &Summary, page: &mut Page) -> io::Result<()> {
    let mut table = Table::new(&["samples", "gaps", "min", "mean", "max", "unit", "counter"]);
    for counter in &summary.counters {
        let values = &counter.values;
        let number = |value: Option<Number>| value.map_or_else(|| "-".to_owned(), number);
        let mut text = counter.path.clone();
        if counter.is_delta {
            text += " (sum of its differences)";
        }
        table.row([
            values.samples.to_string(),
            values.gaps.to_string(),
            number(values.least()),
            number(values.mean().map(Number::Float)),
            number(values.most()),
            counter.unit.clone().unwrap_or_default(),
            text,
        ]);
    }
    section("Counters", &table, page)
}

fn schemas(summary: &Summary, page: &mut Page) -> io::Result<()> {
    let mut table = Table::new(&["events", "schema"]);
    for schema in &summary.schemas {
        let events = schema.events.map(|events| events.to_string());
        table.row([events.unwrap_or_default(), title(schema)]);
        for field in &schema.fields {
            let mut text = format!("  {}: {}", field.name, field.types.join(" or "));
            if let Some(unit) = &field.unit {
                text += &format!(" ({})", unit);
            }
            table.row([String::new(), text]);
        }
    }
    if summary.other_fields > 0 {
        let count = summary.other_fields.to_string();
        table.row([count, "with other sets of fields".to_owned()]);
    }
    section("Schemas and their fields", &table, page)
}

/// What a schema is called; without a name, by events that have its fields.
fn title(schema: &Schema) -> String {
    match (&schema.name, &schema.kind) {
        (Some(name), Some(kind)) => format!("{name} ({kind})"),
        (Some(name), None) => name.clone(),
        (None, _) => {
            let quoted = |name: &String| format!("“{name}”");
            let examples: Vec<_> = schema.examples.iter().map(quoted).collect();
            format!("of events like {}", examples.join(", "))
        }
    }
}

fn facts(summary: &Summary, page: &mut Page) -> io::Result<()> {
    if summary.facts.0.is_empty() {
        return Ok(());
    }
    page.heading("What the file says of itself")?;
    for (key, fact) in &summary.facts.0 {
        match fact {
            Fact::Number(number) => page.line(format_args!("{key} = {number}"))?,
            Fact::Text(text) => page.line(format_args!("{key} = {}", text))?,
        }
    }
    Ok(())
}

fn section(heading: &str, table: &Table, page: &mut Page) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    page.heading(heading)?;
    page.table(table)
}

/// Nanoseconds, in the unit that suits.
fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    match units.iter().find(|(unit, _)| nanoseconds >= *unit) {
        Some((unit, name)) => format!("{:.3} {name}", nanoseconds / unit),
        None => format!("{nanoseconds:.0} ns"),
    }
}

fn number(value: Number) -> String {
    match value {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => {
            // Four digits behind the point are enough for people.
            let short = format!("{value:.4}");
            match value.abs() {
                size if size != 0.0 && !(1e-3..1e15).contains(&size) => format!("{value:e}"),
                _ => short,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_unit_that_suits() {
        for (nanoseconds, text) in [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (1000.0, "1.000 µs"),
            (1_234_567.0, "1.235 ms"),
            (61e9, "61.000 s"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn numbers_of_any_size_are_short() {
        for (value, text) in [
            (Number::Int(-3), "-3"),
            (Number::Float(0.5), "0.5000"),
            (Number::Float(1e-7), "1e-7"),
            (Number::Float(1e300), "1e300"),
            (Number::Float(f64::INFINITY), "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
