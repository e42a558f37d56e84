//! The libraries of backends that a command is given.

use std::path::Path;

use nvtxw::{Backend, Error as Problem};

use crate::error::{Error, Result};

/// Loads the library that `--backend` names.
#[allow(unsafe_code)]
pub fn load(library: &Path) -> Result<Backend> {
    // SAFETY:
    // - The user of the command names the library, and vouches that it is a backend that keeps what the ABI promises.
    // - Of a capture, handles in payloads are translated to those of their own domain, and payloads that hold pointers are
    //   refused.
    let backend = unsafe { Backend::load(library) };
    backend.map_err(|problem| {
        Error::Usage(format!(
            "`--backend {}`: {}; `--backend` takes the path of an NVTXW backend's library, which a tool such as Nsight Systems \
             brings (libnvtxw3.so); `nvtxw backends` lists those that are found",
            library.display(),
            self::problem(&problem)
        ))
    })
}

/// Describes why a library can't be used, without its path.
pub fn problem(problem: &Problem) -> String {
    match problem {
        Problem::LibraryNotFound { .. } => "there is no such file".to_owned(),
        Problem::BareFileName { path } => format!(
            "no folder is searched for a file name: give its path, such as `./{}`",
            path.display()
        ),
        Problem::LibraryLoad { path, reason } => {
            let path = format!("{}: ", path.display());
            format!("can't load it: {}", reason.replace(&path, ""))
        }
        Problem::SymbolMissing { symbol, .. } => {
            format!("not an NVTXW backend: it doesn't export `{symbol}`")
        }
        Problem::OldAbi { symbol, .. } => format!(
            "made for version 1 of the NVTXW ABI (it exports `{symbol}`), version 2 is expected: use a newer release"
        ),
        Problem::VersionNotSupported { version, .. } => {
            format!("doesn't support version {version} of the NVTXW ABI: use a release that does")
        }
        Problem::NullTable { .. } => {
            "a broken backend: it gave no function table; report it to its makers".to_owned()
        }
        Problem::NullMembers { members, .. } => format!(
            "a broken backend: its function table has null for `{}`; report it to its makers",
            members.join("`, `")
        ),
        other => other.to_string(),
    }
}
