//! Parts of a window: items with their bytes, and the runs of them that go to the file as they are.

use std::mem;
use std::ops::Range;

use super::chain::{Latest, Link};
use super::{Base, Emit, Limits, On};
use crate::proto::Writer;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A range that was declared to nest, and one that was not.
    PushPop,
    StartEnd,
    Instant,
    Value,
    /// The end of a push that was written before its end was known.
    Close,
}

#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) start: i64,
    /// Of a `Close`: the push.
    pub(super) end: i64,
    /// Counts what arrives in the stream; a range has the order of its first half.
    pub(super) order: u64,
    /// Where the fields stand in the window's bytes.
    pub(super) at: u32,
    pub(super) len: u32,
    /// The place, or the counter.
    pub(super) track: u32,
    pub(super) kind: Kind,
    /// Which clocks its start and its end are read from.
    pub(super) clocks: [u8; 2],
    pub(super) form: Form,
}

/// What the bytes of an item are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Its fields.
    Fields,
    /// Its form in the file at another time than the one that it has now.
    Stale,
    /// Its form in the file, where timestamps count from this base.
    Ready(Base),
    /// Its form in the file [behind](Emit::follow) the item before.
    Next,
}

/// Where an item belongs: by time; ends before starts; outer ranges before inner ones; then as it
/// arrived.
pub(super) type Key = (i64, bool, i64, u64);

impl Item {
    #[inline]
    pub(super) fn key(&self) -> Key {
        match self.kind {
            Kind::Close => (self.start, false, 0, self.order),
            _ => (self.start, true, !self.end, self.order),
        }
    }
}

/// A part of a window.
#[derive(Default)]
pub(super) struct Part {
    /// The first one only, where there are links.
    pub(super) items: Vec<Item>,
    /// What goes on the chain that the only item begins.
    pub(super) links: Vec<Link>,
    /// The times of the last link, if there is one.
    pub(super) latest: Latest,
    /// How many of the links have their form [behind](Emit::follow) the one before.
    pub(super) nexts: usize,
    /// What the other links are ready for.
    pub(super) base: Option<Base>,
    pub(super) bytes: Writer,
    /// From which item on the times are of which epoch, in order; 0 before the first.
    pub(super) epochs: Vec<(usize, u32)>,
}

impl Part {
    pub(super) fn bytes_of(&self, item: &Item) -> &[u8] {
        &self.bytes.as_bytes()[item.at as usize..][..item.len as usize]
    }

    /// How many items there are.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.items.len() + self.links.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.links.clear();
        self.nexts = 0;
        self.base = None;
        self.bytes.clear();
    }

    /// Moves all of `more` here.
    pub(super) fn append(&mut self, more: &mut Self) {
        if more.is_empty() || self.take_chain(more) {
            return;
        }
        let moved = self.bytes.len() as u32;
        self.bytes.raw(more.bytes.as_bytes());
        let items = more.all().drain(..).map(|item| Item {
            at: item.at + moved,
            ..item
        });
        self.all().extend(items);
        more.clear();
    }

    /// Moves all of `more` here, with the epochs of its times.
    pub(super) fn absorb(&mut self, more: &mut Self) {
        let count = self.count();
        let epochs = mem::take(&mut more.epochs);
        // Each epoch begins in both parts; in this one, after all of its items, if it was complete by then.
        if let Some((_, last)) = epochs.last() {
            more.epochs.push((0, *last));
            self.end_epochs(count);
        }
        let moved = epochs
            .into_iter()
            .map(|(from, epoch)| (from + count, epoch));
        self.epochs.extend(moved);
        self.append(more);
    }

    /// Drops the epochs from item `count` on: all have begun in order, so that those are the last ones.
    pub(super) fn end_epochs(&mut self, count: usize) {
        let kept = self.epochs.partition_point(|(from, _)| *from < count);
        self.epochs.truncate(kept);
    }

    /// Puts the items in the order in which they belong.
    pub(super) fn sort(&mut self) {
        let items = self.all();
        if !sort_by_moves(items) {
            items.sort_unstable_by_key(Item::key);
        }
    }

    /// Keeps no more memory than a window of these limits needs, or than what is in it.
    pub(super) fn shrink_to(&mut self, limits: Limits) {
        self.items.shrink_to(limits.items);
        self.links.shrink_to(limits.items);
        self.bytes.shrink_to(limits.bytes);
    }

    /// Moves the second half of the items of `from` here.
    pub(super) fn take_half(&mut self, from: &mut Self) {
        let count = from.all().len().div_ceil(2);
        for item in &from.items[count..] {
            let at = self.bytes.len() as u32;
            self.bytes.raw(from.bytes_of(item));
            self.push(Item { at, ..*item });
        }
        from.items.truncate(count);
    }

    /// Moves the items of `from` here that are not to stay.
    pub(super) fn take_rest(&mut self, from: &mut Self, stays: impl Fn(&Item) -> bool) {
        from.all();
        let Self { items, bytes, .. } = from;
        items.retain(|item| {
            let stays = stays(item);
            if !stays {
                let at = self.bytes.len() as u32;
                let (from, len) = (item.at as usize, item.len as usize);
                self.bytes.raw(&bytes.as_bytes()[from..][..len]);
                self.push(Item { at, ..*item });
            }
            stays
        });
    }
}

/// Moves each item that comes too late to its place, as long as few items are in between; `false` if that is not enough.
fn sort_by_moves(items: &mut [Item]) -> bool {
    let mut left = items.len() / 4;
    for end in 1..items.len() {
        let key = items[end].key();
        let sorted = items[..end].iter().rev();
        let late = sorted
            .take(left)
            .take_while(|item| item.key() > key)
            .count();
        left -= late;
        if late > 0 {
            items[end - late..=end].rotate_right(1);
        }
        if left == 0 {
            return false;
        }
    }
    true
}

/// Neighbours that are ready, and stay together in the file.
pub(super) struct Run {
    on: On,
    events: u64,
    from: u32,
    until: u32,
}

impl Run {
    pub(super) fn new(on: On, item: &Item) -> Self {
        Self {
            on,
            events: 0,
            from: item.at,
            until: item.at,
        }
    }

    /// So many items, whose bytes are this range.
    pub(super) fn of(on: On, count: usize, range: Range<usize>) -> Self {
        Self {
            on,
            events: count as u64,
            from: range.start as u32,
            until: range.end as u32,
        }
    }

    /// Whether an item continues the run.
    #[inline]
    pub(super) fn goes_on(&self, on: On, item: &Item, out: &impl Emit) -> bool {
        self.until == item.at && self.events > 0 && (self.on == on || out.joins(on))
    }

    #[inline]
    pub(super) fn add(&mut self, item: &Item) {
        self.until += item.len;
        self.events += 1;
    }

    /// Shows what there is, which leaves nothing.
    pub(super) fn end(&mut self, part: &Part, out: &mut impl Emit) {
        if self.events > 0 {
            let bytes = &part.bytes.as_bytes()[self.from as usize..self.until as usize];
            out.ready(self.on, self.events, bytes);
            self.events = 0;
            self.from = self.until;
        }
    }

    /// The same for the last one of a part, whose bytes nobody needs after that.
    pub(super) fn end_part(self, part: &mut Part, out: &mut impl Emit) {
        if self.events > 0 {
            let range = self.from as usize..self.until as usize;
            out.ready_to_keep(self.on, self.events, &mut part.bytes, range);
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            on: On::Place(0),
            events: 0,
            from: 0,
            until: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    #[test]
    fn items_are_sorted_however_many_are_late() {
        let mut random = Random::new(5);
        for late in [0, 1, 2, 5, 50, 1000] {
            for count in [0, 1, 2, 7, 100, 500] {
                let mut part = Part::default();
                for order in 0..count {
                    let start = 10 * order as i64 - random.below(late * 10 + 1) as i64;
                    part.push(Item {
                        start,
                        end: start + random.below(3) as i64,
                        order,
                        at: 0,
                        len: 0,
                        track: 0,
                        kind: Kind::StartEnd,
                        clocks: [0; 2],
                        form: Form::Fields,
                    });
                }
                let mut want = part.all().clone();
                want.sort_unstable_by_key(Item::key);
                part.sort();
                let orders = |items: &[Item]| -> Vec<_> { items.iter().map(Item::key).collect() };
                assert_eq!(orders(part.all()), orders(&want), "{late} {count}");
            }
        }
    }
}
