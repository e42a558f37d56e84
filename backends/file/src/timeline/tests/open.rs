//! Very many ranges that are open at once.

use super::*;

const COUNT: u32 = 12_000;

/// How many lanes a place has looked at, per range.
fn looks(timeline: &Timeline) -> u64 {
    timeline.places[0].lanes.looks / u64::from(COUNT)
}

/// Starts all ranges, one after the other, and ends them in this order. All is written again and again.
fn open_all(ends: impl Iterator<Item = u32>) -> Stream {
    let mut stream = Stream::new(ALL);
    stream.period = 1000;
    for time in 0..COUNT {
        stream.start(0, time.into());
    }
    for (number, time) in ends.zip(2 * COUNT..) {
        stream.end(number, time.into());
        if number % 3 == 0 {
            let time = i64::from(time);
            stream.range(0, time, time + 3, number % 2 == 0);
        }
    }
    stream
}

#[test]
fn of_many_open_ranges_few_are_looked_at() {
    for mut stream in [open_all(1..=COUNT), open_all((1..=COUNT).rev())] {
        stream.timeline.flush_all(&mut stream.out);
        let looks = looks(&stream.timeline);
        assert!(looks < 20, "{looks}");
        stream.finish();
    }
}

#[test]
fn whole_ranges_that_overlap_by_thousands_are_spread_as_fast() {
    // As the same are when the file is put in order.
    let mut stream = Stream::new(ALL);
    for number in 0..COUNT {
        let start = number.into();
        stream.range(0, start, start + i64::from(2 * COUNT), false);
    }
    for number in 0..COUNT {
        let start = i64::from(2 * COUNT + number);
        stream.range(0, start, start + 1, false);
    }
    stream.timeline.flush_all(&mut stream.out);
    let looks = looks(&stream.timeline);
    assert!(looks < 20, "{looks}");
    let (rows, _) = stream.finish();
    let lanes = rows.iter().map(|row| row.lane + 1).max();
    assert_eq!(lanes, Some(COUNT));
}
