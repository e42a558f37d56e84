//! Why a command didn't do what it was asked for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fmt, io};

use clap::error::ContextValue;
use nvtxw::abi::OneLine;

/// A result whose error is [`Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Each text says what was tried, on what, and what to do.
#[derive(Debug)]
pub enum Error {
    /// The options contradict each other or what is there.
    Usage(String),
    /// A file isn't what it should be.
    Input {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// Where, and what is wrong there.
        problem: String,
    },
    /// The system refused to read or to write a file.
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        /// The file; `-` is standard input or output.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Nobody reads what is written to standard output.
    BrokenPipe,
    /// The trace that is written was refused.
    Trace(nvtxw::Error),
    /// The command did its work, and what it found is not well.
    Findings(String),
}

impl Error {
    /// Whatever `error` is of `path`.
    pub fn io(operation: &'static str, path: &Path, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Io {
            operation,
            path: path.to_owned(),
            error,
        }
    }

    /// What the process answers.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::BrokenPipe => 0,
            Self::Findings(_) => 1,
            Self::Usage(_) | Self::Input { .. } | Self::Io { .. } | Self::Trace(_) => 2,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) | Self::Findings(problem) => f.write_str(problem),
            Self::Input { path, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Io {
                operation,
                path,
                error,
            } => write!(f, "can't {operation} {}: {error}", path.display()),
            Self::BrokenPipe => f.write_str("nobody reads standard output any more"),
            Self::Trace(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<nvtxw::Error> for Error {
    fn from(error: nvtxw::Error) -> Self {
        Self::Trace(error)
    }
}

/// Escapes what an error about the command line quotes of it, such as the name of a file that a pattern has matched.
pub fn escaped(mut error: clap::Error) -> clap::Error {
    let quoted: Vec<_> = (error.context())
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, OneLine(text).to_string())),
            _ => None,
        })
        .collect();
    for (kind, text) in quoted {
        error.insert(kind, ContextValue::String(text));
    }
    error
}
