//! Puts a complete file in order, where memory did not suffice while it was written.
//!
//! The file holds what each stream wrote as sorted runs. It is read once: what is not an event of
//! a stream that is out of order goes to a new file as it is, and the events are sorted on disk.
//! Then they go through a timeline to the new file, as if they had come in order.

mod arrows;

use std::collections::HashMap;
use std::io;
use std::mem;
use std::ops::RangeInclusive;
use std::path::Path;

pub(crate) use self::arrows::ArrowEnd;
use self::arrows::Arrows;
use crate::clock::{Side, TimeMap};
use crate::proto::Writer;
use crate::sorter::{self, Key, Sorted, Sorter};
use crate::tally::Tally;
use crate::timeline::{Content, Emit, Limits, On, Timeline};

/// Events come in order, so that few have to wait.
const WINDOW: Limits = Limits {
    items: 1 << 10,
    bytes: 1 << 18,
};

/// A file in the making that is to take the place of a session's file. It writes some of the
/// streams again, which it counts from 0.
pub(crate) trait Rewrite {
    type Emitter: Emit;

    /// The session's file.
    fn path(&self) -> &Path;

    /// The times that the file holds.
    fn times(&self) -> RangeInclusive<i64>;

    /// Reads the session's file: events of the streams that are written again go to `events`, what
    /// else there is to the new file.
    fn read(&mut self, events: &mut Events) -> io::Result<()>;

    /// Whether events are joined by arrows, so that those of all streams must be written again.
    fn has_arrows(&self) -> bool {
        false
    }

    /// The flows by which the event with these fields is joined with others.
    fn flows(_fields: &[u8]) -> impl Iterator<Item = u64> {
        std::iter::empty()
    }

    /// Appends the fields with these ends of arrows instead of the flows.
    fn join(fields: &[u8], _ends: &[ArrowEnd], out: &mut Writer) {
        out.raw(fields);
    }

    /// How many places a stream has.
    fn places(&self, stream: u32) -> usize;

    /// Where the events of a stream go.
    fn emitter(&mut self, stream: u32) -> &mut Self::Emitter;

    /// Ends the events of a stream.
    fn complete(&mut self, stream: u32) -> io::Result<()>;

    /// Puts the new file in the place of the session's.
    fn replace(self) -> io::Result<()>;
}

/// Rewrites a file with about so many bytes of memory. `maps` has one for each stream that is written
/// again, if its times are others by now. Returns what was met in these streams.
///
/// # Errors
/// What happened to which file. The session's file is as it was then.
pub(crate) fn merge<R: Rewrite>(
    mut rewrite: R,
    maps: Vec<Option<TimeMap>>,
    memory: usize,
) -> io::Result<Tally> {
    let limits = sorter::Limits::of(memory);
    let sorter = Sorter::new(rewrite.path(), limits);
    let mut events = Events::new(sorter, maps, rewrite.times());
    rewrite.read(&mut events)?;
    let (mut sorted, before_sync) = events.finish()?;
    let mut tally = Tally {
        before_sync,
        ..Tally::default()
    };
    let mut arrows = match rewrite.has_arrows() {
        false => None,
        true => {
            // Two sorts more, each beside what is left of another one.
            let limits = sorter::Limits::of(memory / 4);
            let arrows = Arrows::between(&mut sorted, &rewrite, limits)?;
            sorted.rewind()?;
            Some(arrows)
        }
    };
    let mut next = sorted.next()?;
    while let Some((Key { group: stream, .. }, _)) = next {
        let mut timeline = Timeline::new(WINDOW);
        for _ in 0..rewrite.places(stream) {
            timeline.add_place();
        }
        while let Some((key, record)) = next.filter(|(key, _)| key.group == stream) {
            let record = match &mut arrows {
                None => record,
                Some(arrows) => arrows.join::<R>(stream, record)?,
            };
            feed(&mut timeline, key, record)?;
            if !timeline.make_room() {
                timeline.flush(rewrite.emitter(stream));
            }
            next = sorted.next()?;
        }
        timeline.finish(rewrite.emitter(stream));
        rewrite.complete(stream)?;
        tally += timeline.tally;
    }
    rewrite.replace()?;
    Ok(tally)
}

/// What an event is besides its times and fields.
#[derive(Clone, Copy)]
enum Kind {
    PushPop,
    StartEnd,
    Instant,
    Value,
    OpenPush,
    OpenStart,
}

/// How many bytes stand before the fields of a record: the kind, and the place or the counter.
const HEADER: usize = 5;

impl Kind {
    const ALL: [Self; 6] = [
        Self::PushPop,
        Self::StartEnd,
        Self::Instant,
        Self::Value,
        Self::OpenPush,
        Self::OpenStart,
    ];

    fn header(self, track: u32) -> [u8; HEADER] {
        let [a, b, c, d] = track.to_le_bytes();
        [self as u8, a, b, c, d]
    }
}

/// Gives a record to a timeline.
fn feed(timeline: &mut Timeline, key: Key, record: &[u8]) -> io::Result<()> {
    let Some(([kind, track @ ..], fields)) = record.split_first_chunk::<HEADER>() else {
        return Err(bad("a record is too short"));
    };
    let track = u32::from_le_bytes(*track);
    let content = Content::Fields(fields);
    let (start, end) = (key.start, !key.rank);
    match Kind::ALL.get(usize::from(*kind)) {
        Some(Kind::PushPop) => timeline.range(track, start, end, true, content),
        Some(Kind::StartEnd) => timeline.range(track, start, end, false, content),
        Some(Kind::Instant) => timeline.instant(track, start, content),
        Some(Kind::Value) => timeline.value(track, start, content),
        Some(Kind::OpenPush) => timeline.push(track, start, fields),
        Some(Kind::OpenStart) => {
            // No number comes twice.
            timeline.start(track, start, key.number, fields);
        }
        None => return Err(bad("a record is of no kind")),
    }
    Ok(())
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// What stands in a file where someone else wrote.
pub(crate) fn unknown() -> io::Error {
    bad("it has other content than was written")
}

/// Takes events as they stand in a file, and sorts them.
pub(crate) struct Events {
    sorter: Sorter,
    /// Of each stream, with the mark before what comes next.
    maps: Vec<(Option<TimeMap>, u32)>,
    /// The times that events may have.
    times: RangeInclusive<i64>,
    /// How many events keep times that are others by now.
    unmoved: u64,
    /// Ranges whose ends have not come yet, by lane.
    open: HashMap<Lane, Vec<Open>>,
    /// Those of the lane that was used last.
    last: (Lane, Vec<Open>),
    /// Counts all.
    number: u64,
    /// Buffers of ranges, to use again.
    spare: Vec<Vec<u8>>,
}

/// Where a range stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) stream: u32,
    pub(crate) place: u32,
    pub(crate) lane: u32,
}

struct Open {
    start: i64,
    /// Whether the start is as it is known by now.
    is_moved: bool,
    nests: bool,
    number: u64,
    fields: Vec<u8>,
}

impl Events {
    fn new(sorter: Sorter, maps: Vec<Option<TimeMap>>, times: RangeInclusive<i64>) -> Self {
        Self {
            sorter,
            maps: maps.into_iter().map(|map| (map, 0)).collect(),
            times,
            unmoved: 0,
            open: HashMap::new(),
            last: Default::default(),
            number: 0,
            spare: Vec::new(),
        }
    }

    /// What comes next in a stream has times by the clocks of this mark.
    pub(crate) fn mark(&mut self, stream: u32, number: u32) {
        self.maps[stream as usize].1 = number;
    }

    /// What a time is by now, and whether that could be told.
    fn moved(&self, stream: u32, side: Side, time: i64) -> (i64, bool) {
        let (Some(map), mark) = &self.maps[stream as usize] else {
            return (time, true);
        };
        match map.time(*mark, side, time) {
            Some(moved) if self.times.contains(&moved) => (moved, true),
            _ => (time, false),
        }
    }

    /// A range begins; `nests` if it was declared to nest in others.
    pub(crate) fn begin(&mut self, lane: Lane, time: i64, nests: bool, fields: &[u8]) {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(fields);
        let number = self.next_number();
        let (start, is_moved) = self.moved(lane.stream, Side::Start, time);
        self.lane(lane).push(Open {
            start,
            is_moved,
            nests,
            number,
            fields: kept,
        });
    }

    /// The fields of the innermost range of a lane.
    pub(crate) fn innermost(&mut self, lane: Lane) -> Option<&[u8]> {
        self.lane(lane).last().map(|range| &range.fields[..])
    }

    /// The innermost range of a lane ends.
    pub(crate) fn end(&mut self, lane: Lane, time: i64, fields: &[u8]) -> io::Result<()> {
        let Some(range) = self.lane(lane).pop() else {
            return Err(bad("a range ends that has not begun"));
        };
        let kind = match range.nests {
            true => Kind::PushPop,
            false => Kind::StartEnd,
        };
        let (end, is_moved) = self.moved(lane.stream, Side::End, time);
        self.unmoved += u64::from(!(is_moved && range.is_moved));
        let key = Key {
            group: lane.stream,
            start: range.start,
            // It may have begun before more was known of its clock.
            rank: !end.max(range.start),
            number: range.number,
        };
        let header = kind.header(lane.place);
        self.sorter.add(key, &[&header, &range.fields, fields])?;
        self.spare.push(range.fields);
        Ok(())
    }

    /// An instant, or a counter's value.
    pub(crate) fn point(
        &mut self,
        stream: u32,
        on: On,
        time: i64,
        fields: &[u8],
    ) -> io::Result<()> {
        let header = match on {
            On::Place(place) => Kind::Instant.header(place),
            On::Counter(counter) => Kind::Value.header(counter),
        };
        let (time, is_moved) = self.moved(stream, Side::Start, time);
        self.unmoved += u64::from(!is_moved);
        let key = Key {
            group: stream,
            start: time,
            rank: !time,
            number: self.next_number(),
        };
        self.sorter.add(key, &[&header, fields])
    }

    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// The open ranges of a lane.
    #[inline]
    fn lane(&mut self, lane: Lane) -> &mut Vec<Open> {
        if self.last.0 != lane {
            let (before, open) = mem::replace(&mut self.last, (lane, Vec::new()));
            if !open.is_empty() {
                self.open.insert(before, open);
            }
            self.last.1 = self.open.remove(&lane).unwrap_or_default();
        }
        &mut self.last.1
    }

    /// All events in order, and how many keep times that are others by now. What has not ended stays
    /// open.
    fn finish(mut self) -> io::Result<(Sorted, u64)> {
        let all = self.open.into_iter().chain([self.last]);
        for (lane, range) in all.flat_map(|(lane, open)| open.into_iter().map(move |r| (lane, r))) {
            let kind = match range.nests {
                true => Kind::OpenPush,
                false => Kind::OpenStart,
            };
            let key = Key {
                group: lane.stream,
                start: range.start,
                rank: !i64::MAX,
                number: range.number,
            };
            self.unmoved += u64::from(!range.is_moved);
            (self.sorter).add(key, &[&kind.header(lane.place), &range.fields])?;
        }
        Ok((self.sorter.finish()?, self.unmoved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::TempDir;

    fn events(dir: &TempDir) -> Events {
        let limits = sorter::Limits::of(1 << 16);
        let sorter = Sorter::new(&dir.path().join("run"), limits);
        Events::new(sorter, vec![None, None], i64::MIN..=i64::MAX)
    }

    #[test]
    fn halves_meet_on_their_lane_and_keep_both_their_fields() {
        let dir = TempDir::new();
        let mut events = events(&dir);
        let lane = |stream, place, lane| Lane {
            stream,
            place,
            lane,
        };
        events.begin(lane(1, 0, 0), 10, true, b"outer,");
        events.begin(lane(1, 0, 1), 11, false, b"other");
        events.begin(lane(1, 0, 0), 12, true, b"inner");
        events.end(lane(1, 0, 0), 15, b"").unwrap();
        events.point(1, On::Counter(4), 13, b"value").unwrap();
        events.point(0, On::Place(2), 14, b"instant").unwrap();
        events.end(lane(1, 0, 0), 20, b"more").unwrap();
        events.begin(lane(1, 3, 2), 10, true, b"stays open");
        let (mut sorted, unmoved) = events.finish().unwrap();
        assert_eq!(unmoved, 0);
        let mut want = [
            (0, 14, 14, Kind::Instant, 2, &b"instant"[..]),
            (1, 10, i64::MAX, Kind::OpenPush, 3, b"stays open"),
            (1, 10, 20, Kind::PushPop, 0, b"outer,more"),
            (1, 11, i64::MAX, Kind::OpenStart, 0, b"other"),
            (1, 12, 15, Kind::PushPop, 0, b"inner"),
            (1, 13, 13, Kind::Value, 4, b"value"),
        ]
        .into_iter();
        while let Some((key, record)) = sorted.next().unwrap() {
            let (stream, start, end, kind, track, fields) = want.next().unwrap();
            assert_eq!((key.group, key.start, !key.rank), (stream, start, end));
            assert_eq!(record, [&kind.header(track), fields].concat());
        }
        assert_eq!(want.len(), 0);
    }

    #[test]
    fn an_end_without_a_begin_is_told() {
        let dir = TempDir::new();
        let mut events = events(&dir);
        let lane = Lane::default();
        events.begin(lane, 10, true, b"");
        events.end(lane, 15, b"").unwrap();
        let error = events.end(lane, 15, b"").unwrap_err();
        assert_eq!(error.to_string(), "a range ends that has not begun");
    }
}
