//! What was read of a trace: names and places in memory, events in sorters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::arrows::{Flow, Order};
use super::chrome::{Rest, Sink};
use super::columns::{Layouts, Values, hash, visible};
use super::decimal::float_word;
use super::event::{Bad, Event};
use super::record::{self, Head, Kind};
use super::sorter::{Key, Sorter};
use super::strings::{StringId, Strings, Use};
use super::text::Place;
use super::ties::Tie;
use super::tracks::{Part, Tracks};
use super::warnings::Warnings;
use crate::error::{Error, Result};

/// Memory of the events on their way to the writer, and of what is tied to them.
const EVENT_BYTES: usize = 48 << 20;
pub const TIE_BYTES: usize = 24 << 20;

pub struct Trace {
    pub strings: Strings,
    pub layouts: Layouts,
    pub tracks: Tracks,
    pub counters: Counters,
    pub warnings: Warnings,
    /// By track and time.
    pub events: Sorter,
    /// Halves of ranges and points of flows, by track and time.
    pub ties: Sorter,
    /// Where sorters put what memory doesn't hold.
    pub folder: PathBuf,
    /// How many events were read.
    pub number: u64,
    /// How many flow points have no partner.
    pub unpaired: u64,
    /// What the session was called, if the built-in backend wrote the file.
    pub session: Option<String>,
    /// What is to be added to all times.
    pub base: i64,
    /// Times count from 1970.
    pub is_dated: bool,
    /// The trace's own metadata: names, and values as JSON.
    pub facts: Vec<(String, String)>,
    /// The rank of a distributed job.
    pub rank: Option<String>,
    values: Values,
    record: Vec<u8>,
}

impl Sink for Trace {
    /// One that is bad is left out, and counted.
    fn event(&mut self, event: &Event<'_>, place: &dyn Fn() -> Place) -> Result<()> {
        self.number += 1;
        let taken = self.take(event);
        for bad in event.dropped() {
            self.warnings.add(bad, Some(place()));
        }
        match taken {
            Ok(Ok(())) => {
                for member in event.others() {
                    let kind = format_args!("the member `{member}` of an event is not converted");
                    self.warnings.add(kind, Some(place()));
                }
                Ok(())
            }
            Ok(Err(bad)) => {
                let count = bad.count();
                self.warnings.add_many(bad, Some(place()), count);
                Ok(())
            }
            Err(error) => Err(self.spill_error(error)),
        }
    }

    fn rest(&mut self, rest: Rest) {
        self.warnings.append(rest.warnings);
        let mut others = Vec::new();
        for (name, value) in rest.members {
            match (&*name, value) {
                ("displayTimeUnit" | "schemaVersion", _) => {}
                ("stackFrames" | "samples" | "systemTraceEvents", _) | (_, None) => {
                    others.push(format!("`{name}`"));
                }
                (_, Some(value)) => self.fact(name, value),
            }
        }
        self.move_by_facts();
        if !others.is_empty() {
            let kind = format_args!("the trace's own {} is not converted", others.join(", "));
            self.warnings.add(kind, None);
        }
    }
}

/// A counter that was met.
pub struct Counter {
    pub track: u32,
    pub name: String,
    /// What its value is called.
    pub series: String,
    /// All its values are.
    pub is_integer: bool,
}

#[derive(Default)]
pub struct Counters {
    ids: HashMap<(u32, String, String), u32>,
    pub all: Vec<Counter>,
    /// What the built-in backend says of those of a track, by name.
    pub descriptions: HashMap<(u32, String), String>,
}

impl Trace {
    pub fn new(folder: &Path) -> Self {
        Self {
            strings: Strings::default(),
            layouts: Layouts::new(),
            tracks: Tracks::default(),
            counters: Counters::default(),
            warnings: Warnings::default(),
            events: Sorter::new(EVENT_BYTES, folder),
            ties: Sorter::new(TIE_BYTES, folder),
            folder: folder.to_owned(),
            number: 0,
            unpaired: 0,
            session: None,
            base: 0,
            is_dated: false,
            facts: Vec::new(),
            rank: None,
            values: Values::default(),
            record: Vec::new(),
        }
    }

    /// The error of the file that sorters write.
    pub fn spill_error(&self, error: io::Error) -> Error {
        Error::io("sort events in a file in", &self.folder, error)
    }

    /// Takes a row of a table, whose cells in `rest` have the names of their columns: a range, or a moment without an end.
    pub fn add_row(
        &mut self,
        track: Option<&str>,
        name: Option<&str>,
        start: i64,
        end: Option<i64>,
        rest: &[(&str, Cow<'_, str>)],
    ) -> Result<()> {
        self.number += 1;
        self.values.clear();
        for (name, cell) in rest {
            self.values.cell(name, cell, &mut self.strings);
        }
        let kind = if end.is_some() {
            Kind::Range
        } else {
            Kind::Instant
        };
        self.record(kind, name, None, || {
            let cells = rest.iter().map(|(name, cell)| (*name, &**cell));
            serde_json::to_string(&cells.collect::<HashMap<_, _>>()).expect("texts are JSON")
        });
        let ids = || (None, track.map(Cow::Borrowed));
        let track = self.tracks.thread((None, track), ids, &mut self.strings);
        let added = match end {
            Some(end) => self.add_range(track, start, end, None),
            None => self.add_instant(track, start),
        };
        added.map_err(|error| self.spill_error(error))
    }

    fn take(&mut self, event: &Event<'_>) -> io::Result<Result<(), Bad>> {
        let phase = match event.phase() {
            Ok(phase) => phase,
            Err(bad) => return Ok(Err(bad)),
        };
        let taken = match &*phase {
            "X" => self.range(event),
            "B" | "E" => self.half(event, &phase),
            "b" | "e" | "n" | "S" | "T" | "p" | "F" => self.async_half(event, &phase),
            "i" | "I" | "R" | "P" => self.instant(event),
            "N" | "O" | "D" => self.object(event, &phase),
            "s" | "t" | "f" => self.flow_point(event, &phase),
            "C" => self.sample(event),
            "M" => return Ok(self.metadata(event)),
            _ => return Ok(Err(Bad::Phase(phase.into_owned()))),
        };
        match taken {
            Ok(()) => Ok(Ok(())),
            Err(Stop::Bad(bad)) => Ok(Err(bad)),
            Err(Stop::Io(error)) => Err(error),
        }
    }

    fn range(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let (start, end) = event.span()?;
        let track = self.thread(event);
        self.begin(event, Kind::Range);
        let flow = self.bound(event);
        self.add_range(track, start, end, flow)?;
        Ok(())
    }

    /// Adds the range that is in `record`.
    fn add_range(
        &mut self,
        track: u32,
        start: i64,
        end: i64,
        flow: Option<Flow>,
    ) -> io::Result<()> {
        let key = Key {
            group: track.into(),
            time: start,
            rank: rank(start, end),
            number: self.number,
        };
        self.tracks.all[track as usize].is_used = true;
        if let Some(flow) = flow {
            self.ties.push(key, &Tie::Bound(flow).to_bytes())?;
        }
        self.events.push(key, &self.record)
    }

    /// The flow that an event names itself.
    fn bound(&mut self, event: &Event<'_>) -> Option<Flow> {
        let (id, order) = event.bound()?;
        // No category has this name.
        let id = hash(&["\u{0}", &id]);
        Some(Flow { id, order })
    }

    fn half(&mut self, event: &Event<'_>, phase: &str) -> Result<(), Stop> {
        let time = event.time()?;
        let track = self.thread(event);
        self.begin(event, Kind::Range);
        let key = Key {
            group: track.into(),
            time,
            rank: 0,
            number: self.number,
        };
        let flow = match phase {
            "B" => self.bound(event),
            _ => None,
        };
        self.tie_half(key, track, phase, flow)
    }

    fn async_half(&mut self, event: &Event<'_>, phase: &str) -> Result<(), Stop> {
        let (time, id) = (event.time()?, event.id()?);
        let process = event.process();
        let process = self.tracks.process(process.as_deref(), &mut self.strings);
        let category = event.category();
        let scope = event.id_scope();
        let part = category.as_deref().map(|text| self.strings.keep(text));
        let track = self.async_track(process, part, scope.as_deref(), &id.text);
        if matches!(phase, "n" | "T" | "p") {
            self.begin(event, Kind::Instant);
            return Ok(self.add_instant(track, time)?);
        }
        self.begin(event, Kind::Range);
        let local = process.to_string();
        let key = Key {
            group: Tie::apart(hash(&[
                category.as_deref().unwrap_or(""),
                scope.as_deref().unwrap_or(""),
                if id.is_local { &local } else { "" },
                &id.text,
            ])),
            time,
            rank: 0,
            number: self.number,
        };
        let flow = match phase {
            "b" => self.bound(event),
            _ => None,
        };
        self.tie_half(key, track, phase, flow)
    }

    /// The track of an id in a process; `part` is a category, or an object's name.
    fn async_track(
        &mut self,
        process: usize,
        part: Option<StringId>,
        scope: Option<&str>,
        id: &str,
    ) -> u32 {
        let id = match scope {
            Some(scope) => self.strings.keep(&format!("{scope} {id}")),
            None => self.strings.keep(id),
        };
        self.tracks.track(process, Part::Async(part, id))
    }

    /// Takes a snapshot of an object, or the moment when it was created or deleted.
    fn object(&mut self, event: &Event<'_>, phase: &str) -> Result<(), Stop> {
        let (time, id) = (event.time()?, event.id()?);
        let process = event.process();
        let process = self.tracks.process(process.as_deref(), &mut self.strings);
        let name = event.name().unwrap_or_default();
        let part = Some(self.strings.keep(&name));
        let track = self.async_track(process, part, event.id_scope().as_deref(), &id.text);
        let name = match phase {
            "N" => Cow::Owned(format!("{name} created")),
            "D" => Cow::Owned(format!("{name} deleted")),
            _ => name,
        };
        self.begin_named(event, Kind::Instant, Some(&name));
        Ok(self.add_instant(track, time)?)
    }

    fn tie_half(
        &mut self,
        key: Key,
        track: u32,
        phase: &str,
        flow: Option<Flow>,
    ) -> Result<(), Stop> {
        let tie = if matches!(phase, "B" | "b" | "S") {
            Tie::Begin {
                track,
                bound: flow.map(|flow| flow.order),
            }
        } else {
            Tie::End
        };
        let mut bytes = tie.to_bytes().to_vec();
        bytes.extend(flow.into_iter().flat_map(|flow| flow.id.to_le_bytes()));
        bytes.extend_from_slice(&self.record);
        self.ties.push(key, &bytes)?;
        Ok(())
    }

    fn instant(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let time = event.time()?;
        let track = match event.reach().as_deref() {
            Some("g") => self.tracks.whole_trace(),
            _ => self.thread(event),
        };
        self.begin(event, Kind::Instant);
        Ok(self.add_instant(track, time)?)
    }

    /// Adds the moment that is in `record`.
    fn add_instant(&mut self, track: u32, time: i64) -> io::Result<()> {
        self.tracks.all[track as usize].is_used = true;
        self.events.push(self.point(track, time), &self.record)
    }

    /// The key of what has no length.
    fn point(&self, track: u32, time: i64) -> Key {
        Key {
            group: track.into(),
            time,
            rank: rank(0, 0),
            number: self.number,
        }
    }

    fn flow_point(&mut self, event: &Event<'_>, phase: &str) -> Result<(), Stop> {
        let (time, id) = (event.time()?, event.id()?);
        let track = self.thread(event);
        let is_next = phase == "f" && !event.is_enclosed();
        let category = event.category();
        let scope = event.id_scope();
        let process = match id.is_local {
            true => event.process(),
            false => None,
        };
        let id = hash(&[
            category.as_deref().unwrap_or(""),
            event.name().as_deref().unwrap_or(""),
            scope.as_deref().unwrap_or(""),
            process.as_deref().unwrap_or(""),
            &id.text,
        ]);
        let key = Key {
            // After the events that begin at that time, or before them.
            rank: if is_next { 0 } else { LAST },
            ..self.point(track, time)
        };
        let order = match phase {
            "s" => Order::Start,
            "t" => Order::Step,
            _ => Order::End,
        };
        let flow = Flow { id, order };
        let point = Tie::Point { flow, is_next };
        self.ties.push(key, &point.to_bytes())?;
        Ok(())
    }

    fn sample(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let time = event.time()?;
        let process = event.process();
        let process = self.tracks.process(process.as_deref(), &mut self.strings);
        let track = self.tracks.track(process, Part::Counters);
        let mut name = event.name().unwrap_or_default().into_owned();
        if let Ok(id) = event.id() {
            name = format!("{name} {}", id.text);
        }
        let head = Head {
            kind: Kind::Sample,
            name: None,
            category: None,
            correlation: 0,
        };
        record::begin(&mut self.record, head);
        let mut bad = 0;
        if let Some(args) = event.args() {
            let (record, counters) = (&mut self.record, &mut self.counters);
            args.each(|series, text| {
                if text == "null" {
                    return;
                }
                let text = text
                    .strip_prefix('"')
                    .map_or(text, |text| text.trim_end_matches('"'));
                let Some((is_integer, bytes)) = sampled(text) else {
                    bad += 1;
                    return;
                };
                let counter = counters.number(track, &name, series, is_integer);
                record::add_row(record, counter, &bytes);
            });
        } else {
            bad = 1;
        }
        self.tracks.all[track as usize].is_used = true;
        self.events.push(self.point(track, time), &self.record)?;
        match bad {
            0 => Ok(()),
            _ => Err(Stop::Bad(Bad::NoNumber(bad))),
        }
    }

    /// The track of an event's thread.
    pub fn thread(&mut self, event: &Event<'_>) -> u32 {
        let ids = || (event.process(), event.thread());
        let strings = &mut self.strings;
        let track = self.tracks.thread(event.place(), ids, strings);
        if event.has_dropped() {
            // The next one is to be warned of too.
            self.tracks.forget_last();
        }
        track
    }

    /// Puts the event into `record`, with its arguments.
    fn begin(&mut self, event: &Event<'_>, kind: Kind) {
        self.begin_named(event, kind, event.name().as_deref());
    }

    /// Adds it under another name.
    fn begin_named(&mut self, event: &Event<'_>, kind: Kind, name: Option<&str>) {
        self.values.clear();
        let args = event.args();
        if let Some(args) = args {
            let (values, strings) = (&mut self.values, &mut self.strings);
            args.each(|name, value| values.json(name, value, strings));
        }
        self.record(kind, name, event.category().as_deref(), || {
            args.map_or(String::new(), |args| args.json.to_owned())
        });
    }

    /// Appends the rows of a `B` event and of its `E` event to the event's record. Arguments of the `E` event replace those of the
    /// same names.
    pub fn add_rows(&mut self, record: &mut Vec<u8>, begin: &[u8], end: &[u8]) {
        let args = |rows| record::rows(rows).find(|(layout, _)| *layout != Layouts::NAME);
        let ended = args(end);
        for row in record::rows(begin) {
            let joined = match ended {
                Some(ended) if row.0 != Layouts::NAME => {
                    self.values.joined(&mut self.layouts, row, ended)
                }
                _ => None,
            };
            if let Some((layout, row)) = joined {
                record::add_row(record, layout, row);
                return;
            }
            record::add_row(record, row.0, row.1);
        }
        if let Some((layout, row)) = ended {
            record::add_row(record, layout, row);
        }
    }

    /// Puts an event with the values that are there into `record`.
    fn record(
        &mut self,
        kind: Kind,
        name: Option<&str>,
        category: Option<&str>,
        json: impl FnOnce() -> String,
    ) {
        let name_id = name.and_then(|name| self.strings.number_as(Use::Name, name));
        let category_id = category.and_then(|text| self.strings.number_as(Use::Category, text));
        if category.is_some() && category_id.is_none() {
            let kind = "the category of an event is left out: there are too many different ones";
            self.warnings.add(kind, None);
        }
        let head = Head {
            kind,
            name: name_id,
            category: category_id,
            correlation: self.values.correlation(),
        };
        record::begin(&mut self.record, head);
        if let (Some(name), None) = (name, name_id) {
            let mut row = visible(name).into_owned().into_bytes();
            row.push(0);
            self.layouts.r#use(Layouts::NAME);
            record::add_row(&mut self.record, Layouts::NAME, &row);
        }
        if !self.values.is_empty() {
            let (layout, row) = self.values.row(&mut self.layouts, json);
            record::add_row(&mut self.record, layout, row);
        }
    }
}

/// Why an event isn't taken.
enum Stop {
    Bad(Bad),
    Io(io::Error),
}

impl From<Bad> for Stop {
    fn from(bad: Bad) -> Self {
        Self::Bad(bad)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Behind all ranges that start at a time.
pub const LAST: u64 = u64::MAX;

/// Of ranges that start together, the longest comes first.
pub fn rank(start: i64, end: i64) -> u64 {
    (LAST - 1).saturating_sub(end.wrapping_sub(start).cast_unsigned())
}

/// The end of a range, as its key tells it.
pub fn end(key: &Key) -> i64 {
    key.time.wrapping_add((LAST - 1 - key.rank).cast_signed())
}

/// A counter's value: whether it is an integer, and eight bytes of an `i64` or an `f64`.
fn sampled(text: &str) -> Option<(bool, [u8; 9])> {
    let (is_integer, bytes) = match text.parse::<i64>() {
        Ok(number) => (true, number.to_ne_bytes()),
        Err(_) => {
            let number = text.parse().ok().or_else(|| float_word(text));
            (false, number?.to_ne_bytes())
        }
    };
    let mut row = [0; 9];
    row[0] = u8::from(is_integer);
    row[1..].copy_from_slice(&bytes);
    Some((is_integer, row))
}

impl Counters {
    /// The number of a counter; `is_integer` tells of one of its values.
    fn number(&mut self, track: u32, name: &str, series: &str, is_integer: bool) -> u32 {
        let key = (track, name.to_owned(), series.to_owned());
        let number = *self.ids.entry(key).or_insert_with(|| {
            self.all.push(Counter {
                track,
                name: name.to_owned(),
                series: series.to_owned(),
                is_integer: true,
            });
            (self.all.len() - 1) as u32
        });
        self.all[number as usize].is_integer &= is_integer;
        number
    }
}
