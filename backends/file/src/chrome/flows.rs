//! What joins ranges: arrows from each to the next one.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// So many flows are remembered at least.
const REMEMBERED: usize = 1 << 17;

/// Where a range starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) process: u64,
    pub(super) thread: u64,
    pub(super) time: i64,
}

/// What a flow has to write when a range of it is written.
#[derive(Debug, PartialEq)]
pub(super) struct Meeting {
    /// Its number for an arrow that starts at the range, should another one follow.
    pub(super) start: u64,
    pub(super) arrow: Option<Arrow>,
}

/// An arrow between the range and the one of the flow that was written before.
#[derive(Debug, PartialEq)]
pub(super) enum Arrow {
    /// To the range: it started, with this number, when that one was written.
    Here(u64),
    /// From the range, because that one is later: of this number, to there.
    There(u64, Point),
}

/// The flows of a session, with the range of each that was written last.
///
/// Both ends of an arrow are best written right after their ranges, for a reader takes the range
/// that began last; and an arrow must not go back in time. So each range starts one.
#[derive(Default)]
pub(super) struct Flows(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    new: HashMap<u64, (Point, u64)>,
    /// Those that came before: they are forgotten when `new` is full once more.
    old: HashMap<u64, (Point, u64)>,
    /// Arrows have numbers that are unique in the file.
    arrows: u64,
}

impl Flows {
    /// Whether any range had one.
    pub(super) fn has_any(&self) -> bool {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.arrows > 0
    }

    /// For the range that starts here.
    pub(super) fn meet(&self, flow: u64, here: Point) -> Meeting {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = inner.next_arrow();
        let before = inner.new.insert(flow, (here, start));
        let before = before.or_else(|| inner.old.remove(&flow));
        if inner.new.len() >= REMEMBERED {
            inner.old = mem::take(&mut inner.new);
        }
        let arrow = before.map(|(there, arrow)| {
            if there.time <= here.time {
                Arrow::Here(arrow)
            } else {
                Arrow::There(inner.next_arrow(), there)
            }
        });
        Meeting { start, arrow }
    }
}

impl Inner {
    fn next_arrow(&mut self) -> u64 {
        self.arrows += 1;
        self.arrows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(thread: u64, time: i64) -> Point {
        Point {
            process: 1,
            thread,
            time,
        }
    }

    #[test]
    fn arrows_go_forward_from_each_range_to_the_next() {
        let flows = Flows::default();
        let (launch, kernel, sync) = (point(2, 10), point(3, 50), point(2, 90));
        let meeting = |start, arrow| Meeting { start, arrow };
        assert_eq!(flows.meet(7, kernel), meeting(1, None));
        assert_eq!(flows.meet(8, sync), meeting(2, None));
        let there = Arrow::There(4, kernel);
        assert_eq!(flows.meet(7, launch), meeting(3, Some(there)));
        assert_eq!(flows.meet(7, sync), meeting(5, Some(Arrow::Here(3))));
        assert_eq!(flows.meet(8, sync), meeting(6, Some(Arrow::Here(2))));
    }

    #[test]
    fn what_was_met_long_ago_is_forgotten() {
        let flows = Flows::default();
        let first = point(2, 0);
        let last = REMEMBERED as u64 * 2;
        for flow in 0..last {
            assert_eq!(flows.meet(flow, first).arrow, None);
        }
        assert_eq!(flows.meet(0, first).arrow, None);
        assert_eq!(flows.meet(last - 1, first).arrow, Some(Arrow::Here(last)));
        let inner = flows.0.lock().unwrap();
        assert!(inner.new.len() + inner.old.len() <= 2 * REMEMBERED);
    }
}
