//! What is settled before all is known.

use super::*;

/// What arrives in a stream.
#[derive(Debug)]
enum Arrival {
    Range(u32, i64, i64, bool),
    Instant(u32, i64),
    Push(u32, i64),
    /// Ends the last push of a place, so long after its start.
    Pop(u32, i64),
    Start(u32, i64),
    /// Ends one of the open ranges, so long after its start.
    End(usize, i64),
    /// All there is goes to the file.
    Flush,
}

/// Depth, lane and end of each range, by number, and whether that is how it stays.
fn place_all(arrivals: &[Arrival], window: usize) -> (Vec<(usize, u32, Option<i64>)>, bool) {
    let mut stream = Stream::new(window);
    let mut pushes: [Vec<(u32, i64)>; 2] = Default::default();
    let mut starts: Vec<(u32, i64)> = Vec::new();
    for arrival in arrivals {
        match *arrival {
            Arrival::Range(place, start, end, nests) => stream.range(place, start, end, nests),
            Arrival::Instant(place, time) => stream.instant(place, time),
            Arrival::Push(place, time) => {
                let number = stream.push(place, time);
                pushes[place as usize].push((number, time));
            }
            Arrival::Pop(place, length) => {
                if let Some((number, start)) = pushes[place as usize].pop() {
                    stream.pop(place, number, start + length);
                }
            }
            Arrival::Start(place, time) => starts.push((stream.start(place, time), time)),
            Arrival::End(index, length) => {
                if !starts.is_empty() {
                    let (number, start) = starts.swap_remove(index % starts.len());
                    stream.end(number, start + length);
                }
            }
            // What is known later changes nothing about what is written now.
            Arrival::Flush if window == ALL => {}
            Arrival::Flush => stream.timeline.flush_all(&mut stream.out),
        }
    }
    stream.timeline.finish(&mut stream.out);
    let settled = !stream.timeline.is_unsettled();
    let mut rows = stream.out.rows();
    rows.sort_by_key(|row| row.seen.number);
    let row = |row: &Row| (row.depth, row.lane, row.seen.end);
    (rows.iter().map(row).collect(), settled)
}

#[test]
fn what_is_settled_is_as_if_all_had_been_known() {
    let (mut settled, mut long, mut flushed) = (0, 0, 0);
    for seed in 0..12000 {
        let mut random = Random::new(seed);
        let span = 1 + random.below(60);
        let drift = random.below(4) as i64;
        let kinds = 2 + random.below(5);
        let flushes = seed % 2 == 1;
        let arrivals: Vec<_> = (0..random.below(40))
            .map(|step| {
                let place = random.below(2) as u32;
                let time = drift * step as i64 + random.below(span) as i64 / (1 + drift);
                let length = random.below(span) as i64;
                if flushes && random.below(6) == 0 {
                    return Arrival::Flush;
                }
                match random.below(kinds) {
                    0 => Arrival::Range(place, time, time + length, true),
                    1 => Arrival::Push(place, time),
                    2 => Arrival::Pop(place, length),
                    3 => Arrival::Range(place, time, time + length, false),
                    4 => Arrival::Instant(place, time),
                    5 => Arrival::Start(place, time),
                    _ => Arrival::End(length as usize, length),
                }
            })
            .collect();
        let (rows, is_settled) = place_all(&arrivals, 2 + random.below(6) as usize);
        if is_settled {
            settled += 1;
            long += usize::from(rows.len() > 10);
            flushed += usize::from(flushes && rows.len() > 5);
            let (want, whole) = place_all(&arrivals, ALL);
            assert!(whole, "seed {seed}");
            assert_eq!(rows, want, "seed {seed}: {arrivals:?}");
        }
    }
    assert!(
        settled > 1000 && long > 100 && flushed > 100,
        "{settled} {long} {flushed}"
    );
}
