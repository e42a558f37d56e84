//! Threads that start at one time.

use std::hint;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::race::Result;

/// Where threads wait for each other, so that what they do is measured, and not how long it takes to start them.
pub struct StartLine {
    missing: AtomicUsize,
    start: OnceLock<Instant>,
}

impl StartLine {
    pub fn new(threads: usize) -> Self {
        Self {
            missing: AtomicUsize::new(threads),
            start: OnceLock::new(),
        }
    }

    /// Goes on when all threads are here, none of which sleeps meanwhile.
    pub fn wait(&self) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
        while self.missing.load(Ordering::Acquire) > 0 {
            hint::spin_loop();
        }
        self.start.get_or_init(Instant::now);
    }

    /// How long it is ago that they went on.
    pub fn elapsed(&self) -> Result<Duration> {
        let start = self.start.get().ok_or("no thread has started")?;
        Ok(start.elapsed())
    }
}
