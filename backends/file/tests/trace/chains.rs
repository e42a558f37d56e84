//! Ranges that follow one another, in batches and alone, beside all else that may come between them: however they
//! are put together on their way, a reader finds what it finds if each is written alone.

use std::thread;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::arrivals::{Rows, merged};
use crate::replay::Random;
use crate::table::{Domain, Entry, Order, Stream, entry, time, words};

/// The time line last. Its ticks are the file's times.
const CLOCKS: [u64; 2] = [
    NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
];

#[derive(Clone, Debug)]
enum Step {
    Ranges {
        /// Of nesting ones, and of others; of a clock.
        schema: usize,
        scope: usize,
        ranges: Vec<[i64; 3]>,
        is_batch: bool,
        flags: u64,
    },
    Mark(i64, usize, i64),
    Push(i64, usize, i64),
    Pop(i64, usize),
    Start(i64, usize, i64),
    End(i64, i64),
    Sample(i64, i64),
    Sync([i64; 2]),
}

struct Schemas {
    /// By whether they nest, and by clock.
    ranges: [u64; 4],
    /// The same, where each event names its scope.
    scoped: [u64; 4],
    mark: u64,
    push: u64,
    pop: u64,
    start: u64,
    end: u64,
    more: u64,
    counter: u64,
    /// By stream.
    scopes: [[u64; 3]; 2],
    name: i64,
}

impl Schemas {
    fn new(domain: Domain) -> Self {
        let at = |name, role, clock: usize| Entry {
            clock: Some(CLOCKS[clock]),
            ..time(name, role)
        };
        let begin = |clock| at(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, clock);
        let end = |clock| at(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, clock);
        let name = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"name")
        };
        let number = entry(EntryType::Int64, c"number");
        let scope = entry(EntryType::ScopeId, c"scope");
        let id = entry(EntryType::RangeId, c"range_id");
        let schema = |kind: EventKind, entries: &[Entry<'_>]| {
            domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, entries)
        };
        let ranges = |more: &[Entry<'_>]| {
            [0, 1, 2, 3].map(|index| {
                let kind = match index / 2 {
                    0 => EventKind::RangePushPop,
                    _ => EventKind::RangeStartEnd,
                };
                let clock = index % 2;
                schema(
                    kind,
                    &[&[begin(clock), end(clock), name, number], more].concat(),
                )
            })
        };
        let hidden = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::Int64, c"more")
        };
        let mark = at(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK, 1);
        Self {
            ranges: ranges(&[]),
            scoped: ranges(&[scope]),
            mark: schema(EventKind::Mark, &[mark, number, scope]),
            push: schema(EventKind::RangePush, &[begin(1), number, scope]),
            pop: schema(EventKind::RangePop, &[end(1), scope]),
            start: schema(EventKind::RangeStart, &[id, begin(1), number, scope]),
            end: schema(EventKind::RangeEnd, &[id, end(1)]),
            more: domain.schema("more", 0, 8, &[hidden]),
            counter: domain.counter("load", EntryType::Int64.to_raw(), 0, None),
            scopes: ["a", "b"].map(|stream| {
                let scope = |name| domain.scope(NVTX_SCOPE_ROOT, &format!("{stream} {name}"));
                [scope("main"), scope("one"), scope("two")]
            }),
            name: domain.string("step") as i64,
        }
    }

    fn one(&self, stream: &mut Stream, schema: u64, payload: &[i64], is_slow: bool) {
        let (payload, more) = (words(payload), words(&[1]));
        let all = [(schema, &payload[..]), (self.more, &more[..])];
        stream.event(&all[..1 + usize::from(is_slow)]).unwrap();
    }

    fn take(&self, (stream, number): (&mut Stream, usize), step: &Step, is_slow: bool) {
        let scope = |index: &usize| self.scopes[number][*index] as i64;
        match step {
            Step::Ranges {
                schema,
                scope: at,
                ranges,
                is_batch,
                flags,
            } => {
                if *is_batch && !is_slow {
                    let all = ranges.iter().flat_map(|[start, end, number]| {
                        words(&[*start, *end, self.name, *number])
                    });
                    let all: Vec<_> = all.collect();
                    stream
                        .scoped_batch(self.ranges[*schema], scope(at) as u64, &all, *flags, &[])
                        .unwrap();
                    return;
                }
                for [start, end, number] in ranges {
                    let payload = [*start, *end, self.name, *number, scope(at)];
                    match *at == 0 {
                        true => self.one(stream, self.ranges[*schema], &payload[..4], is_slow),
                        false => self.one(stream, self.scoped[*schema], &payload, is_slow),
                    }
                }
            }
            Step::Mark(at, place, number) => {
                self.one(stream, self.mark, &[*at, *number, scope(place)], is_slow);
            }
            Step::Push(at, place, number) => {
                self.one(stream, self.push, &[*at, *number, scope(place)], is_slow);
            }
            Step::Pop(at, place) => {
                self.one(stream, self.pop, &[*at, scope(place)], is_slow);
            }
            Step::Start(at, place, number) => {
                let payload = [*number, *at, *number, scope(place)];
                self.one(stream, self.start, &payload, is_slow);
            }
            Step::End(at, number) => self.one(stream, self.end, &[*number, *at], is_slow),
            Step::Sample(at, value) => {
                stream
                    .sample(*at, self.counter, &value.to_ne_bytes())
                    .unwrap();
            }
            Step::Sync(times) => stream.sync(CLOCKS, *times).unwrap(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Mix {
    has_halves: bool,
    has_clocks: bool,
    has_late: bool,
    has_claims: bool,
    length: u64,
}

/// Ticks and times of a clock whose speed changes.
fn knots(random: &mut Random, from: i64) -> Vec<[i64; 2]> {
    let (mut ticks, mut at) = (from / 3 + 7, from);
    (0..40)
        .map(|_| {
            // No tick is shorter than a nanosecond: others can't be told from what was written.
            let more = 20 + random.below(400) as i64;
            ticks += more;
            at += more + random.below(400) as i64;
            [ticks, at]
        })
        .collect()
}

fn ticks(knots: &[[i64; 2]], at: i64) -> i64 {
    let index = knots
        .partition_point(|knot| knot[1] <= at)
        .clamp(1, knots.len() - 1);
    let [[t0, a0], [t1, a1]] = [knots[index - 1], knots[index]];
    t0 + (at - a0) * (t1 - t0) / (a1 - a0)
}

/// What each of the streams does, in the order in which they take turns.
fn steps(random: &mut Random, mix: Mix, from: i64) -> Vec<(usize, Step)> {
    const STREAMS: usize = 2;
    let knots = knots(random, from);
    let mut syncs = knots.clone();
    let mut all = Vec::new();
    let mut number = 0;
    let (mut now, mut latest) = ([from; STREAMS], [from; STREAMS]);
    let mut pushes = vec![vec![0; 3]; STREAMS];
    let mut starts: Vec<Vec<i64>> = vec![Vec::new(); STREAMS];
    let count = 20 + random.below(mix.length);
    let (mut stream, mut kind, mut scope) = (0, 0, 0);
    for _ in 0..count {
        if random.below(4) == 0 {
            stream = random.below(STREAMS as u64) as usize;
        }
        if random.below(5) == 0 {
            kind = random.below(4) as usize;
        }
        if random.below(6) == 0 {
            scope = random.below(3) as usize;
        }
        if !mix.has_clocks {
            kind |= 1;
        }
        if mix.has_clocks && random.below(9) == 0 && !syncs.is_empty() {
            let index = match random.below(3) {
                0 => random.below(syncs.len() as u64) as usize,
                _ => 0,
            };
            all.push((stream, Step::Sync(syncs.remove(index))));
        }
        let at = &mut now[stream];
        number += 1;
        latest[stream] = latest[stream].max(*at);
        // Halves come in the order of time: one that is open holds those that come later.
        let latest = latest[stream];
        let step = match random.below(16) {
            0 => Step::Mark(*at + random.below(5) as i64, scope, number),
            1 => Step::Sample(*at, number),
            2 if mix.has_halves => {
                pushes[stream][scope] += 1;
                Step::Push(latest, scope, number)
            }
            3 | 4 if mix.has_halves && pushes[stream][scope] > 0 => {
                pushes[stream][scope] -= 1;
                Step::Pop(latest, scope)
            }
            5 if mix.has_halves => {
                starts[stream].push(number);
                Step::Start(latest, scope, number)
            }
            6 if !starts[stream].is_empty() => {
                let index = random.below(starts[stream].len() as u64) as usize;
                Step::End(latest, starts[stream].swap_remove(index))
            }
            _ => {
                let len = match random.below(5) {
                    0 => 1 + random.below(3),
                    1..4 => 16 + random.below(30),
                    _ => 100 + random.below(200),
                };
                let is_nested = random.below(5) == 0;
                let ranges = (0..len).map(|_| {
                    number += 1;
                    if mix.has_late && random.below(60) == 0 {
                        *at -= random.below(300) as i64;
                        *at = from.max(*at);
                    }
                    if random.below(3000) == 0 {
                        *at += 1 << 33;
                    }
                    let start = *at + random.below(3) as i64;
                    let end = start + random.below(9) as i64;
                    *at = if is_nested && random.below(3) == 0 {
                        start
                    } else {
                        end
                    };
                    match kind % 2 {
                        0 => {
                            let [start, end] = [start, end].map(|at| ticks(&knots, at));
                            [start, end.max(start), number]
                        }
                        _ => [start, end, number],
                    }
                });
                let ranges = ranges.collect();
                let flags = [
                    NVTX_BATCH_FLAG_TIME_SORTED,
                    NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY,
                    NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE,
                ];
                Step::Ranges {
                    schema: kind,
                    scope,
                    ranges,
                    is_batch: random.below(3) > 0,
                    flags: match mix.has_claims && random.below(2) == 0 {
                        true => flags[random.below(3) as usize],
                        false => NVTX_BATCH_FLAG_UNSORTED,
                    },
                }
            }
        };
        all.push((stream, step));
    }
    if mix.has_clocks {
        all.extend(syncs.into_iter().map(|times| (0, Step::Sync(times))));
    }
    all
}

fn write(run: &Run, steps: &[(usize, Step)], orders: [Order; 2], is_slow: bool, in_turns: bool) {
    let domain = run.session.domain("");
    let schemas = Schemas::new(domain);
    let mut streams = [0, 1].map(|index| {
        let name = ["a", "b"][index];
        run.session
            .ordered_stream(name, domain, schemas.scopes[index][0], orders[index])
    });
    if in_turns {
        for (stream, step) in steps {
            schemas.take((&mut streams[*stream], *stream), step, is_slow);
        }
    } else {
        thread::scope(|scope| {
            for (index, stream) in streams.iter_mut().enumerate() {
                let schemas = &schemas;
                scope.spawn(move || {
                    for (_, step) in steps.iter().filter(|(stream, _)| *stream == index) {
                        schemas.take((&mut *stream, index), step, is_slow);
                    }
                });
            }
        });
    }
    let [one, other] = streams;
    one.close().unwrap();
    other.close().unwrap();
}

fn check(seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let from =
        [0, 5, -100_000, 1_760_000_000_000_000_000, (1 << 56) - 3000][random.below(5) as usize];
    let mix = Mix {
        has_halves: random.below(3) == 0,
        has_clocks: from >= 0 && random.below(2) == 0,
        has_late: random.below(3) == 0,
        has_claims: random.below(3) == 0,
        length: [30, 60, 150][random.below(3) as usize],
    };
    let steps = steps(&mut random, mix, from);
    let window = [2, 7, 20, 40, 64, 100, 200, 600, 3000, 1 << 16][random.below(10) as usize];
    let more = [
        "",
        "",
        "compression=zlib:1|",
        "flush_interval=1|",
        "memory=1|",
    ][random.below(5) as usize];
    let base = match from {
        // Before more is known of them, times may be anywhere.
        _ if mix.has_clocks => "base=-4000000000000000000|".to_owned(),
        ..0 => format!("base={}|", from - 3000),
        0.. if random.below(3) == 0 => "base=-7000|".to_owned(),
        _ => String::new(),
    };
    let types = [
        0,
        NVTXW_STREAM_ORDERING_TYPE_STRICT,
        NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START,
        NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END,
    ];
    let orders = [0, 1].map(|_| match mix.has_claims {
        false => Order::default(),
        true => Order {
            interleaving: [0, NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE][random.below(2) as usize],
            ordering: types[random.below(4) as usize],
            skid: [
                NVTXW_STREAM_ORDERING_SKID_NONE,
                NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT,
            ][random.below(2) as usize],
            amount: 20,
        },
    });
    let in_turns = random.below(4) > 0;
    let config = format!("{base}{more}window={window}");
    let what = format!("seed {seed}: {config} from {from} {mix:?} {orders:?} {in_turns}");
    let run = Run::with(&config);
    write(&run, &steps, orders, false, in_turns);
    let trace = merged(run);
    if trace.attributes.contains_key("nvtxw.before_sync") {
        return 0;
    }
    let (first, rest): (Vec<_>, Vec<_>) =
        (steps.iter().cloned()).partition(|(_, step)| matches!(step, Step::Sync(_)));
    let run = Run::with(&base);
    write(
        &run,
        &[first, rest].concat(),
        [Order::default(); 2],
        true,
        true,
    );
    let want = merged(run);
    let (got, want) = (Rows::of(&trace), Rows::of(&want));
    assert_eq!(got.spots.len(), want.spots.len(), "{what}");
    for (got, want) in got.contents.iter().zip(&want.contents) {
        assert_eq!(got, want, "{what}");
    }
    for (got, want) in got.spots.iter().zip(&want.spots) {
        assert_eq!(got, want, "{what}");
    }
    assert!(got == want, "{what}: instants or values differ");
    1
}

#[test]
fn ranges_that_follow_others_are_what_they_are_alone() {
    let checked: u64 = (0..16).map(check).sum();
    assert!(checked > 12, "{checked}");
}
