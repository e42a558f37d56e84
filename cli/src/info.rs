//! `nvtxw info`: what is in a trace.

mod args;
mod capture;
mod chrome;
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

use std::io::BufRead;
use std::path::{Path, PathBuf};

use clap::Args;

use self::summary::Summary;
use crate::convert::input;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::progress;

/// Shows what is in a trace: times, streams, fields, counters, and what takes most time
///
/// FILE is read once, from front to back; memory grows with the number of different names, tracks and open ranges, not with the
/// length of FILE. Of a file that was cut or damaged, what stands before that is shown. A capture is replayed to a temporary file,
/// which is read then.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Options {
    /// The trace: a Perfetto file, Chrome's trace-event JSON, a capture (all perhaps compressed by gzip or zstd), or the folder of a
    /// Parquet dataset; `-` is standard input
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
  nvtxw info trace.json.gz                what any tool of Chrome's format wrote
  nvtxw info run.nvtxw                    what a captured session wrote
  curl $URL | nvtxw info -                from standard input

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
    let bar = progress::bytes("reading");
    let mut source = input::open(path, &bar)?;
    let head = source.fill_buf();
    let kind = Kind::of(head.map_err(|error| Error::io("read", path, error))?);
    let problem = match kind {
        Kind::Packets => return Ok(perfetto::read(source)),
        Kind::Json => return chrome::read(source, path),
        Kind::Capture => return capture::read(source, path, &bar),
        Kind::Part => {
            "this is a part of a Parquet dataset: name the dataset's folder, the one with `events` and `metadata` in it"
                .to_owned()
        }
        Kind::Empty => "the file is empty".to_owned(),
        Kind::Unknown => {
            "this is no trace that `nvtxw info` knows: it reads Perfetto files, Chrome's trace-event JSON, and captures and Parquet datasets of ours"
                .to_owned()
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

enum Kind {
    Packets,
    Json,
    Capture,
    /// A Parquet file.
    Part,
    Empty,
    Unknown,
}

impl Kind {
    /// `head` is what a file begins with.
    fn of(head: &[u8]) -> Self {
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        match (head, text.trim_ascii_start()) {
            ([], _) => Self::Empty,
            // A packet begins like a line.
            ([0x0A, ..], _) if !is_text(head) => Self::Packets,
            (_, [b'{' | b'[', ..]) => Self::Json,
            ([b'P', b'A', b'R', b'1', ..], _) => Self::Part,
            _ if head.starts_with(b"NVTXWCAP") => Self::Capture,
            _ => Self::Unknown,
        }
    }
}

/// Whether a file that begins so is one for Perfetto.
pub fn is_perfetto(head: &[u8]) -> bool {
    matches!(Kind::of(head), Kind::Packets)
}

/// How many bytes tell whether a file is text.
const HEAD: usize = 512;

fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    !head.iter().take(HEAD).any(is_control)
}
