//! Reading, from JSON to what will be written.

use std::path::PathBuf;
use std::{env, fs, process};

use nvtxw::{Backend, Config, Session};

use crate::relate::{Flows, relate};
use crate::row::Row;
use crate::trace::{Cell, Trace};
use crate::write::write;

/// A session that writes to a file of its own, which goes with it.
struct Scratch {
    session: Session,
    path: PathBuf,
}

impl Scratch {
    fn new(test: &str) -> Self {
        let path = env::temp_dir().join(format!("nvtxw-kineto-{test}-{}.pftrace", process::id()));
        let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
        let session = Session::begin(&Backend::embedded(), test, &config).unwrap();
        Self { session, path }
    }

    /// Reads events, and gives what is wrong with the bad ones.
    fn read(&mut self, events: &[&str]) -> (Trace, Vec<String>) {
        let mut domain = self.session.default_domain().unwrap();
        let mut trace = Trace::default();
        let bad = events
            .iter()
            .filter_map(|event| trace.add(event, &mut domain).err());
        let bad = bad.map(|bad| bad.to_string()).collect();
        (trace, bad)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[test]
fn bad_events_are_named_and_skipped() {
    let cases = [
        (r#"7"#, "not an object"),
        (r#"{"name": "a"}"#, "`ph` is missing"),
        (r#"{"ph": "X", "ph": "X"}"#, "duplicate field `ph`"),
        (r#"{"ph": "X", "pid": 1, "tid": 1}"#, "`ts` is missing"),
        (
            r#"{"ph": "X", "pid": 1, "tid": 1, "ts": "5"}"#,
            "`ts` is not a number",
        ),
        (
            r#"{"ph": "X", "pid": 1, "tid": 1, "ts": 9e99}"#,
            "`ts` does not fit 64-bit nanoseconds",
        ),
        (
            r#"{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": -0.5}"#,
            "`dur` is negative",
        ),
        (r#"{"ph": "X", "tid": 1, "ts": 5}"#, "`pid` is missing"),
        (
            r#"{"ph": "X", "pid": 1, "tid": [1], "ts": 5}"#,
            "`tid` is not a number or a string",
        ),
        (
            r#"{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "name": 1}"#,
            "`name` is not a string",
        ),
        (
            r#"{"ph": "X", "pid": 1, "tid": 1, "ts": 5, "args": []}"#,
            "`args` is not an object",
        ),
        (
            r#"{"ph": "s", "pid": 1, "tid": 1, "ts": 5}"#,
            "`id` is missing",
        ),
        (
            r#"{"ph": "M", "pid": 1, "name": "process_name"}"#,
            "metadata without a usable `args.name`",
        ),
        (
            r#"{"ph": "M", "pid": 1, "name": "mood"}"#,
            "metadata `mood` is not converted",
        ),
        (
            r#"{"ph": "C", "pid": 1, "ts": 5}"#,
            "phase `C` is not converted",
        ),
    ];
    let mut scratch = Scratch::new("bad");
    let (trace, bad) = scratch.read(&cases.map(|(event, _)| event));
    assert_eq!(bad, cases.map(|(_, bad)| bad));
    assert!(trace.threads.iter().all(|thread| thread.events.is_empty()));
}

#[test]
fn known_events_become_structs_and_keep_what_else_they_have() {
    let mut scratch = Scratch::new("rows");
    let (trace, bad) = scratch.read(&[
        r#"{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "args": {"External id": 1, "Ev Idx": 2}}"#,
        r#"{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 2, "args": {"External id": 1, "Ev Idx": 2, "x": [1]}}"#,
        r#"{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 3, "args": {"External id": "1", "Ev Idx": 2}}"#,
        r#"{"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": 4, "args": {"External id": 1, "cbid": 2, "correlation": 4294967295}}"#,
        r#"{"ph": "X", "cat": "gpu_memcpy", "pid": 1, "tid": 1, "ts": 5, "args": {"correlation": 9}}"#,
        r#"{"ph": "i", "name": "now", "pid": 1, "tid": "1", "ts": 6, "s": "g"}"#,
    ]);
    assert_eq!(bad, [""; 0]);
    let [thread] = trace.threads.as_slice() else {
        panic!("1 and \"1\" are one thread")
    };
    let rows = thread
        .events
        .iter()
        .map(|event| (&event.row, event.extra.len(), event.correlation));
    let rows: Vec<_> = rows.collect();
    assert!(matches!(
        rows.as_slice(),
        [
            (Row::CpuOp(_), 0, None),
            (Row::CpuOp(_), 1, None),
            (Row::CpuRange(_), 2, None),
            (Row::CpuRange(_), 3, None),
            (Row::GpuRange(_), 1, Some(9)),
            (Row::Instant(_), 0, None),
        ]
    ));
    assert!(matches!(thread.events[4].extra[0].1, Cell::Correlation(9)));
}

#[test]
fn a_flow_joins_the_innermost_ranges_around_its_points() {
    let mut scratch = Scratch::new("flows");
    let (mut trace, bad) = scratch.read(&[
        r#"{"ph": "X", "name": "child", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10, "dur": 10, "args": {"External id": 1, "Ev Idx": 1}}"#,
        r#"{"ph": "X", "name": "parent", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10, "dur": 90}"#,
        r#"{"ph": "X", "name": "next", "pid": 1, "tid": 1, "ts": 20, "dur": 10, "args": {"correlation": 5}}"#,
        r#"{"ph": "X", "name": "other", "pid": 1, "tid": 2, "ts": 0, "dur": 50, "args": {"correlation": 5}}"#,
        // In the child and in the other thread's range.
        r#"{"ph": "s", "cat": "a", "id": 1, "pid": 1, "tid": 1, "ts": 15}"#,
        r#"{"ph": "f", "cat": "a", "id": 1, "pid": 1, "tid": 2, "ts": 50}"#,
        // Where the child ends, the next one begins: the later one has it, and 5 relates both already.
        r#"{"ph": "s", "cat": "a", "id": 2, "pid": 1, "tid": 1, "ts": 20}"#,
        r#"{"ph": "f", "cat": "a", "id": "2", "pid": 1, "tid": 2, "ts": 20}"#,
        // The same id in another category; after its last point there is nothing.
        r#"{"ph": "s", "cat": "b", "id": 1, "pid": 1, "tid": 1, "ts": 40}"#,
        r#"{"ph": "f", "cat": "b", "id": 1, "pid": 1, "tid": 2, "ts": 51}"#,
        // Three points, two of them in the parent.
        r#"{"ph": "s", "cat": "b", "id": 2, "pid": 1, "tid": 1, "ts": 35}"#,
        r#"{"ph": "t", "cat": "b", "id": 2, "pid": 1, "tid": 1, "ts": 100}"#,
        r#"{"ph": "f", "cat": "b", "id": 2, "pid": 1, "tid": 2, "ts": 0}"#,
    ]);
    assert_eq!(bad, [""; 0]);
    let Flows {
        numbered,
        covered,
        loose,
    } = relate(&mut trace);
    assert_eq!((numbered, covered, loose), (2, 1, 1));
    // In the order of time, the longest first: parent, child, next.
    let flows = |thread: usize, event: usize| {
        let event = &trace.threads[thread].events[event];
        let own = if let Row::CpuOp(op) = &event.row {
            op.flow
        } else {
            0
        };
        let cells = event.extra.iter().filter_map(|(_, cell)| {
            if let Cell::Flow(flow) = cell {
                Some(*flow)
            } else {
                None
            }
        });
        (own, cells.collect::<Vec<_>>())
    };
    assert_eq!(flows(0, 0), (0, vec![2]));
    assert_eq!(flows(0, 1), (1, vec![]));
    assert_eq!(flows(0, 2), (0, vec![]));
    assert_eq!(flows(1, 0), (0, vec![1, 2]));
}

#[test]
fn everything_that_was_read_is_written() {
    let mut scratch = Scratch::new("write");
    let (mut trace, bad) = scratch.read(&[
        r#"{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "a/b[c]\\"}}"#,
        r#"{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "same"}}"#,
        r#"{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "same"}}"#,
        r#"{"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "same 2"}}"#,
        r#"{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "name": "NUL \u0000", "args": {"a": 1, "b": 0.5, "c": true, "d": null}}"#,
        r#"{"ph": "X", "pid": 1, "tid": 2, "ts": 1, "args": {"a": 1, "b": 2, "c": "x", "u": 18446744073709551615}}"#,
        r#"{"ph": "X", "pid": 1, "tid": 3, "ts": 1}"#,
        r#"{"ph": "X", "pid": "", "tid": "", "ts": 1}"#,
        r#"{"ph": "i", "pid": 2, "tid": 1, "ts": 1}"#,
    ]);
    assert_eq!(bad, [""; 0]);
    relate(&mut trace);
    let domain = scratch.session.default_domain().unwrap().id();
    let written = write(&mut scratch.session, domain, &mut trace).unwrap();
    assert_eq!(
        (written.ranges, written.instants, written.threads),
        (4, 1, 5)
    );
}
