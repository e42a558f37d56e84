//! Whether data comes in the order that is claimed.

use std::collections::{HashMap, VecDeque};

use nvtxw_backend::{
    BatchOrdering, Domain, Skid, StreamInfo, StreamInterleaving, StreamOrdering, Time,
    TimestampType,
};

/// More events than this a skid is not followed over: such a stream is taken for unordered.
const GREATEST_SKID: u64 = 1 << 16;

const NANOSECONDS: u64 = 1_000_000_000;

/// How late data may come, in what a timeline counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Late {
    Ticks(u64),
    Events(u64),
}

/// The times so far of what stands in one order.
#[derive(Debug)]
struct Timeline {
    late: Late,
    /// The greatest time that the next one is measured by.
    greatest: i64,
    /// Those that it is not measured by yet.
    recent: VecDeque<i64>,
    is_empty: bool,
}

/// Timelines by scope and time domain.
#[derive(Debug, Default)]
struct Timelines {
    places: HashMap<(u64, u64), usize>,
    timelines: Vec<Timeline>,
    last: Option<((u64, u64), usize)>,
}

impl Timeline {
    fn new(late: Late) -> Self {
        Self {
            late,
            greatest: 0,
            recent: VecDeque::new(),
            is_empty: true,
        }
    }

    /// Takes the next time. What it must not be before, if it is.
    #[inline]
    fn take(&mut self, time: i64) -> Option<i64> {
        let slack = match self.late {
            Late::Ticks(ticks) => ticks,
            Late::Events(count) => {
                self.recent.push_back(time);
                if self.recent.len() as u64 <= count {
                    return None;
                }
                let due = self.recent.pop_front()?;
                let broken = (!self.is_empty && time < self.greatest).then_some(self.greatest);
                self.greatest = if self.is_empty {
                    due
                } else {
                    self.greatest.max(due)
                };
                self.is_empty = false;
                return broken;
            }
        };
        if self.is_empty || time >= self.greatest {
            self.is_empty = false;
            self.greatest = time;
            return None;
        }
        (self.greatest.abs_diff(time) > slack).then_some(self.greatest)
    }
}

impl Timelines {
    #[inline]
    fn of(&mut self, key: (u64, u64), late: impl FnOnce() -> Late) -> &mut Timeline {
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => {
                let next = self.timelines.len();
                let index = *self.places.entry(key).or_insert(next);
                if index == next {
                    self.timelines.push(Timeline::new(late()));
                }
                self.last = Some((key, index));
                index
            }
        };
        &mut self.timelines[index]
    }
}

/// What a stream was opened with, and the times so far.
#[derive(Debug)]
pub(crate) struct StreamOrder {
    ordering: StreamOrdering,
    per_scope: bool,
    skid: Skid,
    amount: u64,
    timelines: Timelines,
}

/// How an order is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// A whole range where only points in time may be.
    Range,
    /// This time comes too long after that one.
    Late { time: i64, after: i64 },
}

impl StreamOrder {
    pub(crate) fn new(stream: &StreamInfo) -> Self {
        Self {
            ordering: stream.ordering(),
            per_scope: stream.interleaving() == StreamInterleaving::Scope,
            skid: stream.skid(),
            amount: stream.skid_amount(),
            timelines: Timelines::default(),
        }
    }

    /// Takes the next event or sample, of this scope and time domains.
    #[inline]
    pub(crate) fn take(
        &mut self,
        domain: &Domain,
        scope: u64,
        (start_in, end_in): (u64, u64),
        time: Time,
    ) -> Option<Broken> {
        let (time, time_domain) = match (self.ordering, time.end()) {
            (StreamOrdering::Unknown, _) => return None,
            (StreamOrdering::Strict, Some(_)) => return Some(Broken::Range),
            (StreamOrdering::PackedRangeEnd, Some(end)) => (end, end_in),
            _ => (time.start(), start_in),
        };
        let late = late(self.skid, self.amount, domain, time_domain)?;
        let scope = if self.per_scope { scope } else { 0 };
        let timeline = self.timelines.of((scope, time_domain), || late);
        let after = timeline.take(time)?;
        Some(Broken::Late { time, after })
    }
}

/// What the flags of a batch say, and the times of it so far.
#[derive(Debug)]
pub(crate) struct BatchOrder {
    per_scope: bool,
    late: Option<Late>,
    timelines: Timelines,
}

impl BatchOrder {
    pub(crate) fn new(ordering: BatchOrdering, stream: &StreamInfo, time_domain: u64) -> Self {
        let late = match (ordering, stream.ordering()) {
            (BatchOrdering::Unsorted, _) => None,
            // The skid of a stream without an order says nothing.
            (BatchOrdering::SortedPartially, StreamOrdering::Unknown) => None,
            (BatchOrdering::SortedPartially, _) => {
                let (skid, amount) = (stream.skid(), stream.skid_amount());
                late(skid, amount, stream.domain(), time_domain)
            }
            (BatchOrdering::Sorted | BatchOrdering::SortedPerScope, _) => Some(Late::Ticks(0)),
        };
        Self {
            per_scope: ordering == BatchOrdering::SortedPerScope,
            late,
            timelines: Timelines::default(),
        }
    }

    /// Takes the first timestamp of the next item. What it must not be before, if it is.
    #[inline]
    pub(crate) fn take(&mut self, scope: u64, time: i64) -> Option<i64> {
        let late = self.late?;
        let scope = if self.per_scope { scope } else { 0 };
        self.timelines.of((scope, 0), || late).take(time)
    }
}

/// How late data of a time domain may come; `None` if that can't be told.
#[inline]
fn late(skid: Skid, amount: u64, domain: &Domain, time_domain: u64) -> Option<Late> {
    match skid {
        Skid::None => Some(Late::Ticks(0)),
        Skid::EventCount if amount > GREATEST_SKID => None,
        Skid::EventCount => Some(Late::Events(amount)),
        Skid::TimeNs => {
            let ticks = u128::from(amount) * u128::from(rate(domain, time_domain)?);
            let ticks = ticks.div_ceil(u128::from(NANOSECONDS));
            Some(Late::Ticks(u64::try_from(ticks).unwrap_or(u64::MAX)))
        }
    }
}

/// Ticks per second, if they are known.
fn rate(domain: &Domain, time_domain: u64) -> Option<u64> {
    use TimestampType as T;
    let (resolution, clock) = match TimestampType::from_raw(time_domain) {
        Some(clock) => (None, clock),
        None => {
            let registered = domain.time_domain(time_domain)?;
            (registered.resolution(), registered.timestamp_type())
        }
    };
    resolution.or(match clock {
        T::None | T::ToolProvided | T::CpuTsc | T::CpuTscNonvirtualized | T::WinQpc => None,
        T::WinGstaft | T::WinGstaftp => Some(10_000_000),
        T::CTime => Some(1),
        // POSIX says so.
        T::CClock => Some(1_000_000),
        _ => Some(NANOSECONDS),
    })
}

#[cfg(test)]
mod tests {
    use super::{Late, Timeline};

    fn broken(late: Late, times: &[i64]) -> Vec<(i64, i64)> {
        let mut timeline = Timeline::new(late);
        let take = |time: &i64| timeline.take(*time).map(|after| (*time, after));
        times.iter().filter_map(take).collect()
    }

    #[test]
    fn without_a_skid_nothing_is_late() {
        assert_eq!(broken(Late::Ticks(0), &[-5, -5, 3, 7]), []);
        assert_eq!(broken(Late::Ticks(0), &[7, 3, 5, 7]), [(3, 7), (5, 7)]);
    }

    #[test]
    fn a_skid_in_time_is_measured_from_the_latest() {
        let late = Late::Ticks(10);
        assert_eq!(broken(late, &[100, 90, 101, 91, 90]), [(90, 101)]);
        let far = [i64::MAX, i64::MIN];
        assert_eq!(broken(late, &far), [(i64::MIN, i64::MAX)]);
    }

    #[test]
    fn a_skid_in_events_lets_so_many_be_earlier() {
        assert_eq!(broken(Late::Events(0), &[5, 4]), [(4, 5)]);
        assert_eq!(broken(Late::Events(2), &[5, 1, 1, 5]), []);
        assert_eq!(broken(Late::Events(2), &[5, 1, 1, 4]), [(4, 5)]);
        assert_eq!(
            broken(Late::Events(1), &[9, 1, 10, 2, 9]),
            [(2, 9), (9, 10)]
        );
    }
}
