//! A stream's events on their way to the file: put in order within a window, halves joined to
//! ranges, ranges spread over lanes.
//!
//! The fields of an event are bytes here, encoded by the format that gets them back in order. Most
//! events will stand on the first lane of their place: such a one is encoded whole as it comes, and
//! if it does stand there, its bytes go to the file as they are, with those of its neighbours.

mod chain;
mod claims;
mod half;
mod order;
mod part;
mod retime;
mod writing;

use std::mem;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use self::chain::{Chain, Followed, Latest, Step};
use self::claims::Claims;
pub(crate) use self::half::First;
use self::half::{Half, Start};
pub(crate) use self::order::{Break, Claim};
use self::part::{Form, Item, Kind, Part};
use self::retime::Marks;
pub(crate) use self::retime::Written;
use crate::budget::{Budget, Share};
use crate::ids::IdMap;
use crate::lane::Lanes;
use crate::proto::Writer;
use crate::tally::Tally;

/// What takes a timeline's events, in order.
///
/// Ranges of one lane nest, and come with ascending starts, outer ones first.
pub(crate) trait Emit {
    /// Whether the file can hold an event at this time.
    fn holds(&self, _time: i64) -> bool {
        true
    }
    /// Whether what was made ready for this base can be used.
    fn takes(&self, _base: Base) -> bool {
        true
    }
    /// A whole range; `nests` if it was declared to nest in others.
    fn range(&mut self, place: u32, lane: u32, start: i64, end: i64, nests: bool, fields: &[u8]);
    /// A range whose end is not known yet, or never.
    fn begin(&mut self, place: u32, lane: u32, time: i64, nests: bool, fields: &[u8]);
    /// Ends the innermost range that began on this lane. `asked` is its own end: earlier than `time`
    /// where that would have ended another range.
    fn end(&mut self, place: u32, lane: u32, time: i64, asked: i64, fields: &[u8]);
    fn instant(&mut self, place: u32, time: i64, fields: &[u8]);
    fn value(&mut self, counter: u32, time: i64, fields: &[u8]);
    /// The values of counters from this one on that were ready, at another time.
    fn values(&mut self, counter: u32, time: i64, ready: &[u8]) {
        self.value(counter, time, Self::fields_of(ready));
    }
    /// Whether what is ready there may stand behind what is ready elsewhere, as one run.
    fn joins(&self, _on: On) -> bool {
        false
    }
    /// So many events, in the form that they have in the file. The first one is there, and others where they may
    /// [join](Self::joins) it.
    fn ready(&mut self, on: On, events: u64, bytes: &[u8]);
    /// The same for a `range` of bytes, which may be taken; then another buffer is there instead.
    fn ready_to_keep(&mut self, on: On, events: u64, bytes: &mut Writer, range: Range<usize>) {
        self.ready(on, events, &bytes.as_bytes()[range]);
    }
    /// Whether a range that starts then can [lead](Self::lead). Only formats are asked whose ranges have other forms
    /// behind others.
    fn leads(&self, _start: i64) -> bool {
        false
    }
    /// A range on the first lane of a place, which others follow.
    fn lead(&mut self, place: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        self.range(place, 0, start, end, nests, fields);
    }
    /// So many ranges more on that lane, none of which starts before the one in front of it ends, in the form that they have
    /// behind one another. The last one ends at `end`.
    fn follow(&mut self, _place: u32, _events: u64, _bytes: &[u8], _end: i64) {}
    /// The same for a `range` of bytes, which may be taken; then another buffer is there instead.
    fn follow_to_keep(
        &mut self,
        place: u32,
        events: u64,
        bytes: &mut Writer,
        range: Range<usize>,
        end: i64,
    ) {
        self.follow(place, events, &bytes.as_bytes()[range], end);
    }
    /// What follows is by clocks that this number stands for. Only who writes events once more has to
    /// know.
    fn mark(&mut self, _number: u32) {}
    /// The fields of an event that was ready, for when it must change.
    fn fields_of(ready: &[u8]) -> &[u8];
}

/// Where events stand that are ready.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum On {
    /// The first lane of a place.
    Place(u32),
    Counter(u32),
}

/// What is known of an event besides its time and place.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    Fields(&'a [u8]),
    /// What was appended to the timeline's [buffer](Timeline::buffer) is the event's form in the
    /// file if it is on the first lane of its place.
    Ready(Base),
}

/// The time base that an event is ready for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    Decided,
    /// 0, which most files have, as none was decided yet.
    Zero,
}

/// A whole range whose form in the file was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WholeRange {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// How it differs from the latest one, if it may follow that.
    pub(crate) step: Option<Step>,
    /// Whether that is its form [behind](Emit::follow) the latest one.
    pub(crate) is_next: bool,
}

/// How much a window holds before its older half is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) items: usize,
    pub(crate) bytes: usize,
}

impl Limits {
    /// A window of so many items, with fields of a usual size.
    pub(crate) fn of(items: usize) -> Self {
        Self {
            items,
            bytes: (items * 256).clamp(1 << 20, 1 << 30),
        }
    }

    /// Bytes that such a window takes.
    pub(crate) fn size(self) -> usize {
        let items = self.items.saturating_mul(size_of::<Item>());
        items.saturating_add(self.bytes)
    }

    fn min(self, other: Self) -> Self {
        Self {
            items: self.items.min(other.items),
            bytes: self.bytes.min(other.bytes),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            items: self.items.max(other.items),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// What a window is before it grows: little, as there may be very many.
const LEAST: Limits = Limits {
    items: 256,
    bytes: 1 << 14,
};

impl Default for Limits {
    fn default() -> Self {
        Self::of(1 << 16)
    }
}

/// A counter whose values are the differences to those before.
struct Sum {
    /// The time of the last value that was written, in the order of time.
    last: i64,
    is_unsettled: bool,
}

struct Place {
    lanes: Lanes,
    pushes: Vec<Half>,
    /// What comes here and starts before is too late, where scopes have orders of their own.
    frontier: i64,
    /// Whether there are ranges that are no pushes: which lane a push is on may depend on its end then.
    has_others: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            lanes: Lanes::default(),
            pushes: Vec::new(),
            frontier: i64::MIN,
            has_others: false,
        }
    }
}

/// A stream's window.
#[derive(Default)]
pub(crate) struct Timeline {
    limits: Limits,
    /// How much of that it may hold now.
    allowed: Limits,
    share: Share,
    /// What arrived first: the half that is written next, if nothing came out of order.
    old: Part,
    new: Part,
    /// Whether all items, old and new, need no sorting.
    sorted: bool,
    /// Where the last item's bytes end in `new`.
    filled: usize,
    places: Vec<Place>,
    /// By range ID.
    starts: IdMap<u64, Start>,
    /// By counter.
    sums: IdMap<u32, Sum>,
    orders: u64,
    /// Where the last item that was written starts.
    frontier: Option<i64>,
    /// Buffers of first halves, to use again.
    spare: Vec<Vec<u8>>,
    /// Whether anything is said of the order of what comes next.
    has_claims: bool,
    claims: Claims,
    /// The clocks that the start and the end of what comes next are read from; of an instant or a
    /// half only the first one counts.
    pub(crate) clocks: [u8; 2],
    /// Whether it is noted which times are written by which clocks, and not just how many.
    pub(crate) is_precise: bool,
    /// What the times of what comes next are made with.
    epoch: u32,
    /// The epoch of the times that were retimed last.
    held_epoch: u32,
    /// By clock.
    written: Vec<Written>,
    marks: Marks,
    pub(crate) tally: Tally,
}

impl Timeline {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            allowed: limits.min(LEAST),
            sorted: true,
            ..Self::default()
        }
    }

    /// One that takes its memory from a budget.
    pub(crate) fn within(limits: Limits, budget: &Arc<Budget>) -> Self {
        let new = Self::new(limits);
        Self {
            share: Share::new(budget, new.allowed.size()),
            ..new
        }
    }

    /// A track for ranges and instants; numbered from 0.
    pub(crate) fn add_place(&mut self) -> u32 {
        self.places.push(Place::default());
        (self.places.len() - 1) as u32
    }

    /// Whether it must [make room](Self::make_room) now.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.old.count() + self.new.count() >= self.allowed.items
            || self.old.bytes.len() + self.new.bytes.len() >= self.allowed.bytes
    }

    /// Grows, if it is full and its limits and the budget let it; `false` if they don't, so that some of it should be written
    /// now.
    pub(crate) fn make_room(&mut self) -> bool {
        !self.is_full() || self.grow(self.usual_limits())
    }

    /// Grows, up to `limits`, until it is not full; `false` if that can't be.
    fn grow(&mut self, limits: Limits) -> bool {
        // In few steps, as what there is moves each time.
        let can = self.grow_by(4, limits) || self.grow_by(2, limits);
        if can {
            // It is the first half that gets the more.
            self.old.absorb(&mut self.new);
            mem::swap(&mut self.old, &mut self.new);
            self.filled = self.new.bytes.len();
            self.turn_half();
        }
        can
    }

    /// Is allowed more by this factor, and more often than once if that is not enough.
    fn grow_by(&mut self, factor: usize, limits: Limits) -> bool {
        let grown = |mut allowed: usize, limit: usize, held: usize| {
            while held >= allowed && allowed < limit {
                allowed = allowed.max(1).saturating_mul(factor).min(limit);
            }
            allowed
        };
        let count = self.old.count() + self.new.count();
        let len = self.old.bytes.len() + self.new.bytes.len();
        let next = Limits {
            items: grown(self.allowed.items, limits.items, count),
            bytes: grown(self.allowed.bytes, limits.bytes, len),
        };
        let is_enough = count < next.items && len < next.bytes;
        if !is_enough || !self.share.take(next.size() - self.allowed.size()) {
            return false;
        }
        self.allowed = next;
        true
    }

    /// Gives half of its memory to others, if they need it. Returns whether it did.
    pub(crate) fn share_memory(&mut self) -> bool {
        let Limits { items, bytes } = self.allowed;
        let half = Limits {
            items: items / 2,
            bytes: bytes / 2,
        };
        let less = half.max(LEAST).min(self.allowed);
        if less == self.allowed || !self.share.is_wanted() {
            return false;
        }
        for part in [&mut self.old, &mut self.new] {
            part.shrink_to(less);
        }
        self.share.give(self.allowed.size() - less.size());
        self.allowed = less;
        true
    }

    /// Whether there is something that the file has not.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.old.is_empty() || !self.new.is_empty() || self.has_waiting_half()
    }

    /// Whether ranges are open that were started.
    pub(crate) fn has_starts(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Whether nothing is left to write.
    pub(crate) fn is_empty(&self) -> bool {
        let mut places = self.places.iter();
        self.old.is_empty()
            && self.new.is_empty()
            && self.starts.is_empty()
            && places.all(|p| p.pushes.is_empty())
    }

    /// Takes the form of the next item, if that is ready.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Writer {
        &mut self.new.bytes
    }

    /// Forgets what was appended to the buffer since the last item.
    pub(crate) fn discard(&mut self) {
        self.new.bytes.truncate(self.filled);
    }

    /// Whether anything would stand elsewhere in the file, or end at another time, if all had been
    /// known from the start.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.sums.values().any(|sum| sum.is_unsettled)
            || self.places.iter().any(|place| place.lanes.is_unsettled())
    }

    /// The values of this counter are summed up by readers, in the order that they have in the file.
    pub(crate) fn add_sum(&mut self, counter: u32) {
        self.sums.entry(counter).or_insert(Sum {
            last: i64::MIN,
            is_unsettled: false,
        });
    }

    /// A whole range; `nests` if it was declared to nest in others.
    pub(crate) fn range(
        &mut self,
        place: u32,
        start: i64,
        end: i64,
        nests: bool,
        content: Content<'_>,
    ) {
        if self.frontier.is_some_and(|frontier| start < frontier) {
            self.note_late(place, start);
        }
        self.arrives(On::Place(place), start, end);
        let kind = if nests { Kind::PushPop } else { Kind::StartEnd };
        self.whole(place, kind, (start, end), content);
    }

    pub(crate) fn instant(&mut self, place: u32, time: i64, content: Content<'_>) {
        self.arrives(On::Place(place), time, time);
        self.whole(place, Kind::Instant, (time, time), content);
    }

    /// An instant that marks where a counter has no value to be drawn: a part of a sample, which has arrived.
    pub(crate) fn counter_mark(&mut self, place: u32, time: i64, fields: &[u8]) {
        self.whole(place, Kind::Instant, (time, time), Content::Fields(fields));
    }

    /// The value of a counter; of all those that come together with it if it is ready.
    pub(crate) fn value(&mut self, counter: u32, time: i64, content: Content<'_>) {
        self.whole(counter, Kind::Value, (time, time), content);
    }

    #[inline(always)]
    fn whole(&mut self, track: u32, kind: Kind, times: (i64, i64), content: Content<'_>) {
        let order = self.next_order();
        match content {
            Content::Ready(base) => self.add_buffered(track, kind, times, order, Form::Ready(base)),
            Content::Fields(fields) => self.add(track, kind, times, order, &[fields]),
        }
    }

    fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    fn add(&mut self, track: u32, kind: Kind, times: (i64, i64), order: u64, fields: &[&[u8]]) {
        for part in fields {
            self.new.bytes.raw(part);
        }
        self.add_buffered(track, kind, times, order, Form::Fields);
    }

    /// Adds an item whose bytes are in the buffer.
    #[inline(always)]
    fn add_buffered(
        &mut self,
        track: u32,
        kind: Kind,
        (start, end): (i64, i64),
        order: u64,
        form: Form,
    ) {
        let at = mem::replace(&mut self.filled, self.new.bytes.len());
        let item = Item {
            start,
            end,
            order,
            at: at as u32,
            len: (self.filled - at) as u32,
            track,
            kind,
            clocks: self.clocks,
            form,
        };
        if let Some(last) = self.new.last().or_else(|| self.old.last()) {
            self.sorted &= last.start < start || last.key() < item.key();
        }
        self.new.push(item);
        self.turn_half();
    }

    /// Makes the new part the old one, if there is none and the new one is half of what is allowed.
    #[inline]
    fn turn_half(&mut self) {
        if self.old.is_empty()
            && (self.new.count() >= self.allowed.items / 2 || self.filled >= self.allowed.bytes / 2)
        {
            self.turn();
        }
    }

    /// Makes the new part the old one, which is empty.
    fn turn(&mut self) {
        mem::swap(&mut self.old, &mut self.new);
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests;
