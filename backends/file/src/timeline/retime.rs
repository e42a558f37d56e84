//! Times that turn out to be others, as more is known of the clocks that they were read from.
//!
//! Clocks have numbers here. All times of one epoch were made with the same knowledge.

use std::mem;

use super::part::{Form, Item, Kind, Part};
use super::{Emit, Timeline};

/// Events that were written in one epoch, all by times of one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) count: u64,
    /// The earliest and the latest of their times.
    pub(crate) times: (i64, i64),
}

/// By which clocks times are that were written: the start's, and the end's. Marks tell it, which have
/// numbers.
pub(super) struct Marks {
    /// Those of the present epoch.
    numbers: Vec<([u8; 2], u32)>,
    /// What the last one told.
    last: Option<[u8; 2]>,
    count: u32,
    /// The clocks of those that have got their numbers since somebody asked.
    fresh: Vec<[u8; 2]>,
}

impl Default for Marks {
    /// Until the first mark, which has the number 1, times are by clock 0.
    fn default() -> Self {
        Self {
            numbers: vec![([0; 2], 0)],
            last: Some([0; 2]),
            count: 1,
            fresh: Vec::new(),
        }
    }
}

impl Marks {
    /// Whether what is by these clocks needs no mark.
    #[inline]
    pub(super) fn hold(&self, clocks: [u8; 2]) -> bool {
        self.last == Some(clocks)
    }

    /// Marks that what follows is by these clocks.
    pub(super) fn set(&mut self, clocks: [u8; 2], out: &mut impl Emit) {
        if self.hold(clocks) {
            return;
        }
        self.last = Some(clocks);
        let known = self.numbers.iter().find(|(known, _)| *known == clocks);
        let number = match known {
            Some((_, number)) => *number,
            None => {
                self.numbers.push((clocks, self.count));
                self.fresh.push(clocks);
                self.count += 1;
                self.count - 1
            }
        };
        out.mark(number);
    }
}

impl Timeline {
    /// Marks that what follows is by these clocks, if that is noted.
    pub(super) fn mark(&mut self, clocks: [u8; 2], out: &mut impl Emit) {
        if self.is_precise {
            self.marks.set(clocks, out);
        }
    }

    /// The clocks that new marks tell since this was called last, by their numbers, which count from 1. Those
    /// are as they are known now.
    pub(crate) fn take_marks(&mut self) -> Vec<[u8; 2]> {
        mem::take(&mut self.marks.fresh)
    }

    /// All marks so far are about clocks as they were known before.
    pub(crate) fn forget_marks(&mut self) {
        self.marks.numbers.clear();
        self.marks.last = None;
    }

    /// What follows has times of this epoch.
    pub(crate) fn begin_epoch(&mut self, epoch: u32) {
        self.epoch = epoch;
        for part in [&mut self.old, &mut self.new] {
            part.begin_epoch(epoch);
        }
        self.reset_claims();
    }

    /// Gives the whole window, and what is open, times of the present epoch; `moved` has them for epoch, clock
    /// and time; `None` if there is no such time.
    pub(crate) fn retime(&mut self, mut moved: impl FnMut(u32, u8, i64) -> Option<i64>) {
        let mut before = None;
        for part in [&mut self.old, &mut self.new] {
            self.tally.before_sync += part.retime(&mut before, &mut moved);
        }
        self.retime_halves(&mut moved);
        // What lanes hold has the times of what was written before.
        let held = mem::replace(&mut self.held_epoch, self.epoch);
        for place in &mut self.places {
            place.lanes.retime(|clock, time| moved(held, clock, time));
        }
        let items = self.old.all().iter().chain(self.new.all().iter());
        self.sorted = items.is_sorted_by_key(Item::key);
    }

    /// What was written with times of a clock since this was called last.
    pub(crate) fn take_written(&mut self, clock: usize) -> Written {
        (self.written.get_mut(clock)).map_or_else(Written::default, mem::take)
    }

    /// Notes what is written by which clocks.
    pub(super) fn note_written(&mut self, part: &mut Part) {
        let Some(first) = part.items.first().copied() else {
            return;
        };
        if !self.is_precise {
            let count = part.count() as u64;
            self.note(first.clocks[0], count, (i64::MIN, i64::MAX));
        } else if let (Some(_), Some(last)) = (part.leader(), part.last()) {
            // None of a chain starts or ends before the one in front of it.
            self.note_from(&first, &last, part.count() as u64);
        } else {
            for item in part.all() {
                self.note_from(item, item, 1);
            }
        }
    }

    /// Notes that a range begins in the file whose end is not known.
    pub(super) fn note_begin(&mut self, clock: u8, start: i64) {
        let times = match self.is_precise {
            true => (start, start),
            false => (i64::MIN, i64::MAX),
        };
        self.note(clock, 1, times);
    }

    /// So many items of the same clocks, from the first to the last.
    fn note_from(&mut self, first: &Item, last: &Item, count: u64) {
        let [clock, end_clock] = first.clocks;
        let [first_end, last_end] = [first, last].map(|item| match item.kind {
            Kind::Close => item.start,
            _ => item.end,
        });
        if clock == end_clock {
            self.note(clock, count, (first.start, last_end));
        } else {
            self.note(clock, count, (first.start, last.start));
            self.note(end_clock, count, (first_end, last_end));
        }
    }

    fn note(&mut self, clock: u8, count: u64, times: (i64, i64)) {
        let clock = usize::from(clock);
        if self.written.len() <= clock {
            self.written.resize(clock + 1, Written::default());
        }
        let written = &mut self.written[clock];
        written.times = match written.count {
            0 => times,
            _ => (written.times.0.min(times.0), written.times.1.max(times.1)),
        };
        written.count += count;
    }
}

impl Part {
    fn begin_epoch(&mut self, epoch: u32) {
        // Those that no item is of, and those of items that are gone.
        let count = self.count();
        self.end_epochs(count);
        self.epochs.push((count, epoch));
    }

    /// Returns how many items have no time any more, and keep the one they had. `before` is the order of the item
    /// in front, if there is one, and whether that has got another time.
    fn retime(
        &mut self,
        before: &mut Option<(u64, bool)>,
        mut moved: impl FnMut(u32, u8, i64) -> Option<i64>,
    ) -> u64 {
        let Some(&(_, last)) = self.epochs.last() else {
            return 0;
        };
        let mut kept = 0;
        let epochs = mem::take(&mut self.epochs);
        let mut epochs = epochs.into_iter().peekable();
        let mut epoch = 0;
        for (index, item) in self.all().iter_mut().enumerate() {
            while let Some((_, next)) = epochs.next_if(|(from, _)| *from <= index) {
                epoch = next;
            }
            let times = (item.start, item.end);
            kept += u64::from(!item.retime(|clock, time| moved(epoch, clock, time)));
            // What it is behind may be somewhere else now.
            let has_lost = |&(order, is_moved)| is_moved || order + 1 != item.order;
            if item.form == Form::Next && before.as_ref().is_some_and(has_lost) {
                item.form = Form::Stale;
            }
            *before = Some((item.order, times != (item.start, item.end)));
        }
        self.epochs.push((0, last));
        kept
    }
}

impl Item {
    /// Returns whether there are such times.
    fn retime(&mut self, mut moved: impl FnMut(u8, i64) -> Option<i64>) -> bool {
        let Some(start) = moved(self.clocks[0], self.start) else {
            return false;
        };
        let end = match self.kind {
            Kind::Close => Some(self.end),
            _ => moved(self.clocks[1], self.end),
        };
        let Some(end) = end else {
            return false;
        };
        if (start, end) != (self.start, self.end) {
            (self.start, self.end) = (start, end);
            self.form = match self.form {
                Form::Fields => Form::Fields,
                _ => Form::Stale,
            };
        }
        true
    }
}
