//! A simulated accelerator that writes its own trace.
//!
//! The shape to copy: declare each event as a struct (`events.rs`), register everything once with `&mut session`, then give
//! each thread a stream and write the structs by the batch with `&session`. Timestamps are the simulation's nanoseconds.
#![forbid(unsafe_code)]

mod events;
mod simulation;

use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use anyhow::{Context, Result};
use clap::Parser;
use nvtxw::{
    Argb, Backend, CategoryId, Config, Counter, CounterOptions, Domain, DomainId, RegisteredString,
    Schema, Session, Stream, StreamOptions,
};
use serde_json::json;

use crate::events::{Burst, Kernel, Launch, Names, PageMiss, Traffic, Transfer};
use crate::simulation::{CHANNELS, CopyJob, ENGINES, Engine, Series, Simulation, Step, Timeline};

/// Events handed to the backend in one call.
const BATCH: usize = 4096;

/// What was written, as a reader of the file counts it.
#[derive(Default)]
struct Written {
    slice: usize,
    instant: usize,
    /// Values: a sample of a group of three counters is three.
    counter: usize,
}

impl Sum for Written {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |all, part| Self {
            slice: all.slice + part.slice,
            instant: all.instant + part.instant,
            counter: all.counter + part.counter,
        })
    }
}

/// What the writers need. It is plain data, so that threads share it.
struct Types {
    launch: Schema<Launch>,
    kernel: Schema<Kernel>,
    page_miss: Schema<PageMiss>,
    transfer: Schema<Transfer>,
    burst: Schema<Burst>,
    /// Counters without a scope of their own are in that of the stream: this is one for each engine.
    depth: Counter<i64>,
    traffic: Counter<Traffic>,
    temperature: Counter<f64>,
    throttle: RegisteredString,
    host: CategoryId,
    thermal: CategoryId,
}

impl Types {
    fn register(domain: &mut Domain<'_>) -> nvtxw::Result<Self> {
        Ok(Self {
            launch: domain.schema()?,
            kernel: domain.schema()?,
            page_miss: domain.schema()?,
            transfer: domain.schema()?,
            burst: domain.schema()?,
            depth: domain.counter("queue depth")?,
            traffic: domain.counter_group("traffic")?,
            temperature: domain.counter_with("temperature", CounterOptions::new().unit("°C"))?,
            throttle: domain.string("throttle")?,
            host: domain.category("host")?,
            thermal: domain.category("thermal")?,
        })
    }
}

/// Plain push and pop around batches of structs: the launches nest inside their step.
fn write_host(
    session: &Session,
    stream: &mut Stream,
    types: &Types,
    steps: &[Step],
) -> nvtxw::Result<Written> {
    let out = session.writer(stream)?;
    let launches = out.events(types.launch)?;
    let mut written = Written::default();
    for (number, step) in steps.iter().enumerate() {
        out.push(step.start)
            .message(&format!("step {number}"))
            .category(types.host)
            .write()?;
        launches.write_batch(&step.launches)?;
        for &time in &step.stalls {
            out.mark(time)
                .message("queues full")
                .color(Argb::ORANGE)
                .category(types.host)
                .write()?;
        }
        out.pop(step.end)?;
        written.slice += 1 + step.launches.len();
        written.instant += step.stalls.len();
    }
    Ok(written)
}

fn write_engine(
    session: &Session,
    stream: &mut Stream,
    types: &Types,
    engine: &Engine,
) -> nvtxw::Result<Written> {
    let out = session.writer(stream)?;
    let kernels = out.events(types.kernel)?;
    let misses = out.events(types.page_miss)?;
    let depth = out.counter(types.depth)?;
    let mut written = Written::default();
    for batch in engine.kernels.chunks(BATCH) {
        kernels.write_batch(batch)?;
        written.slice += batch.len();
    }
    for batch in engine.misses.chunks(BATCH) {
        misses.write_batch(batch)?;
        written.instant += batch.len();
    }
    for (times, depths) in engine.depth.batches(BATCH) {
        depth.write_batch(times, depths)?;
        written.counter += depths.len();
    }
    Ok(written)
}

fn write_copies(
    session: &Session,
    stream: &mut Stream,
    types: &Types,
    copies: &[CopyJob],
) -> nvtxw::Result<Written> {
    let out = session.writer(stream)?;
    let (transfers, bursts) = (out.events(types.transfer)?, out.events(types.burst)?);
    let mut written = Written::default();
    for copy in copies {
        transfers.write(&copy.transfer)?;
        bursts.write_batch(&copy.bursts)?;
        written.slice += 1 + copy.bursts.len();
    }
    Ok(written)
}

fn write_traffic(
    session: &Session,
    stream: &mut Stream,
    types: &Types,
    series: &Series<Traffic>,
) -> nvtxw::Result<Written> {
    let out = session.writer(stream)?;
    let traffic = out.counter(types.traffic)?;
    let mut written = Written::default();
    for (times, samples) in series.batches(BATCH) {
        traffic.write_batch(times, samples)?;
        written.counter += Traffic::COUNTERS * samples.len();
    }
    Ok(written)
}

fn write_sensors(
    session: &Session,
    stream: &mut Stream,
    types: &Types,
    timeline: &Timeline,
) -> nvtxw::Result<Written> {
    let out = session.writer(stream)?;
    let temperature = out.counter(types.temperature)?;
    let mut written = Written::default();
    for &(time, degrees) in &timeline.temperature {
        temperature.sample(time, degrees)?;
        written.counter += 1;
    }
    for &time in &timeline.throttles {
        out.mark(time)
            .message(types.throttle)
            .color(Argb::RED)
            .category(types.thermal)
            .write()?;
        written.instant += 1;
    }
    Ok(written)
}

/// Opens a stream whose data stand in the scope of the same name.
fn open(session: &mut Session, domain: DomainId, name: &str) -> nvtxw::Result<Stream> {
    let scope = session.domain_at(domain)?.scope(name)?;
    session.open_stream(name, StreamOptions::new(domain).scope(scope))
}

/// Simulates a small accelerator and writes its trace.
#[derive(Parser)]
struct Options {
    /// The same seed gives the same trace
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// How many events to write: ranges, marks and counter samples; a sample of a counter group counts once
    #[arg(long, default_value_t = 100_000, value_name = "EVENTS")]
    size: u64,
    /// The file to write; an existing one is overwritten [default: simulator.pftrace in cargo's target folder]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The format of the file, as the backend's config calls it
    #[arg(long, default_value = "perfetto")]
    format: String,
    /// One more setting of the backend, as `compression=zlib`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<String>,
}

fn default_path() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target"),
        PathBuf::from,
    );
    target.join("simulator.pftrace")
}

fn main() -> Result<()> {
    let options = Options::parse();
    let path = options.out.unwrap_or_else(default_path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("can't make the folder {}", folder.display()))?;
    }
    let mut config = Config::new()
        .set("path", path.to_str().context("the path is not UTF-8")?)?
        .set("format", &options.format)?
        .set("overwrite", "true")?;
    for setting in &options.config {
        let (key, value) = (setting.split_once('='))
            .with_context(|| format!("`{setting}` is not of the form KEY=VALUE"))?;
        config = config.set(key, value)?;
    }
    let mut session = Session::begin(&Backend::embedded(), "simulator", &config)?;

    // All registering comes first and needs `&mut session` …
    let mut domain = session.default_domain()?;
    let names = Names::register(&mut domain)?;
    let types = Types::register(&mut domain)?;
    let domain = domain.id();
    let mut host = open(&mut session, domain, "Host")?;
    let mut sensors = open(&mut session, domain, "GPU[0]")?;
    let mut engines = Vec::new();
    for engine in 0..ENGINES {
        let name = format!("GPU[0]/Engine[{engine}]");
        engines.push(open(&mut session, domain, &name)?);
    }
    let mut copies = open(&mut session, domain, "GPU[0]/Copy")?;
    let mut channels = Vec::new();
    for channel in 0..CHANNELS {
        let name = format!("GPU[0]/Memory[{channel}]");
        channels.push(open(&mut session, domain, &name)?);
    }

    let timeline = Simulation::run(&names, options.seed, options.size);

    // … then threads share `&session`, and each has a stream of its own.
    let written: Written = thread::scope(|scope| {
        let (session, types, timeline) = (&session, &types, &timeline);
        let mut threads = vec![
            scope.spawn(|| write_host(session, &mut host, types, &timeline.host)),
            scope.spawn(|| write_copies(session, &mut copies, types, &timeline.copies)),
            scope.spawn(|| write_sensors(session, &mut sensors, types, timeline)),
        ];
        for (stream, engine) in engines.iter_mut().zip(&timeline.engines) {
            threads.push(scope.spawn(move || write_engine(session, stream, types, engine)));
        }
        for (stream, series) in channels.iter_mut().zip(&timeline.traffic) {
            threads.push(scope.spawn(move || write_traffic(session, stream, types, series)));
        }
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no writer panics"))
            .sum::<nvtxw::Result<_>>()
    })?;
    session.end()?;

    let Written {
        slice,
        instant,
        counter,
    } = written;
    let counts = format!("{slice} ranges, {instant} marks and {counter} counter values");
    println!("wrote {counts} to {}", path.display());
    println!("to see them: ui.perfetto.dev, Open trace file");
    let summary = json!({ "slice": slice, "instant": instant, "counter": counter, "path": path });
    println!("{summary}");
    Ok(())
}
