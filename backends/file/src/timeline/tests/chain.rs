//! Ranges that follow one another.

use super::*;

impl Stream {
    /// Ranges of one place as a batch has them.
    fn batch(&mut self, place: u32, ranges: &[(i64, i64)], nests: bool, form: Form) {
        let is_ready = form != Form::Fields;
        let base = Base::Decided;
        let mut chain = self.timeline.chain_to(place, nests, base);
        for &(start, end) in ranges {
            let fields = self.expect(place, start, Some(end));
            if !is_ready {
                let content = Content::Fields(&fields);
                self.timeline.range(place, start, end, nests, content);
                self.flush();
                continue;
            }
            let latest = chain.as_ref().map(|_| self.timeline.latest());
            let step = latest.and_then(|latest| latest.step(start, end));
            // Not all that may be are in that form.
            let next = step.filter(|_| form == Form::Next && start % 11 != 10);
            let buffer = self.timeline.buffer();
            match next {
                Some(step) => {
                    let pause = step.pause as i64;
                    make_ready(buffer, BEGIN, pause, step.duration.into(), &fields);
                }
                None => make_ready(buffer, BEGIN, start, end, &fields),
            }
            let written = WholeRange {
                start,
                end,
                step,
                is_next: next.is_some(),
            };
            let followed = match &chain {
                Some(chain) => self.timeline.follow(chain, written),
                None => Followed::No,
            };
            match followed {
                Followed::Yes => continue,
                Followed::Last => {}
                Followed::No => {
                    let content = Content::Ready(base);
                    self.timeline.range(place, start, end, nests, content);
                }
            }
            self.flush();
            chain = self.timeline.chain_to(place, nests, base);
        }
    }
}

#[test]
fn what_follows_goes_to_the_file_as_one_run() {
    let mut stream = Stream::new(1 << 10);
    let ranges: Vec<_> = (0..10_000).map(|i| (i * 10, i * 10 + 10)).collect();
    stream.batch(0, &ranges, false, Form::Ready(Base::Decided));
    stream.timeline.finish(&mut stream.out);
    assert!(stream.out.runs.len() < 30, "{:?}", stream.out.runs);
    let (rows, tally) = stream.finish();
    assert!(spots(&rows).iter().all(|spot| *spot == (0, 0)));
    assert_eq!(tally, Tally::default());
}

#[test]
fn what_follows_is_written_by_how_it_differs_whatever_the_batches_are() {
    let mut stream = Stream::new(1 << 10);
    let ranges: Vec<_> = (0..10_000).map(|i| (i * 10, i * 10 + 7)).collect();
    for (index, batch) in ranges.chunks(7).enumerate() {
        stream.batch(0, batch, false, Form::Next);
        // The part that this is in has to be taken apart.
        if index == 1000 {
            stream.instant(0, batch[6].1);
        }
    }
    stream.timeline.finish(&mut stream.out);
    // Behind that, until the part is full.
    assert!(stream.out.runs.iter().sum::<u64>() < 512);
    // One of eleven leads.
    assert!(stream.out.followers > 8_500, "{}", stream.out.followers);
    let (rows, tally) = stream.finish();
    assert!(spots(&rows).iter().all(|spot| *spot == (0, 0)));
    assert_eq!(tally, Tally::default());
}

/// A stream of mostly such ranges; the first ones of it that are not go by the seed.
fn mixed(seed: u64, items: usize, form: Form) -> (Vec<Row>, Tally) {
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
        stream.batch(place, &ranges, nests, form);
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
        let (want, want_tally) = mixed(seed, items, Form::Fields);
        for form in [Form::Ready(Base::Decided), Form::Next] {
            let (rows, tally) = mixed(seed, items, form);
            assert_eq!(spots(&rows), spots(&want), "{seed}");
            assert_eq!(tally, want_tally, "{seed}");
        }
    }
}

#[test]
fn what_is_behind_a_range_that_gets_another_time_keeps_its_own() {
    // With and without an instant that makes both halves of the window one.
    for is_late in [false, true] {
        let mut stream = Stream::new(1 << 10);
        let half = LEAST.items as i64 / 2;
        let ranges: Vec<_> = (1..=half + 50).map(|i| (i * 10, i * 10 + 7)).collect();
        let (before, after) = ranges.split_at(half as usize);
        stream.batch(0, before, false, Form::Next);
        stream.timeline.begin_epoch(1);
        stream.batch(0, after, false, Form::Next);
        if is_late {
            stream.instant(1, half * 10);
        }
        stream
            .timeline
            .retime(|epoch, _, time| Some(time - i64::from(epoch == 0) * 3));
        for seen in &mut stream.want[..half as usize] {
            seen.start -= 3;
            seen.end = seen.end.map(|end| end - 3);
        }
        stream.finish();
    }
}
