//! Packets: from ordered events to the bytes of the file.

mod emit;

use std::mem;
use std::slice;
use std::sync::Arc;

use nvtxw_backend::{EventKind, Result, SchemaRole};

use super::descriptor::descriptor;
use super::field::{attributes, clock_snapshot, defaults, event, packet, trace};
use super::head::{Head, Lane};
use super::steps::{self, Steps};
use super::value::{ValueEvent, ValueHead};
use crate::format::{Fact, FactValue, Number};
use crate::ids::IdSet;
use crate::outlet::Outlet;
use crate::proto::Writer;
use crate::sink::Sink;
use crate::timeline::On;
use crate::track::{TrackId, Tracks};

/// The sequence of packets about the session as a whole.
const SESSION_SEQUENCE: u32 = 1;

/// Above the bits of the flags of a packet that is a mark there is its number, from 1.
const MARK_SHIFT: u32 = 2;

/// The number of a mark that has these flags.
pub(super) fn mark_of(flags: u64) -> Option<u32> {
    u32::try_from((flags >> MARK_SHIFT).checked_sub(1)?).ok()
}

/// Packets about the session as a whole.
#[derive(Default)]
pub(crate) struct Header(Writer);

impl Header {
    /// Adds which dates the file's times are: they count from `base`, in nanoseconds since 1970.
    ///
    /// Files without dates have no clocks to tell: readers would show the packet as a track, before all others.
    pub(super) fn dates(mut self, base: i64) -> Self {
        // No clock shows less than 0.
        let (own, date) = match base {
            0.. => (0, base.unsigned_abs()),
            _ => (base.unsigned_abs(), 0),
        };
        packet(&mut self.0, SESSION_SEQUENCE, 0, 0, |out| {
            let snapshot = out.open(packet::CLOCK_SNAPSHOT, 0);
            for (clock, time) in [
                (clock_snapshot::BOOTTIME, own),
                (clock_snapshot::REALTIME, date),
            ] {
                let open = out.open(clock_snapshot::CLOCKS, 0);
                out.uint(clock_snapshot::CLOCK_ID, clock);
                out.uint(clock_snapshot::TIMESTAMP, time);
                out.close(open);
            }
            out.uint(clock_snapshot::PRIMARY, clock_snapshot::BOOTTIME);
            out.close(snapshot);
        });
        self
    }

    pub(super) fn facts(mut self, facts: &[Fact<'_>]) -> Self {
        for fact in facts {
            self.attribute(fact.key, |out| match fact.value {
                FactValue::Text(text) => out.text(attributes::STRING, text),
                FactValue::Number(number) => out.int(attributes::LONG, number),
            });
        }
        self
    }

    pub(crate) fn append_to(&self, sink: &Sink) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Ok(sink.append(self.0.as_bytes())?)
    }

    fn attribute(&mut self, key: &str, value: impl FnOnce(&mut Writer)) {
        packet(&mut self.0, SESSION_SEQUENCE, 0, 0, |out| {
            let all = out.open(packet::TRACE_ATTRIBUTES, 0);
            let one = out.open(attributes::ATTRIBUTE, 0);
            out.text(attributes::KEY, key);
            value(out);
            out.close(one);
            out.close(all);
        });
    }
}

/// One packet of about `expected` bytes.
fn packet(
    out: &mut Writer,
    sequence: u32,
    flags: u64,
    expected: usize,
    content: impl FnOnce(&mut Writer),
) {
    let open = out.open(trace::PACKET, expected);
    out.uint(packet::SEQUENCE, sequence.into());
    if flags != 0 {
        out.uint(packet::SEQUENCE_FLAGS, flags);
    }
    content(out);
    out.close(open);
}

/// So many tracks that were used are known without a search.
const RECENT: usize = 16;

/// A stream's packets, on their way to the file.
pub(crate) struct Packets {
    outlet: Outlet,
    /// The timestamp that is 0 in the file.
    base: i64,
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    number: u32,
    sequence: u32,
    /// The second one is that of ranges that were declared to nest.
    heads: [Head; 2],
    ready_heads: [Option<Head>; 2],
    /// The track of events that name none, once the sequence has begun.
    default_track: Option<TrackId>,
    /// By the timeline's numbers: each place with its lanes.
    places: Vec<(TrackId, Vec<TrackId>)>,
    counters: Vec<Counter>,
    /// The tracks that this sequence has described.
    described: IdSet<TrackId>,
    /// Some of them, by their low bits; 0 is none.
    recent: [TrackId; RECENT],
    /// How long the fields of the last ready range were.
    usual: usize,
    steps: Steps,
}

struct Counter {
    track: TrackId,
    /// How many counters come together from this one on.
    count: u32,
    /// Whether this sequence has described all of these.
    are_described: bool,
    /// For what is made ready.
    event: Option<ValueEvent>,
}

/// What is left of a stream's packets when all are in the file: as little as can be, since a session may have very
/// many streams.
pub(crate) struct Left {
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    number: u32,
    default_track: Option<TrackId>,
    /// By the timeline's numbers: each place with its lanes.
    pub(super) places: Box<[(TrackId, Box<[TrackId]>)]>,
    pub(super) counters: Box<[TrackId]>,
}

impl Left {
    pub(super) fn sequence(&self) -> u32 {
        sequence_of(self.number)
    }
}

/// The sequence of the packets of the stream with this number.
fn sequence_of(number: u32) -> u32 {
    SESSION_SEQUENCE + 1 + number
}

impl Packets {
    /// `number` counts the streams from 0.
    pub(crate) fn new(sink: Arc<Sink>, tracks: Arc<Tracks>, number: u32) -> Self {
        let sequence = sequence_of(number);
        let heads = [false, true].map(|nests| Head::new(sequence, nests));
        Self {
            outlet: Outlet::new(sink),
            base: 0,
            tracks,
            number,
            sequence,
            heads,
            ready_heads: heads.map(Head::of_ready),
            usual: 0,
            steps: Steps::default(),
            default_track: None,
            places: Vec::new(),
            counters: Vec::new(),
            described: IdSet::default(),
            recent: [0; RECENT],
        }
    }

    /// What another file needs to go on; here nothing follows.
    pub(super) fn leave(&mut self) -> Left {
        let places = mem::take(&mut self.places).into_iter();
        Left {
            tracks: Arc::clone(&self.tracks),
            number: self.number,
            default_track: self.default_track,
            places: places.map(|(place, lanes)| (place, lanes.into())).collect(),
            counters: (mem::take(&mut self.counters).into_iter())
                .map(|counter| counter.track)
                .collect(),
        }
    }

    /// Goes on in another file, where nothing is described yet.
    pub(super) fn again(left: &Left, sink: &Arc<Sink>, base: i64) -> Self {
        let places = left.places.iter();
        let mut packets = Self {
            base,
            default_track: left.default_track,
            places: places
                .map(|(place, lanes)| (*place, lanes.to_vec()))
                .collect(),
            ..Self::new(Arc::clone(sink), Arc::clone(&left.tracks), left.number)
        };
        for counter in &left.counters {
            packets.add_counters(slice::from_ref(counter));
        }
        packets
    }

    /// The place with the next number of the timeline.
    pub(crate) fn add_place(&mut self, place: TrackId) {
        self.places.push((place, Vec::new()));
    }

    /// Counters that come together. Returns the number of the first one.
    pub(crate) fn add_counters(&mut self, tracks: &[TrackId]) -> u32 {
        let first = self.counters.len() as u32;
        let counts = (1..=tracks.len() as u32).rev();
        let counters = tracks.iter().zip(counts).map(|(&track, count)| Counter {
            track,
            count,
            are_described: false,
            event: ValueEvent::new(track),
        });
        self.counters.extend(counters);
        first
    }

    /// Sets the timestamp that is 0 in the file.
    pub(crate) fn begin(&mut self, base: i64) {
        self.base = base;
    }

    /// Begins the sequence, and writes the texts that later events refer to. There must be a place.
    pub(crate) fn texts(&mut self, texts: &mut Writer) {
        if self.default_track.is_none() {
            let track = self.lane(0, 0);
            self.default_track = Some(track);
            packet(
                &mut self.outlet.out,
                self.sequence,
                packet::CLEARED,
                0,
                |out| put_defaults(track, None, out),
            );
        }
        if !texts.is_empty() {
            let len = texts.len();
            packet(
                &mut self.outlet.out,
                self.sequence,
                packet::NEEDS,
                len + 16,
                |out| {
                    let all = out.open(packet::INTERNED_DATA, len);
                    out.raw(texts.as_bytes());
                    out.close(all);
                },
            );
            texts.clear();
        }
    }

    /// What follows is on a first lane, or of counters that come together.
    fn use_ready(&mut self, on: On) {
        self.use_clock(false);
        match on {
            On::Place(place) => {
                let track = self.lane(place, 0);
                self.use_track(track);
            }
            On::Counter(first) if !self.counters[first as usize].are_described => {
                let first = first as usize;
                let count = self.counters[first].count as usize;
                for counter in first..first + count {
                    self.use_track(self.counters[counter].track);
                }
                self.counters[first].are_described = true;
            }
            On::Counter(_) => {}
        }
    }

    /// Where this goes to the file.
    pub(super) fn outlet(&mut self) -> &mut Outlet {
        &mut self.outlet
    }

    /// Appends what there is to the file.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    pub(super) fn send(&mut self) -> Result<()> {
        self.outlet.send()
    }

    /// How many events were not written because of an error.
    pub(super) fn lost(&self) -> u64 {
        self.outlet.lost()
    }

    /// The track of a lane.
    fn lane(&mut self, place: u32, lane: u32) -> TrackId {
        let (place, lanes) = &mut self.places[place as usize];
        while lanes.len() <= lane as usize {
            lanes.push(self.tracks.lane(*place, self.number));
        }
        lanes[lane as usize]
    }

    /// Appends a range as it is in the file if it stands on the first lane of its place.
    #[inline]
    pub(crate) fn make_range(
        &mut self,
        out: &mut Writer,
        place: u32,
        (start, end): (u64, u64),
        nests: bool,
        fields: impl FnOnce(&mut Writer),
    ) {
        let track = self.first_lane(place);
        let Self { heads, usual, .. } = self;
        let head = heads[usize::from(nests)];
        head.event(out, event::BEGIN, track, start, *usual, |out| {
            let len = out.len();
            fields(out);
            *usual = out.len() - len;
        });
        head.event(out, event::END, track, end, 0, |_| {});
    }

    /// Appends an instant as it is in the file.
    pub(crate) fn make_instant(
        &mut self,
        out: &mut Writer,
        place: u32,
        time: u64,
        fields: impl FnOnce(&mut Writer),
    ) {
        let track = self.first_lane(place);
        let Self { heads, usual, .. } = self;
        heads[0].event(out, event::INSTANT, track, time, *usual, |out| {
            let len = out.len();
            fields(out);
            *usual = out.len() - len;
        });
    }

    /// Appends the values of counters from this one on as they are in the file.
    #[inline]
    pub(crate) fn make_values(
        &mut self,
        out: &mut Writer,
        first: u32,
        time: u64,
        values: &[Number],
    ) {
        let head = self.ready_heads[0].map(|head| ValueHead::new(head, time));
        for (counter, &number) in self.counters[first as usize..].iter().zip(values) {
            if let Some(head) = &head
                && let Some(event) = &counter.event
                && event.write(head, number, out).is_some()
            {
                continue;
            }
            any_value(self.heads[0], counter.track, time, number, out);
        }
    }

    /// The first lane of a place, for whole events of this role. `None`, in a session with very many streams, if what its events
    /// begin with is more than a word.
    #[inline]
    pub(crate) fn ready_lane(&mut self, place: u32, role: SchemaRole) -> Option<Lane> {
        let nests = role == SchemaRole::Event(EventKind::RangePushPop);
        let kind = match role {
            SchemaRole::Event(EventKind::Mark) => event::INSTANT,
            _ => event::BEGIN,
        };
        let head = self.ready_heads[usize::from(nests)]?;
        Lane::new(head, kind, self.first_lane(place))
    }

    /// The track of the first lane of a place, unless it is the default one.
    #[inline]
    fn first_lane(&mut self, place: u32) -> Option<TrackId> {
        match place {
            0 => None,
            _ => Some(self.lane(place, 0)),
        }
    }

    fn event(&mut self, kind: u64, track: TrackId, time: i64, nests: bool, fields: &[u8]) {
        let (track, time) = self.begin_event(track, time);
        let (nests, out) = (usize::from(nests), &mut self.outlet.out);
        if let Some(head) = self.ready_heads[nests]
            && let Some(lane) = Lane::new(head, kind, track)
            && lane.write(time, fields, out).is_some()
        {
            return;
        }
        self.heads[nests].event(out, kind, track, time, fields.len(), |out| {
            out.raw(fields);
        });
    }

    /// How the next event tells its track and its time, which the file holds.
    fn begin_event(&mut self, track: TrackId, time: i64) -> (Option<TrackId>, u64) {
        self.use_clock(false);
        (self.named(track), time.wrapping_sub(self.base) as u64)
    }

    /// How the next event tells its track.
    fn named(&mut self, track: TrackId) -> Option<TrackId> {
        self.use_track(track);
        (self.default_track != Some(track)).then_some(track)
    }

    /// What follows tells its times as steps from one to the next, or as they are.
    fn use_clock(&mut self, is_steps: bool) {
        let Some(track) = self
            .default_track
            .filter(|_| self.steps.are_told != is_steps)
        else {
            return;
        };
        self.steps.are_told = is_steps;
        let out = &mut self.outlet.out;
        if is_steps && !mem::replace(&mut self.steps.have_clock, true) {
            packet(out, self.sequence, 0, 0, steps::put_clock);
        }
        let clock = match is_steps {
            true => clock_snapshot::OWN,
            false => clock_snapshot::BOOTTIME,
        };
        packet(out, self.sequence, packet::NEEDS, 0, |out| {
            put_defaults(track, Some(clock), out);
        });
    }

    fn use_track(&mut self, track: TrackId) {
        if self.recent[track as usize % RECENT] != track {
            self.describe(track);
            self.recent[track as usize % RECENT] = track;
        }
    }

    /// Describes the track and its ancestors where the sequence has not.
    fn describe(&mut self, track: TrackId) {
        let Self {
            tracks,
            described,
            outlet,
            sequence,
            ..
        } = self;
        let out = &mut outlet.out;
        tracks.describe(track, described, |id, track| {
            packet(out, *sequence, 0, track.label.name.len() + 64, |out| {
                let open = out.open(packet::TRACK_DESCRIPTOR, track.label.name.len() + 32);
                descriptor(out, id, track);
                out.close(open);
            });
        });
    }
}

/// What events are by that don't tell it: the track, and the clock if it isn't that of the file.
fn put_defaults(track: TrackId, clock: Option<u64>, out: &mut Writer) {
    let all = out.open(packet::DEFAULTS, 0);
    let events = out.open(defaults::TRACK_EVENT, 0);
    out.uint(defaults::TRACK_UUID, track);
    out.close(events);
    if let Some(clock) = clock {
        out.uint(defaults::CLOCK_ID, clock);
    }
    out.close(all);
}

/// Appends the packet of a counter's value. What is worked out for it is not to be so where it isn't needed.
#[inline(never)]
fn any_value(head: Head, track: TrackId, time: u64, number: Number, out: &mut Writer) {
    head.event(out, event::COUNTER, Some(track), time, 0, |out| {
        value(number, out);
    });
}

/// Appends the fields of an event that is a counter's value.
pub(super) fn value(number: Number, out: &mut Writer) {
    match number {
        Number::Int(value) => out.int(event::COUNTER_VALUE, value),
        // The format has no unsigned counters.
        _ => out.double(event::DOUBLE_COUNTER_VALUE, number.as_f64()),
    }
}
