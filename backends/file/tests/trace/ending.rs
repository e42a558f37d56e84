//! Streams that are open when their session ends.

use std::thread;

use nvtxw_abi::raw::NVTXW_STREAM_ORDERING_TYPE_STRICT;

use crate::reader::{Trace, text};
use crate::replay::TempDir;
use crate::table::{Order, Plain, Session, Stream, words};
use crate::{Run, compression, faults};

const CONFIGS: [&str; 4] = [
    "window=64",
    "window=64|format=chrome",
    "window=64|compression=zlib:1",
    "window=64|flush_interval=86400000",
];

/// Ranges of 5 ns and up, in each stream by a thread of its own, that fill some windows and leave one begun.
fn write(session: &Session, streams: &mut [Stream]) {
    let domain = session.domain("");
    let plain = Plain::new(domain);
    let name = domain.string("step") as i64;
    thread::scope(|scope| {
        for (stream, index) in streams.iter_mut().zip(0..) {
            scope.spawn(move || {
                for step in 0..1000 {
                    let payload = words(&[step * 10, step * 10 + 5 + index, name]);
                    // What it met is told again at the end.
                    let _ = stream.event(&[(plain.pushpop, &payload)]);
                }
            });
        }
    });
}

fn streams(session: &Session) -> [Stream; 4] {
    [0, 1, 2, 3].map(|index| session.stream(&format!("stream {index}"), session.domain(""), 0))
}

#[test]
fn what_several_threads_wrote_is_whole() {
    for config in CONFIGS {
        let run = Run::with(config);
        let mut all = streams(&run.session);
        write(&run.session, &mut all);
        // Two have a range that another one ends.
        let domain = run.session.domain("");
        let plain = Plain::new(domain);
        let name = domain.string("over streams") as i64;
        for (stream, id) in [(0, 7), (2, 8)] {
            (all[stream].event(&[(plain.start, &words(&[id, 20_000, name]))])).unwrap();
            (all[stream + 1].event(&[(plain.end, &words(&[id, 20_100]))])).unwrap();
        }
        let path = run.path.clone();
        run.session.end().unwrap();
        let trace = match config.contains("compression") {
            true => compression::read(&path).0,
            false => Trace::read(&path),
        };
        let mut long = 0;
        for (index, stream) in (0..4).map(|index| (index, format!("stream {index}"))) {
            let of_stream = |track: &[String]| track.contains(&stream);
            let ranges = trace.ranges.iter().filter(|range| of_stream(&range.track));
            let (steps, over): (Vec<_>, Vec<_>) = ranges.partition(|range| range.name == "step");
            let lengths: Vec<_> = (steps.iter())
                .map(|range| range.end.unwrap() - range.start)
                .collect();
            assert_eq!(lengths, [5 + index; 1000], "{config}");
            long += over.len();
            for range in over {
                assert_eq!(range.end.unwrap() - range.start, 100, "{config}");
            }
        }
        assert_eq!(long, 2, "{config}");
    }
}

#[test]
fn what_one_thread_writes_is_the_same_in_each_run() {
    for config in CONFIGS {
        let file = || {
            // So much is left for the end that several threads would write by turns.
            let run = Run::with(&config.replace("window=64", "window=3000"));
            let domain = run.session.domain("");
            let plain = Plain::new(domain);
            let mut all = streams(&run.session);
            for step in 0..4000 {
                for (stream, index) in all.iter_mut().zip(0..) {
                    let name = domain.string(&format!("step {}", step % 7)) as i64;
                    let payload = words(&[step * 10, step * 10 + 5 + index, name]);
                    (stream.event(&[(plain.pushpop, &payload)])).unwrap();
                }
            }
            let path = run.path.clone();
            run.session.end().unwrap();
            std::fs::read(path).unwrap()
        };
        assert!(file() == file(), "{config}");
    }
}

/// Whichever thread meets it.
#[cfg(unix)]
#[test]
fn the_end_tells_what_an_error_cost_all_threads() {
    for config in CONFIGS {
        let dir = TempDir::new();
        let (session, want) = faults::broken(&dir, config);
        write(&session, &mut streams(&session));
        let failure = session.end().unwrap_err();
        assert_eq!(
            failure.reason,
            format!("{want}; 4000 events were dropped"),
            "{config}"
        );
    }
}

/// A stream's own claims are counted by its place among the streams, not by when it was finished.
#[test]
fn streams_with_broken_orderings_are_told_in_their_order() {
    let run = Run::with("window=64");
    let order = Order {
        ordering: NVTXW_STREAM_ORDERING_TYPE_STRICT,
        ..Order::default()
    };
    let domain = run.session.domain("");
    let mut all = [0, 1, 2, 3]
        .map(|index| (run.session).ordered_stream(&format!("stream {index}"), domain, 0, order));
    write(&run.session, &mut all);
    write(&run.session, &mut all);
    let trace = run.read();
    for index in 0..4 {
        let key = format!("nvtxw.broken_ordering.{index}");
        assert_eq!(trace.attributes[&key], text(&format!("stream {index}")));
    }
}
