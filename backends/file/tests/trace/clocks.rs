//! Streams with timestamps of several clocks, of which more is known as time goes on.

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind, SchemaRole};

use crate::arrivals::{FORMATS, Rows, merged};
use crate::reader::Arg;
use crate::replay::Random;
use crate::table::{Domain, Entry, Stream, entry, time, words};
use crate::{Run, seeds};

/// The time line last.
const CLOCKS: [u64; 3] = [
    NVTX_TIMESTAMP_TYPE_CPU_TSC,
    NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
];

/// What a clock shows at a time, which is even and no less than 1000.
fn ticks(clock: usize, time: i64) -> i64 {
    match clock {
        0 => (time - 1000) / 2,
        1 => time - 500,
        _ => time,
    }
}

/// Says so, at two instants.
fn relate(stream: &mut Stream, clock: usize, times: [i64; 2]) {
    for at in times {
        let shown = ticks(clock, at);
        stream
            .sync([CLOCKS[clock], CLOCKS[2]], [shown, at])
            .unwrap();
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Kind, clocks and times.
    Event(EventKind, [usize; 2], [i64; 2], i64),
    Relate(usize, [i64; 2]),
}

/// The schemas of events, by the clocks of their starts and ends.
struct Schemas {
    domain: Domain,
    schemas: Vec<(EventKind, [usize; 2], u64)>,
}

impl Schemas {
    fn new(domain: Domain) -> Self {
        let mut schemas = Vec::new();
        for &kind in EventKind::ALL {
            for start in 0..CLOCKS.len() {
                for end in 0..CLOCKS.len() {
                    let at = |name, role, clock: usize| Entry {
                        clock: Some(CLOCKS[clock]),
                        ..time(name, role)
                    };
                    let begin = at(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, start);
                    let end_at = at(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, end);
                    let mark = at(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK, start);
                    let id = entry(EntryType::RangeId, c"range_id");
                    let message = Entry {
                        flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
                        ..entry(EntryType::RegisteredString, c"name")
                    };
                    let entries: &[_] = match kind {
                        EventKind::Mark => &[mark, message],
                        EventKind::RangePushPop | EventKind::RangeStartEnd => {
                            &[begin, end_at, message]
                        }
                        EventKind::RangePush => &[begin, message],
                        EventKind::RangePop => &[end_at],
                        EventKind::RangeStart => &[begin, id, message],
                        EventKind::RangeEnd => &[end_at, id],
                    };
                    let schema =
                        domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, entries);
                    schemas.push((kind, [start, end], schema));
                }
            }
        }
        Self { domain, schemas }
    }

    /// Returns whether the step is taken.
    fn take(&self, stream: &mut Stream, step: Step) -> bool {
        let (kind, clocks, times, number) = match step {
            Step::Relate(clock, times) => {
                relate(stream, clock, times);
                return true;
            }
            Step::Event(kind, clocks, times, number) => (kind, clocks, times, number),
        };
        let mut schemas = self.schemas.iter();
        let schema = schemas.find(|schema| (schema.0, schema.1) == (kind, clocks));
        let [start, end] = [0, 1].map(|side| ticks(clocks[side], times[side]));
        let name = self.domain.string(&format!("event {number}")) as i64;
        let payload: &[i64] = match kind {
            EventKind::Mark | EventKind::RangePush => &[start, name],
            EventKind::RangePushPop | EventKind::RangeStartEnd => &[start, end, name],
            EventKind::RangePop => &[end],
            EventKind::RangeStart => &[start, number, name],
            EventKind::RangeEnd => &[end, number],
        };
        let (.., schema) = *schema.unwrap();
        stream.event(&[(schema, &words(payload))]).is_ok()
    }
}

/// Events in the order of time, and what is learned in between.
fn steps(random: &mut Random) -> Vec<Step> {
    let (mut pushes, mut starts) = (Vec::new(), Vec::new());
    let mut relations = vec![
        Step::Relate(0, [1000, 1200]),
        Step::Relate(1, [1000, 1000]),
        Step::Relate(0, [3000, 5000]),
    ];
    let count = 60 + random.below(100) as i64;
    let mut all = Vec::new();
    let mut now = 1000;
    for number in 1..=count {
        if random.below(30) == 0 && !relations.is_empty() {
            all.push(relations.remove(0));
        }
        now += 2 * random.below(5) as i64;
        let clocks = [0, 0].map(|_| random.below(3) as usize);
        let end = now + 2 * random.below(40) as i64;
        all.push(match random.below(8) {
            0 => Step::Event(EventKind::RangePushPop, clocks, [now, end], number),
            1 => Step::Event(EventKind::RangeStartEnd, clocks, [now, end], number),
            2 => {
                pushes.push(number);
                Step::Event(EventKind::RangePush, clocks, [now; 2], number)
            }
            3 if pushes.pop().is_some() => {
                Step::Event(EventKind::RangePop, clocks, [now; 2], number)
            }
            4 => {
                starts.push(number);
                Step::Event(EventKind::RangeStart, clocks, [now; 2], number)
            }
            5 if !starts.is_empty() => {
                let index = random.below(starts.len() as u64) as usize;
                let id = starts.swap_remove(index);
                Step::Event(EventKind::RangeEnd, clocks, [now; 2], id)
            }
            _ => Step::Event(EventKind::Mark, clocks, [now; 2], number),
        });
    }
    all.extend(relations);
    all
}

/// Writes what is taken, and tells which that is.
fn write(steps: &[Step], config: &str) -> (Run, Vec<Step>) {
    let run = Run::with(config);
    let domain = run.session.domain("");
    let schemas = Schemas::new(domain);
    let mut stream = run.session.stream("main", domain, 0);
    let mut taken = steps.to_vec();
    taken.retain(|step| schemas.take(&mut stream, *step));
    stream.close().unwrap();
    (run, taken)
}

#[test]
fn whatever_is_known_late_of_several_clocks_the_rows_are_those_of_full_knowledge() {
    let (mut all, mut counted) = (0, 0);
    for seed in seeds(30) {
        let mut random = Random::new(seed);
        let steps = steps(&mut random);
        let window = 2 + random.below(30);
        let format = FORMATS[usize::from(seed % 4 == 0)];
        let (run, taken) = write(&steps, &format!("{format}|window={window}"));
        let trace = merged(run);
        if trace.attributes.contains_key("nvtxw.before_sync") {
            // By what was known in between, a range ended before it started.
            counted += 1;
            continue;
        }
        let (first, rest): (Vec<_>, Vec<_>) =
            (taken.iter()).partition(|step| matches!(step, Step::Relate(..)));
        let (run, known) = write(&[first, rest].concat(), format);
        assert_eq!(known.len(), taken.len(), "what was believed in was right");
        assert_eq!(Rows::of(&trace), Rows::of(&merged(run)), "seed {seed}");
        all += taken.len();
    }
    assert!(all > 2_000 && counted < 20, "{all} {counted}");
}

/// Ranges by a clock of which more and more is known, in batches and alone, and in another stream each with a payload
/// more, so that it is read field by field.
fn check_batches(seed: u64, config: &str) {
    let mut random = Random::new(seed);
    let run = Run::with(config);
    let domain = run.session.domain("");
    let at = |name, role| Entry {
        clock: Some(CLOCKS[1]),
        ..time(name, role)
    };
    let entries = [
        at(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        at(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        entry(EntryType::UInt64, c"number"),
    ];
    let schema = domain.schema("step", EventKind::RangeStartEnd.to_raw(), 24, &entries);
    let hidden = Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
        ..entry(EntryType::Int64, c"more")
    };
    let more = domain.schema("more", 0, 8, &[hidden]);
    let mut batches = run.session.stream("batches", domain, 0);
    let mut singles = run.session.stream("singles", domain, 0);
    let (mut ticks, mut shown, mut count) = (0, 1000, 0);
    for _ in 0..30 {
        // Ticks in which the clock is as fast as it was, or faster or slower.
        let next = ticks + 1 + random.below(3000) as i64;
        let known = random.below(3) > 0;
        if known {
            let clocks = [CLOCKS[1], CLOCKS[2]];
            batches.sync(clocks, [ticks, shown]).unwrap();
        }
        let mut batch = Vec::new();
        for _ in 0..1 + random.below(60) {
            let start = random.below(next as u64) as i64;
            let start = ticks + (start % (next - ticks));
            count += 1;
            let payload = words(&[start, start + random.below(90) as i64, count]);
            if random.below(9) == 0 {
                batches.event(&[(schema, &payload)]).unwrap();
            } else {
                batch.extend_from_slice(&payload);
            }
            let all = [(schema, &payload[..]), (more, &words(&[1]))];
            singles.event(&all).unwrap();
        }
        if !batch.is_empty() {
            batches.batch(schema, &batch).unwrap();
        }
        shown += (next - ticks) * (1 + random.below(5) as i64) / 2 + 1;
        ticks = next;
    }
    let trace = run.read();
    let [batches, singles] = ["batches", "singles"].map(|stream| {
        let mine = trace.ranges.iter().filter(|range| range.track == [stream]);
        let mut mine: Vec<_> = mine
            .map(|range| {
                let number = format!("{:?}", range.arg("number"));
                (range.start, range.end, number)
            })
            .collect();
        mine.sort();
        mine
    });
    assert_eq!(batches.len(), count as usize);
    assert_eq!(batches, singles, "{seed} {config}");
}

#[test]
fn batches_by_a_clock_have_the_times_of_single_events() {
    for seed in 0..12 {
        for config in ["", "window=20"] {
            check_batches(seed, config);
        }
    }
}

#[test]
fn a_tick_between_others_that_keep_their_times_may_get_another_one() {
    for format in FORMATS {
        let run = Run::with(format);
        let domain = run.session.domain("");
        let schemas = Schemas::new(domain);
        let mut stream = run.session.stream("main", domain, 0);
        let clocks = [CLOCKS[1], CLOCKS[2]];
        for times in [[500, 1000], [570, 1100]] {
            stream.sync(clocks, times).unwrap();
        }
        // They show 501, 521 and 530.
        for (time, number) in [(1001, 1), (1021, 2), (1030, 3)] {
            let mark = Step::Event(EventKind::Mark, [1; 2], [time; 2], number);
            assert!(schemas.take(&mut stream, mark));
        }
        stream.close().unwrap();
        let mut other = run.session.stream("other", domain, 0);
        other.sync(clocks, [530, 1042]).unwrap();
        let trace = merged(run);
        let time = |number: i64| trace.instant(&format!("event {number}")).start;
        // 1.4 nanoseconds for each tick, and not ten sevenths any more.
        assert_eq!([1, 2, 3].map(time), [1001, 1029, 1042], "{format}");
    }
}

#[test]
fn an_end_from_another_stream_leaves_the_clock_of_what_comes_next() {
    const MONOTONIC: [usize; 2] = [2; 2];
    for format in FORMATS {
        let run = Run::with(&format!("{format}|window=2"));
        let domain = run.session.domain("");
        let schemas = Schemas::new(domain);
        let at = Entry {
            clock: Some(CLOCKS[1]),
            ..time(c"time", 0)
        };
        let group = [at, entry(EntryType::Int64, c"value")];
        let group = domain.schema("load", SchemaRole::CounterGroup.flags(), 16, &group);
        let counter = domain.counter("load", group, 0, None);
        let mut one = run.session.stream("one", domain, 0);
        let mut other = run.session.stream("other", domain, 0);
        let start = |stream: &mut Stream, clocks, at, number| {
            let step = Step::Event(EventKind::RangeStart, clocks, [at; 2], number);
            assert!(schemas.take(stream, step));
        };
        let end = |stream: &mut Stream, clocks, at, number| {
            let step = Step::Event(EventKind::RangeEnd, clocks, [at; 2], number);
            assert!(schemas.take(stream, step));
        };
        for (number, at) in [(1, 1000), (2, 1050), (3, 1100)] {
            start(&mut one, MONOTONIC, at, number);
        }
        end(&mut other, MONOTONIC, 1200, 1);
        start(&mut one, [1; 2], 1210, 4);
        end(&mut other, MONOTONIC, 1220, 2);
        end(&mut one, [1; 2], 1230, 4);
        end(&mut other, MONOTONIC, 1240, 3);
        let times: Vec<_> = (0..8).map(|step| 1300 + step).collect();
        let samples: Vec<u8> = (times.iter())
            .flat_map(|at| words(&[ticks(1, *at), *at]))
            .collect();
        one.samples(counter, &samples).unwrap();
        relate(&mut other, 1, [1000, 3000]);
        let trace = merged(run);
        let range = trace.range("event 4");
        assert_eq!((range.start, range.end), (1210, Some(1230)), "{format}");
        let mut found: Vec<_> = trace.values.iter().map(|value| value.1 as i64).collect();
        found.sort();
        assert_eq!(found, times, "{format}");
    }
}

#[test]
fn what_has_begun_in_the_file_gets_the_time_that_its_clock_tells_later() {
    for format in FORMATS {
        let run = Run::with(&format!("{format}|window=2"));
        let schemas = Schemas::new(run.session.domain(""));
        let mut other = run.session.stream("other", schemas.domain, 0);
        for (kind, name) in [(EventKind::RangePush, "a"), (EventKind::RangeStart, "b")] {
            let mut stream = run.session.stream(name, schemas.domain, 0);
            let number = i64::from(kind == EventKind::RangeStart);
            assert!(schemas.take(&mut stream, Step::Event(kind, [1; 2], [1200; 2], number)));
            for at in 0..6 {
                let mark = Step::Event(EventKind::Mark, [2; 2], [2000 + at; 2], 10 + at);
                assert!(schemas.take(&mut stream, mark));
            }
            stream.close().unwrap();
        }
        relate(&mut other, 1, [1000, 3000]);
        let trace = merged(run);
        for name in ["event 0", "event 1"] {
            let range = trace.range(name);
            assert_eq!((range.start, range.end), (1200, None), "{name}, {format}");
        }
    }
}

#[test]
fn another_stream_ends_a_range_whose_start_has_another_time_by_then() {
    for format in FORMATS {
        let run = Run::with(format);
        let schemas = Schemas::new(run.session.domain(""));
        let [mut one, mut other] =
            ["one", "other"].map(|name| run.session.stream(name, schemas.domain, 0));
        let step = |kind| Step::Event(kind, [1; 2], [1200; 2], 1);
        assert!(schemas.take(&mut one, step(EventKind::RangeStart)));
        // It started at 700 before.
        let clocks = [CLOCKS[1], CLOCKS[2]];
        one.sync(clocks, [ticks(1, 1200), 300]).unwrap();
        assert!(schemas.take(&mut other, step(EventKind::RangeEnd)));
        let trace = merged(run);
        let range = trace.range("event 1");
        assert_eq!((range.start, range.end), (300, Some(300)), "{format}");
    }
}

#[test]
fn an_end_that_waits_for_an_inner_one_gets_the_time_that_is_known_then() {
    for format in FORMATS {
        let run = Run::with(&format!("{format}|window=2"));
        let schemas = Schemas::new(run.session.domain(""));
        let mut stream = run.session.stream("main", schemas.domain, 0);
        let mut take = |kind, clock, at, number| {
            let step = Step::Event(kind, [clock; 2], [at; 2], number);
            assert!(schemas.take(&mut stream, step));
        };
        take(EventKind::RangePush, 2, 1000, 1);
        take(EventKind::RangePush, 2, 1010, 2);
        for number in 10..16 {
            take(EventKind::Mark, 2, 1100, number);
        }
        // The outer one ends first: at 1400, by what is known.
        take(EventKind::RangePop, 2, 1500, 0);
        take(EventKind::RangePop, 1, 1900, 0);
        let clocks = [CLOCKS[1], CLOCKS[2]];
        let mut other = run.session.stream("other", schemas.domain, 0);
        other.sync(clocks, [ticks(1, 1900), 1450]).unwrap();
        for number in 20..26 {
            take(EventKind::Mark, 2, 1600, number);
        }
        let trace = merged(run);
        let times = |name| (trace.range(name).start, trace.range(name).end);
        assert_eq!(times("event 1"), (1000, Some(1450)), "{format}");
        assert_eq!(times("event 2"), (1010, Some(1500)), "{format}");
    }
}

#[test]
fn a_range_that_has_no_length_goes_where_its_start_goes() {
    for format in FORMATS {
        for kind in [EventKind::RangePushPop, EventKind::RangeStartEnd] {
            let run = Run::with(&format!("{format}|window=2"));
            let schemas = Schemas::new(run.session.domain(""));
            let mut stream = run.session.stream("main", schemas.domain, 0);
            let step = Step::Event(kind, [1, 2], [1200, 1250], 1);
            assert!(schemas.take(&mut stream, step));
            // It would start at 1700 and end at 1250.
            let clocks = [CLOCKS[1], CLOCKS[2]];
            stream.sync(clocks, [1000, 2000]).unwrap();
            for number in 10..16 {
                let mark = Step::Event(EventKind::Mark, [2; 2], [2000; 2], number);
                assert!(schemas.take(&mut stream, mark));
            }
            stream.sync(clocks, [800, 1790]).unwrap();
            let trace = merged(run);
            let range = trace.range("event 1");
            assert_eq!((range.start, range.end), (1690, Some(1690)), "{format}");
            assert_eq!(trace.attributes["nvtxw.before_sync"], Arg::Int(1));
        }
    }
}

#[test]
fn an_end_from_another_stream_counts_although_the_start_turns_out_to_be_later() {
    for format in FORMATS {
        let run = Run::with(format);
        let schemas = Schemas::new(run.session.domain(""));
        let [mut one, mut other] =
            ["one", "other"].map(|name| run.session.stream(name, schemas.domain, 0));
        let start = Step::Event(EventKind::RangeStart, [1; 2], [1200; 2], 1);
        assert!(schemas.take(&mut one, start));
        let end = Step::Event(EventKind::RangeEnd, [2; 2], [1250; 2], 1);
        assert!(schemas.take(&mut other, end));
        one.sync([CLOCKS[1], CLOCKS[2]], [700, 1300]).unwrap();
        let mark = Step::Event(EventKind::Mark, [1; 2], [1300; 2], 2);
        assert!(schemas.take(&mut one, mark));
        let trace = merged(run);
        let range = trace.range("event 1");
        assert_eq!((range.start, range.end), (1300, Some(1300)), "{format}");
        assert_eq!(trace.attributes["nvtxw.before_sync"], Arg::Int(1));
    }
}
