//! Why a capture can't be read.

use std::{fmt, io};

use nvtxw_backend::Refusal;

/// Why a capture can't be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureError {
    /// Reading failed.
    Read {
        /// How many bytes were read before.
        offset: u64,
        /// What the system says.
        error: io::Error,
    },
    /// The file is something else.
    NotACapture,
    /// The file is a capture of another version of the format.
    Version {
        /// Its version.
        found: u16,
    },
    /// The file was written where the bytes of numbers have another order.
    ByteOrder,
    /// It doesn't begin with a session.
    NoSession,
    /// The backend on which it is to be replayed begins no session.
    Begin(Refusal),
    /// A record makes no sense.
    Damaged {
        /// Where it starts in the file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { offset, error } => {
                write!(f, "reading the capture failed after {offset} bytes: {error}")
            }
            Self::NotACapture => f.write_str(
                "this is no capture: such a file begins with NVTXWCAP, and is written with the config `format=capture`",
            ),
            Self::Version { found } => write!(
                f,
                "this is a capture of version {found}, and this program reads versions 1 to {}: use the release that has written it",
                super::frame::VERSION
            ),
            Self::ByteOrder => f.write_str(
                "this capture was written on a machine whose numbers have their bytes in another order: read it on such a one",
            ),
            Self::NoSession => f.write_str(
                "the capture holds no session: it ends before the first record, or the file is damaged",
            ),
            Self::Begin(refusal) => write!(f, "the backend begins no session: {refusal}"),
            Self::Damaged { offset, what } => write!(
                f,
                "the capture is damaged: the record at byte {offset} {what}; what comes before is good"
            ),
        }
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } => Some(error),
            Self::Begin(refusal) => Some(refusal),
            _ => None,
        }
    }
}
