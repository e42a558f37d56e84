//! Semantics: what an entry's or a counter's value means beyond its type.

use core::ffi::{c_char, c_uchar};

use crate::raw::definition::{constants, layout};

layout! {
    /// The head of every semantics struct.
    struct nvtxSemanticsHeader_t: size 16, align 8 {
        /// Bytes of the whole struct that the caller knows.
        structSize @ 0: u32,
        /// `NVTX_SEMANTIC_ID_*`: which struct this is the head of. Unknown ones are skipped.
        semanticId @ 4: u16,
        /// The version of that struct.
        version @ 6: u16,
        /// The next of the list; null ends it.
        next @ 8: *const nvtxSemanticsHeader_t,
    }

    /// The scope of an entry.
    struct nvtxSemanticsScope_t: size 24, align 8 {
        /// Has [`NVTX_SEMANTIC_ID_SCOPE_V1`].
        header @ 0: nvtxSemanticsHeader_t,
        /// A predefined scope or one of the domain's.
        scopeId @ 16: u64,
    }

    /// The time domain of a timestamp or of a counter.
    struct nvtxSemanticsTime_t: size 24, align 8 {
        /// Has [`NVTX_SEMANTIC_ID_TIME_V1`].
        header @ 0: nvtxSemanticsHeader_t,
        /// A timestamp type or one of the domain's time domains.
        timeDomainId @ 16: u64,
    }

    /// The entry's value relates events to each other.
    struct nvtxSemanticsCorrelation_t: size 48, align 8 {
        /// Has [`NVTX_SEMANTIC_ID_CORRELATION_V1`].
        header @ 0: nvtxSemanticsHeader_t,
        /// Values are compared within the correlation domain that has this UUID, across NVTX
        /// domains.
        correlationDomainUuid @ 16: [c_uchar; 16],
        /// The correlation domain's name; may be null.
        displayName @ 32: *const c_char,
        /// `NVTX_CORRELATION_ROLE_*`.
        role @ 40: u64,
    }

    /// The unit, the limits and the kind of a counter's values.
    struct nvtxSemanticsCounter_t: size 72, align 8 {
        /// Has [`NVTX_SEMANTIC_ID_COUNTERS_V1`].
        header @ 0: nvtxSemanticsHeader_t,
        /// `NVTX_COUNTER_FLAG_*`: single bits, and two numbers in bit-fields.
        flags @ 16: u64,
        /// The unit's name; may be null.
        unit @ 24: *const c_char,
        /// A value times this, divided by `unitScaleDenominator`, is in the unit.
        unitScaleNumerator @ 32: u64,
        /// See `unitScaleNumerator`.
        unitScaleDenominator @ 40: u64,
        /// `NVTX_COUNTER_LIMIT_*`: which member of `min` and `max` is set.
        limitType @ 48: i64,
        /// The least value; to be read only with [`NVTX_COUNTER_FLAG_LIMIT_MIN`].
        min @ 56: nvtxCounterLimit_t,
        /// The greatest value; to be read only with [`NVTX_COUNTER_FLAG_LIMIT_MAX`].
        max @ 64: nvtxCounterLimit_t,
    }

    /// A limit of a counter's values.
    union nvtxCounterLimit_t: size 8, align 8 {
        /// With [`NVTX_COUNTER_LIMIT_I64`].
        i64 @ 0: i64,
        /// With [`NVTX_COUNTER_LIMIT_U64`].
        u64 @ 0: u64,
        /// With [`NVTX_COUNTER_LIMIT_F64`].
        f64 @ 0: f64,
    }
}

constants! { CONSTANTS: Int as i128;
    /// Head of a [`nvtxSemanticsScope_t`].
    NVTX_SEMANTIC_ID_SCOPE_V1: u16 = 1;
    /// Head of a [`nvtxSemanticsTime_t`].
    NVTX_SEMANTIC_ID_TIME_V1: u16 = 2;
    /// Head of a [`nvtxSemanticsCorrelation_t`].
    NVTX_SEMANTIC_ID_CORRELATION_V1: u16 = 3;
    /// Head of a [`nvtxSemanticsCounter_t`].
    NVTX_SEMANTIC_ID_COUNTERS_V1: u16 = 5;
    /// The version of [`nvtxSemanticsScope_t`].
    NVTX_SCOPE_SEMANTIC_VERSION: u16 = 1;
    /// The version of [`nvtxSemanticsTime_t`].
    NVTX_TIME_SEMANTIC_VERSION: u16 = 1;
    /// The version of [`nvtxSemanticsCorrelation_t`].
    NVTX_CORRELATION_SEMANTIC_VERSION: u16 = 1;
    /// The version of [`nvtxSemanticsCounter_t`].
    NVTX_COUNTER_SEMANTIC_VERSION: u16 = 2;

    /// The only role so far.
    NVTX_CORRELATION_ROLE_NONE: u64 = 0;
    /// The value of an event that relates to no other.
    NVTX_CORRELATION_VALUE_NONE: u64 = 0;

    /// No flag.
    NVTX_COUNTER_FLAGS_NONE: u64 = 0;
    /// Integer values stand for the range 0 to 1 (unsigned) or -1 to 1 (signed).
    NVTX_COUNTER_FLAG_NORMALIZE: u64 = 1 << 1;
    /// `min` is set.
    NVTX_COUNTER_FLAG_LIMIT_MIN: u64 = 1 << 2;
    /// `max` is set.
    NVTX_COUNTER_FLAG_LIMIT_MAX: u64 = 1 << 3;
    /// `min` and `max` are set.
    NVTX_COUNTER_FLAG_LIMITS: u64 = NVTX_COUNTER_FLAG_LIMIT_MIN | NVTX_COUNTER_FLAG_LIMIT_MAX;
    /// Value type 1 at bit 4: the values themselves.
    NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE: u64 = 1 << 4;
    /// Value type 2 at bit 4: differences to the sample before.
    NVTX_COUNTER_FLAG_VALUETYPE_DELTA: u64 = 2 << 4;
    /// Value type 3 at bit 4: differences to the first sample.
    NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START: u64 = 3 << 4;
    /// The bits of the value type.
    NVTX_COUNTER_FLAG_VALUETYPES: u64 = 3 << 4;
    /// Interpolation 1 at bit 8: a value holds at its timestamp only.
    NVTX_COUNTER_FLAG_INTERPOLATION_POINT: u64 = 1 << 8;
    /// Interpolation 2 at bit 8: a value holds since the sample before.
    NVTX_COUNTER_FLAG_INTERPOLATION_SINCE_LAST: u64 = 2 << 8;
    /// Interpolation 3 at bit 8: a value holds until the next sample.
    NVTX_COUNTER_FLAG_INTERPOLATION_UNTIL_NEXT: u64 = 3 << 8;
    /// Interpolation 4 at bit 8: values change linearly between samples.
    NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR: u64 = 4 << 8;
    /// The bits of the interpolation.
    NVTX_COUNTER_FLAG_INTERPOLATIONS: u64 = 7 << 8;

    /// `min` and `max` are not set.
    NVTX_COUNTER_LIMIT_UNDEFINED: i64 = 0;
    /// `min` and `max` are [`nvtxCounterLimit_t::i64`].
    NVTX_COUNTER_LIMIT_I64: i64 = 1;
    /// `min` and `max` are [`nvtxCounterLimit_t::u64`].
    NVTX_COUNTER_LIMIT_U64: i64 = 2;
    /// `min` and `max` are [`nvtxCounterLimit_t::f64`].
    NVTX_COUNTER_LIMIT_F64: i64 = 3;
}
