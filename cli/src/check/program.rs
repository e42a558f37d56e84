//! Running a program with a checker in front of its backend.

use std::ffi::{OsStr, OsString};
use std::path::{self, Path, PathBuf};
use std::process::Command;
#[cfg(unix)]
use std::sync::Arc;
use std::{env, io};

use nvtxw::abi::raw::NVTXW_LIBRARY_ENV_VAR as LIBRARY;

use super::Options;
use crate::backends;
use crate::error::{Error, Result};

/// What the platform's library of the checker is called.
const FILE_NAME: &str = if cfg!(windows) {
    "nvtxw_check.dll"
} else if cfg!(target_os = "macos") {
    "libnvtxw_check.dylib"
} else {
    "libnvtxw_check.so"
};

/// Runs the program; what is found goes to `lines`.
pub(super) fn run(options: &Options, lines: &Path) -> Result<()> {
    let [program, arguments @ ..] = &options.command[..] else {
        return Err(Error::Usage("name a program after `--`".to_owned()));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(LIBRARY, checker(options)?)
        .env("NVTXW_CHECK", "1")
        .env("NVTXW_CHECK_OUTPUT", lines)
        .env("NVTXW_CHECK_EXAMPLES", options.examples.to_string());
    match behind(options, program)? {
        Some(library) => command.env("NVTXW_CHECK_BACKEND", library),
        None => command.env_remove("NVTXW_CHECK_BACKEND"),
    };
    if options.json {
        command.stdout(io::stderr());
    }
    // Ctrl-C reaches the program too: what was found up to then is to be told.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default())
        .map_err(|error| Error::io("catch signals of", Path::new("nvtxw"), error))?;
    let status = command
        .status()
        .map_err(|error| Error::io("run", Path::new(program), error))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::Input {
            path: program.into(),
            problem: format!("the program failed: {status}"),
        }),
    }
}

/// The library of the backend that the program would have loaded.
fn behind(options: &Options, program: &OsStr) -> Result<Option<OsString>> {
    if let Some(backend) = &options.backend {
        // The program may change its folder, and a bare name is one that the loader would look for.
        let backend = path::absolute(backend);
        let backend = backend.map_err(|error| Error::io("find", Path::new("."), error))?;
        return Ok(Some(backend.into_os_string()));
    }
    match env::var_os(LIBRARY).filter(|library| !library.is_empty()) {
        Some(library) => Ok(Some(library)),
        None => backends::found_by(&place(program)),
    }
}

/// Where the program is, as far as that can be told.
fn place(program: &OsStr) -> PathBuf {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.to_owned();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| path.to_owned())
}

/// The checker's library.
fn checker(options: &Options) -> Result<PathBuf> {
    let missing = |place: &Path| {
        Error::Usage(format!(
            "the checker's library is not at {}: build it (`cargo build --release -p nvtxw-check-so`), and name it with `--checker`",
            place.display()
        ))
    };
    if let Some(checker) = &options.checker {
        return checker.canonicalize().map_err(|_| missing(checker));
    }
    let own = env::current_exe().map_err(|error| Error::io("find", Path::new("nvtxw"), error))?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let beside = folder.join(FILE_NAME);
    let places = [folder.join("../lib").join(FILE_NAME)];
    [&beside]
        .into_iter()
        .chain(&places)
        .find(|place| place.is_file())
        .cloned()
        .ok_or_else(|| missing(&beside))
}
