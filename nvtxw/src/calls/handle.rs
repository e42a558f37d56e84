//! The backend's handles, as values that may change threads.

use std::fmt;

use nvtxw_abi::raw;

/// A registered string as eight bytes (four on 32-bit targets), to be a field of an event: `#[nvtx(message,
/// registered_string)]` or `#[nvtx(registered_string)]`.
///
/// Comes from [`RegisteredString::handle`](crate::RegisteredString::handle) only; [`StringHandle::NONE`] says "no
/// string". A handle belongs to the domain that its string was registered in. Nothing compares that when a struct that
/// holds it is written: keep structs of one domain out of another one's streams.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StringHandle(pub(super) raw::nvtxStringHandle_t);

impl StringHandle {
    /// No string.
    pub const NONE: Self = Self(std::ptr::null_mut());

    /// Whether this is [`StringHandle::NONE`].
    #[inline]
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.is_null()
    }

    /// The handle as a number, for payloads that are not structs.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// The handle as the plain events' structs hold it.
    #[inline]
    pub(crate) fn raw(self) -> raw::nvtxStringHandle_t {
        self.0
    }
}

impl Default for StringHandle {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for StringHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            f.write_str("StringHandle::NONE")
        } else {
            write!(f, "StringHandle({:p})", self.0)
        }
    }
}

// SAFETY:
// - A handle is never dereferenced here: it is a number to hand back to the backend, which may not depend on the calling
//   thread (`Backend::load` and `InProcess::new` require it).
unsafe impl Send for StringHandle {}

// SAFETY:
// - As above; and a shared handle can only be copied.
unsafe impl Sync for StringHandle {}

/// A domain of a session, valid until the session ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DomainHandle(pub(super) raw::nvtxDomainHandle_t);

// SAFETY:
// - A handle is never dereferenced here, and calls with it may come from any thread (`Backend::load` and
//   `InProcess::new` require it).
unsafe impl Send for DomainHandle {}

// SAFETY:
// - As above; and calls that use it need `&mut Session`.
unsafe impl Sync for DomainHandle {}

/// A stream of a session, valid until it is closed or the session ends.
#[derive(Debug)]
pub(crate) struct StreamHandle(pub(super) raw::nvtxwStreamHandle_t);

// SAFETY:
// - A handle is never dereferenced here, and calls with it may come from any thread (`Backend::load` and
//   `InProcess::new` require it).
unsafe impl Send for StreamHandle {}

// SAFETY:
// - As above; and `Stream`, which holds the handle, is not `Sync`, so calls with it come from one thread at a time.
unsafe impl Sync for StreamHandle {}
