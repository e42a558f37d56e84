//! What a format is to the rest of the crate.
//!
//! A session has one [`Format`], which makes a [`FormatStream`] for each of its streams. That
//! encodes events as they come, into bytes that the stream's timeline keeps, and gets them back
//! in order through [`Emit`].

use std::fmt::Display;
use std::io;
use std::iter;
use std::sync::Arc;

use nvtxw_backend::{Event, Result, Schema, ScopeRef, StreamInfo, Time};

use crate::clock::{Line, TimeMap};
use crate::config::Settings;
use crate::plain::Loaded;
use crate::proto::Writer;
use crate::tally::{Cost, Tally};
use crate::timeline::{Base, Emit, Latest, WholeRange};
use crate::track::{TrackId, Tracks};

/// A session's output in some format.
pub(crate) trait Format: Sized + Send + Sync + 'static {
    type Stream: FormatStream;

    /// Whether it matters in which order events are written, and on which lanes.
    const IS_ORDERED: bool = true;

    /// Creates what is written to, and writes what it begins with.
    fn create(settings: &mut Settings, facts: &[Fact<'_>]) -> Result<Self>;

    /// Adds facts about the session. An error is kept for the [end](Self::end).
    fn note(&self, facts: &[Fact<'_>]);

    /// The times are dates, in nanoseconds since 1970.
    fn note_dates(&self) {}

    /// Refuses events that were taken before it was decided which times the file holds, and had to
    /// be dropped then.
    fn check_outside(&self, _count: u64) -> Result<()> {
        Ok(())
    }

    /// Completes the output.
    ///
    /// # Errors
    /// The first error of anything that was written.
    fn end(&self) -> Result<()>;

    /// Whether events of several streams are joined in the output, so that if some are written once more,
    /// all have to be.
    fn joins_streams(&self) -> bool {
        false
    }

    /// Whether all streams have to be written once more, also if each of them is in order.
    fn is_unsettled(&self) -> bool {
        false
    }

    /// Writes events once more, in order and with the times that they have by now. It takes about
    /// `memory` bytes. Returns what was met in these streams, as far as that depends on the order.
    ///
    /// # Errors
    /// Why the output is as it was.
    fn merge(
        self: &Arc<Self>,
        _streams: Vec<Again<<Self::Stream as FormatStream>::Left>>,
        _memory: usize,
    ) -> io::Result<Tally> {
        Ok(Tally::default())
    }

    /// A part for a stream. `number` counts the streams from 0.
    fn open_stream(
        self: &Arc<Self>,
        info: &Arc<StreamInfo>,
        tracks: &Arc<Tracks>,
        number: u32,
    ) -> Self::Stream;
}

/// A stream whose events are written once more.
pub(crate) struct Again<L> {
    /// What it left.
    pub(crate) left: L,
    /// If its times are others by now.
    pub(crate) times: Option<TimeMap>,
}

/// Something about the session as a whole.
#[derive(Clone, Copy)]
pub(crate) struct Fact<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: FactValue<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum FactValue<'a> {
    Text(&'a str),
    Number(i64),
}

impl<'a> Fact<'a> {
    pub(crate) fn text(key: &'a str, value: &'a str) -> Self {
        let value = FactValue::Text(value);
        Self { key, value }
    }

    pub(crate) fn number(key: &'a str, value: i64) -> Self {
        let value = FactValue::Number(value);
        Self { key, value }
    }
}

/// The value of a fact that was put together.
#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    Text(String),
    Number(i64),
}

impl<'a> Fact<'a> {
    pub(crate) fn told((key, told): &'a (String, Told)) -> Self {
        match told {
            Told::Text(text) => Self::text(key, text),
            Told::Number(number) => Self::number(key, *number),
        }
    }
}

/// A stream's output in some format.
pub(crate) trait FormatStream: Send + 'static {
    type Emitter: Emit;
    /// What a stream leaves when it is closed.
    type Left: Send + 'static;

    /// The timeline's next place, the track that it is, and the path of its scope.
    fn add_place(&mut self, track: TrackId, scope: &impl Display);

    /// Counters that are sampled together in `scope`. Their numbers count on from 0; returns the first one.
    fn add_counters(&mut self, tracks: &[TrackId], scope: &ScopeRef) -> u32;

    /// Refuses a time that the file can't hold.
    fn admit(&self, _time: i64) -> Result<()> {
        Ok(())
    }

    /// What writes the usual ranges of a schema to a place, if there is such a thing. Their times become nanoseconds by
    /// `line`, if they aren't.
    fn ranges<'r>(
        &'r mut self,
        schema: &Schema,
        place: u32,
        line: Option<&'r Line>,
    ) -> Option<impl Ranges>;

    /// Appends a whole event, whose time is `time`, as it is in the file if it stands on the first
    /// lane of its place. `None`, and appends nothing, if that can't be.
    fn make_event(
        &mut self,
        event: &Event<'_>,
        time: Time,
        place: u32,
        out: &mut Writer,
    ) -> Option<Base>;

    /// The same for the values of counters from this one on: of one, or of all that were [added](Self::add_counters)
    /// together. `None` also where these don't stay together.
    fn make_values(
        &mut self,
        values: &[Number],
        time: i64,
        counter: u32,
        out: &mut Writer,
    ) -> Option<Base>;

    /// Appends what an event has besides time and place.
    fn event(&mut self, event: &Event<'_>, half: Half<'_>, out: &mut Writer);

    /// Encodes a counter's value; `None` leaves a gap where there is neither a value nor a [mark](Self::counter_mark).
    fn value(&mut self, value: Option<Number>, out: &mut Writer);

    /// Appends what an instant of this name has, which marks where a counter has no value that viewers can draw. `false`, and
    /// appends nothing, for formats that have such values.
    fn counter_mark(&mut self, _name: impl FnOnce() -> String, _out: &mut Writer) -> bool {
        false
    }

    /// How many bytes wait for the next [`begin`](Self::begin) that are not a part of any event.
    fn pending(&self) -> usize {
        0
    }

    /// Writes them before that.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    fn send_pending(&mut self) -> Result<()> {
        Ok(())
    }

    /// What follows has times by which clocks are known now, in another way than before. Only who
    /// writes events once more, and passes over [marks](Emit::mark), has to know. `moved` has the times of
    /// before as they are now.
    fn begin_epoch(&mut self, _moved: impl Fn(i64) -> Option<i64>) {}

    /// Begins a run of events.
    fn begin(&mut self) -> &mut Self::Emitter;

    /// Ends the run: all of it is in the file, but for what waits there for another stream.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    fn send(&mut self) -> Result<()>;

    /// Ends the run: all of it is in the file.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    fn send_all(&mut self) -> Result<()> {
        self.send()
    }

    /// Writes what waits, if it need not wait any more.
    ///
    /// # Errors
    /// As [`send`](Self::send), if there was something.
    #[inline]
    fn catch_up(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether something waits that [`catch_up`](Self::catch_up) may write.
    fn is_behind(&mut self) -> bool {
        false
    }

    /// Gives memory back that it can do without.
    fn shrink(&mut self) {}

    /// Lets readers find what was written so far, where they don't anyway.
    ///
    /// # Errors
    /// What this met.
    fn make_readable(&mut self) -> Result<()> {
        Ok(())
    }

    /// [`send_all`](Self::send_all) for the last run.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    fn close(&mut self) -> Result<()> {
        self.send_all()
    }

    /// What was not written because of an error.
    fn lost(&self) -> Cost;

    /// What is needed to write the stream's events once more, after all else. `None` if they aren't.
    fn leave(&mut self) -> Option<Self::Left> {
        None
    }

    /// Refuses if what a stream wrote is not there any more, where the output can't tell for all of them.
    fn check(_left: &Self::Left) -> Result<()> {
        Ok(())
    }

    /// The tracks of a stream's counters, which others may write to as well.
    fn counters(_left: &Self::Left) -> impl Iterator<Item = TrackId> {
        iter::empty()
    }
}

/// Writes the usual ranges of one schema.
pub(crate) trait Ranges {
    /// Whether they take long slots.
    fn are_long(&self) -> bool {
        false
    }

    /// Appends the range of a plain payload as it is in the file if it stands on the first lane of
    /// its place, behind the `latest` one if it may follow that. `text` is its message, if that is text, and `texts` are
    /// those of its fields that are elsewhere, by their index among them.
    /// It takes a slot of `N` bytes. `None`, and appends nothing, for one that is not usual.
    fn write<const N: usize>(
        &mut self,
        payload: &[u8],
        text: Option<&[u8]>,
        texts: &[Option<&[u8]>],
        latest: Option<Latest>,
        out: &mut Writer,
    ) -> Option<WholeRange>;

    /// The base that they are ready for.
    fn base(&self) -> Base;
}

/// Nothing: for formats that have no faster way for usual ranges.
#[cfg(feature = "parquet")]
pub(crate) enum NoRanges {}

#[cfg(feature = "parquet")]
impl Ranges for NoRanges {
    fn write<const N: usize>(
        &mut self,
        _payload: &[u8],
        _text: Option<&[u8]>,
        _texts: &[Option<&[u8]>],
        _latest: Option<Latest>,
        _out: &mut Writer,
    ) -> Option<WholeRange> {
        match *self {}
    }

    fn base(&self) -> Base {
        match *self {}
    }
}

/// What part of its range an event is.
#[derive(Clone, Copy)]
pub(crate) enum Half<'a> {
    /// The whole of it, or its start, or no range.
    First,
    /// Its end, whose fields are joined with these of its start.
    Second(&'a [u8]),
}

/// A counter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    /// An integer from 2^63 on.
    Great(u64),
    Float(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Great(value), Self::Int)
    }
}

impl Number {
    pub(crate) fn of(loaded: Loaded) -> Self {
        match loaded {
            Loaded::Signed(value) => Self::Int(value),
            Loaded::Unsigned(value) | Loaded::Address(value) => value.into(),
            Loaded::Single(value) => Self::Float(value.into()),
            Loaded::Double(value) => Self::Float(value),
        }
    }

    /// Returns true if it is neither NaN nor infinite.
    #[inline]
    pub(crate) fn is_finite(self) -> bool {
        !matches!(self, Self::Float(value) if !value.is_finite())
    }

    /// The nearest double.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Great(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}
