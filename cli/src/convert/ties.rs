//! What only the order of time tells of a trace: which halves make a range, in which ranges the points of flows are, and
//! whether a track's ranges nest.

use std::io;

use super::record::{self, Kind, u32_at, u64_at};
use super::sorter::{Key, Memory, Sorted, Sorter};
use super::strings::StringId;
use super::trace::{TIE_BYTES, Trace, end, rank};
use crate::error::Result;

/// Something that is met in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The start of a range of that track, followed by the flow that its event names, if it does, and by its event's record.
    Begin { track: u32, is_bound: bool },
    /// The event of the whole range with this key names a flow.
    Bound { flow: u64 },
    /// The end of the range that began last, followed by its event's record.
    End,
    /// A flow passes here: through the range around it, or through the next one.
    Point { flow: u64, is_next: bool },
}

impl Tie {
    const SIZE: usize = 10;

    /// The group of halves that a hash joins. Those of tracks are below.
    pub fn apart(hash: u64) -> u64 {
        hash | 1 << 63
    }

    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let (code, number, flag) = match self {
            Self::Bound { flow } => (0, flow, false),
            Self::Begin { track, is_bound } => (1, track.into(), is_bound),
            Self::End => (2, 0, false),
            Self::Point { flow, is_next } => (3, flow, is_next),
        };
        let mut bytes = [0; Self::SIZE];
        bytes[0] = code;
        bytes[1] = flag.into();
        bytes[2..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (number, flag) = (u64_at(bytes, 2), bytes[1] != 0);
        match bytes[0] {
            0 => Self::Bound { flow: number },
            1 => Self::Begin {
                track: u32_at(bytes, 2),
                is_bound: flag,
            },
            2 => Self::End,
            _ => Self::Point {
                flow: number,
                is_next: flag,
            },
        }
    }
}

/// A range that the time is in.
struct Around {
    start: i64,
    /// `None`: its end hasn't come.
    end: Option<i64>,
    number: u64,
    correlation: u64,
    /// The half that began it: its track and its record.
    half: Option<(u32, Vec<u8>)>,
    /// Flows that pass through it; told when its key is known.
    flows: Vec<u64>,
}

/// The ranges of one track around a moment, the one that began last at the end.
struct Group {
    open: Vec<Around>,
    /// The half whose end came last, at that time, and its key.
    ended: Option<(Key, u64)>,
    /// Flows that pass through the next range, and of their points the events' numbers and times.
    next: Vec<(u64, u64, i64)>,
    /// Ranges that have ended are dropped when there are so many.
    limit: usize,
    nests: bool,
}

impl Group {
    fn new() -> Self {
        Self {
            open: Vec::new(),
            ended: None,
            next: Vec::new(),
            limit: 64,
            nests: true,
        }
    }

    /// Which open range an end is of: the last of its name, as ends of different ranges may cross; else the last one.
    fn half(&self, name: Option<StringId>) -> Option<usize> {
        let is_named = |range: &Around| {
            let half = range.half.as_ref();
            half.is_some_and(|(_, record)| record::split(record).0.name == name)
        };
        let named = name.and_then(|_| self.open.iter().rposition(is_named));
        named.or_else(|| self.open.iter().rposition(|range| range.half.is_some()))
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

/// Joins the halves of ranges into events of `trace`, and tells which ranges each flow passes: in records of eight bytes, the
/// flow's number, that have the keys of the ranges.
pub fn resolve(trace: &mut Trace) -> Result<Sorted> {
    let folder = trace.folder.clone();
    let ties = std::mem::replace(&mut trace.ties, Sorter::new(TIE_BYTES, &folder));
    let mut points = Sorter::new(TIE_BYTES, &folder);
    let joined = join(trace, ties, &mut points)
        .and_then(|()| number(points, Sorter::new(TIE_BYTES, &folder)));
    joined.map_err(|error| trace.spill_error(error))
}

fn join(trace: &mut Trace, ties: Sorter, points: &mut Sorter) -> io::Result<()> {
    // What halves make is added at the end.
    let halves = Sorter::new(TIE_BYTES, &trace.folder);
    let mut events = std::mem::replace(&mut trace.events, halves);
    meet(trace, &mut events, &mut ties.sorted()?, points)?;
    let mut halves = std::mem::replace(&mut trace.events, events).sorted()?;
    while let Some((key, record)) = halves.next()? {
        trace.events.push(key, record)?;
    }
    Ok(())
}

/// Goes through ranges and ties in the order of time.
fn meet(
    trace: &mut Trace,
    events: &mut Sorter,
    ties: &mut Sorted,
    points: &mut Sorter,
) -> io::Result<()> {
    let mut events = events.walk()?;
    let (mut group, mut number) = (Group::new(), None);
    let mut range = next_range(&mut events)?;
    let mut tie = ties.next()?;
    loop {
        let key = match (&range, &tie) {
            (Some((range, _)), Some((tie, _))) => *range.min(tie),
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
            (None, None) => break,
        };
        if number != Some(key.group) {
            let before = std::mem::replace(&mut group, Group::new());
            leave(trace, number, before, points)?;
            number = Some(key.group);
        }
        if let Some((_, correlation)) = range.take_if(|(first, _)| *first == key) {
            let mut flows = std::mem::take(&mut group.next);
            for (flow, ..) in flows.drain(..) {
                tell(points, flow, key, correlation)?;
            }
            group.next = flows;
            begin(
                &mut group,
                Around {
                    start: key.time,
                    end: Some(end(&key)),
                    number: key.number,
                    correlation,
                    half: None,
                    flows: Vec::new(),
                },
            );
            range = next_range(&mut events)?;
            continue;
        }
        let (_, bytes) = tie.expect("one of them has the key");
        match Tie::from_bytes(bytes) {
            Tie::Bound { flow } => {
                // The range with this key has just begun.
                let range = group.open.last().filter(|range| range.number == key.number);
                tell(
                    points,
                    flow,
                    key,
                    range.map_or(0, |range| range.correlation),
                )?;
            }
            Tie::Begin { track, is_bound } => {
                let mut flows: Vec<_> = group.next.drain(..).map(|(flow, ..)| flow).collect();
                let mut rest = Tie::SIZE;
                if is_bound {
                    flows.push(u64_at(bytes, rest));
                    rest += size_of::<u64>();
                }
                let record = bytes[rest..].to_vec();
                begin(
                    &mut group,
                    Around {
                        start: key.time,
                        end: None,
                        number: key.number,
                        correlation: record::split(&record).0.correlation,
                        half: Some((track, record)),
                        flows,
                    },
                );
            }
            Tie::End => {
                let (head, rows) = record::split(&bytes[Tie::SIZE..]);
                let Some(last) = group.half(head.name) else {
                    let kind = "the end of a range that did not begin is left out";
                    trace.warnings.add_event(kind, key.number, key.time);
                    tie = ties.next()?;
                    continue;
                };
                group.nests &= group.is_around(last, key.time);
                let range = group.open.remove(last);
                let whole = add(trace, &range, Some((key.time, rows)))?;
                for flow in &range.flows {
                    tell(points, *flow, whole, range.correlation)?;
                }
                group.ended = Some((whole, range.correlation));
            }
            Tie::Point {
                flow,
                is_next: true,
            } => group.next.push((flow, key.number, key.time)),
            Tie::Point { flow, .. } => {
                if !point(&mut group, &key, flow, points)? {
                    trace.warnings.add_event(OUTSIDE, key.number, key.time);
                }
            }
        }
        tie = ties.next()?;
    }
    leave(trace, number, group, points)
}

/// The next range, and the number that relates it to others, or 0.
fn next_range(events: &mut Sorted<&Memory>) -> io::Result<Option<(Key, u64)>> {
    while let Some((key, record)) = events.next()? {
        let (head, _) = record::split(record);
        if head.kind == Kind::Range {
            return Ok(Some((key, head.correlation)));
        }
    }
    Ok(None)
}

fn begin(group: &mut Group, range: Around) {
    let time = range.start;
    while group
        .open
        .pop_if(|before| before.end.is_some_and(|end| end <= time))
        .is_some()
    {}
    if let (Some(Some(outer)), Some(inner)) = (group.open.last().map(|outer| outer.end), range.end)
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

/// A flow passes at `time` through the range that began last of those that haven't ended before, if there is one.
fn point(group: &mut Group, at: &Key, flow: u64, points: &mut Sorter) -> io::Result<bool> {
    let time = at.time;
    while group
        .open
        .pop_if(|before| before.end.is_some_and(|end| end < time))
        .is_some()
    {}
    let ended = group.ended.filter(|(key, _)| end(key) == time);
    match (group.open.last_mut(), ended) {
        (Some(around), Some((key, correlation))) if around.start < key.time => {
            tell(points, flow, key, correlation)?;
        }
        (Some(around), _) => match around.end {
            Some(end) => {
                let key = Key {
                    group: at.group,
                    time: around.start,
                    rank: rank(around.start, end),
                    number: around.number,
                };
                let correlation = around.correlation;
                tell(points, flow, key, correlation)?;
            }
            None => around.flows.push(flow),
        },
        (None, Some((key, correlation))) => tell(points, flow, key, correlation)?,
        (None, None) => return Ok(false),
    }
    Ok(true)
}

/// Ends a group: what is open in it stays open.
fn leave(
    trace: &mut Trace,
    number: Option<u64>,
    group: Group,
    points: &mut Sorter,
) -> io::Result<()> {
    for range in &group.open {
        if range.half.is_some() {
            let key = add(trace, range, None)?;
            for flow in &range.flows {
                tell(points, *flow, key, range.correlation)?;
            }
            let kind = "a range that does not end stays open";
            trace.warnings.add_event(kind, range.number, range.start);
        }
    }
    for &(_, number, time) in &group.next {
        trace.warnings.add_event(OUTSIDE, number, time);
    }
    let track = number.and_then(|number| trace.tracks.all.get_mut(usize::try_from(number).ok()?));
    if let Some(track) = track {
        track.nests &= group.nests;
    }
    Ok(())
}

/// Makes an event of a half, and of the time and the rows of the other one, if that has come.
fn add(trace: &mut Trace, range: &Around, other: Option<(i64, &[u8])>) -> io::Result<Key> {
    let (track, record) = range.half.as_ref().expect("it is a half");
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
    whole.extend_from_slice(rows);
    whole.extend_from_slice(other.map_or(&[], |(_, rows)| rows));
    trace.tracks.all[*track as usize].is_used = true;
    trace.events.push(key, &whole)?;
    Ok(key)
}

/// Tells that a flow passes through a range.
fn tell(points: &mut Sorter, flow: u64, range: Key, correlation: u64) -> io::Result<()> {
    let key = Key {
        group: flow,
        ..range
    };
    let mut record = [0; 16];
    record[..8].copy_from_slice(&range.group.to_le_bytes());
    record[8..].copy_from_slice(&correlation.to_le_bytes());
    points.push(key, &record)
}

/// The ranges of one flow.
struct Flow {
    id: Option<u64>,
    /// Those that aren't numbered yet, and what relates each to others.
    ranges: Vec<(Key, u64)>,
    last: Option<u64>,
    /// The flow has so many ranges that it got a number before all were seen.
    is_numbered: bool,
}

/// Ranges of a flow that are looked at before it gets its number.
const LOOKED_AT: usize = 4096;

/// Numbers the flows. What passes fewer than two ranges is none, and what one correlation relates already needs none.
fn number(points: Sorter, mut numbered: Sorter) -> io::Result<Sorted> {
    let mut points = points.sorted()?;
    let mut next = 1;
    let mut flow = Flow::of(None);
    while let Some((key, record)) = points.next()? {
        if flow.id != Some(key.group) {
            flow.end(&mut next, &mut numbered)?;
            flow = Flow::of(Some(key.group));
        }
        // Several points of a flow may be in one range.
        if flow.last.replace(key.number) == Some(key.number) {
            continue;
        }
        let range = Key {
            group: u64_at(record, 0),
            ..key
        };
        flow.ranges.push((range, u64_at(record, 8)));
        if flow.is_numbered || flow.ranges.len() == LOOKED_AT {
            flow.is_numbered = true;
            flow.write(next, &mut numbered)?;
        }
    }
    flow.end(&mut next, &mut numbered)?;
    numbered.sorted()
}

impl Flow {
    fn of(id: Option<u64>) -> Self {
        Self {
            id,
            ranges: Vec::new(),
            last: None,
            is_numbered: false,
        }
    }

    fn write(&mut self, number: u64, numbered: &mut Sorter) -> io::Result<()> {
        self.ranges
            .drain(..)
            .try_for_each(|(range, _)| numbered.push(range, &number.to_le_bytes()))
    }

    fn end(&mut self, next: &mut u64, numbered: &mut Sorter) -> io::Result<()> {
        let first = self
            .ranges
            .first()
            .map_or(0, |(_, correlation)| *correlation);
        let is_covered = first != 0
            && self
                .ranges
                .iter()
                .all(|(_, correlation)| *correlation == first);
        if self.is_numbered || (self.ranges.len() > 1 && !is_covered) {
            self.write(*next, numbered)?;
            *next += 1;
        }
        Ok(())
    }
}
