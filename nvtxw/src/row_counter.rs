//! Counter groups that only the run of a program makes known.

use std::fmt;

use bytemuck::NoUninit;
use nvtxw_abi::{BatchOrdering, NoValueReason, SchemaRole};

use crate::calls::CounterPort;
use crate::counter::SampleType;
use crate::counter_options::CounterOptions;
use crate::domain::Domain;
use crate::error::{self, Error, Result, WriteError};
use crate::row_layout::RowLayout;
use crate::rows::RowSchema;
use crate::sample::Interval;
use crate::stream::Stream;
use crate::writer::{Writer, foreign_counter};

/// A registered counter group whose layout is a [`RowLayout`], as a small value to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowCounter {
    pub(crate) id: u64,
    pub(crate) schema: RowSchema,
    /// Rows hold their times.
    is_timed: bool,
}

impl RowCounter {
    /// The counter's number, unique among those of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }

    /// Bytes of a row.
    #[must_use]
    pub const fn row_size(self) -> usize {
        self.schema.row_size()
    }
}

impl Domain<'_> {
    /// Registers a counter group whose layout ([`RowLayout::counters`]) the program found out at run time. The layout has
    /// the counter's name.
    ///
    /// ```
    /// # use nvtxw::{CounterOptions, CounterSemantics, Domain, Result, RowCounter, RowField, RowLayout, RowType};
    /// fn channel(domain: &mut Domain<'_>) -> Result<RowCounter> {
    ///     let layout = RowLayout::counters()
    ///         .field(RowField::new("time", RowType::I64).timestamp())
    ///         .field(RowField::new("read", RowType::U32).semantics(CounterSemantics::new().unit("bytes")))
    ///         .field(RowField::new("busy", RowType::F32));
    ///     domain.counter_rows("channel", &layout, CounterOptions::new())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`rows`](Domain::rows) and [`counter_with`](Domain::counter_with); units, limits and so on are the fields' own.
    pub fn counter_rows(
        &mut self,
        name: &str,
        layout: &RowLayout,
        options: CounterOptions,
    ) -> Result<RowCounter> {
        if layout.role != SchemaRole::CounterGroup {
            return Err(Error::RowLayout {
                layout: name.to_owned(),
                problem: "it is no counter group; begin it with `RowLayout::counters`".to_owned(),
            });
        }
        let schema = self.row_schema(name, layout)?;
        let sample = SampleType::Group {
            schema: schema.id,
            name: name.into(),
            type_path: None,
        };
        let id = self.counter_of(name, sample, options)?;
        Ok(RowCounter {
            id,
            schema,
            is_timed: layout.is_timed(),
        })
    }
}

impl Writer<'_> {
    /// What writes rows of a counter group to this stream.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the counter is registered in another domain than the stream's.
    pub fn row_counter(&self, counter: RowCounter) -> Result<RowCounterWriter<'_>> {
        if counter.schema.owner != self.owner() {
            let owner = counter.schema.owner;
            return Err(foreign_counter(self.stream, owner, counter.id));
        }
        Ok(RowCounterWriter {
            port: self.live.counters(&self.stream.handle),
            counter,
            flags: self.stream.batch_ordering.to_raw(),
            stream: self.stream,
        })
    }
}

/// The times of rows of a counter group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SampleTimes<'a> {
    /// One for each row.
    Each(&'a [i64]),
    /// Equally far apart.
    Interval(Interval),
    /// Inside the rows. (Other times go before those.)
    Embedded,
}

impl<'a> From<&'a [i64]> for SampleTimes<'a> {
    fn from(times: &'a [i64]) -> Self {
        Self::Each(times)
    }
}

impl<'a, const N: usize> From<&'a [i64; N]> for SampleTimes<'a> {
    fn from(times: &'a [i64; N]) -> Self {
        Self::Each(times)
    }
}

impl From<Interval> for SampleTimes<'_> {
    fn from(interval: Interval) -> Self {
        Self::Interval(interval)
    }
}

/// What writes rows of one counter group to a stream. Bound by [`Writer::row_counter`]; rows are as those of a
/// [`RowWriter`](crate::RowWriter).
///
/// ```
/// # use nvtxw::{Error, Interval, RowCounter, SampleTimes, Writer};
/// fn channel(out: &Writer<'_>, channel: RowCounter) -> Result<(), Error> {
///     let channel = out.row_counter(channel)?;
///     channel.write_rows(&[500, 510], &[[13_u32, 4], [9, 4]])?;
///     channel.write_rows(Interval::from_begin(520, 10), &[[9_u32, 5], [8, 5]])
/// }
/// ```
pub struct RowCounterWriter<'w> {
    port: CounterPort<'w>,
    counter: RowCounter,
    flags: u64,
    stream: &'w Stream,
}

impl RowCounterWriter<'_> {
    /// Says in which order the rows of a batch stand; by default as
    /// [`StreamOptions::batch_ordering`](crate::StreamOptions::batch_ordering) says.
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
        self.port.no_value(self.counter.id, time, reason)
    }

    /// Writes one row.
    ///
    /// # Errors
    /// [`Error::RowSize`] if `T` has another size than a row, and nothing is written; else [`Error::Write`], as the backend
    /// answered.
    #[inline]
    pub fn sample<T: NoUninit>(&self, time: i64, row: &T) -> Result<()> {
        self.counter.schema.check::<T>()?;
        self.port
            .sample_bytes(self.counter.id, time, bytemuck::bytes_of(row))
            .map_err(|error| error.at(self))
    }

    /// Writes rows: one call, which gets the slices themselves. No rows are no call.
    ///
    /// # Errors
    /// [`Error::RowSize`] if `T` has another size than a row, [`Error::LengthsDiffer`], or [`Error::RowKind`] if the rows
    /// should hold their times and don't, and nothing is written; else [`Error::Write`], as the backend answered.
    #[inline]
    pub fn write_rows<'t, T: NoUninit>(
        &self,
        times: impl Into<SampleTimes<'t>>,
        rows: &[T],
    ) -> Result<()> {
        self.counter.schema.check::<T>()?;
        self.write(times.into(), bytemuck::cast_slice(rows))
    }

    /// Writes the bytes of rows, as [`write_rows`](RowCounterWriter::write_rows). They may be unaligned.
    ///
    /// # Errors
    /// As [`write_rows`](RowCounterWriter::write_rows), but [`Error::RowBytes`] unless they are a whole number of rows.
    #[inline]
    pub fn write_bytes<'t>(&self, times: impl Into<SampleTimes<'t>>, rows: &[u8]) -> Result<()> {
        if !rows.len().is_multiple_of(self.counter.row_size()) {
            return Err(self.counter.schema.bytes_differ(rows.len()));
        }
        self.write(times.into(), rows)
    }

    fn write(&self, times: SampleTimes<'_>, rows: &[u8]) -> Result<()> {
        let count = rows.len() / self.counter.row_size();
        let (times, flags) = match &times {
            SampleTimes::Each(times) if times.len() != count => {
                return Err(Error::LengthsDiffer {
                    counter: self.name(),
                    times: times.len(),
                    values: count,
                });
            }
            SampleTimes::Each(times) => (*times, self.flags),
            SampleTimes::Interval(interval) => {
                (&interval.pair[..], self.flags | interval.placement.to_raw())
            }
            SampleTimes::Embedded if !self.counter.is_timed => {
                return Err(self.counter.schema.refuse(
                    "has no timestamp field, so the times of its rows go beside them: give `SampleTimes::Each`",
                ));
            }
            SampleTimes::Embedded => (&[][..], self.flags),
        };
        if count == 0 {
            return Ok(());
        }
        self.port
            .batch_bytes(self.counter.id, times, rows, flags)
            .map_err(|error| error.at(self))
    }

    #[cold]
    fn name(&self) -> String {
        self.stream.domain.counter_name(self.counter.id)
    }
}

impl fmt::Debug for RowCounterWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RowCounterWriter");
        debug
            .field("stream", &self.stream.name())
            .field("counter", &self.counter.id)
            .finish_non_exhaustive()
    }
}

impl error::sealed::Place for RowCounterWriter<'_> {
    fn what(&self) -> String {
        format!(
            "rows of counter `{}` to {}",
            self.name(),
            self.stream.describe()
        )
    }

    fn stream(&self) -> &Stream {
        self.stream
    }
}
