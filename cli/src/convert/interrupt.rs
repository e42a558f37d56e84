//! What a conversion leaves behind that is interrupted.

use std::path::PathBuf;

use crate::error::Result;

/// What is there of the output.
pub enum Partial {
    /// Written as it grows.
    Out(PathBuf),
    /// A file that would have gone to standard output.
    Copied(PathBuf),
    /// What another backend got.
    Backend,
}

impl Partial {
    /// What is said of it.
    fn words(&self) -> String {
        match self {
            Self::Out(path) => format!("{} holds only a part of the trace", path.display()),
            Self::Copied(_) => "standard output did not get the whole trace".to_owned(),
            Self::Backend => "the backend got only a part of the trace".to_owned(),
        }
    }
}

/// From now on, Ctrl-C and the like end the process with a word about what there is, and without files that nobody would
/// find.
#[cfg(unix)]
pub fn watch(partial: Partial) -> Result<()> {
    use std::path::Path;
    use std::{fs, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::error::Error;
    use crate::notice;

    let failed = |error| Error::io("catch signals of", Path::new("nvtxw"), error);
    let (signals, ignored) = ([SIGINT, SIGTERM, SIGHUP], ignored());
    let is_ignored = |&signal: &i32| ignored >> (signal - 1) & 1 == 1;
    let signals = signals.into_iter().filter(|signal| !is_ignored(signal));
    let mut signals = Signals::new(signals).map_err(failed)?;
    let wait = move || {
        for signal in &mut signals {
            if let Partial::Copied(path) = &partial {
                let _ = fs::remove_file(path);
            }
            notice::print(format_args!("error: interrupted: {}", partial.words()));
            let _ = emulate_default_handler(signal);
        }
    };
    let waiting = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait);
    waiting.map_err(failed)?;
    Ok(())
}

/// The signals that the process was started to ignore, as `nohup` and scripts do, as bits; none where that can't be told.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    ignored.unwrap_or(0)
}

#[cfg(not(unix))]
pub fn watch(_partial: Partial) -> Result<()> {
    Ok(())
}
