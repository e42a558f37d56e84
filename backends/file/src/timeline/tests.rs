mod chain;
mod open;
mod order;
mod random;
mod settled;

use std::collections::HashMap;

use super::*;
use crate::replay::Random;

const BEGIN: u8 = 1;
const END: u8 = 2;
const INSTANT: u8 = 3;

/// A window that takes all.
const ALL: usize = 1 << 20;

/// What a timeline emits; fields are one range's number.
#[derive(Default)]
struct Recorder {
    events: Vec<(i64, u8, Lane, Vec<u8>)>,
    /// How many events came together that were ready.
    runs: Vec<u64>,
    /// When the last range ended that led or followed, and how many followed.
    latest: i64,
    followers: u64,
}

/// A place and one of its lanes.
type Lane = (u32, u32);

/// How long an event is that is ready.
const READY: usize = 21;

fn make_ready(out: &mut Writer, kind: u8, start: i64, end: i64, fields: &[u8; 4]) {
    out.raw(&[kind]);
    out.raw(&start.to_le_bytes());
    out.raw(&end.to_le_bytes());
    out.raw(fields);
}

fn parse(bytes: &[u8]) -> (u8, i64, i64, &[u8]) {
    let number = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(bytes.len(), READY);
    (bytes[0], number(1), number(9), &bytes[17..])
}

impl Emit for Recorder {
    fn holds(&self, time: i64) -> bool {
        time >= 0
    }

    fn range(&mut self, place: u32, lane: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        self.begin(place, lane, start, nests, fields);
        self.end(place, lane, end, end, &[]);
    }

    fn begin(&mut self, place: u32, lane: u32, time: i64, _nests: bool, fields: &[u8]) {
        (self.events).push((time, BEGIN, (place, lane), fields.to_vec()));
    }

    fn end(&mut self, place: u32, lane: u32, time: i64, _asked: i64, fields: &[u8]) {
        (self.events).push((time, END, (place, lane), fields.to_vec()));
    }

    fn instant(&mut self, place: u32, time: i64, fields: &[u8]) {
        (self.events).push((time, INSTANT, (place, 0), fields.to_vec()));
    }

    fn value(&mut self, _counter: u32, _time: i64, _fields: &[u8]) {}

    fn leads(&self, start: i64) -> bool {
        start >= self.latest
    }

    fn lead(&mut self, place: u32, start: i64, end: i64, nests: bool, fields: &[u8]) {
        assert!(self.leads(start));
        self.range(place, 0, start, end, nests, fields);
        self.latest = end;
    }

    fn follow(&mut self, place: u32, events: u64, bytes: &[u8], end: i64) {
        let (all, rest) = bytes.as_chunks::<READY>();
        assert!(rest.is_empty());
        assert_eq!(all.len() as u64, events);
        for bytes in all {
            let (_, gap, duration, fields) = parse(bytes);
            assert!(gap >= 0);
            let start = self.latest + gap;
            self.latest = start + duration;
            self.range(place, 0, start, self.latest, true, fields);
        }
        assert_eq!(self.latest, end);
        self.followers += events;
    }

    fn ready_to_keep(&mut self, on: On, events: u64, bytes: &mut Writer, range: Range<usize>) {
        let kept = mem::take(bytes);
        self.ready(on, events, &kept.as_bytes()[range]);
    }

    fn ready(&mut self, on: On, events: u64, bytes: &[u8]) {
        let On::Place(place) = on else {
            panic!("a counter");
        };
        let (all, rest) = bytes.as_chunks::<READY>();
        assert!(rest.is_empty());
        assert_eq!(all.len() as u64, events);
        self.runs.push(events);
        for bytes in all {
            let (kind, start, end, fields) = parse(bytes);
            match kind {
                INSTANT => self.instant(place, start, fields),
                _ => self.range(place, 0, start, end, true, fields),
            }
        }
    }

    fn fields_of(ready: &[u8]) -> &[u8] {
        let (_, _, _, fields) = parse(ready);
        fields
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    number: u32,
    place: u32,
    start: i64,
    end: Option<i64>,
}

#[derive(Debug)]
struct Row {
    seen: Seen,
    lane: u32,
    depth: usize,
}

impl Recorder {
    /// Pairs begins with ends as readers do.
    fn rows(mut self) -> Vec<Row> {
        self.events.sort_by_key(|event| event.0);
        let mut rows: Vec<Row> = Vec::new();
        let mut open: HashMap<Lane, Vec<usize>> = HashMap::new();
        for (time, kind, track, fields) in self.events {
            let stack = open.entry(track).or_default();
            if kind == END {
                let row = stack.pop().expect("an end with nothing open");
                rows[row].seen.end = Some(time);
                continue;
            }
            rows.push(Row {
                seen: Seen {
                    number: u32::from_le_bytes(fields[..4].try_into().unwrap()),
                    place: track.0,
                    start: time,
                    end: (kind == INSTANT).then_some(time),
                },
                lane: track.1,
                depth: stack.len(),
            });
            if kind == BEGIN {
                assert!(stack.len() < 512);
                stack.push(rows.len() - 1);
            }
        }
        rows
    }
}

/// A timeline that is fed numbered events, and what a reader must find.
struct Stream {
    timeline: Timeline,
    out: Recorder,
    want: Vec<Seen>,
    count: u32,
    /// After how many arrivals all is written; 0: never.
    period: u64,
    arrivals: u64,
}

impl Stream {
    fn new(items: usize) -> Self {
        let mut timeline = Timeline::new(Limits {
            items,
            bytes: usize::MAX,
        });
        timeline.add_place();
        timeline.add_place();
        Self {
            timeline,
            out: Recorder::default(),
            want: Vec::new(),
            count: 0,
            period: 0,
            arrivals: 0,
        }
    }

    fn expect(&mut self, place: u32, start: i64, end: Option<i64>) -> [u8; 4] {
        self.count += 1;
        self.want.push(Seen {
            number: self.count,
            place,
            start,
            end,
        });
        self.count.to_le_bytes()
    }

    /// Two of three events are ready.
    fn content<'f>(&mut self, kind: u8, start: i64, end: i64, fields: &'f [u8; 4]) -> Content<'f> {
        if self.count.is_multiple_of(3) {
            return Content::Fields(fields);
        }
        make_ready(self.timeline.buffer(), kind, start, end, fields);
        Content::Ready(match self.count % 3 {
            1 => Base::Decided,
            _ => Base::Zero,
        })
    }

    fn range(&mut self, place: u32, start: i64, end: i64, nests: bool) {
        let fields = self.expect(place, start, Some(end));
        self.timeline
            .range(place, start, end, nests, Content::Fields(&fields));
        self.flush();
    }

    fn instant(&mut self, place: u32, time: i64) {
        let fields = self.expect(place, time, Some(time));
        let content = self.content(INSTANT, time, time, &fields);
        self.timeline.instant(place, time, content);
        self.flush();
    }

    /// The number of the pushed range.
    fn push(&mut self, place: u32, time: i64) -> u32 {
        let fields = self.expect(place, time, None);
        self.timeline.push(place, time, &fields);
        self.flush();
        self.count
    }

    fn pop(&mut self, place: u32, number: u32, time: i64) {
        self.want[number as usize - 1].end = Some(time);
        self.timeline.pop(place, time, &[]);
        self.flush();
    }

    fn start(&mut self, place: u32, time: i64) -> u32 {
        let fields = self.expect(place, time, None);
        let id = self.count.into();
        assert!(self.timeline.start(place, time, id, &fields));
        self.flush();
        self.count
    }

    fn end(&mut self, number: u32, time: i64) {
        self.want[number as usize - 1].end = Some(time);
        self.timeline.end(number.into(), time, &[]);
        self.flush();
    }

    fn flush(&mut self) {
        self.arrivals += 1;
        if !self.timeline.make_room() && self.timeline.must_write() {
            self.timeline.flush(&mut self.out);
            self.timeline.share_memory();
        }
        if self.period > 0 && self.arrivals.is_multiple_of(self.period) {
            self.timeline.flush_all(&mut self.out);
            assert!(!self.timeline.has_waiting());
        }
    }

    fn finish(mut self) -> (Vec<Row>, Tally) {
        self.timeline.finish(&mut self.out);
        let rows = self.out.rows();
        let mut got: Vec<_> = rows.iter().map(|row| row.seen.clone()).collect();
        got.sort();
        for (want, got) in self.want.iter().zip(&got) {
            assert_eq!(want, got);
        }
        assert_eq!(self.want.len(), got.len());
        (rows, self.timeline.tally)
    }
}

/// Depth and lane of each range, by number.
fn spots(rows: &[Row]) -> Vec<(usize, u32)> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|row| row.seen.number);
    rows.iter().map(|row| (row.depth, row.lane)).collect()
}

#[test]
fn overlapping_ranges_both_keep_their_durations() {
    for nests in [true, false] {
        let mut stream = Stream::new(100);
        stream.range(0, 0, 300, nests);
        stream.range(0, 100, 400, nests);
        let (rows, tally) = stream.finish();
        assert_eq!(spots(&rows), [(0, 0), (0, 1)]);
        assert_eq!(tally.overlapping_pushpop, u64::from(nests));
    }
}

#[test]
fn six_orders_of_a_parent_and_its_children() {
    let ranges = [(0, 110), (0, 100), (100, 110)];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        for nests in [true, false] {
            let mut stream = Stream::new(100);
            for i in order {
                stream.range(0, ranges[i].0, ranges[i].1, nests);
            }
            let (rows, tally) = stream.finish();
            for row in rows {
                let want = usize::from(row.seen.end != Some(110) || row.seen.start != 0);
                assert_eq!(row.depth, want, "{order:?} {row:?}");
                assert_eq!(row.lane, 0);
            }
            assert_eq!(tally, Tally::default());
        }
    }
}

#[test]
fn equal_ranges_nest_in_the_order_of_their_first_halves() {
    let mut stream = Stream::new(100);
    let outer = stream.push(0, 10);
    let inner = stream.push(0, 10);
    stream.pop(0, inner, 20);
    stream.pop(0, outer, 20);
    let (rows, _) = stream.finish();
    assert_eq!(spots(&rows), [(0, 0), (1, 0)]);
}

#[test]
fn zero_length_ranges_stay_whole() {
    let mut stream = Stream::new(100);
    stream.range(0, 0, 10, true);
    stream.range(0, 10, 10, true);
    stream.range(0, 0, 20, true);
    stream.range(0, 5, 5, true);
    stream.instant(0, 10);
    let (rows, _) = stream.finish();
    assert_eq!(spots(&rows), [(1, 0), (1, 0), (0, 0), (2, 0), (1, 0)]);
}

#[test]
fn what_stays_open_has_no_end() {
    let mut stream = Stream::new(2);
    stream.push(0, 0);
    stream.start(0, 1);
    let inner = stream.push(0, 2);
    for i in 0..10 {
        stream.range(0, 3 + i, 3 + i, true);
        stream.range(0, 3 + i, 30 + i, false);
    }
    stream.pop(0, inner, 20);
    stream.push(0, 25);
    stream.start(0, 26);
    let (rows, tally) = stream.finish();
    let spots = spots(&rows);
    assert_eq!(spots[0], (0, 0));
    assert_eq!(spots[2], (1, 0));
    assert_eq!(spots[spots.len() - 2], (1, 0));
    assert_eq!(tally.left_open, 4);
    // Each start has a lane where nothing comes later.
    for number in [1, spots.len() - 1] {
        let lane = spots[number].1;
        assert_eq!(spots.iter().filter(|spot| spot.1 == lane).count(), 1);
    }
}

#[test]
fn the_end_of_a_written_push_comes_in_its_place() {
    let mut stream = Stream::new(4);
    let outer = stream.push(0, 0);
    for i in 0..20 {
        stream.range(0, i * 10, i * 10 + 10, true);
    }
    // The pop comes before siblings of the same instant, and is not the last in the window.
    stream.pop(0, outer, 200);
    stream.range(0, 200, 210, true);
    stream.range(0, 195, 196, true);
    let (rows, tally) = stream.finish();
    let spots = spots(&rows);
    assert_eq!(spots[0], (0, 0));
    assert!(spots[1..21].iter().all(|&spot| spot == (1, 0)));
    assert_eq!(spots[21], (0, 0));
    assert_eq!(tally.overlapping_pushpop, 0);
}

#[test]
fn a_pop_that_cuts_a_child_is_moved_to_its_end() {
    let mut timeline = Timeline::new(Limits::default());
    let mut out = Recorder::default();
    let place = timeline.add_place();
    timeline.push(place, 0, &[1, 0, 0, 0]);
    timeline.range(place, 10, 90, true, Content::Fields(&[2, 0, 0, 0]));
    timeline.flush(&mut out);
    timeline.pop(place, 50, &[]);
    timeline.finish(&mut out);
    let rows = out.rows();
    assert_eq!(rows[0].seen.end, Some(90));
    assert_eq!(rows[1].seen.end, Some(90));
    assert_eq!(timeline.tally.overlapping_pushpop, 1);
}

#[test]
fn times_outside_of_the_base_are_dropped_and_counted() {
    let mut timeline = Timeline::new(Limits::default());
    let mut out = Recorder::default();
    let place = timeline.add_place();
    timeline.range(place, -1, 5, true, Content::Fields(&[1, 0, 0, 0]));
    timeline.range(place, 5, 6, true, Content::Fields(&[2, 0, 0, 0]));
    timeline.instant(place, -2, Content::Fields(&[3, 0, 0, 0]));
    timeline.push(place, -3, &[4, 0, 0, 0]);
    timeline.flush(&mut out);
    timeline.pop(place, 7, &[]);
    timeline.push(place, -4, &[5, 0, 0, 0]);
    timeline.start(place, -5, 1, &[6, 0, 0, 0]);
    timeline.finish(&mut out);
    let rows = out.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].seen.number, 2);
    assert_eq!(timeline.tally.outside_base, 5);
    assert_eq!(timeline.tally.left_open, 0);
}

#[test]
fn windows_share_a_budget_and_give_back_what_others_need() {
    let limits = Limits::of(1 << 12);
    // One full window takes 4096 items, and 512 KiB for their bytes.
    const MEMORY: usize = 800_000;
    let budget = Arc::new(Budget::new(MEMORY));
    let mut out = Recorder::default();
    let mut write = |timeline: &mut Timeline, time: i64| {
        timeline.instant(0, time, Content::Fields(&[0; 64]));
        if !timeline.make_room() {
            timeline.flush(&mut out);
            timeline.share_memory();
        }
    };
    let [mut one, mut other] = [0; 2].map(|_| Timeline::within(limits, &budget));
    one.add_place();
    other.add_place();
    let alone = 1 << 11;
    for time in 0..alone {
        write(&mut one, time);
    }
    let most = one.allowed.size();
    assert!(most > MEMORY / 2, "one alone may have more than its part");
    let mut least = most;
    for time in alone..1 << 15 {
        write(&mut one, time);
        write(&mut other, time);
        least = least.min(one.allowed.size());
        let both = one.allowed.size() + other.allowed.size();
        assert!(both <= MEMORY, "{both} at {time}");
    }
    assert!(least < most, "it gave some to the other");
    assert!(least > LEAST.size() && other.allowed.size() > LEAST.size());
}

#[test]
fn events_keep_the_epoch_of_their_times_as_a_window_grows() {
    let mut timeline = Timeline::new(Limits::default());
    let mut out = Recorder::default();
    let place = timeline.add_place();
    let count = 1 << 12;
    for time in 0..count {
        // Each thousand is of an epoch of its own.
        if time > 0 && time % 1000 == 0 {
            timeline.begin_epoch((time / 1000) as u32);
        }
        timeline.instant(place, time, Content::Fields(&(time as u32).to_le_bytes()));
        assert!(timeline.make_room());
    }
    let mut met = Vec::new();
    timeline.retime(|epoch, _, time| {
        met.push((i64::from(epoch), time));
        Some(time)
    });
    assert!(met.iter().all(|(epoch, time)| *epoch == time / 1000));
    met.dedup_by_key(|(_, time)| *time);
    assert_eq!(met.len(), count as usize);
    timeline.finish(&mut out);
    assert_eq!(out.rows().len(), count as usize);
}

#[test]
fn events_keep_the_epoch_of_their_times_after_a_window_that_had_grown() {
    let mut timeline = Timeline::new(Limits::default());
    let mut out = Recorder::default();
    let place = timeline.add_place();
    let write = |timeline: &mut Timeline, times: Range<i64>| {
        for time in times {
            timeline.instant(place, time, Content::Fields(b""));
            assert!(timeline.make_room());
        }
    };
    timeline.begin_epoch(1);
    write(&mut timeline, 0..1000);
    timeline.flush_all(&mut out);
    write(&mut timeline, 1000..1600);
    timeline.begin_epoch(2);
    write(&mut timeline, 1600..1700);
    let mut met = Vec::new();
    timeline.retime(|epoch, _, time| {
        met.push((epoch, time));
        Some(time)
    });
    met.dedup_by_key(|(_, time)| *time);
    let want: Vec<_> = (1000..1700)
        .map(|time| (if time < 1600 { 1 } else { 2 }, time))
        .collect();
    assert_eq!(met, want);
}
