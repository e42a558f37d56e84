//! Which calls overlap.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the calls that are running on a session.
#[derive(Default)]
pub(crate) struct Gate {
    /// Writes, which may overlap each other.
    shared: AtomicU32,
    /// What may overlap nothing.
    alone: AtomicU32,
}

/// A call that is running.
pub(crate) struct Running<'a> {
    calls: &'a AtomicU32,
    /// Whether it runs beside another that it must not overlap.
    pub(crate) overlaps: bool,
}

impl Gate {
    /// A write begins.
    #[inline]
    pub(crate) fn write(&self) -> Running<'_> {
        // All of these are in one order, so that of two calls at least the later one sees the other.
        self.shared.fetch_add(1, Ordering::SeqCst);
        Running {
            calls: &self.shared,
            overlaps: self.alone.load(Ordering::SeqCst) > 0,
        }
    }

    /// A call begins that registers, opens, closes or ends.
    pub(crate) fn alone(&self) -> Running<'_> {
        let others = self.alone.fetch_add(1, Ordering::SeqCst);
        Running {
            calls: &self.alone,
            overlaps: others > 0 || self.shared.load(Ordering::SeqCst) > 0,
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn writes_overlap_writes_and_nothing_else_overlaps() {
        let gate = Gate::default();
        let write = gate.write();
        assert!(!write.overlaps && !gate.write().overlaps);
        assert!(gate.alone().overlaps);
        drop(write);
        let alone = gate.alone();
        assert!(!alone.overlaps);
        assert!(gate.alone().overlaps && gate.write().overlaps);
        drop(alone);
        assert!(!gate.write().overlaps && !gate.alone().overlaps);
    }
}
