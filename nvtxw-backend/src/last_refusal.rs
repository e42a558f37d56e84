//! The last refusal of each thread, for producers in the same program: the ABI gives them a code only.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use nvtxw_abi::ResultCode;

use crate::refusal::Refusal;

/// Whether somebody may ask. In a library nobody does, and a thread's variable that has to be dropped would keep the
/// library from being unloaded.
static KEPT: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LAST: Cell<Option<Refusal>> = const { Cell::new(None) };
}

/// Keeps refusals from now on.
pub(crate) fn keep() {
    KEPT.store(true, Ordering::Relaxed);
}

/// Keeps this one instead of the thread's last.
pub(crate) fn set(refusal: Refusal) {
    if KEPT.load(Ordering::Relaxed) {
        // Where the thread is ending, nobody is left to ask.
        let _ = LAST.try_with(|last| last.set(Some(refusal)));
    }
}

/// Passes code and reason of the thread's last refusal, once.
pub(crate) fn take(told: &mut dyn FnMut(ResultCode, &str)) {
    if let Ok(Some(refusal)) = LAST.try_with(Cell::take) {
        told(refusal.code(), refusal.reason());
    }
}
