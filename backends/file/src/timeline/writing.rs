//! From a window to the file: what is in order, and what is due before it.

use std::mem;

use super::chain::group;
use super::part::{Form, Item, Key, Kind, Part, Run};
use super::{Emit, On, Place, Timeline};

impl Timeline {
    /// Writes the older half of the window, or what is final by a claim.
    pub(crate) fn flush(&mut self, out: &mut impl Emit) {
        if self.flush_final(out) {
            return;
        }
        if self.old.is_empty() {
            self.turn();
        }
        let mut part = mem::take(&mut self.old);
        if !self.sorted {
            part.append(&mut self.new);
            part.sort();
            // What stays is the new part until the turn below.
            self.new.take_half(&mut part);
            self.sorted = true;
        }
        self.write_up_to_last(&mut part, out);
        part.clear();
        self.old = part;
        self.turn();
    }

    /// Writes all there is, and goes on: what is open begins in the file, and ends there later.
    pub(crate) fn flush_all(&mut self, out: &mut impl Emit) {
        self.flush_items(out);
        self.begin_starts(out);
    }

    /// The same, where ranges that were started may well never end.
    pub(crate) fn rest(&mut self, out: &mut impl Emit) {
        self.flush_items(out);
        self.begin_starts_alone(out);
    }

    fn flush_items(&mut self, out: &mut impl Emit) {
        let (mut part, mut last) = self.write_all(out);
        part.clear();
        last.clear();
        (self.old, self.new) = (part, last);
        self.sorted = true;
    }

    /// Writes all there is. What is open stays so: the file has no end for it.
    pub(crate) fn finish(&mut self, out: &mut impl Emit) {
        self.write_all(out);
        self.leave_open(out);
    }

    /// Returns the parts that were written.
    fn write_all(&mut self, out: &mut impl Emit) -> (Part, Part) {
        let mut part = mem::take(&mut self.old);
        let mut last = mem::take(&mut self.new);
        if self.sorted {
            self.write_up_to_last(&mut part, out);
        } else {
            part.append(&mut last);
            part.sort();
            mem::swap(&mut part, &mut last);
        }
        self.write(&mut last, |_, _| true, out);
        if let Some(item) = last.last() {
            self.advance(item.start);
        }
        self.filled = 0;
        (part, last)
    }

    /// Writes the items of `part`, which are in order, and the pushes that belong before its last
    /// one.
    fn write_up_to_last(&mut self, part: &mut Part, out: &mut impl Emit) {
        if let Some(last) = part.last() {
            self.advance(last.start);
            let last = last.key();
            self.write(part, |_, key| key < last, out);
        }
    }

    /// Writes the items of `part`, which are in order, and the pushes that are due, by place and key. The part's bytes are
    /// others then.
    pub(super) fn write<E: Emit>(
        &mut self,
        part: &mut Part,
        is_due: impl Fn(u32, Key) -> bool,
        out: &mut E,
    ) {
        self.note_written(part);
        let due = self.due_pushes(is_due);
        let mut due = due.iter().peekable();
        let mut run = Run::default();
        let first = due.peek().map(|push| push.key);
        if let Some(leader) = part.leader() {
            self.mark(leader.clocks, out);
        }
        let mut rest = match self.write_chain(part, first, &mut run, out) {
            true => &[][..],
            false => {
                part.all();
                &part.items[..]
            }
        };
        // With so many items left there is no group in front of these.
        let mut ungrouped = rest.len();
        while let [item, behind @ ..] = rest {
            if due.peek().is_some() {
                let key = item.key();
                while let Some(push) = due.next_if(|push| push.key < key) {
                    run.end(part, out);
                    self.open(push, out);
                }
            }
            if self.is_precise && !self.marks.hold(item.clocks) {
                run.end(part, out);
                self.marks.set(item.clocks, out);
            }
            if behind.first().is_some_and(|next| next.form == Form::Next) && rest.len() <= ungrouped
            {
                let (items, others) = rest.split_at(group(rest));
                let due = due.peek().map(|push| push.key);
                run.end(part, out);
                if self.write_group(items, part, due, out) {
                    rest = others;
                    continue;
                }
                ungrouped = others.len();
            }
            rest = behind;
            let bytes = part.bytes_of(item);
            if !matches!(item.form, Form::Ready(base) if out.takes(base)) {
                run.end(part, out);
                self.emit(item, bytes, out);
                continue;
            }
            let (on, lane) = match item.kind {
                Kind::Value => {
                    self.sum(item);
                    (On::Counter(item.track), 0)
                }
                Kind::PushPop | Kind::StartEnd => (On::Place(item.track), self.spread(item)),
                Kind::Instant | Kind::Close => {
                    let Place { lanes, .. } = &mut self.places[item.track as usize];
                    lanes.note(item.start, item.order);
                    (On::Place(item.track), 0)
                }
            };
            if lane == 0 {
                if !run.goes_on(on, item, out) {
                    run.end(part, out);
                    run = Run::new(on, item);
                }
                run.add(item);
                continue;
            }
            run.end(part, out);
            // Ready items are those whose times the file holds.
            let (fields, nests) = (E::fields_of(bytes), item.kind == Kind::PushPop);
            out.range(item.track, lane, item.start, item.end, nests, fields);
        }
        run.end_part(part, out);
        for push in due {
            self.open(push, out);
        }
    }

    #[inline]
    fn sum(&mut self, item: &Item) {
        if let Some(sum) = self.sums.get_mut(&item.track) {
            sum.is_unsettled |= item.start < sum.last;
            sum.last = sum.last.max(item.start);
        }
    }

    /// The lane of a whole range.
    #[inline]
    fn spread(&mut self, item: &Item) -> u32 {
        let lanes = &mut self.places[item.track as usize].lanes;
        let spot = lanes.place(item.candidate());
        self.tally.overlapping_pushpop += u64::from(spot.crosses);
        spot.lane
    }

    fn emit<E: Emit>(&mut self, item: &Item, bytes: &[u8], out: &mut E) {
        let is_range = matches!(item.kind, Kind::PushPop | Kind::StartEnd);
        let mut item = *item;
        if is_range && item.end < item.start {
            // By what is known now of the two clocks that it is of. It stays without length, wherever the start goes.
            item.end = item.start;
            item.clocks[1] = item.clocks[0];
            self.mark(item.clocks, out);
            self.tally.before_sync += 1;
        }
        let item = &item;
        if !out.holds(item.start) || is_range && !out.holds(item.end) {
            self.tally.outside_base += 1;
            return;
        }
        let fields = match item.form {
            Form::Fields => bytes,
            _ => E::fields_of(bytes),
        };
        match item.kind {
            Kind::Instant => {
                let Place { lanes, .. } = &mut self.places[item.track as usize];
                lanes.note(item.start, item.order);
                out.instant(item.track, item.start, fields);
            }
            Kind::Value => {
                self.sum(item);
                match item.form {
                    Form::Fields => out.value(item.track, item.start, fields),
                    _ => out.values(item.track, item.start, bytes),
                }
            }
            Kind::PushPop | Kind::StartEnd => {
                let lane = self.spread(item);
                let nests = item.kind == Kind::PushPop;
                out.range(item.track, lane, item.start, item.end, nests, fields);
            }
            Kind::Close => {
                let lanes = &mut self.places[item.track as usize].lanes;
                let (push, clock) = (item.end as u64, item.clocks[0]);
                let (marks, is_precise) = (&mut self.marks, self.is_precise);
                let moved =
                    lanes.close(push, item.start, clock, fields, |lane, end, of, fields| {
                        let (asked, clock) = of;
                        if is_precise {
                            marks.set([clock; 2], out);
                        }
                        out.end(item.track, lane, end, asked, fields);
                    });
                self.tally.overlapping_pushpop += moved;
            }
        }
    }
}
