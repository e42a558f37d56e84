//! The file that all streams of a session append to.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{Refusal, Result};

/// An append-only file. Each append is a run of whole packets.
pub(crate) struct Sink {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Where the last whole append ends.
    len: u64,
    /// The first error. Nothing is written after it: the file ends where it ended then.
    error: Option<String>,
}

impl Sink {
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true);
        if overwrite {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let file = options.open(path).map_err(|error| {
            let path = path.display();
            Refusal::failed(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("{path} exists: remove it, or set `overwrite=true` to replace it")
                }
                io::ErrorKind::NotFound => {
                    format!("can't create {path}: its folder doesn't exist ({error})")
                }
                _ => format!("can't create {path}: {error}"),
            })
        })?;
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(State {
                file,
                len: 0,
                error: None,
            }),
        })
    }

    /// Appends whole packets. Fails, without writing, once an append has failed.
    pub(crate) fn append(&self, packets: &[u8]) -> Result<()> {
        let mut state = self.lock();
        if state.error.is_none() {
            match state.file.write_all(packets) {
                Ok(()) => state.len += packets.len() as u64,
                Err(error) => {
                    // Without a half-written packet at its end the file is valid as it is. Where
                    // this fails too, readers skip that packet.
                    let _ = state.file.set_len(state.len);
                    state.error = Some(format!("writing {}: {error}", self.path.display()));
                }
            }
        }
        state.check()
    }

    /// The first error of any append.
    pub(crate) fn check(&self) -> Result<()> {
        self.lock().check()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self) -> Result<()> {
        match &self.error {
            None => Ok(()),
            Some(error) => Err(Refusal::failed(format!(
                "{error}; later events are dropped, the file keeps what came before"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::TempDir;
    use nvtxw_backend::ResultCode;

    #[test]
    fn an_existing_file_is_kept_unless_asked() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        std::fs::write(&path, "precious").unwrap();
        let refusal = Sink::create(&path, false).map(drop).unwrap_err();
        assert_eq!(refusal.code(), ResultCode::FAILED);
        assert_eq!(
            refusal.reason(),
            format!(
                "{} exists: remove it, or set `overwrite=true` to replace it",
                path.display()
            )
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");

        let sink = Sink::create(&path, true).unwrap();
        sink.append(b"ab").unwrap();
        sink.append(b"c").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let dir = TempDir::new();
        let path = dir.path().join("no/where.pftrace");
        let refusal = Sink::create(&path, false).map(drop).unwrap_err();
        let want = format!(
            "can't create {}: its folder doesn't exist (",
            path.display()
        );
        assert!(refusal.reason().starts_with(&want), "{refusal}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_first_error_is_kept() {
        let sink = Sink::create(Path::new("/dev/full"), true).unwrap();
        sink.check().unwrap();
        for _ in 0..2 {
            let refusal = sink.append(b"abc").unwrap_err();
            assert_eq!(refusal.code(), ResultCode::FAILED);
            assert_eq!(
                refusal.reason(),
                "writing /dev/full: No space left on device (os error 28); later events are \
                 dropped, the file keeps what came before"
            );
        }
        sink.check().unwrap_err();
    }
}
