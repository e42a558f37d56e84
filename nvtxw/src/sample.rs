//! Samples of counters, on their way to a stream.

use std::fmt;
use std::marker::PhantomData;

use nvtxw_abi::{BatchOrdering, IntervalPlacement, NoValueReason};

use crate::calls::{CounterPort, SampleBytes};
use crate::derived::{EmbeddedTime, NvtxCounterGroup, SeparateTime};
use crate::error::{self, Error, Result, WriteError};
use crate::stream::Stream;

/// What a sample is whose time is written beside it: a number, or a counter group without a `timestamp`
/// field.
pub trait TimedSample: SampleBytes {
    /// How one sample is passed: a number as it is, a group by reference.
    type Value<'a>;

    #[doc(hidden)]
    fn with<R>(value: Self::Value<'_>, write: impl FnOnce(&Self) -> R) -> R;
}

impl<G: NvtxCounterGroup + SeparateTime> TimedSample for G {
    type Value<'a> = &'a G;

    #[inline]
    fn with<R>(value: &G, write: impl FnOnce(&Self) -> R) -> R {
        write(value)
    }
}

/// The times of samples that are equally far apart: see [`CounterWriter::write_batch_interval`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    pub(crate) placement: IntervalPlacement,
    pub(crate) pair: [i64; 2],
}

impl Interval {
    /// The first sample is at `begin`, and each other `interval` ticks after the one before.
    #[inline]
    #[must_use]
    pub const fn from_begin(begin: i64, interval: i64) -> Self {
        Self {
            placement: IntervalPlacement::BeginTime,
            pair: [begin, interval],
        }
    }

    /// The last sample is at `end`, and each other `interval` ticks before the one after.
    #[inline]
    #[must_use]
    pub const fn from_end(end: i64, interval: i64) -> Self {
        Self {
            placement: IntervalPlacement::EndTime,
            pair: [end, interval],
        }
    }
}

/// What writes samples of one counter or counter group to a stream.
///
/// Bound by [`Writer::counter`](crate::Writer::counter). A number is passed as it is, a group by reference. Groups with a
/// `timestamp` field are written with [`sample_embedded`](CounterWriter::sample_embedded) and
/// [`write_batch_embedded`](CounterWriter::write_batch_embedded), or at other times with
/// [`sample_at`](CounterWriter::sample_at) and [`write_batch_at`](CounterWriter::write_batch_at).
///
/// ```
/// # use nvtxw::{Counter, Error, NoValueReason, Writer};
/// fn queue(out: &Writer<'_>, queue: Counter<i64>) -> Result<(), Error> {
///     let depth = out.counter(queue)?;
///     depth.sample(500, 12)?;
///     depth.write_batch(&[510, 520, 530], &[13, 9, 4])?;
///     depth.no_value(540, NoValueReason::Unavailable)?;
///     Ok(())
/// }
/// ```
pub struct CounterWriter<'w, C> {
    port: CounterPort<'w>,
    counter: u64,
    flags: u64,
    stream: &'w Stream,
    sample: PhantomData<fn(&C)>,
}

impl<'w, C> CounterWriter<'w, C> {
    /// `counter` is one of `C` in the stream's domain.
    #[inline]
    pub(crate) fn new(port: CounterPort<'w>, counter: u64, stream: &'w Stream) -> Self {
        Self {
            port,
            counter,
            flags: stream.batch_ordering.to_raw(),
            stream,
            sample: PhantomData,
        }
    }

    /// Says in which order the samples of a batch stand; by default as
    /// [`StreamOptions::batch_ordering`](crate::StreamOptions::batch_ordering) says.
    #[inline]
    #[must_use]
    pub fn ordering(mut self, ordering: BatchOrdering) -> Self {
        self.flags = ordering.to_raw();
        self
    }

    /// Writes that there is no value at `time`, and why.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn no_value(&self, time: i64, reason: NoValueReason) -> Result<(), WriteError> {
        self.port.no_value(self.counter, time, reason)
    }

    /// Writes one sample: a number, or a counter group by reference.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn sample(&self, time: i64, value: C::Value<'_>) -> Result<(), WriteError>
    where
        C: TimedSample,
    {
        C::with(value, |value| self.port.sample(self.counter, time, value))
    }

    /// Writes samples, the time of each beside it: one call, which gets both slices themselves. Empty slices are no call.
    ///
    /// # Errors
    /// [`Error::LengthsDiffer`], and nothing is written; else [`Error::Write`], as the backend answered.
    #[inline]
    pub fn write_batch(&self, times: &[i64], values: &[C]) -> Result<()>
    where
        C: TimedSample,
    {
        self.timed(times, values)
    }

    /// Writes samples that hold their times: one call, which gets the slice itself. An empty slice is no call.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn write_batch_embedded(&self, samples: &[C]) -> Result<(), WriteError>
    where
        C: NvtxCounterGroup + EmbeddedTime,
    {
        if samples.is_empty() {
            return Ok(());
        }
        self.port.batch(self.counter, &[], samples, self.flags)
    }

    /// Writes samples that are equally far apart in time: one call, which gets the slice itself. The interval goes before
    /// the times that samples hold. An empty slice is no call.
    ///
    /// ```
    /// # use nvtxw::{Counter, Interval, Result, Writer};
    /// fn load(out: &Writer<'_>, load: Counter<f32>) -> Result<()> {
    ///     // At 1000, 1010 and 1020.
    ///     out.counter(load)?.write_batch_interval(Interval::from_begin(1000, 10), &[0.5, 0.75, 0.5])?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn write_batch_interval(&self, interval: Interval, samples: &[C]) -> Result<(), WriteError>
    where
        C: SampleBytes,
    {
        if samples.is_empty() {
            return Ok(());
        }
        let flags = self.flags | interval.placement.to_raw();
        self.port
            .batch(self.counter, &interval.pair, samples, flags)
    }

    /// Writes one sample that holds its time, at another time: this one counts.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn sample_at(&self, time: i64, sample: &C) -> Result<(), WriteError>
    where
        C: NvtxCounterGroup + EmbeddedTime,
    {
        self.port.sample(self.counter, time, sample)
    }

    /// Writes samples that hold their times, at other times: these count. One call, which gets both slices themselves; empty
    /// slices are no call.
    ///
    /// # Errors
    /// As [`write_batch`](CounterWriter::write_batch).
    #[inline]
    pub fn write_batch_at(&self, times: &[i64], samples: &[C]) -> Result<()>
    where
        C: NvtxCounterGroup + EmbeddedTime,
    {
        self.timed(times, samples)
    }

    #[inline]
    fn timed(&self, times: &[i64], values: &[C]) -> Result<()>
    where
        C: SampleBytes,
    {
        if times.len() != values.len() {
            return Err(self.lengths_differ(times.len(), values.len()));
        }
        if values.is_empty() {
            return Ok(());
        }
        self.port
            .batch(self.counter, times, values, self.flags)
            .map_err(|error| error.at(self))
    }

    #[cold]
    fn lengths_differ(&self, times: usize, values: usize) -> Error {
        Error::LengthsDiffer {
            counter: self.name(),
            times,
            values,
        }
    }

    /// Writes one sample that holds its time. It goes as a batch of one.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn sample_embedded(&self, sample: &C) -> Result<(), WriteError>
    where
        C: NvtxCounterGroup + EmbeddedTime,
    {
        self.write_batch_embedded(std::slice::from_ref(sample))
    }

    #[cold]
    fn name(&self) -> String {
        self.stream.domain.counter_name(self.counter)
    }
}

impl<C> fmt::Debug for CounterWriter<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("CounterWriter");
        debug
            .field("stream", &self.stream.name())
            .field("counter", &self.counter)
            .finish_non_exhaustive()
    }
}

impl<C> error::sealed::Place for CounterWriter<'_, C> {
    fn what(&self) -> String {
        format!(
            "samples of counter `{}` to {}",
            self.name(),
            self.stream.describe()
        )
    }

    fn stream(&self) -> &Stream {
        self.stream
    }
}
