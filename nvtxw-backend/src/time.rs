//! Times of events, and time domains: what timestamps count.

use nvtxw_abi::raw::{NVTX_TIMER_FLAG_CLOCK_MONOTONIC, NVTX_TIMER_FLAG_CLOCK_STEADY};
use nvtxw_abi::{TimerStart, TimestampType};

use crate::scope::ScopeRef;

/// A registered time domain: a clock that timestamps were read from.
#[derive(Debug, PartialEq, Eq)]
pub struct TimeDomain {
    pub(crate) id: u64,
    pub(crate) scope: ScopeRef,
    pub(crate) timestamp_type: TimestampType,
    pub(crate) flags: u64,
    pub(crate) resolution: Option<u64>,
    pub(crate) start: TimerStart,
}

impl TimeDomain {
    /// The time domain's ID, unique among those of its domain.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The scope whose clock this is.
    pub fn scope(&self) -> &ScopeRef {
        &self.scope
    }

    /// Which clock this is.
    pub fn timestamp_type(&self) -> TimestampType {
        self.timestamp_type
    }

    /// Whether the clock never goes back.
    pub fn is_monotonic(&self) -> bool {
        self.flags & NVTX_TIMER_FLAG_CLOCK_MONOTONIC != 0
    }

    /// Whether the clock's ticks are of equal length.
    pub fn is_steady(&self) -> bool {
        self.flags & NVTX_TIMER_FLAG_CLOCK_STEADY != 0
    }

    /// Ticks per second; `None` if unknown.
    pub fn resolution(&self) -> Option<u64> {
        self.resolution
    }

    /// When the clock stood at 0. What the ABI doesn't define is [`TimerStart::Unknown`].
    pub fn start(&self) -> TimerStart {
        self.start
    }
}

/// When an event happens, in ticks of its [time domain](crate::Event::time_domain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// At one instant: marks, and the starts and ends of ranges that are written one by one.
    Point(i64),
    /// A whole range. If start and end are in one time domain, it does not end before it starts.
    Range {
        /// The start.
        start: i64,
        /// The end, in ticks of [its own](crate::Event::end_time_domain) time domain.
        end: i64,
    },
}

impl Time {
    /// The instant, or the range's start.
    pub fn start(self) -> i64 {
        match self {
            Self::Point(start) | Self::Range { start, .. } => start,
        }
    }

    /// The range's end.
    pub fn end(self) -> Option<i64> {
        match self {
            Self::Point(_) => None,
            Self::Range { end, .. } => Some(end),
        }
    }
}
