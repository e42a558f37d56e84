//! Times that were written, as they are known later.

use std::sync::Arc;

use super::{Clocks, Past, Route};

/// What the times that a stream wrote are by now.
pub(crate) struct TimeMap {
    clocks: Arc<Clocks>,
    /// By the numbers of marks.
    marks: Vec<[(Past, Arc<Route>); 2]>,
}

/// Of a range, the time of its start or that of its end; all others are starts.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Start,
    End,
}

impl TimeMap {
    /// `marks` has, by the number of each, the clocks of starts and of ends as they were known then.
    pub(crate) fn new(clocks: &Arc<Clocks>, marks: Box<[[Past; 2]]>) -> Self {
        let now = |past: Past| {
            let route = clocks.route(past.number);
            (past, route)
        };
        Self {
            marks: marks.into_iter().map(|mark| mark.map(now)).collect(),
            clocks: Arc::clone(clocks),
        }
    }

    /// What a time behind a mark is now; `None` if 64 bits don't hold it, and if there is no such mark.
    pub(crate) fn time(&self, mark: u32, side: Side, time: i64) -> Option<i64> {
        let (past, now) = &self.marks.get(mark as usize)?[side as usize];
        self.clocks.moved(time, &past.route, now)
    }
}
