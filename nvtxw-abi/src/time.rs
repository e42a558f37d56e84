//! The clocks that timestamps may come from, and when they stood at 0.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A known clock. Its number also serves as the ID of a time domain where that is unambiguous.
    TimestampType: u64;
    /// Unknown: a timeline of its own.
    None = raw::NVTX_TIMESTAMP_TYPE_NONE,
    /// The tool's own clock.
    ToolProvided = raw::NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED,
    /// The processor's counter: RDTSC on x86, CNTVCT on ARM.
    CpuTsc = raw::NVTX_TIMESTAMP_TYPE_CPU_TSC,
    /// The processor's counter, not virtualised: CNTPCT on ARM.
    CpuTscNonvirtualized = raw::NVTX_TIMESTAMP_TYPE_CPU_TSC_NONVIRTUALIZED,
    /// `clock_gettime(CLOCK_REALTIME)`.
    ClockRealtime = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME,
    /// `clock_gettime(CLOCK_REALTIME_COARSE)`.
    ClockRealtimeCoarse = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME_COARSE,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    ClockMonotonic = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`.
    ClockMonotonicRaw = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW,
    /// `clock_gettime(CLOCK_MONOTONIC_COARSE)`.
    ClockMonotonicCoarse = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_COARSE,
    /// `clock_gettime(CLOCK_BOOTTIME)`.
    ClockBoottime = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME,
    /// `clock_gettime(CLOCK_PROCESS_CPUTIME_ID)`.
    ClockProcessCputime = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_PROCESS_CPUTIME_ID,
    /// `clock_gettime(CLOCK_THREAD_CPUTIME_ID)`.
    ClockThreadCputime = raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_THREAD_CPUTIME_ID,
    /// Windows: `QueryPerformanceCounter`.
    WinQpc = raw::NVTX_TIMESTAMP_TYPE_WIN_QPC,
    /// Windows: `GetSystemTimeAsFileTime`.
    WinGstaft = raw::NVTX_TIMESTAMP_TYPE_WIN_GSTAFT,
    /// Windows: `GetSystemTimePreciseAsFileTime`.
    WinGstaftp = raw::NVTX_TIMESTAMP_TYPE_WIN_GSTAFTP,
    /// C's `time`: seconds since the epoch.
    CTime = raw::NVTX_TIMESTAMP_TYPE_C_TIME,
    /// C's `clock`.
    CClock = raw::NVTX_TIMESTAMP_TYPE_C_CLOCK,
    /// C's `timespec_get`.
    CTimespecGet = raw::NVTX_TIMESTAMP_TYPE_C_TIMESPEC_GET,
    /// C++'s `steady_clock`.
    CppSteadyClock = raw::NVTX_TIMESTAMP_TYPE_CPP_STEADY_CLOCK,
    /// C++'s `high_resolution_clock`.
    CppHighResolutionClock = raw::NVTX_TIMESTAMP_TYPE_CPP_HIGH_RESOLUTION_CLOCK,
    /// C++'s `system_clock`.
    CppSystemClock = raw::NVTX_TIMESTAMP_TYPE_CPP_SYSTEM_CLOCK,
    /// C++'s `utc_clock`.
    CppUtcClock = raw::NVTX_TIMESTAMP_TYPE_CPP_UTC_CLOCK,
    /// C++'s `tai_clock`.
    CppTaiClock = raw::NVTX_TIMESTAMP_TYPE_CPP_TAI_CLOCK,
    /// C++'s `gps_clock`.
    CppGpsClock = raw::NVTX_TIMESTAMP_TYPE_CPP_GPS_CLOCK,
    /// C++'s `file_clock`.
    CppFileClock = raw::NVTX_TIMESTAMP_TYPE_CPP_FILE_CLOCK,
    /// A GPU's global timer.
    GpuGlobaltimer = raw::NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
}

vocabulary! {
    /// When a clock stood at 0.
    #[derive(Default)]
    TimerStart: u64;
    /// Not known.
    #[default]
    Unknown = raw::NVTX_TIMER_START_UNKNOWN,
    /// When the system booted.
    SystemBoot = raw::NVTX_TIMER_START_SYSTEM_BOOT,
    /// When the virtual machine booted.
    VmBoot = raw::NVTX_TIMER_START_VM_BOOT,
    /// On 1 January 1970.
    UnixEpoch = raw::NVTX_TIMER_START_UNIX_EPOCH,
    /// On 1 January 1601, as Windows' file times.
    WinFiletime = raw::NVTX_TIMER_START_WIN_FILETIME,
}
