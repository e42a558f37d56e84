//! Arrows between correlated ranges in the format `chrome`.

use std::collections::BTreeMap;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::arrivals::merged;
use crate::chrome::{Lines, chrome};
use crate::reader::Arg;
use crate::replay::Random;
use crate::table::{Domain, Entry, entry, time, words};

/// Ranges that are joined by a number.
fn launches(domain: Domain) -> u64 {
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        launch(),
    ];
    domain.schema("range", EventKind::RangeStartEnd.to_raw(), 24, &entries)
}

fn launch() -> Entry<'static> {
    Entry {
        correlation: Some([1; 16]),
        ..entry(EntryType::UInt64, c"launch")
    }
}

#[test]
fn arrows_join_what_is_correlated() {
    for backwards in [false, true] {
        let run = chrome("");
        let domain = run.session.domain("");
        let mut streams = ["cpu", "gpu"].map(|name| run.session.stream(name, domain, 0));
        let range = launches(domain);
        let mut events = [(0, words(&[1, 2, 7])), (1, words(&[5, 9, 7]))];
        if backwards {
            events.reverse();
        }
        for (stream, payload) in &events {
            streams[*stream].event(&[(range, payload)]).unwrap();
        }
        streams[0].event(&[(range, &words(&[3, 4, 0]))]).unwrap();
        let order = if backwards { [1, 0] } else { [0, 1] };
        let mut streams = streams.map(Some);
        for index in order {
            streams[index].take().unwrap().close().unwrap();
        }
        let lines = Lines::of(run);
        let range = |tid: u64, ts, dur, number: &str, follows: bool| {
            let end = if follows { "flow_in" } else { "flow_out" };
            format!(
                r#"{{"ph":"X","tid":{tid},"pid":1,"ts":0.00{ts},"dur":0.00{dur},"bind_id":"0x{number}","{end}":true,"name":"range","args":{{"launch":7}}}}"#
            )
        };
        let mut found = lines.of_phases("Xsf");
        found.sort_by_key(|line| line.split_once(r#""ts":"#).unwrap().1);
        let number = found[0].split_once(r#""bind_id":"0x"#).unwrap().1;
        let number = number.split_once('"').unwrap().0;
        let other = r#"{"ph":"X","tid":2,"pid":1,"ts":0.003,"dur":0.001,"name":"range","args":{"launch":0}}"#;
        let (cpu, gpu) = (2, 3);
        assert_eq!(
            found,
            [
                &*range(cpu, 1, 1, number, false),
                other,
                &*range(gpu, 5, 4, number, true),
            ],
            "{backwards}"
        );
    }
}

/// Readers that take an arrow's ends by their times would find the inner one.
#[test]
fn what_is_joined_may_begin_together_with_what_is_in_it() {
    for config in ["", "window=2", "window=2|merge=false"] {
        for order in [[0, 1], [1, 0]] {
            let run = chrome(config);
            let domain = run.session.domain("");
            let range = launches(domain);
            let mut streams = ["cpu", "gpu"].map(|name| run.session.stream(name, domain, 0));
            for index in order {
                let at = 10 + 10 * index as i64;
                for (end, launch) in [(9, 7), (9, 0), (5, 0), (0, 0)] {
                    let payload = words(&[at, at + end, launch]);
                    streams[index].event(&[(range, &payload)]).unwrap();
                }
                for step in 0..9 {
                    let payload = words(&[at + 9, at + 9 + step, 0]);
                    streams[index].event(&[(range, &payload)]).unwrap();
                }
            }
            for stream in streams {
                stream.close().unwrap();
            }
            let trace = run.read();
            let joined = trace.ranges.iter().filter(|range| !range.flows.is_empty());
            let joined: Vec<_> = joined
                .map(|range| (&*range.track[1], range.start, range.end, range.depth))
                .collect();
            let is_alone = config == "window=2|merge=false" && order == [1, 0];
            if !is_alone {
                assert_eq!(
                    joined,
                    [("cpu", 10, Some(19), 0), ("gpu", 20, Some(29), 0)],
                    "{config} {order:?}"
                );
            }
        }
    }
}

/// An event that has several is joined by arrows, which have lines of their own.
#[test]
fn several_flows_of_one_range_are_arrows() {
    for config in ["", "window=2"] {
        let run = chrome(config);
        let domain = run.session.domain("");
        let range = launches(domain);
        let other = Entry {
            correlation: Some([2; 16]),
            ..entry(EntryType::UInt64, c"sync")
        };
        let entries = [
            time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
            time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
            launch(),
            other,
        ];
        let both = domain.schema("both", EventKind::RangeStartEnd.to_raw(), 32, &entries);
        let mut streams = ["cpu", "gpu"].map(|name| run.session.stream(name, domain, 0));
        for (stream, schema, payload) in [
            (0, range, &[10, 11, 7][..]),
            (1, both, &[20, 25, 7, 8]),
            (0, both, &[30, 31, 0, 8]),
            (1, range, &[40, 41, 7]),
        ] {
            streams[stream].event(&[(schema, &words(payload))]).unwrap();
        }
        for step in 0..9 {
            let payload = words(&[100 - step, 200 - step, 0]);
            streams[0].event(&[(range, &payload)]).unwrap();
        }
        for stream in streams {
            stream.close().unwrap();
        }
        let trace = run.read();
        let at = |start| {
            let mut found = trace.ranges.iter().filter(|range| range.start == start);
            found.next().unwrap().flows.clone()
        };
        let (first, both, sync, last) = (at(10), at(20), at(30), at(40));
        assert_eq!(
            (first.len(), both.len(), sync.len(), last.len()),
            (1, 3, 1, 1)
        );
        for end in [first, sync, last] {
            assert!(both.contains(&end[0]), "{config}");
        }
    }
}

/// Each is joined with the next one, whatever was written when, and however many begin at one time.
#[test]
fn ranges_of_one_flow_are_a_chain_in_the_order_of_time() {
    const RANGES: u64 = 300;
    for (seed, config) in (0..12).flat_map(|seed| {
        ["", "window=16", "window=2", "window=2|merge=false"].map(|config| (seed, config))
    }) {
        let mut random = Random::new(seed);
        let run = chrome(config);
        let domain = run.session.domain("");
        let range = launches(domain);
        let mut streams = ["one", "two", "three"].map(|name| run.session.stream(name, domain, 0));
        let span = 5 + random.below(200);
        let mut counts = [0; 40];
        for _ in 0..RANGES {
            let start = random.below(span);
            let end = start + random.below(9);
            let launch = random.below(40);
            counts[launch as usize] += 1;
            let payload = words(&[start as i64, end as i64, launch as i64]);
            let stream = random.below(3) as usize;
            streams[stream].event(&[(range, &payload)]).unwrap();
        }
        for stream in streams {
            stream.close().unwrap();
        }
        let trace = run.read();
        assert_eq!(trace.ranges.len() as u64, RANGES);
        let mut ends: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        for range in &trace.ranges {
            for joint in &range.flows {
                ends.entry(*joint)
                    .or_default()
                    .push((range.arg("launch"), range.start));
            }
        }
        if config.contains("merge=false") {
            // Arrows to what came before are told by times only.
            assert!(ends.values().all(|ends| ends.len() == 2));
            continue;
        }
        assert_eq!(trace.attributes.get("nvtxw.unmerged"), None);
        assert!(
            ends.values()
                .all(|ends| ends.len() == 2 && ends[0].0 == ends[1].0)
        );
        for (launch, count) in counts.into_iter().enumerate() {
            let of = trace
                .ranges
                .iter()
                .filter(|range| *range.arg("launch") == Arg::Int(launch as i64));
            let mut of: Vec<_> = of.map(|range| (range.start, range.flows.len())).collect();
            of.sort();
            assert_eq!(of.len(), count);
            let joints: Vec<_> = of.iter().map(|(_, joints)| *joints).collect();
            if launch == 0 || count < 2 {
                assert!(joints.iter().all(|joints| *joints == 0));
                continue;
            }
            assert_eq!(
                joints.iter().sum::<usize>(),
                2 * (count - 1),
                "{seed} {config}"
            );
            assert!(
                joints.iter().all(|joints| (1..=2).contains(joints)),
                "{joints:?}"
            );
            // None is passed over.
            let times: Vec<_> = of.iter().map(|(start, _)| *start).collect();
            let mut pairs: Vec<_> = (ends.values())
                .filter(|ends| *ends[0].0 == Arg::Int(launch as i64))
                .map(|ends| (ends[0].1.min(ends[1].1), ends[0].1.max(ends[1].1)))
                .collect();
            pairs.sort();
            let want: Vec<_> = times.windows(2).map(|pair| (pair[0], pair[1])).collect();
            assert_eq!(pairs, want, "{seed} {config}");
        }
    }
}

/// In the order of time, whatever was written when, and however many there are.
#[test]
fn in_a_file_that_is_put_in_order_arrows_go_to_the_next_range_in_time() {
    const LAUNCHES: u64 = 8_000;
    let run = chrome("window=2");
    let domain = run.session.domain("");
    let range = launches(domain);
    let mut streams = ["gpu", "cpu", "late"].map(|name| run.session.stream(name, domain, 0));
    let mut random = Random::new(9);
    let mut order: Vec<_> = (1..=LAUNCHES).collect();
    for index in (1..order.len()).rev() {
        order.swap(index, random.below(index as u64 + 1) as usize);
    }
    // A kernel runs after its launch, and is waited for in the end; some begin at the time of their launch.
    for launch in &order {
        let at = *launch as i64 * 10;
        let kernel = at + (*launch % 3) as i64;
        for (stream, start) in [(0, kernel), (1, at)] {
            let payload = words(&[start, start + 5, *launch as i64]);
            streams[stream].event(&[(range, &payload)]).unwrap();
        }
    }
    // In order, and joined with ranges that are not.
    for launch in 1..=LAUNCHES as i64 {
        let at = 1_000_000 + launch;
        let payload = words(&[at, at, launch]);
        streams[2].event(&[(range, &payload)]).unwrap();
    }
    for stream in streams {
        stream.close().unwrap();
    }
    let trace = merged(run);
    assert_eq!(trace.ranges.len() as u64, 3 * LAUNCHES);
    let mut by_launch = vec![[const { None }; 3]; LAUNCHES as usize + 1];
    for found in &trace.ranges {
        let Arg::Int(launch) = *found.arg("launch") else {
            panic!("{found:?}")
        };
        let stream = ["gpu", "cpu", "late"]
            .iter()
            .position(|name| found.track[1] == *name);
        let place = &mut by_launch[launch as usize][stream.unwrap()];
        assert!(place.replace(found).is_none());
    }
    for (launch, joined) in by_launch.iter().enumerate().skip(1) {
        let [kernel, launched, late] = joined.map(|range| &range.unwrap().flows);
        // At one time the one that stands first in the file comes first.
        let (first, second) = match launch % 3 {
            0 => (kernel, launched),
            _ => (launched, kernel),
        };
        assert_eq!(
            (first.len(), second.len(), late.len()),
            (1, 2, 1),
            "{launch}"
        );
        assert!(second.contains(&first[0]) && second.contains(&late[0]));
        assert_ne!(first[0], late[0]);
    }
}

/// Of a range in two halves, both of which have flows, and of one that stays open.
#[test]
fn halves_keep_their_arrows() {
    let run = chrome("window=2");
    let domain = run.session.domain("");
    let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
    let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
    let push = domain.schema(
        "push",
        EventKind::RangePush.to_raw(),
        16,
        &[begin, launch()],
    );
    let pop = domain.schema("pop", EventKind::RangePop.to_raw(), 16, &[end, launch()]);
    let range = launches(domain);
    let mut stream = run.session.stream("main", domain, 0);
    let mut write = |schema, payload: &[i64]| {
        stream.event(&[(schema, &words(payload))]).unwrap();
    };
    write(push, &[0, 1]);
    write(push, &[100, 2]);
    for at in 0..8 {
        write(range, &[101 + at, 101 + at, 10 + at]);
    }
    write(pop, &[200, 3]);
    // Late, so that the file is put in order.
    write(range, &[10, 20, 1]);
    write(range, &[300, 310, 2]);
    write(range, &[320, 330, 3]);
    let trace = merged(run);
    let at = |start| {
        let mut found = trace.ranges.iter().filter(|range| range.start == start);
        &found.next().unwrap().flows
    };
    assert_eq!(trace.ranges[0].end, None);
    for (half, whole) in [(0, 10), (100, 300), (100, 320)] {
        assert_eq!(at(whole).len(), 1);
        assert!(at(half).contains(&at(whole)[0]), "{half} and {whole}");
    }
    assert_eq!((at(0).len(), at(100).len()), (1, 2));
    assert_eq!(at(104).len(), 0);
}

#[test]
fn of_open_ranges_of_one_time_the_first_in_the_file_is_the_first_of_its_flow() {
    let ours = [EventKind::RangeStart, EventKind::RangePush];
    for kinds in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        for order in [[0, 1], [1, 0]] {
            let run = chrome("");
            let domain = run.session.domain("");
            let mut streams = ["cpu", "gpu"].map(|name| run.session.stream(name, domain, 0));
            let schemas = ours.map(|kind| {
                let id = entry(EntryType::RangeId, c"id");
                let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
                let entries = [begin, launch(), id];
                let count = 2 + usize::from(kind == EventKind::RangeStart);
                domain.schema("open", kind.to_raw(), count * 8, &entries[..count])
            });
            for index in order {
                let kind = kinds[index];
                let payload = words(&[5, 7, 1]);
                let payload = &payload[..24 - 8 * kind];
                streams[index].event(&[(schemas[kind], payload)]).unwrap();
            }
            // Its reader wants the first one to say so.
            let trace = run.read();
            let flows: Vec<_> = trace.ranges.iter().map(|range| &range.flows[..]).collect();
            assert_eq!(flows.len(), 2);
            assert!(flows[0].len() == 1 && flows[0] == flows[1], "{flows:?}");
        }
    }
}
