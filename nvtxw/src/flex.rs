//! Text of any length that goes with a batch, without registration.

use std::fmt;

/// Text in a [`FlexPool`], as sixteen bytes to be a field of an event: `#[nvtx(flex)]` or `#[nvtx(message, flex)]`.
///
/// It says where in a pool the text lies, so it means something together with that pool only, and only until the pool is
/// cleared.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FlexStr {
    len: u64,
    offset: u64,
}

impl FlexStr {
    /// No text, in every pool.
    pub const EMPTY: Self = Self { len: 0, offset: 0 };

    /// How many bytes the text has.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where the text ends, in bytes from the start of its pool.
    #[inline]
    pub(crate) fn end(self) -> Option<u64> {
        self.offset.checked_add(self.len)
    }
}

impl fmt::Debug for FlexStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FlexStr({} bytes at {})", self.len, self.offset)
    }
}

/// The text of a batch of events whose structs have [`FlexStr`] fields.
///
/// For text that is met once, such as a query or a path: registering it would fill the backend's tables. The pool goes to the
/// backend with the batch, as it is. [`clear`](FlexPool::clear) keeps its memory for the next batch.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use nvtxw::{FlexPool, FlexStr, NvtxEvent, Result, Schema, Writer};
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = range_startend)]
/// struct Query {
///     #[nvtx(timestamp_start)]
///     start: i64,
///     #[nvtx(timestamp_end)]
///     end: i64,
///     #[nvtx(message, flex)]
///     text: FlexStr,
///     rows: u64,
/// }
///
/// fn write(out: &Writer<'_>, schema: Schema<Query>) -> Result<()> {
///     let queries = out.events(schema)?;
///     let mut pool = FlexPool::new();
///     let batch = [
///         Query { start: 0, end: 5, text: pool.push("SELECT 1"), rows: 1 },
///         Query { start: 5, end: 9, text: pool.push("SELECT name FROM users"), rows: 40 },
///     ];
///     queries.write_batch_flex(&batch, &pool)?;
///     pool.clear();
///     Ok(())
/// }
/// # let _ = write;
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct FlexPool {
    bytes: Vec<u8>,
}

impl FlexPool {
    /// A pool without text, and without memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A pool without text that takes `bytes` bytes of it before it allocates.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
        }
    }

    /// Adds text, and returns what to store in an event. Nothing is compared: the same text twice is there twice, but a
    /// `FlexStr` may be stored in as many events as you like.
    #[inline]
    pub fn push(&mut self, text: &str) -> FlexStr {
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
        FlexStr {
            len: text.len() as u64,
            offset,
        }
    }

    /// Removes all text, and keeps the memory. What was returned for it must not be written any more: it would be found
    /// outside the pool and refused, or show later text.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// How many bytes of text there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FlexField;

    #[test]
    fn text_outside_a_pool_is_found() {
        let mut pool = FlexPool::with_capacity(8);
        let (a, b) = (pool.push("ab"), pool.push("c"));
        assert_eq!((pool.bytes(), pool.len()), (&b"abc"[..], 3));
        assert!(a.fits(3) && b.fits(3) && a.fits(2) && !b.fits(2));
        assert!(FlexStr::EMPTY.fits(0));
        let end = FlexStr {
            len: u64::MAX,
            offset: 2,
        };
        assert!(!end.fits(usize::MAX));
        pool.clear();
        assert!(pool.is_empty() && !a.fits(pool.len()));
    }
}
