//! A new file for the place of one that is complete.

use std::fs::{self, File, Metadata};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nvtxw_backend::Refusal;

use super::{Sink, is_same};
use crate::scratch::{self, about};

/// A file beside that of a sink, to take its place. It goes when it is dropped before.
pub(crate) struct Draft {
    sink: Arc<Sink>,
    path: PathBuf,
    /// The file whose place it is to take.
    target: PathBuf,
    /// How much of that it is made from.
    len: u64,
    is_placed: bool,
}

impl Draft {
    /// A draft for the place of the file of `sink`, and that file for reading: all that is in it by
    /// now, and nothing more may come.
    ///
    /// # Errors
    /// Why the file can't be replaced. It is of the kind [`NotSeekable`](io::ErrorKind::NotSeekable) for what is no file.
    pub(crate) fn of(sink: &Sink) -> io::Result<(Self, File)> {
        let forked = |refusal: Refusal| io::Error::other(refusal.reason().to_owned());
        sink.check_process().map_err(forked)?;
        let state = sink.lock();
        if let Some(error) = &state.error {
            return Err(io::Error::other(error.clone()));
        }
        let failed = |error| about("reading", &sink.path, &error);
        state.check_length().map_err(failed)?;
        let own = state.file.metadata().map_err(failed)?;
        if !own.is_file() {
            let error = io::Error::new(io::ErrorKind::NotSeekable, "it is not a file");
            return Err(failed(error));
        }
        // The name may be a link to the file.
        let target = fs::canonicalize(&sink.place).map_err(failed)?;
        let source = File::open(&target).map_err(failed)?;
        let found = source.metadata().map_err(failed)?;
        if !is_same(&own, &found) {
            return Err(failed(io::Error::other("another file is there now")));
        }
        if has_more_names(&own) {
            let error = "it has more names, which would keep the old content";
            return Err(failed(io::Error::other(error)));
        }
        let (file, path) = scratch::create(&target, "merge")?;
        let mut new = Sink::of(file, &path, sink.framing);
        new.pack.clone_from(&sink.pack);
        let draft = Self {
            sink: Arc::new(new),
            path,
            target,
            len: state.len,
            is_placed: false,
        };
        draft.adopt(&own)?;
        Ok((draft, source))
    }

    /// Where its content goes.
    pub(crate) fn sink(&self) -> &Arc<Sink> {
        &self.sink
    }

    /// Appends whole parts.
    pub(crate) fn append(&self, parts: &[u8]) -> io::Result<()> {
        // The sink keeps an error.
        let _ = self.sink.append(parts);
        self.check()
    }

    /// The file whose place it is to take.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// How much of that it is made from.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The first error of anything that was written to it.
    pub(crate) fn check(&self) -> io::Result<()> {
        match &self.sink.lock().error {
            None => Ok(()),
            Some(error) => Err(io::Error::other(error.clone())),
        }
    }

    /// Puts it in the place of the file of `sink`, which goes on with it.
    pub(crate) fn place(mut self, sink: &Sink) -> io::Result<()> {
        self.check()?;
        let mut state = sink.lock();
        let mut new = self.sink.lock();
        let failed = |error| about("replacing", &self.target, &error);
        if state.len != self.len {
            return Err(failed(io::Error::other("it has grown meanwhile")));
        }
        let own = state.file.metadata().map_err(failed)?;
        // Where none is there any more, the new one saves what there was.
        if fs::metadata(&self.target).is_ok_and(|found| !is_same(&own, &found)) {
            return Err(failed(io::Error::other("another file is there now")));
        }
        fs::rename(&self.path, &self.target).map_err(failed)?;
        mem::swap(&mut state.file, &mut new.file);
        state.len = new.len;
        drop(new);
        self.is_placed = true;
        Ok(())
    }

    /// Makes it a file of the same owner and with the same permissions, which nobody else writes.
    fn adopt(&self, own: &Metadata) -> io::Result<()> {
        let state = self.sink.lock();
        let failed = |error| about("preparing", &self.path, &error);
        // Where the file system knows no locks, nobody asks for them.
        let _ = state.file.try_lock();
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let new = state.file.metadata().map_err(failed)?;
            if (new.uid(), new.gid()) != (own.uid(), own.gid()) {
                fchown(&state.file, Some(own.uid()), Some(own.gid())).map_err(failed)?;
            }
        }
        state
            .file
            .set_permissions(own.permissions())
            .map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn has_more_names(file: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

/// What can't be found out is taken for the usual.
#[cfg(not(unix))]
fn has_more_names(_file: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::destination::Destination;
    use crate::replay::TempDir;
    use crate::sink::Framing;

    const WORDS: Framing = Framing {
        whole: |_| 0,
        events: |_| 0,
        tail: b"",
    };

    fn files(dir: &TempDir) -> Vec<String> {
        let files = fs::read_dir(dir.path()).unwrap();
        let mut names: Vec<_> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn error(result: io::Result<impl Sized>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn the_new_file_goes_on_where_the_old_one_was() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let sink = Sink::create(&mut Destination::new(&path, false), WORDS).unwrap();
        sink.append(b"old").unwrap();
        let (draft, source) = Draft::of(&sink).unwrap();
        assert_eq!(io::read_to_string(source).unwrap(), "old");
        assert_eq!(draft.len(), 3);
        draft.sink().append(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        draft.place(&sink).unwrap();
        sink.append(b"er").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(files(&dir), ["a"]);
        // It is locked as the old one was.
        let refusal = Sink::create(&mut Destination::new(&path, true), WORDS)
            .map(drop)
            .unwrap_err();
        assert!(refusal.reason().contains("written by another session"));
        drop(sink);
        Sink::create(&mut Destination::new(&path, true), WORDS).unwrap();
    }

    #[test]
    fn a_draft_that_is_not_placed_leaves_nothing() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let sink = Sink::create(&mut Destination::new(&path, false), WORDS).unwrap();
        sink.append(b"old").unwrap();
        let (draft, _) = Draft::of(&sink).unwrap();
        draft.sink().append(b"new").unwrap();
        assert_eq!(files(&dir).len(), 2);
        drop(draft);
        assert_eq!(files(&dir), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let (draft, _) = Draft::of(&sink).unwrap();
        sink.append(b"er").unwrap();
        let want = format!("replacing {}: it has grown meanwhile", path.display());
        assert_eq!(error(draft.place(&sink)), want);
        assert_eq!(files(&dir), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"older");
    }

    #[cfg(unix)]
    #[test]
    fn what_someone_puts_in_the_file_s_place_is_not_replaced() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let sink = Sink::create(&mut Destination::new(&path, false), WORDS).unwrap();
        sink.append(b"old").unwrap();
        let (draft, _) = Draft::of(&sink).unwrap();
        draft.sink().append(b"new").unwrap();
        fs::rename(&path, dir.path().join("moved")).unwrap();
        fs::write(&path, "precious").unwrap();
        let want = format!("replacing {}: another file is there now", path.display());
        assert_eq!(error(draft.place(&sink)), want);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(files(&dir), ["a", "moved"]);

        // Nothing is lost by a file more.
        fs::rename(dir.path().join("moved"), &path).unwrap();
        let (draft, _) = Draft::of(&sink).unwrap();
        draft.sink().append(b"new").unwrap();
        fs::remove_file(&path).unwrap();
        draft.place(&sink).unwrap();
        sink.check().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_without_space_leaves_the_old_file() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let sink = Sink::create(&mut Destination::new(&path, false), WORDS).unwrap();
        sink.append(b"old").unwrap();
        let (draft, _) = Draft::of(&sink).unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        draft.sink().lock().file = full;
        draft.sink().append(b"new").unwrap_err();
        let want = format!(
            "writing {}: No space left on device (os error 28)",
            draft.path.display()
        );
        assert_eq!(error(draft.check()), want);
        assert_eq!(error(draft.place(&sink)), want);
        assert_eq!(files(&dir), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_the_session_s_own_file_is_not_replaced() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let sink = Sink::create(&mut Destination::new(&path, false), WORDS).unwrap();
        let shown = path.display();
        fs::hard_link(&path, dir.path().join("b")).unwrap();
        assert_eq!(
            error(Draft::of(&sink)),
            format!("reading {shown}: it has more names, which would keep the old content")
        );
        fs::remove_file(&path).unwrap();
        assert_eq!(
            error(Draft::of(&sink)),
            format!("reading {shown}: No such file or directory (os error 2)")
        );
        fs::write(&path, "precious").unwrap();
        assert_eq!(
            error(Draft::of(&sink)),
            format!("reading {shown}: another file is there now")
        );
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(files(&dir), ["a", "b"]);
        let null =
            Sink::create(&mut Destination::new(Path::new("/dev/null"), true), WORDS).unwrap();
        assert_eq!(
            error(Draft::of(&null)),
            "reading /dev/null: it is not a file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = TempDir::new();
        let (path, link) = (dir.path().join("a"), dir.path().join("link"));
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        let sink = Sink::create(&mut Destination::new(&link, true), WORDS).unwrap();
        let (draft, _) = Draft::of(&sink).unwrap();
        draft.sink().append(b"new").unwrap();
        draft.place(&sink).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
