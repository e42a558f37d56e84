//! Ranges that follow one another.

use super::*;

impl Stream {
    /// Ranges of one place as a batch has them, ready or not.
    fn batch(&mut self, place: u32, ranges: &[(i64, i64)], nests: bool, is_ready: bool) {
        let mut chain = None;
        for &(start, end) in ranges {
            let fields = self.expect(place, start, Some(end));
            let content = match is_ready {
                true => {
                    make_ready(self.timeline.buffer(), BEGIN, start, end, &fields);
                    Content::Ready(Base::Decided)
                }
                false => Content::Fields(&fields),
            };
            if let Some(chain) = &chain
                && self.timeline.follow(chain, start, end)
            {
                continue;
            }
            self.timeline.range(place, start, end, nests, content);
            chain = None;
            match self.timeline.is_full() {
                true => self.flush(),
                false if is_ready => chain = self.timeline.chain(),
                false => {}
            }
        }
    }
}

#[test]
fn what_follows_goes_to_the_file_as_one_run() {
    let mut stream = Stream::new(1 << 10);
    let ranges: Vec<_> = (0..10_000).map(|i| (i * 10, i * 10 + 10)).collect();
    stream.batch(0, &ranges, false, true);
    stream.timeline.finish(&mut stream.out);
    assert!(stream.out.runs.len() < 30, "{:?}", stream.out.runs);
    let (rows, tally) = stream.finish();
    assert!(spots(&rows).iter().all(|spot| *spot == (0, 0)));
    assert_eq!(tally, Tally::default());
}

/// A stream of mostly such ranges; the first ones of it that are not go by the seed.
fn mixed(seed: u64, items: usize, is_ready: bool) -> (Vec<Row>, Tally) {
    let mut random = Random::new(seed);
    let mut stream = Stream::new(items);
    let (mut time, mut latest, mut pushed) = (0, 0, None);
    for _ in 0..100 {
        let place = u32::from(random.below(8) == 0);
        let nests = random.below(4) > 0;
        let ranges: Vec<_> = (0..random.below(40))
            .map(|_| {
                let start = time + random.below(3) as i64;
                let end = start + random.below(20) as i64;
                time = match random.below(40) {
                    0 | 1 => start - random.below(50) as i64,
                    2 | 3 => start,
                    // More than a link holds.
                    4 => end + (1 << 32) + random.below(2) as i64,
                    _ => end,
                };
                latest = end.max(latest);
                (start.max(0), end.max(0))
            })
            .collect();
        stream.batch(place, &ranges, nests, is_ready);
        match (random.below(6), pushed.take()) {
            (0, None) => pushed = Some((place, stream.push(place, time.max(0)))),
            (1, open) => {
                stream.instant(place, time.max(0));
                pushed = open;
            }
            // No earlier, as it may begin in the file before.
            (2, Some((place, number))) => stream.pop(place, number, latest),
            (_, open) => pushed = open,
        }
    }
    stream.finish()
}

#[test]
fn ranges_stand_where_they_would_if_each_came_alone() {
    for seed in 1..60 {
        let items = [2, 5, 30, 1000][seed as usize % 4];
        let (rows, tally) = mixed(seed, items, true);
        let (want, want_tally) = mixed(seed, items, false);
        assert_eq!(spots(&rows), spots(&want), "{seed}");
        assert_eq!(tally, want_tally, "{seed}");
    }
}
