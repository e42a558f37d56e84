//! The file that all streams of a session append to.

mod draft;

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::path::{self, Path, PathBuf};
use std::process;
use std::sync::{self, Arc, PoisonError};

use nvtxw_backend::{Refusal, Result};

pub(crate) use self::draft::Draft;
use crate::destination::Destination;
use crate::open_files;
use crate::proto::Writer;
use crate::sync::{Mutex, MutexGuard};

/// Why a child process is refused.
pub(crate) const FORKED: &str = "this process was forked from the one that began the session, which alone may write; \
                                 begin a session of its own here";

/// An append-only file. Each append is a run of whole parts: packets, or lines.
pub(crate) struct Sink {
    /// As it was given.
    path: PathBuf,
    /// The same wherever the process is.
    place: PathBuf,
    framing: Framing,
    pack: Option<Arc<dyn Pack>>,
    /// The one that created it. A forked child shares the file, and has copies of all that streams
    /// hold: each would be written twice.
    process: u32,
    /// Whether there was no file before.
    is_new: bool,
    state: Mutex<State>,
}

/// What a file is made of.
#[derive(Clone, Copy)]
pub(crate) struct Framing {
    /// How many bytes of the beginning of an append are whole parts.
    pub(crate) whole: fn(&[u8]) -> usize,
    /// How many events whole parts tell.
    pub(crate) events: fn(&[u8]) -> u64,
    /// What the file ends with. Each append writes over it and adds it again, so that the file is
    /// complete in between.
    pub(crate) tail: &'static [u8],
}

/// Makes other parts of parts, shorter ones that mean the same.
pub(crate) trait Pack: Send + Sync {
    fn pack(&self, parts: &[u8]) -> Writer;
}

/// An append that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) refusal: Refusal,
    /// How many of its events are in the file all the same.
    pub(crate) kept: u64,
}

impl From<Failed> for Refusal {
    fn from(failed: Failed) -> Self {
        failed.refusal
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, kept: 0 }
    }
}

/// What became of an append.
pub(crate) type Appended = std::result::Result<(), Failed>;

struct State {
    file: File,
    /// Where the last whole part ends.
    len: u64,
    /// The first error. Nothing is written after it: the file ends where it ended then.
    error: Option<String>,
}

impl Sink {
    /// Creates the session's file, or replaces it, and locks it.
    pub(crate) fn create(destination: &mut Destination, mut framing: Framing) -> Result<Self> {
        let overwrite = destination.overwrites();
        let created = destination.create(|path| open_locked(path, overwrite));
        let path = destination.path();
        let failed = |error: io::Error| {
            let unusable = destination.name_error(&error);
            unusable.unwrap_or_else(|| Refusal::failed(create_error(path, &error)))
        };
        let file = created.map_err(failed)?;
        if file.metadata().map_err(failed)?.is_file() {
            file.set_len(0).map_err(failed)?;
        } else {
            // What went there can't be written over.
            framing.tail = b"";
        }
        let mut sink = Self::of(file, path, framing);
        sink.is_new = !overwrite;
        Ok(sink)
    }

    /// Packs what is appended from now on.
    pub(crate) fn packed(mut self, pack: Arc<dyn Pack>) -> Self {
        self.pack = Some(pack);
        self
    }

    /// Appends to an empty file.
    fn of(file: File, path: &Path, framing: Framing) -> Self {
        Self {
            path: path.to_owned(),
            // Without a current folder only a whole path will do.
            place: path::absolute(path).unwrap_or(path.to_owned()),
            framing,
            pack: None,
            process: process::id(),
            is_new: false,
            state: Mutex::new(State {
                file,
                len: 0,
                error: None,
            }),
        }
    }

    /// Appends whole parts. Fails, without writing, once an append has failed.
    pub(crate) fn append(&self, parts: &[u8]) -> Appended {
        let Some(pack) = &self.pack else {
            return self.write(parts, self.framing.tail);
        };
        self.check_process()?;
        self.lock().check()?;
        // Others write meanwhile.
        let packed = pack.pack(parts);
        self.write(packed.as_bytes(), self.framing.tail)
    }

    /// The same if nobody else appends just now, else `None`.
    pub(crate) fn try_append(&self, parts: &[u8]) -> Option<Appended> {
        if self.pack.is_some() {
            // That takes longer than to wait.
            return Some(self.append(parts));
        }
        if let Err(refusal) = self.check_process() {
            return Some(Err(refusal.into()));
        }
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(sync::TryLockError::Poisoned(state)) => state.into_inner(),
            Err(sync::TryLockError::WouldBlock) => return None,
        };
        let tail = self.framing.tail;
        Some(self.write_to(state, parts, |state| state.write(parts, tail, self.framing)))
    }

    /// Appends what the file ends with instead of its tail, and is as long at least.
    pub(crate) fn finish(&self, end: &[u8]) -> Result<()> {
        Ok(self.write(end, b"")?)
    }

    /// The same for whole parts that are in several pieces, of which only the first may have ends of parts in it. The file's
    /// tail is empty.
    pub(crate) fn append_parts<const N: usize>(&self, pieces: [&[u8]; N]) -> Appended {
        self.check_process()?;
        let first = pieces.first().copied().unwrap_or_default();
        self.write_to(self.lock(), first, |state| {
            state.write_pieces(pieces, self.framing)
        })
    }

    fn write(&self, parts: &[u8], tail: &[u8]) -> Appended {
        self.check_process()?;
        self.write_to(self.lock(), parts, |state| {
            state.write(parts, tail, self.framing)
        })
    }

    /// Writes something that begins with `parts`, of which alone some may be kept if the rest is not.
    fn write_to(
        &self,
        mut state: MutexGuard<'_, State>,
        parts: &[u8],
        write: impl FnOnce(&mut State) -> io::Result<()>,
    ) -> Appended {
        state.check()?;
        let before = state.len;
        let Err(error) = state.check_length().and_then(|()| write(&mut state)) else {
            return Ok(());
        };
        state.error = Some(format!("writing {}: {error}", self.path.display()));
        let kept = &parts[..(state.len - before) as usize];
        let refusal = state.check().err();
        drop(state);
        Err(Failed {
            refusal: refusal.unwrap_or_else(|| Refusal::failed(error.to_string())),
            kept: (self.framing.events)(kept),
        })
    }

    /// The first error of any append; or that the file is not there any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_process()?;
        let state = self.lock();
        state.check()?;
        if let Err(error) = state.check_length() {
            return Err(Refusal::failed(format!(
                "{}: {error}; choose a `path` that nobody else writes",
                self.path.display()
            )));
        }
        if is_removed(&state.file) {
            return Err(Refusal::failed(format!(
                "{} was removed while it was written: nobody can open it any more; choose a `path` where \
                 files stay",
                self.path.display()
            )));
        }
        Ok(())
    }

    /// Comes before any lock: a thread of the parent may hold it, and is not there to let it go.
    fn check_process(&self) -> Result<()> {
        if process::id() != self.process {
            return Err(Refusal::failed(format!(
                "writing {}: {FORKED}",
                self.path.display()
            )));
        }
        Ok(())
    }

    /// Keeps others from appending for as long as what it returns is there.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            return;
        }
        let state = self.lock();
        // A file that nothing got into would be in the way of the next try.
        if self.is_new
            && state.len == 0
            && let Ok(own) = state.file.metadata()
            && fs::metadata(&self.place).is_ok_and(|found| is_same(&own, &found))
        {
            let _ = fs::remove_file(&self.place);
        }
        // A child that was forked meanwhile has the file open for as long as it lives, and the lock with it.
        let _ = state.file.unlock();
    }
}

impl State {
    fn write(&mut self, parts: &[u8], tail: &[u8], framing: Framing) -> io::Result<()> {
        let (written, mut result) = write(&mut self.file, [parts, tail]);
        let end = self.len + parts.len() as u64;
        if result.is_ok() && !tail.is_empty() {
            result = self.file.seek(SeekFrom::Start(end)).map(drop);
        }
        match result {
            Ok(()) => self.len = end,
            // The file is as it was, with its tail.
            Err(_) if written == 0 => {}
            Err(_) => self.mend(&parts[..written.min(parts.len())], framing),
        }
        result
    }

    fn write_pieces<const N: usize>(
        &mut self,
        pieces: [&[u8]; N],
        framing: Framing,
    ) -> io::Result<()> {
        let (written, result) = write(&mut self.file, pieces);
        match result {
            Ok(()) => self.len += written as u64,
            Err(_) => {
                let first = pieces.first().copied().unwrap_or_default();
                self.mend(&first[..written.min(first.len())], framing);
            }
        }
        result
    }

    /// Leaves only whole parts of what was written, and the tail.
    fn mend(&mut self, written: &[u8], framing: Framing) {
        self.len += (framing.whole)(written) as u64;
        // Where this fails too, readers skip the rest or tell that the end is missing.
        let _ = self.file.set_len(self.len);
        if !framing.tail.is_empty() && self.file.seek(SeekFrom::Start(self.len)).is_ok() {
            let _ = self.file.write_all(framing.tail);
        }
    }

    /// Fails if what was written is not all there any more: after what is missing, nobody could read what follows.
    fn check_length(&self) -> io::Result<()> {
        let found = self.file.metadata()?;
        if found.is_file() && found.len() < self.len {
            return Err(io::Error::other("another program has cut it short"));
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match &self.error {
            None => Ok(()),
            Some(error) => Err(Refusal::failed(format!(
                "{error}; later events are dropped, the file keeps what came before"
            ))),
        }
    }
}

/// Opens a file for a session alone.
///
/// # Errors
/// Of the kind [`WouldBlock`](io::ErrorKind::WouldBlock) if another session has it.
fn open_locked(path: &Path, overwrite: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    if overwrite {
        // The content goes only when it is sure that nobody else writes it.
        options.create(true).truncate(false);
    } else {
        options.create_new(true);
    }
    loop {
        let file = options.open(path)?;
        let own = file.metadata()?;
        // Devices and pipes may be shared; two sessions in one file would destroy each other's data.
        if !own.is_file() {
            return Ok(file);
        }
        // Where the file system knows no locks, nothing can be found out.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match fs::metadata(path) {
            // Another session has just put a new file there.
            Ok(found) if !is_same(&own, &found) => {}
            _ => return Ok(file),
        }
    }
}

fn create_error(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory if path.is_dir() => {
            format!("{shown} is a folder: give the path of a file")
        }
        io::ErrorKind::WouldBlock => being_written(path),
        io::ErrorKind::AlreadyExists if is_written(path) => being_written(path),
        io::ErrorKind::AlreadyExists => {
            format!("{shown} exists: remove it, or set `overwrite=true` to replace it")
        }
        io::ErrorKind::NotFound if folder.is_some_and(|folder| !folder.exists()) => {
            format!("can't create {shown}: its folder doesn't exist ({error})")
        }
        _ => format!("can't create {shown}: {}", open_files::describe(error)),
    }
}

/// Whether a session holds a file that exists.
fn is_written(path: &Path) -> bool {
    // To open a pipe would wait for who writes it.
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    let file = is_file.then(|| File::open(path).ok()).flatten();
    file.is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn being_written(path: &Path) -> String {
    format!(
        "{} is being written by another session: give each session a `path` of its own",
        path.display()
    )
}

/// Whether two files are one.
#[cfg(unix)]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What can't be found out is taken for the usual.
#[cfg(not(unix))]
pub(crate) fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// Writes as much as it can, and says how much that was.
fn write<const N: usize>(file: &mut File, pieces: [&[u8]; N]) -> (usize, io::Result<()>) {
    let len = pieces.iter().map(|piece| piece.len()).sum();
    let mut written = 0;
    while written < len {
        let mut before = written;
        let rest = pieces.map(|piece| {
            let of_piece = before.min(piece.len());
            before -= of_piece;
            IoSlice::new(&piece[of_piece..])
        });
        let mut full = rest.iter().filter(|piece| !piece.is_empty());
        let result = match (full.next(), full.next()) {
            // The kernel is faster with a single piece.
            (Some(piece), None) => file.write(piece),
            _ => file.write_vectored(&rest),
        };
        match result {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// Whether a regular file has no name left.
#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;

    let found = file.metadata();
    found.is_ok_and(|found| found.is_file() && found.nlink() == 0)
}

/// Systems that remove no open file.
#[cfg(not(unix))]
fn is_removed(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod loom {
    use std::sync::Arc;

    use nvtxw_loom::{model, thread};

    use super::*;
    use crate::replay::TempDir;

    const WORDS: Framing = Framing {
        whole: |_| 0,
        events: |_| 0,
        tail: b"",
    };

    /// Where the file has the two runs of each of two threads, which are whole and in each thread's order.
    fn places(sink: &Sink, path: &Path) -> [usize; 4] {
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text.len(), 18);
        assert_eq!(sink.lock().len, 18);
        let at = ["<1a>", "<1bb>", "<2a>", "<2bb>"].map(|run| text.find(run).unwrap());
        assert!(at[0] < at[1] && at[2] < at[3], "{text}");
        at
    }

    #[test]
    fn appends_are_whole_and_each_thread_s_in_order() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        model(["one first", "interleaved"], move |outcomes| {
            let sink = Arc::new(Sink::create(&mut Destination::new(&path, true), WORDS).unwrap());
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
            let at = places(&sink, &path);
            let [first, last, other, _] = at;
            match last < other {
                true => outcomes[0].met(),
                false if first < other => outcomes[1].met(),
                false => {}
            }
        });
    }

    #[test]
    fn what_is_not_appended_at_once_can_be_later() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        model(["at once", "later"], move |outcomes| {
            let sink = Arc::new(Sink::create(&mut Destination::new(&path, true), WORDS).unwrap());
            let append = |runs: [&'static str; 2]| {
                let sink = Arc::clone(&sink);
                thread::spawn(move || {
                    let [first, second] = runs.map(str::as_bytes);
                    let is_done = sink
                        .try_append(first)
                        .is_some_and(|appended| appended.is_ok());
                    if !is_done {
                        sink.append(first).unwrap();
                    }
                    sink.append(second).unwrap();
                    is_done
                })
            };
            let threads = [append(["<1a>", "<1bb>"]), append(["<2a>", "<2bb>"])];
            let done = threads.map(|thread| thread.join().unwrap());
            places(&sink, &path);
            outcomes[usize::from(done != [true; 2])].met();
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_follows_an_error_and_what_is_in_the_file_was_accepted() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        model(["both kept", "one kept", "none kept"], move |outcomes| {
            let sink = Arc::new(Sink::create(&mut Destination::new(&path, true), WORDS).unwrap());
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
            let text = fs::read_to_string(&path).unwrap();
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
