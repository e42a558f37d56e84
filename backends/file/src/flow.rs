//! What joins events.

use nvtxw_backend::{Correlation, Value};

use crate::intern::mix;

/// The flow that joins all events with this value in this correlation domain; 0 joins none.
pub(crate) fn flow(correlation: &Correlation, value: Value<'_>) -> Option<u64> {
    let value: u128 = match value {
        Value::U64(value) | Value::Address(value) | Value::Enum { value, .. } => value.into(),
        Value::I64(value) => (value as u64).into(),
        Value::U128(value) => value,
        Value::I128(value) => value as u128,
        _ => return None,
    };
    joined(value, domain(correlation))
}

/// The same for a value of a [domain].
#[inline]
pub(crate) fn joined(value: u128, domain: u64) -> Option<u64> {
    // Different values of one domain stay different, up to 64 bits.
    let flow = mix(value as u64 ^ domain.wrapping_add((value >> 64) as u64));
    (value != 0).then_some(flow)
}

/// What stands for the domain of a correlation.
pub(crate) fn domain(correlation: &Correlation) -> u64 {
    fold(u128::from_le_bytes(correlation.domain()))
}

fn fold(number: u128) -> u64 {
    mix(number as u64 ^ mix((number >> 64) as u64))
}
