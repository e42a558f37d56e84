//! Files beside a session's file that are there for a while.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Creates an empty file in the folder of the file `beside`; its name begins with the name of that
/// and says what it is for.
pub(crate) fn create(beside: &Path, purpose: &str) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut name = OsString::from(beside);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{purpose}-{}-{count}", process::id()));
        let path = PathBuf::from(name);
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
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}
