//! What is known of two clocks together.

use super::facts::Instant;
use super::known::{Known, NANOSECONDS};
use super::points::{Point, Points, Side, Slope};
use super::ratio::{Ratio, Round};

/// Times between two ticks, on the way from one clock to the next: so many bits behind the point.
pub(super) const FRACTION: u32 = 32;

/// Instants that two clocks share. Between two of them a straight line leads; outside of all, one
/// with a slope that was given for the outermost instant, else that of the clocks' resolutions if
/// both are known, else that between the two outermost instants.
#[derive(Debug)]
pub(super) struct Relation {
    /// Which clocks, by their numbers.
    pub(super) clocks: [usize; 2],
    known: [Known; 2],
    points: Points,
    /// The version that something was added in last.
    pub(super) last: u64,
}

/// Part of the way from one clock to another, where it is straight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    from: i128,
    to: i128,
    ratio: Ratio,
    /// Ticks of the first clock for which it holds.
    lowest: i64,
    highest: i64,
}

/// Something that can't be true together with what is known.
#[derive(Debug, PartialEq)]
pub(super) enum Contradiction {
    /// This instant.
    Point([i64; 2]),
    /// Another slope at the same instant.
    Slope,
}

impl Relation {
    pub(super) fn new(clocks: [usize; 2], known: [Known; 2]) -> Self {
        Self {
            clocks,
            known,
            points: Points::default(),
            last: 0,
        }
    }

    /// Adds an instant, with the slope there if that is given. Says whether it is new.
    pub(super) fn add(
        &mut self,
        at: [i64; 2],
        slope: Option<Ratio>,
        version: u64,
    ) -> Result<bool, Contradiction> {
        let slope = slope.map(|ratio| Slope {
            ratio,
            since: version,
        });
        let since = version;
        // The common case, without a search.
        if (self.points.last()).is_none_or(|last| last.at[0] < at[0] && last.at[1] < at[1]) {
            self.points.insert(Point { at, since, slope });
            self.last = version;
            return Ok(true);
        }
        let next =
            |side, is_beyond: &dyn Fn(&Point) -> bool| self.points.next(side, u64::MAX, is_beyond);
        let before = next(Side::Before, &|point| point.at[0] < at[0]);
        let after = next(Side::After, &|point| point.at[0] >= at[0]);
        if let Some(number) = after {
            let known = self.points.get_mut(number);
            if known.at == at {
                return match (known.slope, slope) {
                    (_, None) => Ok(false),
                    (Some(known), Some(slope)) if known.ratio == slope.ratio => Ok(false),
                    (Some(_), Some(_)) => Err(Contradiction::Slope),
                    (None, Some(_)) => {
                        known.slope = slope;
                        self.last = version;
                        Ok(true)
                    }
                };
            }
            if known.at[0] == at[0] || known.at[1] <= at[1] {
                return Err(Contradiction::Point(known.at));
            }
        }
        match before.map(|number| self.points.get(number)) {
            Some(last) if last.at[1] >= at[1] => return Err(Contradiction::Point(last.at)),
            _ => {}
        }
        self.points.insert(Point { at, since, slope });
        self.last = version;
        Ok(true)
    }

    /// The way from clock `from` of the two at `ticks`, as it was known in `version`.
    pub(super) fn line(&self, from: usize, ticks: i64, version: u64) -> Option<Line> {
        let to = 1 - from;
        let next = |side, is_beyond: &dyn Fn(&Point) -> bool| {
            let number = self.points.next(side, version, is_beyond)?;
            Some(self.points.get(number))
        };
        let before = next(Side::Before, &|point| point.at[from] <= ticks);
        let after = next(Side::After, &|point| point.at[from] > ticks);
        let (start, ratio, lowest, highest) = match (before, after) {
            (Some(start), Some(end)) => {
                let ratio = between(start, end, from);
                (start, ratio, start.at[from], end.at[from])
            }
            (Some(last), None) => {
                let inner = next(Side::Before, &|point| point.at[from] < last.at[from]);
                let ratio = self.outside(last, inner, from, version);
                (last, ratio, last.at[from], i64::MAX)
            }
            (None, Some(first)) => {
                let inner = next(Side::After, &|point| point.at[from] > first.at[from]);
                let ratio = self.outside(first, inner, from, version);
                (first, ratio, i64::MIN, first.at[from])
            }
            (None, None) => return None,
        };
        Some(Line {
            from: start.at[from].into(),
            to: start.at[to].into(),
            ratio,
            lowest,
            highest,
        })
    }

    /// The slope beyond the outermost instant.
    fn outside(&self, point: &Point, next: Option<&Point>, from: usize, version: u64) -> Ratio {
        if let Some(slope) = point.slope.filter(|slope| slope.since <= version) {
            return match from {
                0 => slope.ratio,
                _ => slope.ratio.inverse(),
            };
        }
        let rates = self.known.map(|known| known.rate);
        match (rates[1 - from].zip(rates[from]), next) {
            (Some((to, from)), _) => Ratio::new(to, from),
            (None, Some(next)) => between(point, next, from),
            (None, None) => {
                let rate = |of: usize| rates[of].unwrap_or(NANOSECONDS);
                Ratio::new(rate(1 - from), rate(from))
            }
        }
    }

    /// How many instants there are so far.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// All of them.
    pub(super) fn instants(&self) -> impl Iterator<Item = Instant> + '_ {
        self.points.from(0, i64::MIN).map(|point| Instant {
            at: point.at,
            slope: point.slope.map(|slope| slope.ratio.to_f64()),
        })
    }

    /// Those whose ticks on clock `of` are from `low` to `high`.
    pub(super) fn instants_between(
        &self,
        of: usize,
        low: i128,
        high: i128,
    ) -> impl Iterator<Item = i64> + '_ {
        let low = low.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let points = self.points.from(of, low).map(move |point| point.at[of]);
        points.take_while(move |ticks| i128::from(*ticks) <= high)
    }
}

fn between(one: &Point, other: &Point, from: usize) -> Ratio {
    let distance = |side: usize| one.at[side].abs_diff(other.at[side]);
    Ratio::new(distance(1 - from), distance(from))
}

impl Line {
    /// A whole way: `ratio` times the ticks, and `to` more.
    pub(super) fn whole(ratio: Ratio, to: i128) -> Self {
        Self {
            from: 0,
            to,
            ratio,
            lowest: i64::MIN,
            highest: i64::MAX,
        }
    }

    #[inline]
    pub(super) fn holds(&self, ticks: i64) -> bool {
        self.lowest <= ticks && ticks <= self.highest
    }

    /// The way back of a [`whole`](Self::whole) way.
    pub(super) fn inverse(&self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            ratio: self.ratio.inverse(),
            ..*self
        }
    }

    /// Whether another one is the same way, wherever it holds.
    pub(super) fn is(&self, other: &Self) -> bool {
        let way = |round| self.ratio.times(other.from - self.from, round);
        let distance = Some(other.to - self.to);
        self.ratio.is(other.ratio) && way(Round::Down) == distance && way(Round::Up) == distance
    }

    /// The tick of the other clock in which a tick begins, if 64 bits hold it.
    #[inline]
    pub(super) fn floor(&self, ticks: i64) -> Option<i64> {
        let way = self
            .ratio
            .times(i128::from(ticks) - self.from, Round::Down)?;
        way.checked_add(self.to)?.try_into().ok()
    }

    /// The same for both times of a range; `None` if it holds for one of them only, or none.
    #[inline]
    pub(crate) fn range(&self, (start, end): (i64, i64)) -> Option<(i64, i64)> {
        if !self.holds(start) || !self.holds(end) {
            return None;
        }
        self.floor(start).zip(self.floor(end))
    }

    /// The same for times between ticks, which have [`FRACTION`] bits behind the point.
    pub(super) fn times(&self, value: i128, round: Round) -> Option<i128> {
        let way = self.ratio.times(value - (self.from << FRACTION), round)?;
        way.checked_add(self.to << FRACTION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nvtxw_backend::TimerStart;

    fn relation(rates: [Option<u64>; 2]) -> Relation {
        let start = TimerStart::Unknown;
        Relation::new([0, 1], rates.map(|rate| Known { rate, start }))
    }

    fn there(relation: &Relation, ticks: i64, version: u64) -> i64 {
        let line = relation.line(0, ticks, version).unwrap();
        assert!(line.holds(ticks));
        line.floor(ticks).unwrap()
    }

    fn back(relation: &Relation, ticks: i64) -> i64 {
        let line = relation.line(1, ticks, u64::MAX).unwrap();
        line.floor(ticks).unwrap()
    }

    #[test]
    fn between_points_the_way_is_straight_and_outside_it_has_the_resolutions() {
        let mut relation = relation([Some(1000), Some(1_000_000)]);
        assert_eq!(relation.add([100, 5000], None, 1), Ok(true));
        // One point, and the resolutions.
        assert_eq!(there(&relation, 101, 1), 6000);
        assert_eq!(there(&relation, 99, 1), 4000);
        assert_eq!(relation.add([200, 105_030], None, 1), Ok(true));
        assert_eq!(there(&relation, 100, 1), 5000);
        assert_eq!(there(&relation, 101, 1), 6000);
        assert_eq!(there(&relation, 110, 1), 15_003);
        assert_eq!(there(&relation, 200, 1), 105_030);
        assert_eq!(there(&relation, 201, 1), 106_030);
        assert_eq!(there(&relation, -1, 1), 5000 - 101_000);
        assert_eq!(back(&relation, 15_003), 110);
        assert_eq!(back(&relation, 15_002), 109);
        assert_eq!(back(&relation, 106_030), 201);
        assert_eq!(back(&relation, 4999), 99);
    }

    #[test]
    fn without_resolutions_the_outermost_points_tell_the_slope() {
        let mut relation = relation([None, Some(NANOSECONDS)]);
        assert_eq!(relation.add([0, 1000], None, 1), Ok(true));
        assert_eq!(there(&relation, 7, 1), 1007, "a tick is a nanosecond");
        assert_eq!(relation.add([10, 1100], None, 1), Ok(true));
        assert_eq!(relation.add([20, 1300], None, 1), Ok(true));
        assert_eq!(there(&relation, -1, 1), 990);
        assert_eq!(there(&relation, 21, 1), 1320);
        assert_eq!(back(&relation, 1319), 20);
    }

    #[test]
    fn a_given_slope_comes_before_the_resolutions() {
        let mut relation = relation([Some(1), Some(1)]);
        let half = Some(Ratio::of(0.5));
        assert_eq!(relation.add([10, 20], half, 1), Ok(true));
        assert_eq!(there(&relation, 13, 1), 21);
        assert_eq!(there(&relation, 7, 1), 18);
        assert_eq!(back(&relation, 21), 12);
        assert_eq!(relation.add([10, 20], None, 1), Ok(false));
        assert_eq!(relation.add([10, 20], half, 1), Ok(false));
        assert_eq!(
            relation.add([10, 20], Some(Ratio::of(0.25)), 1),
            Err(Contradiction::Slope)
        );
    }

    #[test]
    fn what_can_not_be_is_told() {
        let mut relation = relation([None, None]);
        for at in [[10, 100], [20, 200]] {
            assert_eq!(relation.add(at, None, 1), Ok(true));
        }
        for (at, known) in [
            ([10, 101], [10, 100]),
            ([11, 100], [10, 100]),
            ([9, 100], [10, 100]),
            ([15, 99], [10, 100]),
            ([15, 200], [20, 200]),
            ([21, 200], [20, 200]),
            ([9, 300], [10, 100]),
        ] {
            let contradiction = Contradiction::Point(known);
            assert_eq!(relation.add(at, None, 1), Err(contradiction), "{at:?}");
        }
        let instants: Vec<_> = relation.instants().map(|instant| instant.at).collect();
        assert_eq!(instants, [[10, 100], [20, 200]]);
    }

    #[test]
    fn a_version_does_not_see_what_came_later() {
        let mut relation = relation([None, None]);
        relation.add([0, 0], None, 1).unwrap();
        relation.add([100, 200], None, 2).unwrap();
        relation.add([50, 150], None, 3).unwrap();
        relation.add([0, 0], Some(Ratio::of(4.0)), 4).unwrap();
        assert_eq!(relation.line(0, 50, 0), None);
        for (version, middle, before) in [(1, 50, -1), (2, 100, -2), (3, 150, -3), (4, 150, -4)] {
            assert_eq!(there(&relation, 50, version), middle);
            assert_eq!(there(&relation, -1, version), before);
        }
    }

    #[test]
    fn extremes_are_no_problem() {
        let mut relation = relation([None, None]);
        relation.add([i64::MIN, i64::MIN], None, 1).unwrap();
        relation.add([i64::MAX, i64::MAX], None, 1).unwrap();
        for ticks in [i64::MIN, -1, 0, 7, i64::MAX] {
            assert_eq!(there(&relation, ticks, 1), ticks);
        }
        let line = Line::whole(Ratio::new(3, 1), 0);
        assert_eq!(line.floor(i64::MAX), None);
        assert_eq!(line.floor(i64::MAX / 3), Some(i64::MAX / 3 * 3));
    }
}
