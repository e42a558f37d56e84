//! Reads Chrome's trace-event JSON: that of the built-in backend and any other.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use super::summary::{
    Counter, Counts, Fact, Layouts, Names, Number, RangeKind, Span, Stream, Summary, Texts, Values,
};
use super::track::STREAM;
use super::{args, declared};
use crate::convert::chrome::{self, Rest, Sink};
use crate::convert::event::{Bad, Event};
use crate::convert::text::Place;
use crate::convert::warnings::Warnings;
use crate::error::{Error, Result};

/// What is in a trace.
///
/// # Errors
/// If there is nothing to show.
pub(super) fn read(input: impl Read + Send, path: &Path) -> Result<Summary> {
    let mut reader = Reader::default();
    let damage = match chrome::read(input, path, &mut reader) {
        Ok(()) => None,
        Err(error) if reader.events == 0 => return Err(error),
        Err(Error::Input { problem, .. }) => Some(format!("{problem}; what follows is left out")),
        Err(Error::Io { error, .. }) => Some(format!(
            "reading on failed ({error}): what follows is left out"
        )),
        Err(error) => return Err(error),
    };
    Ok(reader.finish(damage))
}

/// The session's process in files of the built-in backend.
const SESSION: &str = "1";

#[derive(Default)]
struct Reader {
    summary: Summary,
    names: Names,
    layouts: Layouts,
    warnings: Warnings,
    /// How many events there were, of whatever kind.
    events: u64,
    /// What processes and threads are called by their events.
    ids: Texts,
    processes: HashMap<u32, Label>,
    threads: BTreeMap<Thread, Cell>,
    /// Ranges that are open, by what joins their halves.
    open: HashMap<Join, Vec<Open>>,
    counters: BTreeMap<(u32, String, String, String), Values>,
    /// What counters are about, by process and name.
    described: HashMap<(u32, String), String>,
}

/// A process and one of its threads, or none.
type Thread = (u32, Option<u32>);

#[derive(Default)]
struct Label {
    name: Option<String>,
    description: Option<String>,
}

#[derive(Default)]
struct Cell {
    label: Label,
    counts: Counts,
    span: Span,
}

/// What joins the halves of a range: its thread, or an ID.
#[derive(PartialEq, Eq, Hash)]
enum Join {
    Thread(Thread),
    Id(String),
}

struct Open {
    name: u32,
    start: i64,
    thread: Thread,
}

impl Sink for Reader {
    fn event(&mut self, event: &Event<'_>, place: &dyn Fn() -> Place) -> Result<()> {
        self.events += 1;
        if let Err(bad) = self.take(event) {
            self.layouts.discard();
            self.warnings.add(bad, Some(place()));
        }
        for bad in event.dropped() {
            self.warnings.add(bad, Some(place()));
        }
        Ok(())
    }

    fn rest(&mut self, rest: Rest) {
        self.warnings.append(rest.warnings);
        let members = rest.members.iter();
        let values = members.filter(|(name, _)| matches!(&**name, "otherData" | "metadata"));
        let values = values.filter_map(|(_, value)| value.as_ref());
        for facts in values {
            let facts: Map<String, Value> = serde_json::from_str(facts).unwrap_or_default();
            for (key, value) in facts {
                let fact = match (value.as_i64(), value) {
                    (Some(number), _) => Fact::Number(number),
                    (None, Value::String(text)) => Fact::Text(text),
                    (None, other) => Fact::Text(other.to_string()),
                };
                self.summary.facts.0.insert(key, fact);
            }
        }
    }
}

impl Reader {
    fn is_ours(&self) -> bool {
        self.summary.facts.0.contains_key("nvtxw.producer")
    }

    fn take(&mut self, event: &Event<'_>) -> Result<(), Bad> {
        let phase = event.phase()?;
        match &*phase {
            "X" => {
                let (start, end) = event.span()?;
                let name = self.name(event);
                let is_bound = event.bound().is_some();
                let cell = self.cell(event);
                cell.counts.range(RangeKind::Any);
                cell.counts.flows += u64::from(is_bound);
                cell.span.meet(start);
                cell.span.meet(end);
                self.names.begin(name);
                self.names.end(name, end.wrapping_sub(start) as u64);
                self.layouts.event(name);
            }
            "B" | "E" => {
                let time = event.time()?;
                let thread = self.thread(event);
                let is_bound = phase == "B" && event.bound().is_some();
                self.half(event, phase == "B", Join::Thread(thread), thread, time);
                self.cell(event).counts.flows += u64::from(is_bound);
            }
            "b" | "e" | "S" | "F" => {
                let (time, id) = (event.time()?, event.id()?);
                let thread = self.thread(event);
                let local = if id.is_local {
                    thread.0.to_string()
                } else {
                    String::new()
                };
                let [category, scope] = [event.category(), event.id_scope()];
                let parts = [
                    &category.unwrap_or_default(),
                    &scope.unwrap_or_default(),
                    &*local,
                    &*id.text,
                ];
                // No part has this character.
                let join = Join::Id(parts.join("\u{0}"));
                self.half(event, matches!(&*phase, "b" | "S"), join, thread, time);
            }
            "i" | "I" | "R" | "P" | "n" | "T" | "p" | "N" | "O" | "D" => {
                let time = event.time()?;
                let name = self.name(event);
                let cell = self.cell(event);
                cell.counts.marks += 1;
                cell.span.meet(time);
                self.names.mark(name);
                self.layouts.event(name);
            }
            "s" | "t" | "f" => {
                event.time()?;
                self.cell(event).counts.flows += 1;
            }
            "C" => self.sample(event)?,
            "M" => self.metadata(event),
            _ => return Err(Bad::Phase(phase.into_owned())),
        }
        Ok(())
    }

    /// The number of an event's name; what its arguments are is noted too.
    fn name(&mut self, event: &Event<'_>) -> u32 {
        if let Some(args) = event.args() {
            args::fields(args.json, &mut self.layouts);
        }
        self.names.number(&event.name().unwrap_or_default())
    }

    fn process(&mut self, event: &Event<'_>) -> u32 {
        let process = event.process();
        self.ids.number(process.as_deref().unwrap_or_default())
    }

    fn thread(&mut self, event: &Event<'_>) -> Thread {
        let process = self.process(event);
        let thread = event.thread();
        (process, thread.map(|thread| self.ids.number(&thread)))
    }

    fn cell(&mut self, event: &Event<'_>) -> &mut Cell {
        let thread = self.thread(event);
        self.threads.entry(thread).or_default()
    }

    /// The start of a range, or its end.
    fn half(&mut self, event: &Event<'_>, is_start: bool, join: Join, thread: Thread, time: i64) {
        let name = self.name(event);
        if is_start {
            let cell = self.threads.entry(thread).or_default();
            cell.counts.range(RangeKind::Any);
            cell.span.meet(time);
            self.names.begin(name);
            self.layouts.event(name);
            let open = Open {
                name,
                start: time,
                thread,
            };
            self.open.entry(join).or_default().push(open);
            return;
        }
        let open = self.open.get_mut(&join).and_then(Vec::pop);
        if self.open.get(&join).is_some_and(Vec::is_empty) {
            self.open.remove(&join);
        }
        let cell = self.threads.entry(thread).or_default();
        cell.span.meet(time);
        match open {
            Some(open) => {
                let duration = time.saturating_sub(open.start).max(0);
                self.names.end(open.name, duration as u64);
                self.layouts.event(open.name);
            }
            None => {
                cell.counts.unmatched += 1;
                self.layouts.discard();
            }
        }
    }

    fn sample(&mut self, event: &Event<'_>) -> Result<(), Bad> {
        let time = event.time()?;
        let process = self.process(event);
        let name = event.name().unwrap_or_default().into_owned();
        let id = event.id().map_or(String::new(), |id| id.text.into_owned());
        let (mut is_bad, mut count) = (true, 0);
        if let Some(args) = event.args() {
            let counters = &mut self.counters;
            args.each(|series, value| {
                let Some(value) = number(value.trim_matches('"')) else {
                    return;
                };
                (is_bad, count) = (false, count + 1);
                let key = (process, name.clone(), id.clone(), series.to_owned());
                counters.entry(key).or_default().add(value);
            });
        }
        let cell = self.threads.entry((process, None)).or_default();
        cell.counts.samples += count;
        cell.span.meet(time);
        match is_bad {
            true => Err(Bad::NoNumber(1)),
            false => Ok(()),
        }
    }

    fn metadata(&mut self, event: &Event<'_>) {
        let what = event.name().unwrap_or_default();
        let (mut name, mut description) = (None, None);
        if let Some(args) = event.args() {
            args.each(|key, value| {
                let text = serde_json::from_str(value).ok();
                match key {
                    "name" => name = text,
                    "description" => description = text,
                    _ => {}
                }
            });
        }
        match &*what {
            "process_name" => {
                let process = self.process(event);
                self.processes.insert(process, Label { name, description });
            }
            "thread_name" => self.cell(event).label = Label { name, description },
            "counter" => {
                let process = self.process(event);
                if let (Some(name), Some(description)) = (name, description) {
                    self.described.insert((process, name), description);
                }
            }
            _ => {}
        }
    }

    /// What a process is called; nothing for that of a session, where what is in it stands alone.
    fn process_name(&self, process: u32) -> Option<String> {
        let id = self.ids.text(process);
        let label = self
            .processes
            .get(&process)
            .and_then(|label| label.name.clone());
        match (self.is_ours(), id, label) {
            (true, SESSION, _) | (false, "", None) => None,
            (true, _, Some(name)) => Some(name),
            // Many processes have one name.
            (false, _, Some(name)) => Some(format!("{name} {id}")),
            (_, _, None) => Some(called("process", id)),
        }
    }

    fn path(&self, (process, thread): Thread, label: &Label) -> String {
        let own = |process| self.processes.get(&process)?.name.clone();
        let process = match thread {
            None => self.process_name(process).or_else(|| own(process)),
            Some(_) => self.process_name(process),
        };
        let id = || Some(called("thread", self.ids.text(thread?)));
        let thread = label.name.clone().or_else(id);
        match (process, thread) {
            (Some(process), Some(thread)) if process == thread => process,
            (Some(process), Some(thread)) => format!("{process}/{thread}"),
            (one, other) => one.or(other).unwrap_or_else(|| "(no process)".to_owned()),
        }
    }

    fn finish(mut self, damage: Option<String>) -> Summary {
        for open in self.open.values().flatten() {
            if let Some(cell) = self.threads.get_mut(&open.thread) {
                cell.counts.open += 1;
            }
        }
        let base = self.summary.facts.number("nvtxw.time_base").unwrap_or(0);
        let (mut streams, mut by_name) = (Vec::new(), HashMap::new());
        for (&thread, cell) in &self.threads {
            if cell.span.0.is_none() && cell.counts.flows == 0 {
                continue;
            }
            let span = cell.span.moved(base);
            self.summary.counts.add(&cell.counts);
            self.summary.span.add(span);
            let path = self.path(thread, &cell.label);
            let described = cell.label.description.as_deref();
            let stream = described.and_then(|text| text.strip_prefix(STREAM));
            let (name, path) = match (stream, self.is_ours()) {
                (Some(stream), _) => (stream.to_owned(), place(&path).to_owned()),
                (None, true) => (place(&path).to_owned(), place(&path).to_owned()),
                (None, false) => (path.clone(), path),
            };
            let is_known = stream.is_some() || self.is_ours();
            let index = match by_name.get(&name).filter(|_| is_known) {
                Some(&index) => index,
                None => {
                    by_name.insert(name.clone(), streams.len());
                    streams.push(Stream {
                        name: Some(name),
                        ..Stream::default()
                    });
                    streams.len() - 1
                }
            };
            let stream = &mut streams[index];
            if thread.1.is_none() {
                stream.counts.add(&cell.counts);
                stream.span.add(span);
            } else {
                stream.add(path, &cell.counts, span);
            }
        }
        let mut counters = Vec::new();
        for ((process, name, id, series), values) in std::mem::take(&mut self.counters) {
            let process_name = self.process_name(process);
            let description = self.described.get(&(process, name.clone())).cloned();
            // In files of ours an ID tells two places of one name apart, which have one path elsewhere too.
            let (path, unit) = match (self.is_ours(), &*id) {
                (true, _) => (name, (series != "value").then_some(series)),
                (false, "") => (format!("{name}/{series}"), None),
                (false, id) => (format!("{name} {id}/{series}"), None),
            };
            counters.push(Counter {
                path: process_name
                    .map_or_else(|| path.clone(), |process| format!("{process}/{path}")),
                unit,
                description,
                is_delta: false,
                values,
            });
        }
        counters.sort_by(|one, other| one.path.cmp(&other.path));
        let mut summary = self.summary;
        summary.format = "chrome";
        summary.damage = damage;
        summary.streams = streams;
        summary.counters = counters;
        let declared = declared::take(&mut summary.facts);
        summary.schemas = declared::join(&declared, self.layouts.schemas(&self.names));
        summary.other_fields = self.layouts.others;
        summary.names = self.names;
        summary.warnings = self.warnings.lines().collect();
        summary
    }
}

/// A process or a thread without a name: some tools give them words for numbers.
fn called(what: &str, id: &str) -> String {
    match id {
        "" => format!("(no {what})"),
        _ if id.bytes().all(|byte| byte.is_ascii_digit()) => format!("{what} {id}"),
        _ => id.to_owned(),
    }
}

/// A path without the number that a further lane has behind its name.
fn place(path: &str) -> &str {
    let lane = path
        .strip_suffix(')')
        .and_then(|path| path.rsplit_once(" ("));
    match lane {
        Some((place, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => place,
        _ => path,
    }
}

/// A counter's value; what is not finite stands in quotes.
fn number(text: &str) -> Option<Number> {
    if let Ok(value) = text.parse() {
        return Some(Number::Int(value));
    }
    text.parse().ok().map(Number::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_where_the_first_one_is() {
        for (path, want) in [
            ("GPU 0/Engine (2)", "GPU 0/Engine"),
            ("Engine", "Engine"),
            ("f(x)", "f(x)"),
            ("a (b)", "a (b)"),
        ] {
            assert_eq!(place(path), want);
        }
    }

    #[test]
    fn numbers_are_exact_where_they_are_integers() {
        assert_eq!(
            number("18446744073709551615"),
            Some(Number::Int(u64::MAX.into()))
        );
        assert_eq!(number("-0.5e-3"), Some(Number::Float(-0.5e-3)));
        assert_eq!(number("-Infinity"), Some(Number::Float(f64::NEG_INFINITY)));
        assert!(matches!(number("NaN"), Some(Number::Float(value)) if value.is_nan()));
        assert_eq!(number("{}"), None);
    }
}
