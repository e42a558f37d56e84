//! What a producer says of the order in which events come, and whether they do.

use std::collections::VecDeque;

use nvtxw_backend::{BatchOrdering, Skid, StreamInfo, StreamInterleaving, StreamOrdering};

use super::On;

/// What is said of a stream, or of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Claim {
    pub(super) by: By,
    pub(super) lag: Lag,
    /// Whether the order holds among the events of each scope, and not among all.
    pub(super) is_per_scope: bool,
}

/// By which of its times an event takes its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By {
    Start,
    End,
    /// There are no whole ranges.
    Point,
}

/// How far an event may be behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lag {
    None,
    Nanoseconds(i64),
    /// So many blocks of events, of so many each.
    Blocks(usize, u64),
}

/// Blocks that are told apart: a longer lag is rounded up to a multiple of their length.
const BLOCKS: u64 = 64;

impl Lag {
    fn of(info: &StreamInfo) -> Self {
        let amount = info.skid_amount();
        match info.skid() {
            Skid::TimeNs => Self::Nanoseconds(i64::try_from(amount).unwrap_or(i64::MAX)),
            Skid::EventCount if amount > 0 => {
                let len = amount.div_ceil(BLOCKS);
                Self::Blocks(amount.div_ceil(len) as usize, len)
            }
            _ => Self::None,
        }
    }
}

impl Claim {
    /// What is said of a stream, if anything is.
    pub(crate) fn of(info: &StreamInfo) -> Option<Self> {
        let by = match info.ordering() {
            StreamOrdering::Strict => By::Point,
            StreamOrdering::PackedRangeStart => By::Start,
            StreamOrdering::PackedRangeEnd => By::End,
            _ => return None,
        };
        Some(Self {
            by,
            lag: Lag::of(info),
            is_per_scope: info.interleaving() == StreamInterleaving::Scope,
        })
    }

    /// What is said of a batch of a stream with that claim.
    pub(super) fn of_batch(ordering: BatchOrdering, stream: Option<Self>) -> Option<Self> {
        let sorted = Self {
            by: By::Start,
            lag: Lag::None,
            is_per_scope: false,
        };
        match ordering {
            BatchOrdering::Sorted => Some(sorted),
            BatchOrdering::SortedPerScope => Some(Self {
                is_per_scope: true,
                ..sorted
            }),
            // Without a skid that says no more than that the batch is in some order.
            BatchOrdering::SortedPartially => {
                stream
                    .filter(|claim| claim.lag != Lag::None)
                    .map(|claim| Self {
                        by: By::Start,
                        ..claim
                    })
            }
            _ => None,
        }
    }
}

/// Whether events keep to a claim.
pub(super) struct Check {
    pub(super) claim: Claim,
    all: Group,
    /// Where the order is that of each scope. Counters are apart from the events of their scope, which
    /// asks for less.
    places: Vec<Group>,
    counters: Vec<Group>,
}

/// Events that have an order among each other.
#[derive(Default)]
struct Group {
    /// None that comes next is earlier.
    bound: Option<i64>,
    /// With a lag of blocks: the latest time of each block that may still be passed, oldest first.
    blocks: VecDeque<i64>,
    /// Events of the block in the making, and the latest of their times.
    filled: u64,
    latest: Option<i64>,
}

/// An event that doesn't keep to a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Break {
    pub(crate) time: i64,
    /// No event was to be earlier; `None` where there was to be no whole range.
    pub(crate) bound: Option<i64>,
}

impl Check {
    pub(super) fn new(claim: Claim) -> Self {
        Self {
            claim,
            all: Group::default(),
            places: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// Begins anew with what comes next.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.claim);
    }

    /// Takes the next event.
    #[inline]
    pub(super) fn take(&mut self, on: On, start: i64, end: i64) -> Result<(), Break> {
        let (by, lag) = (self.claim.by, self.claim.lag);
        let time = if by == By::End { end } else { start };
        let bound = self.group(on).take(lag, time);
        if by == By::Point && start != end {
            return Err(Break { time, bound: None });
        }
        bound.map_or(Ok(()), |bound| {
            let bound = Some(bound);
            Err(Break { time, bound })
        })
    }

    /// No event that comes next is earlier, if it keeps to the claim.
    pub(super) fn bound(&self, on: On) -> i64 {
        let group = match (self.claim.is_per_scope, on) {
            (false, _) => Some(&self.all),
            (true, On::Place(place)) => self.places.get(place as usize),
            (true, On::Counter(counter)) => self.counters.get(counter as usize),
        };
        group.and_then(|group| group.bound).unwrap_or(i64::MIN)
    }

    #[inline]
    fn group(&mut self, on: On) -> &mut Group {
        if !self.claim.is_per_scope {
            return &mut self.all;
        }
        let (groups, index) = match on {
            On::Place(place) => (&mut self.places, place as usize),
            On::Counter(counter) => (&mut self.counters, counter as usize),
        };
        if groups.len() <= index {
            groups.resize_with(index + 1, Group::default);
        }
        &mut groups[index]
    }
}

impl Group {
    /// Takes the time of the next event; returns the bound if that is later.
    #[inline]
    fn take(&mut self, lag: Lag, time: i64) -> Option<i64> {
        let broken = self.bound.filter(|bound| time < *bound);
        match lag {
            Lag::None => self.bound = self.bound.max(Some(time)),
            Lag::Nanoseconds(lag) => self.bound = self.bound.max(Some(time.saturating_sub(lag))),
            Lag::Blocks(count, len) => self.fill(count, len, time),
        }
        broken
    }

    fn fill(&mut self, count: usize, len: u64, time: i64) {
        self.latest = self.latest.max(Some(time));
        self.filled += 1;
        if self.filled < len {
            return;
        }
        self.filled = 0;
        self.blocks.extend(self.latest.take());
        if self.blocks.len() > count {
            self.bound = self.bound.max(self.blocks.pop_front());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    fn lag_of_events(count: u64) -> Lag {
        let len = count.div_ceil(BLOCKS).max(1);
        Lag::Blocks(count.div_ceil(len) as usize, len)
    }

    /// The bound before each event, by the definition of the ABI.
    fn bounds(times: &[i64], lag: Lag) -> Vec<Option<i64>> {
        let before = |index: usize| match lag {
            Lag::None => times[..index].iter().max().copied(),
            Lag::Nanoseconds(lag) => times[..index].iter().map(|time| time - lag).max(),
            Lag::Blocks(count, len) => {
                let passed = index.saturating_sub(count * len as usize);
                let whole = passed / len as usize * len as usize;
                times[..whole].iter().max().copied()
            }
        };
        (0..times.len()).map(before).collect()
    }

    #[test]
    fn an_event_is_behind_by_no_more_than_the_lag() {
        let mut broken = 0;
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let times: Vec<_> = (0..500)
                .map(|step| step + random.below(40) as i64)
                .collect();
            let lag = match seed % 3 {
                0 => Lag::None,
                1 => Lag::Nanoseconds(random.below(50) as i64),
                _ => lag_of_events(random.below(200)),
            };
            let mut group = Group::default();
            for (time, bound) in times.iter().zip(bounds(&times, lag)) {
                assert_eq!(group.bound, bound, "{lag:?}");
                let want = bound.filter(|bound| time < bound);
                assert_eq!(group.take(lag, *time), want);
                broken += u64::from(want.is_some());
            }
            assert!(group.blocks.len() <= BLOCKS as usize);
        }
        assert!(broken > 1000);
    }

    #[test]
    fn the_order_of_a_scope_is_its_own() {
        for is_per_scope in [false, true] {
            let mut check = Check::new(Claim {
                by: By::Start,
                lag: Lag::None,
                is_per_scope,
            });
            let [one, other, counter] = [On::Place(0), On::Place(1), On::Counter(0)];
            assert_eq!(check.take(one, 100, 200), Ok(()));
            assert_eq!(check.take(other, 50, 60).is_ok(), is_per_scope);
            assert_eq!(check.take(counter, 10, 10).is_ok(), is_per_scope);
            assert!(check.take(one, 99, 300).is_err());
            assert_eq!(check.bound(one), 100);
            assert_eq!(check.bound(other), if is_per_scope { 50 } else { 100 });
            assert_eq!(
                check.bound(On::Place(7)),
                if is_per_scope { i64::MIN } else { 100 }
            );
            check.reset();
            assert_eq!(check.take(one, 0, 0), Ok(()));
        }
    }

    #[test]
    fn an_order_is_by_the_time_that_it_says() {
        let check = |by| {
            Check::new(Claim {
                by,
                lag: Lag::None,
                is_per_scope: false,
            })
        };
        let on = On::Place(0);
        let mut by_end = check(By::End);
        assert_eq!(by_end.take(on, 50, 60), Ok(()));
        assert_eq!(by_end.take(on, 0, 100), Ok(()));
        let bound = Some(100);
        assert_eq!(by_end.take(on, 70, 80), Err(Break { time: 80, bound }));
        let mut points = check(By::Point);
        assert_eq!(points.take(on, 50, 50), Ok(()));
        let bound = None;
        assert_eq!(points.take(on, 60, 61), Err(Break { time: 60, bound }));
    }
}
