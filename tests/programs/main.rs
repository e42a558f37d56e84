//! The programs that the interface is made for, each against the embedded backend, and what a reader finds in the file.

#![forbid(unsafe_code)]

mod converter;
mod database;
mod profiler;
// The reader of the file backend's own tests; they use more of it.
#[allow(dead_code)]
#[path = "../../backends/file/tests/trace/reader.rs"]
mod reader;
#[allow(dead_code)]
#[path = "../../backends/file/src/replay.rs"]
mod replay;
mod simulator;

use std::path::PathBuf;

use nvtxw::Config;
use reader::{Slice, Trace};
use replay::TempDir;

/// A file in a folder of its own.
struct Output {
    path: PathBuf,
    _folder: TempDir,
}

impl Output {
    fn new() -> Self {
        let folder = TempDir::new();
        Self {
            path: folder.path().join("run.pftrace"),
            _folder: folder,
        }
    }

    fn config(&self) -> nvtxw::Result<Config> {
        Config::new().set(
            "path",
            self.path.to_str().expect("temporary folders are UTF-8"),
        )
    }

    fn read(&self) -> Trace {
        Trace::read(&self.path)
    }
}

/// The ranges of a track that was named so: name, start and end, in order of their starts.
fn ranges<'a>(trace: &'a Trace, track: &[&str]) -> Vec<(&'a str, u64, u64)> {
    let found = trace.ranges.iter().filter(|range| range.track == track);
    let mut found: Vec<_> = found
        .map(|range| (&*range.name, range.start, range.end.expect("it is closed")))
        .collect();
    found.sort_by_key(|&(_, start, end)| (start, std::cmp::Reverse(end)));
    found
}

/// The instants of a track.
fn instants<'a>(trace: &'a Trace, track: &[&str]) -> Vec<(&'a str, u64)> {
    let found = trace
        .instants
        .iter()
        .filter(|instant: &&Slice| instant.track == track);
    found
        .map(|instant| (&*instant.name, instant.start))
        .collect()
}
