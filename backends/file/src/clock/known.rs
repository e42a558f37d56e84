//! What is known of clocks before anybody relates them.

use nvtxw_backend::{TimeDomain, TimerStart, TimestampType};

pub(super) const NANOSECONDS: u64 = 1_000_000_000;

/// From 1 January 1601 to 1 January 1970: 134,774 days.
const FILETIME_TO_UNIX: i128 = 134_774 * 86_400 * NANOSECONDS as i128;

/// How a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Ticks per second.
    pub(super) rate: Option<u64>,
    pub(super) start: TimerStart,
}

impl Known {
    pub(super) fn of_type(clock: TimestampType) -> Self {
        use TimestampType as T;
        let rate = match clock {
            T::None | T::ToolProvided | T::CpuTsc | T::CpuTscNonvirtualized | T::WinQpc => None,
            T::WinGstaft | T::WinGstaftp => Some(10_000_000),
            T::CTime => Some(1),
            // POSIX says so.
            T::CClock => Some(1_000_000),
            _ => Some(NANOSECONDS),
        };
        let start = match clock {
            T::ClockRealtime | T::ClockRealtimeCoarse => TimerStart::UnixEpoch,
            T::CTime | T::CTimespecGet | T::CppSystemClock => TimerStart::UnixEpoch,
            T::WinGstaft | T::WinGstaftp => TimerStart::WinFiletime,
            T::ClockMonotonic | T::ClockMonotonicRaw | T::ClockMonotonicCoarse => {
                TimerStart::SystemBoot
            }
            T::ClockBoottime => TimerStart::SystemBoot,
            _ => TimerStart::Unknown,
        };
        Self { rate, start }
    }

    /// What a registered clock says of itself counts, and where it is silent its type.
    pub(super) fn of(domain: &TimeDomain) -> Self {
        let by_type = Self::of_type(domain.timestamp_type());
        Self {
            rate: domain.resolution().or(by_type.rate),
            start: match domain.start() {
                TimerStart::Unknown => by_type.start,
                start => start,
            },
        }
    }

    /// Ticks per second; those of a clock that is not known are taken for nanoseconds.
    pub(super) fn rate_or_nanoseconds(self) -> u64 {
        self.rate.unwrap_or(NANOSECONDS)
    }

    /// What the clock's own nanoseconds need to count from 1970, if they count from another date.
    pub(super) fn zero(self) -> i128 {
        match self.start {
            TimerStart::WinFiletime => -FILETIME_TO_UNIX,
            _ => 0,
        }
    }

    pub(super) fn is_date(self) -> bool {
        matches!(self.start, TimerStart::UnixEpoch | TimerStart::WinFiletime)
    }
}

/// A clock's name, for people.
pub(super) fn name(clock: TimestampType) -> &'static str {
    use TimestampType as T;
    match clock {
        T::None => "ticks of no known clock",
        T::ToolProvided => "the tool's clock",
        T::CpuTsc => "CPU TSC",
        T::CpuTscNonvirtualized => "CPU TSC (not virtualised)",
        T::ClockRealtime => "CLOCK_REALTIME",
        T::ClockRealtimeCoarse => "CLOCK_REALTIME_COARSE",
        T::ClockMonotonic => "CLOCK_MONOTONIC",
        T::ClockMonotonicRaw => "CLOCK_MONOTONIC_RAW",
        T::ClockMonotonicCoarse => "CLOCK_MONOTONIC_COARSE",
        T::ClockBoottime => "CLOCK_BOOTTIME",
        T::ClockProcessCputime => "CLOCK_PROCESS_CPUTIME_ID",
        T::ClockThreadCputime => "CLOCK_THREAD_CPUTIME_ID",
        T::WinQpc => "QueryPerformanceCounter",
        T::WinGstaft => "GetSystemTimeAsFileTime",
        T::WinGstaftp => "GetSystemTimePreciseAsFileTime",
        T::CTime => "time()",
        T::CClock => "clock()",
        T::CTimespecGet => "timespec_get()",
        T::CppSteadyClock => "std::chrono::steady_clock",
        T::CppHighResolutionClock => "std::chrono::high_resolution_clock",
        T::CppSystemClock => "std::chrono::system_clock",
        T::CppUtcClock => "std::chrono::utc_clock",
        T::CppTaiClock => "std::chrono::tai_clock",
        T::CppGpsClock => "std::chrono::gps_clock",
        T::CppFileClock => "std::chrono::file_clock",
        T::GpuGlobaltimer => "GPU globaltimer",
    }
}
