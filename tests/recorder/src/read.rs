//! What the pointers of a call lead to.

use std::ffi::{CStr, c_char, c_void};

/// The struct at `data`.
#[track_caller]
pub(crate) fn get<'a, T>(data: *const T) -> &'a T {
    assert!(!data.is_null(), "a null pointer where a struct must be");
    assert!(data.is_aligned(), "a struct that is not aligned");
    // SAFETY:
    // - It is not null and aligned, and the ABI says that the struct is there through the call.
    // - What is kept of it is copied during the call.
    unsafe { &*data }
}

/// The `len` items at `data`.
#[track_caller]
pub(crate) fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    assert!(!data.is_null(), "a null pointer with a length");
    assert!(data.is_aligned(), "items that are not aligned");
    // SAFETY:
    // - It is not null and aligned, and the ABI says that the items are there through the call.
    // - What is kept of them is copied during the call.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The `size` bytes at `data`.
#[track_caller]
pub(crate) fn bytes<'a>(data: *const c_void, size: usize) -> &'a [u8] {
    slice(data.cast(), size)
}

/// The text at `text`, if it is not null.
#[track_caller]
pub(crate) fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY:
    // - It is not null, and the ABI says that text is null-terminated and there through the call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_str().expect("text is UTF-8").to_owned())
}

/// Writes `value` to `out`.
#[track_caller]
pub(crate) fn give<T>(out: *mut T, value: T) {
    assert!(!out.is_null(), "a null pointer where the result must go");
    assert!(
        out.is_aligned(),
        "a place for the result that is not aligned"
    );
    // SAFETY:
    // - It is not null and aligned, and the ABI says that the place is there through the call.
    unsafe { out.write(value) }
}
