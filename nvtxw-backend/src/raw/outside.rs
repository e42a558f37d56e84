//! Memory outside of events, which is read on a producer's promise alone.

use std::marker::PhantomData;
use std::slice;

/// A text of more bytes is taken for one whose null is missing.
pub(crate) const TEXT_LIMIT: usize = 1 << 20;

/// A producer's promise that what it points to is there. A session without it reads no memory but that of its events.
///
/// An address in an entry that may point out of its event (a string without a length, or data that is to be copied), and that
/// of a payload of size `SIZE_MAX`, is null or leads to all the bytes that the entry's schema describes, which stay as they are
/// until the call returns that the event comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Promise(());

impl Promise {
    /// # Safety
    /// Who writes to the sessions that get this keeps it, in all calls.
    pub(super) const unsafe fn given() -> Self {
        Self(())
    }

    /// What an entry that may point out of its event points to, at `address`, for the call that the entry comes with.
    pub(crate) fn outside<'a>(self, address: u64) -> Outside<'a> {
        Outside {
            address: address as usize,
            memory: PhantomData,
        }
    }

    /// The text at `start` before its null, of code units of so many bytes; `None` if that doesn't come within
    /// [`TEXT_LIMIT`] bytes.
    pub(super) fn text<'a>(self, start: *const u8, unit: usize) -> Option<&'a [u8]> {
        let text = Outside {
            address: start.expose_provenance(),
            memory: PhantomData,
        };
        let len = text.find_zero(0, unit, TEXT_LIMIT)?;
        text.piece(0, len)
    }
}

/// Memory outside of an event, on a producer's promise. The decoder asks for what the schema says is there, for nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'a> {
    address: usize,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> Outside<'a> {
    /// The `size` bytes at `at`; `None` if the address space ends before.
    pub(crate) fn piece(self, at: usize, size: usize) -> Option<&'a [u8]> {
        let end = at.checked_add(size).filter(|end| *end <= self.len())?;
        if size == 0 {
            return Some(&[]);
        }
        let start = std::ptr::with_exposed_provenance(self.address + (end - size));
        // SAFETY:
        // - The promise says that data that a schema describes, which the decoder alone asks for, is there, initialised, and
        //   stays as it is for `'a`, the call.
        // - It doesn't start at null, which is no address that leads out of an event; bytes need no alignment.
        // - It ends within the address space, after no more than `isize::MAX` bytes.
        Some(unsafe { slice::from_raw_parts(start, size) })
    }

    /// How many bytes from `at` come before the first unit of all zero bytes; `None` if `limit` bytes have none.
    pub(crate) fn find_zero(self, at: usize, unit: usize, limit: usize) -> Option<usize> {
        let mut len = 0;
        while len < limit {
            // One unit at a time: what comes after the zero may not be there.
            if self.piece(at + len, unit)?.iter().all(|byte| *byte == 0) {
                return Some(len);
            }
            len += unit;
        }
        None
    }

    /// Where it starts.
    pub(crate) fn address(self) -> usize {
        self.address
    }

    /// How many bytes the address space has from here.
    pub(crate) fn len(self) -> usize {
        (usize::MAX - self.address).min(isize::MAX as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Promise;

    #[test]
    fn what_is_asked_for_is_read_and_no_more() {
        // SAFETY:
        // - All that is asked for below is there.
        let promise = unsafe { Promise::given() };
        let bytes: Box<[u8]> = Box::from(*b"ab\0\0c");
        let outside = promise.outside(bytes.as_ptr().expose_provenance() as u64);
        assert_eq!(outside.piece(1, 2), Some(&b"b\0"[..]));
        assert_eq!(outside.piece(4, 1), Some(&b"c"[..]));
        assert_eq!(outside.piece(5, 0), Some(&b""[..]));
        assert_eq!(outside.find_zero(0, 1, 5), Some(2));
        assert_eq!(outside.find_zero(0, 2, 5), Some(2));
        assert_eq!(outside.find_zero(0, 1, 2), None);
        assert_eq!(promise.text(bytes.as_ptr(), 1), Some(&b"ab"[..]));
        assert_eq!(outside.piece(0, usize::MAX), None);
        assert_eq!(outside.piece(usize::MAX, 1), None);
    }
}
