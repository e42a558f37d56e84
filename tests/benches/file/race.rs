//! Two ways to write a file, in turn.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, process};

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A processor is seldom at full speed for as long as a round takes.
const ROUNDS: usize = 25;

/// A folder in memory, where there is one.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Self> {
        let shm = Path::new("/dev/shm");
        let parent = if shm.is_dir() {
            shm.to_owned()
        } else {
            env::temp_dir()
        };
        let folder = parent.join(format!("nvtxw-bench-{}", process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    /// Where a file may be created.
    pub fn file(&self) -> Result<PathBuf> {
        let path = self.0.join("out");
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path.exists() {
            fs::remove_file(&path)?;
        }
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Prints the best times of two ways per event, taken in turn. Each is given where its file may be.
pub fn compare(
    name: &str,
    events: usize,
    folder: &Folder,
    ours: impl FnMut(&Path) -> Result<Duration>,
    other: impl FnMut(&Path) -> Result<Duration>,
) -> Result<()> {
    compare_rounds(ROUNDS, name, events, folder, ours, other)
}

/// The same with so many rounds.
pub fn compare_rounds(
    rounds: usize,
    name: &str,
    events: usize,
    folder: &Folder,
    mut ours: impl FnMut(&Path) -> Result<Duration>,
    mut other: impl FnMut(&Path) -> Result<Duration>,
) -> Result<()> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        let times = [ours(&folder.file()?)?, other(&folder.file()?)?];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
    }
    let [ours, other] = best.map(|time| time.as_secs_f64() * 1e9 / events as f64);
    println!(
        "{name}: ours {ours:.2} ns, other {other:.2} ns, ratio {:.2}",
        ours / other
    );
    Ok(())
}
