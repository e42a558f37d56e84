//! From ticks of time domains to the file's nanoseconds.
//!
//! Each clock that a session meets leads to a time line: its own nanoseconds, or those of the
//! clock that it is related to. See the [crate's page](crate) for the rules.

mod facts;
mod known;
mod points;
mod ratio;
mod reader;
mod relation;
mod route;
mod time_map;
mod way;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use nvtxw_backend::{
    Domain, Refusal, RelationKind, Result, ScopeRef, TimeDomain, TimeRelation, TimestampType,
};

use self::known::Known;
use self::ratio::Ratio;
pub(crate) use self::relation::Line;
use self::relation::{Contradiction, Relation};
use self::route::Route;
use self::way::Way;

pub(crate) use self::reader::{ClockReader, Past, Tick};
pub(crate) use self::time_map::{Side, TimeMap};

/// The clocks of a session, and what is known of them together.
#[derive(Default)]
pub(crate) struct Clocks {
    /// Grows with each thing that is learned.
    version: AtomicU64,
    /// True if one of the clocks gives the date: its times are dates, and so are those of related clocks.
    have_dates: AtomicBool,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    clocks: Vec<Clock>,
    numbers: HashMap<Key, usize>,
    relations: Vec<Relation>,
    /// By the numbers of the clocks, the smaller one first.
    between: HashMap<[usize; 2], usize>,
    version: u64,
}

/// What tells clocks apart. Known clocks are the same in all domains of a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Known(u64),
    /// Registered in a domain; or with the number 0, the ticks there that belong to no clock.
    Domain(u32, u64),
}

struct Clock {
    number: usize,
    /// For people; no two clocks share it.
    name: String,
    known: Known,
    rank: Rank,
    registered: Option<Arc<TimeDomain>>,
    /// The known clock that it is, unless relations of its own say more.
    stands_for: Option<TimestampType>,
    way: Way,
    /// The last one that was asked for.
    route: Mutex<Option<Arc<Route>>>,
}

/// Of related clocks the least one is the time line: clocks that tell the date, with a known
/// resolution, before others with one, before the ticks of no known clock, before all others;
/// known ones before registered ones; then by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u8, u32, u64);

impl Rank {
    /// Of clocks that tell the date: predefined ones, and registered ones behind them.
    const DATE: u8 = 0;
    const NONE: u8 = 4;

    fn is_date(self) -> bool {
        self.0 <= Self::DATE + 1
    }

    fn is_none(self) -> bool {
        self.0 == Self::NONE
    }
}

impl Clocks {
    /// The number of a time domain.
    fn find(&self, domain: &Domain, time_domain: u64) -> usize {
        let key = Key::of(domain, time_domain);
        if let Some(&number) = self.read().numbers.get(&key) {
            return number;
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let number = state.clock(domain, time_domain);
        self.note_dates(&state, number);
        number
    }

    /// Returns true if times are dates: those of a clock that gives the date, and of clocks related to it.
    pub(crate) fn have_dates(&self) -> bool {
        self.have_dates.load(Ordering::Relaxed)
    }

    fn note_dates(&self, state: &State, clock: usize) {
        if state.clocks[clock].rank.is_date() {
            self.have_dates.store(true, Ordering::Relaxed);
        }
    }

    /// Changes when routes may have changed.
    #[inline]
    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The present route of a clock.
    fn route(&self, clock: usize) -> Arc<Route> {
        self.read().route(clock)
    }

    /// The nanosecond in which a tick begins, if 64 bits hold it.
    pub(crate) fn nanoseconds(&self, tick: Tick) -> Option<i64> {
        let state = self.read();
        let route = state.route(tick.clock);
        route.nanoseconds(tick.ticks, &state.relations)
    }

    /// Whether a newer route is the same for all ticks.
    fn is_still(&self, old: &Route, new: &Route) -> bool {
        old.is_still(new, &self.read().relations)
    }

    /// What a time of one route is on a newer one of the same clock.
    fn moved(&self, time: i64, old: &Route, new: &Route) -> Option<i64> {
        let state = self.read();
        if old.is_still(new, &state.relations) {
            return Some(time);
        }
        let ticks = old.ticks(time, &state.relations)?;
        new.nanoseconds(ticks, &state.relations)
    }

    /// Whether any time from the first to the last of `times` is another one by now.
    pub(crate) fn has_moved(&self, past: &Past, times: (i64, i64)) -> bool {
        let state = self.read();
        let relations = &state.relations;
        let new = state.route(past.number);
        if past.route.is_still(&new, relations) {
            return false;
        }
        let ticks = |time| past.route.ticks(time, relations);
        match ticks(times.0).zip(ticks(times.1)) {
            Some(ticks) => past.route.differs(&new, ticks, relations),
            None => true,
        }
    }

    /// Learns a relation. What contradicts something that is known is left out, and counted.
    pub(crate) fn relate(
        &self,
        domain: &Domain,
        relation: &TimeRelation<'_>,
        contradictions: &mut u64,
    ) -> Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let clocks = [relation.source(), relation.destination()];
        let clocks = clocks.map(|time_domain| state.clock(domain, time_domain));
        for clock in clocks {
            self.note_dates(&state, clock);
        }
        let before = state.version;
        let result = match relation.kind() {
            RelationKind::Points(points) => {
                let mut result = Ok(());
                for (source, destination) in points.iter() {
                    let added = state.relate(clocks, [source, destination], None);
                    *contradictions += u64::from(added.is_err());
                    result = result.and(added);
                }
                result
            }
            RelationKind::Linear {
                slope,
                source,
                destination,
            } => {
                let added = state.relate(clocks, [source, destination], Some(slope));
                *contradictions += u64::from(added.is_err());
                added
            }
        };
        if state.version != before {
            self.version.store(state.version, Ordering::Release);
        }
        result
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    fn of(domain: &Domain, time_domain: u64) -> Self {
        match TimestampType::from_raw(time_domain) {
            None | Some(TimestampType::None) => Self::Domain(domain.index(), time_domain),
            Some(_) => Self::Known(time_domain),
        }
    }
}

impl State {
    fn clock(&mut self, domain: &Domain, time_domain: u64) -> usize {
        let key = Key::of(domain, time_domain);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = self.clocks.len();
        self.clocks.push(Clock::new(number, domain, time_domain));
        self.numbers.insert(key, number);
        number
    }

    /// Adds an instant that two clocks share, and the slope there if that is given.
    fn relate(&mut self, clocks: [usize; 2], at: [i64; 2], slope: Option<f64>) -> Result<()> {
        if clocks[0] == clocks[1] {
            return match at[0] == at[1] && slope.is_none_or(|slope| slope == 1.0) {
                true => Ok(()),
                false => Err(Refusal::invalid(format!(
                    "{} is related to itself, at {} and {}: each tick of a clock is the same as itself",
                    self.clocks[clocks[0]].name, at[0], at[1]
                ))),
            };
        }
        let is_turned = clocks[0] > clocks[1];
        let turn = |mut pair: [i64; 2]| {
            if is_turned {
                pair.reverse();
            }
            pair
        };
        let pair = [clocks[0].min(clocks[1]), clocks[0].max(clocks[1])];
        let number = match self.between.get(&pair) {
            Some(&number) => number,
            None => {
                let known = pair.map(|clock| self.clocks[clock].known);
                self.relations.push(Relation::new(pair, known));
                let number = self.relations.len() - 1;
                self.between.insert(pair, number);
                self.join(number);
                number
            }
        };
        let ratio = slope.map(|slope| match is_turned {
            true => Ratio::of(slope).inverse(),
            false => Ratio::of(slope),
        });
        match self.relations[number].add(turn(at), ratio, self.version + 1) {
            Ok(is_new) => {
                self.version += u64::from(is_new);
                Ok(())
            }
            Err(contradiction) => {
                let [source, destination] = clocks.map(|clock| &*self.clocks[clock].name);
                let given = format!("{source} at {} is {destination} at {}", at[0], at[1]);
                Err(Refusal::invalid(match contradiction {
                    Contradiction::Point(known) => {
                        let known = turn(known);
                        format!(
                            "{given}: that contradicts an earlier sync point, which says {} is {}; of two \
                             instants the same one comes first on both clocks",
                            known[0], known[1]
                        )
                    }
                    Contradiction::Slope => format!(
                        "{given}, with another slope than was written before for this instant: write the \
                         right one only"
                    ),
                }))
            }
        }
    }

    /// The clock whose relations count for `clock`: itself, or if it has none the known clock that it is.
    fn related(&self, clock: usize) -> usize {
        let known = &self.clocks[clock];
        if known.is_related() {
            return clock;
        }
        let other = (known.stands_for).and_then(|of| self.numbers.get(&Key::Known(of.to_raw())));
        other.copied().unwrap_or(clock)
    }

    fn route(&self, clock: usize) -> Arc<Route> {
        let mut last = (self.clocks[clock].route.lock()).unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(route) if route.version == self.version => Arc::clone(route),
            _ => Arc::clone(last.insert(Arc::new(self.find_route(clock)))),
        }
    }

    fn find_route(&self, clock: usize) -> Route {
        let start = self.related(clock);
        let hops = self.hops(start);
        // A clock that stands for another one may know its own resolution.
        let root = match hops.is_empty() {
            true => clock,
            false => self.root(start),
        };
        Route::new(hops, self.clocks[root].known, self.version)
    }
}

impl Clock {
    fn new(number: usize, domain: &Domain, time_domain: u64) -> Self {
        let registered = domain.time_domain(time_domain);
        let of_type = TimestampType::from_raw(time_domain).unwrap_or(TimestampType::None);
        let (name, known) = match &registered {
            Some(registered) => (facts::name(domain, registered), Known::of(registered)),
            None if of_type == TimestampType::None => {
                (facts::default_name(domain), Known::of_type(of_type))
            }
            None => (known::name(of_type).to_owned(), Known::of_type(of_type)),
        };
        let class = match known.rate {
            Some(_) if known.is_date() => Rank::DATE,
            Some(_) => 2,
            None => 5,
        };
        let rank = match (time_domain, &registered) {
            (0, _) => Rank(Rank::NONE, domain.index(), 0),
            (_, None) => Rank(class, 0, time_domain),
            (_, Some(_)) => Rank(class + 1, domain.index(), time_domain),
        };
        let stands_for = registered.as_ref().and_then(|registered| {
            let of_type = registered.timestamp_type();
            let of_everybody = matches!(registered.scope(), ScopeRef::None | ScopeRef::Root);
            let rate = Known::of_type(of_type).rate;
            let ticks_alike = rate.is_none_or(|rate| known.rate == Some(rate));
            (of_everybody && ticks_alike && of_type != TimestampType::None).then_some(of_type)
        });
        Self {
            number,
            name,
            known,
            rank,
            registered,
            stands_for,
            way: Way::new(number),
            route: Mutex::default(),
        }
    }
}
