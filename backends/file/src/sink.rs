//! The file that all streams of a session append to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use nvtxw_backend::{Refusal, Result};

use crate::sync::{Mutex, MutexGuard};

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
            // What is there goes only when it is sure that nobody else writes it.
            options.create(true).truncate(false);
        } else {
            options.create_new(true);
        }
        let failed = |error: io::Error| {
            let shown = path.display();
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            Refusal::failed(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("{shown} exists: remove it, or set `overwrite=true` to replace it")
                }
                io::ErrorKind::NotFound if folder.is_some_and(|folder| !folder.exists()) => {
                    format!("can't create {shown}: its folder doesn't exist ({error})")
                }
                _ => format!("can't create {shown}: {error}"),
            })
        };
        let file = options.open(path).map_err(failed)?;
        // Devices and pipes may be shared; two sessions in one file would destroy each other's data.
        if file.metadata().map_err(failed)?.is_file() {
            // Where the file system knows no locks, nothing can be found out.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(Refusal::failed(format!(
                    "{} is being written by another session: give each session a `path` of its own",
                    path.display()
                )));
            }
            file.set_len(0).map_err(failed)?;
        }
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
            let (written, result) = write(&mut state.file, packets);
            state.len += whole(packets, written) as u64;
            if let Err(error) = result {
                // Without a half-written packet at its end the file is valid as it is. Where this
                // fails too, readers skip that packet.
                let _ = state.file.set_len(state.len);
                state.error = Some(format!("writing {}: {error}", self.path.display()));
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

/// Writes as much as it can, and says how much that was.
fn write(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// How many of the first `written` bytes of `packets` are whole packets.
fn whole(packets: &[u8], written: usize) -> usize {
    if written == packets.len() {
        return written;
    }
    let mut end = 0;
    while let Some(next) = after_packet(packets, end).filter(|next| *next <= written) {
        end = next;
    }
    end
}

/// Where the packet ends that starts at `at`: a tag of one byte, the length of the rest, and that.
fn after_packet(packets: &[u8], at: usize) -> Option<usize> {
    let mut size = 0;
    for (index, &byte) in packets.get(at + 1..)?.iter().enumerate() {
        size |= usize::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            return Some(at + 2 + index + size);
        }
    }
    None
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

    #[test]
    fn a_file_has_one_session_at_a_time() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        let first = Sink::create(&path, true).unwrap();
        first.append(b"ab").unwrap();
        let refusal = Sink::create(&path, true).map(drop).unwrap_err();
        assert_eq!(
            refusal.reason(),
            format!(
                "{} is being written by another session: give each session a `path` of its own",
                path.display()
            )
        );
        first.append(b"c").unwrap();
        drop(first);
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        Sink::create(&path, true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn what_was_written_ends_at_a_packet() {
        let long = [&[0x0A, 0x81, 0x01][..], &[7; 129]].concat();
        let packets = [&[0x0A, 2, 1, 2][..], &long, &[0x0A, 0]].concat();
        for (written, want) in [
            (0, 0),
            (3, 0),
            (4, 4),
            (5, 4),
            (135, 4),
            (136, 136),
            (137, 136),
        ] {
            assert_eq!(whole(&packets, written), want, "{written}");
        }
        assert_eq!(whole(&packets, packets.len()), 138);
        assert_eq!(whole(&[0x0A, 0x80], 1), 0);
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

#[cfg(all(test, loom))]
mod loom {
    use std::sync::Arc;

    use nvtxw_loom::{model, thread};

    use super::*;
    use crate::replay::TempDir;

    #[test]
    fn appends_are_whole_and_each_thread_s_in_order() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        model(["one first", "interleaved"], move |outcomes| {
            let sink = Arc::new(Sink::create(&path, true).unwrap());
            let append = |runs: [&'static str; 2]| {
                let sink = Arc::clone(&sink);
                thread::spawn(move || {
                    for run in runs {
                        sink.append(run.as_bytes()).unwrap();
                    }
                })
            };
            let threads = [append(["<1a>", "<1bb>"]), append(["<2a>", "<2bb>"])];
            for thread in threads {
                thread.join().unwrap();
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(sink.lock().len, text.len() as u64);
            let at = |run: &str| text.find(run).unwrap();
            assert!(
                at("<1a>") < at("<1bb>") && at("<2a>") < at("<2bb>"),
                "{text}"
            );
            assert_eq!(text.len(), 18);
            match at("<1bb>") < at("<2a>") {
                true => outcomes[0].met(),
                false if at("<1a>") < at("<2a>") => outcomes[1].met(),
                false => {}
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_follows_an_error_and_what_is_in_the_file_was_accepted() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        model(["both kept", "one kept", "none kept"], move |outcomes| {
            let sink = Arc::new(Sink::create(&path, true).unwrap());
            let append = |run: &'static str| {
                let sink = Arc::clone(&sink);
                thread::spawn(move || sink.append(run.as_bytes()).is_ok())
            };
            let threads = [append("<1>"), append("<2>")];
            // The disk is full for a while.
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let file = std::mem::replace(&mut sink.lock().file, full);
            sink.lock().file = file;
            let kept = threads.map(|thread| thread.join().unwrap());
            let text = std::fs::read_to_string(&path).unwrap();
            let expected: &[&str] = match kept {
                [true, true] => &["<1><2>", "<2><1>"],
                [true, false] => &["<1>"],
                [false, true] => &["<2>"],
                [false, false] => &[""],
            };
            assert!(expected.contains(&&*text), "{kept:?}: {text}");
            assert_eq!(sink.lock().len, text.len() as u64);
            assert_eq!(sink.check().is_ok(), kept == [true, true]);
            let count = kept.iter().filter(|kept| **kept).count();
            outcomes[2 - count].met();
        });
    }
}
