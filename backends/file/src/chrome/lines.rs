//! Lines: from ordered events to the text of the file.

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nvtxw_backend::{Result, Time};

use super::Chrome;
use super::arrow::{self, END, FLOWS, START, copy, flows};
use super::encoder::{FLOW, Quick};
use super::flows::{Arrow, Point};
use super::threads::{self, Spot};
use crate::format::{Number, Ranges};
use crate::json;
use crate::merge::ArrowEnd;
use crate::outlet::Outlet;
use crate::proto::Writer;
use crate::sink::Sink;
use crate::timeline::{Base, Emit, On};
use crate::track::{Scale, TrackId, Tracks};

/// A stream's lines, on their way to the file.
pub(crate) struct Lines {
    session: Arc<Chrome>,
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    number: u32,
    outlet: Outlet,
    /// Whether events come for the second time: their flows are ends of arrows then.
    is_again: bool,
    /// By the timeline's numbers: each place with its lanes.
    places: Vec<(TrackId, Vec<Thread>)>,
    counters: Vec<Counter>,
}

/// The thread that a lane is.
struct Thread {
    spot: Spot,
    /// What its events begin with: process, thread, and the name of the time. In the second one the
    /// thread stands first: readers take fields in any order, and who puts the file in order has to
    /// know which ranges were not declared to nest, and which ends were moved.
    heads: [Vec<u8>; 2],
    /// Whether the file has its name.
    described: bool,
}

struct Counter {
    spot: Spot,
    /// What tells it from the counters of other streams that are shown as one with it.
    source: u64,
    /// What its values begin with, up to the time.
    head: Vec<u8>,
    /// What is between the time and the value.
    middle: Vec<u8>,
    /// Of the values so far, if each is the difference to the one before.
    sum: Option<Number>,
    described: bool,
}

/// An instant of a thread.
const INSTANT: &[u8] = b"i\",\"s\":\"t";

/// What the line of a counter's value begins with.
const VALUE: &[u8] = b",\n{\"ph\":\"C\",\"source\":";
/// What stands before a difference to the value before.
pub(super) const DELTA: &[u8] = b",\"delta\":";

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
            is_again: false,
            places: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// The same stream for one more time; what is left has no places.
    pub(super) fn leave(&mut self) -> Self {
        Self {
            is_again: true,
            places: mem::take(&mut self.places),
            counters: mem::take(&mut self.counters),
            ..Self::new(&self.session, &self.tracks, self.number)
        }
    }

    /// Goes on in another file, where its threads are not described, and counters are.
    pub(super) fn go_on(&mut self, sink: &Arc<Sink>) {
        self.outlet = Outlet::new(Arc::clone(sink));
        for thread in self.places.iter_mut().flat_map(|(_, lanes)| lanes) {
            thread.described = false;
        }
        for counter in &mut self.counters {
            counter.sum = counter.sum.and(Some(Number::Int(0)));
        }
    }

    /// Among the streams of the session, from 0.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// For each place the threads of its lanes, by the timeline's numbers.
    pub(super) fn places(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = u64>> {
        let places = self.places.iter();
        places.map(|(_, lanes)| lanes.iter().map(|lane| lane.spot.thread))
    }

    /// The sources of counters.
    pub(super) fn sources(&self) -> impl Iterator<Item = u64> {
        self.counters.iter().map(|counter| counter.source)
    }

    /// The place with the next number of the timeline.
    pub(super) fn add_place(&mut self, place: TrackId) {
        self.places.push((place, Vec::new()));
    }

    /// Returns the counter's number.
    pub(super) fn add_counter(&mut self, track: TrackId) -> u32 {
        let spot = Spot::of(track, &self.tracks);
        let source = self.session.sources.fetch_add(1, Ordering::Relaxed);
        let mut head = Writer::default();
        head.raw(VALUE);
        json::digits(source, &mut head);
        head.raw(b",\"pid\":");
        json::digits(spot.process, &mut head);
        head.raw(b",\"ts\":");
        let mut middle = Writer::default();
        middle.raw(b",\"name\":");
        json::text(&spot.name, &mut middle);
        if self.session.threads.is_namesake(&spot) {
            middle.raw(b",\"id\":\"");
            json::digits(track, &mut middle);
            middle.raw(b"\"");
        }
        middle.raw(b",\"args\":{");
        json::text(&unit(spot.scale.as_ref()), &mut middle);
        middle.raw(b":");
        let is_delta = spot.scale.as_ref().is_some_and(|scale| scale.is_delta);
        self.counters.push(Counter {
            spot,
            source,
            sum: is_delta.then_some(Number::Int(0)),
            head: head.as_bytes().to_vec(),
            middle: middle.as_bytes().to_vec(),
            described: false,
        });
        (self.counters.len() - 1) as u32
    }

    /// What follows is on a first lane, or of a counter.
    fn use_ready(&mut self, on: On) {
        match on {
            On::Place(place) => self.use_lane(place, 0),
            On::Counter(counter) => self.use_counter(counter),
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
        if counter.sum.is_some() {
            return false;
        }
        make_value(counter, self.session.base, time, out, value);
        true
    }

    /// Makes sure that a lane is there.
    fn make_lanes(&mut self, place: u32, lane: u32) {
        let (place, lanes) = &mut self.places[place as usize];
        while lanes.len() <= lane as usize {
            let spot = Spot::of(self.tracks.lane(*place, self.number), &self.tracks);
            let numbers = [("pid", spot.process), ("tid", spot.thread)];
            let heads = [numbers, [numbers[1], numbers[0]]].map(|numbers| {
                let [(first, one), (second, other)] = numbers;
                format!("\",\"{first}\":{one},\"{second}\":{other},\"ts\":").into_bytes()
            });
            lanes.push(Thread {
                spot,
                heads,
                described: false,
            });
        }
    }

    /// Describes a lane if the file has no name for it yet.
    fn use_lane(&mut self, place: u32, lane: u32) {
        self.make_lanes(place, lane);
        let thread = &mut self.places[place as usize].1[lane as usize];
        if !thread.described {
            thread.described = true;
            self.session.threads.add(&thread.spot, &mut self.outlet.out);
        }
    }

    fn use_counter(&mut self, counter: u32) {
        let counter = &mut self.counters[counter as usize];
        if !counter.described {
            counter.described = true;
            (self.session.threads).add_counter(&counter.spot, &mut self.outlet.out);
        }
    }

    /// The line of an instant, or of the first half of a range.
    fn point(&mut self, phase: &[u8], place: u32, lane: u32, time: i64, nests: bool, event: &[u8]) {
        let thread = &self.places[place as usize].1[lane as usize];
        let out = &mut self.outlet.out;
        open_point(phase, thread.head(nests), self.session.base, time, out);
        copy(event, out);
        close(out);
    }

    /// The lines of the flows that an event has, named by one of [`FLOWS`].
    fn join(&mut self, place: u32, lane: u32, time: i64, event: &[u8], name: &[u8]) {
        let spot = &self.places[place as usize].1[lane as usize].spot;
        for flow in flows(event) {
            let here = Point {
                process: spot.process,
                thread: spot.thread,
                time,
            };
            let (base, out) = (self.session.base, &mut self.outlet.out);
            if self.is_again {
                let (number, phase) = match ArrowEnd::from_mark(flow) {
                    ArrowEnd::Start(number) => (number, START),
                    ArrowEnd::End(number) => (number, END),
                };
                arrow::arrow(phase, number, here, base, out);
                arrow::close(out);
                continue;
            }
            let met = self.session.flows.meet(flow, here);
            match met.arrow {
                None => {}
                Some(Arrow::Here(number)) => {
                    arrow::arrow(END, number, here, base, out);
                    arrow::close(out);
                }
                Some(Arrow::There(number, there)) => {
                    arrow::arrow(START, number, here, base, out);
                    arrow::close(out);
                    arrow::arrow(END, number, there, base, out);
                    arrow::close(out);
                }
            }
            arrow::arrow(START, met.start, here, base, out);
            // For who puts the file in order.
            out.raw(name);
            json::digits(flow, out);
            out.put(b"\"");
            arrow::close(out);
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
    fn write(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        out: &mut Writer,
    ) -> Option<(i64, i64)> {
        if text.is_some() {
            return None;
        }
        let (start, end, name, category) = self.quick.read(payload)?;
        open_range(self.head, self.base, start, end, out);
        out.raw(name);
        out.raw(category);
        self.quick.write_args(payload, out);
        close(out);
        Some((start, end))
    }

    #[inline]
    fn base(&self) -> Base {
        Base::Decided
    }
}

impl Thread {
    /// What the events of ranges begin with that were declared to nest, or were not.
    #[inline]
    fn head(&self, nests: bool) -> &[u8] {
        &self.heads[usize::from(!nests)]
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
        let thread = &self.places[place as usize].1[lane as usize];
        let out = &mut self.outlet.out;
        open_range(thread.head(nests), self.session.base, start, end, out);
        copy(event, out);
        close(out);
        self.join(place, lane, start, event, FLOWS[0]);
        self.outlet.complete(1);
    }

    fn begin(&mut self, place: u32, lane: u32, time: i64, nests: bool, event: &[u8]) {
        self.use_lane(place, lane);
        self.point(b"B", place, lane, time, nests, event);
        self.join(place, lane, time, event, FLOWS[0]);
        self.outlet.complete(1);
    }

    fn end(&mut self, place: u32, lane: u32, time: i64, asked: i64, event: &[u8]) {
        // An arrow points to what is open.
        self.join(place, lane, time, event, FLOWS[1]);
        let thread = &self.places[place as usize].1[lane as usize];
        let (base, out) = (self.session.base, &mut self.outlet.out);
        open_point(
            b"E",
            &thread.heads[usize::from(asked != time)],
            base,
            time,
            out,
        );
        out.raw(b"\"args\":{");
        // The first half is not before it.
        let rest = event.strip_prefix(b",").unwrap_or(event);
        if asked != time {
            out.raw(MOVED_END);
            json::micros(base, asked, out);
            if !matches!(rest, [] | [FLOW, ..]) {
                out.put(b",");
            }
        }
        copy(rest, out);
        close(out);
        self.outlet.complete(0);
    }

    fn instant(&mut self, place: u32, time: i64, event: &[u8]) {
        self.use_lane(place, 0);
        self.point(INSTANT, place, 0, time, true, event);
        self.outlet.complete(1);
    }

    fn value(&mut self, counter: u32, time: i64, value: &[u8]) {
        self.use_counter(counter);
        let counter = &mut self.counters[counter as usize];
        if let Some(sum) = &mut counter.sum {
            *sum = add(*sum, value);
        }
        let (counter, base, out) = (&*counter, self.session.base, &mut self.outlet.out);
        match counter.sum {
            None => make_value(counter, base, time, out, |out| out.raw(value)),
            Some(sum) => {
                out.raw(&counter.head);
                json::micros(base, time, out);
                out.raw(DELTA);
                out.raw(value);
                out.raw(&counter.middle);
                super::value(sum, out);
                close(out);
            }
        }
        self.outlet.complete(1);
    }

    fn ready(&mut self, on: On, events: u64, bytes: &[u8]) {
        self.use_ready(on);
        self.outlet.append(events, bytes);
    }

    fn ready_to_keep(&mut self, on: On, events: u64, bytes: &mut Writer, range: Range<usize>) {
        self.use_ready(on);
        self.outlet.append_or_keep(events, bytes, range);
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

/// The value at the end of a counter's line that is not closed: no number, and none of the strings that stand for one, has
/// a colon.
pub(super) fn value_of(line: &[u8]) -> &[u8] {
    let at = line.iter().rposition(|byte| *byte == b':');
    at.map_or(&[], |at| &line[at + 1..])
}

/// Appends what stands before what a range says.
fn open_range(head: &[u8], base: i64, start: i64, end: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"X");
    out.raw(head);
    json::micros(base, start, out);
    out.put(b",\"dur\":");
    json::micros(start, end, out);
    out.put(b",");
}

/// The same for what has one time.
fn open_point(phase: &[u8], head: &[u8], base: i64, time: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"");
    out.raw(phase);
    out.raw(head);
    json::micros(base, time, out);
    out.put(b",");
}

fn make_value(
    counter: &Counter,
    base: i64,
    time: i64,
    out: &mut Writer,
    value: impl FnOnce(&mut Writer),
) {
    out.raw(&counter.head);
    json::micros(base, time, out);
    out.raw(&counter.middle);
    value(out);
    close(out);
}

/// The sum of a number and one that is written; what is no number is left out.
fn add(sum: Number, value: &[u8]) -> Number {
    let text = str::from_utf8(value).unwrap_or_default();
    let float = |sum: f64| {
        let value = text.parse().unwrap_or(0.0);
        Number::Float(sum + value)
    };
    match (sum, text.parse::<i64>()) {
        (Number::Int(sum), Ok(value)) => match sum.checked_add(value) {
            Some(sum) => Number::Int(sum),
            None => Number::Float(sum as f64 + value as f64),
        },
        _ => float(sum.as_f64()),
    }
}

/// What the numbers of a counter are called.
fn unit(scale: Option<&Scale>) -> String {
    let (unit, multiplier) =
        scale.map_or((None, 1), |scale| (scale.unit.as_deref(), scale.multiplier));
    match (unit.unwrap_or_default(), multiplier) {
        ("", 1) => "value".to_owned(),
        (unit, 1) => unit.to_owned(),
        ("", multiplier) => format!("{multiplier}"),
        (unit, multiplier) => format!("{multiplier} {unit}"),
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

    #[test]
    fn differences_add_up() {
        let mut sum = Number::Int(0);
        for (value, want) in [
            ("5", Number::Int(5)),
            ("-7", Number::Int(-2)),
            ("\"NaN\"", Number::Float(-2.0)),
            ("0.5", Number::Float(-1.5)),
            ("2", Number::Float(0.5)),
        ] {
            sum = add(sum, value.as_bytes());
            assert_eq!(sum, want);
        }
        let most = add(Number::Int(i64::MAX), b"1");
        assert_eq!(most, Number::Float(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn units_name_what_is_counted() {
        let scale = |unit: Option<&str>, multiplier| Scale {
            unit: unit.map(str::to_owned),
            multiplier,
            is_delta: false,
        };
        assert_eq!(unit(None), "value");
        assert_eq!(unit(Some(&scale(None, 1))), "value");
        assert_eq!(unit(Some(&scale(Some("W"), 1))), "W");
        assert_eq!(unit(Some(&scale(Some("B"), 1024))), "1024 B");
        assert_eq!(unit(Some(&scale(None, 1024))), "1024");
    }
}
