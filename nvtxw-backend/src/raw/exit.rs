//! The hook that runs when the process exits, or when the library is unloaded.

use crate::exit;
use crate::panic::catch;

extern "C" fn at_exit() {
    // Nobody is left to hear of a panic.
    let _ = catch(exit::end_sessions);
}

/// The loader calls this after all handlers of `atexit` and all destructors of objects, which may still write and end sessions;
/// also when a library is unloaded.
#[cfg(not(any(windows, target_vendor = "apple")))]
mod hook {
    // SAFETY:
    // - The section holds functions of this type, which the loader calls without arguments.
    // - The code of the crate, and the standard library in it, are usable until they are unmapped.
    #[used]
    #[unsafe(link_section = ".fini_array")]
    static AT_EXIT: extern "C" fn() = super::at_exit;

    pub(crate) fn set() {}
}

/// Where no such section exists: called before the handlers that were registered before the first session began.
#[cfg(any(windows, target_vendor = "apple"))]
mod hook {
    use std::ffi::c_int;
    use std::sync::Once;

    unsafe extern "C" {
        safe fn atexit(handler: extern "C" fn()) -> c_int;
    }

    pub(crate) fn set() {
        static SET: Once = Once::new();
        // Where it fails, sessions that are left open end as at a kill.
        SET.call_once(|| drop(atexit(super::at_exit)));
    }
}

pub(crate) use self::hook::set as set_exit_hook;
