//! Captures beside writing the same bytes: `capture: ours A ns, other B ns, ratio R`, per event, the best of several rounds in turn.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, process};

use nvtxw::{Backend, Config, NvtxEvent, Session, StreamOptions, StringHandle};

const EVENTS: usize = 1_000_000;
const ROUNDS: usize = 9;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(unit = "bytes")]
    shared: u64,
    registers: u32,
    occupancy: f32,
}

/// A folder in memory, where there is one.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let shm = Path::new("/dev/shm");
        let parent = match shm.is_dir() {
            true => shm.to_owned(),
            false => env::temp_dir(),
        };
        let folder = parent.join(format!("nvtxw-convert-{}", process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    /// Where a file may be created.
    fn file(&self) -> Result<PathBuf> {
        let path = self.0.join("out");
        if path.exists() {
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

fn kernels(name: StringHandle) -> Vec<Kernel> {
    (0..EVENTS as i64)
        .map(|index| Kernel {
            start: index * 100,
            end: index * 100 + 80,
            name,
            shared: 1 << 12,
            registers: 64,
            occupancy: 0.5,
        })
        .collect()
}

/// Captures the events in batches of so many.
fn captured(path: &Path, batch: usize) -> Result<Duration> {
    let config = Config::new()
        .set("format", "capture")?
        .set("path", path.to_str().ok_or("a path of text")?)?;
    let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
    let mut domain = session.domain("bench")?;
    let (id, name) = (domain.id(), domain.string("gemm")?.handle());
    let schema = domain.schema::<Kernel>()?;
    let mut stream = session.open_stream("gpu", StreamOptions::new(id))?;
    let events = kernels(name);
    let start = Instant::now();
    let out = session.writer(&mut stream)?;
    let out = out.events(schema)?;
    for batch in events.chunks(batch) {
        out.write_batch(batch)?;
    }
    session.close_stream(stream)?;
    let taken = start.elapsed();
    session.end()?;
    Ok(taken)
}

/// Writes the bytes of the same events, in the same batches, to a buffered file.
fn written(path: &Path, batch: usize) -> Result<Duration> {
    let mut bytes = vec![0x5A_u8; EVENTS * size_of::<Kernel>()];
    for (byte, index) in bytes.iter_mut().zip(0_u8..=250) {
        *byte = index;
    }
    let mut file = BufWriter::new(File::create(path)?);
    let start = Instant::now();
    for batch in bytes.chunks(batch * size_of::<Kernel>()) {
        file.write_all(batch)?;
    }
    file.flush()?;
    Ok(start.elapsed())
}

/// The best times of two ways, taken in turn.
fn compare(
    name: &str,
    folder: &Folder,
    mut ours: impl FnMut(&Path) -> Result<Duration>,
    mut other: impl FnMut(&Path) -> Result<Duration>,
) -> Result<()> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        let times = [ours(&folder.file()?)?, other(&folder.file()?)?];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
    }
    let [ours, other] = best.map(|time| time.as_secs_f64() * 1e9 / EVENTS as f64);
    println!(
        "{name}: ours {ours:.2} ns, other {other:.2} ns, ratio {:.2}",
        ours / other
    );
    Ok(())
}

/// Prints the lines.
pub fn lines() -> Result<()> {
    let folder = Folder::new()?;
    for (name, batch) in [
        ("capture", 4096),
        ("capture, batches of 512", 512),
        ("capture, batches of 64", 64),
    ] {
        compare(
            name,
            &folder,
            |path| captured(path, batch),
            |path| written(path, batch),
        )?;
    }
    Ok(())
}
