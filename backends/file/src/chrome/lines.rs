//! Lines: from ordered events to the text of the file.

use std::sync::Arc;

use nvtxw_backend::{Result, Time};

use super::Chrome;
use super::encoder::{FLOW, FLOW_LEN, Quick, has_flows};
use super::flows::{Arrow, Point};
use super::threads::Spot;
use crate::format::{Number, Ranges};
use crate::json;
use crate::outlet::Outlet;
use crate::proto::Writer;
use crate::timeline::{Base, Emit, On};
use crate::track::{Scale, TrackId, Tracks};

/// A stream's lines, on their way to the file.
pub(crate) struct Lines {
    session: Arc<Chrome>,
    tracks: Arc<Tracks>,
    /// Among the streams of the session, from 0.
    number: u32,
    outlet: Outlet,
    /// By the timeline's numbers: each place with its lanes.
    places: Vec<(TrackId, Vec<Thread>)>,
    counters: Vec<Counter>,
}

/// The thread that a lane is.
struct Thread {
    spot: Spot,
    /// What its events begin with: process, thread, and the name of the time.
    head: Vec<u8>,
    /// Whether the file has its name.
    described: bool,
}

struct Counter {
    spot: Spot,
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
const VALUE: &[u8] = b",\n{\"ph\":\"C\"";

/// The start of an arrow, and its end: at the range that is open there, not at the next one.
const START: &[u8] = b"s";
const END: &[u8] = b"f\",\"bp\":\"e";

/// What ends the line of an event.
const CLOSE: &[u8; 2] = b"}}";

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
            places: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// The place with the next number of the timeline.
    pub(super) fn add_place(&mut self, place: TrackId) {
        self.places.push((place, Vec::new()));
    }

    /// Returns the counter's number.
    pub(super) fn add_counter(&mut self, track: TrackId) -> u32 {
        let spot = Spot::of(track, &self.tracks);
        let mut head = Writer::default();
        head.raw(VALUE);
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
            sum: is_delta.then_some(Number::Int(0)),
            head: head.as_bytes().to_vec(),
            middle: middle.as_bytes().to_vec(),
            described: false,
        });
        (self.counters.len() - 1) as u32
    }

    /// Appends what is to the file.
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
    pub(super) fn ranges<'l>(&'l mut self, place: u32, quick: Quick<'l>) -> QuickRanges<'l> {
        self.make_lanes(place, 0);
        QuickRanges {
            quick,
            head: &self.places[place as usize].1[0].head,
            base: self.session.base,
        }
    }

    /// Appends the line of an event on the first lane of its place, up to what the event says.
    pub(super) fn open(&mut self, time: Time, place: u32, out: &mut Writer) {
        self.make_lanes(place, 0);
        let (thread, base) = (&self.places[place as usize].1[0], self.session.base);
        match time {
            Time::Range { start, end } => open_range(&thread.head, base, start, end, out),
            Time::Point(time) => open_point(INSTANT, &thread.head, base, time, out),
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
            let mut head = Writer::default();
            head.raw(b"\",\"pid\":");
            json::digits(spot.process, &mut head);
            head.raw(b",\"tid\":");
            json::digits(spot.thread, &mut head);
            head.raw(b",\"ts\":");
            lanes.push(Thread {
                spot,
                head: head.as_bytes().to_vec(),
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

    /// The line of a half of a range.
    fn half(&mut self, phase: &[u8], place: u32, lane: u32, time: i64, event: &[u8]) {
        let thread = &self.places[place as usize].1[lane as usize];
        let out = &mut self.outlet.out;
        open_point(phase, &thread.head, self.session.base, time, out);
        copy(event, out);
        close(out);
    }

    /// The lines of the flows that an event has.
    fn join(&mut self, place: u32, lane: u32, time: i64, event: &[u8]) {
        let spot = &self.places[place as usize].1[lane as usize].spot;
        for flow in flows(event) {
            let here = Point {
                process: spot.process,
                thread: spot.thread,
                time,
            };
            let (base, out) = (self.session.base, &mut self.outlet.out);
            let met = self.session.flows.meet(flow, here);
            match met.arrow {
                None => {}
                Some(Arrow::Here(number)) => arrow(END, number, here, base, out),
                Some(Arrow::There(number, there)) => {
                    arrow(START, number, here, base, out);
                    arrow(END, number, there, base, out);
                }
            }
            arrow(START, met.start, here, base, out);
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
    fn write(&mut self, payload: &[u8], out: &mut Writer) -> Option<(i64, i64)> {
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

impl Emit for Lines {
    fn range(&mut self, place: u32, lane: u32, start: i64, end: i64, _nests: bool, event: &[u8]) {
        self.use_lane(place, lane);
        let thread = &self.places[place as usize].1[lane as usize];
        let out = &mut self.outlet.out;
        open_range(&thread.head, self.session.base, start, end, out);
        copy(event, out);
        close(out);
        self.join(place, lane, start, event);
        self.outlet.complete(1);
    }

    fn begin(&mut self, place: u32, lane: u32, time: i64, _nests: bool, event: &[u8]) {
        self.use_lane(place, lane);
        self.half(b"B", place, lane, time, event);
        self.join(place, lane, time, event);
        self.outlet.complete(1);
    }

    fn end(&mut self, place: u32, lane: u32, time: i64, asked: i64, event: &[u8]) {
        // An arrow points to what is open.
        self.join(place, lane, time, event);
        let thread = &self.places[place as usize].1[lane as usize];
        let (base, out) = (self.session.base, &mut self.outlet.out);
        open_point(b"E", &thread.head, base, time, out);
        out.raw(b"\"args\":{");
        // The first half is not before it.
        let rest = event.strip_prefix(b",").unwrap_or(event);
        if asked != time {
            out.raw(b"\"nvtxw.end\":");
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
        self.half(INSTANT, place, 0, time, event);
        self.outlet.complete(1);
    }

    fn value(&mut self, counter: u32, time: i64, value: &[u8]) {
        self.use_counter(counter);
        let counter = &mut self.counters[counter as usize];
        if let Some(sum) = &mut counter.sum {
            *sum = add(*sum, value);
        }
        let (counter, out) = (&*counter, &mut self.outlet.out);
        make_value(counter, self.session.base, time, out, |out| {
            match counter.sum {
                Some(sum) => super::value(sum, out),
                None => out.raw(value),
            }
        });
        self.outlet.complete(1);
    }

    fn ready(&mut self, on: On, events: u64, bytes: &[u8]) {
        match on {
            On::Place(place) => self.use_lane(place, 0),
            On::Counter(counter) => self.use_counter(counter),
        }
        self.outlet.append(events, bytes);
    }

    fn fields_of(ready: &[u8]) -> &[u8] {
        let ready = ready.strip_suffix(CLOSE).unwrap_or(ready);
        let at = if ready.starts_with(VALUE) {
            // No number, and none of the strings that stand for one, has a colon.
            ready
                .iter()
                .rposition(|byte| *byte == b':')
                .map(|at| at + 1)
        } else {
            // Before that there are only numbers.
            let name = b"\"name\":";
            ready.windows(name.len()).position(|part| part == name)
        };
        at.map_or(&[], |at| &ready[at..])
    }
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

/// Appends what an event says, without the flows.
fn copy(mut event: &[u8], out: &mut Writer) {
    if has_flows(event) {
        while let Some(at) = event.iter().position(|byte| *byte == FLOW) {
            out.raw(&event[..at]);
            event = &event[at + FLOW_LEN..];
        }
    }
    out.raw(event);
}

/// The flows in what an event says.
fn flows(mut event: &[u8]) -> impl Iterator<Item = u64> {
    if !has_flows(event) {
        event = &[];
    }
    let all = std::iter::from_fn(move || {
        let at = event.iter().position(|byte| *byte == FLOW)?;
        let (flow, rest) = event[at + 1..].split_first_chunk()?;
        event = rest;
        Some(u64::from_le_bytes(*flow))
    });
    all.filter(|flow| *flow != 0)
}

/// An end of an arrow.
fn arrow(phase: &[u8], number: u64, at: Point, base: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"");
    out.raw(phase);
    out.raw(b"\",\"pid\":");
    json::digits(at.process, out);
    out.raw(b",\"tid\":");
    json::digits(at.thread, out);
    out.raw(b",\"ts\":");
    json::micros(base, at.time, out);
    out.raw(b",\"id\":");
    json::digits(number, out);
    out.raw(b",\"name\":\"correlation\",\"cat\":\"correlation\"}");
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
    fn flows_are_taken_out_of_what_an_event_says() {
        let (a, b) = (b"\"args\":{\"a\":1", b",\"b\":2");
        let flow = |flow: u64| [&[FLOW], &flow.to_le_bytes()[..]].concat();
        // The second number has the bytes of a mark.
        let both = [flow(42), flow(0x0101_0101_0101_0101)].concat();
        let event = [&a[..], &both, b, &flow(0)].concat();
        let mut out = Writer::default();
        copy(&event, &mut out);
        assert_eq!(out.as_bytes(), b"\"args\":{\"a\":1,\"b\":2");
        let found: Vec<_> = flows(&event).collect();
        assert_eq!(found, [42, 0x0101_0101_0101_0101]);
        assert_eq!(flows(out.as_bytes()).count(), 0);
    }

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
                ",\n{{\"ph\":\"C\",\"pid\":1,\"ts\":0.001,\"name\":\"a\",\"args\":{{\"\\\":\":{value}}}}}"
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
