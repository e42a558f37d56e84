//! Resources: objects of the traced program that get a name.

use core::ffi::{c_char, c_void};

use crate::raw::definition::{constants, layout};
use crate::raw::nvtxStringHandle_t;

/// C's `wchar_t`: a UTF-16 code unit on Windows, a UTF-32 code unit elsewhere.
#[cfg(windows)]
pub type wchar_t = u16;
/// C's `wchar_t`: a UTF-16 code unit on Windows, a UTF-32 code unit elsewhere.
#[cfg(not(windows))]
pub type wchar_t = i32;

layout! {
    /// A resource to register.
    struct nvtxResourceAttributes_t: size 32, align 8 {
        /// [`NVTX_VERSION`](crate::raw::NVTX_VERSION).
        version @ 0: u16,
        /// Bytes of this struct that the caller knows.
        size @ 2: u16,
        /// `NVTX_RESOURCE_TYPE_*`: what the identifier is.
        identifierType @ 4: i32,
        /// Which object is meant.
        identifier @ 8: nvtxResourceIdentifier_t,
        /// `NVTX_MESSAGE_*`: which member of `message` is set.
        messageType @ 16: i32,
        /// The object's name.
        message @ 24: nvtxMessageValue_t,
    }

    /// A pointer or a number that stands for an object. (Unnamed in C.)
    union nvtxResourceIdentifier_t: size 8, align 8 {
        /// A pointer.
        pValue @ 0: *const c_void,
        /// A number.
        ullValue @ 0: u64,
    }

    /// A text in one of three forms.
    union nvtxMessageValue_t: size 8, align 8 {
        /// With [`NVTX_MESSAGE_TYPE_ASCII`]: null-terminated bytes.
        ascii @ 0: *const c_char,
        /// With [`NVTX_MESSAGE_TYPE_UNICODE`]: null-terminated wide characters.
        unicode @ 0: *const wchar_t,
        /// With [`NVTX_MESSAGE_TYPE_REGISTERED`]: a string of the same domain.
        registered @ 0: nvtxStringHandle_t,
    }
}

constants! { CONSTANTS: Int as i128;
    /// The class of resources that belong to no API.
    NVTX_RESOURCE_CLASS_GENERIC: i32 = 1;
    /// No identifier.
    NVTX_RESOURCE_TYPE_UNKNOWN: i32 = 0;
    /// A pointer that no other resource has.
    NVTX_RESOURCE_TYPE_GENERIC_POINTER: i32 = NVTX_RESOURCE_CLASS_GENERIC << 16 | 1;
    /// A handle that no other resource has.
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE: i32 = NVTX_RESOURCE_CLASS_GENERIC << 16 | 2;
    /// The operating system's ID of a thread.
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE: i32 = NVTX_RESOURCE_CLASS_GENERIC << 16 | 3;
    /// A `pthread_t`.
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX: i32 = NVTX_RESOURCE_CLASS_GENERIC << 16 | 4;

    /// `nvtxResourceAttributes_t` has this size in bytes.
    NVTX_RESOURCE_ATTRIB_STRUCT_SIZE: u16 = size_of::<nvtxResourceAttributes_t>() as u16;

    /// No message.
    NVTX_MESSAGE_UNKNOWN: i32 = 0;
    /// The message is [`nvtxMessageValue_t::ascii`].
    NVTX_MESSAGE_TYPE_ASCII: i32 = 1;
    /// The message is [`nvtxMessageValue_t::unicode`].
    NVTX_MESSAGE_TYPE_UNICODE: i32 = 2;
    /// The message is [`nvtxMessageValue_t::registered`].
    NVTX_MESSAGE_TYPE_REGISTERED: i32 = 3;

    /// No colour.
    NVTX_COLOR_UNKNOWN: i32 = 0;
    /// The colour is `0xAARRGGBB`.
    NVTX_COLOR_ARGB: i32 = 1;
}
