//! Locks of the registry's own state.

use std::sync::PoisonError;

use crate::sync::{Mutex, MutexGuard};

/// Locks state that no backend code runs under and that is whole at any time: poison means nothing there.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
