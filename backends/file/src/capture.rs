//! The format `capture`: the calls of a session, as the producer made them.
//!
//! A session with the config key `format=capture` is recorded, call by call and byte by byte, to be
//! [replayed](replay::Replay) on any backend later. [`Reader`] reads such a file; the project's `docs/capture.md` has what is in
//! it.
//!
//! ```
//! use std::fs::File;
//!
//! use nvtxw_file::capture::{Ending, Reader, Record};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("nvtxw-doc-{}.nvtxw", std::process::id()));
//! # let backend = nvtxw_file::in_process();
//! # let config = std::ffi::CString::new(format!("format=capture|path={}", path.display()))?;
//! # let relay = nvtxw_backend::relay::Relay::to_instance(backend);
//! # let session = relay.begin(Some(c"run"), Some(&config), nvtxw_backend::relay::Origin::Live)?;
//! # session.end()?;
//! let mut reader = Reader::new(File::open(&path)?)?;
//! let mut writes = 0;
//! while let Some(is_write) = reader.next(|record| matches!(record, Record::Write { .. }))? {
//!     writes += u64::from(is_write);
//! }
//! assert_eq!(reader.ending(), Some(Ending::Whole));
//! assert_eq!(writes, 0);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

mod decoder;
mod encoder;
mod error;
mod frame;
mod reader;
mod record;
pub mod replay;
mod session;

pub use self::error::CaptureError;
pub use self::reader::{Ending, Reader};
pub use self::record::Record;
pub(crate) use self::session::{CaptureSession, CaptureStream};
