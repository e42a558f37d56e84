//! The simulation: it goes from event to event, and records what happens.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use nvtxw::Argb;

use crate::events::{Burst, Kernel, Launch, Names, PageMiss, Traffic, Transfer};

/// Compute engines; each runs two kernels at a time.
pub const ENGINES: usize = 3;
const SLOTS: usize = 2;
/// Kernels that wait in front of an engine before the host has to wait as well.
const QUEUE: usize = 8;
pub const CHANNELS: usize = 2;
/// Bytes that one memory channel moves in a nanosecond.
const BANDWIDTH: f64 = 24.0;
/// Degrees Celsius at which the engines slow down, and at which they are fast again.
const HOT: f64 = 80.0;
const COOL: f64 = 65.0;
/// Nanoseconds between two samples of the memory channels, and of the temperature.
const MEMORY_PERIOD: i64 = 10_000;
const SENSOR_PERIOD: i64 = 100_000;

/// What the simulation leaves behind, by the stream that it belongs to.
#[derive(Default)]
pub struct Timeline {
    pub host: Vec<Step>,
    pub engines: [Engine; ENGINES],
    pub copies: Vec<CopyJob>,
    pub traffic: [Series<Traffic>; CHANNELS],
    pub temperature: Vec<(i64, f64)>,
    /// When the chip got too hot.
    pub throttles: Vec<i64>,
}

/// One iteration of the host's loop.
pub struct Step {
    pub start: i64,
    pub end: i64,
    pub launches: Vec<Launch>,
    /// When it found all queues full.
    pub stalls: Vec<i64>,
}

#[derive(Default)]
pub struct Engine {
    pub kernels: Vec<Kernel>,
    pub misses: Vec<PageMiss>,
    pub depth: Series<i64>,
}

pub struct CopyJob {
    pub transfer: Transfer,
    pub bursts: Vec<Burst>,
}

/// Samples and their times, apart: a counter batch takes two slices.
#[derive(Default)]
pub struct Series<C> {
    pub times: Vec<i64>,
    pub values: Vec<C>,
}

impl<C> Series<C> {
    fn push(&mut self, time: i64, value: C) {
        self.times.push(time);
        self.values.push(value);
    }

    pub fn batches(&self, size: usize) -> impl Iterator<Item = (&[i64], &[C])> {
        self.times.chunks(size).zip(self.values.chunks(size))
    }
}

/// What the simulation waits for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    Host,
    KernelDone { engine: usize, bytes: u64 },
    CopyDone,
    SampleMemory,
    SampleSensor,
}

pub struct Simulation<'a> {
    names: &'a Names,
    random: fastrand::Rng,
    /// Earliest first; the running number keeps equal times in the order in which they were scheduled.
    agenda: BinaryHeap<Reverse<(i64, u64, Wake)>>,
    scheduled: u64,
    now: i64,
    /// Events that may still be recorded.
    left: u64,
    /// Launches that wait, by engine: their number, and which of the known kernels it is.
    queues: [VecDeque<(u64, usize)>; ENGINES],
    running: [usize; ENGINES],
    launched: u64,
    host_stalled: bool,
    /// True: to the device.
    copies: VecDeque<bool>,
    copying: bool,
    traffic: [Traffic; CHANNELS],
    temperature: f64,
    throttled: bool,
    out: Timeline,
}

impl<'a> Simulation<'a> {
    /// Runs until exactly `size` events are recorded.
    pub fn run(names: &'a Names, seed: u64, size: u64) -> Timeline {
        let mut this = Self {
            names,
            random: fastrand::Rng::with_seed(seed),
            agenda: BinaryHeap::new(),
            scheduled: 0,
            now: 0,
            left: size,
            queues: Default::default(),
            running: [0; ENGINES],
            launched: 0,
            host_stalled: false,
            copies: VecDeque::new(),
            copying: false,
            traffic: Default::default(),
            temperature: 45.0,
            throttled: false,
            out: Timeline::default(),
        };
        this.after(0, Wake::Host);
        this.after(MEMORY_PERIOD, Wake::SampleMemory);
        this.after(SENSOR_PERIOD, Wake::SampleSensor);
        while this.left > 0 {
            let Reverse((time, _, wake)) = this.agenda.pop().expect("the samplers go on for ever");
            this.now = time;
            match wake {
                Wake::Host => this.host(),
                Wake::KernelDone { engine, bytes } => this.kernel_done(engine, bytes),
                Wake::CopyDone => this.copy_done(),
                Wake::SampleMemory => this.sample_memory(),
                Wake::SampleSensor => this.sample_sensor(),
            }
        }
        this.out
    }

    fn after(&mut self, delay: i64, wake: Wake) {
        self.scheduled += 1;
        self.agenda
            .push(Reverse((self.now + delay, self.scheduled, wake)));
    }

    /// Whether one more event may be recorded.
    fn spend(&mut self) -> bool {
        let allowed = self.left > 0;
        self.left -= u64::from(allowed);
        allowed
    }

    /// The host launches a kernel, or finds all queues full and waits.
    fn host(&mut self) {
        if self
            .out
            .host
            .last()
            .is_none_or(|step| step.launches.len() >= 48)
        {
            if !self.spend() {
                return;
            }
            self.out.host.push(Step {
                start: self.now,
                end: self.now,
                launches: Vec::new(),
                stalls: Vec::new(),
            });
            self.copies.extend([true, false]);
            self.start_copy();
        }
        let step = self.out.host.len() - 1;
        let engine = (0..ENGINES)
            .min_by_key(|&engine| self.queues[engine].len())
            .unwrap_or(0);
        if self.queues[engine].len() >= QUEUE {
            self.host_stalled = true;
            if self.spend() {
                self.out.host[step].stalls.push(self.now);
                self.out.host[step].end = self.now;
            }
            return;
        }
        let cost = self.random.i64(900..2_400);
        let kernel = self.random.usize(0..self.names.kernels.len());
        if self.spend() {
            self.launched += 1;
            let launch = Launch {
                start: self.now,
                end: self.now + cost,
                name: self.names.kernels[kernel].0,
                launch: self.launched,
                category: self.names.compute,
                engine: engine as u32,
            };
            self.out.host[step].launches.push(launch);
            self.out.host[step].end = launch.end;
            self.queues[engine].push_back((self.launched, kernel));
            self.sample_depth(engine);
            self.start_kernels(engine);
        }
        let pause = self.random.i64(100..900);
        self.after(cost + pause, Wake::Host);
    }

    fn start_kernels(&mut self, engine: usize) {
        while self.running[engine] < SLOTS
            && let Some((launch, kernel)) = self.queues[engine].pop_front()
        {
            self.running[engine] += 1;
            self.sample_depth(engine);
            let blocks = self.random.u32(1..=256);
            let slow = if self.throttled { 2 } else { 1 };
            let duration = slow * (self.random.i64(3_000..6_000) + 100 * i64::from(blocks));
            self.after(
                duration,
                Wake::KernelDone {
                    engine,
                    bytes: u64::from(blocks) * 640,
                },
            );
            let (name, color) = self.names.kernels[kernel];
            if self.spend() {
                self.out.engines[engine].kernels.push(Kernel {
                    start: self.now,
                    end: self.now + duration,
                    name,
                    launch,
                    shared_memory: 1024 * self.random.u64(0..=96),
                    grid: [blocks, self.random.u32(1..=4), 1],
                    registers: 8 * self.random.u32(2..=31),
                    category: self.names.compute,
                    color,
                });
            }
            if self.random.u32(0..24) == 0 && self.spend() {
                self.out.engines[engine].misses.push(PageMiss {
                    time: self.now + duration / 3,
                    name: self.names.page_miss,
                    address: 0x7f00_0000_0000 + 4096 * self.random.u64(0..1 << 20),
                    walk: self.random.u32(80..800),
                    category: self.names.memory,
                });
            }
        }
    }

    fn kernel_done(&mut self, engine: usize, bytes: u64) {
        self.running[engine] -= 1;
        for channel in &mut self.traffic {
            channel.read += bytes * 2 / 3 / CHANNELS as u64;
            channel.written += bytes / 3 / CHANNELS as u64;
        }
        self.start_kernels(engine);
        if self.host_stalled {
            self.host_stalled = false;
            self.after(0, Wake::Host);
        }
    }

    fn copy_done(&mut self) {
        self.copying = false;
        self.start_copy();
    }

    /// A transfer is a descriptor and, inside it, one burst after the other on alternating memory channels.
    fn start_copy(&mut self) {
        if self.copying {
            return;
        }
        let Some(upload) = self.copies.pop_front() else {
            return;
        };
        self.copying = true;
        let recorded = self.spend();
        let (mut time, mut size, mut bursts) = (self.now + 400, 0, Vec::new());
        let base = 0x1_0000 * self.random.u64(0..1 << 16);
        for burst in 0..self.random.u32(2..=12) {
            let channel = burst as usize % CHANNELS;
            let bytes = 1024 * self.random.u32(4..=64);
            let end = time + (f64::from(bytes) / BANDWIDTH) as i64;
            let moved = if upload {
                &mut self.traffic[channel].written
            } else {
                &mut self.traffic[channel].read
            };
            *moved += u64::from(bytes);
            if recorded && self.spend() {
                let (name, address) = (self.names.burst, base + size);
                bursts.push(Burst {
                    start: time,
                    end,
                    name,
                    address,
                    size: bytes,
                    channel: channel as u32,
                });
            }
            size += u64::from(bytes);
            time = end + self.random.i64(0..120);
        }
        self.after(time - self.now, Wake::CopyDone);
        if recorded {
            let (name, color) = if upload {
                (self.names.upload, Argb::BLUE)
            } else {
                (self.names.download, Argb::CYAN)
            };
            let transfer = Transfer {
                start: self.now,
                end: time,
                name,
                size,
                category: self.names.copy,
                color,
            };
            self.out.copies.push(CopyJob { transfer, bursts });
        }
    }

    fn sample_depth(&mut self, engine: usize) {
        if self.spend() {
            self.out.engines[engine]
                .depth
                .push(self.now, self.queues[engine].len() as i64);
        }
    }

    fn sample_memory(&mut self) {
        for channel in 0..CHANNELS {
            let mut sample = std::mem::take(&mut self.traffic[channel]);
            let moved = (sample.read + sample.written) as f64;
            sample.utilisation = (100.0 * moved / (BANDWIDTH * MEMORY_PERIOD as f64)).min(100.0);
            if self.spend() {
                self.out.traffic[channel].push(self.now, sample);
            }
        }
        self.after(MEMORY_PERIOD, Wake::SampleMemory);
    }

    /// The temperature follows the load; what runs at half speed is cooler.
    fn sample_sensor(&mut self) {
        let load = self.running.iter().sum::<usize>() as f64 / (ENGINES * SLOTS) as f64;
        let target = if self.throttled {
            50.0
        } else {
            45.0 + 50.0 * load
        };
        self.temperature += 0.02 * (target - self.temperature) + 0.5 * (self.random.f64() - 0.5);
        if self.spend() {
            self.out.temperature.push((self.now, self.temperature));
        }
        if self.temperature > HOT && !self.throttled {
            self.throttled = true;
            if self.spend() {
                self.out.throttles.push(self.now);
            }
        } else if self.temperature < COOL {
            self.throttled = false;
        }
        self.after(SENSOR_PERIOD, Wake::SampleSensor);
    }
}

#[cfg(test)]
mod tests {
    use nvtxw::{Backend, Config, Session};

    use super::*;

    #[test]
    fn the_size_is_exact_and_the_seed_decides() {
        let path =
            std::env::temp_dir().join(format!("nvtxw-simulation-{}.pftrace", std::process::id()));
        let config = Config::new().set("path", path.to_str().unwrap()).unwrap();
        let mut session = Session::begin(&Backend::embedded(), "test", &config).unwrap();
        let names = Names::register(&mut session.default_domain().unwrap()).unwrap();
        for size in [0, 1, 7, 1000, 20_000] {
            let timeline = Simulation::run(&names, 3, size);
            let host: usize = timeline
                .host
                .iter()
                .map(|step| 1 + step.launches.len() + step.stalls.len())
                .sum();
            let engine = |engine: &Engine| {
                engine.kernels.len() + engine.misses.len() + engine.depth.times.len()
            };
            let engines: usize = timeline.engines.iter().map(engine).sum();
            let copies: usize = timeline
                .copies
                .iter()
                .map(|copy| 1 + copy.bursts.len())
                .sum();
            let traffic: usize = timeline
                .traffic
                .iter()
                .map(|series| series.times.len())
                .sum();
            let sensors = timeline.temperature.len() + timeline.throttles.len();
            assert_eq!((host + engines + copies + traffic + sensors) as u64, size);
        }
        let ends = |seed| {
            let timeline = Simulation::run(&names, seed, 1000);
            timeline.engines.map(|engine| {
                engine
                    .kernels
                    .iter()
                    .map(|kernel| kernel.end)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(ends(1), ends(1));
        assert_ne!(ends(1), ends(2));
        session.end().unwrap();
        std::fs::remove_file(path).unwrap();
    }
}
