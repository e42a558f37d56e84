//! Writes what was read: a scope and a stream for each track, then its events in the order of time.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use nvtxw::{
    BatchOrdering, CategoryId, Domain, DomainId, EventWriter, FixedEvent, NvtxEvent, RangeId,
    ResultCode, Schema, Scope, Session, Stream, StreamOptions, StreamOrdering, StringHandle,
    TimestampType, TypedPayload, Writer, escape_segment,
};

use super::columns::Layouts;
use super::labels::{Label, labels, order};
use super::names::{MAX_FLOWS, Names, Sampled};
use super::record::{self, Head, Kind, u64_at};
use super::sorter::{Key, Sorted, Sorter};
use super::trace::{Trace, end};
use super::tracks::Part;
use crate::error::{Error, Result};

/// A range of a track whose ranges nest.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Nested {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// A range of another track.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Free {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// A range of a track whose ranges nest, and whose end never comes.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_push)]
struct Pushed {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// A range of another track whose end never comes.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_start)]
struct Open {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(range_id, hide)]
    id: RangeId,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// A moment.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Instant {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(category)]
    category: CategoryId,
    #[nvtx(skip)]
    fill: u32,
}

/// What was written.
#[derive(Default)]
pub struct Written {
    pub ranges: u64,
    pub instants: u64,
    pub samples: u64,
    pub tracks: usize,
    /// Of events that more flows pass than there is room for.
    pub flows_left_out: u64,
    /// Flow points without a partner.
    pub unpaired: u64,
    /// Events that the backend refused, and what it said of the first.
    pub refused: u64,
    pub refusal: Option<nvtxw::Error>,
}

impl Written {
    /// Whether all of `input` was taken.
    pub fn judge(&self, input: &Path) -> Result<()> {
        let Some(refusal) = &self.refusal else {
            return Ok(());
        };
        let problem = match self.refused {
            1 => format!("an event is left out: {refusal}"),
            refused => format!("{refused} events are left out, the first for this: {refusal}"),
        };
        Err(Error::Findings(format!("{}: {problem}", input.display())))
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ranges,
            instants,
            samples,
            tracks,
            unpaired,
            ..
        } = self;
        write!(
            f,
            "{ranges} ranges, {instants} instants and {samples} counter values on {tracks} tracks"
        )?;
        match unpaired {
            0 => Ok(()),
            _ => write!(f, "; flow points without a partner: {unpaired}"),
        }
    }
}

/// Registers everything, then writes track by track. `progress` is told now and then how many events are written.
pub fn write(
    session: &mut Session,
    mut trace: Trace,
    mut flows: Sorted,
    progress: impl Fn(u64),
) -> Result<Written> {
    let folder = trace.folder.clone();
    let spill_error = |error| Error::io("sort events in a file in", &folder, error);
    let events = std::mem::replace(&mut trace.events, Sorter::new(0, &folder));
    let mut events = events.sorted().map_err(spill_error)?;
    let domain = session.default_domain()?.id();
    let mut tracks = Tracks::open(session, domain, &trace)?;
    let mut registering = session.domain_at(domain)?;
    let most_flows = flows.most_of_a_key().unwrap_or(MAX_FLOWS);
    let names = Names::register(&mut registering, &trace, &tracks.scopes, most_flows)?;
    let schemas = Schemas::register(&mut registering)?;

    let mut written = Written {
        tracks: tracks.streams.len() + tracks.labels.len(),
        unpaired: trace.unpaired,
        ..Written::default()
    };
    let mut flow = flows.next().map_err(spill_error)?.map(numbered);
    let mut event = events.next().map_err(spill_error)?;
    let (mut passing, mut filled, mut events_written) = (Vec::new(), Vec::new(), 0_u64);
    while let Some((Key { group, .. }, _)) = event {
        let track = &trace.tracks.all[group as usize];
        let mut stream = tracks.stream(session, &trace, group as u32)?;
        let writer = session.writer(&mut stream)?;
        let out = Output::bind(&writer, &schemas, &names, track.nests)?;
        while let Some((key, record)) = event
            && key.group == group
        {
            passing.clear();
            while let Some((range, number)) = flow
                && range <= key
            {
                passing.push(number);
                flow = flows.next().map_err(spill_error)?.map(numbered);
            }
            let (head, rows) = record::split(record);
            let key = Key {
                time: key.time.wrapping_add(trace.base),
                ..key
            };
            match out.write(&key, &head, rows, (&mut passing, &mut filled), &mut written) {
                // It was not as the backend wants it; others may be.
                Err(error) if error.code() == Some(ResultCode::INVALID_ARGUMENT) => {
                    written.refused += 1;
                    written.refusal.get_or_insert(error);
                }
                other => other?,
            }
            events_written += 1;
            if events_written % 4096 == 0 {
                progress(events_written);
            }
            event = events.next().map_err(spill_error)?;
        }
        // What the stream held goes to the file now, and not with all others at the end.
        session
            .close_stream(stream)
            .map_err(|error| error.error().clone())?;
    }
    Ok(written)
}

fn numbered((range, number): (Key, &[u8])) -> (Key, u64) {
    (range, u64_at(number, 0))
}

struct Schemas {
    nested: Schema<Nested>,
    free: Schema<Free>,
    pushed: Schema<Pushed>,
    open: Schema<Open>,
    instant: Schema<Instant>,
}

impl Schemas {
    fn register(domain: &mut Domain<'_>) -> nvtxw::Result<Self> {
        Ok(Self {
            nested: domain.schema()?,
            free: domain.schema()?,
            pushed: domain.schema()?,
            open: domain.schema()?,
            instant: domain.schema()?,
        })
    }
}

/// What writes the events of one track.
struct Output<'w> {
    writer: &'w Writer<'w>,
    nested: EventWriter<'w, Nested>,
    free: EventWriter<'w, Free>,
    pushed: EventWriter<'w, Pushed>,
    open: EventWriter<'w, Open>,
    instant: EventWriter<'w, Instant>,
    names: &'w Names,
    nests: bool,
}

impl<'w> Output<'w> {
    fn bind(
        writer: &'w Writer<'w>,
        schemas: &Schemas,
        names: &'w Names,
        nests: bool,
    ) -> nvtxw::Result<Self> {
        Ok(Self {
            writer,
            nested: writer.events(schemas.nested)?,
            free: writer.events(schemas.free)?,
            pushed: writer.events(schemas.pushed)?,
            open: writer.events(schemas.open)?,
            instant: writer.events(schemas.instant)?,
            names,
            nests,
        })
    }

    /// Writes an event with its rows, and the arrows of these numbers at it. `filled` is for a row with such a number.
    fn write(
        &self,
        key: &Key,
        head: &Head,
        rows: &[u8],
        (passing, filled): (&mut Vec<u64>, &mut Vec<u8>),
        written: &mut Written,
    ) -> nvtxw::Result<()> {
        if head.kind == Kind::Sample {
            return self.samples(key.time, rows, written);
        }
        if passing.len() > MAX_FLOWS {
            written.flows_left_out += (passing.len() - MAX_FLOWS) as u64;
            passing.truncate(MAX_FLOWS);
        }
        let slot = |layout: u32| self.names.flow_slots[layout as usize];
        filled.clear();
        if !passing.is_empty()
            && let Some((layout, row)) = record::rows(rows).find(|row| slot(row.0).is_some())
        {
            let slot = slot(layout).expect("it was looked for");
            let number = passing.pop().expect("there is one");
            filled.extend_from_slice(row);
            filled[slot..slot + 8].copy_from_slice(&number.to_ne_bytes());
        }
        let mut beside = [const { None }; 4];
        let mut count = 0;
        let mut has_name = false;
        for (layout, mut row) in record::rows(rows) {
            has_name |= layout == Layouts::NAME;
            let schema = self.names.layouts[layout as usize].expect("an event has it");
            if !filled.is_empty() && slot(layout).is_some() {
                row = filled;
            }
            beside[count] = Some(schema.payload_bytes(row)?);
            count += 1;
        }
        if !passing.is_empty() {
            let power = passing.len().next_power_of_two();
            passing.resize(power, 0);
            let layout = self.names.flows[power.ilog2() as usize];
            beside[count] = Some(layout.payload_bytes(bytemuck::cast_slice(passing))?);
        }
        let name = match head.name {
            Some(name) => self.names.messages[name.index()],
            None if has_name => StringHandle::NONE,
            None => self.names.unnamed,
        };
        let category = head.category;
        let category = category.map_or(CategoryId::NONE, |id| self.names.categories[id.index()]);
        let (start, end, fill) = (key.time, end(key), 0);
        let put = match head.kind {
            Kind::Range if self.nests => {
                let range = Nested {
                    start,
                    end,
                    name,
                    category,
                    fill,
                };
                put(&self.nested, &range, beside)
            }
            Kind::Range => {
                let range = Free {
                    start,
                    end,
                    name,
                    category,
                    fill,
                };
                put(&self.free, &range, beside)
            }
            Kind::Open if self.nests => {
                let range = Pushed {
                    start,
                    name,
                    category,
                    fill,
                };
                put(&self.pushed, &range, beside)
            }
            Kind::Open => {
                let range = Open {
                    start,
                    id: RangeId::new(key.number).expect("events are numbered from 1"),
                    name,
                    category,
                    fill,
                };
                put(&self.open, &range, beside)
            }
            _ => {
                let instant = Instant {
                    time: start,
                    name,
                    category,
                    fill,
                };
                put(&self.instant, &instant, beside)
            }
        };
        put?;
        match head.kind {
            Kind::Range | Kind::Open => written.ranges += 1,
            _ => written.instants += 1,
        }
        Ok(())
    }

    fn samples(&self, time: i64, rows: &[u8], written: &mut Written) -> nvtxw::Result<()> {
        for (counter, row) in record::rows(rows) {
            let (is_integer, bytes) = row.split_first().expect("a sample has nine bytes");
            let bytes: [u8; 8] = bytes.try_into().expect("a sample has nine bytes");
            let (integer, float) = (i64::from_ne_bytes(bytes), f64::from_ne_bytes(bytes));
            match self.names.counters[counter as usize] {
                Sampled::Integers(counter) => {
                    let out = self.writer.counter(counter)?;
                    out.sample(time, integer).map_err(|error| error.at(&out))?;
                }
                Sampled::Floats(counter) => {
                    let out = self.writer.counter(counter)?;
                    let value = if *is_integer == 1 {
                        integer as f64
                    } else {
                        float
                    };
                    out.sample(time, value).map_err(|error| error.at(&out))?;
                }
            }
            written.samples += 1;
        }
        Ok(())
    }
}

/// Writes an event with what goes beside it.
fn put<E: NvtxEvent + FixedEvent>(
    out: &EventWriter<'_, E>,
    event: &E,
    beside: [Option<TypedPayload<'_>>; 4],
) -> nvtxw::Result<()> {
    match beside {
        [None, ..] => out.write(event),
        [Some(a), None, ..] => out.write_with(event, a),
        [Some(a), Some(b), None, _] => out.write_with(event, (a, b)),
        [Some(a), Some(b), Some(c), None] => out.write_with(event, (a, b, c)),
        [Some(a), Some(b), Some(c), Some(d)] => out.write_with(event, (a, b, c, d)),
    }
    .map_err(|error| error.at(out))
}

/// Options that tracks are opened with.
struct Tracks {
    domain: DomainId,
    /// By their processes, if those have any tracks.
    scopes: Vec<Option<Scope>>,
    /// Those that are opened.
    streams: HashMap<u32, Stream>,
    /// Those that aren't yet.
    labels: HashMap<u32, Label>,
}

impl Tracks {
    /// Opens the tracks in their order. There may be very many asynchronous ones: of a process the first is opened now, and each
    /// further one when its events are written, after all other tracks.
    fn open(session: &mut Session, domain: DomainId, trace: &Trace) -> Result<Self> {
        let order = order(trace);
        let labels = order.iter().zip(labels(trace, &order));
        let mut tracks = Self {
            domain,
            scopes: vec![None; trace.tracks.processes.len()],
            streams: HashMap::new(),
            labels: HashMap::new(),
        };
        for (&index, label) in labels {
            let track = &trace.tracks.all[index];
            let is_async = matches!(track.part, Part::Async(..));
            tracks.labels.insert(index as u32, label);
            if !is_async || tracks.scopes[track.process].is_none() {
                let stream = tracks.stream(session, trace, index as u32)?;
                tracks.streams.insert(index as u32, stream);
            }
        }
        Ok(tracks)
    }

    /// The stream of a track with the scope `process/thread`.
    fn stream(&mut self, session: &mut Session, trace: &Trace, index: u32) -> Result<Stream> {
        if let Some(stream) = self.streams.remove(&index) {
            return Ok(stream);
        }
        let track = &trace.tracks.all[index as usize];
        let label = self.labels.remove(&index).expect("a used track has one");
        let process = escape_segment(&label.process);
        let mut registering = session.domain_at(self.domain)?;
        let parent = registering.scope(&process)?;
        self.scopes[track.process] = Some(parent);
        let (scope, name) = match &label.track {
            Some(track) => {
                let track = escape_segment(track);
                let scope = registering.scope_in(parent, &track)?;
                (scope, format!("{process}/{track}"))
            }
            // No track has an empty name.
            None if track.part == Part::Counters => (parent, format!("{process}//counters")),
            None => (parent, process.into_owned()),
        };
        let clock = match trace.is_dated {
            true => TimestampType::ClockRealtime,
            false => TimestampType::None,
        };
        let options = StreamOptions::new(self.domain)
            .scope(scope)
            .time_domain(clock)
            .ordering(StreamOrdering::PackedRangeStart)
            .batch_ordering(BatchOrdering::Sorted)
            .plain_events(false);
        Ok(session.open_stream(&name, options)?)
    }
}
