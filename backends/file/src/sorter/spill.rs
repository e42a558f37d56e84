//! Files of records that are only there while they are needed.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::scratch::{self, about};

/// A file that goes with its last handle.
pub(super) struct Spill {
    file: File,
    path: PathBuf,
    /// Whether its name is still there.
    is_named: bool,
    len: u64,
}

impl Spill {
    /// An empty one in the folder of the file `beside`.
    pub(super) fn create(beside: &Path) -> io::Result<Self> {
        let (file, path) = scratch::create(beside, "sort")?;
        Ok(Self {
            file,
            // Where open files can't lose their names, it goes in the end.
            is_named: fs::remove_file(&path).is_err(),
            path,
            len: 0,
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends all of `bytes`.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written =
            (self.file.seek(SeekFrom::Start(self.len))).and_then(|_| self.file.write_all(bytes));
        self.len += bytes.len() as u64;
        written.map_err(|error| about("writing", &self.path, &error))
    }

    /// Fills `bytes` with what stands at `at`.
    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        (file.seek(SeekFrom::Start(at)))
            .and_then(|_| file.read_exact(bytes))
            .map_err(|error| about("reading", &self.path, &error))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.is_named {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::replay::TempDir;

    #[test]
    fn a_disk_without_space_is_told() {
        let dir = TempDir::new();
        let mut spill = Spill::create(&dir.path().join("run")).unwrap();
        spill.append(b"some").unwrap();
        spill.file = File::options().write(true).open("/dev/full").unwrap();
        let want = format!(
            "writing {}: No space left on device (os error 28)",
            spill.path.display()
        );
        assert_eq!(spill.append(b"more").unwrap_err().to_string(), want);
    }
}
