//! Chains: ranges that follow one another on one lane, as those of most streams do. What holds for the
//! first and the last one holds for all of them, and little has to be kept of each.

use std::ops::Range;

use super::part::{Item, Key, Kind, Part, Run};
use super::{Base, Emit, On, Timeline};
use crate::lane::Candidate;

/// A range of a chain, by what differs from the one before.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// From start to start.
    gap: u32,
    /// From start to end.
    duration: u32,
    /// How many bytes it has.
    len: u32,
}

impl Link {
    /// `None` if it is more than fits, or doesn't follow a range of these `times`.
    #[inline(always)]
    fn behind(times: (i64, i64), start: i64, end: i64, len: usize) -> Option<Self> {
        let gap = start.wrapping_sub(times.0) as u64;
        let duration = end.wrapping_sub(start) as u64;
        // Of what starts later, and doesn't end before, the differences are these.
        let fits = (gap | duration) >> 32 == 0;
        (start > times.0 && start >= times.1 && fits).then_some(Self {
            gap: gap as u32,
            duration: duration as u32,
            len: len as u32,
        })
    }

    /// The range, where this is the one before.
    fn apply(self, before: &Item) -> Item {
        let start = before.start + i64::from(self.gap);
        Item {
            start,
            end: start + i64::from(self.duration),
            order: before.order + 1,
            at: before.at + before.len,
            len: self.len,
            ..*before
        }
    }
}

/// What may be added to the chain at the end of a window, for as long as nothing else comes.
pub(crate) struct Chain {
    /// How many links there may be before the window must be looked after.
    links: usize,
    /// The same for bytes.
    bytes: usize,
    /// How many bytes there are.
    len: usize,
    /// What its ranges are ready for.
    base: Base,
}

impl Chain {
    /// Ends it after so many bytes, if not before.
    pub(crate) fn shorten(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(self.len.saturating_add(bytes));
    }

    /// Whether its ranges are ready for this base.
    #[inline]
    pub(crate) fn is_ready_for(&self, base: Base) -> bool {
        self.base == base
    }
}

impl Item {
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

/// A part that is nothing but a chain has one item, and links behind that.
impl Part {
    /// The first one of the chain that this is, or may become.
    #[inline]
    pub(super) fn leader(&self) -> Option<&Item> {
        match &self.items[..] {
            [item] if matches!(item.kind, Kind::PushPop | Kind::StartEnd) => {
                (item.ready? != Base::Stale).then_some(item)
            }
            _ => None,
        }
    }

    /// The last one of the chain, but for where its bytes are.
    #[inline]
    fn last_of(&self, leader: &Item) -> Item {
        let (start, end) = match self.links.len() {
            0 => (leader.start, leader.end),
            _ => self.latest,
        };
        Item {
            start,
            end,
            order: leader.order + self.links.len() as u64,
            ..*leader
        }
    }

    /// Where the bytes of the chain are.
    pub(super) fn range_of(&self, leader: &Item) -> Range<usize> {
        let links: u32 = self.links.iter().map(|link| link.len).sum();
        leader.at as usize..(leader.at + leader.len + links) as usize
    }

    /// Adds an item behind all others, where its bytes are.
    #[inline(always)]
    pub(super) fn push(&mut self, item: Item) {
        match self.leader().and_then(|leader| self.link(leader, &item)) {
            Some(link) => {
                self.links.push(link);
                self.latest = (item.start, item.end);
            }
            None => self.all().push(item),
        }
    }

    /// The item as the next one of the chain.
    #[inline]
    fn link(&self, leader: &Item, item: &Item) -> Option<Link> {
        let is_alike = |item: &Item| (item.track, item.kind, item.clocks, item.ready);
        let last = self.last_of(leader);
        (item.order == last.order + 1 && is_alike(item) == is_alike(leader)).then(|| {
            let times = (last.start, last.end);
            Link::behind(times, item.start, item.end, item.len as usize)
        })?
    }

    /// All items, none of them as a link.
    pub(super) fn all(&mut self) -> &mut Vec<Item> {
        if let Some(leader) = self.items.first() {
            let mut last = *leader;
            let items = self.links.drain(..).map(|link| {
                last = link.apply(&last);
                last
            });
            self.items.extend(items);
        }
        &mut self.items
    }

    /// Moves the chain that `more` is here, if it goes on the one that this is.
    pub(super) fn take_chain(&mut self, more: &mut Self) -> bool {
        let leaders = self.leader().zip(more.leader());
        let Some((link, last)) = leaders.and_then(|(leader, item)| {
            let link = self.link(leader, item)?;
            Some((link, more.last_of(item)))
        }) else {
            return false;
        };
        self.links.push(link);
        self.links.append(&mut more.links);
        self.latest = (last.start, last.end);
        self.bytes.raw(more.bytes.as_bytes());
        more.clear();
        true
    }

    /// The last item, but for where its bytes are.
    #[inline]
    pub(super) fn last(&self) -> Option<Item> {
        match self.links.len() {
            0 => self.items.last().copied(),
            _ => self.items.first().map(|leader| self.last_of(leader)),
        }
    }
}

impl Timeline {
    /// The chain that the range ends that came last, of those that come next to the same place; they
    /// may [follow](Self::follow).
    #[inline]
    pub(crate) fn chain(&mut self) -> Option<Chain> {
        let Self {
            old, new, allowed, ..
        } = self;
        let leader = new.leader().filter(|_| !self.has_claims)?;
        let (base, last) = (leader.ready?, new.last_of(leader));
        new.latest = (last.start, last.end);
        // What is late is counted.
        let is_late = self.frontier.is_some_and(|frontier| last.start < frontier);
        if is_late || last.order != self.orders {
            return None;
        }
        // Who fills the first half of the window, or all of it, does not follow.
        let (items, bytes) = match old.is_empty() {
            true => (allowed.items / 2, allowed.bytes / 2),
            // What is there from before it gave memory to others may be more than it may hold now.
            false => (
                allowed.items.saturating_sub(old.count()),
                allowed.bytes.saturating_sub(old.bytes.len()),
            ),
        };
        Some(Chain {
            links: items.saturating_sub(2),
            bytes,
            len: new.bytes.len(),
            base,
        })
    }

    /// Takes a range whose form was appended to the [buffer](Self::buffer); `false`, and nothing is
    /// done, if it doesn't go on the chain.
    #[inline(always)]
    pub(crate) fn follow(&mut self, chain: &Chain, start: i64, end: i64) -> bool {
        let Part {
            items,
            bytes,
            links,
            latest,
            ..
        } = &mut self.new;
        debug_assert_eq!(items.len(), 1, "a chain has a first one");
        let (len, is_full) = (bytes.len(), links.len() >= chain.links);
        match Link::behind(*latest, start, end, len - self.filled) {
            Some(link) if !is_full && len < chain.bytes => {
                links.push(link);
                *latest = (start, end);
                self.filled = len;
                self.orders += 1;
                true
            }
            _ => false,
        }
    }

    /// Puts the chain that `part` is where it belongs, as a run, if nothing that is due belongs
    /// inside of it; `false` if it is none, or has to be taken apart.
    pub(super) fn write_chain(
        &mut self,
        part: &Part,
        due: Option<Key>,
        run: &mut Run,
        out: &impl Emit,
    ) -> bool {
        let Some(first) = part.leader() else {
            return false;
        };
        let last = part.last_of(first);
        let lanes = &mut self.places[first.track as usize].lanes;
        if !first.ready.is_some_and(|base| out.takes(base))
            || due.is_some_and(|due| due < last.key())
            || !lanes.is_free(first.start)
        {
            return false;
        }
        // Between them, each one that came next would stand where the one before does.
        let ends = [*first, last];
        for item in &ends[..part.count().min(2)] {
            let lane = lanes.place(item.candidate()).lane;
            debug_assert_eq!(lane, 0);
        }
        *run = Run::of(On::Place(first.track), part.count(), part.range_of(first));
        true
    }
}
