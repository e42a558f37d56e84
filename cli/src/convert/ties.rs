//! Resolves what depends on the order of time: begin/end pairs, the events that flow points bind to, and whether the ranges
//! of a track nest. [`arrows`](super::arrows) makes arrows of the flow points.

use std::io;

use super::arrows::{self, Correlations, Flow, Order, Points};
use super::record::{self, Head, Kind, u32_at, u64_at};
use super::sorter::{Key, Memory, Sorted, Sorter};
use super::strings::StringId;
use super::trace::{TIE_BYTES, Trace, end, rank};
use crate::error::Result;

/// An item of the walk through a track in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The start of a range of that track, followed by its event's `bind_id`, if it has one, and by its event's record.
    Begin { track: u32, bound: Option<Order> },
    /// The `bind_id` of the complete range with this key.
    Bound(Flow),
    /// The end of the range that began last, followed by its event's record.
    End,
    /// A flow point, which binds to an enclosing event or to the next one.
    Point { flow: Flow, is_next: bool },
}

impl Tie {
    const SIZE: usize = 11;

    /// The group of begin/end pairs that a hash joins. Those of tracks are below.
    pub fn apart(hash: u64) -> u64 {
        hash | 1 << 63
    }

    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let (code, number, order, flag) = match self {
            Self::Bound(flow) => (0, flow.id, Some(flow.order), false),
            Self::Begin { track, bound } => (1, track.into(), bound, false),
            Self::End => (2, 0, None, false),
            Self::Point { flow, is_next } => (3, flow.id, Some(flow.order), is_next),
        };
        let mut bytes = [0; Self::SIZE];
        bytes[0] = code;
        bytes[1] = flag.into();
        bytes[2] = order.map_or(0, |order| order as u8 + 1);
        bytes[3..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let order = bytes[2].checked_sub(1).map(Order::from_u8);
        let flow = || Flow {
            id: u64_at(bytes, 3),
            order: order.expect("a flow point has an order"),
        };
        match bytes[0] {
            0 => Self::Bound(flow()),
            1 => Self::Begin {
                track: u32_at(bytes, 3),
                bound: order,
            },
            2 => Self::End,
            _ => Self::Point {
                flow: flow(),
                is_next: bytes[1] != 0,
            },
        }
    }
}

/// A range that has begun before the current time.
struct Around {
    start: i64,
    /// `None`: its end hasn't come.
    end: Option<i64>,
    number: u64,
    /// The `B` event that began it: its track and its record.
    half: Option<(u32, Vec<u8>)>,
    /// Flow points that bind to it, with their times and event numbers. They wait for the range's key.
    flows: Vec<(Flow, i64, u64)>,
}

/// The ranges of one track around the current time, the one that began last at the end.
struct Group {
    open: Vec<Around>,
    /// The begin/end pair that ended last, at that time.
    ended: Option<Key>,
    /// The last instant.
    instant: Option<Key>,
    /// Flow points that bind to the next range, with their times and event numbers.
    next: Vec<(Flow, i64, u64)>,
    /// Named ends whose range hasn't begun: it may begin later in the file at the same time.
    early_ends: Vec<(Key, Vec<u8>)>,
    /// Ranges that have ended are dropped when there are so many.
    limit: usize,
    nests: bool,
}

impl Group {
    fn new() -> Self {
        Self {
            open: Vec::new(),
            ended: None,
            instant: None,
            next: Vec::new(),
            early_ends: Vec::new(),
            limit: 64,
            nests: true,
        }
    }

    /// The open range of that name that began last.
    fn named(&self, name: StringId) -> Option<usize> {
        self.open.iter().rposition(|range| {
            let half = range.half.as_ref();
            half.is_some_and(|(_, record)| record::split(record).0.name == Some(name))
        })
    }

    /// The open range that began last.
    fn last(&self) -> Option<usize> {
        self.open.iter().rposition(|range| range.half.is_some())
    }

    /// Whether the ranges that began before an open one end before it or not before `time`, and those that began after it end
    /// until then.
    fn is_around(&self, index: usize, time: i64) -> bool {
        let (before, rest) = self.open.split_at(index);
        let start = rest[0].start;
        let is_apart = |end: i64| end <= start || end >= time;
        before.iter().all(|range| range.end.is_none_or(is_apart))
            && rest[1..]
                .iter()
                .all(|range| range.end.is_some_and(|end| end <= time))
    }
}

const OUTSIDE: &str = "a point of a flow that is in no range is left out";

/// Joins begin/end pairs into events of `trace`, and resolves the arrows: records of eight bytes, an arrow's number, that have
/// the keys of the events at its ends.
pub fn resolve(trace: &mut Trace) -> Result<Sorted> {
    let folder = trace.folder.clone();
    let ties = std::mem::replace(&mut trace.ties, Sorter::new(TIE_BYTES, &folder));
    let mut walk = Walk {
        points: Points::new(Sorter::new(TIE_BYTES, &folder)),
        correlations: Correlations::of(trace),
        group: Group::new(),
        number: None,
        trace,
    };
    let joined = join(&mut walk, ties);
    let points = walk.points;
    let resolved = joined.and_then(|()| arrows::resolve(points, trace));
    resolved.map_err(|error| trace.spill_error(error))
}

/// The walk through all tracks in the order of time.
struct Walk<'t> {
    trace: &'t mut Trace,
    points: Points,
    correlations: Correlations,
    group: Group,
    /// The group's number.
    number: Option<u64>,
}

fn join(walk: &mut Walk<'_>, ties: Sorter) -> io::Result<()> {
    // The events of begin/end pairs are added after the walk.
    let pairs = Sorter::new(TIE_BYTES, &walk.trace.folder);
    let mut events = std::mem::replace(&mut walk.trace.events, pairs);
    walk.all(&mut events, &mut ties.sorted()?)?;
    let mut pairs = std::mem::replace(&mut walk.trace.events, events).sorted()?;
    while let Some((key, record)) = pairs.next()? {
        walk.trace.events.push(key, record)?;
    }
    Ok(())
}

/// The next range or instant.
fn next_event(events: &mut Sorted<&Memory>) -> io::Result<Option<(Key, Head)>> {
    while let Some((key, record)) = events.next()? {
        let (head, _) = record::split(record);
        if matches!(head.kind, Kind::Range | Kind::Instant) {
            return Ok(Some((key, head)));
        }
    }
    Ok(None)
}

impl Walk<'_> {
    fn all(&mut self, events: &mut Sorter, ties: &mut Sorted) -> io::Result<()> {
        let mut events = events.walk()?;
        let mut event = next_event(&mut events)?;
        let mut tie = ties.next()?;
        loop {
            let key = match (&event, &tie) {
                (Some((event, _)), Some((tie, _))) => *event.min(tie),
                (Some((key, _)), None) | (None, Some((key, _))) => *key,
                (None, None) => break,
            };
            if self.number != Some(key.group) {
                self.end_group()?;
                self.number = Some(key.group);
            }
            self.end_early(Some(key.time))?;
            if let Some((_, head)) = event.take_if(|(first, _)| *first == key) {
                self.event(key, &head)?;
                event = next_event(&mut events)?;
            } else {
                let (_, bytes) = tie.expect("one of them has the key");
                self.tie(key, bytes)?;
                tie = ties.next()?;
            }
        }
        self.end_group()
    }

    fn event(&mut self, key: Key, head: &Head) -> io::Result<()> {
        if head.kind == Kind::Instant {
            self.group.instant = Some(key);
            let mut index = 0;
            while let Some(&(flow, time, number)) = self.group.next.get(index) {
                if time == key.time {
                    self.group.next.remove(index);
                    self.points.add(flow, time, number, key)?;
                } else {
                    index += 1;
                }
            }
            return Ok(());
        }
        for (flow, time, number) in self.group.next.drain(..) {
            self.points.add(flow, time, number, key)?;
        }
        self.correlations.add(&mut self.points, key, head)?;
        self.begin(Around {
            start: key.time,
            end: Some(end(&key)),
            number: key.number,
            half: None,
            flows: Vec::new(),
        });
        Ok(())
    }

    fn tie(&mut self, key: Key, bytes: &[u8]) -> io::Result<()> {
        match Tie::from_bytes(bytes) {
            // The range with this key has just begun.
            Tie::Bound(flow) => self.points.add(flow, key.time, key.number, key),
            Tie::Begin { track, bound } => {
                let mut flows = std::mem::take(&mut self.group.next);
                let mut rest = Tie::SIZE;
                if let Some(order) = bound {
                    let id = u64_at(bytes, rest);
                    flows.push((Flow { id, order }, key.time, key.number));
                    rest += size_of::<u64>();
                }
                let record = bytes[rest..].to_vec();
                let name = record::split(&record).0.name;
                self.begin(Around {
                    start: key.time,
                    end: None,
                    number: key.number,
                    half: Some((track, record)),
                    flows,
                });
                let is_its = |(_, end): &(Key, Vec<u8>)| record::split(end).0.name == name;
                match self.group.early_ends.iter().position(is_its) {
                    Some(early) => {
                        let (key, record) = self.group.early_ends.remove(early);
                        self.end(self.group.open.len() - 1, key.time, &record)
                    }
                    None => Ok(()),
                }
            }
            Tie::End => {
                let record = &bytes[Tie::SIZE..];
                let name = record::split(record).0.name;
                match name.map(|name| self.group.named(name)) {
                    Some(Some(named)) => self.end(named, key.time, record),
                    Some(None) => {
                        self.group.early_ends.push((key, record.to_vec()));
                        Ok(())
                    }
                    None => self.end_last(key, record),
                }
            }
            Tie::Point {
                flow,
                is_next: true,
            } => {
                self.group.next.push((flow, key.time, key.number));
                Ok(())
            }
            Tie::Point { flow, .. } => self.point(key, flow),
        }
    }

    /// Ends the range that began last; that is what ends without a name do, and those whose name no range has.
    fn end_last(&mut self, key: Key, record: &[u8]) -> io::Result<()> {
        match self.group.last() {
            Some(last) => self.end(last, key.time, record),
            None => {
                let kind = "the end of a range that did not begin is left out";
                self.trace.warnings.add_event(kind, key.number, key.time);
                Ok(())
            }
        }
    }

    /// Gives up waiting for the ranges of early ends, unless `time` is theirs.
    fn end_early(&mut self, time: Option<i64>) -> io::Result<()> {
        let Some((key, _)) = self.group.early_ends.first() else {
            return Ok(());
        };
        if time == Some(key.time) {
            return Ok(());
        }
        for (key, record) in std::mem::take(&mut self.group.early_ends) {
            self.end_last(key, &record)?;
        }
        Ok(())
    }

    /// Ends the open range of that index.
    fn end(&mut self, index: usize, time: i64, record: &[u8]) -> io::Result<()> {
        let (_, rows) = record::split(record);
        self.group.nests &= self.group.is_around(index, time);
        let range = self.group.open.remove(index);
        let whole = self.add(range, Some((time, rows)))?;
        self.group.ended = Some(whole);
        Ok(())
    }

    fn begin(&mut self, range: Around) {
        let (group, time) = (&mut self.group, range.start);
        while group
            .open
            .pop_if(|before| before.end.is_some_and(|end| end <= time))
            .is_some()
        {}
        if let (Some(Some(outer)), Some(inner)) =
            (group.open.last().map(|outer| outer.end), range.end)
        {
            group.nests &= inner <= outer;
        }
        group.open.push(range);
        // Where ranges overlap, one that has ended may stand below others.
        if group.open.len() >= group.limit {
            group
                .open
                .retain(|range| range.end.is_none_or(|end| end >= time));
            group.limit = 64.max(2 * group.open.len());
        }
    }

    /// Binds a flow point to an instant at its time, else to the range that began last of those that haven't ended before it.
    fn point(&mut self, at: Key, flow: Flow) -> io::Result<()> {
        let (group, time) = (&mut self.group, at.time);
        if let Some(key) = group.instant.filter(|key| key.time == time) {
            return self.points.add(flow, time, at.number, key);
        }
        while group
            .open
            .pop_if(|before| before.end.is_some_and(|end| end < time))
            .is_some()
        {}
        let ended = group.ended.filter(|key| end(key) == time);
        let key = match (group.open.last_mut(), ended) {
            (Some(around), Some(key)) if around.start < key.time => key,
            (Some(around), _) => match around.end {
                Some(end) => Key {
                    group: at.group,
                    time: around.start,
                    rank: rank(around.start, end),
                    number: around.number,
                },
                None => {
                    around.flows.push((flow, time, at.number));
                    return Ok(());
                }
            },
            (None, Some(key)) => key,
            (None, None) => {
                self.trace.warnings.add_event(OUTSIDE, at.number, time);
                return Ok(());
            }
        };
        self.points.add(flow, time, at.number, key)
    }

    /// Ends a group: what is open in it stays open.
    fn end_group(&mut self) -> io::Result<()> {
        self.end_early(None)?;
        let group = std::mem::replace(&mut self.group, Group::new());
        for range in group.open {
            if range.half.is_some() {
                let kind = "a range that does not end stays open";
                let warnings = &mut self.trace.warnings;
                warnings.add_event(kind, range.number, range.start);
                self.add(range, None)?;
            }
        }
        for (_, time, number) in group.next {
            self.trace.warnings.add_event(OUTSIDE, number, time);
        }
        let index = self.number.and_then(|number| usize::try_from(number).ok());
        let track = index.and_then(|index| self.trace.tracks.all.get_mut(index));
        if let Some(track) = track {
            track.nests &= group.nests;
        }
        Ok(())
    }

    /// Makes an event of a `B` event, and of the time and the rows of its `E` event, if that has come.
    fn add(&mut self, range: Around, other: Option<(i64, &[u8])>) -> io::Result<Key> {
        let (track, record) = range.half.as_ref().expect("a `B` event began it");
        let end = other.map_or(range.start, |(end, _)| end);
        let key = Key {
            group: (*track).into(),
            time: range.start,
            rank: rank(range.start, end),
            number: range.number,
        };
        let (mut head, rows) = record::split(record);
        if other.is_none() {
            head.kind = Kind::Open;
        }
        let mut whole = Vec::new();
        record::begin(&mut whole, head);
        let (_, end_rows) = other.unwrap_or_default();
        self.trace.add_rows(&mut whole, rows, end_rows);
        self.trace.tracks.all[*track as usize].is_used = true;
        self.trace.events.push(key, &whole)?;
        for &(flow, time, number) in &range.flows {
            self.points.add(flow, time, number, key)?;
        }
        self.correlations.add(&mut self.points, key, &head)?;
        Ok(key)
    }
}
