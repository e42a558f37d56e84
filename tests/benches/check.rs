//! What the checker costs in front of the built-in backend.
//!
//! `cargo bench -p nvtxw-tests --bench check`. Each line compares a checked backend with the bare one, measured in turn, the
//! best of several rounds each: `name: ours A ns, other B ns, ratio R`, per event.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use nvtxw::{Backend, Config, NvtxEvent, Session, StreamOptions, StringHandle};

const EVENTS: usize = 400_000;
/// Events in one call.
const BATCH: usize = 4096;
const ROUNDS: usize = 7;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

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
    #[nvtx(unit = "bytes", min = 0, max = 1_000_000)]
    shared: u64,
}

/// A way to write the events.
type Write = fn(&mut Session, &mut nvtxw::Stream) -> Result<Duration>;

/// Structs in batches.
fn batches(session: &mut Session, stream: &mut nvtxw::Stream) -> Result<Duration> {
    let mut sim = session.domain("sim")?;
    let (schema, name) = (sim.schema::<Kernel>()?, sim.string("gemm")?.handle());
    let kernel = |i: usize| {
        let start = i as i64 * 10;
        let (end, shared) = (start + 9, i as u64);
        Kernel {
            start,
            end,
            name,
            shared,
        }
    };
    let kernels: Vec<_> = (0..EVENTS).map(kernel).collect();
    let out = session.writer(stream)?;
    let kernels_out = out.events(schema)?;
    let began = Instant::now();
    for batch in kernels.chunks(BATCH) {
        kernels_out.write_batch(batch)?;
    }
    Ok(began.elapsed())
}

/// Plain ranges with text, one by one.
fn plain(session: &mut Session, stream: &mut nvtxw::Stream) -> Result<Duration> {
    let out = session.writer(stream)?;
    let began = Instant::now();
    for i in 0..EVENTS as i64 / 2 {
        out.push(i * 10).message("step").write()?;
        out.pop(i * 10 + 9)?;
    }
    Ok(began.elapsed())
}

/// The time of one way through one backend, per event, in nanoseconds.
fn time(backend: &Backend, folder: &Path, write: Write) -> Result<f64> {
    let path = folder.join("run.pftrace");
    let config = Config::new()
        .set("path", path.to_str().ok_or("a path in UTF-8")?)?
        .set("overwrite", "true")?
        .set("check.output", "off")?;
    let mut session = Session::begin(backend, "run", &config)?;
    let domain = session.domain("sim")?.id();
    let mut stream = session.open_stream("gpu", StreamOptions::new(domain))?;
    let written = write(&mut session, &mut stream)?;
    let began = Instant::now();
    session.end()?;
    Ok((written + began.elapsed()).as_nanos() as f64 / EVENTS as f64)
}

fn compare(name: &str, folder: &Path, write: Write) -> Result<()> {
    let (bare, checked) = (Backend::embedded(), Backend::embedded().checked());
    let (mut ours, mut other) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        ours = ours.min(time(&checked, folder, write)?);
        other = other.min(time(&bare, folder, write)?);
    }
    let report = checked.report().ok_or("it is checked")?;
    if !report.is_clean() {
        return Err(format!("the events are not clean:\n{report}").into());
    }
    println!(
        "{name}: ours {ours:.1} ns, other {other:.1} ns, ratio {:.2}",
        ours / other
    );
    Ok(())
}

/// In memory, where there is such a folder.
fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        env::temp_dir()
    };
    folder.join(format!("nvtxw-check-{}", process::id()))
}

fn main() -> Result<()> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    let compared = compare("check", &folder, batches)
        .and_then(|()| compare("check, plain events", &folder, plain));
    fs::remove_dir_all(&folder)?;
    compared
}
