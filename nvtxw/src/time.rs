//! Time domains, and how they relate.

use nvtxw_abi::{TimerStart, TimestampType, raw};

use crate::calls::{SyncPoint, TimeDomainDefinition};
use crate::domain::Domain;
use crate::error::{Error, Result, WriteError};
use crate::id::{DefaultScope, Owner, StaticId};
use crate::writer::Writer;

/// A registered time domain, as a small value to keep: a clock that no [`TimestampType`] describes well enough.
///
/// Made by [`Domain::time_domain`]. Streams take it ([`StreamOptions::time_domain`](crate::StreamOptions::time_domain)),
/// and sync points relate it to others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimeDomain {
    pub(crate) owner: Owner,
    pub(crate) id: u64,
}

impl TimeDomain {
    /// The time domain's number, unique among those of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }
}

/// What timestamps are read from: a clock that every backend knows, or a registered time domain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Clock {
    /// A known clock.
    Predefined(TimestampType),
    /// A time domain of the stream's domain.
    Registered(TimeDomain),
}

impl From<TimestampType> for Clock {
    fn from(clock: TimestampType) -> Self {
        Self::Predefined(clock)
    }
}

impl From<TimeDomain> for Clock {
    fn from(domain: TimeDomain) -> Self {
        Self::Registered(domain)
    }
}

impl Clock {
    /// The clock's number in the domain `here`, or the other domain that it belongs to.
    pub(crate) fn number(self, here: Owner) -> Result<u64, Owner> {
        match self {
            Self::Predefined(clock) => Ok(clock.to_raw()),
            Self::Registered(domain) if domain.owner == here => Ok(domain.id),
            Self::Registered(domain) => Err(domain.owner),
        }
    }
}

/// What is known of a clock that is registered as a time domain.
///
/// ```
/// use nvtxw::{TimeDomainOptions, TimerStart};
///
/// let simulated = TimeDomainOptions::new()
///     .ticks_per_second(1_755_000_000)
///     .start(TimerStart::SystemBoot)
///     .monotonic()
///     .steady();
/// # let _ = simulated;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[must_use]
pub struct TimeDomainOptions {
    /// Which clock it is.
    pub clock: TimestampType,
    /// Ticks per second; 0 if unknown.
    pub ticks_per_second: u64,
    /// When it stood at 0.
    pub start: TimerStart,
    /// Whether it never goes back.
    pub monotonic: bool,
    /// Whether its ticks are of equal length.
    pub steady: bool,
    /// Whose clock it is.
    pub scope: DefaultScope,
    /// Its number, if the backend isn't to pick one.
    pub static_id: Option<StaticId>,
}

impl Default for TimeDomainOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeDomainOptions {
    /// A clock of which nothing is known.
    pub const fn new() -> Self {
        Self {
            clock: TimestampType::None,
            ticks_per_second: 0,
            start: TimerStart::Unknown,
            monotonic: false,
            steady: false,
            scope: DefaultScope::None,
            static_id: None,
        }
    }

    /// It is this known clock, of which more is known: its frequency, or whose it is.
    pub const fn clock(mut self, clock: TimestampType) -> Self {
        self.clock = clock;
        self
    }

    /// How many ticks a second has: up to 2^63 - 1, or 0 if that is unknown.
    pub const fn ticks_per_second(mut self, ticks: u64) -> Self {
        self.ticks_per_second = ticks;
        self
    }

    /// When it stood at 0.
    pub const fn start(mut self, start: TimerStart) -> Self {
        self.start = start;
        self
    }

    /// It never goes back.
    pub const fn monotonic(mut self) -> Self {
        self.monotonic = true;
        self
    }

    /// Its ticks are of equal length.
    pub const fn steady(mut self) -> Self {
        self.steady = true;
        self
    }

    /// Whose clock it is: a [`Scope`](crate::Scope) of the domain, or one of [`DefaultScope`]'s.
    pub fn scope(mut self, scope: impl Into<DefaultScope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Gives it a number of your own.
    pub const fn static_id(mut self, id: StaticId) -> Self {
        self.static_id = Some(id);
        self
    }

    fn flags(&self) -> u64 {
        let mut flags = raw::NVTX_TIMER_FLAG_NONE;
        if self.monotonic {
            flags |= raw::NVTX_TIMER_FLAG_CLOCK_MONOTONIC;
        }
        if self.steady {
            flags |= raw::NVTX_TIMER_FLAG_CLOCK_STEADY;
        }
        flags
    }
}

impl Domain<'_> {
    /// Registers a time domain. Clocks have no names, so each call registers a new one.
    ///
    /// ```
    /// # use nvtxw::{Domain, Result, Session, StreamOptions, TimeDomainOptions};
    /// fn open(session: &mut Session) -> Result<()> {
    ///     let mut gpu = session.domain("gpu")?;
    ///     let clock = gpu.time_domain(TimeDomainOptions::new().ticks_per_second(31_250_000).steady())?;
    ///     let options = StreamOptions::new(gpu.id()).time_domain(clock);
    ///     let stream = session.open_stream("engine 0", options)?;
    /// #   let _ = stream;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Resolution`]; [`Error::Foreign`] if the scope is of another domain; [`Error::Call`] if the backend refuses.
    pub fn time_domain(&mut self, options: TimeDomainOptions) -> Result<TimeDomain> {
        let place = || "the time domain is for".to_owned();
        let definition = TimeDomainDefinition {
            scope: self.default_scope(options.scope, place)?,
            clock: options.clock.to_raw(),
            static_id: StaticId::raw(options.static_id),
            flags: options.flags(),
            resolution: i64::try_from(options.ticks_per_second).map_err(|_| Error::Resolution {
                ticks_per_second: options.ticks_per_second,
            })?,
            start: options.start.to_raw(),
        };
        let id = self
            .live
            .register_time_domain(self.state.handle, &definition)
            .map_err(|refusal| {
                let object = format!(
                    "a time domain ({:?}) in {}",
                    options.clock,
                    self.state.describe()
                );
                refusal.of("register", object)
            })?;
        self.state.registered().time_domains.insert(id, options);
        Ok(TimeDomain {
            owner: self.state.owner,
            id,
        })
    }
}

impl Writer<'_> {
    /// Writes that one instant is `point.source` on one clock and `point.destination` on another.
    ///
    /// Clocks are [`TimestampType`]s or [`TimeDomain`]s of the stream's domain.
    ///
    /// The built-in backend converts timestamps exactly, so that streams with different clocks line up. What is in
    /// the file when a sync point comes gets its times when the session ends, by one more pass over the file. (With
    /// `merge=false`, and in Parquet if its stream reads several clocks, it keeps those that it got, and is counted there.)
    ///
    /// # Errors
    /// [`Error::Foreign`] if a time domain is one of another domain; [`Error::Write`] as the backend answered.
    pub fn sync_point(
        &self,
        source: impl Into<Clock>,
        destination: impl Into<Clock>,
        point: SyncPoint,
    ) -> Result<()> {
        let (from, to) = self.clocks(source.into(), destination.into())?;
        let port = self.live.time(&self.stream.handle);
        port.sync_point(from, to, point)
            .map_err(|error| self.at_clocks(error, "a sync point"))
    }

    /// Writes many such points in one call, which gets the slice itself. An empty slice is no call.
    ///
    /// ```
    /// # use nvtxw::{Result, SyncPoint, TimeDomain, TimestampType, Writer};
    /// fn align(out: &Writer<'_>, gpu: TimeDomain) -> Result<()> {
    ///     let points = [
    ///         SyncPoint { source: 31_250, destination: 1_000_000 },
    ///         SyncPoint { source: 62_500, destination: 2_000_000 },
    ///     ];
    ///     out.sync_points(gpu, TimestampType::ClockMonotonic, &points)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`sync_point`](Writer::sync_point).
    pub fn sync_points(
        &self,
        source: impl Into<Clock>,
        destination: impl Into<Clock>,
        points: &[SyncPoint],
    ) -> Result<()> {
        let (from, to) = self.clocks(source.into(), destination.into())?;
        if points.is_empty() {
            return Ok(());
        }
        let port = self.live.time(&self.stream.handle);
        port.sync_points(from, to, points)
            .map_err(|error| self.at_clocks(error, "sync points"))
    }

    /// Writes how to convert the times of one clock into those of another: `slope` ticks of the destination per tick of the
    /// source, through `point`.
    ///
    /// # Errors
    /// As [`sync_point`](Writer::sync_point), and [`Error::Conversion`] if the slope is 0, infinite or no number.
    pub fn conversion(
        &self,
        source: impl Into<Clock>,
        destination: impl Into<Clock>,
        slope: f64,
        point: SyncPoint,
    ) -> Result<()> {
        let (from, to) = self.clocks(source.into(), destination.into())?;
        if !slope.is_finite() || slope == 0.0 {
            return Err(Error::Conversion { slope });
        }
        let port = self.live.time(&self.stream.handle);
        port.conversion(from, to, slope, point)
            .map_err(|error| self.at_clocks(error, "a conversion factor"))
    }

    fn clocks(&self, source: Clock, destination: Clock) -> Result<(u64, u64)> {
        let here = self.owner();
        let number = |clock: Clock| {
            clock
                .number(here)
                .map_err(|owner| self.stream.foreign("a time domain that was passed", owner))
        };
        Ok((number(source)?, number(destination)?))
    }

    fn at_clocks(&self, error: WriteError, what: &str) -> Error {
        Error::Write {
            what: format!("{what} to {}", self.stream.describe()),
            error,
            reason: error.reason(self.stream),
        }
    }
}
