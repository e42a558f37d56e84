#[cfg(unix)]
use std::io::Read;
use std::sync::mpsc;
use std::thread;
#[cfg(unix)]
use std::time::Duration;

use nvtxw_abi::raw::{NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END};
use nvtxw_abi::{EventKind, ResultCode};

#[cfg(unix)]
use crate::faults::piped;
use crate::reader::{Arg, Trace};
use crate::replay::Random;
#[cfg(unix)]
use crate::replay::TempDir;
use crate::table::{Plain, Stream, time, words};
use crate::{Run, Writer, families};

/// Start, end, depth and track of a range.
fn spot(trace: &Trace, name: &str) -> (u64, Option<u64>, usize, u64) {
    let range = trace.range(name);
    (range.start, range.end, range.depth, range.uuid)
}

fn count(trace: &Trace, key: &str) -> i64 {
    match trace.attributes.get(key) {
        None => 0,
        Some(Arg::Int(count)) => *count,
        Some(other) => panic!("{key} is {other:?}"),
    }
}

#[test]
fn what_is_left_out_of_a_batch_is_counted() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
    ];
    let kind = EventKind::RangePushPop.to_raw();
    let range = domain.schema("range", kind, 16, &entries);
    stream
        .batch(range, &words(&[1, 2, 4, 3, 5, 6, 8, 7]))
        .unwrap_err();
    let trace = run.read();
    assert_eq!(trace.ranges.len(), 2);
    assert_eq!(count(&trace, "nvtxw.refused_calls"), 1);
    assert_eq!(count(&trace, "nvtxw.left_out"), 2);
}

#[test]
fn overlapping_ranges_last_as_long_as_they_do() {
    let run = Run::new();
    let mut out = Writer::new(&run);
    out.startend(0, 300, "a").unwrap();
    out.startend(100, 400, "b").unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "a"), (0, Some(300), 0, 1));
    assert_eq!(spot(&trace, "b"), (100, Some(400), 0, 2));
    assert_eq!(trace.range("a").track, ["main"]);
    assert_eq!(trace.range("b").track, ["main"]);
    assert_eq!(count(&trace, "nvtxw.overlapping_pushpop"), 0);
}

#[test]
fn parent_and_children_in_any_order() {
    for ranges in families() {
        let run = Run::new();
        let mut out = Writer::new(&run);
        let mut batch = Vec::new();
        for (name, start, end) in ranges {
            batch.extend(words(&[start, end, out.name(name)]));
        }
        out.stream.batch(out.plain.pushpop, &batch).unwrap();
        let trace = run.read();
        assert_eq!(spot(&trace, "parent"), (0, Some(110), 0, 1));
        assert_eq!(spot(&trace, "first"), (0, Some(100), 1, 1));
        assert_eq!(spot(&trace, "next"), (100, Some(110), 1, 1));
    }
}

#[test]
fn zero_lengths_stay_and_nothing_ends_before_it_starts() {
    let run = Run::new();
    let mut out = Writer::new(&run);
    out.pushpop(0, 20, "parent").unwrap();
    out.pushpop(10, 10, "empty").unwrap();
    let failure = out.pushpop(20, 10, "wrong").unwrap_err();
    assert_eq!(failure.code, ResultCode::INVALID_ARGUMENT);
    let trace = run.read();
    assert_eq!(spot(&trace, "parent"), (0, Some(20), 0, 1));
    assert_eq!(spot(&trace, "empty"), (10, Some(10), 1, 1));
    assert_eq!(trace.ranges.len(), 2);
}

#[test]
fn halves_without_the_other_are_told() {
    let run = Run::new();
    let mut out = Writer::new(&run);
    let failure = out.pop(5).unwrap_err();
    assert_eq!(failure.code, ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        failure.reason,
        "range_pop at 5: no push of this stream and scope is open, so there is nothing to end"
    );
    let failure = out.end(7, 5).unwrap_err();
    assert_eq!(failure.code, ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        failure.reason,
        "range_end at 5: no range 7 is open in this session, so there is nothing to end"
    );
    out.push(10, "open push").unwrap();
    out.start(3, 20, "open start").unwrap();
    let failure = out.start(3, 25, "again").unwrap_err();
    assert_eq!(
        failure.reason,
        "range_start at 25: the range 3 was started at 20 and has not ended; ranges that are open \
         at once need different IDs"
    );
    out.push(30, "inner").unwrap();
    let failure = out.pop(29).unwrap_err();
    assert_eq!(
        failure.reason,
        "range_pop at 29: the range started later, at 30; it stays open"
    );
    let failure = out.end(3, 19).unwrap_err();
    assert_eq!(
        failure.reason,
        "range_end at 19: the range started later, at 20; it stays open"
    );
    out.pop(35).unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "open push"), (10, None, 0, 1));
    assert_eq!(spot(&trace, "inner"), (30, Some(35), 1, 1));
    assert_eq!(spot(&trace, "open start"), (20, None, 0, 2));
    assert_eq!(trace.ranges.len(), 3);
    assert_eq!(count(&trace, "nvtxw.pop_without_push"), 1);
    assert_eq!(count(&trace, "nvtxw.end_without_start"), 1);
    assert_eq!(count(&trace, "nvtxw.refused"), 5);
    assert_eq!(count(&trace, "nvtxw.left_open"), 2);
    assert_eq!(count(&trace, "nvtxw.refused_calls"), 5);
    assert_eq!(count(&trace, "nvtxw.left_out"), 0);
}

#[test]
fn pushpop_pairs_that_overlap_are_counted() {
    let run = Run::new();
    let mut out = Writer::new(&run);
    out.pushpop(0, 300, "a").unwrap();
    out.pushpop(100, 400, "b").unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "a"), (0, Some(300), 0, 1));
    assert_eq!(spot(&trace, "b"), (100, Some(400), 0, 2));
    assert_eq!(count(&trace, "nvtxw.overlapping_pushpop"), 1);
}

#[test]
fn the_base_makes_room_for_what_comes_first() {
    const BASE: i64 = -(1 << 62);
    let run = Run::new();
    let mut out = Writer::new(&run);
    out.mark(-1, "before").unwrap();
    out.mark(1_700_000_000_123_456_789, "today").unwrap();
    out.startend(-3, 5, "across").unwrap();
    let trace = run.read();
    assert_eq!(count(&trace, "nvtxw.time_base"), BASE);
    let time = |instant: u64| instant as i64 + BASE;
    assert_eq!(time(trace.instant("before").start), -1);
    assert_eq!(
        time(trace.instant("today").start),
        1_700_000_000_123_456_789
    );
    assert_eq!(time(trace.range("across").start), -3);
    assert_eq!(time(trace.range("across").end.unwrap()), 5);
}

#[test]
fn a_given_base_holds_from_the_start() {
    let run = Run::with("base=-100");
    let mut out = Writer::new(&run);
    out.mark(-100, "first").unwrap();
    out.mark(i64::MAX - 100, "last").unwrap();
    for time in [-101, i64::MAX - 99] {
        let failure = out.mark(time, "outside").unwrap_err();
        assert_eq!(failure.code, ResultCode::INVALID_ARGUMENT);
        assert_eq!(
            failure.reason,
            format!(
                "timestamp {time} doesn't fit the file's time base -100 (it holds -100 to \
                 9223372036854775707): set the session's `base` key to the smallest timestamp"
            )
        );
    }
    let trace = run.read();
    assert_eq!(trace.instant("first").start, 0);
    assert_eq!(trace.instant("last").start, i64::MAX as u64);
    assert_eq!(trace.instants.len(), 2);
    assert_eq!(count(&trace, "nvtxw.time_base"), -100);
    assert_eq!(count(&trace, "nvtxw.refused"), 2);
}

#[test]
fn the_first_flush_of_any_stream_decides_for_all() {
    let run = Run::with("window=2");
    let mut out = Writer::new(&run);
    let mut other = run.session.stream("other", out.domain, 0);
    out.mark(1, "a").unwrap();
    out.mark(2, "b").unwrap();
    let late = words(&[-1, out.name("late")]);
    let failure = other.event(&[(out.plain.mark, &late)]).unwrap_err();
    assert!(
        failure.reason.contains("time base 0 (it holds 0 to"),
        "{failure:?}"
    );
    let trace = run.read();
    assert_eq!(count(&trace, "nvtxw.time_base"), 0);
    assert_eq!(trace.instants.len(), 2);
}

#[test]
fn what_does_not_fit_the_decided_base_is_told_at_the_end() {
    let run = Run::new();
    let mut out = Writer::new(&run);
    out.mark(-1, "fits").unwrap();
    out.mark(i64::MAX, "too late").unwrap();
    out.mark(i64::MIN, "too early").unwrap();
    let want = "2 events came before the first flush decided the time base -4611686018427387904, \
                and don't fit it (it holds -4611686018427387904 to 4611686018427387903): set the \
                session's `base` key to the smallest timestamp";
    let failure = out.stream.close().unwrap_err();
    assert_eq!(failure.code, ResultCode::FAILED);
    assert_eq!(failure.reason, want);
    let failure = run.session.end().unwrap_err();
    assert_eq!(failure.code, ResultCode::FAILED);
    assert_eq!(failure.reason, want);
    let trace = Trace::read(&run.path);
    assert_eq!(trace.instants.len(), 1);
    assert_eq!(trace.instant("fits").start, (1 << 62) - 1);
    assert_eq!(count(&trace, "nvtxw.outside_base"), 2);
}

#[test]
fn a_mark_inside_of_any_number_of_ranges_is_shown() {
    let run = Run::new();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let name = domain.string("step") as i64;
    let mut stream = run.session.stream("main", domain, 0);
    for at in 0..700 {
        let payload = words(&[at, 2000 - at, name]);
        stream.event(&[(plain.pushpop, &payload)]).unwrap();
    }
    let mark = words(&[1000, name]);
    stream.event(&[(plain.mark, &mark)]).unwrap();
    // The reader holds what it shows to its limit.
    let trace = run.read();
    assert_eq!(trace.ranges.len(), 700);
    assert_eq!(trace.instant("step").start, 1000);
}

#[test]
fn long_ranges_around_many_windows() {
    let run = Run::with("window=8");
    let mut out = Writer::new(&run);
    out.push(0, "main").unwrap();
    out.start(1, 5, "request").unwrap();
    for step in 0..100 {
        let time = 10 + step * 10;
        out.push(time, "step").unwrap();
        out.pushpop(time + 1, time + 3, "part").unwrap();
        // Reaches into the next steps.
        out.startend(time + 2, time + 25, "job").unwrap();
        out.mark(time + 4, "tick").unwrap();
        out.pop(time + 9).unwrap();
    }
    out.end(1, 1500).unwrap();
    out.pop(2000).unwrap();
    out.pushpop(2000, 2010, "after").unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "main"), (0, Some(2000), 0, 1));
    assert_eq!(trace.range("request").end, Some(1500));
    assert_eq!(spot(&trace, "after"), (2000, Some(2010), 0, 1));
    let named = |name| trace.ranges.iter().filter(move |range| range.name == name);
    for (name, start, length, nested) in [
        ("step", 10, 9, true),
        ("part", 11, 2, true),
        ("job", 12, 23, false),
    ] {
        let mut times: Vec<_> = named(name).map(|r| (r.start, r.end.unwrap())).collect();
        times.sort();
        let want: Vec<_> = (0..100)
            .map(|step| (start + step * 10, start + step * 10 + length))
            .collect();
        assert_eq!(times, want, "{name}");
        assert!(
            !nested || named(name).all(|range| range.depth > 0),
            "{name}"
        );
    }
    assert_eq!(trace.instants.len(), 100);
    assert_eq!(count(&trace, "nvtxw.overlapping_pushpop"), 0);
    assert_eq!(count(&trace, "nvtxw.late"), 0);
}

#[test]
fn any_mixture_in_any_window_keeps_its_times() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let run = Run::with(&format!("window={}", 2 + random.below(60)));
        let mut out = Writer::new(&run);
        let mut want = Vec::new();
        let span = 10 + random.below(1000) as i64;
        for _ in 0..random.below(300) {
            let name = format!("range {}", want.len());
            let start = random.below(span as u64) as i64;
            let end = start + random.below(100) as i64;
            if random.below(2) == 0 {
                out.pushpop(start, end, &name).unwrap();
            } else {
                out.startend(start, end, &name).unwrap();
            }
            want.push((start as u64, Some(end as u64)));
        }
        let trace = run.read();
        assert_eq!(trace.ranges.len(), want.len());
        for (index, want) in want.into_iter().enumerate() {
            let range = trace.range(&format!("range {index}"));
            assert_eq!((range.start, range.end), want, "seed {seed}, {index}");
        }
    }
}

#[test]
fn ranges_later_than_the_window_are_counted_and_keep_their_times() {
    let run = Run::with("window=4");
    let mut out = Writer::new(&run);
    for step in (0..20).rev() {
        out.pushpop(step, step + 2, &format!("step {step}"))
            .unwrap();
    }
    let trace = run.read();
    assert_eq!(trace.ranges.len(), 20);
    for range in &trace.ranges {
        assert_eq!(range.name, format!("step {}", range.start));
        assert_eq!(range.end, Some(range.start + 2));
    }
    assert_eq!(count(&trace, "nvtxw.late"), 16);
}

#[test]
fn a_push_that_would_end_another_range_tells_its_end() {
    let run = Run::with("window=2|merge=false");
    let mut out = Writer::new(&run);
    out.push(0, "cut").unwrap();
    out.pushpop(10, 90, "child").unwrap();
    out.mark(20, "tick").unwrap();
    out.pop(50).unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "cut"), (0, Some(90), 0, 1));
    assert_eq!(trace.range("cut").arg("nvtxw.end"), &Arg::Int(50));
    assert_eq!(spot(&trace, "child"), (10, Some(90), 1, 1));
    assert!(trace.range("child").args.is_empty());
    assert_eq!(count(&trace, "nvtxw.overlapping_pushpop"), 1);
}

#[test]
fn streams_on_threads_do_not_mix() {
    let run = Run::with("window=16");
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    thread::scope(|scope| {
        for thread in 0..4 {
            let mut stream = run.session.stream(&format!("thread {thread}"), domain, 0);
            let name = domain.string(&format!("range of {thread}")) as i64;
            scope.spawn(move || {
                for step in 0..2000 {
                    let payload = words(&[step * 10, step * 10 + 5 + thread, name]);
                    stream.event(&[(plain.pushpop, &payload)]).unwrap();
                }
            });
        }
    });
    let trace = run.read();
    for thread in 0..4 {
        let track = format!("thread {thread}");
        let name = format!("range of {thread}");
        let mine: Vec<_> = (trace.ranges.iter())
            .filter(|range| range.track == [track.as_str()])
            .collect();
        assert_eq!(mine.len(), 2000);
        for range in mine {
            assert_eq!(range.name, name);
            assert_eq!(range.end, Some(range.start + 5 + thread));
        }
    }
}

/// The writes of one stream get stuck, as if the disk was slow.
#[cfg(unix)]
#[test]
fn a_stream_goes_on_while_another_one_is_written() {
    const WINDOW: i64 = 40_000;
    /// The next half of the window would be due with one more.
    const COUNT: i64 = WINDOW + WINDOW / 2 - 1;
    for format in ["perfetto", "chrome"] {
        let dir = TempDir::new();
        let (session, mut reader) = piped(&dir, &format!("format={format}|window={WINDOW}"));
        let domain = session.domain("");
        let plain = Plain::new(domain);
        let text = domain.string("range") as i64;
        let [first, mut second] = ["one", "other"].map(|name| {
            let mut stream = session.stream(name, domain, 0);
            move || {
                for step in 0..COUNT {
                    let payload = words(&[step * 10, step * 10 + 5, text]);
                    stream.event(&[(plain.pushpop, &payload)]).unwrap();
                }
            }
        });
        let mut file = vec![0; 1 << 12];
        let went_on = thread::scope(|scope| {
            let first = scope.spawn(first);
            // What comes before the first run is less: the rest of that waits for the reader now.
            reader.read_exact(&mut file).unwrap();
            let (tell, is_done) = mpsc::channel();
            let second = scope.spawn(move || {
                second();
                let _ = tell.send(());
            });
            let went_on = is_done.recv_timeout(Duration::from_secs(60));
            scope.spawn(|| reader.read_to_end(&mut file).unwrap());
            first.join().unwrap();
            second.join().unwrap();
            session.end().unwrap();
            went_on
        });
        went_on.expect("the other stream need not wait");
        let trace = Trace::of(&file);
        for stream in ["one", "other"] {
            let ranges = trace.ranges.iter();
            let starts: Vec<_> = ranges
                .filter(|range| range.track.last().is_some_and(|name| name == stream))
                .map(|range| range.start as i64)
                .collect();
            assert!(starts.iter().copied().eq((0..COUNT).map(|step| step * 10)));
        }
    }
}

#[test]
fn ranges_end_on_other_threads_than_they_start_on() {
    const COUNT: i64 = 3000;
    for config in ["", "window=64", "flush_interval=1"] {
        let run = Run::with(config);
        let domain = run.session.domain("");
        let plain = Plain::new(domain);
        let name = domain.string("range") as i64;
        let streams = ["one", "other"].map(|name| run.session.stream(name, domain, 0));
        let [(tell_one, hear_other), (tell_other, hear_one)] = [(); 2].map(|()| mpsc::channel());
        thread::scope(|scope| {
            let ends = [(tell_one, hear_one, 0), (tell_other, hear_other, COUNT)];
            for (mut stream, (tell, hear, first)) in streams.into_iter().zip(ends) {
                let end = move |stream: &mut Stream, id: i64| {
                    let end = words(&[id, 10 * id + id % 7]);
                    stream.event(&[(plain.end, &end)]).unwrap();
                };
                scope.spawn(move || {
                    for id in first..first + COUNT {
                        let start = words(&[id, 10 * id, name]);
                        stream.event(&[(plain.start, &start)]).unwrap();
                        tell.send(id).unwrap();
                        // Sometimes one is ahead, sometimes the other.
                        if id % 3 == 0 {
                            hear.try_iter().for_each(|id| end(&mut stream, id));
                        }
                    }
                    drop(tell);
                    hear.iter().for_each(|id| end(&mut stream, id));
                });
            }
        });
        let trace = run.read();
        assert_eq!(trace.ranges.len() as i64, 2 * COUNT);
        for range in &trace.ranges {
            let id = range.start as i64 / 10;
            assert_eq!(range.end, Some((10 * id + id % 7) as u64));
            assert_eq!(range.track, [if id < COUNT { "one" } else { "other" }]);
        }
        assert_eq!(trace.attributes.get("nvtxw.left_open"), None);
        assert_eq!(trace.attributes.get("nvtxw.refused"), None);
    }
}
