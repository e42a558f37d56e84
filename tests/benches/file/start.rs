//! Threads that start at one time, and what they take.

use std::hint;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::race::{Folder, Result, compare_rounds};

/// Two processors are less often at full speed both.
const ROUNDS: usize = 100;

/// Compares as others are, but where one of the ways takes two threads.
pub fn compare_threads(
    name: &str,
    events: usize,
    folder: &Folder,
    ours: impl FnMut(&Path) -> Result<Duration>,
    other: impl FnMut(&Path) -> Result<Duration>,
) -> Result<()> {
    compare_rounds(ROUNDS, name, events, folder, ours, other)
}

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
