//! `nvtxw replay`: makes the calls of a capture on a backend.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use nvtxw::{Backend, Config};
use nvtxw_backend::relay::Relay;
use nvtxw_backend::{ResultCode, log};
use nvtxw_file::capture::replay::{Replay, Replayed};
use nvtxw_file::capture::{Ending, Reader};

use crate::convert::input;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::{library, notice, progress, setting};

/// Makes the calls of a capture on a backend
///
/// A capture is what the built-in backend writes with the config `format=capture`: all calls of a session as they were made. Here
/// they are made again, on another backend or on the built-in one.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Options {
    /// The capture, perhaps compressed by gzip or zstd; `-` is standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The library of the backend; without it, the built-in one, which must be told its `path`
    #[arg(long, value_name = "LIBRARY")]
    backend: Option<PathBuf>,
    /// An option of the session, whatever it was when it was captured; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    config: Vec<(String, String)>,
}

const EXAMPLES: &str = "\
Examples:
  nvtxw replay run.nvtxw --backend /opt/nsight/libnvtxw3.so
  nvtxw replay run.nvtxw --config path=run.pftrace     on the built-in backend
  nvtxw replay run.nvtxw.zst --config format=chrome --config path=run.json

The session has the name and the options that it had when it was captured, but for `format`,
`path`, `overwrite` and `flush_interval`.

Exit codes:
  0  all calls were made
  1  some were refused, or the capture is cut or damaged; what comes before is replayed
  2  no session could be begun, or ended";

/// The two sides of an option, without the blanks around them, which backends drop too.
fn pair(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("an option is KEY=VALUE".to_owned()),
    }
}

/// Makes the calls, and says what came of them.
pub fn run(options: &Options) -> Result<()> {
    if options.backend.is_none() {
        (options.config.iter()).try_for_each(|(key, _)| setting::known(key))?;
    }
    // A key that stands there twice, and whatever would be two options, is refused: what is said here of `path` is all that the
    // backend hears of it.
    (options.config.iter())
        .try_fold(Config::new(), |config, (key, value)| config.set(key, value))?;
    let output = options.config.iter().find(|(key, _)| key == "path");
    if let Some((_, output)) = output {
        input::spare(&options.input, Path::new(output))?;
    } else if options.backend.is_none() {
        return Err(Error::Usage(
            "the built-in backend is not told where to write: add `--config path=FILE`, or name another backend with `--backend`"
                .to_owned(),
        ));
    }
    let backend = (options.backend.as_deref())
        .map(library::load)
        .transpose()?;
    let relay = match &backend {
        None => Relay::to_instance(nvtxw_file::in_process()),
        Some(backend) => relay(backend)?,
    };
    let bar = progress::bytes("replaying");
    let input = input::open(&options.input, &bar)?;
    let replayed = replay(input, &options.input, relay, &options.config);
    bar.finish_and_clear();
    let replayed = replayed?;
    warn(&replayed);
    say(&replayed).map_err(|error| Error::io("write", Path::new("-"), error))?;
    judge(&replayed, &options.input)
}

/// To a backend of a library.
#[allow(unsafe_code)]
pub fn relay(backend: &Backend) -> Result<Relay> {
    let table = backend.table().ok_or_else(|| {
        Error::Usage("a checker stands in front of the backend: unset NVTXW_CHECK".to_owned())
    })?;
    // SAFETY:
    // - As above; the library stays mapped.
    // - Nothing that is live is written: pointers are refused.
    unsafe { Relay::to_table(table) }.map_err(|refusal| Error::Usage(refusal.to_string()))
}

/// Makes the calls of the capture `input`, which `path` names.
pub fn replay(
    input: impl Read,
    path: &Path,
    relay: Relay,
    config: &[(String, String)],
) -> Result<Replayed> {
    let problem = |problem: String| Error::Input {
        path: path.to_owned(),
        problem,
    };
    // What is refused comes back, with its reason: the built-in backend need not say it too.
    log::set_hook(Some(|_| ()));
    let mut reader = Reader::new(input).map_err(|error| problem(error.to_string()))?;
    let mut replay = Replay::new(relay);
    for (key, value) in config {
        replay = replay.set(key, value);
    }
    replay
        .run(&mut reader, |_| ())
        .map_err(|error| problem(error.to_string()))
}

/// What was not done, on standard error.
pub fn warn(replayed: &Replayed) {
    for refused in &replayed.refusals {
        let count = match refused.count {
            1 => String::new(),
            count => format!(" ({count} times)"),
        };
        notice::print(format_args!(
            "warning: {}{count}: {}",
            refused.member, refused.refusal
        ));
    }
    if replayed.refused_before > 0 {
        notice::print(format_args!(
            "note: {} calls were refused when they were captured, and are not made",
            replayed.refused_before
        ));
    }
}

/// What was done, on standard output.
fn say(replayed: &Replayed) -> io::Result<()> {
    let mut page = Page::new();
    page.line(format_args!(
        "{} calls replayed, {} refused",
        replayed.calls,
        replayed.refused()
    ))?;
    page.end()
}

/// Whether all is well.
pub fn judge(replayed: &Replayed, input: &Path) -> Result<()> {
    whole(replayed, input)?;
    let is_refused = |code| code != ResultCode::NOT_SUPPORTED;
    let mut refusals = replayed.refusals.iter();
    match refusals.any(|refused| is_refused(refused.refusal.code())) {
        true => Err(found(
            input,
            &format!("{} calls were refused", replayed.refused()),
        )),
        false => Ok(()),
    }
}

fn found(input: &Path, problem: &str) -> Error {
    Error::Findings(format!("{}: {problem}", input.display()))
}

/// Whether the capture was replayed from its begin to its end.
pub fn whole(replayed: &Replayed, input: &Path) -> Result<()> {
    if let Err(refusal) = &replayed.end {
        return Err(Error::Input {
            path: input.to_owned(),
            problem: format!("the session was replayed, but could not be ended: {refusal}"),
        });
    }
    match &replayed.ending {
        Err(error) => Err(found(input, &error.to_string())),
        Ok(Ending::Cut { offset, bytes }) => {
            let problem = format!(
                "the capture is cut: the record at byte {offset} has only {bytes} bytes; what comes before is replayed"
            );
            Err(found(input, &problem))
        }
        Ok(Ending::Open) => {
            notice::print(format_args!(
                "note: {}: the capture ends without its session's end, as after a kill; what it has is replayed",
                input.display()
            ));
            Ok(())
        }
        Ok(Ending::Whole) => Ok(()),
    }
}
