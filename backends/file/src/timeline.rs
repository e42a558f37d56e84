//! A stream's events on their way to the file: put in order within a window, halves joined to
//! ranges, ranges spread over lanes.
//!
//! The fields of an event are bytes here, encoded by the format that gets them back in order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;

use crate::base::shift;
use crate::lane::{Candidate, Lanes};
use crate::tally::Tally;

/// A format that takes ordered events. Times count from the file's base.
///
/// Ranges of one lane nest, and come with ascending starts, outer ones first.
pub(crate) trait Emit {
    fn range(&mut self, place: u32, lane: u32, start: u64, end: u64, fields: &[u8]);
    /// A range whose end is not known yet, or never.
    fn begin(&mut self, place: u32, lane: u32, time: u64, fields: &[u8]);
    /// Ends the innermost range that began on this lane.
    fn end(&mut self, place: u32, lane: u32, time: u64, fields: &[u8]);
    fn instant(&mut self, place: u32, time: u64, fields: &[u8]);
    fn value(&mut self, counter: u32, time: u64, fields: &[u8]);
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
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(1 << 16)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A range that was declared to nest, and one that was not.
    PushPop,
    StartEnd,
    Instant,
    Value,
    /// The end of a push that was written before its end was known.
    Close,
}

struct Item {
    start: i64,
    /// Of a `Close`: the push.
    end: i64,
    /// Counts what arrives in the stream; a range has the order of its first half.
    order: u64,
    /// Where the fields stand in the window's bytes.
    at: u32,
    len: u32,
    /// The place, or the counter.
    track: u32,
    kind: Kind,
}

/// Where an item belongs: by time; ends before starts; outer ranges before inner ones; then as it
/// arrived.
type Key = (i64, bool, i64, u64);

impl Item {
    fn key(&self) -> Key {
        match self.kind {
            Kind::Close => (self.start, false, 0, self.order),
            _ => (self.start, true, !self.end, self.order),
        }
    }
}

/// A push whose pop has not come yet.
struct Push {
    start: i64,
    order: u64,
    state: PushState,
    fields: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum PushState {
    Waiting,
    /// The file has its begin.
    Written,
    /// It doesn't fit the time base.
    Dropped,
}

impl Push {
    fn key(&self) -> Key {
        (self.start, true, !i64::MAX, self.order)
    }

    fn candidate(&self) -> Candidate {
        Candidate {
            start: self.start,
            end: None,
            nests: true,
            push: Some(self.order),
        }
    }
}

/// A started range whose end has not come yet.
struct Start {
    place: u32,
    time: i64,
    order: u64,
    fields: Vec<u8>,
}

/// What is known of the first half of a range when its second comes.
#[derive(Clone, Copy)]
pub(crate) struct FirstHalf<'a> {
    pub(crate) start: i64,
    /// The fields it came with; `None` if they are in the file already.
    pub(crate) fields: Option<&'a [u8]>,
}

#[derive(Default)]
struct Place {
    lanes: Lanes,
    pushes: Vec<Push>,
}

/// A stream's window.
#[derive(Default)]
pub(crate) struct Timeline {
    limits: Limits,
    items: Vec<Item>,
    bytes: Vec<u8>,
    /// Whether the items need no sorting.
    sorted: bool,
    places: Vec<Place>,
    /// By range ID.
    starts: HashMap<u64, Start>,
    orders: u64,
    /// Where the last item that was written starts.
    frontier: Option<i64>,
    /// Buffers of first halves, to use again.
    spare: Vec<Vec<u8>>,
    pub(crate) tally: Tally,
}

impl Timeline {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            sorted: true,
            ..Self::default()
        }
    }

    /// A track for ranges and instants; numbered from 0.
    pub(crate) fn add_place(&mut self) -> u32 {
        self.places.push(Place::default());
        (self.places.len() - 1) as u32
    }

    /// Whether the older half should be written now.
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= self.limits.items || self.bytes.len() >= self.limits.bytes
    }

    /// Whether nothing is left to write.
    pub(crate) fn is_empty(&self) -> bool {
        let mut places = self.places.iter();
        self.items.is_empty() && self.starts.is_empty() && places.all(|p| p.pushes.is_empty())
    }

    /// A whole range; `nests` if it was declared to nest in others.
    pub(crate) fn range(&mut self, place: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        if self.frontier.is_some_and(|frontier| start < frontier) {
            self.tally.late += 1;
        }
        let kind = if nests { Kind::PushPop } else { Kind::StartEnd };
        let order = self.next_order();
        self.add(place, kind, (start, end), order, &[fields]);
    }

    pub(crate) fn instant(&mut self, place: u32, time: i64, fields: &[u8]) {
        let order = self.next_order();
        self.add(place, Kind::Instant, (time, time), order, &[fields]);
    }

    pub(crate) fn value(&mut self, counter: u32, time: i64, fields: &[u8]) {
        let order = self.next_order();
        self.add(counter, Kind::Value, (time, time), order, &[fields]);
    }

    pub(crate) fn push(&mut self, place: u32, start: i64, fields: &[u8]) {
        let push = Push {
            start,
            order: self.next_order(),
            state: PushState::Waiting,
            fields: self.keep(fields),
        };
        self.places[place as usize].pushes.push(push);
    }

    /// The push that the next pop ends.
    pub(crate) fn last_push(&self, place: u32) -> Option<FirstHalf<'_>> {
        let push = self.places[place as usize].pushes.last()?;
        Some(FirstHalf {
            start: push.start,
            fields: (push.state == PushState::Waiting).then_some(&push.fields),
        })
    }

    /// Ends the last push; the range has the fields of both. Does nothing without a push.
    pub(crate) fn pop(&mut self, place: u32, end: i64, fields: &[u8]) {
        let Some(push) = self.places[place as usize].pushes.pop() else {
            return;
        };
        match push.state {
            PushState::Waiting => {
                let parts = [&push.fields[..], fields];
                self.add(place, Kind::PushPop, (push.start, end), push.order, &parts);
            }
            PushState::Written => {
                let order = self.next_order();
                let lanes = &mut self.places[place as usize].lanes;
                lanes.announce(push.order, end);
                // Orders are far from the sign bit.
                let times = (end, push.order as i64);
                self.add(place, Kind::Close, times, order, &[fields]);
            }
            PushState::Dropped => {}
        }
        self.spare.push(push.fields);
    }

    /// Starts the range `id`; `false` if a range with this ID is open.
    pub(crate) fn start(&mut self, place: u32, time: i64, id: u64, fields: &[u8]) -> bool {
        let order = self.next_order();
        let fields = self.keep(fields);
        match self.starts.entry(id) {
            Entry::Occupied(_) => {
                self.spare.push(fields);
                false
            }
            Entry::Vacant(free) => {
                free.insert(Start {
                    place,
                    time,
                    order,
                    fields,
                });
                true
            }
        }
    }

    pub(crate) fn started(&self, id: u64) -> Option<FirstHalf<'_>> {
        let start = self.starts.get(&id)?;
        Some(FirstHalf {
            start: start.time,
            fields: Some(&start.fields),
        })
    }

    /// Ends the range `id`, where it was started; it has the fields of both. Does nothing without
    /// a start.
    pub(crate) fn end(&mut self, id: u64, time: i64, fields: &[u8]) {
        let Some(start) = self.starts.remove(&id) else {
            return;
        };
        let times = (start.time, time);
        let parts = [&start.fields[..], fields];
        self.add(start.place, Kind::StartEnd, times, start.order, &parts);
        self.spare.push(start.fields);
    }

    /// Writes the older half of the window.
    pub(crate) fn flush(&mut self, base: i64, out: &mut impl Emit) {
        let count = self.items.len().div_ceil(2);
        if count > 0 {
            self.sort();
            let last = &self.items[count - 1];
            let until = last.key();
            self.frontier = self.frontier.max(Some(last.start));
            self.write(count, Some(until), base, out);
        }
    }

    /// Writes all there is. What is open stays so: the file has no end for it.
    pub(crate) fn finish(&mut self, base: i64, out: &mut impl Emit) {
        self.sort();
        self.write(self.items.len(), None, base, out);
        for place in &mut self.places {
            let open = |push: &Push| push.state == PushState::Written;
            self.tally.left_open += place.pushes.drain(..).filter(open).count() as u64;
        }
        let mut starts: Vec<_> = self.starts.drain().map(|(_, start)| start).collect();
        starts.sort_unstable_by_key(|start| (start.time, start.order));
        for start in starts {
            let Some(time) = shift(base, start.time) else {
                self.tally.outside_base += 1;
                continue;
            };
            // Its end could cross that of any other range.
            let lane = self.places[start.place as usize]
                .lanes
                .place_alone(Candidate {
                    start: start.time,
                    end: None,
                    nests: false,
                    push: None,
                });
            out.begin(start.place, lane, time, &start.fields);
            self.tally.left_open += 1;
        }
    }

    fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    fn keep(&mut self, fields: &[u8]) -> Vec<u8> {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(fields);
        kept
    }

    fn add(
        &mut self,
        track: u32,
        kind: Kind,
        (start, end): (i64, i64),
        order: u64,
        fields: &[&[u8]],
    ) {
        let at = self.bytes.len();
        for part in fields {
            self.bytes.extend_from_slice(part);
        }
        let item = Item {
            start,
            end,
            order,
            at: at as u32,
            len: (self.bytes.len() - at) as u32,
            track,
            kind,
        };
        if let Some(last) = self.items.last() {
            self.sorted &= last.key() < item.key();
        }
        self.items.push(item);
    }

    fn sort(&mut self) {
        if !self.sorted {
            self.items.sort_unstable_by_key(Item::key);
            self.sorted = true;
        }
    }

    /// Writes the first `count` items, and the pushes that belong before `until` (all without), in
    /// order.
    fn write(&mut self, count: usize, until: Option<Key>, base: i64, out: &mut impl Emit) {
        let items = mem::take(&mut self.items);
        let bytes = mem::take(&mut self.bytes);
        let due = self.due_pushes(until);
        let mut due = due.iter().peekable();
        for item in &items[..count] {
            let key = item.key();
            while let Some(push) = due.next_if(|push| push.key < key) {
                self.open(push, base, out);
            }
            self.emit(item, fields(&bytes, item), base, out);
        }
        for push in due {
            self.open(push, base, out);
        }
        self.keep_rest(items, bytes, count);
    }

    /// The pushes that wait and belong before `until`, in order.
    fn due_pushes(&self, until: Option<Key>) -> Vec<Due> {
        let mut due = Vec::new();
        for (place, index) in self.places.iter().zip(0..) {
            for (push, depth) in place.pushes.iter().zip(0..) {
                let key = push.key();
                if push.state == PushState::Waiting && until.is_none_or(|until| key < until) {
                    due.push(Due {
                        key,
                        place: index,
                        depth,
                    });
                }
            }
        }
        due.sort_unstable_by_key(|push| push.key);
        due
    }

    fn open(&mut self, due: &Due, base: i64, out: &mut impl Emit) {
        let place = &mut self.places[due.place as usize];
        let push = &mut place.pushes[due.depth];
        match shift(base, push.start) {
            Some(time) => {
                let lane = place.lanes.place(push.candidate()).lane;
                out.begin(due.place, lane, time, &push.fields);
                push.state = PushState::Written;
            }
            None => {
                self.tally.outside_base += 1;
                push.state = PushState::Dropped;
            }
        }
        self.spare.push(mem::take(&mut push.fields));
    }

    fn emit(&mut self, item: &Item, fields: &[u8], base: i64, out: &mut impl Emit) {
        let Some(start) = shift(base, item.start) else {
            self.tally.outside_base += 1;
            return;
        };
        match item.kind {
            Kind::Instant => out.instant(item.track, start, fields),
            Kind::Value => out.value(item.track, start, fields),
            Kind::PushPop | Kind::StartEnd => {
                let Some(end) = shift(base, item.end) else {
                    self.tally.outside_base += 1;
                    return;
                };
                let spot = self.places[item.track as usize].lanes.place(Candidate {
                    start: item.start,
                    end: Some(item.end),
                    nests: item.kind == Kind::PushPop,
                    push: None,
                });
                self.tally.overlapping_pushpop += u64::from(spot.crosses);
                out.range(item.track, spot.lane, start, end, fields);
            }
            Kind::Close => {
                let lanes = &mut self.places[item.track as usize].lanes;
                let push = item.end as u64;
                let moved = lanes.close(push, item.start, fields, |lane, end, fields| {
                    if let Some(end) = shift(base, end) {
                        out.end(item.track, lane, end, fields);
                    }
                });
                self.tally.overlapping_pushpop += moved;
            }
        }
    }

    /// Moves what was not written to the front of the window.
    fn keep_rest(&mut self, mut items: Vec<Item>, mut bytes: Vec<u8>, count: usize) {
        if count == items.len() {
            items.clear();
            bytes.clear();
        } else {
            items.drain(..count);
            let mut kept = Vec::with_capacity(bytes.capacity());
            for item in &mut items {
                let at = kept.len() as u32;
                kept.extend_from_slice(fields(&bytes, item));
                item.at = at;
            }
            bytes = kept;
        }
        self.items = items;
        self.bytes = bytes;
    }
}

/// A push that is written although its end is not known.
struct Due {
    key: Key,
    place: u32,
    /// Its index among the open pushes of its place.
    depth: usize,
}

fn fields<'a>(bytes: &'a [u8], item: &Item) -> &'a [u8] {
    &bytes[item.at as usize..][..item.len as usize]
}

#[cfg(test)]
mod tests;
