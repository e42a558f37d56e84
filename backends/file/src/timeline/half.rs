//! Ranges in two halves: a push waits for its pop, a start for its end.

use std::collections::hash_map::Entry;

use super::part::{Key, Kind};
use super::{Emit, Timeline};
use crate::lane::{Candidate, Lanes};

/// The first half of a range whose second has not come yet.
pub(super) struct Half {
    clock: u8,
    /// What its start was made with.
    epoch: u32,
    pub(super) start: i64,
    pub(super) order: u64,
    state: State,
    fields: Vec<u8>,
}

/// A started range.
pub(super) struct Start {
    place: u32,
    half: Half,
}

/// A first half that may be there.
#[derive(Clone, Copy)]
pub(crate) enum First {
    /// The push that the next pop of a place ends.
    Push(u32),
    /// The start of a range, by its ID.
    Start(u64),
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Waiting,
    /// The file has its begin.
    Written,
    /// The same, on a lane of its own.
    Alone,
    /// It doesn't fit the time base.
    Dropped,
}

impl Half {
    fn key(&self) -> Key {
        (self.start, true, !i64::MAX, self.order)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.state == State::Waiting
    }

    fn candidate(&self, nests: bool) -> Candidate {
        Candidate {
            start: self.start,
            end: None,
            nests,
            order: self.order,
        }
    }
}

/// What is known of the first half of a range when its second comes.
#[derive(Clone, Copy)]
pub(crate) struct FirstHalf<'a> {
    pub(crate) start: i64,
    /// The fields it came with.
    pub(crate) fields: &'a [u8],
}

impl Half {
    fn told(&self) -> FirstHalf<'_> {
        FirstHalf {
            start: self.start,
            fields: &self.fields,
        }
    }
}

impl Half {
    /// Has a time of this epoch from now on. What has none any more keeps the one it had, and is out of place anyway.
    fn retime(&mut self, epoch: u32, mut moved: impl FnMut(u32, u8, i64) -> Option<i64>) {
        self.start = moved(self.epoch, self.clock, self.start).unwrap_or(self.start);
        self.epoch = epoch;
    }
}

impl Timeline {
    /// Gives a first half a time of the present epoch, as [`retime`](Self::retime) does with all.
    pub(crate) fn retime_first(
        &mut self,
        first: First,
        moved: impl FnMut(u32, u8, i64) -> Option<i64>,
    ) {
        let half = match first {
            First::Push(place) => self.places[place as usize].pushes.last_mut(),
            First::Start(id) => self.starts.get_mut(&id).map(|start| &mut start.half),
        };
        if let Some(half) = half {
            half.retime(self.epoch, moved);
        }
    }

    /// The same for all of them.
    pub(super) fn retime_halves(&mut self, mut moved: impl FnMut(u32, u8, i64) -> Option<i64>) {
        let pushes = self.places.iter_mut().flat_map(|place| &mut place.pushes);
        let starts = self.starts.values_mut().map(|start| &mut start.half);
        for half in pushes.chain(starts) {
            half.retime(self.epoch, &mut moved);
        }
    }

    pub(crate) fn push(&mut self, place: u32, start: i64, fields: &[u8]) {
        let push = self.half(start, fields);
        self.places[place as usize].pushes.push(push);
    }

    /// The push that the next pop ends.
    pub(crate) fn last_push(&self, place: u32) -> Option<FirstHalf<'_>> {
        let push = self.places[place as usize].pushes.last()?;
        Some(push.told())
    }

    /// Ends the last push; the range has the fields of both. Does nothing without a push.
    pub(crate) fn pop(&mut self, place: u32, end: i64, fields: &[u8]) {
        if let Some(push) = self.places[place as usize].pushes.pop() {
            self.join(place, Kind::PushPop, push, end, fields);
        }
    }

    /// Starts the range `id`; `false` if a range with this ID is open.
    pub(crate) fn start(&mut self, place: u32, time: i64, id: u64, fields: &[u8]) -> bool {
        let half = self.half(time, fields);
        self.places[place as usize].has_others = true;
        match self.starts.entry(id) {
            Entry::Occupied(_) => {
                self.spare.push(half.fields);
                false
            }
            Entry::Vacant(free) => {
                free.insert(Start { place, half });
                true
            }
        }
    }

    pub(crate) fn started(&self, id: u64) -> Option<FirstHalf<'_>> {
        Some(self.starts.get(&id)?.half.told())
    }

    /// Ends the range `id`, where it was started; it has the fields of both. Does nothing without
    /// a start.
    pub(crate) fn end(&mut self, id: u64, time: i64, fields: &[u8]) {
        if let Some(Start { place, half }) = self.starts.remove(&id) {
            self.join(place, Kind::StartEnd, half, time, fields);
        }
    }

    fn half(&mut self, start: i64, fields: &[u8]) -> Half {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(fields);
        Half {
            clock: self.clocks[0],
            epoch: self.epoch,
            start,
            order: self.next_order(),
            state: State::Waiting,
            fields: kept,
        }
    }

    fn join(&mut self, place: u32, kind: Kind, first: Half, end: i64, fields: &[u8]) {
        match first.state {
            State::Waiting => {
                self.clocks = [first.clock, self.clocks[0]];
                let parts = [&first.fields[..], fields];
                self.add(place, kind, (first.start, end), first.order, &parts);
            }
            State::Written | State::Alone => {
                let order = self.next_order();
                let lanes = &mut self.places[place as usize].lanes;
                lanes.announce(first.order, end);
                // Orders are far from the sign bit.
                let times = (end, first.order as i64);
                self.add(place, Kind::Close, times, order, &[fields]);
            }
            State::Dropped => {}
        }
        self.spare.push(first.fields);
    }

    /// Whether a first half waits that the file has not.
    pub(super) fn has_waiting_half(&self) -> bool {
        self.halves().any(|(_, half)| half.is_waiting())
    }

    /// All first halves, with their places.
    pub(super) fn halves(&self) -> impl Iterator<Item = (u32, &Half)> {
        let pushes = self.places.iter().zip(0..);
        let pushes = pushes.flat_map(|(place, index)| place.pushes.iter().map(move |p| (index, p)));
        let starts = self.starts.values();
        pushes.chain(starts.map(|start| (start.place, &start.half)))
    }

    /// The pushes that wait and are due, by their places and keys; in order.
    pub(super) fn due_pushes(&self, is_due: impl Fn(u32, Key) -> bool) -> Vec<Due> {
        let mut due = Vec::new();
        for (place, index) in self.places.iter().zip(0..) {
            for (push, depth) in place.pushes.iter().zip(0..) {
                let key = push.key();
                if push.is_waiting() && is_due(index, key) {
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

    pub(super) fn open(&mut self, due: &Due, out: &mut impl Emit) {
        let push = &self.places[due.place as usize].pushes[due.depth];
        let (start, clock) = (push.start, push.clock);
        if out.holds(start) {
            self.mark([clock; 2], out);
        }
        let place = &mut self.places[due.place as usize];
        let push = &mut place.pushes[due.depth];
        if out.holds(push.start) {
            let lane = place.lanes.place(push.candidate(true)).lane;
            out.begin(due.place, lane, push.start, true, &push.fields);
            push.state = State::Written;
            self.note_begin(clock, start);
        } else {
            self.tally.outside_base += 1;
            push.state = State::Dropped;
        }
    }

    /// Writes the starts that wait. What comes before their ends stands elsewhere.
    pub(super) fn begin_starts(&mut self, out: &mut impl Emit) {
        self.begin_waiting(out, |lanes, start| {
            (lanes.place(start).lane, State::Written)
        });
    }

    /// The same for those that may well stay open: each stands on a lane of its own.
    pub(super) fn begin_starts_alone(&mut self, out: &mut impl Emit) {
        self.begin_waiting(out, |lanes, start| (lanes.place_alone(start), State::Alone));
    }

    fn begin_waiting(
        &mut self,
        out: &mut impl Emit,
        place_in: impl Fn(&mut Lanes, Candidate) -> (u32, State),
    ) {
        let Self {
            starts,
            places,
            tally,
            marks,
            is_precise,
            ..
        } = self;
        let mut begun = Vec::new();
        let mut waiting: Vec<_> = (starts.values_mut())
            .filter(|start| start.half.state == State::Waiting)
            .collect();
        waiting.sort_unstable_by_key(|start| (start.half.start, start.half.order));
        for Start { place, half } in waiting {
            if !out.holds(half.start) {
                tally.outside_base += 1;
                half.state = State::Dropped;
                continue;
            }
            if *is_precise {
                marks.set([half.clock; 2], out);
            }
            let lanes = &mut places[*place as usize].lanes;
            let (lane, state) = place_in(lanes, half.candidate(false));
            out.begin(*place, lane, half.start, false, &half.fields);
            half.state = state;
            begun.push((half.clock, half.start));
        }
        for (clock, start) in begun {
            self.note_begin(clock, start);
        }
    }

    /// Leaves open what is so. A start that stays open stands on a lane of its own, behind all that
    /// could cross it.
    pub(super) fn leave_open(&mut self, out: &mut impl Emit) {
        for place in &mut self.places {
            let written = |push: &Half| push.state == State::Written;
            self.tally.left_open += place.pushes.drain(..).filter(written).count() as u64;
        }
        self.begin_starts_alone(out);
        for (_, Start { place, half }) in self.starts.drain() {
            match half.state {
                State::Alone => self.tally.left_open += 1,
                State::Written => {
                    self.places[place as usize].lanes.unsettle();
                    self.tally.left_open += 1;
                }
                State::Waiting | State::Dropped => {}
            }
        }
    }
}

/// A push that is written although its end is not known.
pub(super) struct Due {
    pub(super) key: Key,
    place: u32,
    /// Its index among the open pushes of its place.
    depth: usize,
}
