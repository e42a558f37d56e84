//! Events of other fields than kernels, marks, and values of counters: each beside copying as many bytes as its struct has.

use std::fs::File;
use std::hint;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use nvtxw::{
    Backend, CompleteEvent, Config, FixedEvent, FlexPool, FlexStr, NvtxCounterGroup, NvtxEnum,
    NvtxEvent, Session, StreamOptions, StringHandle, SyncPoint, TimeDomainOptions, TimestampType,
};

use super::race::{Folder, Result, compare};
use super::{BATCH, EVENTS, Launch};

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u32)]
enum Direction {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Copy {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(unit = "bytes")]
    size: u64,
    direction: Direction,
    is_async: bool,
    is_pinned: bool,
    queue: u16,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Grid {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(correlation)]
    launch: u64,
    grid: [u32; 3],
    block: [u32; 3],
}

/// With a text that is not registered.
#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Read {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    #[nvtx(flex)]
    path: FlexStr,
    #[nvtx(unit = "bytes")]
    size: u64,
}

/// An event with these numbers.
macro_rules! profile {
    ($($field:ident)*) => {
        #[derive(NvtxEvent, Clone, Copy)]
        #[repr(C)]
        #[nvtx(kind = range_startend)]
        struct Profile {
            #[nvtx(timestamp_start)]
            start: i64,
            #[nvtx(timestamp_end)]
            end: i64,
            #[nvtx(message, registered_string)]
            name: StringHandle,
            $($field: u64,)*
        }

        impl Profile {
            fn new(name: StringHandle, launch: &Launch) -> Self {
                let mut value = launch.args.shared;
                let mut next = || {
                    value = value * 5 % (1 << 17);
                    value
                };
                Self {
                    start: launch.start,
                    end: launch.end,
                    name,
                    $($field: next(),)*
                }
            }
        }
    };
}

profile!(
    v00 v01 v02 v03 v04 v05 v06 v07 v08 v09 v10 v11 v12 v13 v14 v15
    v16 v17 v18 v19 v20 v21 v22 v23 v24 v25 v26 v27 v28 v29 v30 v31
);

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Sync {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
    device: u32,
    queue: u16,
    is_blocking: bool,
    is_last: bool,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Load {
    #[nvtx(timestamp)]
    time: i64,
    read: u64,
    written: u64,
    busy: f64,
}

/// What the lines of one shape have in common.
struct Shapes<'e> {
    names: &'e [&'static str],
    launches: &'e [(usize, Launch)],
}

impl Shapes<'_> {
    /// Writes an event for each launch in batches, on the stream's clock or on a device's.
    fn events<E: NvtxEvent + CompleteEvent + FixedEvent>(
        &self,
        path: &Path,
        on_device: bool,
        event: impl Fn(StringHandle, &Launch) -> E,
    ) -> Result<Duration> {
        let config = Config::new().set("path", path.to_str().ok_or("the path is not UTF-8")?)?;
        let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
        let mut domain = session.default_domain()?;
        let schema = domain.schema::<E>()?;
        let names = (self.names.iter())
            .map(|name| Ok(domain.string(name)?.handle()))
            .collect::<Result<Vec<_>>>()?;
        let clock = TimeDomainOptions::new()
            .ticks_per_second(31_250_000)
            .steady();
        let clock = domain.time_domain(clock)?;
        let mut options = StreamOptions::new(domain.id());
        if on_device {
            options = options.time_domain(clock);
        }
        let mut stream = session.open_stream("stream", options)?;
        let launches = self.launches.iter();
        let events: Vec<_> = launches
            .map(|(index, launch)| event(names[*index], launch))
            .collect();
        let start = Instant::now();
        let out = session.writer(&mut stream)?;
        if on_device {
            let point = SyncPoint {
                source: 0,
                destination: 1_000_000,
            };
            out.sync_point(clock, TimestampType::ClockMonotonic, point)?;
        }
        let out = out.events(schema)?;
        for batch in events.chunks(BATCH) {
            out.write_batch(batch)?;
        }
        session.end()?;
        Ok(start.elapsed())
    }

    /// Writes an event with a text for each launch in batches.
    fn texts(&self, path: &Path) -> Result<Duration> {
        let config = Config::new().set("path", path.to_str().ok_or("the path is not UTF-8")?)?;
        let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
        let mut domain = session.default_domain()?;
        let schema = domain.schema::<Read>()?;
        let name = domain.string("read")?.handle();
        let options = StreamOptions::new(domain.id());
        let mut stream = session.open_stream("stream", options)?;
        let batch = |launches: &[(usize, Launch)]| {
            let mut pool = FlexPool::new();
            let reads = launches.iter().map(|(_, launch)| Read {
                start: launch.start,
                end: launch.end,
                name,
                path: pool.push(launch.name),
                size: launch.args.shared,
            });
            (reads.collect::<Vec<_>>(), pool)
        };
        let batches: Vec<_> = self.launches.chunks(BATCH).map(batch).collect();
        let start = Instant::now();
        let out = session.writer(&mut stream)?;
        let out = out.events(schema)?;
        for (batch, pool) in &batches {
            out.write_batch_flex(batch, pool)?;
        }
        session.end()?;
        Ok(start.elapsed())
    }

    /// Writes a sample of a group for each launch in batches.
    fn samples(&self, path: &Path) -> Result<Duration> {
        let config = Config::new().set("path", path.to_str().ok_or("the path is not UTF-8")?)?;
        let mut session = Session::begin(&Backend::embedded(), "bench", &config)?;
        let mut domain = session.default_domain()?;
        let group = domain.counter_group::<Load>("load")?;
        let options = StreamOptions::new(domain.id());
        let mut stream = session.open_stream("stream", options)?;
        let samples: Vec<_> = (self.launches.iter())
            .map(|(_, launch)| Load {
                time: launch.start,
                read: launch.args.shared,
                written: launch.args.registers.into(),
                busy: launch.args.occupancy.into(),
            })
            .collect();
        let start = Instant::now();
        let out = session.writer(&mut stream)?;
        let out = out.counter(group)?;
        for batch in samples.chunks(BATCH) {
            out.write_batch_embedded(batch)?;
        }
        session.end()?;
        Ok(start.elapsed())
    }
}

/// Copies records of so many bytes into a buffer and writes that.
fn copies(size: usize, path: &Path) -> Result<Duration> {
    let records: Vec<u8> = (0..EVENTS * size).map(|byte| byte as u8).collect();
    let start = Instant::now();
    let mut file = File::create_new(path)?;
    let mut buffer = Vec::with_capacity(BATCH * size);
    for batch in records.chunks(BATCH * size) {
        buffer.clear();
        buffer.extend_from_slice(batch);
        file.write_all(hint::black_box(&buffer))?;
    }
    Ok(start.elapsed())
}

/// Prints the lines whose names are wanted.
pub fn compare_all(
    names: &[&'static str],
    launches: &[(usize, Launch)],
    folder: &Folder,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<()> {
    let shapes = Shapes { names, launches };
    let copied = |name: StringHandle, launch: &Launch| Copy {
        start: launch.start,
        end: launch.end,
        name,
        size: launch.args.shared,
        direction: match launch.args.registers % 3 {
            0 => Direction::HostToDevice,
            1 => Direction::DeviceToHost,
            _ => Direction::DeviceToDevice,
        },
        is_async: launch.args.registers.is_multiple_of(2),
        is_pinned: launch.args.shared.is_multiple_of(2),
        queue: 7,
    };
    let grid = |name: StringHandle, launch: &Launch| Grid {
        start: launch.start,
        end: launch.end,
        name,
        launch: launch.start as u64 + 1,
        grid: [launch.args.registers, 2, 1],
        block: [128, 1, 1],
    };
    let mark = |name: StringHandle, launch: &Launch| Sync {
        time: launch.start,
        name,
        device: launch.args.registers % 8,
        queue: 7,
        is_blocking: launch.args.registers.is_multiple_of(2),
        is_last: false,
    };
    let name = "ranges with an enum and truths in batches / copying records of 40 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.events(path, false, copied);
        compare(name, EVENTS, folder, ours, |path| copies(40, path))?;
    }
    let name = "ranges of a device's clock in batches / copying records of 40 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.events(path, true, copied);
        compare(name, EVENTS, folder, ours, |path| copies(40, path))?;
    }
    let name = "ranges with arrays and a correlation in batches / copying records of 56 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.events(path, false, grid);
        compare(name, EVENTS, folder, ours, |path| copies(56, path))?;
    }
    let name = "ranges with a text field in batches / copying records of 48 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.texts(path);
        compare(name, EVENTS, folder, ours, |path| copies(48, path))?;
    }
    let name = "ranges with 32 numbers in batches / copying records of 280 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.events(path, false, Profile::new);
        compare(name, EVENTS, folder, ours, |path| copies(280, path))?;
    }
    let name = "marks in batches / copying records of 24 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.events(path, false, mark);
        compare(name, EVENTS, folder, ours, |path| copies(24, path))?;
    }
    let name = "samples of three counters in batches / copying records of 32 bytes";
    if is_wanted(name) {
        let ours = |path: &Path| shapes.samples(path);
        compare(name, EVENTS, folder, ours, |path| copies(32, path))?;
    }
    Ok(())
}
