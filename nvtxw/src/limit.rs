//! The range of a number's limits, given by its type.

use nvtxw_abi::{EntryType, Limit};

/// The least and the greatest limit of an integer type. Limits have at most 64 bits.
pub(crate) const fn integers(ty: EntryType) -> (i128, i128) {
    let bits = match ty.layout() {
        Some((size, _)) if size < 8 => 8 * size as u32,
        _ => 64,
    };
    if ty.is_signed() {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// The least number that a float type rounds to infinity, and the type's greatest number for messages; `None` if all
/// finite limits fit.
pub(crate) const fn floats(ty: EntryType) -> Option<(f64, &'static str)> {
    match ty {
        EntryType::Float16 => Some((65520.0, "65504")),
        EntryType::BFloat16 => Some((3.3961775292304957e38, "3.3895314e38")),
        EntryType::Float | EntryType::Float32 => Some((3.4028235677973366e38, "3.4028235e38")),
        _ => None,
    }
}

/// Checks that numbers of the type can reach the limit, which is of their class or infinite.
pub(crate) fn is_reachable(limit: Limit, ty: EntryType) -> bool {
    let (min, max) = integers(ty);
    match limit {
        Limit::I64(limit) => (min..=max).contains(&limit.into()),
        Limit::U64(limit) => (min..=max).contains(&limit.into()),
        Limit::F64(limit) => {
            limit.is_infinite() || floats(ty).is_none_or(|(infinite, _)| limit.abs() < infinite)
        }
    }
}
