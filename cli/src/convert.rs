//! `nvtxw convert`: writes a trace that another tool wrote.
//!
//! The file is read once. What is in it goes into sorters ([`trace`]); the order of time then tells which halves make a range
//! and which ranges a flow joins ([`ties`]); at last each track is written from its first event to its last ([`mod@write`]).
//! Memory holds names, open ranges, and what sorters are allowed.

mod arrows;
mod capture;
pub mod chrome;
mod columns;
mod dates;
mod decimal;
pub mod event;
pub mod input;
mod interrupt;
mod json;
mod labels;
mod metadata;
mod names;
mod output;
mod record;
mod sorter;
mod strings;
mod table;
pub mod text;
mod ties;
mod trace;
mod tracks;
pub mod warnings;
mod write;

use std::env;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use nvtxw::{Backend, Config, Session};
use nvtxw_backend::log;

use self::input::is_standard;
use self::trace::Trace;
use crate::error::{Error, Result};
use crate::info;
use crate::{notice, progress};

/// Converts a trace to a file of the built-in backend, or hands it to another backend
///
/// Reads Chrome's trace-event JSON, as PyTorch's profiler and many others write it, tables of ranges as CSV, and captures of the
/// built-in backend; gzip and zstd are decompressed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The trace to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "OUT", required_unless_present = "backend")]
    output: Option<PathBuf>,
    /// What to write, instead of what the name of OUT says
    #[arg(long, value_enum, conflicts_with = "backend")]
    format: Option<Format>,
    /// What IN is, instead of what its first character says
    #[arg(long, value_enum)]
    from: Option<Source>,
    /// Another NVTXW backend: the path of its library, which must be one that you trust
    #[arg(long, value_name = "LIB")]
    backend: Option<PathBuf>,
    /// How a file for Perfetto is compressed: `none`, `zlib`, or `zlib:1` (fast) to `zlib:9` (small) [default: zlib]
    #[arg(long, value_name = "HOW", conflicts_with = "backend")]
    compression: Option<String>,
    /// An option of the backend; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<String>,
    /// Replaces OUT if it exists; in a Parquet dataset, the session of the same name
    #[arg(long)]
    overwrite: bool,
    /// Writes nothing if anything of IN would be lost or changed
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    table: table::Columns,
}

const EXAMPLES: &str = "\
Examples:
  nvtxw convert trace.json.gz -o trace.pftrace
  nvtxw convert trace.json -o large.pftrace --compression none
  zstd -dc trace.json.zst | nvtxw convert - -o - --format chrome | gzip >out.json.gz
  nvtxw convert queries.csv -o queries.pftrace --start begin --end finish --unit us
  nvtxw convert trace.json --backend ./libNvtxwBackend.so --config output=run

Exit codes:
  0  all of IN was converted
  1  IN is cut or damaged, or some of it was refused: the rest was converted; or nothing was,
     because of `--strict`
  2  nothing was converted: wrong options, or a file that can't be read or written";

/// What the built-in backend writes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A file for ui.perfetto.dev (of OUT in `.pftrace` or `.perfetto-trace`, and of `-`)
    Perfetto,
    /// Chrome's trace-event JSON (of OUT in `.json`)
    Chrome,
    /// All calls, to be replayed on any backend (of OUT in `.nvtxw`)
    Capture,
    /// A folder of tables (of OUT in `.parquet`)
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    fn key(self) -> &'static str {
        match self {
            Self::Perfetto => "perfetto",
            Self::Chrome => "chrome",
            Self::Capture => "capture",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// The format that the extension of the file stands for.
    fn of(output: &Path) -> Result<Self> {
        let name = output.display();
        Ok(
            match output.extension().and_then(|extension| extension.to_str()) {
                _ if is_standard(output) => Self::Perfetto,
                Some("pftrace" | "perfetto-trace") => Self::Perfetto,
                Some("json") => Self::Chrome,
                Some("nvtxw") => Self::Capture,
                #[cfg(feature = "parquet")]
                Some("parquet") => Self::Parquet,
                #[cfg(not(feature = "parquet"))]
                Some("parquet") => {
                    return Err(Error::Usage(format!(
                        "{name} would be a Parquet dataset, which this build can't write: build the command with `--features parquet`, or \
                     name another OUT"
                    )));
                }
                _ => {
                    return Err(Error::Usage(format!(
                        "{name} has none of the extensions that stand for a format (`.pftrace`, `.perfetto-trace`, `.json`, `.nvtxw`, \
                     `.parquet`): add `--format`, such as `--format perfetto`"
                    )));
                }
            },
        )
    }
}

impl Options {
    /// What the built-in backend writes; `None`: another backend writes, or its config tells.
    fn format(&self) -> Result<Option<Format>> {
        if self.backend.is_some() || (self.format.is_none() && self.setting("format").is_some()) {
            return Ok(None);
        }
        match (self.format, self.output.as_deref()) {
            (Some(format), _) => Ok(Some(format)),
            (None, output) => output.map(Format::of).transpose(),
        }
    }

    /// The value of the backend's option `key`, if it is given.
    fn setting(&self, key: &str) -> Option<&str> {
        let pairs = self.config.iter().filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(given, _)| given.trim() == key);
        values.next().map(|(_, value)| value.trim())
    }
}

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// Chrome's trace-event JSON
    Chrome,
    /// A table with a row for each range or moment, and names of columns in its first line
    Csv,
    /// What the built-in backend writes with `format=capture`
    Capture,
}

/// Reads, and writes.
pub fn run(options: &Options) -> Result<()> {
    let format = options.format()?;
    if let Some(output) = &options.output
        && !options.overwrite
        && !is_standard(output)
        && output.exists()
        // Many sessions may share a folder of tables.
        && format.is_none_or(|format| format.key() != "parquet")
    {
        return Err(Error::Usage(format!(
            "{} exists already: name another OUT, or add `--overwrite` to replace it",
            output.display()
        )));
    }
    if let Some(output) = &options.output {
        input::spare(&options.input, output)?;
    }

    let bar = progress::bytes("reading");
    let mut input = input::open(&options.input, &bar)?;
    let source = match options.from {
        Some(source) => source,
        None => guess(&mut input, &options.input)?,
    };
    if source != Source::Csv
        && let Some(option) = options.table.given()
    {
        return Err(Error::Usage(format!(
            "`{option}` is for tables, and {} is {}: leave it out, or say `--from csv`",
            options.input.display(),
            match source {
                Source::Capture => "a capture",
                _ => "Chrome's JSON",
            }
        )));
    }
    if source == Source::Capture {
        let written = capture::write(input, options);
        bar.finish_and_clear();
        return written;
    }
    let mut trace = Trace::new(&folder(options));
    let read = read_as(source, input, &options.input, &options.table, &mut trace);
    let flows = ties::resolve(&mut trace)?;
    bar.finish_and_clear();
    if read.is_err() && (trace.number == 0 || options.strict) {
        return read;
    }
    if options.strict && !trace.warnings.is_empty() {
        trace.warnings.print();
        return Err(Error::Findings(format!(
            "{}: {}; nothing was written, because of `--strict`",
            options.input.display(),
            match trace.warnings.count() {
                1 => "1 warning".to_owned(),
                count => format!("{count} warnings"),
            }
        )));
    }
    let read = read.map_err(|error| cut(error, "converted"));
    let written = write(options, trace, flows);
    match (read, written) {
        (Err(error), Err(further)) => {
            notice::print(format_args!("error: {error}"));
            Err(further)
        }
        (read, written) => read.and(written),
    }
}

fn read_as(
    source: Source,
    input: Box<dyn BufRead + Send>,
    path: &Path,
    columns: &table::Columns,
    trace: &mut Trace,
) -> Result<()> {
    match source {
        Source::Capture => Err(Error::Input {
            path: path.to_owned(),
            problem: "this is a capture, whose calls are made once more: `nvtxw replay`".to_owned(),
        }),
        Source::Chrome => chrome::read(input, path, trace),
        Source::Csv => table::read(input, path, columns, trace),
    }
}

/// The error of a file that can't be read on, of which what stands before is `done`.
fn cut(error: Error, done: &str) -> Error {
    let (path, problem) = match error {
        Error::Input { path, problem } => (path, problem),
        Error::Io {
            operation: "read",
            path,
            error,
        } => (path, format!("reading on failed ({error})")),
        other => return other,
    };
    let path = path.display();
    Error::Findings(format!("{path}: {problem}; what stands before is {done}"))
}

/// Opens `path`, and decompresses it.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    input::open(path, &ProgressBar::hidden())
}

/// Writes what `input` holds, which is that of `path`, to this backend.
pub fn onto(
    path: &Path,
    mut input: Box<dyn BufRead + Send>,
    backend: &Backend,
    config: &Config,
) -> Result<()> {
    let mut trace = Trace::new(&env::temp_dir());
    let source = guess(&mut input, path)?;
    let columns = table::Columns::default();
    let read = read_as(source, input, path, &columns, &mut trace);
    let flows = ties::resolve(&mut trace)?;
    if read.is_err() && trace.number == 0 {
        return read;
    }
    let mut session = Session::begin(backend, &name(path, &trace), config)?;
    let written = write::write(&mut session, trace, flows, |_| {})?;
    session.end()?;
    written.judge(path)?;
    read.map_err(|error| cut(error, "checked"))
}

/// What the input is, by what it begins with.
fn guess(input: &mut impl BufRead, path: &Path) -> Result<Source> {
    let start = input
        .fill_buf()
        .map_err(|error| Error::io("read", path, error))?;
    let start = start.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(start);
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or(start);
    if start.starts_with(b"NVTXWCAP") {
        return Ok(Source::Capture);
    }
    let is_table = || {
        let is_text = str::from_utf8(line).is_ok() && !line.contains(&0);
        is_text && line.iter().any(|byte| matches!(byte, b',' | b'\t'))
    };
    let problem = match start.trim_ascii_start() {
        [] => "there is nothing in it",
        [0, b'{' | b'[', ..] | [b'{' | b'[', 0, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "this looks like UTF-16, and only UTF-8 is read: convert it (`iconv -f UTF-16 -t UTF-8`)"
        }
        [b'{' | b'[', ..] => return Ok(Source::Chrome),
        _ if is_table() => return Ok(Source::Csv),
        _ if info::is_perfetto(start) => {
            "this is a Perfetto file, which `nvtxw info` reads; to be converted or checked, the program has to write a capture (the \
             config `format=capture`) or Chrome's JSON"
        }
        _ => {
            "this is no trace that is converted or checked: it is neither JSON nor a capture, nor a table whose first line \
             names columns with commas or tabs between them; if it is one of them, `nvtxw convert --from` takes it as that"
        }
    };
    Err(Error::Input {
        path: path.to_owned(),
        problem: problem.to_owned(),
    })
}

fn write(options: &Options, mut trace: Trace, flows: sorter::Sorted) -> Result<()> {
    let mut warnings = std::mem::take(&mut trace.warnings);
    // What the built-in backend refuses comes back, with its reason.
    log::set_hook(Some(|_| ()));
    let earliest = Some(trace.events.earliest()).filter(|_| !trace.events.is_empty());
    let earliest = earliest.map(|earliest| earliest.saturating_add(trace.base));
    let output = output::open(options, earliest, &trace.facts)?;
    let bar = progress::count("writing", trace.number);
    let name = name(&options.input, &trace);
    let mut session = Session::begin(&output.backend, &name, &output.config)?;
    let written = write::write(&mut session, trace, flows, |events| {
        bar.set_position(events)
    })?;
    session.end()?;
    bar.finish_and_clear();
    if written.flows_left_out > 0 {
        let kind = format_args!(
            "a flow of an event that more than {} flows pass is left out",
            names::MAX_FLOWS
        );
        warnings.add_many(kind, None, written.flows_left_out);
    }
    warnings.print();
    if io::stderr().is_terminal() {
        notice::print(&written);
    }
    output.end()?;
    written.judge(&options.input)
}

/// The session's name: as it was, else that of its file, with the rank of a distributed job.
fn name(input: &Path, trace: &Trace) -> String {
    match &trace.session {
        Some(name) => name.clone(),
        None if is_standard(input) => "standard input".to_owned(),
        None => {
            let name = input.file_name().unwrap_or_default().to_string_lossy();
            let name = without(&name, &[".gz", ".zst"]);
            let name = without(name, &[".json", ".csv", ".tsv"]);
            match &trace.rank {
                Some(rank) => format!("{name} rank {rank}"),
                None => name.to_owned(),
            }
        }
    }
}

/// A file's name without its extension, if it is one of these.
fn without<'n>(name: &'n str, extensions: &[&str]) -> &'n str {
    let mut names = extensions
        .iter()
        .filter_map(|extension| name.strip_suffix(extension));
    names.find(|name| !name.is_empty()).unwrap_or(name)
}

/// The folder for what memory doesn't hold: where the output goes, which has room for it.
fn folder(options: &Options) -> PathBuf {
    let folder = options
        .output
        .as_deref()
        .filter(|output| !is_standard(output))
        .and_then(Path::parent);
    match folder {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => env::temp_dir(),
    }
}
