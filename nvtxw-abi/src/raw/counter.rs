//! Counters, and batches of their samples.

use core::ffi::{c_char, c_void};

use crate::raw::definition::{constants, layout};
use crate::raw::nvtxSemanticsHeader_t;

layout! {
    /// A counter or a counter group to register.
    struct nvtxCounterAttr_t: size 56, align 8 {
        /// Bytes of this struct that the caller knows.
        structSize @ 0: usize,
        /// A predefined numeric entry type, or the schema of a counter group.
        schemaId @ 8: u64,
        /// The counter's name.
        name @ 16: *const c_char,
        /// What the counter counts, for people; may be null.
        description @ 24: *const c_char,
        /// The counter's scope; none takes the stream's.
        scopeId @ 32: u64,
        /// The first of a linked list of semantics; null means none.
        semantics @ 40: *const nvtxSemanticsHeader_t,
        /// A static ID that the producer picked; 0 lets the backend pick one.
        counterId @ 48: u64,
    }

    /// Samples of one counter or counter group.
    struct nvtxCounterBatch_t: size 48, align 8 {
        /// A counter of the stream's domain.
        counterId @ 0: u64,
        /// The samples, one after the other.
        counters @ 8: *const c_void,
        /// Bytes of all samples together.
        countersSize @ 16: usize,
        /// `NVTX_BATCH_FLAG_*` and `NVTX_COUNTER_BATCH_FLAG_*`.
        flags @ 24: u64,
        /// One timestamp per sample, or one pair; null if the samples hold their own.
        timestamps @ 32: *const i64,
        /// Bytes of all timestamps together.
        timestampsSize @ 40: usize,
    }
}

constants! { CONSTANTS: Int as i128;
    /// No counter.
    NVTX_COUNTER_ID_NONE: u64 = 0;
    /// The first ID that a producer may pick for a counter.
    NVTX_COUNTER_ID_STATIC_START: u64 = 1 << 24;
    /// The first ID that a backend picks for a counter.
    NVTX_COUNTER_ID_DYNAMIC_START: u64 = 1 << 32;

    /// A sample without a value: it is zero.
    NVTX_COUNTER_SAMPLE_ZERO: u8 = 0;
    /// A sample without a value: it is the one before.
    NVTX_COUNTER_SAMPLE_UNCHANGED: u8 = 1;
    /// A sample without a value: it could not be read.
    NVTX_COUNTER_SAMPLE_UNAVAILABLE: u8 = 2;

    /// Placement 1 at bit 32: `timestamps` is one pair, the first sample's time and the distance
    /// between samples.
    NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR: u64 = 1 << 32;
    /// Placement 2 at bit 32: `timestamps` is one pair, the last sample's time and the distance
    /// between samples.
    NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR: u64 = 2 << 32;
}
