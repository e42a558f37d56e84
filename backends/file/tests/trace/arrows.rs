//! Arrows between correlated ranges in the format `chrome`.

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::arrivals::merged;
use crate::chrome::{Lines, chrome};
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
        let arrow = |phase: &str, tid, ts, id| {
            let joined = r#""name":"correlation","cat":"correlation""#;
            format!(r#"{{"ph":"{phase}","pid":1,"tid":{tid},"ts":0.00{ts},"id":{id},{joined}"#)
        };
        let end = r#"f","bp":"e"#;
        let lines = Lines::of(run);
        let ends = lines.of_phases("s");
        let flow = ends[0]
            .split_at(ends[0].find(r#","flow":""#).unwrap())
            .1
            .to_owned();
        let (cpu, gpu) = (2, 3);
        // The start of the next arrow tells which flow it would be of.
        let next = |tid, ts, id| arrow("s", tid, ts, id) + &flow;
        let want = if backwards {
            let (s, f) = (arrow("s", cpu, 1, 3) + "}", arrow(end, gpu, 5, 3) + "}");
            [next(gpu, 5, 1), s, f, next(cpu, 1, 2)]
        } else {
            let (s, f) = (next(cpu, 1, 1), arrow(end, gpu, 5, 1) + "}");
            [s, f, next(gpu, 5, 2), String::new()]
        };
        let want: Vec<_> = want.iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.of_phases("sf"), want);
        // Each right after its range.
        let ranges = lines.of_phases("Xsf");
        let first = ranges.iter().position(|line| *line == want[0]).unwrap();
        assert!(ranges[first - 1].ends_with(r#""name":"range","args":{"launch":7}}"#));
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
        let crate::reader::Arg::Int(launch) = *found.arg("launch") else {
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
