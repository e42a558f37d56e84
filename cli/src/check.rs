//! `nvtxw check`: whether a trace, or a program that writes one, keeps the contract of NVTXW.

mod found;
mod program;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use nvtxw::{Backend, Config};
use nvtxw_backend::in_process;
use nvtxw_backend::relay::Relay;
use nvtxw_check::{Behind, Checked};
use nvtxw_file::capture::Reader;
use nvtxw_file::capture::replay::Replay;
use tempfile::NamedTempFile;

use self::found::Found;
use crate::convert;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::replay;

/// Checks whether a trace, or a program that writes one, keeps the contract of NVTXW
///
/// A program runs with a checker in front of its backend, which gets what it would have got. A capture is made once more on a
/// checker, and so is all that `nvtxw convert` reads. What is found is told with where it is, why it matters, and how to fix it;
/// docs/check.md lists it all.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The capture, or another trace; `-` is standard input
    #[arg(
        value_name = "FILE",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    file: Option<PathBuf>,
    /// The library of the backend behind the checker, instead of what the program would have loaded
    #[arg(long, value_name = "LIB", requires = "command")]
    backend: Option<PathBuf>,
    /// The checker's library; by default that beside this command, or in the folder `lib` beside its folder
    #[arg(long, value_name = "LIB", requires = "command")]
    checker: Option<PathBuf>,
    /// How many cases of each kind are told in full
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    examples: u32,
    /// Prints the lines of JSON that docs/check.md describes; what the program prints goes to standard error then
    #[arg(long)]
    json: bool,
    /// The program to run, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

const EXAMPLES: &str = "\
Examples:
  nvtxw check run.nvtxw                          a capture
  nvtxw check trace.json.gz
  nvtxw check -- ./simulator --steps 100         a program with its own backend
  nvtxw check --backend ./libnvtxw3.so -- python3 trace.py
  nvtxw check -- sh -c './program --library $NVTXW3_LIBRARY'
  nvtxw check --json -- ./simulator >findings.jsonl

Programs that load what NVTXW's own search finds get the checker by NVTXW3_LIBRARY; those that
load a path of their own must be given that one. Programs with the crate nvtxw get it by
NVTXW_CHECK, whatever their backend is.

Exit codes:
  0  nothing was found
  1  something was found, or FILE is cut or damaged: what stands before was checked
  2  nothing could be checked, or the program failed";

/// What a capture begins with.
const CAPTURE: &[u8] = b"NVTXWCAP";

/// Checks, and tells what was found.
pub fn run(options: &Options) -> Result<()> {
    let lines = NamedTempFile::new()
        .map_err(|error| Error::io("write in", &std::env::temp_dir(), error))?;
    let checked = match &options.file {
        Some(file) => check_file(file, lines.path(), options.examples),
        None => program::run(options, lines.path()),
    };
    let text = std::fs::read_to_string(lines.path())
        .map_err(|error| Error::io("read", lines.path(), error))?;
    let found = Found::read(&text);
    tell(options, &text, &found).map_err(|error| Error::io("write", Path::new("-"), error))?;
    checked?;
    if found.sessions == 0 {
        return Err(Error::Usage(
            "no session was begun, so that nothing was checked: does the program write a trace, and by NVTXW's own search for \
             a backend?"
                .to_owned(),
        ));
    }
    match found.total() {
        0 => Ok(()),
        1 => Err(Error::Findings("1 finding".to_owned())),
        total => Err(Error::Findings(format!("{total} findings"))),
    }
}

fn tell(options: &Options, text: &str, found: &Found) -> io::Result<()> {
    let mut page = Page::new();
    if options.json {
        page.write_all(text.as_bytes())?;
        return page.end();
    }
    for (code, kind) in &found.kinds {
        page.heading(format_args!("{} ({}): {}", code, kind.count, kind.meaning))?;
        for example in &kind.examples {
            page.line(format_args!("    {}", example))?;
        }
        let more = kind.count.saturating_sub(kind.examples.len() as u64);
        if more > 0 {
            page.line(format_args!("    and {more} more"))?;
        }
        page.line(format_args!("  why: {}", kind.why))?;
        page.line(format_args!("  fix: {}", kind.fix))?;
    }
    if found.sessions > 0 && found.total() == 0 {
        page.line("no findings")?;
    }
    page.end()
}

/// Makes all calls of a trace once more, on a checker with nothing behind.
fn check_file(file: &Path, lines: &Path, examples: u32) -> Result<()> {
    let instance = in_process(Checked::new(Behind::nothing()));
    let lines = lines.to_str().ok_or_else(|| {
        Error::Usage(format!(
            "the path {} is not UTF-8: set TMPDIR to a folder whose path is",
            lines.display()
        ))
    })?;
    let examples = examples.to_string();
    let options = [("check.output", lines), ("check.examples", &*examples)];
    let mut input = convert::open(file)?;
    let start = input
        .fill_buf()
        .map_err(|error| Error::io("read", file, error))?;
    if !start.starts_with(CAPTURE) {
        let mut config = Config::new();
        for (key, value) in options {
            config = config.set(key, value)?;
        }
        return convert::onto(file, input, &Backend::in_process(instance), &config);
    }
    let problem = |problem: String| Error::Input {
        path: file.to_owned(),
        problem,
    };
    let mut reader = Reader::new(input).map_err(|error| problem(error.to_string()))?;
    let mut replay = Replay::new(Relay::to_instance(instance));
    for (key, value) in options {
        replay = replay.set(key, value);
    }
    let replayed = replay
        .run(&mut reader, |_| ())
        .map_err(|error| problem(error.to_string()))?;
    replay::whole(&replayed, file)
}
