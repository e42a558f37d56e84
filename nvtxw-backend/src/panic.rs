//! Panics of backends, which end here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::refusal::{Refusal, Result};

/// Runs `call`; a panic becomes an `Err`.
#[inline]
pub(crate) fn catch<T>(call: impl FnOnce() -> T) -> std::result::Result<T, Refusal> {
    // What a panic may have left half done is not used again: the callers poison it.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let refusal = Refusal::failed(format!("the backend panicked: {}", message(&*payload)));
        // A payload may panic as it is dropped; what that panic carries is leaked, for it may do the same.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(payload);
        }
        refusal
    })
}

/// Runs `call`; a panic sets `poisoned` and becomes a refusal.
#[inline]
pub(crate) fn catch_poisoning<T>(
    poisoned: impl FnOnce(),
    call: impl FnOnce() -> Result<T>,
) -> Result<T> {
    catch(call).unwrap_or_else(|refusal| {
        poisoned();
        Err(refusal)
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(message) = payload.downcast_ref::<&str>() {
        message
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message
    } else {
        "no message"
    }
}
