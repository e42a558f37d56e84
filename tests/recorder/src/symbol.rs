//! Numbers of the ABI by the names of their constants.

use nvtxw_abi::layout::{Value, constants};
use serde_json::json;

/// The name of the constant with this value whose name starts with `prefix`, without that; the number if there is none.
pub(crate) fn name(prefix: &str, value: impl Into<i128>) -> String {
    let value = value.into();
    let found = constants().find_map(|constant| {
        let rest = constant.name.strip_prefix(prefix)?;
        // Lengths of tables and bounds of ranges are not values.
        let is_bound = rest.ends_with("_ARRAY_SIZE")
            || rest.ends_with("STATIC_START")
            || rest.ends_with("DYNAMIC_START");
        (constant.value == Value::Int(value) && !is_bound).then_some(rest)
    });
    found.map_or_else(|| format!("{value:#x}"), str::to_owned)
}

/// A flag word: numbers in bit-fields, and single bits. `fields` has the mask of each bit-field.
pub(crate) fn flags(prefix: &str, fields: &[u64], value: u64) -> serde_json::Value {
    let mut parts = Vec::new();
    let mut rest = value;
    for &mask in fields {
        if rest & mask != 0 {
            parts.push(name(prefix, rest & mask));
        }
        rest &= !mask;
    }
    while rest != 0 {
        let bit = rest & rest.wrapping_neg();
        parts.push(name(prefix, bit));
        rest &= !bit;
    }
    json!(parts)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_a_bit_field_is_one_name() {
        let fields = [7 << 4, 3 << 10, 7 << 12];
        let entry = |value| flags("NVTX_PAYLOAD_ENTRY_FLAG_", &fields, value);
        assert_eq!(entry(2 << 10 | 3 << 12), json!(["TIMESTAMP", "MARK"]));
        assert_eq!(
            entry(3 << 4 | 1 << 3 | 1 << 9),
            json!(["ARRAY_LENGTH_INDEX", "OFFSET_FROM_HERE", "HIDE"])
        );
        // What has no name is shown all the same.
        assert_eq!(
            entry(6 << 4 | 1 << 63),
            json!(["0x60", "0x8000000000000000"])
        );
        assert_eq!(entry(0), json!([]));
    }

    #[test]
    fn bounds_are_no_names() {
        assert_eq!(
            name("NVTXW_STREAM_ORDERING_TYPE_", 2_i16),
            "PACKED_RANGE_START"
        );
        assert_eq!(name("NVTX_SCOPE_", 1_u64 << 24), "0x1000000");
        assert_eq!(name("NVTX_PAYLOAD_ENTRY_TYPE_", 28_u64), "0x1c");
    }
}
