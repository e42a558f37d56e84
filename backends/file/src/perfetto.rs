//! The Perfetto trace format: a file of packets.

mod annotation;
mod arg;
mod bundle;
mod color;
mod descriptor;
mod encoder;
mod field;
mod framing;
mod head;
mod packet;
mod plan;
mod quick;
mod rewrite;
mod steps;
mod value;

use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nvtxw_backend::{Event, EventKind, Result, Schema, ScopeRef, StreamInfo, Time};

use self::bundle::Bundler;
use self::color::Colors;
use self::encoder::Encoder;
use self::framing::PACKETS;
use self::packet::{Header, Left, Packets};
use self::rewrite::PacketRewrite;
use crate::base::{TimeBase, outside_base, shift};
use crate::clock::Line;
use crate::config::Settings;
use crate::format::{Again, Fact, Format, FormatStream, Half, Number, Ranges};
use crate::merge::merge;
use crate::proto::Writer;
use crate::sink::Sink;
use crate::tally::{Cost, Tally};
use crate::timeline::Base;
use crate::track::{TrackId, Tracks};

/// A file of packets.
pub(crate) struct Perfetto {
    sink: Arc<Sink>,
    base: TimeBase,
    /// True once the file gives the dates of its times.
    is_dated: AtomicBool,
    colors: Arc<Colors>,
    field_units: bool,
}

impl Format for Perfetto {
    type Stream = PerfettoStream;

    fn create(settings: &mut Settings, facts: &[Fact<'_>]) -> Result<Self> {
        let mut sink = Sink::create(&mut settings.destination, PACKETS)?;
        if let Some(level) = settings.compression {
            sink = sink.packed(Arc::new(Bundler::new(level)));
        }
        let mut header = Header::default().facts(facts);
        if let Some(base) = settings.base {
            header = header.facts(&[base_fact(base)]);
        }
        header.append_to(&sink)?;
        Ok(Self {
            sink: Arc::new(sink),
            base: TimeBase::new(settings.base),
            is_dated: AtomicBool::new(false),
            colors: Arc::default(),
            field_units: settings.field_units,
        })
    }

    fn note(&self, facts: &[Fact<'_>]) {
        // The sink keeps an error.
        let _ = Header::default().facts(facts).append_to(&self.sink);
    }

    fn note_dates(&self) {
        if !self.is_dated.swap(true, Ordering::Relaxed) {
            let dates = Header::default().dates(self.decide_base());
            // The sink keeps an error.
            let _ = dates.append_to(&self.sink);
        }
    }

    fn check_outside(&self, count: u64) -> Result<()> {
        match count {
            0 => Ok(()),
            count => Err(outside_base(count, self.decide_base())),
        }
    }

    fn end(&self) -> Result<()> {
        self.decide_base();
        self.sink.check()
    }

    fn merge(self: &Arc<Self>, streams: Vec<Again<Left>>, memory: usize) -> io::Result<Tally> {
        let (left, times) = (streams.into_iter())
            .map(|stream| (stream.left, stream.times))
            .unzip();
        let rewrite = PacketRewrite::begin(&self.sink, self.decide_base(), left)?;
        merge(rewrite, times, memory)
    }

    fn open_stream(
        self: &Arc<Self>,
        info: &Arc<StreamInfo>,
        tracks: &Arc<Tracks>,
        number: u32,
    ) -> PerfettoStream {
        PerfettoStream {
            session: Arc::clone(self),
            info: Arc::clone(info),
            encoder: Encoder::new(self.field_units, Arc::clone(&self.colors)),
            packets: Packets::new(Arc::clone(&self.sink), Arc::clone(tracks), number),
        }
    }
}

impl Perfetto {
    /// The time base; the file tells it from now on.
    fn decide_base(&self) -> i64 {
        let (base, first) = self.base.decide();
        if first {
            self.note(&[base_fact(base)]);
        }
        base
    }
}

fn base_fact(base: i64) -> Fact<'static> {
    Fact::number("nvtxw.time_base", base)
}

/// A stream's sequence of packets.
pub(crate) struct PerfettoStream {
    session: Arc<Perfetto>,
    info: Arc<StreamInfo>,
    encoder: Encoder,
    packets: Packets,
}

impl FormatStream for PerfettoStream {
    type Emitter = Packets;
    type Left = Left;

    fn add_place(&mut self, track: TrackId, _scope: &impl Display) {
        self.packets.add_place(track);
    }

    fn add_counters(&mut self, tracks: &[TrackId], _scope: &ScopeRef) -> u32 {
        self.packets.add_counters(tracks)
    }

    fn admit(&self, time: i64) -> Result<()> {
        self.session.base.admit(time)
    }

    #[inline(always)]
    fn ranges<'r>(
        &'r mut self,
        schema: &Schema,
        place: u32,
        line: Option<&'r Line>,
    ) -> Option<impl Ranges> {
        let lane = self.packets.ready_lane(place, schema.role())?;
        let base = self.session.base.expected();
        self.encoder.quick_ranges(schema, lane, line, base)
    }

    #[inline]
    fn make_event(
        &mut self,
        event: &Event<'_>,
        time: Time,
        place: u32,
        out: &mut Writer,
    ) -> Option<Base> {
        let (expected, base) = self.session.base.expected();
        let fields = |out: &mut Writer| {
            self.encoder
                .event(event, self.info.domain(), Half::First, out);
        };
        match time {
            Time::Range { start, end } => {
                let (start, end) = shift(expected, start).zip(shift(expected, end))?;
                let nests = event.kind() == EventKind::RangePushPop;
                self.packets
                    .make_range(out, place, (start, end), nests, fields);
            }
            Time::Point(time) => {
                let time = shift(expected, time)?;
                self.packets.make_instant(out, place, time, fields);
            }
        }
        Some(base)
    }

    #[inline]
    fn make_values(
        &mut self,
        values: &[Number],
        time: i64,
        counter: u32,
        out: &mut Writer,
    ) -> Option<Base> {
        let (expected, base) = self.session.base.expected();
        let time = shift(expected, time)?;
        self.packets.make_values(out, counter, time, values);
        Some(base)
    }

    fn event(&mut self, event: &Event<'_>, half: Half<'_>, out: &mut Writer) {
        self.encoder.event(event, self.info.domain(), half, out);
    }

    fn value(&mut self, value: Option<Number>, out: &mut Writer) {
        packet::value(value.unwrap_or(Number::Float(f64::NAN)), out);
    }

    fn counter_mark(&mut self, name: impl FnOnce() -> String, out: &mut Writer) -> bool {
        self.encoder.named(&name(), out);
        true
    }

    #[inline]
    fn pending(&self) -> usize {
        self.encoder.texts.new.len()
    }

    fn send_pending(&mut self) -> Result<()> {
        self.packets.texts(&mut self.encoder.texts.new);
        self.packets.send()
    }

    fn begin(&mut self) -> &mut Packets {
        self.packets.texts(&mut self.encoder.texts.new);
        self.packets.begin(self.session.decide_base());
        &mut self.packets
    }

    fn send(&mut self) -> Result<()> {
        self.packets.send()
    }

    fn send_all(&mut self) -> Result<()> {
        self.packets.outlet().send_all()
    }

    fn catch_up(&mut self) -> Result<()> {
        self.packets.outlet().catch_up()
    }

    fn is_behind(&mut self) -> bool {
        self.packets.outlet().is_behind()
    }

    fn shrink(&mut self) {
        self.packets.outlet().shrink();
    }

    fn lost(&self) -> Cost {
        Cost::of(self.packets.lost())
    }

    fn leave(&mut self) -> Option<Left> {
        Some(self.packets.leave())
    }

    fn counters(left: &Left) -> impl Iterator<Item = TrackId> {
        left.counters.iter().copied()
    }
}
