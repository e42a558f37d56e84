//! Ranges in random orders keep their times.

use super::*;

#[test]
fn complete_ranges_in_any_order_keep_their_times() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut stream = Stream::new(2 + random.below(40) as usize);
        stream.period = random.below(3) * 5;
        let span = 1 + random.below(60) as i64;
        for _ in 0..random.below(400) {
            let place = random.below(2) as u32;
            let start = random.below(span as u64) as i64;
            if random.below(8) == 0 {
                stream.instant(place, start);
            } else {
                let longest = 1 + random.below(span as u64);
                let end = start + random.below(longest) as i64;
                stream.range(place, start, end, random.below(2) == 0);
            }
        }
        stream.finish();
    }
}

#[test]
fn halves_and_whole_ranges_in_the_order_of_time_keep_their_times() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut stream = Stream::new(2 + random.below(20) as usize);
        stream.period = random.below(3) * 5;
        let mut time = 0;
        let mut pushes = [Vec::new(), Vec::new()];
        let mut starts = Vec::new();
        for _ in 0..random.below(500) {
            time += random.below(3) as i64;
            let place = random.below(2) as u32;
            match random.below(7) {
                0 => {
                    let number = stream.push(place, time);
                    pushes[place as usize].push(number);
                }
                1 => {
                    if let Some(number) = pushes[place as usize].pop() {
                        stream.pop(place, number, time);
                    }
                }
                2 => starts.push(stream.start(place, time)),
                3 if !starts.is_empty() => {
                    let index = random.below(starts.len() as u64) as usize;
                    stream.end(starts.swap_remove(index), time);
                }
                // A whole range, written when it ends, and one that ends in the future.
                4 => {
                    stream.range(place, time, time, true);
                    time += 1;
                }
                5 => {
                    let end = time + random.below(100) as i64;
                    stream.range(place, time, end, false);
                }
                _ => stream.instant(place, time),
            }
        }
        let open = pushes[0].len() + pushes[1].len() + starts.len();
        let (rows, tally) = stream.finish();
        assert_eq!(tally.left_open, open as u64);
        assert_eq!(tally.overlapping_pushpop, 0, "{rows:?}");
    }
}

/// Pops in any order of time, whole ranges that break out of the pushes around them.
#[test]
fn pushes_that_do_not_nest_end_late_and_disturb_nothing() {
    let mut moved = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut stream = Stream::new(2 + random.below(20) as usize);
        stream.period = random.below(3) * 5;
        let mut pushes: Vec<(u32, i64)> = Vec::new();
        let mut whole = Vec::new();
        for _ in 0..random.below(300) {
            let time = random.below(100) as i64;
            match random.below(4) {
                0 => pushes.push((stream.push(0, time), time)),
                1 => {
                    if let Some((number, start)) = pushes.pop() {
                        stream.pop(0, number, start + random.below(50) as i64);
                    }
                }
                _ => {
                    let end = time + random.below(50) as i64;
                    stream.range(0, time, end, random.below(2) == 0);
                    whole.push(stream.count);
                }
            }
        }
        stream.timeline.finish(&mut stream.out);
        let mut rows = stream.out.rows();
        rows.sort_by_key(|row| row.seen.number);
        let mut late = 0;
        for (want, row) in stream.want.iter().zip(&rows) {
            assert_eq!(row.seen.start, want.start);
            if row.seen.end != want.end {
                assert!(!whole.contains(&want.number), "{row:?} {want:?}");
                assert!(
                    want.end.is_some() && row.seen.end > want.end,
                    "{row:?} {want:?}"
                );
                late += 1;
            }
        }
        assert_eq!(rows.len(), stream.want.len());
        assert!(stream.timeline.tally.overlapping_pushpop >= late);
        moved += late;
    }
    assert!(moved > 0);
}

#[test]
fn nested_ranges_stay_on_one_lane_at_their_depth() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut ranges = Vec::new();
        nest(&mut random, 0, 1000, 0, &mut ranges);
        // Each form of the same ranges, whole ones in any order within the window.
        let mut whole = Stream::new(ranges.len() + 1);
        let mut shuffled = ranges.clone();
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, random.below(i as u64 + 1) as usize);
        }
        for &(start, end, _) in &shuffled {
            whole.range(0, start, end, random.below(2) == 0);
        }
        let (rows, tally) = whole.finish();
        assert_eq!(tally, Tally::default());
        let mut depths: Vec<_> = rows
            .iter()
            .map(|row| (row.seen.start, row.seen.end.unwrap(), row.depth, row.lane))
            .collect();
        depths.sort();
        let mut want: Vec<_> = ranges.iter().map(|&(s, e, d)| (s, e, d, 0)).collect();
        want.sort();
        assert_eq!(depths, want);
    }
}

/// Ranges that fill [start, end] and nest, with their depths; no two are equal, none is empty.
fn nest(random: &mut Random, start: i64, end: i64, depth: usize, out: &mut Vec<(i64, i64, usize)>) {
    let mut at = start;
    while at < end && out.len() < 300 {
        let stop = at + 1 + random.below((end - at) as u64) as i64;
        let whole = at == start && stop == end;
        if random.below(3) > 0 && !(whole && depth > 0) {
            out.push((at, stop, depth));
            nest(random, at, stop, depth + 1, out);
        }
        at = stop;
    }
}
