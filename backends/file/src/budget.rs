//! The memory that the windows of a session take together.

use std::sync::Arc;

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How much the windows of a session may take.
pub(crate) struct Budget {
    limit: usize,
    taken: AtomicUsize,
    windows: AtomicUsize,
    /// Whether a window was refused more since one gave some back.
    is_short: AtomicBool,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            taken: AtomicUsize::new(0),
            windows: AtomicUsize::new(0),
            is_short: AtomicBool::new(false),
        }
    }
}

/// What one window has of a budget. It asks only when it grows, so that nothing is shared per event.
#[derive(Default)]
pub(crate) struct Share {
    /// Without one, there is no limit.
    budget: Option<Arc<Budget>>,
    taken: usize,
}

impl Share {
    /// A share of so many bytes, which a window needs at least, whether they are left or not.
    pub(crate) fn new(budget: &Arc<Budget>, least: usize) -> Self {
        budget.taken.fetch_add(least, Ordering::Relaxed);
        budget.windows.fetch_add(1, Ordering::Relaxed);
        Self {
            budget: Some(Arc::clone(budget)),
            taken: least,
        }
    }

    /// Takes so many more bytes, if they are left.
    pub(crate) fn take(&mut self, more: usize) -> bool {
        let Some(budget) = &self.budget else {
            return true;
        };
        let enough = |taken: usize| taken.checked_add(more).filter(|all| *all <= budget.limit);
        let (set, read) = (Ordering::Relaxed, Ordering::Relaxed);
        let is_there = budget.taken.fetch_update(set, read, enough).is_ok();
        match is_there {
            true => self.taken += more,
            false => budget.is_short.store(true, Ordering::Relaxed),
        }
        is_there
    }

    /// Gives so many of its bytes back.
    pub(crate) fn give(&mut self, bytes: usize) {
        if let Some(budget) = &self.budget {
            let bytes = bytes.min(self.taken);
            self.taken -= bytes;
            budget.taken.fetch_sub(bytes, Ordering::Relaxed);
            budget.is_short.store(false, Ordering::Relaxed);
        }
    }

    /// Whether another one needs memory, and this one has more than its part of all.
    pub(crate) fn is_wanted(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| {
            let windows = budget.windows.load(Ordering::Relaxed).max(1);
            budget.is_short.load(Ordering::Relaxed) && self.taken > budget.limit / windows
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give(self.taken);
        if let Some(budget) = &self.budget {
            budget.windows.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_within_the_budget_and_come_back() {
        let budget = Arc::new(Budget::new(100));
        let mut one = Share::new(&budget, 10);
        let mut other = Share::new(&budget, 10);
        assert!(one.take(80));
        assert!(!one.is_wanted());
        assert!(!other.take(1), "all is taken");
        assert!(one.is_wanted());
        assert!(!other.is_wanted(), "it has less than half");
        one.give(40);
        assert!(!one.is_wanted());
        assert!(other.take(40));
        assert!(!other.take(1));
        drop(other);
        assert!(one.take(50));
        assert_eq!(budget.taken.load(Ordering::Relaxed), 100);
        drop(one);
        assert_eq!(budget.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_a_window_needs_at_least_it_gets() {
        let budget = Arc::new(Budget::new(5));
        let mut share = Share::new(&budget, 10);
        assert!(!share.take(1));
        assert!(Share::default().take(usize::MAX), "no budget, no limit");
    }
}
