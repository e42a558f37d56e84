//! Combinations of an enum's values.

use std::fmt;
use std::ops::BitOr;

use crate::derived::{NvtxEnum, NvtxFlags};

/// Some values of an enum of flags, or none, in the enum's size: a field that a trace shows as the values' names.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{Flags, NvtxEnum, NvtxEvent};
///
/// #[derive(NvtxEnum, Clone, Copy)]
/// #[repr(u64)]
/// #[nvtx(flags)]
/// enum Access {
///     Read = 1,
///     Write = 2,
///     Execute = 4,
/// }
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = mark)]
/// struct Map {
///     #[nvtx(timestamp)]
///     time: i64,
///     access: Flags<Access>,
/// }
///
/// let map = Map { time: 0, access: Access::Read | Access::Write };
/// assert_eq!(map.access.bits(), 3);
/// assert!(map.access.contains(Access::Write) && !map.access.contains(Access::Execute));
/// # }
/// ```
#[repr(transparent)]
pub struct Flags<E: NvtxEnum>(E::Bits);

impl<E: NvtxFlags> Flags<E> {
    /// None of the values.
    #[must_use]
    pub fn none() -> Self {
        Self(E::Bits::default())
    }

    /// The combination that `bits` are. Bits that no value has stay, and are shown as a number.
    #[must_use]
    pub const fn from_bits(bits: E::Bits) -> Self {
        Self(bits)
    }

    /// The values' bits.
    #[must_use]
    pub const fn bits(self) -> E::Bits {
        self.0
    }

    /// Whether all bits of `value` are there.
    #[must_use]
    pub fn contains(self, value: E) -> bool {
        self.0 & value.bits() == value.bits()
    }
}

impl<E: NvtxFlags> From<E> for Flags<E> {
    fn from(value: E) -> Self {
        Self(value.bits())
    }
}

impl<E: NvtxFlags, T: Into<Self>> BitOr<T> for Flags<E> {
    type Output = Self;

    fn bitor(self, other: T) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl<E: NvtxEnum> Clone for Flags<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: NvtxEnum> Copy for Flags<E> {}

impl<E: NvtxFlags> Default for Flags<E> {
    fn default() -> Self {
        Self::none()
    }
}

impl<E: NvtxEnum> PartialEq for Flags<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<E: NvtxEnum> Eq for Flags<E> {}

impl<E: NvtxEnum> fmt::Debug for Flags<E>
where
    E::Bits: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flags").field(&self.0).finish()
    }
}
