//! Windows of streams that claim an order.

use super::*;
use crate::timeline::order::{By, Lag};

/// What comes to a stream, with its place and time.
#[derive(Clone, Copy, Debug)]
struct Comes {
    what: What,
    place: u32,
    time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// With its end, and whether it was declared to nest.
    Range(i64, bool),
    Instant,
    Push,
    Pop,
    Start(u64),
    End(u64),
}

impl Comes {
    /// The time that its order is by.
    fn order(&self, by: By) -> i64 {
        match (by, self.what) {
            (By::End, What::Range(end, _)) => end,
            _ => self.time,
        }
    }

    fn is_half(&self) -> bool {
        !matches!(self.what, What::Range(..) | What::Instant)
    }
}

/// A claim and events that keep to it.
fn keeping(random: &mut Random) -> (Claim, Vec<Comes>) {
    let claim = Claim {
        by: [By::Start, By::End, By::Point][random.below(3) as usize],
        lag: match random.below(3) {
            0 => Lag::None,
            1 => Lag::Nanoseconds(random.below(60) as i64),
            _ => Lag::Blocks(1 + random.below(12) as usize, 1 + random.below(2)),
        },
        is_per_scope: random.below(2) == 0,
    };
    let steps = 40 + random.below(400);
    let kinds = 2 + random.below(5);
    let mut places = [0, 1].map(|place| in_time(random, place, steps, kinds, claim.by));
    if !claim.is_per_scope {
        let [one, other] = &mut places;
        one.append(other);
    }
    for all in &mut places {
        all.sort_by_key(|event| event.order(claim.by));
        delay(random, all, claim);
    }
    // Each place on its own, one far behind the other at times.
    let mut rest = places.map(|all| all.into_iter().peekable());
    let mut all = Vec::new();
    while rest.iter_mut().any(|place| place.peek().is_some()) {
        let place = random.below(2) as usize;
        let count = 1 + random.below(50) as usize;
        all.extend(rest[place].by_ref().take(count));
    }
    (claim, all)
}

/// Events of one place, the halves in the order of time.
fn in_time(random: &mut Random, place: u32, steps: u64, kinds: u64, by: By) -> Vec<Comes> {
    let (mut time, mut depth) = (0, 0);
    let mut starts = Vec::new();
    let mut all = Vec::new();
    for step in 0..steps {
        time += random.below(4) as i64;
        let length = 1 + random.below(40) as i64;
        let what = match random.below(kinds) {
            0 if by == By::Point => What::Instant,
            0 => What::Range(time + length, true),
            1 => What::Instant,
            2 if by == By::Point => What::Instant,
            2 => What::Range(time + length, false),
            3 => {
                depth += 1;
                What::Push
            }
            4 if depth > 0 => {
                depth -= 1;
                What::Pop
            }
            5 => {
                let id = u64::from(place) << 32 | step;
                starts.push(id);
                What::Start(id)
            }
            _ if !starts.is_empty() => {
                let index = random.below(starts.len() as u64) as usize;
                What::End(starts.swap_remove(index))
            }
            _ => What::Instant,
        };
        all.push(Comes { what, place, time });
    }
    all
}

/// Moves events, as far as the claim lets them. Halves keep their order.
fn delay(random: &mut Random, all: &mut [Comes], claim: Claim) {
    match claim.lag {
        Lag::None => {}
        Lag::Nanoseconds(lag) => all.sort_by_cached_key(|event| {
            let late = random.below(lag as u64 + 1) as i64;
            event.order(claim.by) + if event.is_half() { lag } else { late }
        }),
        Lag::Blocks(count, len) => {
            for block in all.chunks_mut(count * len as usize + 1) {
                let halves: Vec<_> = block.iter().filter(|e| e.is_half()).copied().collect();
                for i in (1..block.len()).rev() {
                    block.swap(i, random.below(i as u64 + 1) as usize);
                }
                let places = block.iter_mut().filter(|e| e.is_half());
                places.zip(halves).for_each(|(place, half)| *place = half);
            }
        }
    }
}

/// What became of the events.
struct Outcome {
    /// Depth, lane and end of each range, by number.
    rows: Vec<(usize, u32, Option<i64>)>,
    settled: bool,
    tally: Tally,
    /// How many items the window came to hold at most.
    most: usize,
    /// All but the ends that came before their starts.
    taken: Vec<Comes>,
}

/// Feeds a window that takes all to one whose usual size is small, if there is a claim.
fn feed(all: &[Comes], claim: Option<Claim>) -> Outcome {
    let mut stream = Stream::new(ALL);
    if let Some(claim) = claim {
        stream.timeline.claim(claim);
        stream.timeline.claims.usual.items = 8;
        stream.timeline.allowed.items = 8;
    }
    let mut pushes: [Vec<u32>; 2] = Default::default();
    let mut starts: HashMap<u64, u32> = HashMap::new();
    let mut taken = Vec::new();
    for event in all.iter().copied() {
        let Comes { what, place, time } = event;
        match what {
            What::Range(end, nests) => stream.range(place, time, end, nests),
            What::Instant => stream.instant(place, time),
            What::Push => {
                let number = stream.push(place, time);
                pushes[place as usize].push(number);
            }
            What::Start(id) => {
                starts.insert(id, stream.start(place, time));
            }
            What::Pop | What::End(_) => {
                let number = match what {
                    What::End(id) => starts.get(&id).copied(),
                    _ => pushes[place as usize].last().copied(),
                };
                // Others are refused.
                let starts_before = |number: &u32| stream.want[*number as usize - 1].start <= time;
                let Some(number) = number.filter(starts_before) else {
                    continue;
                };
                if let What::End(id) = what {
                    starts.remove(&id);
                    stream.end(number, time);
                } else {
                    pushes[place as usize].pop();
                    stream.pop(place, number, time);
                }
            }
        }
        if event.is_half() {
            stream.timeline.arrives(On::Place(place), time, time);
        }
        taken.push(event);
    }
    stream.timeline.finish(&mut stream.out);
    let mut rows = stream.out.rows();
    rows.sort_by_key(|row| row.seen.number);
    let row = |row: &Row| (row.depth, row.lane, row.seen.end);
    Outcome {
        rows: rows.iter().map(row).collect(),
        settled: !stream.timeline.is_unsettled(),
        tally: stream.timeline.tally,
        most: stream.timeline.allowed.items,
        taken,
    }
}

#[test]
fn with_a_true_claim_a_small_window_is_as_good_as_one_that_takes_all() {
    let mut small = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (claim, all) = keeping(&mut random);
        let want = feed(&all, None);
        let got = feed(&all, Some(claim));
        assert!(got.rows == want.rows, "seed {seed}: {claim:?}");
        assert!(want.settled);
        assert!(got.settled, "seed {seed}: {claim:?}");
        let none = Tally {
            left_open: want.tally.left_open,
            overlapping_pushpop: got.tally.overlapping_pushpop,
            ..Tally::default()
        };
        assert_eq!(got.tally, none, "seed {seed}: {claim:?}");
        small += u64::from(got.most <= 64 && all.len() > 300);
    }
    assert!(small > 50, "{small}");
}

/// How many events are earlier than the latest before them by more than there may be.
fn breaks(all: &[Comes], by: By, lag: i64) -> u64 {
    let mut latest = i64::MIN;
    let mut count = 0;
    for event in all {
        let time = event.order(by);
        let is_range = matches!(event.what, What::Range(..));
        count += u64::from(time < latest || by == By::Point && is_range);
        latest = latest.max(time.saturating_sub(lag));
    }
    count
}

#[test]
fn breaks_are_counted_and_what_is_settled_is_right_all_the_same() {
    let (mut settled, mut unsettled) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (_, mut all) = keeping(&mut random);
        let by = [By::Start, By::End, By::Point][random.below(3) as usize];
        all.sort_by_key(|event| event.order(by));
        // Some are out of order, by more than is said.
        for _ in 0..1 + random.below(4) {
            let from = random.below(all.len() as u64) as usize;
            let until = (from + 2 + random.below(60) as usize).min(all.len());
            all[from..until].rotate_left(1);
        }
        let lag = random.below(5) as i64;
        let claim = Claim {
            by,
            lag: match lag {
                0 => Lag::None,
                lag => Lag::Nanoseconds(lag),
            },
            is_per_scope: false,
        };
        let want = feed(&all, None);
        let got = feed(&all, Some(claim));
        let count = breaks(&got.taken, by, lag);
        assert_eq!(got.tally.broken_ordering, count, "seed {seed}");
        assert_eq!(want.tally.broken_ordering, 0);
        if got.settled {
            assert!(got.rows == want.rows, "seed {seed}: {claim:?}");
            settled += u64::from(count > 0);
        } else {
            assert!(count > 0, "seed {seed}: {claim:?}");
            unsettled += 1;
        }
    }
    assert!(settled > 30 && unsettled > 10, "{settled} {unsettled}");
}

#[test]
fn a_claim_makes_a_window_small_until_it_turns_out_false() {
    let write = |timeline: &mut Timeline, times: Range<i64>| {
        let mut out = Recorder::default();
        for time in times {
            let (start, end) = (time, time + 1);
            timeline.range(0, start, end, true, Content::Fields(&[0; 64]));
            if !timeline.make_room() && timeline.must_write() {
                timeline.flush(&mut out);
            }
        }
    };
    let budget = Arc::new(Budget::new(1 << 30));
    let mut plain = Timeline::within(Limits::default(), &budget);
    plain.add_place();
    write(&mut plain, 0..1 << 16);
    for by in [By::Start, By::End] {
        let mut timeline = Timeline::within(Limits::default(), &budget);
        timeline.add_place();
        timeline.claim(Claim {
            by,
            lag: Lag::None,
            is_per_scope: false,
        });
        write(&mut timeline, 0..1 << 16);
        if by == By::End {
            // Outer ranges may still come.
            assert_eq!(timeline.allowed.items, plain.allowed.items);
            continue;
        }
        assert!(timeline.allowed.size() * 20 < plain.allowed.size());
        assert_eq!(timeline.tally, Tally::default());
        write(&mut timeline, 0..1);
        assert_eq!(timeline.tally.broken_ordering, 1);
        let all = [
            Some(Break {
                time: 0,
                bound: Some((1 << 16) - 1),
            }),
            None,
        ];
        assert_eq!(timeline.take_breaks(), all);
        write(&mut timeline, 1 << 16..1 << 17);
        assert_eq!(timeline.allowed.items, plain.allowed.items);
        write(&mut timeline, 0..1);
        assert_eq!(timeline.tally.broken_ordering, 2);
        assert_eq!(timeline.take_breaks(), [None; 2], "it is told once");
    }
}

#[test]
fn clocks_without_a_common_order_break_no_claim() {
    let mut stream = Stream::new(ALL);
    stream.timeline.claim(Claim {
        by: By::Start,
        lag: Lag::None,
        is_per_scope: false,
    });
    stream.instant(0, 1000);
    stream.timeline.clocks = [1; 2];
    stream.instant(0, 5);
    stream.timeline.clocks = [0; 2];
    stream.instant(0, 500);
    let (_, tally) = stream.finish();
    assert_eq!(tally, Tally::default());
}
