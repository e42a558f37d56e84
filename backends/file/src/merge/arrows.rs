//! Arrows between events that share a flow: from each to the next one in time.
//!
//! Whether an event has a next one is known only when all have been read, and then memory may not hold
//! them: they are sorted by flows first, and what comes of that by events.

use std::io;

use super::{HEADER, Kind, Rewrite};
use crate::proto::Writer;
use crate::sorter::{Key, Limits, Sorted, Sorter};

/// An end of an arrow at an event, with the arrow's number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ArrowEnd {
    Start(u64),
    End(u64),
}

impl ArrowEnd {
    /// As one number, which is never 0.
    pub(crate) fn mark(self) -> u64 {
        match self {
            Self::Start(number) => number << 1,
            Self::End(number) => number << 1 | 1,
        }
    }

    pub(crate) fn from_mark(mark: u64) -> Self {
        match mark & 1 {
            0 => Self::Start(mark >> 1),
            _ => Self::End(mark >> 1),
        }
    }
}

/// An event that has a flow.
#[derive(Clone, Copy, PartialEq)]
struct Met {
    flow: i64,
    time: i64,
    stream: u32,
    /// Which of its stream's events it is, in order.
    position: u64,
    /// Whether it stays open, so that it stands behind the others of its stream.
    is_last: bool,
}

/// The ends of arrows, in the order of the events that they are at.
pub(super) struct Arrows {
    ends: Sorted,
    next: Option<Key>,
    /// The stream of the last event, and how many of it there were.
    at: (u32, u64),
    record: Writer,
    here: Vec<ArrowEnd>,
}

impl Arrows {
    /// Those between `events`, all of which it reads.
    pub(super) fn between<R: Rewrite>(
        events: &mut Sorted,
        rewrite: &R,
        limits: Limits,
    ) -> io::Result<Self> {
        let mut all = Sorter::new(rewrite.path(), limits);
        let (mut at, mut number) = ((0, 0), 0);
        while let Some((key, record)) = events.next()? {
            let position = next_position(&mut at, key.group);
            let is_last = record.first() == Some(&(Kind::OpenStart as u8));
            for flow in R::flows(record.get(HEADER..).unwrap_or_default()) {
                // Of those at one time the first in the file comes first.
                number += 1;
                let key = Key {
                    group: 0,
                    start: flow as i64,
                    rank: key.start,
                    number,
                };
                let stream = at.0.to_le_bytes();
                all.add(key, &[&stream, &position.to_le_bytes(), &[is_last.into()]])?;
            }
        }
        let mut ends = Sorter::new(rewrite.path(), limits);
        let mut all = all.finish()?;
        let (mut before, mut arrow): (Option<Met>, _) = (None, 0);
        while let Some((key, record)) = all.next()? {
            let met = Met::read(key, record)?;
            if let Some(before) = before
                && before.flow == met.flow
                // Both halves of a range may have it.
                && (before.stream, before.position) != (met.stream, met.position)
            {
                arrow += 1;
                let (from, to) = match met.is_behind(before) {
                    true => (before, met),
                    false => (met, before),
                };
                for (end, met) in [(ArrowEnd::Start(arrow), from), (ArrowEnd::End(arrow), to)] {
                    let key = Key {
                        group: met.stream,
                        start: met.position as i64,
                        rank: 0,
                        number: end.mark(),
                    };
                    ends.add(key, &[])?;
                }
            }
            before = Some(met);
        }
        let mut ends = ends.finish()?;
        Ok(Self {
            next: ends.next()?.map(|(key, _)| key),
            ends,
            at: (0, 0),
            record: Writer::default(),
            here: Vec::new(),
        })
    }

    /// The record of the next event, with the ends of arrows instead of flows.
    pub(super) fn join<R: Rewrite>(&mut self, stream: u32, record: &[u8]) -> io::Result<&[u8]> {
        let position = next_position(&mut self.at, stream) as i64;
        self.here.clear();
        while let Some(end) = (self.next).filter(|end| (end.group, end.start) == (stream, position))
        {
            self.here.push(ArrowEnd::from_mark(end.number));
            self.next = self.ends.next()?.map(|(key, _)| key);
        }
        let (header, fields) = record.split_at(HEADER.min(record.len()));
        self.record.clear();
        self.record.raw(header);
        R::join(fields, &self.here, &mut self.record);
        Ok(self.record.as_bytes())
    }
}

/// Counts the events of each stream.
fn next_position(at: &mut (u32, u64), stream: u32) -> u64 {
    if at.0 != stream {
        *at = (stream, 0);
    }
    at.1 += 1;
    at.1
}

impl Met {
    fn read(key: Key, record: &[u8]) -> io::Result<Self> {
        let parts = record.split_first_chunk().and_then(|(stream, rest)| {
            let (position, rest) = rest.split_first_chunk()?;
            Some((stream, position, rest == [1]))
        });
        let Some((stream, position, is_last)) = parts else {
            return Err(super::bad("a record of a flow is too short"));
        };
        Ok(Self {
            flow: key.start,
            time: key.rank,
            stream: u32::from_le_bytes(*stream),
            position: u64::from_le_bytes(*position),
            is_last,
        })
    }

    /// Whether it stands behind one that comes before it, or is later. An arrow can't go back.
    fn is_behind(self, before: Self) -> bool {
        self.time != before.time || self.stream != before.stream || self.is_last || !before.is_last
    }
}
