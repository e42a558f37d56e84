//! Loads a library to see whether it is a backend, in a process of its own: it may crash, exit or never come back.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use nvtxw::abi::raw::{NVTXW_INTERFACE_VERSION, NVTXW_LIBRARY_ENV_VAR};
use nvtxw::{Backend, Error};
use serde::{Deserialize, Serialize};

use crate::error::{self, Result};
use crate::library;

/// How long a library may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What stands before the answer of the process.
const MARK: &str = "loaded: ";

/// What came of loading a library.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Loaded {
    /// Of the table that the library gave; `None` if it is no backend that can be used.
    pub(super) abi_version: Option<i32>,
    /// All members that the table lacks.
    pub(super) missing_members: Vec<String>,
    /// Why it can't be used.
    pub(super) problem: Option<String>,
    /// The file that the loader took, where that can be found out.
    pub(super) file: Option<String>,
}

/// Says what comes of loading the library that the environment names.
pub(super) fn answer() -> io::Result<()> {
    let loaded = serde_json::to_string(&load())?;
    writeln!(io::stdout(), "\n{MARK}{loaded}")
}

/// Loads `library`, which goes to the platform's loader as it is.
pub(super) fn in_child(library: &OsStr) -> Result<Loaded> {
    let failed = |error| error::Error::io("run", Path::new("nvtxw"), error);
    let mut child = Command::new(env::current_exe().map_err(failed)?)
        .args(["backends", "--probe"])
        .env(NVTXW_LIBRARY_ENV_VAR, library)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let Some(status) = wait(&mut child).map_err(failed)? else {
        return Ok(Loaded {
            problem: Some(format!(
                "loading it doesn't end: given up after {PATIENCE:?}"
            )),
            ..Loaded::default()
        });
    };
    let mut said = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut said).map_err(failed)?;
    }
    // The library may print too.
    let mut lines = said.split(|byte| *byte == b'\n');
    let loaded = lines.find_map(|line| line.strip_prefix(MARK.as_bytes()));
    let loaded = loaded.and_then(|loaded| serde_json::from_slice(loaded).ok());
    Ok(loaded.unwrap_or_else(|| Loaded {
        problem: Some(format!("loading it ends the process ({status})")),
        ..Loaded::default()
    }))
}

/// How the process ended; `None`, and it is no more, if it took too long.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[allow(unsafe_code)]
fn load() -> Loaded {
    let before = mapped();
    // SAFETY:
    // - No session is begun: of the library run its initialisers, its entry point and its finalizer. Whatever else these do
    //   ends with this process, which does nothing else.
    let backend = unsafe { Backend::from_env() };
    let file = mapped()
        .into_iter()
        .find(|file| is_it(file) && !before.contains(file));
    match backend {
        Ok(_) => Loaded {
            abi_version: Some(NVTXW_INTERFACE_VERSION),
            file,
            ..Loaded::default()
        },
        Err(error) => Loaded {
            missing_members: match &error {
                Error::NullMembers { members, .. } => {
                    members.iter().copied().map(str::to_owned).collect()
                }
                _ => Vec::new(),
            },
            problem: Some(library::problem(&error)),
            file,
            ..Loaded::default()
        },
    }
}

/// Whether `file` may be the library: links lead to files with a version behind the name.
fn is_it(file: &str) -> bool {
    let library = env::var_os(NVTXW_LIBRARY_ENV_VAR).unwrap_or_default();
    let (file, library) = (Path::new(file), Path::new(&library));
    let is_same = |path: &Path| path.canonicalize().is_ok_and(|path| path == file);
    let stem = library.file_stem().unwrap_or_default().to_string_lossy();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    is_same(library) || name.starts_with(&*stem)
}

/// The files that are mapped into this process, where that can be found out.
fn mapped() -> Vec<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let file = |line: &str| line.find('/').map(|at| line[at..].to_owned());
    maps.lines().filter_map(file).collect()
}
