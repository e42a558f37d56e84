//! Errors.

use std::fmt;
use std::path::PathBuf;

use nvtxw_abi::{OneLine, ResultCode};

use crate::calls::Unshared;
use crate::id::StaticId;
use crate::stream::Stream;
pub(crate) use crate::write_error::sealed;
pub use crate::write_error::{Place, WriteError};

/// A result whose error is [`Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something other than a write failed, or a write that was told where it happened.
///
/// The text says what was tried, on what, and what to do. It is one line, in which control characters of names are escaped
/// as [`OneLine`] does. `Debug` prints it too, so that a `main` that returns an error, and `unwrap`, show it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// There is no file where the backend library should be.
    LibraryNotFound {
        /// The path as it was looked for.
        path: PathBuf,
    },
    /// A backend library was named by a file name without a place.
    BareFileName {
        /// The file name.
        path: PathBuf,
    },
    /// The platform's loader refused the backend library.
    LibraryLoad {
        /// The path as the loader got it.
        path: PathBuf,
        /// The loader's words.
        reason: String,
    },
    /// The environment variable that should name the backend library is unset or empty.
    NoLibraryVariable {
        /// The variable's name.
        variable: &'static str,
    },
    /// The library is no backend: it doesn't export the entry point.
    SymbolMissing {
        /// The library.
        library: PathBuf,
        /// The entry point.
        symbol: &'static str,
    },
    /// The library has the first version of the ABI, which has no version 2 entry point.
    OldAbi {
        /// The library.
        library: PathBuf,
        /// What it exports instead.
        symbol: &'static str,
    },
    /// The backend has no function table of this version.
    VersionNotSupported {
        /// The library, or how the backend was given.
        library: String,
        /// The version that was asked for.
        version: i32,
    },
    /// The backend's entry point succeeded, and gave no function table.
    NullTable {
        /// The library, or how the backend was given.
        library: String,
    },
    /// The backend's function table lacks members that every backend must have.
    NullMembers {
        /// The library, or how the backend was given.
        library: String,
        /// All null members, in the table's order.
        members: Vec<&'static str>,
    },
    /// The backend was loaded for one session at a time, and one lives.
    Busy {
        /// The library, or how the backend was given.
        library: String,
        /// The session that was to begin.
        session: String,
    },
    /// The session was begun by the process that this one was forked from: only that one may end it.
    Forked {
        /// The session.
        session: String,
    },
    /// A name or a path holds a NUL byte, where C's text ends.
    InteriorNul {
        /// What was given.
        argument: &'static str,
        /// Where the NUL is, in bytes from 0.
        position: usize,
    },
    /// A key or a value of a [`Config`](crate::Config) can't be written.
    Config {
        /// The key.
        key: String,
        /// What is wrong with it or its value.
        problem: &'static str,
    },
    /// The backend refused a call.
    Call {
        /// What was tried, as a verb.
        operation: &'static str,
        /// What it was tried on.
        object: String,
        /// The backend's answer.
        code: ResultCode,
        /// Why, in the words of the backend; those in this program may tell.
        reason: Option<String>,
    },
    /// The backend accepted a call, but didn't give the handle or the ID that it should have.
    NullHandle {
        /// What was tried, as a verb.
        operation: &'static str,
        /// What it was tried on.
        object: String,
    },
    /// Something of one session or domain was used with another.
    Foreign {
        /// What was used: "counter `queue`".
        object: String,
        /// What it belongs to: "domain `a` of session `x`".
        owner: String,
        /// Where it was used: "stream `s` writes to domain `b` of session `y`".
        place: String,
    },
    /// A category can't be named so.
    Category {
        /// The category's name.
        name: String,
        /// Its number.
        id: u32,
        /// What is wrong with that.
        problem: String,
    },
    /// A category's number can't be claimed, because it has a name.
    CategoryTaken {
        /// The number.
        id: u32,
        /// Its name.
        name: String,
    },
    /// Something is registered under another number.
    IdDiffers {
        /// What: "scope `GPU 0`".
        object: String,
        /// Its number.
        registered: u64,
        /// The number that was asked for.
        requested: StaticId,
    },
    /// The values of an enum can't be registered.
    Enumeration {
        /// The enum.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The fields of a layout can't be registered.
    RowLayout {
        /// The layout.
        layout: String,
        /// What is wrong.
        problem: String,
    },
    /// Values of a type aren't rows of a layout.
    RowSize {
        /// The layout.
        layout: String,
        /// Bytes of a row.
        row: usize,
        /// Bytes of a given value.
        given: usize,
    },
    /// Bytes aren't a whole number of rows.
    RowBytes {
        /// The layout.
        layout: String,
        /// Bytes of a row, without texts of any length.
        row: usize,
        /// How many texts of any length a row has.
        texts: usize,
        /// How many bytes were given.
        given: usize,
    },
    /// A layout's rows can't be written so.
    RowKind {
        /// The layout.
        layout: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A clock has more ticks per second than can be written.
    Resolution {
        /// The ticks.
        ticks_per_second: u64,
    },
    /// Two clocks can't be related so.
    Conversion {
        /// Ticks of the destination per tick of the source.
        slope: f64,
    },
    /// A counter of that name and scope exists, with another type or other options.
    CounterDiffers {
        /// The counter.
        name: String,
        /// As it was registered first.
        registered: String,
        /// As it was asked for now.
        requested: String,
    },
    /// A counter's options contradict each other.
    CounterOptions {
        /// The counter.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A batch of counter samples has another number of times than of values.
    LengthsDiffer {
        /// The counter.
        counter: String,
        /// How many times.
        times: usize,
        /// How many values.
        values: usize,
    },
    /// The columns of a record can't be registered.
    RecordLayout {
        /// The record.
        record: String,
        /// What is wrong.
        problem: String,
    },
    /// A cell of a row can't hold the value.
    RecordCell {
        /// The record.
        record: String,
        /// The column's index.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// A write failed.
    Write {
        /// What was written to what; empty if the error wasn't told: see [`WriteError::at`].
        what: String,
        /// Why.
        error: WriteError,
        /// Why, in the words of the backend; those in this program may tell: see [`WriteError::at`].
        reason: Option<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", OneLine(fmt::from_fn(|f| self.describe(f))))
    }
}

impl Error {
    /// Writes the text with names as they are.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LibraryNotFound { path } => {
                write!(
                    f,
                    "can't load the backend library `{}`: there is no such file",
                    path.display()
                )
            }
            Self::BareFileName { path } => write!(
                f,
                "can't load the backend library `{0}`: that is a file name without a place, and no folder is searched; \
                 give its path, such as `./{0}` for the current folder",
                path.display()
            ),
            Self::LibraryLoad { path, reason } => {
                write!(
                    f,
                    "can't load the backend library `{}`: {reason}",
                    path.display()
                )
            }
            Self::NoLibraryVariable { variable } => write!(
                f,
                "no backend library is named: the environment variable {variable} is unset or empty; set it to the path \
                 of one, or use the embedded backend"
            ),
            Self::SymbolMissing { library, symbol } => write!(
                f,
                "`{}` is not an NVTXW backend: it doesn't export `{symbol}`; check that the path names a backend library",
                library.display()
            ),
            Self::OldAbi { library, symbol } => write!(
                f,
                "`{}` has version 1 of the NVTXW ABI (it exports `{symbol}` instead of `nvtxwGetInterface`), and this \
                 library speaks version 2: use a newer release of that backend",
                library.display()
            ),
            Self::VersionNotSupported { library, version } => write!(
                f,
                "the backend `{library}` doesn't support version {version} of the NVTXW ABI: use a release of it that does"
            ),
            Self::NullTable { library } => write!(
                f,
                "the backend `{library}` is broken: its entry point succeeded and gave no function table; report it to its \
                 makers"
            ),
            Self::NullMembers { library, members } => write!(
                f,
                "the backend `{library}` is broken: its function table has null for `{}`, which every backend must have \
                 (one that doesn't do a call answers NOT_SUPPORTED); report it to its makers",
                members.join("`, `")
            ),
            Self::Busy { library, session } => write!(
                f,
                "can't begin session `{session}`: the backend `{library}` was loaded for one session at a time, and one \
                 lives; end that one before"
            ),
            Self::Forked { session } => write!(
                f,
                "can't end session `{session}` in this process, which was forked from the one that began it: end it there"
            ),
            Self::InteriorNul { argument, position } => {
                write!(
                    f,
                    "the {argument} has a NUL byte at position {position}, where C's text ends: take it out"
                )
            }
            Self::Config { key, problem } => write!(
                f,
                "the session config can't have the key `{key}`: {problem}"
            ),
            Self::Call {
                operation,
                object,
                code,
                reason,
            } => {
                write!(f, "can't {operation} {object}: the backend answered {code}")?;
                match reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => f.write_str(advice(*code)),
                }
            }
            Self::NullHandle { operation, object } => write!(
                f,
                "can't {operation} {object}: the backend is broken, it answered SUCCESS and gave no handle; report it to its \
                 makers"
            ),
            Self::Foreign {
                object,
                owner,
                place,
            } => {
                write!(
                    f,
                    "{object} belongs to {owner}; {place}: use it where it belongs, or register it there too"
                )
            }
            Self::Category { name, id, problem } => {
                write!(f, "can't name category {id} `{name}`: {problem}")
            }
            Self::CategoryTaken { id, name } => write!(
                f,
                "can't claim category {id}: it is named `{name}` already; claim numbers before categories are named, or \
                 take another one"
            ),
            Self::IdDiffers {
                object,
                registered,
                requested,
            } => write!(
                f,
                "{object} is registered under the number {registered}, and asked for under {}: use one number for it",
                requested.get()
            ),
            Self::Enumeration { name, problem } => {
                write!(f, "can't register enum `{name}`: {problem}")
            }
            Self::RowLayout { layout, problem } => {
                write!(f, "can't register layout `{layout}`: {problem}")
            }
            Self::RowSize { layout, row, given } => write!(
                f,
                "a row of layout `{layout}` has {row} bytes, and a given value has {given}: pass values that the layout \
                 describes; nothing was written"
            ),
            Self::RowBytes {
                layout,
                row,
                texts,
                given,
            } if *texts > 0 => write!(
                f,
                "a row of layout `{layout}` has {row} bytes and {texts} texts of any length, and {given} bytes were given: \
                 pass whole rows, each text with its NUL and no other; nothing was written"
            ),
            Self::RowBytes {
                layout, row, given, ..
            } => write!(
                f,
                "a row of layout `{layout}` has {row} bytes, and {given} bytes were given: pass whole rows; nothing was \
                 written"
            ),
            Self::RowKind { layout, problem } => write!(f, "layout `{layout}` {problem}"),
            Self::Resolution { ticks_per_second } => write!(
                f,
                "can't register a time domain of {ticks_per_second} ticks per second: give at most 2^63 - 1, or 0 if the \
                 number is unknown"
            ),
            Self::Conversion { slope } => write!(
                f,
                "can't convert between two clocks with {slope} ticks of the destination per tick of the source: give a \
                 finite number other than 0"
            ),
            Self::CounterDiffers {
                name,
                registered,
                requested,
            } => write!(
                f,
                "counter `{name}` is registered in that scope as {registered}, and asked for as {requested}: use one \
                 definition, or another name"
            ),
            Self::CounterOptions { name, problem } => {
                write!(f, "can't register counter `{name}`: {problem}")
            }
            Self::LengthsDiffer {
                counter,
                times,
                values,
            } => write!(
                f,
                "a batch of counter `{counter}` has {times} times and {values} values: give one time per value; nothing was \
                 written"
            ),
            Self::RecordLayout { record, problem } => {
                write!(f, "can't register record `{record}`: {problem}")
            }
            Self::RecordCell {
                record,
                column,
                problem,
            } => {
                write!(
                    f,
                    "can't set column {column} of record `{record}`: {problem}"
                )
            }
            Self::Write { what, error, .. } if what.is_empty() => {
                write!(f, "a write failed: {error}")
            }
            Self::Write {
                what,
                error,
                reason,
            } => {
                write!(f, "can't write {what}: ")?;
                error.explain(f, reason.as_deref())
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The backend's answer, if the backend was asked and refused; that of a write as [`WriteError::code`] has it.
    #[must_use]
    pub fn code(&self) -> Option<ResultCode> {
        match self {
            Self::Call { code, .. } => Some(*code),
            Self::Write { error, .. } => Some(error.code()),
            _ => None,
        }
    }

    /// Whether the backend doesn't offer what was asked of it: everything else may go on.
    ///
    /// ```
    /// # use nvtxw::{Clock, Result, SyncPoint, TimestampType, Writer};
    /// fn align(out: &Writer<'_>, point: SyncPoint) -> Result<()> {
    ///     match out.sync_point(TimestampType::CpuTsc, TimestampType::ClockRealtime, point) {
    ///         Err(error) if error.is_not_supported() => Ok(()),
    ///         other => other,
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn is_not_supported(&self) -> bool {
        self.code() == Some(ResultCode::NOT_SUPPORTED)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<WriteError> for Error {
    #[cold]
    fn from(error: WriteError) -> Self {
        Self::Write {
            what: String::new(),
            error,
            reason: None,
        }
    }
}

/// What to do about a code, to follow it in a sentence.
pub(crate) fn advice(code: ResultCode) -> &'static str {
    match code {
        ResultCode::NOT_SUPPORTED => {
            ", which means that it doesn't offer this; do without it, or use another backend"
        }
        ResultCode::INVALID_ARGUMENT => "; it may tell why on standard error or in a log",
        ResultCode::FAILED => {
            "; it may tell why, a full disk for example, on standard error or in a log"
        }
        _ => "; see that backend's documentation",
    }
}

/// Why a stream wasn't closed, and the stream: see [`Session::close_stream`](crate::Session::close_stream).
pub struct CloseError {
    stream: Unshared<Box<Stream>>,
    error: Error,
}

impl CloseError {
    pub(crate) fn new(stream: Stream, error: Error) -> Self {
        Self {
            stream: Unshared::new(Box::new(stream)),
            error,
        }
    }

    /// Why.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The stream, to go on with.
    #[must_use]
    pub fn into_stream(self) -> Stream {
        *self.stream.into_inner()
    }
}

impl fmt::Debug for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloseError")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CloseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<CloseError> for Error {
    fn from(error: CloseError) -> Self {
        error.error
    }
}
