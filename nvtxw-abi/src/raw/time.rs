//! Time domains: what the numbers of timestamps count, and how two domains relate.

use crate::raw::definition::{constants, layout};

layout! {
    /// A time domain to register.
    struct nvtxTimeDomainAttr_t: size 48, align 8 {
        /// The scope whose clock this is.
        scopeId @ 0: u64,
        /// `NVTX_TIMESTAMP_TYPE_*`.
        timestampTypeId @ 8: u64,
        /// A static ID that the producer picked; 0 lets the backend pick one.
        timeDomainId @ 16: u64,
        /// `NVTX_TIMER_FLAG_*`.
        timerFlags @ 24: u64,
        /// Ticks per second; 0 means unknown.
        timerResolution @ 32: i64,
        /// When the timer stood at 0: `NVTX_TIMER_START_*`.
        timerStart @ 40: u64,
    }

    /// One instant as two time domains count it.
    struct nvtxSyncPoint_t: size 16, align 8 {
        /// Timestamp in the source domain.
        src @ 0: i64,
        /// Timestamp in the destination domain.
        dst @ 8: i64,
    }
}

constants! { CONSTANTS: Int as i128;
    /// A clock that is not known.
    NVTX_TIMESTAMP_TYPE_NONE: u64 = 0;
    /// The tool's own clock, as `nvtxTimestampGet` of NVTX proper reads it.
    NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED: u64 = 1;
    /// The processor's counter: RDTSC on x86, CNTVCT on ARM.
    NVTX_TIMESTAMP_TYPE_CPU_TSC: u64 = 10;
    /// The processor's counter, not virtualised: CNTPCT on ARM.
    NVTX_TIMESTAMP_TYPE_CPU_TSC_NONVIRTUALIZED: u64 = 11;
    /// `clock_gettime(CLOCK_REALTIME)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME: u64 = 12;
    /// `clock_gettime(CLOCK_REALTIME_COARSE)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME_COARSE: u64 = 13;
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC: u64 = 14;
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW: u64 = 15;
    /// `clock_gettime(CLOCK_MONOTONIC_COARSE)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_COARSE: u64 = 16;
    /// `clock_gettime(CLOCK_BOOTTIME)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME: u64 = 17;
    /// `clock_gettime(CLOCK_PROCESS_CPUTIME_ID)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_PROCESS_CPUTIME_ID: u64 = 18;
    /// `clock_gettime(CLOCK_THREAD_CPUTIME_ID)`.
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_THREAD_CPUTIME_ID: u64 = 19;
    /// Windows: `QueryPerformanceCounter`.
    NVTX_TIMESTAMP_TYPE_WIN_QPC: u64 = 30;
    /// Windows: `GetSystemTimeAsFileTime`.
    NVTX_TIMESTAMP_TYPE_WIN_GSTAFT: u64 = 31;
    /// Windows: `GetSystemTimePreciseAsFileTime`.
    NVTX_TIMESTAMP_TYPE_WIN_GSTAFTP: u64 = 32;
    /// C's `time`: seconds since the epoch.
    NVTX_TIMESTAMP_TYPE_C_TIME: u64 = 40;
    /// C's `clock`.
    NVTX_TIMESTAMP_TYPE_C_CLOCK: u64 = 41;
    /// C's `timespec_get`.
    NVTX_TIMESTAMP_TYPE_C_TIMESPEC_GET: u64 = 42;
    /// C++'s `steady_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_STEADY_CLOCK: u64 = 50;
    /// C++'s `high_resolution_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_HIGH_RESOLUTION_CLOCK: u64 = 51;
    /// C++'s `system_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_SYSTEM_CLOCK: u64 = 52;
    /// C++'s `utc_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_UTC_CLOCK: u64 = 53;
    /// C++'s `tai_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_TAI_CLOCK: u64 = 54;
    /// C++'s `gps_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_GPS_CLOCK: u64 = 55;
    /// C++'s `file_clock`.
    NVTX_TIMESTAMP_TYPE_CPP_FILE_CLOCK: u64 = 56;
    /// A GPU's global timer.
    NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER: u64 = 80;

    /// No time domain.
    NVTX_TIME_DOMAIN_ID_NONE: u64 = 0;
    /// The first ID that a producer may pick for a time domain.
    NVTX_TIME_DOMAIN_ID_STATIC_START: u64 = 1 << 24;
    /// The first ID that a backend picks for a time domain.
    NVTX_TIME_DOMAIN_ID_DYNAMIC_START: u64 = 1 << 32;

    /// Nothing is known about the timer.
    NVTX_TIMER_FLAG_NONE: u64 = 0;
    /// The timer never goes back.
    NVTX_TIMER_FLAG_CLOCK_MONOTONIC: u64 = 1 << 1;
    /// The timer's ticks are of equal length.
    NVTX_TIMER_FLAG_CLOCK_STEADY: u64 = 1 << 2;

    /// The timer's zero is not known.
    NVTX_TIMER_START_UNKNOWN: u64 = 0;
    /// The timer started when the system booted.
    NVTX_TIMER_START_SYSTEM_BOOT: u64 = 1;
    /// The timer started when the virtual machine booted.
    NVTX_TIMER_START_VM_BOOT: u64 = 2;
    /// The timer's zero is 1 January 1970.
    NVTX_TIMER_START_UNIX_EPOCH: u64 = 3;
    /// The timer's zero is 1 January 1601.
    NVTX_TIMER_START_WIN_FILETIME: u64 = 4;

    /// `nvtxTimerSource` of NVTX proper: the clock may be read after process teardown.
    NVTX_TIMER_SOURCE_SAFE_CALL_AFTER_PROCESS_TEARDOWN: u64 = 0;
    /// `nvtxTimerSource` of NVTX proper: the clock must not be read after process teardown.
    NVTX_TIMER_SOURCE_UNSAFE_CALL_AFTER_PROCESS_TEARDOWN: u64 = 1;
}
