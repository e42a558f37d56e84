//! Time domains: what timestamps count.

use nvtxw_abi::TimestampType;

use crate::scope::ScopeRef;

/// A registered time domain: a clock that timestamps were read from.
#[derive(Debug, PartialEq, Eq)]
pub struct TimeDomain {
    pub(crate) id: u64,
    pub(crate) scope: ScopeRef,
    pub(crate) timestamp_type: TimestampType,
    pub(crate) flags: u64,
    pub(crate) resolution: Option<u64>,
    pub(crate) start: u64,
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

    /// `NVTX_TIMER_FLAG_*` of the ABI: whether the clock is monotonic and steady.
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// Ticks per second; `None` if unknown.
    pub fn resolution(&self) -> Option<u64> {
        self.resolution
    }

    /// When the clock stood at 0: `NVTX_TIMER_START_*` of the ABI.
    pub fn start(&self) -> u64 {
        self.start
    }
}
