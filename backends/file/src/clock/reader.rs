//! How a stream reads its clocks.

use std::sync::Arc;

use nvtxw_backend::{Domain, Refusal, Result, Time};

use super::relation::Line;
use super::{Clocks, Route};

/// The clocks that a stream uses, each as it is known now. They have numbers of their own here, from 0.
pub(crate) struct ClockReader {
    clocks: Arc<Clocks>,
    /// The version that all routes are of, or still of.
    version: u64,
    /// Counts the times that a route changed.
    epoch: u32,
    /// The routes of earlier epochs that events in the window may still have times of.
    past: Vec<(u32, Vec<Arc<Route>>)>,
    read: Vec<Clock>,
    /// The one of them that was used last, by its time domain.
    last: Option<(u64, u8)>,
}

struct Clock {
    /// In the stream's domain; `None` if it came with an event of another one.
    time_domain: Option<u64>,
    /// Among the clocks of the session.
    number: usize,
    route: Arc<Route>,
    is_identity: bool,
    /// The straight part of its way that was used last.
    line: Option<Line>,
}

/// What a clock shows.
#[derive(Clone, Copy)]
pub(crate) struct Tick {
    /// Among the clocks of the session.
    pub(super) clock: usize,
    pub(super) ticks: i64,
}

/// A clock as it was known at some time.
#[derive(Clone)]
pub(crate) struct Past {
    /// Among the clocks of the session.
    pub(super) number: usize,
    pub(super) route: Arc<Route>,
}

impl ClockReader {
    pub(crate) fn new(clocks: Arc<Clocks>) -> Self {
        Self {
            version: clocks.version(),
            clocks,
            epoch: 0,
            past: Vec::new(),
            read: Vec::new(),
            last: None,
        }
    }

    /// The number of a time domain's clock.
    #[inline]
    pub(crate) fn number(&mut self, domain: &Domain, time_domain: u64) -> Result<u8> {
        match self.last {
            Some((last, number)) if last == time_domain => Ok(number),
            _ => self.find(domain, time_domain),
        }
    }

    #[cold]
    fn find(&mut self, domain: &Domain, time_domain: u64) -> Result<u8> {
        let known = |clock: &Clock| clock.time_domain == Some(time_domain);
        let number = match self.read.iter().position(known) {
            Some(index) => index as u8,
            None => {
                let number = self.number_in(domain, time_domain)?;
                self.read[usize::from(number)].time_domain = Some(time_domain);
                number
            }
        };
        self.last = Some((time_domain, number));
        Ok(number)
    }

    /// The number of the clock of a time domain in another domain than the stream's.
    pub(crate) fn number_in(&mut self, domain: &Domain, time_domain: u64) -> Result<u8> {
        let clock = self.clocks.find(domain, time_domain);
        let found = self.read.iter().position(|known| known.number == clock);
        let index = found.unwrap_or(self.read.len());
        let number = u8::try_from(index).map_err(|_| {
            Refusal::invalid(format!(
                "the stream has timestamps of {index} time domains already; open another stream for \
                 those of {time_domain}"
            ))
        })?;
        if found.is_none() {
            let route = self.clocks.route(clock);
            self.read.push(Clock::new(None, clock, route));
        }
        Ok(number)
    }

    /// Whether the ticks of a clock are nanoseconds as they are.
    #[inline]
    pub(crate) fn is_identity(&self, number: u8) -> bool {
        self.read[usize::from(number)].is_identity
    }

    /// The nanosecond in which a tick begins; later ticks never come out earlier.
    #[inline]
    pub(crate) fn nanoseconds(&mut self, number: u8, ticks: i64) -> Result<i64> {
        let clock = &mut self.read[usize::from(number)];
        if clock.is_identity {
            return Ok(ticks);
        }
        let time = match clock.line {
            Some(line) if line.holds(ticks) => line.floor(ticks),
            _ => clock.find(ticks, &self.clocks),
        };
        time.ok_or_else(|| clock.unfit(ticks, &self.clocks))
    }

    /// For other streams.
    pub(crate) fn tick(&self, number: u8, ticks: i64) -> Tick {
        let clock = self.read[usize::from(number)].number;
        Tick { clock, ticks }
    }

    /// The part of the clock's way where the last times were, if both numbers are of one clock.
    #[inline]
    pub(crate) fn line(&self, [clock, end]: [u8; 2]) -> Option<&Line> {
        let read = &self.read[usize::from(clock)];
        read.line.as_ref().filter(|_| clock == end)
    }

    /// A time in nanoseconds; `numbers` are the clocks of a range's start and end.
    pub(crate) fn time(&mut self, numbers: [u8; 2], time: Time) -> Result<Time> {
        match time {
            Time::Point(at) => Ok(Time::Point(self.nanoseconds(numbers[0], at)?)),
            Time::Range { start, end } => {
                let start = self.nanoseconds(numbers[0], start)?;
                let end = self.nanoseconds(numbers[1], end)?;
                if end < start {
                    return Err(Refusal::invalid(format!(
                        "ends before it starts: start {start} ns, end {end} ns"
                    )));
                }
                Ok(Time::Range { start, end })
            }
        }
    }

    /// Whether more is known of the clocks by now.
    #[inline]
    pub(crate) fn is_outdated(&self) -> bool {
        self.clocks.version() != self.version
    }

    /// Reads the clocks anew, each of whose times become others with an epoch. Returns those, with
    /// the routes that they had.
    pub(crate) fn read_anew(&mut self) -> Vec<(usize, Past)> {
        self.version = self.clocks.version();
        let mut changed = Vec::new();
        let routes: Vec<_> = (self.read.iter())
            .map(|clock| Arc::clone(&clock.route))
            .collect();
        for (index, clock) in self.read.iter_mut().enumerate() {
            let route = self.clocks.route(clock.number);
            if !self.clocks.is_still(&clock.route, &route) {
                changed.push((index, clock.past()));
                *clock = Clock::new(clock.time_domain, clock.number, route);
            }
        }
        if !changed.is_empty() {
            self.past.push((self.epoch, routes));
            self.epoch += 1;
        }
        changed
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// All clocks, with their routes.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, Past)> + '_ {
        self.read.iter().map(Clock::past).enumerate()
    }

    /// The clock, if there is only one.
    pub(crate) fn only(&self) -> Option<Past> {
        match &self.read[..] {
            [clock] => Some(clock.past()),
            _ => None,
        }
    }

    /// The clock with this number, as it is known now; `None` if there is none.
    pub(crate) fn present(&self, number: u8) -> Option<Past> {
        self.read.get(usize::from(number)).map(Clock::past)
    }

    /// Whether it matters which times are written by which clocks.
    pub(crate) fn must_be_precise(&self) -> bool {
        self.version > 0 || self.read.len() > 1
    }

    /// Whether there may be events in the window with times of an earlier epoch.
    pub(crate) fn has_past(&self) -> bool {
        !self.past.is_empty()
    }

    /// There are none any more.
    pub(crate) fn forget_past(&mut self) {
        self.past.clear();
    }

    /// What a time of an earlier epoch is now.
    pub(crate) fn moved(&self, epoch: u32, number: u8, time: i64) -> Option<i64> {
        let number = usize::from(number);
        let past = self.past.binary_search_by_key(&epoch, |(past, _)| *past);
        match past.ok().and_then(|at| self.past[at].1.get(number)) {
            Some(route) => self.clocks.moved(time, route, &self.read[number].route),
            None => Some(time),
        }
    }
}

impl ClockReader {
    /// What a time of the only clock is now that was known before all that [may be
    /// forgotten](Self::forget_past); as it is, if there are several.
    pub(crate) fn moved_from_first(&self, time: i64) -> Option<i64> {
        match (&self.past[..], &self.read[..]) {
            ([(epoch, _), ..], [_]) => self.moved(*epoch, 0, time),
            _ => Some(time),
        }
    }
}

impl Clock {
    fn new(time_domain: Option<u64>, number: usize, route: Arc<Route>) -> Self {
        Self {
            time_domain,
            number,
            is_identity: route.is_identity(),
            route,
            line: None,
        }
    }

    fn past(&self) -> Past {
        Past {
            number: self.number,
            route: Arc::clone(&self.route),
        }
    }

    #[cold]
    fn find(&mut self, ticks: i64, clocks: &Clocks) -> Option<i64> {
        let state = clocks.read();
        self.line = self.route.line(ticks, &state.relations);
        self.route.nanoseconds(ticks, &state.relations)
    }

    #[cold]
    fn unfit(&self, ticks: i64, clocks: &Clocks) -> Refusal {
        let state = clocks.read();
        let name = &state.clocks[self.number].name;
        Refusal::invalid(format!(
            "timestamp {ticks} of {name} is a time in nanoseconds which 64 bits don't hold: check the \
             time domain's resolution and its sync points"
        ))
    }
}
