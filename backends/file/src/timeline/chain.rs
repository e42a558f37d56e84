//! Chains: ranges that follow one another on one lane, as those of most streams do. What holds for the
//! first and the last one holds for all of them, and little has to be kept of each.
//!
//! The ranges of a chain are of one place, kind and pair of clocks, came one right after the other, and each starts behind
//! the start and not before the end of the one in front of it, by less than 2^32 ns. It is all that its part of the window
//! has: with anything else its links become items ([`Part::all`]), which is the long way.

use std::hint::cold_path;
use std::ops::Range;

use super::part::{Form, Item, Key, Kind, Part, Run};
use super::{Base, Emit, On, Timeline, WholeRange};
use crate::lane::Candidate;

/// A range of a chain, by what differs from the one before.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// From start to start.
    gap: u32,
    /// From start to end.
    duration: u32,
    /// How many bytes it has, and whether these are its form [behind](Emit::follow) the one before.
    len: u32,
}

/// The bit of a link's length that tells its form.
const NEXT: u32 = 1 << 31;

impl Link {
    fn new(step: Step, len: usize, form: Form) -> Self {
        let bit = if form == Form::Next { NEXT } else { 0 };
        Self {
            gap: step.gap,
            duration: step.duration,
            len: len as u32 | bit,
        }
    }

    fn len(self) -> u32 {
        self.len & !NEXT
    }

    fn is_next(self) -> bool {
        self.len & NEXT != 0
    }

    /// The range behind an item, in a chain whose others are ready for this base.
    fn apply(self, before: &Item, base: Option<Base>) -> Item {
        let start = before.start + i64::from(self.gap);
        Item {
            start,
            end: start + i64::from(self.duration),
            order: before.order + 1,
            at: before.at + before.len,
            len: self.len(),
            form: base
                .filter(|_| !self.is_next())
                .map_or(Form::Next, Form::Ready),
            ..*before
        }
    }
}

/// The times of the range that another one may follow.
#[derive(Clone, Copy, Default)]
pub(crate) struct Latest {
    start: i64,
    end: i64,
}

/// How a range differs from the one that it follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// From start to start.
    gap: u32,
    /// From the end of the one in front of it to its start.
    pub(crate) pause: u64,
    pub(crate) duration: u32,
}

impl Latest {
    /// `None` if the range starts together with this one, or before its end, or differs by too much.
    #[inline(always)]
    pub(crate) fn step(self, start: i64, end: i64) -> Option<Step> {
        let gap = start.wrapping_sub(self.start) as u64;
        let duration = end.wrapping_sub(start) as u64;
        // Of what starts later, and doesn't end before, the differences are these.
        let fits = (gap | duration) >> 32 == 0;
        (start > self.start && start >= self.end && fits).then_some(Step {
            gap: gap as u32,
            pause: start.wrapping_sub(self.end) as u64,
            duration: duration as u32,
        })
    }
}

/// What may be added to the chain at the end of a window, for as long as nothing else comes.
pub(crate) struct Chain {
    /// With so many links the window must be looked after.
    links: usize,
    /// The same for bytes.
    bytes: usize,
    /// How many bytes there are.
    len: usize,
    /// The range that it ends with, but for where its bytes are and what form they have.
    last: Item,
    /// What those are ready for that are not by what is in front of them, if there are any.
    base: Option<Base>,
}

impl Chain {
    /// Ends it after so many bytes, if not before.
    pub(crate) fn shorten(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(self.len.saturating_add(bytes));
    }

    /// Whether ranges that are ready for this base may go on it.
    #[inline]
    pub(crate) fn is_ready_for(&self, base: Base) -> bool {
        self.base.is_none_or(|known| known == base)
    }
}

/// What became of a range that was to follow another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Followed {
    /// It does.
    Yes,
    /// It does, and it is the last one that may.
    Last,
    /// It doesn't go on the chain: nothing is done.
    No,
}

impl Item {
    /// What it is ready for, if its bytes are its form in the file.
    #[inline]
    pub(super) fn base(&self) -> Option<Base> {
        match self.form {
            Form::Ready(base) => Some(base),
            _ => None,
        }
    }

    #[inline]
    fn times(&self) -> Latest {
        Latest {
            start: self.start,
            end: self.end,
        }
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

/// Ranges that follow one another.
struct Group {
    first: Item,
    last: Item,
    count: usize,
}

impl Group {
    fn may_follow(&self, out: &impl Emit) -> bool {
        out.leads(self.first.start) && out.holds(self.first.start) && out.holds(self.last.end)
    }
}

/// With fewer ranges it isn't worth while to write them by how they differ.
const LEAST_GROUP: usize = 16;

/// How many items at the beginning follow one another so that they are written by how they differ; 1 if they
/// aren't.
pub(super) fn group(items: &[Item]) -> usize {
    let is_next = |pair: &&[Item]| {
        let [one, next] = pair else { return false };
        next.form == Form::Next && next.order == one.order + 1 && next.at == one.at + one.len
    };
    1 + items.windows(2).take_while(is_next).count()
}

/// Writes a range that others may follow.
fn lead<E: Emit>(item: &Item, part: &Part, out: &mut E) {
    let fields = E::fields_of(part.bytes_of(item));
    let nests = item.kind == Kind::PushPop;
    out.lead(item.track, item.start, item.end, nests, fields);
}

/// A part that is nothing but a chain has one item, and links behind that.
impl Part {
    /// The first one of the chain that this is, or may become.
    #[inline]
    pub(super) fn leader(&self) -> Option<&Item> {
        match &self.items[..] {
            [item] if matches!(item.kind, Kind::PushPop | Kind::StartEnd) => {
                matches!(item.form, Form::Ready(_) | Form::Next).then_some(item)
            }
            _ => None,
        }
    }

    /// What those of the chain are ready for that are not by what is in front of them, if there are any.
    fn base(&self, leader: &Item) -> Option<Base> {
        leader.base().or(self.base)
    }

    /// The last one of the chain, but for where its bytes are and what form they have.
    #[inline]
    fn last_of(&self, leader: &Item) -> Item {
        let Latest { start, end } = match self.links.len() {
            0 => leader.times(),
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
        let links: u32 = self.links.iter().map(|link| link.len()).sum();
        leader.at as usize..(leader.at + leader.len + links) as usize
    }

    /// Adds an item behind all others, where its bytes are.
    #[inline(always)]
    pub(super) fn push(&mut self, item: Item) {
        match self.leader().and_then(|leader| self.link(leader, &item)) {
            Some(link) => {
                self.links.push(link);
                self.nexts += usize::from(link.is_next());
                self.base = self.base.or(item.base());
                self.latest = item.times();
            }
            None => self.all().push(item),
        }
    }

    /// The item as the next one of the chain.
    #[inline]
    fn link(&self, leader: &Item, item: &Item) -> Option<Link> {
        let is_alike = |item: &Item| (item.track, item.kind, item.clocks);
        let last = self.last_of(leader);
        // A form behind another range is right whatever the form of that.
        let may_be = match item.form {
            Form::Next => true,
            Form::Ready(base) => self.base(leader).is_none_or(|known| known == base),
            Form::Fields | Form::Stale => false,
        };
        if !may_be || item.order != last.order + 1 || is_alike(item) != is_alike(leader) {
            return None;
        }
        let step = last.times().step(item.start, item.end)?;
        Some(Link::new(step, item.len as usize, item.form))
    }

    /// All items, none of them as a link.
    #[inline]
    pub(super) fn all(&mut self) -> &mut Vec<Item> {
        if !self.links.is_empty() {
            self.unlink();
        }
        &mut self.items
    }

    #[inline(never)]
    fn unlink(&mut self) {
        if let Some(&leader) = self.items.first() {
            let base = self.base(&leader);
            let mut last = leader;
            let items = self.links.drain(..).map(|link| {
                last = link.apply(&last, base);
                last
            });
            self.items.extend(items);
            self.nexts = 0;
            self.base = None;
        }
    }

    /// Moves the chain that `more` is here, if it goes on the one that this is.
    pub(super) fn take_chain(&mut self, more: &mut Self) -> bool {
        let leaders = self.leader().zip(more.leader());
        let Some((link, base, last)) = leaders.and_then(|(leader, item)| {
            let link = self.link(leader, item)?;
            let (base, other) = (self.base(leader), more.base(item));
            let are_alike = base.zip(other).is_none_or(|(base, other)| base == other);
            are_alike.then(|| (link, base.or(other), more.last_of(item)))
        }) else {
            return false;
        };
        self.base = base;
        self.links.push(link);
        self.links.append(&mut more.links);
        self.nexts += more.nexts + usize::from(link.is_next());
        self.latest = last.times();
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
        let part = if new.is_empty() { &*old } else { &*new };
        let leader = part.leader().filter(|_| !self.has_claims)?;
        let (last, base) = (part.last_of(leader), part.base(leader));
        new.latest = last.times();
        // What is late is counted.
        let is_late = self.frontier.is_some_and(|frontier| last.start < frontier);
        if is_late || last.order != self.orders {
            return None;
        }
        // Who fills the first half of the window, or all of it, is the last one.
        let (items, bytes) = match old.is_empty() {
            true => (allowed.items / 2, allowed.bytes / 2),
            // What is there from before it gave memory to others may be more than it may hold now.
            false => (
                allowed.items.saturating_sub(old.count()),
                allowed.bytes.saturating_sub(old.bytes.len()),
            ),
        };
        let len = new.bytes.len();
        (new.count() < items && len < bytes).then(|| Chain {
            links: items - 1,
            bytes,
            len,
            last,
            base,
        })
    }

    /// The same for ranges to this place that are ready for this base, if the chain is one of these.
    pub(crate) fn chain_to(&mut self, place: u32, nests: bool, base: Base) -> Option<Chain> {
        let kind = if nests { Kind::PushPop } else { Kind::StartEnd };
        let clocks = self.clocks;
        self.chain().filter(|chain| {
            let Item { track, .. } = chain.last;
            track == place
                && chain.last.kind == kind
                && chain.last.clocks == clocks
                && chain.is_ready_for(base)
        })
    }

    /// The range that ends the chain.
    #[inline(always)]
    pub(crate) fn latest(&self) -> Latest {
        self.new.latest
    }

    /// Takes a range whose form was appended to the [buffer](Self::buffer), perhaps that
    /// [behind](Emit::follow) the latest one.
    #[inline(always)]
    pub(crate) fn follow(&mut self, chain: &Chain, written: WholeRange) -> Followed {
        let WholeRange {
            start,
            end,
            step,
            is_next,
        } = written;
        let Part {
            items,
            bytes,
            links,
            nexts,
            latest,
            base,
            ..
        } = &mut self.new;
        debug_assert_eq!(step, latest.step(start, end));
        let form = match is_next {
            true => Some(Form::Next),
            false => chain.base.map(Form::Ready),
        };
        let Some((step, form)) = step.zip(form) else {
            return Followed::No;
        };
        let len = bytes.len();
        self.orders += 1;
        match items.is_empty() {
            false => {
                links.push(Link::new(step, len - self.filled, form));
                match is_next {
                    true => *nexts += 1,
                    false => *base = chain.base,
                }
            }
            true => {
                // The chain goes on in the next part.
                cold_path();
                items.push(Item {
                    start,
                    end,
                    order: self.orders,
                    at: 0,
                    len: len as u32,
                    form,
                    ..chain.last
                });
            }
        }
        *latest = Latest { start, end };
        self.filled = len;
        if links.len() < chain.links && len < chain.bytes {
            return Followed::Yes;
        }
        self.turn_half();
        Followed::Last
    }

    /// Writes the chain that `part` is where it belongs, or makes a run of it, if nothing that is due
    /// belongs inside of it; `false` if it is none, or has to be taken apart.
    pub(super) fn write_chain<E: Emit>(
        &mut self,
        part: &mut Part,
        due: Option<Key>,
        run: &mut Run,
        out: &mut E,
    ) -> bool {
        let Some(first) = part.leader().copied() else {
            return false;
        };
        let last = part.last_of(&first);
        let group = Group {
            first,
            last,
            count: part.count(),
        };
        if part.nexts == 0 && first.form != Form::Next {
            if !first.base().is_some_and(|base| out.takes(base)) || !self.place_group(&group, due) {
                return false;
            }
            *run = Run::of(On::Place(first.track), part.count(), part.range_of(&first));
            return true;
        }
        if group.count < LEAST_GROUP || !group.may_follow(out) || !self.place_group(&group, due) {
            return false;
        }
        // Each that is not behind another one leads those that are.
        let base = part.base(&first);
        let (mut lead, mut rest) = (first, &part.links[..]);
        loop {
            let nexts = rest.iter().take_while(|link| link.is_next()).count();
            let (behind, others) = rest.split_at(nexts);
            rest = others;
            self::lead(&lead, part, out);
            let from = lead.at + lead.len;
            let len: u32 = behind.iter().map(|link| link.len()).sum();
            let range = from as usize..(from + len) as usize;
            let (place, events) = (first.track, nexts as u64);
            let Some((next, others)) = rest.split_first() else {
                out.follow_to_keep(place, events, &mut part.bytes, range, last.end);
                return true;
            };
            let end = (behind.iter()).fold(lead, |item, link| link.apply(&item, base));
            out.follow(place, events, &part.bytes.as_bytes()[range], end.end);
            lead = next.apply(&end, base);
            rest = others;
        }
    }

    /// Writes the items, which are the bytes' own, as a group, if nothing is in its way; `false` if it isn't written.
    pub(super) fn write_group<E: Emit>(
        &mut self,
        items: &[Item],
        part: &Part,
        due: Option<Key>,
        out: &mut E,
    ) -> bool {
        let [first, .., last] = items else {
            return false;
        };
        if items.len() < LEAST_GROUP {
            return false;
        }
        let group = Group {
            first: *first,
            last: *last,
            count: items.len(),
        };
        if !group.may_follow(out) || !self.place_group(&group, due) {
            return false;
        }
        lead(first, part, out);
        let range = (first.at + first.len) as usize..(last.at + last.len) as usize;
        let bytes = &part.bytes.as_bytes()[range];
        out.follow(first.track, items.len() as u64 - 1, bytes, last.end);
        true
    }

    /// Puts ranges that follow one another on the first lane of their place, if nothing is in their way.
    fn place_group(&mut self, group: &Group, due: Option<Key>) -> bool {
        let Group { first, last, count } = group;
        let lanes = &mut self.places[first.track as usize].lanes;
        if due.is_some_and(|due| due < last.key()) || !lanes.is_free(first.start) {
            return false;
        }
        // Between them, each one that came next would stand where the one before does.
        let ends = [*first, *last];
        for item in &ends[..(*count).min(2)] {
            let lane = lanes.place(item.candidate()).lane;
            debug_assert_eq!(lane, 0);
        }
        true
    }
}
