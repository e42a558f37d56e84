//! Flows between ranges: numbers that their lines name, or arrows from each to the next one.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// A range that has a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) point: Point,
    /// 0 if it is not known yet.
    pub(super) length: u64,
    /// Whether its line can name the flow: it names one at most, and what comes later can't be added.
    pub(super) is_free: bool,
}

/// What tells that a range has a flow.
#[derive(Debug, PartialEq)]
pub(super) enum Joint {
    /// Its line, with whether there is another one before.
    Bound { follows: bool },
    /// An arrow, if there is another one: its number and its ends.
    Apart(Option<(u64, Point, Point)>),
}

/// The flows of a session.
///
/// Readers take a file in the order of time, whatever stands where, and join the ranges whose lines name one number from each to
/// the next. The lines tell at which of them arrows start and end. Where there are more than two, a line that was written as the
/// last one must also name the arrows that start there: the file is rewritten at session end for that. An arrow with lines of its own
/// ends at the range that began last at its time: at an inner one, where that begins together with the right one.
#[derive(Default)]
pub(super) struct Flows {
    inner: Mutex<Inner>,
    is_unsettled: AtomicBool,
}

#[derive(Default)]
struct Inner {
    new: HashMap<u64, Known>,
    /// Those that came before: they are forgotten when `new` is full once more.
    old: HashMap<u64, Known>,
    /// Arrows have numbers that are unique in the file.
    arrows: u64,
    has_any: bool,
}

/// Of a flow whose first range names it, that one; else the last one.
#[derive(Clone, Copy)]
struct Known {
    member: Member,
    is_bound: bool,
    /// True once a second range names it.
    is_joined: bool,
}

impl Flows {
    /// Whether any range had one.
    pub(super) fn has_any(&self) -> bool {
        self.lock().has_any
    }

    /// Whether it could be told better in a file that is put in order.
    pub(super) fn is_unsettled(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed)
    }

    pub(super) fn unsettle(&self) {
        self.is_unsettled.store(true, Ordering::Relaxed);
    }

    /// For the range that starts here, or its end.
    pub(super) fn meet(&self, flow: u64, here: Member) -> Joint {
        let mut inner = self.lock();
        inner.has_any = true;
        let Some(mut before) = inner.get(flow) else {
            let is_bound = here.is_free;
            inner.put(flow, here, is_bound);
            return match is_bound {
                true => Joint::Bound { follows: false },
                false => Joint::Apart(None),
            };
        };
        if before.is_bound && here.is_free && here.is_behind(before.member) {
            if mem::replace(&mut before.is_joined, true) {
                self.unsettle();
            } else {
                inner.new.insert(flow, before);
            }
            return Joint::Bound { follows: true };
        }
        if before.member.point == here.point {
            return Joint::Apart(None);
        }
        if before.is_bound {
            self.unsettle();
        } else {
            inner.put(flow, here, false);
        }
        inner.arrows += 1;
        let (there, here) = (before.member.point, here.point);
        let (from, to) = match there.time <= here.time {
            true => (there, here),
            false => (here, there),
        };
        Joint::Apart(Some((inner.arrows, from, to)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn get(&mut self, flow: u64) -> Option<Known> {
        if let Some(known) = self.new.get(&flow) {
            return Some(*known);
        }
        let known = self.old.remove(&flow)?;
        self.keep(flow, known);
        Some(known)
    }

    fn put(&mut self, flow: u64, member: Member, is_bound: bool) {
        let known = Known {
            member,
            is_bound,
            is_joined: false,
        };
        self.keep(flow, known);
    }

    fn keep(&mut self, flow: u64, known: Known) {
        self.new.insert(flow, known);
        if self.new.len() >= REMEMBERED {
            self.old = mem::take(&mut self.new);
        }
    }
}

impl Member {
    /// Whether readers take it after `first`, whatever stands first in the file: of those at one time the longest comes first.
    fn is_behind(&self, first: Self) -> bool {
        let key = |member: Self| (member.point.time, !member.length);
        key(*self) > key(first)
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

    fn member(thread: u64, time: i64) -> Member {
        Member {
            point: point(thread, time),
            length: 5,
            is_free: true,
        }
    }

    const FIRST: Joint = Joint::Bound { follows: false };
    const NEXT: Joint = Joint::Bound { follows: true };

    fn arrow(number: u64, from: Member, to: Member) -> Joint {
        Joint::Apart(Some((number, from.point, to.point)))
    }

    #[test]
    fn what_follows_the_first_range_is_joined_by_a_number() {
        let flows = Flows::default();
        let (launch, kernel, sync) = (member(2, 10), member(3, 50), member(2, 90));
        for (flow, member, want) in [(7, launch, FIRST), (8, sync, FIRST), (7, sync, NEXT)] {
            assert_eq!(flows.meet(flow, member), want);
        }
        assert!(flows.has_any() && !flows.is_unsettled());
        assert_eq!(flows.meet(7, kernel), NEXT);
        assert!(flows.is_unsettled());
        // Not the one that readers take first.
        assert_eq!(flows.meet(8, kernel), arrow(1, kernel, sync));
        assert!(flows.is_unsettled());
        assert_eq!(flows.meet(8, member(4, 91)), NEXT);
    }

    #[test]
    fn of_those_at_one_time_the_longest_comes_first() {
        for (length, want) in [(4, Some(NEXT)), (5, None), (6, None)] {
            let flows = Flows::default();
            let (first, mut other) = (member(2, 10), member(3, 10));
            other.length = length;
            assert_eq!(flows.meet(7, first), FIRST);
            let is_next = want.is_some();
            let want = want.unwrap_or(arrow(1, first, other));
            assert_eq!(flows.meet(7, other), want);
            assert_eq!(flows.is_unsettled(), !is_next);
        }
    }

    #[test]
    fn ranges_of_several_flows_are_joined_by_arrows() {
        let flows = Flows::default();
        let (mut launch, kernel, sync) = (member(2, 10), member(3, 50), member(2, 90));
        launch.is_free = false;
        assert_eq!(flows.meet(7, launch), Joint::Apart(None));
        assert_eq!(flows.meet(7, sync), arrow(1, launch, sync));
        assert_eq!(flows.meet(7, kernel), arrow(2, kernel, sync));
        assert!(!flows.is_unsettled());
        // The end of a range that has the flow itself.
        assert_eq!(flows.meet(8, kernel), FIRST);
        let end = Member {
            is_free: false,
            ..kernel
        };
        assert_eq!(flows.meet(8, end), Joint::Apart(None));
        assert!(!flows.is_unsettled());
        assert_eq!(flows.meet(8, launch), arrow(3, launch, kernel));
        assert!(flows.is_unsettled());
    }

    #[test]
    fn what_was_met_long_ago_is_forgotten() {
        let flows = Flows::default();
        let first = member(2, 0);
        let last = REMEMBERED as u64 * 2;
        for flow in 0..last {
            assert_eq!(flows.meet(flow, first), FIRST);
        }
        assert_eq!(flows.meet(0, member(2, 1)), FIRST);
        assert_eq!(flows.meet(last - 1, member(2, 1)), NEXT);
        let inner = flows.lock();
        assert!(inner.new.len() + inner.old.len() <= 2 * REMEMBERED);
    }
}
