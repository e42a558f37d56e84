//! Lines: from ordered events to the text of the file.

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nvtxw_backend::{Result, Time};

use super::Chrome;
use super::arrow::{self, BOUND_FROM, END, START, copy, flows};
use super::counter::{Counter, VALUE, value_of};
use super::encoder::{FLOW, Quick, has_flows};
use super::flows::{Joint, Member, Point};
use super::thread::{INSTANT, Thread, open_point, open_range};
use super::threads::{self, Spot};
use crate::format::Ranges;
use crate::json;
use crate::merge::ArrowEnd;
use crate::outlet::Outlet;
use crate::proto::Writer;
use crate::sink::Sink;
use crate::timeline::{Base, Emit, Latest, On, WholeRange};
use crate::track::{TrackId, Tracks};

/// A stream's lines, on their way to the file.
pub(crate) struct Lines {
    session: Arc<Chrome>,
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    number: u32,
    outlet: Outlet,
    /// The lines of arrows, until the line of their event is whole.
    arrows: Writer,
    /// Whether events come for the second time: their flows are ends of arrows then.
    is_again: bool,
    /// By the timeline's numbers: each place with its lanes.
    places: Vec<(TrackId, Vec<Thread>)>,
    counters: Vec<Counter>,
}

/// What is left of a stream's lines when all are in the file: as little as can be, since a session may have very many
/// streams.
pub(crate) struct Left {
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    pub(super) number: u32,
    /// By the timeline's numbers: each place with its lanes.
    pub(super) places: Box<[(TrackId, Box<[TrackId]>)]>,
    /// With the source of each.
    pub(super) counters: Box<[(TrackId, u64)]>,
}

/// What stands before the end that a range has itself.
pub(super) const MOVED_END: &[u8] = b"\"nvtxw.end\":";

/// The name of what marks that a stream goes on with times by other clocks, or by what is known of them by then.
pub(super) const MARK: &str = "nvtxw.epoch";

/// What ends the line of an event.
pub(super) const CLOSE: &[u8; 2] = b"}}";

pub(super) fn close(out: &mut Writer) {
    out.put(CLOSE);
}

impl Lines {
    pub(super) fn new(session: &Arc<Chrome>, tracks: &Arc<Tracks>, number: u32) -> Self {
        Self {
            session: Arc::clone(session),
            tracks: Arc::clone(tracks),
            number,
            outlet: Outlet::new(Arc::clone(&session.sink)),
            arrows: Writer::default(),
            is_again: false,
            places: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// What another file needs to go on; here nothing follows.
    pub(super) fn leave(&mut self) -> Left {
        let places = mem::take(&mut self.places).into_iter();
        let counters = mem::take(&mut self.counters).into_iter();
        let tracks = |lanes: Vec<Thread>| lanes.iter().map(|lane| lane.spot.track()).collect();
        Left {
            tracks: Arc::clone(&self.tracks),
            number: self.number,
            places: places
                .map(|(place, lanes)| (place, tracks(lanes)))
                .collect(),
            counters: counters
                .map(|counter| (counter.track(), counter.source))
                .collect(),
        }
    }

    /// Goes on in another file, where its threads are not described, and counters are.
    pub(super) fn again(left: &Left, session: &Arc<Chrome>, sink: &Arc<Sink>) -> Self {
        let (places, counters) = (left.places.iter(), left.counters.iter());
        let threads = |lanes: &[TrackId]| {
            let spots = lanes.iter().map(|track| Spot::of(*track, &left.tracks));
            spots.map(Thread::new).collect()
        };
        Self {
            outlet: Outlet::new(Arc::clone(sink)),
            is_again: true,
            places: places
                .map(|(place, lanes)| (*place, threads(lanes)))
                .collect(),
            counters: counters
                .map(|&(track, source)| Counter::again(track, source, session, &left.tracks))
                .collect(),
            ..Self::new(session, &left.tracks, left.number)
        }
    }

    /// The place with the next number of the timeline.
    pub(super) fn add_place(&mut self, place: TrackId) {
        self.places.push((place, Vec::new()));
    }

    /// Returns the number of the first counter.
    pub(super) fn add_counters(&mut self, tracks: &[TrackId]) -> u32 {
        let first = self.counters.len() as u32;
        for &track in tracks {
            let source = self.session.sources.fetch_add(1, Ordering::Relaxed);
            let counter = Counter::new(track, source, &self.session, &self.tracks);
            self.counters.push(counter);
        }
        first
    }

    /// What follows are ready lines on a first lane, or of a counter. Writes those that can't stay as they are, and returns
    /// how many bytes and events these are.
    fn use_ready(&mut self, on: On, bytes: &[u8]) -> (usize, u64) {
        let place = match on {
            On::Place(place) => place,
            On::Counter(counter) => {
                self.use_counter(counter);
                return (0, 0);
            }
        };
        self.use_lane(place, 0);
        let thread = &mut self.places[place as usize].1[0];
        let (taken, events) = thread.split(self.session.base, bytes, &mut self.outlet.out);
        if events > 0 {
            self.outlet.complete(events);
        }
        (taken, events)
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

    /// For the usual ranges of a schema on the first lane of a place.
    #[inline]
    pub(super) fn ranges<'l>(
        &'l mut self,
        place: u32,
        nests: bool,
        quick: Quick<'l>,
    ) -> QuickRanges<'l> {
        self.make_lanes(place, 0);
        QuickRanges {
            quick,
            head: self.places[place as usize].1[0].head(nests),
            base: self.session.base,
        }
    }

    /// Appends the line of an event on the first lane of its place, up to what the event says.
    pub(super) fn open(&mut self, time: Time, nests: bool, place: u32, out: &mut Writer) {
        self.make_lanes(place, 0);
        let (thread, base) = (&self.places[place as usize].1[0], self.session.base);
        match time {
            Time::Range { start, end } => open_range(thread.head(nests), base, start, end, out),
            Time::Point(time) => open_point(INSTANT, thread.head(true), base, time, out),
        }
    }

    /// Appends the line of a counter's value; `false`, and appends nothing, if that depends on those
    /// before.
    pub(super) fn make_value(
        &self,
        counter: u32,
        time: i64,
        out: &mut Writer,
        value: impl FnOnce(&mut Writer),
    ) -> bool {
        let counter = &self.counters[counter as usize];
        if counter.is_sum() {
            return false;
        }
        counter.write(self.session.base, time, out, value);
        true
    }

    /// Makes sure that a lane is there.
    fn make_lanes(&mut self, place: u32, lane: u32) {
        let (place, lanes) = &mut self.places[place as usize];
        while lanes.len() <= lane as usize {
            let track = self.tracks.lane(*place, self.number);
            lanes.push(Thread::new(Spot::of(track, &self.tracks)));
        }
    }

    /// Describes a lane if the file has no name for it yet.
    fn use_lane(&mut self, place: u32, lane: u32) {
        self.make_lanes(place, lane);
        let thread = &mut self.places[place as usize].1[lane as usize];
        thread.describe(&self.session, &mut self.outlet.out);
    }

    fn use_counter(&mut self, counter: u32) {
        self.counters[counter as usize].describe(&self.session, &mut self.outlet.out);
    }

    /// Appends what an event says, with the names of its flows if it is a range, and closes the line.
    fn say(&mut self, member: Option<Member>, event: &[u8]) {
        if let Some(member) = member {
            self.join(member, event);
        }
        let out = &mut self.outlet.out;
        copy(event, out);
        close(out);
        if !self.arrows.is_empty() {
            out.raw(self.arrows.as_bytes());
            self.arrows.clear();
        }
    }

    /// A range on a lane that starts here.
    fn member(&self, place: u32, lane: u32, start: i64, end: i64) -> Member {
        let spot = &self.places[place as usize].1[lane as usize].spot;
        Member {
            point: Point {
                process: spot.process,
                thread: spot.thread,
                time: start,
            },
            length: end.wrapping_sub(start) as u64,
            is_free: true,
        }
    }

    /// Names the flows of an event in its line, which is not whole yet.
    fn join(&mut self, member: Member, event: &[u8]) {
        let mut all = flows(event);
        let Some(first) = all.next() else {
            return;
        };
        let is_alone = all.all(|flow| flow == first);
        let (base, out) = (self.session.base, &mut self.outlet.out);
        let mut add = |phase, number, point| {
            arrow::arrow(phase, number, point, base, &mut self.arrows);
        };
        if self.is_again {
            for mark in flows(event) {
                match ArrowEnd::from_mark(mark) {
                    ArrowEnd::Start(number) => add(START, number, member.point),
                    ArrowEnd::End(number) => add(END, number, member.point),
                    ArrowEnd::First(number) => arrow::bind(number | BOUND_FROM, false, true, out),
                    ArrowEnd::Next(number) => arrow::bind(number | BOUND_FROM, true, true, out),
                    ArrowEnd::Last(number) => arrow::bind(number | BOUND_FROM, true, false, out),
                }
            }
            return;
        }
        let member = Member {
            is_free: member.is_free && is_alone,
            ..member
        };
        // Both halves of a range may have one.
        for flow in flows(event).take(if is_alone { 1 } else { usize::MAX }) {
            match self.session.flows.meet(flow, member) {
                Joint::Bound { follows } => arrow::bind(flow, follows, !follows, out),
                Joint::Apart(joined) => {
                    arrow::name(flow, out);
                    if let Some((number, from, to)) = joined {
                        add(START, number, from);
                        add(END, number, to);
                    }
                }
            }
        }
    }
}

/// Writes the usual ranges of one schema to one lane.
pub(super) struct QuickRanges<'l> {
    quick: Quick<'l>,
    head: &'l [u8],
    base: i64,
}

impl Ranges for QuickRanges<'_> {
    #[inline]
    fn write<const N: usize>(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        _texts: &[Option<&[u8]>],
        latest: Option<Latest>,
        out: &mut Writer,
    ) -> Option<WholeRange> {
        if text.is_some() {
            return None;
        }
        let (start, end, name, category) = self.quick.read(payload)?;
        open_range(self.head, self.base, start, end, out);
        out.raw(name);
        out.raw(category);
        self.quick.write_args(payload, out);
        close(out);
        Some(WholeRange {
            start,
            end,
            step: latest.and_then(|latest| latest.step(start, end)),
            is_next: false,
        })
    }

    #[inline]
    fn base(&self) -> Base {
        Base::Decided
    }
}

impl Emit for Lines {
    fn mark(&mut self, number: u32) {
        let out = &mut self.outlet.out;
        out.raw(b",\n");
        threads::metadata(threads::SESSION, None, MARK, out);
        out.raw(b"\"stream\":");
        json::digits(self.number, out);
        out.raw(b",\"number\":");
        json::digits(number, out);
        out.raw(b"}}");
    }

    fn range(&mut self, place: u32, lane: u32, start: i64, end: i64, nests: bool, event: &[u8]) {
        self.use_lane(place, lane);
        let thread = &mut self.places[place as usize].1[lane as usize];
        let (base, out) = (self.session.base, &mut self.outlet.out);
        let splits = thread.splits(start, end);
        match splits {
            true => open_point(b"B", thread.head(nests), base, start, out),
            false => open_range(thread.head(nests), base, start, end, out),
        }
        // Readers take a half as if it had no length.
        let until = if splits { start } else { end };
        self.say(Some(self.member(place, lane, start, until)), event);
        if splits {
            let thread = &self.places[place as usize].1[lane as usize];
            thread.close_half(base, end, &mut self.outlet.out);
        }
        self.outlet.complete(1);
    }

    fn begin(&mut self, place: u32, lane: u32, time: i64, nests: bool, event: &[u8]) {
        self.use_lane(place, lane);
        let thread = &mut self.places[place as usize].1[lane as usize];
        thread.begin(time);
        let (base, out) = (self.session.base, &mut self.outlet.out);
        open_point(b"B", thread.head(nests), base, time, out);
        if has_flows(event) {
            // Some readers join complete ranges only.
            self.session.flows.unsettle();
        }
        self.say(Some(self.member(place, lane, time, time)), event);
        self.outlet.complete(1);
    }

    fn end(&mut self, place: u32, lane: u32, mut time: i64, asked: i64, event: &[u8]) {
        let thread = &mut self.places[place as usize].1[lane as usize];
        let (start, is_told) = thread.end(time);
        if !is_told {
            // Until the file is put in order it ends one nanosecond later: ends come first at one time.
            self.session.unsettle();
            time = time.saturating_add(1);
        }
        let (base, out) = (self.session.base, &mut self.outlet.out);
        open_point(b"E", thread.head(asked == time), base, time, out);
        // The first half is not before it.
        let rest = event.strip_prefix(b",").unwrap_or(event);
        if has_flows(rest) {
            // They belong to the start, which is written.
            self.session.flows.unsettle();
            let mut member = self.member(place, lane, start, start);
            member.is_free = false;
            self.join(member, rest);
        }
        let out = &mut self.outlet.out;
        out.raw(b"\"args\":{");
        if asked != time {
            out.raw(MOVED_END);
            json::micros(base, asked, out);
            if !matches!(rest, [] | [FLOW, ..]) {
                out.put(b",");
            }
        }
        self.say(None, rest);
        self.outlet.complete(0);
    }

    fn instant(&mut self, place: u32, time: i64, event: &[u8]) {
        self.use_lane(place, 0);
        let thread = &mut self.places[place as usize].1[0];
        let (base, out) = (self.session.base, &mut self.outlet.out);
        open_point(INSTANT, thread.head(true), base, time, out);
        self.say(None, event);
        self.outlet.complete(1);
    }

    fn value(&mut self, counter: u32, time: i64, value: &[u8]) {
        self.use_counter(counter);
        let counter = &mut self.counters[counter as usize];
        counter.add(self.session.base, time, value, &mut self.outlet.out);
        self.outlet.complete(1);
    }

    fn ready(&mut self, on: On, events: u64, bytes: &[u8]) {
        let (taken, done) = self.use_ready(on, bytes);
        self.outlet.append(events - done, &bytes[taken..]);
    }

    fn ready_to_keep(&mut self, on: On, events: u64, bytes: &mut Writer, range: Range<usize>) {
        let (taken, done) = self.use_ready(on, &bytes.as_bytes()[range.clone()]);
        let range = range.start + taken..range.end;
        self.outlet.append_or_keep(events - done, bytes, range);
    }

    fn fields_of(ready: &[u8]) -> &[u8] {
        let ready = ready.strip_suffix(CLOSE).unwrap_or(ready);
        if ready.starts_with(VALUE) {
            return value_of(ready);
        }
        // Before that there are only numbers.
        let name = b"\"name\":";
        let at = ready.windows(name.len()).position(|part| part == name);
        at.map_or(&[], |at| &ready[at..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_ready_line_says_is_found() {
        let ready = b",\n{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.001,\"dur\":0.000,\"name\":\"\\\"name\\\":\",\"args\":{\"a\":{}}}";
        assert_eq!(
            Lines::fields_of(ready),
            b"\"name\":\"\\\"name\\\":\",\"args\":{\"a\":{}"
        );
    }

    #[test]
    fn values_of_ready_lines_are_found() {
        for value in ["-5", "0.5e-7", "\"NaN\""] {
            let ready = format!(
                ",\n{{\"ph\":\"C\",\"source\":0,\"pid\":1,\"ts\":0.001,\"name\":\"a\",\"args\":{{\"\\\":\":{value}}}}}"
            );
            assert_eq!(Lines::fields_of(ready.as_bytes()), value.as_bytes());
        }
    }
}
