//! What is written through the table is what a reader of the file finds.

mod arrivals;
mod arrows;
mod batches;
mod capture;
mod chains;
mod chrome;
mod clocks;
mod compression;
mod content;
mod counters;
#[cfg(feature = "parquet")]
mod dataset;
mod dates;
mod ending;
mod faults;
mod fields;
mod flush;
mod formats;
mod halves;
mod many;
mod merge;
mod mixed;
#[cfg(feature = "parquet")]
mod open;
mod order;
#[cfg(feature = "parquet")]
mod parquet;
mod ranges;
mod reader;
#[path = "../../src/replay.rs"]
mod replay;
#[cfg(feature = "parquet")]
mod retimed;
mod table;
mod texts;
mod tracks;
mod unions;
mod unmerged;

use std::ops::Range;
use std::path::PathBuf;

use reader::Trace;
use replay::TempDir;
use table::{Domain, Plain, Session, Stream, words};

/// Seeds of a random test: `count`, or five times as many where `NVTXW_LONG` is set.
fn seeds(count: u64) -> Range<u64> {
    match std::env::var_os("NVTXW_LONG") {
        Some(_) => 0..5 * count,
        None => 0..count,
    }
}

/// A parent and its two children, in each order in which they can come.
fn families() -> impl Iterator<Item = [(&'static str, i64, i64); 3]> {
    let ranges = [("parent", 0, 110), ("first", 0, 100), ("next", 100, 110)];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    orders
        .into_iter()
        .map(move |order| order.map(|index| ranges[index]))
}

/// A session that writes into a folder of its own.
struct Run {
    session: Session,
    path: PathBuf,
    _dir: TempDir,
}

impl Run {
    fn new() -> Self {
        Self::with("")
    }

    /// With more config.
    fn with(config: &str) -> Self {
        let dir = TempDir::new();
        let path = dir.path().join("run.pftrace");
        let config = format!("path={}|{config}", path.display());
        Self {
            session: Session::begin("run", &config).unwrap(),
            path,
            _dir: dir,
        }
    }

    /// Ends the session, and reads what it wrote.
    fn read(self) -> Trace {
        self.session.end().unwrap();
        Trace::read(&self.path)
    }

    /// A stream of the default domain, and the plain schemas there.
    fn plain(&self) -> (Domain, Plain, Stream) {
        let domain = self.session.domain("");
        let stream = self.session.stream("main", domain, 0);
        (domain, Plain::new(domain), stream)
    }
}

/// A stream whose events have their names from a domain.
struct Writer {
    domain: Domain,
    plain: Plain,
    stream: Stream,
}

impl Writer {
    fn new(run: &Run) -> Self {
        let (domain, plain, stream) = run.plain();
        Self {
            domain,
            plain,
            stream,
        }
    }

    fn name(&self, name: &str) -> i64 {
        self.domain.string(name) as i64
    }

    fn mark(&mut self, time: i64, name: &str) -> table::Result<()> {
        let payload = words(&[time, self.name(name)]);
        self.stream.event(&[(self.plain.mark, &payload)])
    }

    fn pushpop(&mut self, start: i64, end: i64, name: &str) -> table::Result<()> {
        let payload = words(&[start, end, self.name(name)]);
        self.stream.event(&[(self.plain.pushpop, &payload)])
    }

    fn startend(&mut self, start: i64, end: i64, name: &str) -> table::Result<()> {
        let payload = words(&[start, end, self.name(name)]);
        self.stream.event(&[(self.plain.startend, &payload)])
    }

    fn push(&mut self, time: i64, name: &str) -> table::Result<()> {
        let payload = words(&[time, self.name(name)]);
        self.stream.event(&[(self.plain.push, &payload)])
    }

    fn pop(&mut self, time: i64) -> table::Result<()> {
        self.stream.event(&[(self.plain.pop, &words(&[time]))])
    }

    fn start(&mut self, id: i64, time: i64, name: &str) -> table::Result<()> {
        let payload = words(&[id, time, self.name(name)]);
        self.stream.event(&[(self.plain.start, &payload)])
    }

    fn end(&mut self, id: i64, time: i64) -> table::Result<()> {
        self.stream.event(&[(self.plain.end, &words(&[id, time]))])
    }
}
