//! Times that turn out to be others, as more is known of the clocks that they were read from.
//!
//! Clocks have numbers here. All times of one epoch were made with the same knowledge.

use std::mem;

use super::part::{Item, Kind, Part};
use super::{Base, Timeline};

/// Events that were written in one epoch, all by times of one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) count: u64,
    /// The earliest and the latest of their times.
    pub(crate) times: (i64, i64),
}

impl Timeline {
    /// What follows has times of this epoch. What is open gets times of it too: `moved` has them
    /// for clock and time of the epoch before; `None` if there is no such time.
    pub(crate) fn begin_epoch(
        &mut self,
        epoch: u32,
        mut moved: impl FnMut(u8, i64) -> Option<i64>,
    ) {
        for part in [&mut self.old, &mut self.new] {
            part.begin_epoch(epoch);
        }
        // What has no time any more keeps the one it had, and is out of place anyway.
        let pushes = self.places.iter_mut().flat_map(|place| &mut place.pushes);
        let starts = self.starts.values_mut().map(|start| &mut start.half);
        for half in pushes.chain(starts) {
            half.start = moved(half.clock, half.start).unwrap_or(half.start);
        }
        self.reset_claims();
    }

    /// Gives the whole window times of the present epoch; `moved` has them for epoch, clock and
    /// time.
    pub(crate) fn retime(&mut self, mut moved: impl FnMut(u32, u8, i64) -> Option<i64>) {
        for part in [&mut self.old, &mut self.new] {
            self.tally.refused += part.retime(&mut moved);
        }
        let items = self.old.items.iter().chain(&self.new.items);
        self.sorted = items.is_sorted_by_key(Item::key);
    }

    /// What was written with times of a clock since this was called last.
    pub(crate) fn take_written(&mut self, clock: usize) -> Written {
        (self.written.get_mut(clock)).map_or_else(Written::default, mem::take)
    }

    /// Notes what is written by which clocks.
    pub(super) fn note_written(&mut self, part: &Part) {
        if self.is_precise {
            for item in &part.items {
                let [clock, end_clock] = item.clocks;
                let end = if item.kind == Kind::Close {
                    item.start
                } else {
                    item.end
                };
                if clock == end_clock {
                    self.note(clock, 1, (item.start, end));
                } else {
                    self.note(clock, 1, (item.start, item.start));
                    self.note(end_clock, 1, (end, end));
                }
            }
        } else if let Some(item) = part.items.first() {
            self.note(
                item.clocks[0],
                part.items.len() as u64,
                (i64::MIN, i64::MAX),
            );
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
        if self.items.is_empty() {
            self.epochs.clear();
        }
        self.epochs.push((self.items.len(), epoch));
    }

    /// Returns how many items have no time any more, and are dropped.
    fn retime(&mut self, mut moved: impl FnMut(u32, u8, i64) -> Option<i64>) -> u64 {
        let Some(&(_, last)) = self.epochs.last() else {
            return 0;
        };
        let before = self.items.len();
        self.chain = 0;
        let epochs = mem::take(&mut self.epochs);
        let mut epochs = epochs.into_iter().peekable();
        let mut epoch = 0;
        let mut index = 0;
        self.items.retain_mut(|item| {
            while let Some((_, next)) = epochs.next_if(|(from, _)| *from <= index) {
                epoch = next;
            }
            index += 1;
            item.retime(|clock, time| moved(epoch, clock, time))
                .is_some()
        });
        self.epochs.push((0, last));
        (before - self.items.len()) as u64
    }
}

impl Item {
    fn retime(&mut self, mut moved: impl FnMut(u8, i64) -> Option<i64>) -> Option<()> {
        let start = moved(self.clocks[0], self.start)?;
        let end = match self.kind {
            Kind::Close => self.end,
            _ => moved(self.clocks[1], self.end)?,
        };
        if end < start && self.kind != Kind::Close {
            return None;
        }
        if (start, end) != (self.start, self.end) {
            (self.start, self.end) = (start, end);
            self.ready = self.ready.and(Some(Base::Stale));
        }
        Some(())
    }
}
