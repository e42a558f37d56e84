//! A window that holds no more than the claimed order of its stream asks for.

use std::mem;

use nvtxw_backend::BatchOrdering;

use super::order::{Break, By, Check, Claim};
use super::part::{Item, Kind};
use super::{Emit, Limits, On, Timeline};

/// What a window holds whose events come in order: more would only take memory.
const USUAL: Limits = Limits {
    items: 1 << 11,
    bytes: 1 << 17,
};

/// What is said of the order of events, and what is found.
#[derive(Default)]
pub(super) struct Claims {
    said: Option<Claim>,
    stream: Watch,
    /// For the events of one batch.
    batch: Watch,
    /// What the window grows to without need.
    pub(super) usual: Limits,
    /// By place: what starts before is final in a window that is to be written, as nothing that comes
    /// next belongs before it.
    bounds: Option<Vec<i64>>,
}

/// A claim that is watched.
#[derive(Default)]
struct Watch {
    check: Option<Check>,
    /// Whose times it is about.
    clock: Option<u8>,
    is_broken: bool,
    /// The first break, until somebody is told.
    news: Option<Break>,
}

impl Watch {
    /// Returns whether the event breaks the claim.
    #[inline]
    fn sees(&mut self, clocks: [u8; 2], on: On, start: i64, end: i64) -> bool {
        let Some(check) = &mut self.check else {
            return false;
        };
        let [clock, end_clock] = clocks;
        if clock != end_clock || *self.clock.get_or_insert(clock) != clock {
            // What comes first on different clocks may not be known yet.
            self.check = None;
            return false;
        }
        match check.take(on, start, end) {
            Ok(()) => false,
            Err(found) => {
                if !mem::replace(&mut self.is_broken, true) {
                    self.news = Some(found);
                }
                true
            }
        }
    }
}

impl Timeline {
    /// What is said of the stream.
    pub(crate) fn claim(&mut self, claim: Claim) {
        self.has_claims = true;
        self.claims.said = Some(claim);
        self.claims.usual = USUAL;
        self.claims.stream.check = Some(Check::new(claim));
    }

    /// What follows is a batch of which this is said, up to the [end](Self::end_batch).
    pub(crate) fn begin_batch(&mut self, ordering: BatchOrdering) {
        if let Some(claim) = Claim::of_batch(ordering, self.claims.said) {
            self.has_claims = true;
            self.claims.batch.check = Some(Check::new(claim));
            self.claims.batch.clock = None;
        }
    }

    pub(crate) fn end_batch(&mut self) {
        self.claims.batch.check = None;
        self.has_claims = self.claims.stream.check.is_some();
    }

    /// An event of the stream itself comes; its clocks are set.
    #[inline(always)]
    pub(crate) fn arrives(&mut self, on: On, start: i64, end: i64) {
        if self.has_claims {
            self.watch(on, start, end);
        }
    }

    fn watch(&mut self, on: On, start: i64, end: i64) {
        let (claims, clocks) = (&mut self.claims, self.clocks);
        if let On::Place(place) = on {
            self.places[place as usize].has_others |= start != end;
        }
        let is_broken = claims.stream.sees(clocks, on, start, end);
        self.tally.broken_ordering += u64::from(is_broken);
        let is_broken = claims.batch.sees(clocks, on, start, end);
        self.tally.broken_batch_ordering += u64::from(is_broken);
    }

    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.claims.stream.news.is_some() || self.claims.batch.news.is_some()
    }

    /// The first breaks of what was said of the stream and of a batch, each only once.
    pub(crate) fn take_breaks(&mut self) -> [Option<Break>; 2] {
        let Claims { stream, batch, .. } = &mut self.claims;
        [stream.news.take(), batch.news.take()]
    }

    /// Times are others now than those that were watched.
    pub(super) fn reset_claims(&mut self) {
        let Claims { stream, batch, .. } = &mut self.claims;
        for check in [stream, batch].into_iter().filter_map(|w| w.check.as_mut()) {
            check.reset();
        }
    }

    /// What the window needs to grow to, in the usual case.
    pub(super) fn usual_limits(&self) -> Limits {
        match self.usable_claim() {
            Some(_) => self.claims.usual.min(self.limits),
            None => self.limits,
        }
    }

    /// The claim about the stream, if something follows from it for what the window has to hold.
    #[inline]
    fn usable_claim(&self) -> Option<&Check> {
        let Watch {
            check, is_broken, ..
        } = &self.claims.stream;
        let check = check.as_ref().filter(|_| !is_broken)?;
        // Of ranges in the order of their ends, the outer ones come last.
        (check.claim.by != By::End).then_some(check)
    }

    /// Whether a full window should be written. If too little of it is final by the claim, it grows
    /// instead, as far as it may.
    pub(crate) fn must_write(&mut self) -> bool {
        if !self.has_claims {
            return true;
        }
        let Some(bounds) = self.bounds() else {
            return true;
        };
        for part in [&mut self.old, &mut self.new] {
            part.all();
        }
        let items = self.old.items.iter().chain(&self.new.items);
        let count = items.clone().count();
        let is_enough = 2 * items.filter(|item| self.is_final(item, &bounds)).count() >= count;
        if is_enough {
            self.claims.bounds = Some(bounds);
        }
        is_enough || !self.grow(self.limits)
    }

    fn bounds(&self) -> Option<Vec<i64>> {
        let check = self.usable_claim()?;
        let places = 0..self.places.len() as u32;
        let mut bounds: Vec<_> = places.map(|place| check.bound(On::Place(place))).collect();
        // A range that is open becomes one that started back then. Pushes may begin in the file before
        // their ends are known, if there is nothing but pushes.
        for (place, half) in self.halves() {
            if half.is_waiting() && self.places[place as usize].has_others {
                let bound = &mut bounds[place as usize];
                *bound = half.start.min(*bound);
            }
        }
        Some(bounds)
    }

    fn is_final(&self, item: &Item, bounds: &[i64]) -> bool {
        item.start
            < match (item.kind, &self.claims.stream.check) {
                (Kind::Value, Some(check)) => check.bound(On::Counter(item.track)),
                _ => bounds[item.track as usize],
            }
    }

    /// Writes what is final, if it is known what is.
    pub(super) fn flush_final(&mut self, out: &mut impl Emit) -> bool {
        let Some(bounds) = self.claims.bounds.take() else {
            return false;
        };
        let mut part = mem::take(&mut self.old);
        part.append(&mut self.new);
        if !self.sorted {
            part.sort();
            self.sorted = true;
        }
        let mut rest = mem::take(&mut self.new);
        rest.take_rest(&mut part, |item| self.is_final(item, &bounds));
        self.new = rest;
        if let Some(last) = part.last() {
            self.frontier = self.frontier.max(Some(last.start));
        }
        for (place, bound) in self.places.iter_mut().zip(&bounds) {
            place.frontier = place.frontier.max(*bound);
        }
        self.write(
            &mut part,
            |place, (start, ..)| start < bounds[place as usize],
            out,
        );
        part.clear();
        self.old = part;
        self.turn();
        true
    }

    /// What starts before this is too late from now on.
    pub(super) fn advance(&mut self, frontier: i64) {
        self.frontier = self.frontier.max(Some(frontier));
        if self.claims.said.is_some() {
            for place in &mut self.places {
                place.frontier = place.frontier.max(frontier);
            }
        }
    }

    /// A whole range starts before the latest one that was written: counts it, if that was in its order.
    #[cold]
    pub(super) fn note_late(&mut self, place: u32, start: i64) {
        let said = self.claims.said.filter(|said| said.is_per_scope);
        let is_late = said.is_none() || start < self.places[place as usize].frontier;
        self.tally.late += u64::from(is_late);
    }
}
