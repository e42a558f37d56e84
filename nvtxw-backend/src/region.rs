//! Where data is read from.

use crate::raw::Outside;

/// The memory that some data is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Region<'a> {
    /// A payload of the event, or the flexible data of its batch.
    Inside(&'a [u8]),
    /// What a pointer out of the event leads to.
    Outside(Outside<'a>),
}

impl<'a> Region<'a> {
    /// The `size` bytes at `at`, if they are there.
    #[inline]
    pub(crate) fn piece(self, at: usize, size: usize) -> Option<&'a [u8]> {
        match self {
            Self::Inside(bytes) => bytes.get(at..at.checked_add(size)?),
            Self::Outside(memory) => memory.piece(at, size),
        }
    }

    /// Where it starts.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Inside(bytes) => bytes.as_ptr().addr(),
            Self::Outside(memory) => memory.address(),
        }
    }

    /// How many bytes there are; outside, how many there may be.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Inside(bytes) => bytes.len(),
            Self::Outside(memory) => memory.len(),
        }
    }
}
