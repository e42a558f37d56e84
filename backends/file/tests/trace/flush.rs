//! `flush_interval`: what streams hold is in the file soon, whoever writes next and when.

use std::time::{Duration, Instant};

use nvtxw_abi::EntryType;

use crate::reader::{Number, Slice, Trace};
use crate::{Run, Writer};

/// Reads the file again and again until there is what is looked for.
fn wait_for(run: &Run, found: impl Fn(&Trace) -> bool) -> Trace {
    let start = Instant::now();
    loop {
        let (trace, _) = Trace::read_cut(&run.path);
        if found(&trace) {
            return trace;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{trace:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Times, depth and whether it is the first lane.
fn spot(trace: &Trace, name: &str) -> (u64, Option<u64>, usize) {
    let Slice {
        start, end, depth, ..
    } = *trace.range(name);
    (start, end, depth)
}

#[test]
fn an_idle_stream_is_written_and_goes_on() {
    let run = Run::with("flush_interval=2");
    let mut out = Writer::new(&run);
    let counter = out.domain.counter("c", EntryType::Int64.to_raw(), 0, None);
    out.push(10, "pushed").unwrap();
    out.start(1, 15, "started").unwrap();
    out.pushpop(11, 13, "whole").unwrap();
    out.mark(12, "mark").unwrap();
    out.stream
        .sample(12, counter, &7_i64.to_ne_bytes())
        .unwrap();
    let all =
        |trace: &Trace| (trace.ranges.len(), trace.instants.len(), trace.values.len()) == (3, 1, 1);
    let trace = wait_for(&run, all);
    assert_eq!(spot(&trace, "pushed"), (10, None, 0));
    assert_eq!(spot(&trace, "whole"), (11, Some(13), 1));
    assert_eq!(spot(&trace, "started"), (15, None, 0));

    // What began in the file ends there, and what comes late goes into its place.
    out.pushpop(16, 18, "inside").unwrap();
    out.pop(20).unwrap();
    out.end(1, 30).unwrap();
    wait_for(&run, |trace| {
        trace.ranges.iter().all(|range| range.end.is_some())
    });
    out.pushpop(0, 40, "late").unwrap();
    let trace = run.read();
    assert_eq!(spot(&trace, "late"), (0, Some(40), 0));
    assert_eq!(spot(&trace, "pushed"), (10, Some(20), 1));
    assert_eq!(spot(&trace, "whole"), (11, Some(13), 2));
    assert_eq!(spot(&trace, "inside"), (16, Some(18), 2));
    assert_eq!(spot(&trace, "started"), (15, Some(30), 0));
    let uuid = |name| trace.range(name).uuid;
    assert_ne!(uuid("started"), uuid("late"));
    for name in ["pushed", "whole", "inside"] {
        assert_eq!(uuid(name), uuid("late"));
    }
    assert_eq!(trace.values[0].2, Number::Int(7));
}

/// A pipe whose reader goes away takes the part of a disk that fills up.
#[cfg(unix)]
#[test]
fn what_a_flush_meets_is_told_by_a_write_and_by_the_end() {
    use crate::faults::broken;
    use crate::table::{Plain, words};

    let dir = crate::replay::TempDir::new();
    let (session, want) = broken(&dir, "flush_interval=2");
    let domain = session.domain("");
    let plain = Plain::new(domain);
    let mut stream = session.stream("main", domain, 0);
    let payload = words(&[1, domain.string("tick") as i64]);
    let start = Instant::now();
    let mut count = 1;
    // The window has room for all of them: no write has to go to the file itself.
    let failure = loop {
        match stream.event(&[(plain.mark, &payload)]) {
            Err(failure) => break failure,
            Ok(()) => std::thread::sleep(Duration::from_millis(1)),
        }
        count += 1;
        assert!(start.elapsed() < Duration::from_secs(60));
    };
    assert_eq!(failure.reason, want);
    // Another flush meets it before the end.
    let _ = stream.event(&[(plain.mark, &payload)]);
    std::thread::sleep(Duration::from_millis(30));
    let failure = session.end().unwrap_err();
    let want = format!("{want}; {} events were dropped", count + 1);
    assert_eq!(failure.reason, want);
}

#[test]
fn a_capture_of_many_streams_holds_little_of_each() {
    use crate::table::{Plain, words};

    let run = Run::with("format=capture");
    let domain = run.session.domain("");
    let (plain, text) = (Plain::new(domain), domain.message_schema());
    let (mark, message) = (words(&[0, 0]), [b'x'; 4000]);
    let mut streams: Vec<_> = (0..1024)
        .map(|number| {
            let name = format!("stream {number}");
            run.session.stream(&name, domain, 0)
        })
        .collect();
    for stream in &mut streams {
        for _ in 0..5 {
            stream
                .event(&[(plain.mark, &mark), (text, &message)])
                .unwrap();
        }
    }
    let held = std::fs::metadata(&run.path).unwrap().len();
    assert!(held >= 1024 * 4 * 4000, "{held} bytes are in the file");
    run.session.end().unwrap();
}
