//! Chrome's trace-event format: a JSON object with one event per line.

mod arrow;
mod counter;
mod encoder;
mod flows;
mod lines;
mod plan;
mod recent;
mod rewrite;
mod text;
mod thread;
mod threads;

use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::{Event, EventKind, Result, Schema, SchemaRole, ScopeRef, StreamInfo, Time};

use self::encoder::Encoder;
use self::flows::Flows;
use self::lines::{Left, Lines};
use self::rewrite::LineRewrite;
use self::threads::Threads;
use crate::clock::Line;
use crate::config::Settings;
use crate::format::{Again, Fact, FactValue, Format, FormatStream, Half, Number, Ranges};
use crate::json;
use crate::merge::merge;
use crate::proto::Writer;
use crate::sink::{Framing, Sink};
use crate::tally::{Cost, Tally};
use crate::timeline::Base;
use crate::track::{TrackId, Tracks};

/// Each line ends with what stands before the next one: of a part of the last one, nothing stays.
const LINES: Framing = Framing {
    whole: |written| {
        let end = written.windows(2).rposition(|pair| pair == b",\n");
        end.unwrap_or(0)
    },
    events,
    tail: b"\n]}\n",
};

/// How many lines begin an event that is none of arrows and descriptions.
fn events(lines: &[u8]) -> u64 {
    let begins = lines.windows(LINE.len() + 1).filter(|part| {
        let (begin, phase) = part.split_at(LINE.len());
        begin == LINE && matches!(phase, b"X" | b"B" | b"i" | b"C")
    });
    begins.count() as u64
}

/// What a line begins with, up to the phase of its event. No text has a line's end in it.
const LINE: &[u8] = b",\n{\"ph\":\"";

/// What a file begins with.
const BEGIN: &[u8] = b"{\"displayTimeUnit\":\"ns\",";

/// A JSON object.
pub(crate) struct Chrome {
    sink: Arc<Sink>,
    /// The timestamp that is 0 in the file.
    base: i64,
    field_units: bool,
    threads: Threads,
    flows: Flows,
    /// Whether viewers would take some of it for something else, although all came in order.
    is_unsettled: AtomicBool,
    /// Counts the counters of all streams.
    sources: AtomicU64,
    /// What is known of the session at its end, as the fields of an object.
    metadata: Mutex<Writer>,
}

impl Format for Chrome {
    type Stream = ChromeStream;

    fn create(settings: &mut Settings, facts: &[Fact<'_>]) -> Result<Self> {
        let sink = Sink::create(&mut settings.destination, LINES)?;
        let base = settings
            .base
            .map(|base| Fact::number("nvtxw.time_base", base));
        let name = facts.iter().find_map(|fact| match fact.value {
            FactValue::Text(name) if fact.key == "nvtxw.session" && !name.is_empty() => Some(name),
            _ => None,
        });
        let mut out = Writer::default();
        out.raw(BEGIN);
        out.raw(b"\"otherData\":{");
        for (fact, index) in facts.iter().chain(&base).zip(0..) {
            if index > 0 {
                out.raw(b",");
            }
            field(fact, &mut out);
        }
        out.raw(b"},\"traceEvents\":[\n");
        threads::name_session(name.unwrap_or("nvtxw"), &mut out);
        sink.append(out.as_bytes())?;
        Ok(Self {
            sink: Arc::new(sink),
            base: settings.base.unwrap_or(0),
            field_units: settings.field_units,
            threads: Threads::default(),
            flows: Flows::default(),
            is_unsettled: AtomicBool::new(false),
            sources: AtomicU64::new(0),
            metadata: Mutex::default(),
        })
    }

    fn note(&self, facts: &[Fact<'_>]) {
        let mut out = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        for fact in facts {
            if !out.is_empty() {
                out.raw(b",");
            }
            field(fact, &mut out);
        }
    }

    fn end(&self) -> Result<()> {
        let mut out = Writer::default();
        self.threads.sort(&mut out);
        out.raw(b"\n],\"metadata\":{");
        out.raw((self.metadata.lock().unwrap_or_else(PoisonError::into_inner)).as_bytes());
        out.raw(b"}}\n");
        self.sink.finish(out.as_bytes())?;
        self.sink.check()
    }

    fn joins_streams(&self) -> bool {
        self.flows.has_any()
    }

    fn is_unsettled(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed) || self.flows.is_unsettled()
    }

    fn merge(self: &Arc<Self>, streams: Vec<Again<Left>>, memory: usize) -> io::Result<Tally> {
        let (left, times) = (streams.into_iter())
            .map(|stream| (stream.left, stream.times))
            .unzip();
        merge(LineRewrite::begin(self, left)?, times, memory)
    }

    fn open_stream(
        self: &Arc<Self>,
        info: &Arc<StreamInfo>,
        tracks: &Arc<Tracks>,
        number: u32,
    ) -> ChromeStream {
        ChromeStream {
            info: Arc::clone(info),
            encoder: Encoder::new(self.field_units),
            lines: Lines::new(self, tracks, number),
        }
    }
}

impl Chrome {
    /// Notes that viewers would take some of the file for something else.
    fn unsettle(&self) {
        self.is_unsettled.store(true, Ordering::Relaxed);
    }
}

/// A fact as a field of an object.
fn field(fact: &Fact<'_>, out: &mut Writer) {
    json::text(fact.key, out);
    out.raw(b":");
    match fact.value {
        FactValue::Text(text) => json::text(text, out),
        FactValue::Number(number) => json::signed(number, out),
    }
}

/// A stream's lines.
pub(crate) struct ChromeStream {
    info: Arc<StreamInfo>,
    encoder: Encoder,
    lines: Lines,
}

impl FormatStream for ChromeStream {
    type Emitter = Lines;
    type Left = Left;

    fn add_place(&mut self, track: TrackId, _scope: &impl Display) {
        self.lines.add_place(track);
    }

    fn add_counters(&mut self, tracks: &[TrackId], _scope: &ScopeRef) -> u32 {
        self.lines.add_counters(tracks)
    }

    #[inline]
    fn ranges<'r>(
        &'r mut self,
        schema: &Schema,
        place: u32,
        line: Option<&'r Line>,
    ) -> Option<impl Ranges> {
        if line.is_some() {
            return None;
        }
        let quick = self.encoder.quick(schema)?;
        let nests = schema.role() == SchemaRole::Event(EventKind::RangePushPop);
        Some(self.lines.ranges(place, nests, quick))
    }

    fn make_event(
        &mut self,
        event: &Event<'_>,
        time: Time,
        place: u32,
        out: &mut Writer,
    ) -> Option<Base> {
        // Flows are lines of their own, which are known only when the event is written.
        if self.encoder.is_correlated(event.schema()) {
            return None;
        }
        let before = out.len();
        let nests = event.kind() == EventKind::RangePushPop;
        self.lines.open(time, nests, place, out);
        let domain = self.info.domain();
        if self.encoder.event(event, domain, Half::First, out) {
            out.truncate(before);
            return None;
        }
        lines::close(out);
        Some(Base::Decided)
    }

    fn make_values(
        &mut self,
        values: &[Number],
        time: i64,
        counter: u32,
        out: &mut Writer,
    ) -> Option<Base> {
        let &[number] = values else {
            return None;
        };
        let made = (self.lines).make_value(counter, time, out, |out| value(number, out));
        made.then_some(Base::Decided)
    }

    fn event(&mut self, event: &Event<'_>, half: Half<'_>, out: &mut Writer) {
        self.encoder.event(event, event.domain(), half, out);
    }

    fn value(&mut self, value: Option<Number>, out: &mut Writer) {
        self::value(value.unwrap_or(Number::Float(f64::NAN)), out);
    }

    fn counter_mark(&mut self, name: impl FnOnce() -> String, out: &mut Writer) -> bool {
        self.encoder.named(&name(), out);
        true
    }

    fn begin(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn send(&mut self) -> Result<()> {
        self.lines.send()
    }

    fn send_all(&mut self) -> Result<()> {
        self.lines.outlet().send_all()
    }

    fn catch_up(&mut self) -> Result<()> {
        self.lines.outlet().catch_up()
    }

    fn is_behind(&mut self) -> bool {
        self.lines.outlet().is_behind()
    }

    fn shrink(&mut self) {
        self.lines.outlet().shrink();
    }

    fn lost(&self) -> Cost {
        Cost::of(self.lines.lost())
    }

    fn leave(&mut self) -> Option<Left> {
        Some(self.lines.leave())
    }

    fn counters(left: &Left) -> impl Iterator<Item = TrackId> {
        left.counters.iter().map(|(track, _)| *track)
    }
}

/// Counters are drawn: their numbers stay such, however great.
fn value(value: Number, out: &mut Writer) {
    match value {
        Number::Int(value) => json::digits(value, out),
        Number::Great(value) => json::digits(value, out),
        Number::Float(value) => json::float(value, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_their_first_lines() {
        let mut lines = String::new();
        for (phase, count) in [
            ("M", 0),
            ("X", 1),
            ("B", 2),
            ("s", 2),
            ("E", 2),
            ("f", 2),
            ("i", 3),
            ("C", 4),
        ] {
            lines += &format!(",\n{{\"ph\":\"{phase}\",\"name\":\"\\n{{\\\"ph\\\":\\\"X\\\"}}");
            assert_eq!(events(lines.as_bytes()), count);
        }
    }

    #[test]
    fn what_was_written_ends_before_the_last_comma() {
        for (written, whole) in [
            ("", ""),
            (",\n", ""),
            (",\n{\"a\":[1,2]}", ""),
            (",\n{},\n{\"a", ",\n{}"),
            (",\n{},\n", ",\n{}"),
        ] {
            assert_eq!(
                (LINES.whole)(written.as_bytes()),
                whole.len(),
                "{written:?}"
            );
        }
    }
}
