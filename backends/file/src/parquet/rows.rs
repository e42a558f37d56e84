//! Rows: from ordered events to the tables of a stream.

use std::mem;
use std::sync::Arc;

use nvtxw_backend::{Refusal, Result};

use super::builders::{Spot, ValueRows};
use super::dataset::{COUNTERS, Dataset, OPEN, STREAM};
use super::events::{EventTables, Share};
use super::partition::partition;
use super::record::{Reader, Record};
use super::retime::Written;
use super::table::{Lost, Table};
use crate::format::Number;
use crate::ids::IdSet;
use crate::proto::Writer;
use crate::tally::Cost;
use crate::timeline::{Emit, On};
use crate::track::{TrackId, TrackKind, Tracks};

/// So many rows are handed on at once.
const BATCH: usize = 1 << 12;

/// A stream's rows, on their way to its tables.
pub(crate) struct Rows {
    dataset: Arc<Dataset>,
    domain: Option<String>,
    places: Vec<Place>,
    counters: Vec<Counter>,
    /// What the next event has.
    next_id: i64,
    events: EventTables,
    /// Those of them whose ends are not known: for who reads what a kill left.
    open: EventTables,
    values: (Table, ValueRows),
    result: Result<()>,
    /// What was not written because of an error.
    lost: Cost,
}

/// Where ranges and marks are.
struct Place {
    scope: Option<String>,
    /// For each lane the ranges that are open, outermost first.
    open: Vec<Vec<Open>>,
}

/// A range whose end is not known yet.
struct Open {
    id: i64,
    start: i64,
    kind: Kind,
    record: Vec<u8>,
}

/// A counter of which there are values.
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) group: Option<String>,
    pub(super) description: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) multiplier: u64,
    pub(super) is_delta: bool,
    pub(super) scope: Option<String>,
}

impl Counter {
    pub(super) fn of(track: TrackId, tracks: &Tracks, scope: Option<String>) -> Self {
        let mut counter = Self {
            name: String::new(),
            group: None,
            description: None,
            unit: None,
            multiplier: 1,
            is_delta: false,
            scope,
        };
        tracks.describe(track, &mut IdSet::default(), |_, track| {
            let label = track.label.clone();
            if track.kind == TrackKind::Group {
                counter.group = Some(label.name);
            } else if let Some(scale) = label.counter {
                counter.name = label.name;
                counter.description = label.description;
                counter.unit = scale.unit;
                counter.multiplier = scale.multiplier;
                counter.is_delta = scale.is_delta;
            }
        });
        counter
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Mark,
    PushPop,
    StartEnd,
}

impl Kind {
    fn of_range(nests: bool) -> Self {
        match nests {
            true => Self::PushPop,
            false => Self::StartEnd,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::PushPop => "range_pushpop",
            Self::StartEnd => "range_startend",
        }
    }
}

impl Rows {
    /// `number` is the stream's in its session, `first_id` what its events count from.
    pub(super) fn new(
        dataset: &Arc<Dataset>,
        (stream, domain): (&str, Option<&str>),
        number: u32,
        first_id: i64,
    ) -> Self {
        let share = Share {
            dataset: Arc::clone(dataset),
            root: "",
            folder: partition(STREAM, stream),
            prefix: format!("part-{number}"),
        };
        Self {
            dataset: Arc::clone(dataset),
            domain: domain.map(str::to_owned),
            places: Vec::new(),
            counters: Vec::new(),
            next_id: first_id,
            values: (share.table(COUNTERS, ValueRows::schema()), ValueRows::new()),
            open: EventTables::new(Share {
                root: OPEN,
                ..share.clone()
            }),
            events: EventTables::new(share),
            result: Ok(()),
            lost: Cost::default(),
        }
    }

    pub(super) fn add_place(&mut self, scope: Option<String>) {
        let open = Vec::new();
        self.places.push(Place { scope, open });
    }

    /// Returns the number of the first counter.
    pub(super) fn add_counters(&mut self, counters: impl Iterator<Item = Counter>) -> u32 {
        let first = self.counters.len() as u32;
        self.counters.extend(counters);
        first
    }

    /// A table for the events of a schema. Returns its number; `None` for schemas without a name, and
    /// those whose fields are not plain, or not there.
    pub(super) fn add_table(&mut self, schema: &nvtxw_backend::Schema) -> Option<u32> {
        self.open.add_table(schema);
        self.events.add_table(schema)
    }

    /// What follows has times that are known in another way; `moved` has those of before as they are
    /// now.
    pub(super) fn begin_epoch(&mut self, moved: impl Fn(i64) -> Option<i64>) {
        self.events.begin_epoch();
        self.values.0.begin_epoch();
        let lanes = self.places.iter_mut().flat_map(|place| &mut place.open);
        for range in lanes.flatten() {
            range.start = moved(range.start).unwrap_or(range.start);
        }
    }

    /// What was written.
    pub(super) fn leave(&mut self) -> Written {
        Written {
            dataset: Arc::clone(&self.dataset),
            events: self.events.leave(),
            values: self.values.0.leave(),
        }
    }

    /// Hands on what there is.
    pub(super) fn send(&mut self) -> Result<()> {
        self.send_events();
        self.send_values();
        self.result.clone()
    }

    /// Completes all tables. What is open has no end.
    pub(super) fn close(&mut self) -> Result<()> {
        for place in 0..self.places.len() {
            let open = mem::take(&mut self.places[place].open);
            let mut open: Vec<_> = open.into_iter().flatten().collect();
            open.sort_by_key(|range| range.start);
            for range in open {
                self.row(
                    range.id,
                    range.kind,
                    place as u32,
                    (range.start, None),
                    &range.record,
                );
            }
        }
        let _ = self.send();
        let _ = self.make_readable();
        if self.result.is_ok() {
            self.open.remove();
        }
        self.result.clone()
    }

    /// Completes the parts that are open.
    ///
    /// # Errors
    /// What this met.
    pub(super) fn make_readable(&mut self) -> Result<()> {
        let mut met = Ok(());
        let Self {
            events,
            open,
            values,
            lost,
            ..
        } = self;
        // What ends in the one began in the other: a kill in between leaves both.
        events.close(|reason, cost| note(reason, cost, &mut met, lost));
        open.close(|reason, _| note(reason, UNCOUNTED, &mut met, lost));
        if let Err(Lost { reason, rows }) = values.0.close() {
            note(reason, Cost::of(rows), &mut met, lost);
        }
        if self.result.is_ok() {
            self.result.clone_from(&met);
        }
        met
    }

    pub(super) fn lost(&self) -> Cost {
        self.lost
    }

    fn next_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// A row for an event, with its start and its end.
    fn row(
        &mut self,
        id: i64,
        kind: Kind,
        place: u32,
        (start, end): (i64, Option<i64>),
        record: &[u8],
    ) {
        if self.result.is_err() {
            let has_fields = Record::read(&mut Reader(record)).typed.is_some();
            self.lost += Cost {
                events: 1,
                fields: has_fields.into(),
            };
            return;
        }
        let spot = spot(&self.places, place, self.domain.as_deref(), start, end);
        if self.events.add(id, kind.name(), record, spot) {
            self.send_events();
        }
    }

    fn send_events(&mut self) {
        let Self {
            events,
            open,
            result,
            lost,
            ..
        } = self;
        events.send(|reason, cost| note(reason, cost, result, lost));
        open.send(|reason, _| note(reason, UNCOUNTED, result, lost));
    }

    fn send_values(&mut self) {
        if let Err(Lost { reason, rows }) = self.values.0.write(self.values.1.finish()) {
            note(reason, Cost::of(rows), &mut self.result, &mut self.lost);
        }
    }
}

fn spot<'a>(
    places: &'a [Place],
    place: u32,
    domain: Option<&'a str>,
    start: i64,
    end: Option<i64>,
) -> Spot<'a> {
    Spot {
        start,
        end,
        domain,
        scope: places[place as usize].scope.as_deref(),
    }
}

/// That of rows of ranges that are open, which are counted when they end.
const UNCOUNTED: Cost = Cost {
    events: 0,
    fields: 0,
};

/// Keeps the first error, and counts what it cost.
fn note(reason: String, cost: Cost, result: &mut Result<()>, all: &mut Cost) {
    *all += cost;
    if result.is_ok() {
        *result = Err(Refusal::failed(format!(
            "{reason}; later events are dropped, the dataset keeps the parts that were complete"
        )));
    }
}

impl Emit for Rows {
    fn range(&mut self, place: u32, _lane: u32, start: i64, end: i64, nests: bool, record: &[u8]) {
        let id = self.next_id();
        let kind = Kind::of_range(nests);
        self.row(id, kind, place, (start, Some(end)), record);
    }

    fn begin(&mut self, place: u32, lane: u32, start: i64, nests: bool, record: &[u8]) {
        let (id, kind) = (self.next_id(), Kind::of_range(nests));
        if self.result.is_ok() {
            let spot = spot(&self.places, place, self.domain.as_deref(), start, None);
            if self.open.add(id, kind.name(), record, spot) {
                self.send_events();
            }
        }
        let lanes = &mut self.places[place as usize].open;
        if lanes.len() <= lane as usize {
            lanes.resize_with(lane as usize + 1, Vec::new);
        }
        lanes[lane as usize].push(Open {
            id,
            start,
            kind,
            record: record.to_vec(),
        });
    }

    fn end(&mut self, place: u32, lane: u32, _time: i64, asked: i64, record: &[u8]) {
        let lanes = &mut self.places[place as usize].open;
        let Some(mut open) = lanes.get_mut(lane as usize).and_then(Vec::pop) else {
            return;
        };
        open.record.extend_from_slice(record);
        let times = (open.start, Some(asked));
        self.row(open.id, open.kind, place, times, &open.record);
    }

    fn instant(&mut self, place: u32, time: i64, record: &[u8]) {
        let id = self.next_id();
        self.row(id, Kind::Mark, place, (time, None), record);
    }

    fn value(&mut self, counter: u32, time: i64, value: &[u8]) {
        if self.result.is_err() {
            self.lost += Cost::of(1);
            return;
        }
        let counter = &self.counters[counter as usize];
        let value = read_value(&mut Reader(value));
        self.values
            .1
            .add(counter, self.domain.as_deref(), time, value);
        if self.values.1.len >= BATCH {
            self.send_values();
        }
    }

    // Nothing is made ready.
    fn ready(&mut self, _on: On, _events: u64, _bytes: &[u8]) {}

    fn fields_of(ready: &[u8]) -> &[u8] {
        ready
    }
}

/// Appends a value, as [`read_value`] takes it.
pub(super) fn write_value(value: Option<Number>, out: &mut Writer) {
    let (kind, bits) = match value {
        None => (0, 0),
        Some(Number::Int(value)) => (1, value as u64),
        Some(Number::Great(value)) => (2, value),
        Some(Number::Float(value)) => (3, value.to_bits()),
    };
    out.raw(&[kind]);
    out.raw(&bits.to_le_bytes());
}

fn read_value(from: &mut Reader<'_>) -> Option<Number> {
    let (kind, bits) = (from.u8(), from.u64());
    match kind {
        0 => None,
        1 => Some(Number::Int(bits as i64)),
        2 => Some(Number::Great(bits)),
        _ => Some(Number::Float(f64::from_bits(bits))),
    }
}
