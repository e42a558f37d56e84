//! An NVTXW backend that writes down, one JSON object a line, every call that reaches it and everything that the call's
//! pointers lead to.
//!
//! Handles and IDs are numbered from 1 for each session and domain, and shown as what they stand for (`"schema 3"`, a
//! stream's name), so that the same calls give the same lines. Flags and types are shown by the names of their constants.
//! Only what a call says is set is read.
//!
//! As a library (`libnvtxw_recorder.so`) it appends the lines of each session, at its end, to the file that the environment
//! variable `NVTXW_RECORD` names. In a Rust program, [`TABLE`] records and [`take`] gives the lines.
//!
//! A call that breaks the ABI (a null pointer where there must be none) ends the program, and says which it is.

mod decode;
mod read;
mod recording;
mod semantics;
mod symbol;
mod table;

use std::ffi::c_void;

use nvtxw_abi::raw::{
    NVTXW_INTERFACE_VERSION, NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED, NVTXW_RESULT_SUCCESS,
    nvtxwInterfaceVersion_t, nvtxwResultCode_t,
};

pub use self::recording::take;
pub use self::table::TABLE;

/// Gives the table of version 2.
///
/// # Safety
/// `out` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxwGetInterface(
    version: nvtxwInterfaceVersion_t,
    out: *mut *const c_void,
) -> nvtxwResultCode_t {
    if version != NVTXW_INTERFACE_VERSION {
        return NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED;
    }
    read::give(out, std::ptr::from_ref(&TABLE).cast());
    NVTXW_RESULT_SUCCESS
}

/// Writes down that it was called.
#[unsafe(no_mangle)]
pub extern "C" fn nvtxwFinalize() {
    recording::finalize();
}
