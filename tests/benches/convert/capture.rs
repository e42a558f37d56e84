//! Captures beside writing the same bytes: `capture: ours A ns, other B ns, ratio R`, per event, the best of several rounds in turn.

#[path = "../file/race.rs"]
mod race;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use nvtxw::{Backend, Config, NvtxEvent, Session, StreamOptions, StringHandle};

use self::race::{Folder, Result, compare};

const EVENTS: usize = 1_000_000;

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
            EVENTS,
            &folder,
            |path| captured(path, batch),
            |path| written(path, batch),
        )?;
    }
    Ok(())
}
