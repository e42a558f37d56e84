//! Times that were written, as they are known later.

use std::sync::Arc;

use super::{Clocks, Past, Route};

/// What the times that a stream wrote, all of one clock, are by now.
pub(crate) struct TimeMap {
    clocks: Arc<Clocks>,
    /// The clock as it was known in each epoch.
    epochs: Vec<Past>,
    now: Route,
}

impl TimeMap {
    /// `None` without any epoch.
    pub(crate) fn new(clocks: &Arc<Clocks>, epochs: Vec<Past>) -> Option<Self> {
        let now = clocks.route(epochs.first()?.number);
        Some(Self {
            clocks: Arc::clone(clocks),
            epochs,
            now,
        })
    }

    /// What a time of an epoch is now; `None` if 64 bits don't hold it.
    pub(crate) fn time(&self, epoch: usize, time: i64) -> Option<i64> {
        let past = self.epochs.get(epoch)?;
        self.clocks.moved(time, &past.route, &self.now)
    }
}
