//! What a backend library exports, and the codes its functions return.

use core::ffi::c_void;

use crate::raw::definition::{constants, functions};

/// What a function of the ABI returns: one of `NVTXW_RESULT_*`, or a code that a newer backend
/// defines.
pub type nvtxwResultCode_t = i32;

/// A version of the function table, as [`nvtxwGetInterface_t`] takes it.
pub type nvtxwInterfaceVersion_t = i32;

constants! { CONSTANTS: Int as i128;
    /// The call did what it says.
    NVTXW_RESULT_SUCCESS: nvtxwResultCode_t = 0;
    /// The call failed for a reason that no other code names.
    NVTXW_RESULT_FAILED: nvtxwResultCode_t = 1;
    /// An argument, or something it refers to, is not valid.
    NVTXW_RESULT_INVALID_ARGUMENT: nvtxwResultCode_t = 2;
    /// Loading: no backend library was found.
    NVTXW_RESULT_LIBRARY_NOT_FOUND: nvtxwResultCode_t = 3;
    /// Loading: the platform's loader refused the library.
    NVTXW_RESULT_LIBRARY_LOAD_FAILED: nvtxwResultCode_t = 4;
    /// Loading: the library doesn't export [`NVTXW_GET_INTERFACE_SYMBOL_NAME`].
    NVTXW_RESULT_LIBRARY_SYMBOL_MISSING: nvtxwResultCode_t = 5;
    /// Loading: the backend has no table of the requested version.
    NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED: nvtxwResultCode_t = 6;
    /// The call is valid, but the backend doesn't do this. Not fatal: a producer goes on without
    /// it.
    NVTXW_RESULT_NOT_SUPPORTED: nvtxwResultCode_t = 7;

    /// The version whose table is [`nvtxwInterface_v2_t`](crate::raw::nvtxwInterface_v2_t).
    NVTXW_INTERFACE_VERSION: nvtxwInterfaceVersion_t = 2;
    /// The version of NVTX itself, as stored in
    /// [`nvtxResourceAttributes_t::version`](crate::raw::nvtxResourceAttributes_t::version).
    NVTX_VERSION: u16 = 3;
}

constants! { NAMES: Text as &'static str;
    /// The exported symbol that gives a table: a [`nvtxwGetInterface_t`].
    NVTXW_GET_INTERFACE_SYMBOL_NAME: &str = "nvtxwGetInterface";
    /// The optional exported symbol that frees a backend's global state: a [`nvtxwFinalize_t`].
    NVTXW_FINALIZE_SYMBOL_NAME: &str = "nvtxwFinalize";
    /// The environment variable that names the backend library; unset and empty are the same.
    NVTXW_LIBRARY_ENV_VAR: &str = "NVTXW3_LIBRARY";
    /// What the platform puts before the name of a library.
    NVTXW_LIB_PREFIX: &str = if cfg!(windows) { "" } else { "lib" };
    /// What the platform puts after the name of a library.
    NVTXW_LIB_SUFFIX: &str = if cfg!(windows) {
        ".dll"
    } else if cfg!(target_vendor = "apple") {
        ".dylib"
    } else {
        ".so"
    };
    /// The file name that a default search looks for.
    NVTXW_LIB_FILENAME_DEFAULT: &str = if cfg!(windows) {
        "nvtxw3.dll"
    } else if cfg!(target_vendor = "apple") {
        "libnvtxw3.dylib"
    } else {
        "libnvtxw3.so"
    };
}

functions! { EXPORTS;
    /// Gives the table of `version` through `ifaceOut`. A backend without that version answers
    /// [`NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED`].
    nvtxwGetInterface_t(
        version: nvtxwInterfaceVersion_t,
        ifaceOut: *mut *const c_void,
    ) -> nvtxwResultCode_t;
    /// Frees what the backend holds for the whole process. Called when no session lives; it may be
    /// called more than once, and the table may be asked for again afterwards.
    nvtxwFinalize_t() -> ();
}
