//! Chains: ranges that follow one another on one lane, as those of most streams do. What holds for the
//! first and the last one holds for all of them.

use std::mem;

use super::part::{Item, Key, Kind, Part, Run};
use super::{Base, Emit, On, Timeline};
use crate::lane::Candidate;

/// The end of a chain at the end of a window, for as long as nothing else comes.
pub(crate) struct Chain {
    last: Item,
    /// How many items there is room for before the window must be looked after.
    items: usize,
    /// The same for bytes, with those that are there.
    bytes: usize,
}

impl Chain {
    /// Whether its ranges are ready for this base.
    #[inline]
    pub(crate) fn is_ready_for(&self, base: Base) -> bool {
        self.last.ready == Some(base)
    }
}

impl Item {
    /// Whether it may be the first one of a chain.
    #[inline]
    fn leads(&self) -> bool {
        matches!(self.kind, Kind::PushPop | Kind::StartEnd)
            && self.ready.is_some_and(|base| base != Base::Stale)
    }

    /// Whether it goes on a chain that ends with `last`.
    #[inline]
    fn follows(&self, last: &Self) -> bool {
        self.start > last.start
            && self.start >= last.end
            && (self.track, self.kind, self.ready) == (last.track, last.kind, last.ready)
    }

    /// A whole range that looks for its lane.
    #[inline]
    pub(super) fn candidate(&self) -> Candidate {
        Candidate {
            start: self.start,
            end: Some(self.end),
            nests: self.kind == Kind::PushPop,
            order: self.order,
        }
    }
}

impl Part {
    /// Adds an item behind all others, where its bytes are.
    #[inline(always)]
    pub(super) fn push(&mut self, item: Item) {
        if self.chain == self.items.len() {
            let goes_on = match self.items.last() {
                None => item.leads(),
                Some(last) => item.follows(last),
            };
            self.chain += usize::from(goes_on);
        }
        self.items.push(item);
    }

    /// Whether its chain, if it has one, goes on that of the part `before`.
    pub(super) fn goes_on(&self, before: &Self) -> bool {
        let follows = |first: &Item| before.items.last().is_none_or(|last| first.follows(last));
        before.chain == before.items.len() && self.items.first().is_some_and(follows)
    }
}

impl Timeline {
    /// The chain that the range ends that came last, of those that come next to the same place; they
    /// may [follow](Self::follow).
    #[inline]
    pub(crate) fn chain(&self) -> Option<Chain> {
        let Self {
            old, new, allowed, ..
        } = self;
        let is_chain = new.chain == new.items.len() && !self.has_claims;
        let last = *new.items.last().filter(|_| is_chain)?;
        // What is late is counted.
        let is_late = self.frontier.is_some_and(|frontier| last.start < frontier);
        // Who fills the first half of the window, or all of it, does not follow.
        let (items, bytes) = match old.items.is_empty() {
            true => (allowed.items / 2, allowed.bytes / 2),
            false => (
                allowed.items - old.items.len(),
                allowed.bytes - old.bytes.len(),
            ),
        };
        (!is_late).then(|| Chain {
            last,
            items: items.saturating_sub(new.items.len() + 1),
            bytes,
        })
    }

    /// Takes a range whose form was appended to the [buffer](Self::buffer); `false`, and nothing is
    /// done, if it doesn't go on the chain.
    #[inline(always)]
    pub(crate) fn follow(&mut self, chain: &mut Chain, start: i64, end: i64) -> bool {
        let (last, len) = (&mut chain.last, self.new.bytes.len());
        debug_assert!(
            self.new
                .items
                .last()
                .is_some_and(|item| item.order == last.order)
        );
        if start <= last.start || start < last.end || chain.items == 0 || len >= chain.bytes {
            return false;
        }
        chain.items -= 1;
        self.orders += 1;
        let at = mem::replace(&mut self.filled, len);
        let item = Item {
            start,
            end,
            order: self.orders,
            at: at as u32,
            len: (len - at) as u32,
            ..*last
        };
        // What was written just now is not read as a whole, which would wait for it.
        (last.start, last.end, last.order) = (start, end, item.order);
        self.new.items.push(item);
        self.new.chain += 1;
        true
    }

    /// Puts the chain that `part` begins with where it belongs, as a run, if nothing that is due belongs
    /// inside of it. Returns how many items are done with.
    pub(super) fn write_chain(
        &mut self,
        part: &Part,
        due: Option<Key>,
        run: &mut Run,
        out: &impl Emit,
    ) -> usize {
        let chain = &part.items[..part.chain];
        let [first, .., last] = chain else {
            return 0;
        };
        let lanes = &mut self.places[first.track as usize].lanes;
        if !first.ready.is_some_and(|base| out.takes(base))
            || due.is_some_and(|due| due < last.key())
            || !lanes.is_free(first.start)
        {
            return 0;
        }
        // Between them, each one that came next would stand where the one before does.
        let spots = [first, last].map(|item| lanes.place(item.candidate()).lane);
        debug_assert_eq!(spots, [0; 2]);
        *run = Run::of(On::Place(first.track), first, last, chain.len());
        chain.len()
    }
}
