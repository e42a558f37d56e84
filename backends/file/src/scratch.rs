//! Files beside a session's file that are there for a while.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::open_files;

/// Names of files may have 255 bytes: this leaves room for what follows.
const LONGEST: usize = 200;

/// Creates an empty file in the folder of the file `beside`; its name begins with the name of that, or the beginning of a
/// very long one, and says what it is for.
pub(crate) fn create(beside: &Path, purpose: &str) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut name = beside.file_name().unwrap_or_default().to_owned();
        if name.len() > LONGEST {
            let text = name.to_string_lossy();
            name = OsString::from(&text[..text.floor_char_boundary(LONGEST)]);
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{purpose}-{}-{count}", process::id()));
        let path = beside.with_file_name(name);
        let mut options = OpenOptions::new();
        match options.read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // A process with this ID was killed once.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(about("creating", &path, &error)),
        }
    }
}

/// The error with what was tried.
pub(crate) fn about(what: &str, path: &Path, error: &io::Error) -> io::Error {
    let error_text = open_files::describe(error);
    io::Error::new(
        error.kind(),
        format!("{what} {}: {error_text}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::TempDir;

    #[test]
    fn a_name_of_any_length_has_room_beside_it() {
        let dir = TempDir::new();
        for name in ["a".to_owned(), "b".repeat(255), "\u{d55c}".repeat(85)] {
            let beside = dir.path().join(&name);
            let (_, path) = create(&beside, "merge").unwrap();
            let found = path.file_name().unwrap().to_str().unwrap();
            let (begin, _) = found.split_once(".merge-").unwrap();
            assert!(name.starts_with(begin), "{found}");
            assert_eq!(path.parent(), beside.parent());
        }
    }
}
