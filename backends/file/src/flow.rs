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
    if value == 0 {
        return None;
    }
    let domain = u128::from_le_bytes(correlation.domain());
    // Different values of one domain stay different, up to 64 bits.
    Some(mix(
        value as u64 ^ fold(domain).wrapping_add((value >> 64) as u64)
    ))
}

fn fold(number: u128) -> u64 {
    mix(number as u64 ^ mix((number >> 64) as u64))
}
