//! Arrows between events that share a flow: from each to the next one in time.
//!
//! Whether an event has a next one is known only when all have been read, and then memory may not hold
//! them: they are sorted by flows first, and what comes of that by events.

use std::cmp::Ordering;
use std::io;

use super::{HEADER, Kind, Rewrite};
use crate::proto::Writer;
use crate::sorter::{Key, Limits, Sorted, Sorter};

/// What an event has of arrows, with their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ArrowEnd {
    Start(u64),
    End(u64),
    /// It is joined with all others of this number, as the first of them.
    First(u64),
    /// A point between two others.
    Next(u64),
    /// The last point.
    Last(u64),
}

impl ArrowEnd {
    /// As one number, which is never 0.
    pub(crate) fn mark(self) -> u64 {
        let (number, kind) = match self {
            Self::Start(number) => (number, 0),
            Self::End(number) => (number, 1),
            Self::First(number) => (number, 2),
            Self::Next(number) => (number, 3),
            Self::Last(number) => (number, 4),
        };
        number << 3 | kind
    }

    pub(crate) fn from_mark(mark: u64) -> Self {
        let number = mark >> 3;
        match mark & 7 {
            0 => Self::Start(number),
            1 => Self::End(number),
            2 => Self::First(number),
            3 => Self::Next(number),
            _ => Self::Last(number),
        }
    }
}

/// An event that has a flow.
#[derive(Clone, Copy, PartialEq)]
struct Met {
    time: i64,
    stream: u32,
    /// Which of its stream's events it is, in order.
    position: u64,
    /// Whether it stays open, so that it stands behind the others of its stream.
    is_last: bool,
    /// Less for a longer one: readers take it first of those at one time. What stays open has no length.
    shortness: u64,
}

/// The events of one flow, in the order of time.
struct Flow {
    flow: i64,
    /// Whether one of its events has other flows too: a line names one only.
    is_mixed: bool,
    before: Option<Met>,
    /// The number that all are joined by, if there are several.
    number: Option<u64>,
    /// The first one, as long as others may come before it.
    first: Option<Met>,
    /// The last one so far, unless it is the first.
    last: Option<Met>,
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
        let mut all_flows = Sorter::new(rewrite.path(), limits);
        let (mut at, mut number) = ((0, 0), 0);
        while let Some((key, record)) = events.next()? {
            let position = next_position(&mut at, key.group);
            let kind = record.first().copied();
            let is_last = kind == Some(Kind::OpenStart as u8);
            let shortness = match kind == Some(Kind::OpenPush as u8) || is_last {
                true => u64::MAX,
                false => !((!key.rank).wrapping_sub(key.start) as u64),
            };
            let fields = record.get(HEADER..).unwrap_or_default();
            let mut before = None;
            // Both halves of a range may have one.
            let is_mixed = R::flows(fields).any(|flow| *before.get_or_insert(flow) != flow);
            let all = R::flows(fields).take(if is_mixed { usize::MAX } else { 1 });
            for flow in all {
                let at = |rank, number| Key {
                    group: 0,
                    start: flow as i64,
                    rank,
                    number,
                };
                if is_mixed {
                    // Before all others.
                    all_flows.add(at(i64::MIN, 0), &[])?;
                }
                // Of those at one time the first in the file comes first.
                number += 1;
                let parts: [&[u8]; 4] = [
                    &key.group.to_le_bytes(),
                    &position.to_le_bytes(),
                    &shortness.to_le_bytes(),
                    &[is_last.into()],
                ];
                all_flows.add(at(key.start, number), &parts)?;
            }
        }
        let mut ends = Sorter::new(rewrite.path(), limits);
        let mut all = all_flows.finish()?;
        let mut arrows = 0;
        let mut flow = Flow::new(0);
        while let Some((key, record)) = all.next()? {
            if key.start != flow.flow {
                flow.finish(&mut ends)?;
                flow = Flow::new(key.start);
            }
            if record.is_empty() {
                flow.is_mixed = true;
                continue;
            }
            flow.meet(Met::read(key, record)?, &mut arrows, &mut ends)?;
        }
        flow.finish(&mut ends)?;
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

impl Flow {
    fn new(flow: i64) -> Self {
        Self {
            flow,
            is_mixed: false,
            before: None,
            number: None,
            first: None,
            last: None,
        }
    }

    /// The next one in time.
    fn meet(&mut self, met: Met, arrows: &mut u64, ends: &mut Sorter) -> io::Result<()> {
        let Some(before) = self.before.replace(met) else {
            self.first = Some(met);
            return Ok(());
        };
        if self.is_mixed {
            // Both halves of a range may have it.
            if (before.stream, before.position) == (met.stream, met.position) {
                return Ok(());
            }
            *arrows += 1;
            let (from, to) = match met.is_behind(before) {
                true => (before, met),
                false => (met, before),
            };
            from.add(ArrowEnd::Start(*arrows), ends)?;
            return to.add(ArrowEnd::End(*arrows), ends);
        }
        let number = *self.number.get_or_insert_with(|| {
            *arrows += 1;
            *arrows
        });
        let next = match self.first {
            Some(first) if first.time == met.time => match met.is_before(first) {
                true => self.first.replace(met),
                false => Some(met),
            },
            Some(first) => {
                first.add(ArrowEnd::First(number), ends)?;
                self.first = None;
                Some(met)
            }
            None => Some(met),
        };
        let between = match (self.last, next) {
            (Some(last), Some(next)) if next.time == last.time && next.is_before(last) => {
                Some(next)
            }
            (_, Some(next)) => self.last.replace(next),
            (_, None) => None,
        };
        between.map_or(Ok(()), |met| met.add(ArrowEnd::Next(number), ends))
    }

    fn finish(self, ends: &mut Sorter) -> io::Result<()> {
        let Some(number) = self.number else {
            return Ok(());
        };
        if let Some(first) = self.first {
            first.add(ArrowEnd::First(number), ends)?;
        }
        let last = self.last;
        last.map_or(Ok(()), |last| last.add(ArrowEnd::Last(number), ends))
    }
}

impl Met {
    fn read(key: Key, record: &[u8]) -> io::Result<Self> {
        let parts = record.split_first_chunk().and_then(|(stream, rest)| {
            let (position, rest) = rest.split_first_chunk()?;
            let (shortness, rest) = rest.split_first_chunk()?;
            Some((stream, position, shortness, rest == [1]))
        });
        let Some((stream, position, shortness, is_last)) = parts else {
            return Err(super::bad("a record of a flow is too short"));
        };
        Ok(Self {
            time: key.rank,
            stream: u32::from_le_bytes(*stream),
            position: u64::from_le_bytes(*position),
            shortness: u64::from_le_bytes(*shortness),
            is_last,
        })
    }

    fn add(self, end: ArrowEnd, ends: &mut Sorter) -> io::Result<()> {
        let key = Key {
            group: self.stream,
            start: self.position as i64,
            rank: 0,
            number: end.mark(),
        };
        ends.add(key, &[])
    }

    /// Whether readers take it before one of the same time and of a stream before its own, or of its own, as far as that
    /// is known.
    fn is_before(self, first: Self) -> bool {
        match self.shortness.cmp(&first.shortness) {
            Ordering::Less => true,
            // They take these in the order of the file, which has one stream after the other.
            Ordering::Equal => self.stream == first.stream && !self.is_last && first.is_last,
            Ordering::Greater => false,
        }
    }

    /// Whether it stands behind one that comes before it, or is later. An arrow can't go back.
    fn is_behind(self, before: Self) -> bool {
        self.time != before.time || self.stream != before.stream || self.is_last || !before.is_last
    }
}
