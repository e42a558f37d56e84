//! The formats that the children write, and how each is read.

use std::path::{Path, PathBuf};

use crate::reader::{Slice, Trace};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    Perfetto,
    Compressed,
    Chrome,
    #[cfg(feature = "parquet")]
    Parquet,
}

use Format::*;

/// Formats that are one file.
pub const FILES: [Format; 3] = [Perfetto, Compressed, Chrome];

#[cfg(not(feature = "parquet"))]
pub const ALL: &[Format] = &FILES;
#[cfg(feature = "parquet")]
pub const ALL: &[Format] = &[Perfetto, Compressed, Chrome, Parquet];

/// Rows of a part of a dataset.
#[cfg(feature = "parquet")]
const PART: u64 = 256;

impl Format {
    /// That of a path which [`path`](Self::path) made.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let found = ALL
            .iter()
            .find(|format| Some(format.extension()) == extension);
        *found.expect("a format is named so")
    }

    pub fn path(self, folder: &Path) -> PathBuf {
        folder.join("run").with_extension(self.extension())
    }

    fn extension(self) -> &'static str {
        match self {
            Perfetto => "pftrace",
            Compressed => "zlib",
            Chrome => "json",
            #[cfg(feature = "parquet")]
            Parquet => "parquet",
        }
    }

    pub fn config(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Perfetto => &[],
            Compressed => &[("compression", "zlib")],
            Chrome => &[("format", "chrome")],
            #[cfg(feature = "parquet")]
            Parquet => &[("format", "parquet"), ("part", "256"), ("row_group", "256")],
        }
    }

    /// How many events of a stream are in memory at most: its window, and a part in the making with what
    /// comes from the window at once.
    pub fn waiting(self, window: u64) -> u64 {
        match self {
            #[cfg(feature = "parquet")]
            Parquet => window + PART + window,
            _ => window,
        }
    }

    /// What is there, in the form of a Perfetto file's tracks; and whether something is cut at the end.
    pub fn read_cut(self, path: &Path) -> (Trace, bool) {
        match self {
            Perfetto | Compressed => Trace::read_cut(path),
            Chrome => {
                let (mut trace, cut) = Trace::read_cut(path);
                // The process is the session.
                for slice in trace.ranges.iter_mut().chain(&mut trace.instants) {
                    slice.track.remove(0);
                }
                for (track, ..) in &mut trace.values {
                    *track = track[1].split('/').map(str::to_owned).collect();
                }
                (trace, cut)
            }
            #[cfg(feature = "parquet")]
            Parquet => crate::tables::read(path),
        }
    }

    /// The ranges that are there, as far as they may be open.
    pub fn read_open(self, path: &Path) -> Vec<Slice> {
        match self {
            #[cfg(feature = "parquet")]
            Parquet => crate::tables::read(&path.join("open")).0.ranges,
            _ => self.read_cut(path).0.ranges,
        }
    }

    pub fn read(self, path: &Path) -> Trace {
        let (trace, cut) = self.read_cut(path);
        assert!(!cut, "{} is cut", path.display());
        trace
    }

    /// What an error of a write ends with.
    pub fn keeps(self) -> &'static str {
        match self {
            #[cfg(feature = "parquet")]
            Parquet => "later events are dropped, the dataset keeps the parts that were complete",
            _ => "later events are dropped, the file keeps what came before",
        }
    }
}
