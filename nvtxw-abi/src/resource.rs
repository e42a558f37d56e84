//! What kind of object a resource is.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What identifies a resource. Extensions of NVTX define further numbers.
    ResourceType: i32;
    /// Nothing.
    Unknown = raw::NVTX_RESOURCE_TYPE_UNKNOWN,
    /// A pointer that no other resource has.
    Pointer = raw::NVTX_RESOURCE_TYPE_GENERIC_POINTER,
    /// A handle that no other resource has.
    Handle = raw::NVTX_RESOURCE_TYPE_GENERIC_HANDLE,
    /// The operating system's ID of a thread.
    NativeThread = raw::NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE,
    /// A `pthread_t`.
    PosixThread = raw::NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX,
}
