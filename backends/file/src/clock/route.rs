//! From the ticks of one clock to the nanoseconds of the session's time line.

use super::known::{Known, NANOSECONDS};
use super::ratio::{Ratio, Round};
use super::relation::{FRACTION, Line, Relation};

/// How the ticks of a clock become nanoseconds, as it was known in one version.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// From clock to clock: the relation's number, and which of its clocks comes first.
    hops: Vec<(usize, usize)>,
    /// From the last clock to nanoseconds.
    last: Line,
    pub(super) version: u64,
}

impl Route {
    /// `root` is where the hops lead.
    pub(super) fn new(hops: Vec<(usize, usize)>, root: Known, version: u64) -> Self {
        let ratio = Ratio::new(NANOSECONDS, root.rate_or_nanoseconds());
        Self {
            hops,
            last: Line::whole(ratio, root.zero()),
            version,
        }
    }

    /// Returns whether the way is `hop` and then that of `rest`.
    pub(super) fn begins_with(&self, hop: (usize, usize), rest: &Self) -> bool {
        self.hops.split_first() == Some((&hop, &rest.hops[..]))
    }

    /// Whether every tick is its own nanosecond.
    pub(crate) fn is_identity(&self) -> bool {
        self.hops.is_empty() && self.last_is_identity()
    }

    fn last_is_identity(&self) -> bool {
        self.last == Line::whole(Ratio::new(NANOSECONDS, NANOSECONDS), 0)
    }

    /// Whether a newer route is the same for all ticks.
    pub(super) fn is_still(&self, new: &Self, relations: &[Relation]) -> bool {
        self.hops == new.hops
            && self.last == new.last
            && (self.hops.iter()).all(|(relation, _)| relations[*relation].last <= self.version)
    }

    /// The one straight way around `ticks`, if it is the whole way.
    pub(super) fn line(&self, ticks: i64, relations: &[Relation]) -> Option<Line> {
        match *self.hops {
            [] => Some(self.last),
            [(relation, from)] if self.last_is_identity() => {
                relations[relation].line(from, ticks, self.version)
            }
            _ => None,
        }
    }

    /// The nanosecond in which a tick begins; later ticks never come out earlier. `None` if 64 bits
    /// don't hold it.
    pub(super) fn nanoseconds(&self, ticks: i64, relations: &[Relation]) -> Option<i64> {
        self.nanoseconds_near(ticks, &mut None, relations)
    }

    /// Returns the same, without a search where the last used `line` holds.
    fn nanoseconds_near(
        &self,
        ticks: i64,
        line: &mut Option<Line>,
        relations: &[Relation],
    ) -> Option<i64> {
        if line.is_none_or(|line| !line.holds(ticks)) {
            *line = self.line(ticks, relations);
        }
        match line {
            Some(line) => line.floor(ticks),
            None => whole(self.exact(ticks, relations)?),
        }
    }

    /// The earliest tick whose nanosecond is not before `time`.
    pub(super) fn ticks(&self, time: i64, relations: &[Relation]) -> Option<i64> {
        let value = self
            .last
            .inverse()
            .times(i128::from(time) << FRACTION, Round::Up)?;
        let mut ticks = whole(self.back(value, self.hops.len(), relations)?)?;
        let mut line = None;
        let mut is_early = |ticks| {
            let at = self.nanoseconds_near(ticks, &mut line, relations);
            at.is_some_and(|at| at < time)
        };
        // What was rounded on the way is less than a tick or two.
        for _ in 0..4 {
            match ticks.checked_sub(1).filter(|before| !is_early(*before)) {
                Some(before) => ticks = before,
                None => break,
            }
        }
        while is_early(ticks) {
            ticks = ticks.checked_add(1)?;
        }
        Some(ticks)
    }

    /// A time of the clock that the first `hops` lead to, on the first clock.
    fn back(&self, mut value: i128, hops: usize, relations: &[Relation]) -> Option<i128> {
        for &(relation, from) in self.hops[..hops].iter().rev() {
            let line = relations[relation].line(1 - from, whole(value)?, self.version)?;
            value = line.times(value, Round::Up)?;
        }
        Some(value)
    }

    /// Whether a newer route gives any tick from `first` to `last` another time; it may also be that it would to one
    /// between two ticks.
    pub(super) fn differs(
        &self,
        new: &Self,
        (first, last): (i64, i64),
        relations: &[Relation],
    ) -> bool {
        let is_other =
            |ticks: &i64| self.nanoseconds(*ticks, relations) != new.nanoseconds(*ticks, relations);
        if [first, last].iter().any(is_other) {
            return true;
        }
        // Both are straight between these.
        let mut marks = vec![first];
        self.corners((first, last), relations, &mut marks);
        new.corners((first, last), relations, &mut marks);
        let goes_other = |ticks: &i64| *ticks < last && !self.goes_as(new, *ticks, relations);
        marks
            .iter()
            .any(|ticks| is_other(ticks) || goes_other(ticks))
    }

    /// Whether a newer route is the same behind `ticks`, as far as both are straight: ticks further on may be other
    /// nanoseconds although this one isn't.
    fn goes_as(&self, new: &Self, ticks: i64, relations: &[Relation]) -> bool {
        match (self.line(ticks, relations), new.line(ticks, relations)) {
            (Some(line), Some(new)) => line.is(&new),
            _ => self.exact(ticks, relations) == new.exact(ticks, relations),
        }
    }

    /// The time at which a tick begins, with [`FRACTION`] bits behind the point.
    fn exact(&self, ticks: i64, relations: &[Relation]) -> Option<i128> {
        // On the way times are rounded up, so that what comes out even stays so.
        let mut value = i128::from(ticks) << FRACTION;
        for &(relation, from) in &self.hops {
            let line = relations[relation].line(from, whole(value)?, self.version)?;
            value = line.times(value, Round::Up)?;
        }
        self.last.times(value, Round::Down)
    }

    /// Finds the ticks from `first` to `last` next to those at which the way may bend.
    fn corners(&self, (first, last): (i64, i64), relations: &[Relation], found: &mut Vec<i64>) {
        let mut range = [first, last].map(|ticks| i128::from(ticks) << FRACTION);
        for (index, &(relation, from)) in self.hops.iter().enumerate() {
            let relation = &relations[relation];
            let [low, high] = range.map(|value| value >> FRACTION);
            for instant in relation.instants_between(from, low, high) {
                let value = self.back(i128::from(instant) << FRACTION, index, relations);
                if let Some(ticks) = value.and_then(whole) {
                    let next = ticks.saturating_add(1);
                    found.extend([ticks, next].map(|ticks| ticks.clamp(first, last)));
                }
            }
            for value in &mut range {
                let ticks = whole(*value).unwrap_or_default();
                let line = relation.line(from, ticks, self.version);
                if let Some(there) = line.and_then(|line| line.times(*value, Round::Up)) {
                    *value = there;
                }
            }
        }
    }
}

/// The tick in which a time lies.
fn whole(value: i128) -> Option<i64> {
    (value >> FRACTION).try_into().ok()
}
