//! The path of a session's file or folder, and the rule for one that exists there.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem;
use std::path::{self, Path, PathBuf};

use nvtxw_backend::{Refusal, Result};

/// Where a session writes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Destination {
    path: PathBuf,
    existing: Existing,
    /// The session's name, if that names the file.
    named_by: Option<String>,
    /// The path before it got a number.
    without_number: Option<PathBuf>,
}

/// The rule for a file that exists.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Existing {
    Reject,
    Replace,
    /// The session's own file gets a number.
    Number,
}

impl Destination {
    /// The path that the config names.
    pub(crate) fn new(path: impl Into<PathBuf>, overwrite: bool) -> Self {
        Self {
            path: path.into(),
            existing: match overwrite {
                true => Existing::Replace,
                false => Existing::Reject,
            },
            named_by: None,
            without_number: None,
        }
    }

    /// The file in the working directory that has the session's name.
    pub(crate) fn of_session(
        name: Option<&str>,
        extension: &str,
        overwrite: Option<bool>,
    ) -> Result<Self> {
        let name = name.filter(|name| !name.is_empty());
        if let Some(name) = name
            && name.contains(path::is_separator)
        {
            return Err(Refusal::invalid(format!(
                "the session's name `{name}` has a path separator, so it can't name the file: set the \
                 config key `path`"
            )));
        }
        let file = format!("{}.{extension}", name.unwrap_or("nvtxw"));
        let mut destination = Self::new(file, overwrite.unwrap_or_default());
        if overwrite.is_none() {
            destination.existing = Existing::Number;
        }
        destination.named_by = name.map(str::to_owned);
        Ok(destination)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn overwrites(&self) -> bool {
        self.existing == Existing::Replace
    }

    /// Leaves an existing file or folder alone, and takes another path.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_numbered(&self) -> bool {
        self.existing == Existing::Number
    }

    /// Creates the file or folder. Where the path may get a number, it gets the first one for which `create` doesn't fail with
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or, if another session has it, [`WouldBlock`](io::ErrorKind::WouldBlock).
    pub(crate) fn create<T>(&mut self, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
        let mut taken = 1;
        loop {
            let created = create(&self.path);
            match &created {
                Err(error) if self.existing == Existing::Number && is_taken(error) => {}
                _ => return created,
            }
            let first = match &self.without_number {
                Some(first) => first.clone(),
                None => mem::take(&mut self.path),
            };
            // Whoever else numbers files now may be faster.
            taken = free_number(&first, taken);
            self.path = numbered(&first, taken);
            self.without_number = Some(first);
        }
    }

    /// The line for the log, if the file got a number.
    pub(crate) fn number_note(&self) -> Option<Refusal> {
        let first = self.without_number.as_ref()?;
        Some(Refusal::failed(format!(
            "{} exists: this session writes {}; the config keys `path` and `overwrite` choose otherwise",
            first.display(),
            self.path.display()
        )))
    }

    /// The error for a session's name that no file can have.
    pub(crate) fn name_error(&self, error: &io::Error) -> Option<Refusal> {
        let name = self.named_by.as_ref()?;
        let problem = match error.kind() {
            io::ErrorKind::InvalidFilename => {
                format!("has {} bytes, too many to name the file", name.len())
            }
            io::ErrorKind::InvalidInput => format!("`{name}` can't name the file"),
            _ => return None,
        };
        Some(Refusal::invalid(format!(
            "the session's name {problem} ({error}): set the config key `path`"
        )))
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::WouldBlock
    )
}

/// The path with a number before the extension.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}."));
    name.push(path.extension().map_or_else(OsString::new, OsString::from));
    path.with_file_name(name)
}

/// A number above `taken` that no file has, the next one if there is none between.
///
/// Of very many files few are looked at: the steps double up to a free number, and halve back to the first one.
fn free_number(path: &Path, mut taken: u64) -> u64 {
    let is_taken = |number| fs::symlink_metadata(numbered(path, number)).is_ok();
    let mut step = 1;
    let mut free = taken + step;
    while is_taken(free) {
        taken = free;
        step *= 2;
        free = taken + step;
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        match is_taken(middle) {
            true => taken = middle,
            false => free = middle,
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::File;
    use std::sync::Mutex;
    use std::thread;

    use super::*;
    use crate::replay::TempDir;
    use nvtxw_backend::ResultCode;

    fn in_folder(folder: &Path, name: &str) -> Destination {
        let mut destination = Destination::of_session(Some(name), "pftrace", None).unwrap();
        destination.path = folder.join(&destination.path);
        destination
    }

    fn create_file(path: &Path) -> io::Result<()> {
        File::create_new(path).map(drop)
    }

    fn name(destination: &Destination) -> &str {
        destination.path().file_name().unwrap().to_str().unwrap()
    }

    #[test]
    fn session_name_names_the_file() {
        let path = |name| {
            let destination = Destination::of_session(name, "json", None).unwrap();
            destination.path().to_owned()
        };
        assert_eq!(path(Some("run-42")), Path::new("run-42.json"));
        assert_eq!(path(None), Path::new("nvtxw.json"));
        assert_eq!(path(Some("")), Path::new("nvtxw.json"));
        assert_eq!(path(Some(".")), Path::new("..json"));
        assert_eq!(path(Some("..")), Path::new("...json"));
        #[cfg(unix)]
        assert_eq!(path(Some("a\\b")), Path::new("a\\b.json"));
        for name in ["a/b", "/", "../a"] {
            let refusal = Destination::of_session(Some(name), "json", Some(true)).unwrap_err();
            assert_eq!(refusal.code(), ResultCode::INVALID_ARGUMENT);
            assert_eq!(
                refusal.reason(),
                format!(
                    "the session's name `{name}` has a path separator, so it can't name the file: set the \
                     config key `path`"
                )
            );
        }
    }

    #[test]
    fn existing_files_get_the_next_number() {
        let dir = TempDir::new();
        for want in ["a.b.pftrace", "a.b.2.pftrace", "a.b.3.pftrace"] {
            let mut destination = in_folder(dir.path(), "a.b");
            destination.create(create_file).unwrap();
            assert_eq!(name(&destination), want);
        }
        // A folder is as much in the way as a file.
        fs::create_dir(dir.path().join("a.b.4.pftrace")).unwrap();
        let mut destination = in_folder(dir.path(), "a.b");
        destination.create(create_file).unwrap();
        assert_eq!(name(&destination), "a.b.5.pftrace");
        let shown = dir.path().display();
        assert_eq!(
            destination.number_note().unwrap().reason(),
            format!(
                "{shown}/a.b.pftrace exists: this session writes {shown}/a.b.5.pftrace; the config keys `path` and \
                 `overwrite` choose otherwise"
            )
        );
    }

    #[test]
    fn named_path_and_overwrite_get_no_number() {
        let dir = TempDir::new();
        let path = dir.path().join("a.pftrace");
        fs::write(&path, "").unwrap();
        let mut named = Destination::new(&path, false);
        let mut overwriting = Destination::of_session(Some("a"), "pftrace", Some(false)).unwrap();
        overwriting.path = path.clone();
        for destination in [&mut named, &mut overwriting] {
            let error = destination.create(create_file).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(destination.path(), path);
            assert_eq!(destination.number_note(), None);
        }
    }

    #[test]
    fn few_of_very_many_files_are_tried() {
        let dir = TempDir::new();
        let first = dir.path().join("a.pftrace");
        fs::write(&first, "").unwrap();
        for number in 2..=3000 {
            fs::write(numbered(&first, number), "").unwrap();
        }
        let mut destination = in_folder(dir.path(), "a");
        let tries = Cell::new(0);
        destination
            .create(|path| {
                tries.set(tries.get() + 1);
                create_file(path)
            })
            .unwrap();
        assert_eq!(name(&destination), "a.3001.pftrace");
        assert_eq!(tries.get(), 2);
    }

    #[test]
    fn threads_never_share_a_file() {
        let dir = TempDir::new();
        let paths = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let mut destination = in_folder(dir.path(), "a");
                        destination.create(create_file).unwrap();
                        paths.lock().unwrap().push(destination.path);
                    }
                });
            }
        });
        let mut paths = paths.into_inner().unwrap();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 200);
    }

    #[test]
    fn unusable_session_names_are_explained() {
        let dir = TempDir::new();
        let long = "a".repeat(300);
        let mut destination = in_folder(dir.path(), &long);
        let error = destination.create(create_file).unwrap_err();
        let refusal = destination.name_error(&error).unwrap();
        assert_eq!(refusal.code(), ResultCode::INVALID_ARGUMENT);
        let text = refusal.reason();
        assert!(
            text.starts_with("the session's name has 300 bytes, too many to name the file ("),
            "{text}"
        );
        assert!(text.ends_with("): set the config key `path`"), "{text}");
        // A name that has room, but for a number.
        let tight = "a".repeat(255 - ".pftrace".len());
        in_folder(dir.path(), &tight).create(create_file).unwrap();
        let mut destination = in_folder(dir.path(), &tight);
        let error = destination.create(create_file).unwrap_err();
        let text = destination.name_error(&error).unwrap();
        assert!(text.reason().contains("has 247 bytes, too many"), "{text}");
        let invalid = io::Error::from(io::ErrorKind::InvalidInput);
        assert_eq!(
            in_folder(dir.path(), "a:b")
                .name_error(&invalid)
                .unwrap()
                .reason(),
            "the session's name `a:b` can't name the file (invalid input parameter): set the config key `path`"
        );
        let other = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(destination.name_error(&other), None);
        assert_eq!(Destination::new("x", true).name_error(&error), None);
    }
}
