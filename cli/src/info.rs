//! `nvtxw info`: what is in a trace.

#[cfg(feature = "parquet")]
mod args;
mod clocks;
mod declared;
mod json;
mod packets;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod report;
mod summary;
mod track;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::read::MultiGzDecoder;

use self::summary::Summary;
use crate::error::{Error, Result};
use crate::page::Page;

/// Shows what is in a trace: times, streams, fields, counters, and what takes most time
///
/// FILE is read once, from front to back; memory grows with the number of different names, tracks and open ranges, not with the
/// length of FILE. Of a file that was cut or damaged, what stands before that is shown.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Options {
    /// The trace: a Perfetto file (.pftrace), perhaps compressed by gzip, or the folder of a Parquet dataset; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints JSON, with the members that docs/info.md describes
    #[arg(long)]
    json: bool,
    /// How many names are listed, those that take most time first; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
}

const EXAMPLES: &str = "\
Examples:
  nvtxw info run.pftrace                  what is in it, for people
  nvtxw info --top 5 run.pftrace          the five names that take most time
  nvtxw info --json run.pftrace | jq '.counters[] | {path, min, mean, max}'
  zstdcat run.pftrace.zst | nvtxw info -  from standard input

Exit codes:
  0  all of FILE was read
  1  FILE was cut or damaged: what stands before that was shown
  2  nothing was shown: FILE can't be read, or is no trace";

/// Reads, and shows.
pub fn run(options: &Options) -> Result<()> {
    let summary = read(&options.file)?;
    let mut page = Page::new();
    let top = match options.top {
        0 => usize::MAX,
        top => top,
    };
    match options.json {
        true => json::write(&summary, &options.file, top, &mut page),
        false => report::write(&summary, &options.file, top, &mut page),
    }
    .and_then(|()| page.end())
    .map_err(|error| Error::io("write", Path::new("-"), error))?;
    match summary.damage {
        None => Ok(()),
        Some(damage) => Err(Error::Findings(format!(
            "{}: {damage}",
            options.file.display()
        ))),
    }
}

fn read(path: &Path) -> Result<Summary> {
    if path.is_dir() {
        return dataset(path);
    }
    let failed = |error| Error::io("read", path, error);
    let source: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).map_err(failed)?),
    };
    let (mut head, mut source) = peek(source).map_err(failed)?;
    if head.starts_with(&[0x1F, 0x8B]) {
        (head, source) = peek(Box::new(MultiGzDecoder::new(source))).map_err(failed)?;
    }
    let problem = match Kind::of(&head) {
        Kind::Packets => return Ok(perfetto::read(source)),
        Kind::Part => {
            "this is a part of a Parquet dataset: name the dataset's folder, the one with `events` and `metadata` in it".to_owned()
        }
        Kind::Empty => "the file is empty".to_owned(),
        Kind::Unknown => {
            "this is no trace that `nvtxw info` knows: it reads Perfetto files".to_owned()
        }
    };
    Err(Error::Input {
        path: path.to_owned(),
        problem,
    })
}

/// A folder: what the format `parquet` writes.
fn dataset(path: &Path) -> Result<Summary> {
    let problem = if !path.join("metadata").is_dir() {
        "this is a folder, and no Parquet dataset of ours: there is no `metadata` in it"
    } else {
        #[cfg(feature = "parquet")]
        return parquet::read(path);
        #[cfg(not(feature = "parquet"))]
        "this is a Parquet dataset, which this build of `nvtxw` can't read: build it with `--features parquet`"
    };
    Err(Error::Input {
        path: path.to_owned(),
        problem: problem.to_owned(),
    })
}

/// How many bytes tell what a file is.
const HEAD: u64 = 512;

/// The beginning of a source, and all of it.
fn peek(mut source: Box<dyn Read>) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD).read_to_end(&mut head)?;
    let all = io::Cursor::new(head.clone()).chain(source);
    Ok((head, Box::new(all)))
}

enum Kind {
    Packets,
    /// A Parquet file.
    Part,
    Empty,
    Unknown,
}

impl Kind {
    fn of(head: &[u8]) -> Self {
        match head {
            [] => Self::Empty,
            [b'P', b'A', b'R', b'1', ..] => Self::Part,
            // A packet begins like a line.
            [0x0A, ..] if !is_text(head) => Self::Packets,
            _ => Self::Unknown,
        }
    }
}

fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    !head.iter().any(is_control)
}
