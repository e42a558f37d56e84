//! Who picked an ID.

use crate::raw;

/// Who picked the ID of a schema, an enum, a scope, a counter or a time domain. The ranges are the
/// same for all.
///
/// ```
/// use nvtxw_abi::IdClass;
///
/// assert_eq!(IdClass::of(17), IdClass::Predefined);
/// assert_eq!(IdClass::of(IdClass::STATIC_START), IdClass::Static);
/// assert_eq!(IdClass::of(IdClass::DYNAMIC_START), IdClass::Dynamic);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdClass {
    /// The ABI: below [`STATIC_START`](IdClass::STATIC_START).
    Predefined,
    /// The producer.
    Static,
    /// The backend: from [`DYNAMIC_START`](IdClass::DYNAMIC_START) on.
    Dynamic,
}

impl IdClass {
    /// The first ID that a producer may pick.
    pub const STATIC_START: u64 = raw::NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
    /// The first ID that a backend picks.
    pub const DYNAMIC_START: u64 = raw::NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;

    /// Who picked `id`.
    pub const fn of(id: u64) -> Self {
        match id {
            0..Self::STATIC_START => Self::Predefined,
            Self::STATIC_START..Self::DYNAMIC_START => Self::Static,
            Self::DYNAMIC_START.. => Self::Dynamic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IdClass;
    use crate::raw;

    #[test]
    fn the_ranges_meet() {
        for (id, class) in [
            (0, IdClass::Predefined),
            ((1 << 24) - 1, IdClass::Predefined),
            (1 << 24, IdClass::Static),
            ((1 << 32) - 1, IdClass::Static),
            (1 << 32, IdClass::Dynamic),
            (u64::MAX, IdClass::Dynamic),
        ] {
            assert_eq!(IdClass::of(id), class, "{id}");
        }
    }

    #[test]
    fn the_ranges_are_the_same_for_all() {
        assert_eq!(
            [
                raw::NVTX_PAYLOAD_SCHEMA_ID_STATIC_START,
                raw::NVTX_SCOPE_ID_STATIC_START,
                raw::NVTX_COUNTER_ID_STATIC_START,
                raw::NVTX_TIME_DOMAIN_ID_STATIC_START,
            ],
            [IdClass::STATIC_START; 4]
        );
        assert_eq!(
            [
                raw::NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
                raw::NVTX_SCOPE_ID_DYNAMIC_START,
                raw::NVTX_COUNTER_ID_DYNAMIC_START,
                raw::NVTX_TIME_DOMAIN_ID_DYNAMIC_START,
            ],
            [IdClass::DYNAMIC_START; 4]
        );
    }
}
