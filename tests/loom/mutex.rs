//! A mutex whose `try_lock` is refused under some interleaving wherever it can be.

use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockError, TryLockResult};

use loom::sync;
use loom::sync::atomic::{AtomicUsize, Ordering};

/// As `std::sync::Mutex`.
///
/// To loom's own, unlocking is no step. So it tries `try_lock` before another thread locks and after that has unlocked, but
/// not in between.
#[derive(Debug, Default)]
pub struct Mutex<T> {
    inner: sync::Mutex<T>,
    /// Changed by each unlock and each `try_lock`, so that loom tries them in either order. Relaxed, so that no thread sees
    /// more of another by it.
    steps: AtomicUsize,
}

/// As `std::sync::MutexGuard`.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    guard: sync::MutexGuard<'a, T>,
    steps: &'a AtomicUsize,
}

impl<T> Mutex<T> {
    /// An unlocked one. Not const, as nothing of loom's is.
    pub fn new(value: T) -> Self {
        Self {
            inner: sync::Mutex::new(value),
            steps: AtomicUsize::new(0),
        }
    }

    /// Waits until nobody else has locked it, and locks it.
    ///
    /// # Errors
    /// None: a model ends with its first panic.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.inner
            .lock()
            .map(|guard| self.locked(guard))
            .map_err(|_| unreachable!("loom's mutex is never poisoned"))
    }

    /// Locks it if nobody else has.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another has.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        match self.inner.try_lock() {
            Ok(guard) => Ok(self.locked(guard)),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    fn locked<'a>(&'a self, guard: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            guard,
            steps: &self.steps,
        }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}
