//! What a counter's values mean.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Why a sample has no value.
    NoValueReason: u8;
    /// The value is zero.
    Zero = raw::NVTX_COUNTER_SAMPLE_ZERO,
    /// The value is the one before.
    Unchanged = raw::NVTX_COUNTER_SAMPLE_UNCHANGED,
    /// The value could not be read.
    Unavailable = raw::NVTX_COUNTER_SAMPLE_UNAVAILABLE,
}

vocabulary! {
    /// How a counter runs between its samples. The number 0 leaves that to the reader.
    Interpolation: u64 in raw::NVTX_COUNTER_FLAG_INTERPOLATIONS;
    /// A value holds at its timestamp only.
    Point = raw::NVTX_COUNTER_FLAG_INTERPOLATION_POINT,
    /// A value holds since the sample before.
    SinceLast = raw::NVTX_COUNTER_FLAG_INTERPOLATION_SINCE_LAST,
    /// A value holds until the next sample.
    UntilNext = raw::NVTX_COUNTER_FLAG_INTERPOLATION_UNTIL_NEXT,
    /// The line from sample to sample.
    Linear = raw::NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR,
}

vocabulary! {
    /// What a sample's number is. The number 0 leaves that to the reader.
    ValueType: u64 in raw::NVTX_COUNTER_FLAG_VALUETYPES;
    /// The value itself.
    Absolute = raw::NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE,
    /// The difference to the sample before.
    Delta = raw::NVTX_COUNTER_FLAG_VALUETYPE_DELTA,
    /// The difference to the first sample.
    DeltaSinceStart = raw::NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START,
}

/// The least or the greatest value of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Of a signed counter.
    I64(i64),
    /// Of an unsigned counter.
    U64(u64),
    /// Of a floating-point counter.
    F64(f64),
}

impl Limit {
    /// The `limitType`, and the bits of the [`nvtxCounterLimit_t`](raw::nvtxCounterLimit_t).
    pub const fn to_raw(self) -> (i64, u64) {
        match self {
            Self::I64(limit) => (raw::NVTX_COUNTER_LIMIT_I64, limit as u64),
            Self::U64(limit) => (raw::NVTX_COUNTER_LIMIT_U64, limit),
            Self::F64(limit) => (raw::NVTX_COUNTER_LIMIT_F64, limit.to_bits()),
        }
    }

    /// From the `limitType` and the bits of the [`nvtxCounterLimit_t`](raw::nvtxCounterLimit_t);
    /// `None` if the ABI doesn't define the type.
    pub const fn from_raw(limit_type: i64, bits: u64) -> Option<Self> {
        match limit_type {
            raw::NVTX_COUNTER_LIMIT_I64 => Some(Self::I64(bits as i64)),
            raw::NVTX_COUNTER_LIMIT_U64 => Some(Self::U64(bits)),
            raw::NVTX_COUNTER_LIMIT_F64 => Some(Self::F64(f64::from_bits(bits))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interpolation, Limit, ValueType};

    #[test]
    fn limits_keep_every_bit() {
        for limit in [
            Limit::I64(i64::MIN),
            Limit::I64(-1),
            Limit::U64(u64::MAX),
            Limit::F64(-0.0),
            Limit::F64(f64::NEG_INFINITY),
        ] {
            let (limit_type, bits) = limit.to_raw();
            assert_eq!(Limit::from_raw(limit_type, bits), Some(limit));
        }
        assert_eq!(Limit::I64(-1).to_raw(), (1, u64::MAX));
        assert_eq!(Limit::U64(7).to_raw(), (2, 7));
        assert_eq!(Limit::F64(1.0).to_raw(), (3, 1.0f64.to_bits()));
        assert!(
            matches!(Limit::from_raw(3, f64::NAN.to_bits()), Some(Limit::F64(nan)) if nan.is_nan())
        );
        for undefined in [0, 4, -1] {
            assert_eq!(Limit::from_raw(undefined, 0), None);
        }
    }

    #[test]
    fn a_shared_bit_is_not_a_shared_value() {
        let flags = Interpolation::Point.to_raw() | Interpolation::SinceLast.to_raw();
        assert_eq!(
            Interpolation::from_raw(flags),
            Some(Interpolation::UntilNext)
        );
        let flags = ValueType::Absolute.to_raw() | ValueType::Delta.to_raw();
        assert_eq!(ValueType::from_raw(flags), Some(ValueType::DeltaSinceStart));
        // The two fields and the limit flags lie side by side.
        let flags = Interpolation::Linear.to_raw() | ValueType::Delta.to_raw() | 0b1110;
        assert_eq!(Interpolation::from_raw(flags), Some(Interpolation::Linear));
        assert_eq!(ValueType::from_raw(flags), Some(ValueType::Delta));
        // 0 is "not said".
        assert_eq!(Interpolation::from_raw(0), None);
        assert_eq!(ValueType::from_raw(0), None);
    }
}
