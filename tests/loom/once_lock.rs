//! A cell that is set once, which loom lacks.

use std::sync;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicBool, Ordering};

/// As `std::sync::OnceLock`: reading waits for nobody and may miss what another thread has just set; who sets waits for
/// others that do; what is seen happened before.
#[derive(Debug)]
pub struct OnceLock<T> {
    /// What the model checks: whoever reads `true` here has seen the value being made.
    is_set: AtomicBool,
    setting: Mutex<()>,
    /// Where the value is; read only after one of the two above said so.
    value: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// An empty one. Not const, as nothing of loom's is.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            setting: Mutex::new(()),
            value: sync::OnceLock::new(),
        }
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::Acquire) {
            self.value.get()
        } else {
            None
        }
    }

    /// The value; `init` makes it if it is not set.
    ///
    /// # Panics
    /// Inside `init`, if that uses the same cell.
    pub fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _setting = self.setting.lock();
        if self.value.get().is_none() {
            let value = init();
            self.value.get_or_init(|| value);
            self.is_set.store(true, Ordering::Release);
        }
        self.value.get().expect("set above, or by another")
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The value back, if one is set already.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("used once"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let cell = Self::new();
        cell.get_or_init(|| value);
        cell
    }
}
