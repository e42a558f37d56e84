//! Whatever the order in which events come, the file is as if they had come in order.

use std::fs;

use nvtxw_abi::EntryType;

use crate::arrivals::{
    Arrival, Chains, FORMATS, Kind, Rows, Schemas, merged, write, write_apart, written,
};
use crate::reader::{Arg, Number, Trace};
use crate::replay::Random;
use crate::table::{Plain, words};
use crate::{Run, families, seeds};

#[test]
fn any_order_of_arrival_gives_the_same_rows() {
    check_any_order(FORMATS[0], 12);
}

#[test]
fn any_order_of_arrival_gives_the_same_rows_in_chrome() {
    check_any_order(FORMATS[1], 5);
}

fn check_any_order(format: &str, count: u64) {
    let mut late = 0;
    for seed in seeds(count) {
        let mut chains = Chains::new(seed);
        let in_order = chains.in_order();
        let disorder = chains.in_disorder();
        let window = format!("{format}|window={}", 2 + chains.below(63));
        let want = Rows::of(&merged(write(&in_order, format)));
        for (arrivals, config) in [
            (&in_order, &*window),
            (&disorder, format),
            (&disorder, &window),
        ] {
            let trace = merged(write(arrivals, config));
            let rows = Rows::of(&trace);
            assert_eq!(rows.spots, want.spots, "seed {seed} {config}");
            assert_eq!(rows, want, "seed {seed} {config}");
            if let Some(Arg::Int(count)) = trace.attributes.get("nvtxw.late") {
                assert_ne!(config, format);
                late += count;
            }
        }
        let (ends, rest): (Vec<_>, _) = (disorder.into_iter())
            .partition(|arrival| arrival.kind == Kind::End && arrival.number % 2 == 0);
        let run = Run::with(&window);
        write_apart(&run.session, &rest, &ends);
        assert_eq!(Rows::of(&merged(run)), want, "seed {seed}, ends elsewhere");
    }
    assert!(late > count as i64, "{late}");
}

/// Readers take the last one in the file for what holds from there on.
#[test]
fn values_of_one_time_keep_their_order_where_a_stream_is_opened_again() {
    for format in FORMATS {
        // Which of the three times the stream is out of order.
        for late in 0..3 {
            for lingers in [false, true] {
                let run = Run::with(&format!("{format}|window=2"));
                let domain = run.session.domain("");
                let plain = Plain::new(domain);
                let entry_type = EntryType::Int64.to_raw();
                let counter = domain.counter("load", entry_type, 0, None);
                let name = domain.string("step") as i64;
                for opened in 0..3 {
                    let mut stream = run.session.stream("main", domain, 0);
                    if lingers && opened == 0 {
                        let started = words(&[1, 7, name]);
                        stream.event(&[(plain.start, &started)]).unwrap();
                    }
                    for value in 0..8_i64 {
                        let value = opened * 10 + value;
                        stream.sample(100, counter, &value.to_ne_bytes()).unwrap();
                    }
                    if opened == late {
                        for start in [50, 60, 70, 80, 20] {
                            let range = words(&[start, 90, name]);
                            stream.event(&[(plain.startend, &range)]).unwrap();
                        }
                    }
                    stream.close().unwrap();
                }
                let trace = merged(run);
                let values: Vec<_> = trace.values.iter().map(|(_, _, value, _)| *value).collect();
                let want: Vec<_> = (0..3)
                    .flat_map(|opened| (0..8).map(move |value| Number::Int(opened * 10 + value)))
                    .collect();
                assert_eq!(values, want, "{format}, {late}, {lingers}");
            }
        }
    }
}

#[test]
fn before_the_end_all_that_was_flushed_is_there() {
    for (seed, format) in (0..50).flat_map(|seed| FORMATS.map(|format| (seed, format))) {
        let mut chains = Chains::new(seed);
        let disorder = chains.in_disorder();
        let run = write(&disorder, &format!("{format}|window=4"));
        let trace = Trace::read(&run.path);
        let got: Vec<_> = (trace.ranges.iter())
            .map(|range| (range.name.clone(), range.start))
            .collect();
        let want = Trace::read(&{
            run.session.end().unwrap();
            run.path.clone()
        });
        assert_eq!(got.len(), want.ranges.len());
        for range in &want.ranges {
            assert!(got.contains(&(range.name.clone(), range.start)));
        }
        assert_eq!(trace.values.len(), want.values.len());
    }
}

#[test]
fn parent_and_children_in_any_order_and_the_smallest_window() {
    for ranges in families() {
        for format in FORMATS {
            let run = Run::with(&format!("{format}|window=2"));
            let mut out = crate::Writer::new(&run);
            for (name, start, end) in ranges {
                out.pushpop(start, end, name).unwrap();
            }
            let trace = merged(run);
            let spot = |name| {
                let range = trace.range(name);
                (range.start, range.end, range.depth)
            };
            assert_eq!(spot("parent"), (0, Some(110), 0));
            assert_eq!(spot("first"), (0, Some(100), 1));
            assert_eq!(spot("next"), (100, Some(110), 1));
            // Tracks that are not used any more are gone.
            let rows = trace.tracks.values().filter(|track| track.owner.is_none());
            assert_eq!(rows.count(), 1, "{format}");
            assert_eq!(trace.attributes.get("nvtxw.overlapping_pushpop"), None);
        }
    }
}

#[test]
fn late_marks_and_samples_need_no_new_file() {
    for (format, load) in FORMATS
        .into_iter()
        .zip([["main", "load"], ["run", "main/load"]])
    {
        let run = Run::with(&format!("{format}|window=4"));
        let domain = run.session.domain("");
        let schemas = Schemas::new(domain);
        let mut stream = run.session.stream("main", domain, 0);
        for kind in [Kind::PushPop, Kind::Mark, Kind::Sample] {
            for step in 0..50 {
                let time = match kind {
                    Kind::PushPop => step * 10,
                    _ => (50 - step) * 10,
                };
                let arrival = Arrival {
                    kind,
                    time,
                    end: time + 5,
                    place: 0,
                    number: step,
                };
                schemas.write(&mut stream, arrival);
            }
        }
        stream.close().unwrap();
        let before = fs::read(&run.path).unwrap();
        run.session.end().unwrap();
        let after = fs::read(&run.path).unwrap();
        assert!(after.starts_with(written(&before)));
        let trace = Trace::read(&run.path);
        assert_eq!(trace.ranges.len(), 50);
        let values = trace.counter(&load);
        let want: Vec<_> = (0..50)
            .map(|step| (10 + step as u64 * 10, Number::Int(49 - step)))
            .collect();
        assert_eq!(values, want);
        for (mark, number) in trace.instants.iter().zip((0..50).rev()) {
            assert_eq!(mark.name, format!("event {number}"));
            assert_eq!(mark.start, (50 - number) * 10);
            assert_eq!(mark.depth, usize::from(number > 0));
        }
    }
}

/// Values of two counters, one of differences, that come in reverse order.
fn late_differences(config: &str) -> Trace {
    let run = Run::with(config);
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let [level, plain] = [
        domain.delta_counter("level"),
        domain.counter("plain", EntryType::Int64.to_raw(), 0, None),
    ];
    for time in (0..50).rev() {
        for counter in [level, plain] {
            stream.sample(time, counter, &time.to_ne_bytes()).unwrap();
        }
    }
    merged(run)
}

#[test]
fn late_differences_are_summed_up_in_order() {
    let trace = late_differences("format=chrome|window=4");
    let of = |name| trace.counter(&["run", name]);
    let sums = (0..50).map(|time| (time, Number::Int((0..=time as i64).sum())));
    assert_eq!(of("main/level"), sums.collect::<Vec<_>>());
    assert_eq!(of("main/plain")[7], (7, Number::Int(7)));
}

#[test]
fn late_differences_are_put_in_order_for_readers_sum_them_up() {
    let trace = late_differences("window=4");
    let times = |name: &str| -> Vec<_> {
        let track = trace
            .tracks
            .iter()
            .find(|(_, track)| track.name == format!("main {name}"));
        let mine = trace
            .value_times
            .iter()
            .filter(|v| v.0 == *track.unwrap().0);
        mine.map(|(_, time)| *time).collect()
    };
    assert_eq!(times("level"), (0..50).collect::<Vec<_>>());
    assert_eq!(times("plain").len(), 50);
    assert_eq!(trace.counter(&["main", "level"])[7], (7, Number::Int(7)));
}

#[test]
fn what_ends_after_its_stream_was_closed_stands_where_it_belongs() {
    for format in FORMATS {
        let run = Run::with(format);
        let mut out = crate::Writer::new(&run);
        out.pushpop(0, 100, "outer").unwrap();
        out.start(1, 10, "inner").unwrap();
        let mut other = run.session.stream("other", out.domain, 0);
        out.stream.close().unwrap();
        other.event(&[(out.plain.end, &words(&[1, 20]))]).unwrap();
        let trace = merged(run);
        let inner = trace.range("inner");
        assert_eq!((inner.start, inner.end, inner.depth), (10, Some(20), 1));
        assert_eq!(inner.uuid, trace.range("outer").uuid);
    }
}

#[test]
fn more_events_than_memory_holds_are_sorted_on_disk() {
    for format in FORMATS {
        check_sorted_on_disk(&format!("{format}|window=2"));
    }
}

fn check_sorted_on_disk(config: &str) {
    const STEPS: i64 = 60_000;
    let run = Run::with(config);
    let mut out = crate::Writer::new(&run);
    let mut random = Random::new(1);
    let mut steps: Vec<_> = (0..STEPS).collect();
    for index in (1..steps.len()).rev() {
        steps.swap(index, random.below(index as u64 + 1) as usize);
    }
    let name = out.name("step");
    for step in steps {
        // One of ten holds the other nine.
        let length = if step % 10 == 0 { 99 } else { 9 };
        let payload = words(&[step * 10, step * 10 + length, name]);
        out.stream.event(&[(out.plain.pushpop, &payload)]).unwrap();
    }
    let trace = merged(run);
    assert_eq!(trace.ranges.len() as i64, STEPS);
    for (range, step) in trace.ranges.iter().zip(0..) {
        assert_eq!(range.start, step * 10);
        assert_eq!(range.depth, usize::from(step % 10 != 0), "{range:?}");
        assert_eq!(range.uuid, trace.ranges[0].uuid);
    }
}
