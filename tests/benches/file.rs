//! What the built-in backend costs, the whole way: call, decode, encode, write to a file in memory.
//!
//! `cargo bench -p nvtxw-tests --bench file`. Each line compares two ways to do one thing, measured in turn, the best of
//! several rounds each: `name: ours A ns, other B ns, ratio R`, per event. An argument selects lines by a part of their name.

#[path = "file/computation.rs"]
mod computation;
#[path = "file/race.rs"]
mod race;
#[path = "file/shapes.rs"]
mod shapes;
#[path = "file/start.rs"]
mod start;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, hint, process, thread};

use nvtxw::{
    Backend, Config, FlexPool, FlexStr, NvtxEvent, Session, Stream, StreamOptions, StringHandle,
};
use serde::Serialize;

use self::computation::compute;
use self::race::{Folder, Result, compare};
use self::start::{StartLine, compare_threads};

const EVENTS: usize = 1_000_000;
/// Events in one call.
const BATCH: usize = 4096;
const NAMES: usize = 64;
/// Records that are copied are written in runs of so many.
const RECORDS: usize = 4096;

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

/// The same with a name that is not registered.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct NamedKernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, flex)]
    name: FlexStr,
    #[nvtx(unit = "bytes")]
    shared: u64,
    registers: u32,
    occupancy: f32,
}

/// An event as a program has it before it writes a trace of any kind.
#[derive(Clone, Copy)]
struct Launch {
    name: &'static str,
    start: i64,
    end: i64,
    args: Args,
}

#[derive(Clone, Copy, Serialize)]
struct Args {
    shared: u64,
    registers: u32,
    occupancy: f32,
}

/// The same as a Chrome trace event, which is what trace viewers read as JSON.
#[derive(Serialize)]
struct ChromeEvent {
    name: &'static str,
    ph: &'static str,
    /// In microseconds, as the length.
    ts: f64,
    dur: f64,
    pid: u32,
    tid: u32,
    args: Args,
}

/// A file that takes anything in no time.
const NOWHERE: &str = "/dev/null";

/// What is copied for comparison.
type Record = [u8; 64];

/// The same events for every way to write them.
struct Events {
    names: Vec<&'static str>,
    /// With an index into `names`.
    launches: Vec<(usize, Launch)>,
    records: Vec<Record>,
}

impl Events {
    fn new() -> Self {
        let names: Vec<&'static str> = (0..NAMES)
            .map(|i| &*format!("kernel_{i}_nt_f16").leak())
            .collect();
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random >> 16
        };
        let mut time = 0;
        let launches: Vec<_> = (0..EVENTS)
            .map(|_| {
                let index = next() as usize % NAMES;
                let start = time + (next() % 500) as i64;
                let end = start + (next() % 4000) as i64;
                time = end;
                let launch = Launch {
                    name: names[index],
                    start,
                    end,
                    args: Args {
                        shared: next() % (1 << 17),
                        registers: (next() % 256) as u32,
                        occupancy: (next() % 100) as f32 / 100.0,
                    },
                };
                (index, launch)
            })
            .collect();
        let records = launches
            .iter()
            .map(|(index, launch)| {
                let mut record = [0; 64];
                let (words, _) = record.as_chunks_mut::<8>();
                words[0] = launch.start.to_le_bytes();
                words[1] = launch.end.to_le_bytes();
                words[2] = (*index as u64).to_le_bytes();
                words[3] = launch.args.shared.to_le_bytes();
                words[4] = u64::from(launch.args.registers).to_le_bytes();
                words[5] = f64::from(launch.args.occupancy).to_le_bytes();
                record
            })
            .collect();
        Self {
            names,
            launches,
            records,
        }
    }
}

/// How a producer hands its events over.
#[derive(Clone, Copy)]
enum By {
    Batch,
    /// The same with the times of a day since 1970.
    Today,
    One,
    /// In batches, with the name as text.
    Named,
    /// Plain ranges with the name as text, and no fields.
    Text,
    /// In batches, to a file of another format.
    Format(&'static str),
}

/// Writes the events through the backend, so many streams at once each with all of them. Returns what a stream took.
fn ours(events: &Events, path: &Path, streams: usize, by: By) -> Result<Duration> {
    let mut config = Config::new().set("path", path.to_str().ok_or("the path is not UTF-8")?)?;
    if path == Path::new(NOWHERE) {
        config = config.set("overwrite", "true")?;
    }
    if let By::Format(format) = by {
        config = config.set("format", format)?;
    }
    let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
    let mut domain = session.default_domain()?;
    let schema = domain.schema::<Kernel>()?;
    let named_schema = domain.schema::<NamedKernel>()?;
    let names = events
        .names
        .iter()
        .map(|name| Ok(domain.string(name)?.handle()))
        .collect::<Result<Vec<_>>>()?;
    let domain = domain.id();
    let mut open = (0..streams)
        .map(|i| session.open_stream(&format!("stream {i}"), StreamOptions::new(domain)))
        .collect::<nvtxw::Result<Vec<_>>>()?;
    let origin = match by {
        By::Today => 1_700_000_000_000_000_000,
        _ => 0,
    };
    // A program has its structs already.
    let kernels: Vec<_> = events
        .launches
        .iter()
        .map(|&(index, launch)| Kernel {
            start: origin + launch.start,
            end: origin + launch.end,
            name: names[index],
            shared: launch.args.shared,
            registers: launch.args.registers,
            occupancy: launch.args.occupancy,
        })
        .collect();
    let named: Vec<_> = match by {
        By::Named => kernels
            .chunks(BATCH)
            .zip(events.launches.chunks(BATCH))
            .map(with_names)
            .collect(),
        _ => Vec::new(),
    };
    let (shared, kernels, named) = (&session, &kernels, &named);
    let line = &StartLine::new(streams);
    thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter_mut()
            .map(|stream| {
                scope.spawn(move || -> Result<()> {
                    line.wait();
                    let out = shared.writer(stream)?;
                    match by {
                        By::Batch | By::Today | By::Format(_) => {
                            let out = out.events(schema)?;
                            for batch in kernels.chunks(BATCH) {
                                out.write_batch(batch)?;
                            }
                        }
                        By::One => {
                            let out = out.events(schema)?;
                            for kernel in kernels {
                                out.write(kernel)?;
                            }
                        }
                        By::Named => {
                            let out = out.events(named_schema)?;
                            for (batch, pool) in named {
                                out.write_batch_flex(batch, pool)?;
                            }
                        }
                        By::Text => {
                            for (_, launch) in &events.launches {
                                out.startend(launch.start, launch.end)
                                    .message(launch.name)
                                    .write()?;
                            }
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no writer panics"))
    })?;
    session.end()?;
    line.elapsed()
}

/// A batch with its names as text, each event with one of its own.
fn with_names(
    (kernels, launches): (&[Kernel], &[(usize, Launch)]),
) -> (Vec<NamedKernel>, FlexPool) {
    let mut pool = FlexPool::new();
    let named = kernels
        .iter()
        .zip(launches)
        .map(|(kernel, (_, launch))| NamedKernel {
            start: kernel.start,
            end: kernel.end,
            name: pool.push(launch.name),
            shared: kernel.shared,
            registers: kernel.registers,
            occupancy: kernel.occupancy,
        });
    (named.collect(), pool)
}

/// Copies records into a buffer and writes that; so many threads at once, each with all of them.
fn records(events: &Events, path: &Path, threads: usize) -> Result<Duration> {
    let file = &File::create_new(path)?;
    let line = &StartLine::new(threads);
    let copy = || -> Result<()> {
        line.wait();
        let (mut file, mut buffer) = (file, Vec::with_capacity(RECORDS));
        for records in events.records.chunks(RECORDS) {
            buffer.clear();
            buffer.extend_from_slice(records);
            file.write_all(hint::black_box(&buffer).as_flattened())?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(copy)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no writer panics"))
    })?;
    line.elapsed()
}

/// Writes each event as an object of Chrome's JSON.
fn json(events: &Events, path: &Path) -> Result<Duration> {
    let start = Instant::now();
    let mut file = BufWriter::new(File::create_new(path)?);
    let mut before = b"[";
    for (_, launch) in &events.launches {
        file.write_all(before)?;
        before = b",";
        let event = ChromeEvent {
            name: launch.name,
            ph: "X",
            ts: launch.start as f64 / 1e3,
            dur: (launch.end - launch.start) as f64 / 1e3,
            pid: 1,
            tid: 1,
            args: launch.args,
        };
        serde_json::to_writer(&mut file, &event)?;
    }
    file.write_all(b"]")?;
    file.into_inner()?;
    Ok(start.elapsed())
}

/// Writes a plain range for each of these names, as text.
fn named(names: &[String], path: &Path) -> Result<Duration> {
    let config = Config::new().set("path", path.to_str().ok_or("the path is not UTF-8")?)?;
    let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
    let domain = session.default_domain()?.id();
    let mut stream = session.open_stream("stream", StreamOptions::new(domain))?;
    let start = Instant::now();
    let out = session.writer(&mut stream)?;
    for (name, time) in names.iter().zip((0..).step_by(10)) {
        out.startend(time, time + 5).message(&**name).write()?;
    }
    session.end()?;
    Ok(start.elapsed())
}

/// The argument that says to measure memory in this process: streams and events of each follow, and a [`Held`].
const MEMORY: &str = "--memory";

/// What a session is written for whose memory is measured.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug)]
enum Held {
    /// Streams that are all open at once.
    Open,
    /// The same, and each event is a plain one with a text of its own.
    Texts,
    /// Streams of which each is closed before the next one is opened.
    Closed,
}

#[cfg(target_os = "linux")]
impl Held {
    const ALL: [Self; 3] = [Self::Open, Self::Texts, Self::Closed];
}

/// Writes so many events to each of so many streams, and prints the greatest resident memory in KiB.
#[cfg(target_os = "linux")]
fn write_for_memory(streams: usize, each: usize, held: Held) -> Result<()> {
    let config = Config::new().set("path", NOWHERE)?;
    let config = config.set("overwrite", "true")?;
    let mut session = Session::begin(&Backend::embedded(), "memory", &config)?;
    let mut domain = session.default_domain()?;
    let (schema, name) = (
        domain.schema::<Kernel>()?,
        domain.string("kernel")?.handle(),
    );
    let domain = domain.id();
    let stream = |session: &mut Session, i| {
        session.open_stream(&format!("stream {i}"), StreamOptions::new(domain))
    };
    let kernel = |index: usize| Kernel {
        start: index as i64 * 10,
        end: index as i64 * 10 + 5,
        name,
        shared: index as u64,
        registers: 32,
        occupancy: 0.5,
    };
    let write = |session: &Session, stream: &mut Stream| -> Result<()> {
        let out = session.writer(stream)?;
        if let Held::Texts = held {
            for index in 0..each {
                let time = index as i64 * 10;
                let text = format!("the kernel with the number {index}");
                out.startend(time, time + 5).message(&*text).write()?;
            }
            return Ok(());
        }
        let out = out.events(schema)?;
        for first in (0..each).step_by(BATCH) {
            let batch: Vec<_> = (first..each.min(first + BATCH)).map(kernel).collect();
            out.write_batch(&batch)?;
        }
        Ok(())
    };
    if let Held::Closed = held {
        for i in 0..streams {
            let mut stream = stream(&mut session, i)?;
            write(&session, &mut stream)?;
            session.close_stream(stream)?;
        }
    } else {
        let open = (0..streams).map(|i| stream(&mut session, i));
        for stream in &mut open.collect::<nvtxw::Result<Vec<_>>>()? {
            write(&session, stream)?;
        }
    }
    session.end()?;
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let size = line.and_then(|line| line.split_whitespace().next());
    println!("{}", size.ok_or("there is no VmHWM")?);
    Ok(())
}

/// The greatest resident memory of a process that writes this, beside what it may be.
#[cfg(target_os = "linux")]
fn memory(name: &str, streams: usize, each: usize, held: Held, limit: f64) -> Result<()> {
    let [streams, each] = [streams, each].map(|count| count.to_string());
    let output = process::Command::new(env::current_exe()?)
        .args([MEMORY, &streams, &each, &format!("{held:?}")])
        .output()?;
    let size: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    let size = size / 1024.0;
    println!(
        "{name}: ours {size:.1} MiB, other {limit:.1} MiB, ratio {:.2}",
        size / limit
    );
    Ok(())
}

fn main() -> Result<()> {
    #[cfg(target_os = "linux")]
    if let [_, mode, streams, each, held] = &env::args().collect::<Vec<_>>()[..]
        && mode == MEMORY
    {
        let is_it = |one: &Held| format!("{one:?}") == *held;
        let held = Held::ALL.into_iter().find(is_it).ok_or("no such way")?;
        return write_for_memory(streams.parse()?, each.parse()?, held);
    }
    // Cargo passes `--bench`.
    let wanted = env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|part| name.contains(&**part));
    let (events, folder) = (Events::new(), Folder::new()?);
    let events = &events;
    let by = |by, streams| move |path: &Path| ours(events, path, streams, by);
    let raw = |path: &Path| records(events, path, 1);
    let json = |path: &Path| json(events, path);

    let name = "ranges in batches / copying records of 64 bytes";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Batch, 1), raw)?;
    }
    let name = "ranges in batches, times since 1970 / copying records of 64 bytes";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Today, 1), raw)?;
    }
    let name = "ranges in batches / JSON by serde_json";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Batch, 1), json)?;
    }
    let name = "ranges in batches as Chrome's JSON / JSON by serde_json";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Format("chrome"), 1), json)?;
    }
    if cfg!(feature = "parquet") {
        let name = "ranges in batches as Parquet / copying records of 64 bytes";
        if is_wanted(name) {
            compare(name, EVENTS, &folder, by(By::Format("parquet"), 1), raw)?;
        }
    }
    let name = "ranges one by one / in batches";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::One, 1), by(By::Batch, 1))?;
    }
    let name = "ranges in batches, with text / copying records of 64 bytes";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Named, 1), raw)?;
    }
    let name = "plain ranges with text, one by one / copying records of 64 bytes";
    if is_wanted(name) {
        compare(name, EVENTS, &folder, by(By::Text, 1), raw)?;
    }
    shapes::compare_all(&events.names, &events.launches, &folder, is_wanted)?;
    let name = "1,000,000 distinct texts / 100,000 distinct texts, ten times";
    if is_wanted(name) {
        let names: Vec<_> = (0..EVENTS)
            .map(|i| format!("the kernel with the number {i}"))
            .collect();
        let tenth = |path: &Path| Ok(named(&names[..EVENTS / 10], path)? * 10);
        compare(name, EVENTS, &folder, |path| named(&names, path), tenth)?;
    }
    // Both streams have all events: twice the work.
    let name = "an event on each of two streams, two threads / on one stream, two times";
    if is_wanted(name) {
        let twice = |path: &Path| Ok(ours(events, path, 1, By::Batch)? * 2);
        compare_threads(name, EVENTS, &folder, by(By::Batch, 2), twice)?;
    }
    #[cfg(unix)]
    {
        let name =
            "an event on each of two streams to no file, two threads / on one stream, two times";
        if is_wanted(name) {
            let one = |_: &Path| Ok(ours(events, Path::new(NOWHERE), 1, By::Batch)? * 2);
            let both = |_: &Path| ours(events, Path::new(NOWHERE), 2, By::Batch);
            compare_threads(name, EVENTS, &folder, both, one)?;
        }
    }
    // The most that two streams of one file can gain, as systems write one file from one thread at a time.
    let name = "a record on each of two threads to one file / on one thread, two times";
    if is_wanted(name) {
        let twice = |path: &Path| Ok(raw(path)? * 2);
        let both = |path: &Path| records(events, path, 2);
        compare_threads(name, EVENTS, &folder, both, twice)?;
    }
    // The most that anything can gain.
    let name = "a computation on each of two threads / on one thread, two times";
    if is_wanted(name) {
        let twice = |_: &Path| Ok(compute(1)? * 2);
        compare_threads(name, EVENTS, &folder, |_| compute(2), twice)?;
    }
    #[cfg(target_os = "linux")]
    for (name, streams, each, held, limit) in [
        (
            "resident memory, 100,000,000 events / 64 MiB",
            1,
            100_000_000,
            Held::Open,
            64.0,
        ),
        (
            "resident memory, 10,000 streams of 4,096 events / 1 GiB",
            10_000,
            4096,
            Held::Open,
            1024.0,
        ),
        (
            "resident memory, 100,000 streams of 10 events, one after the other / 128 MiB",
            100_000,
            10,
            Held::Closed,
            128.0,
        ),
        (
            "resident memory, 1,000,000 distinct texts / 64 MiB",
            1,
            1_000_000,
            Held::Texts,
            64.0,
        ),
    ] {
        if is_wanted(name) {
            memory(name, streams, each, held, limit)?;
        }
    }
    let name = "bytes per event / in records";
    if is_wanted(name) {
        let path = folder.file()?;
        ours(events, &path, 1, By::Batch)?;
        let bytes = fs::metadata(&path)?.len() as f64 / EVENTS as f64;
        let record = size_of::<Record>() as f64;
        let ratio = bytes / record;
        println!("{name}: ours {bytes:.1} B, other {record:.1} B, ratio {ratio:.2}");
    }
    Ok(())
}
