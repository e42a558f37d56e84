//! A trace whose figures are known, in any format of the built-in backend.

use std::path::Path;

use nvtxw::{
    Backend, Config, CounterOptions, NoValueReason, NvtxCounterGroup, NvtxEvent, RangeId, Session,
    StreamOptions, StringHandle, ValueType,
};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
pub struct Kernel {
    #[nvtx(timestamp_start)]
    pub start: i64,
    #[nvtx(timestamp_end)]
    pub end: i64,
    #[nvtx(message)]
    pub name: StringHandle,
    #[nvtx(unit = "bytes")]
    pub shared: u64,
    #[nvtx(unit = "s", scale = "1/1000")]
    pub waited: f64,
    pub grid: [u32; 2],
    #[nvtx(correlation = "launch")]
    pub launch: i64,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
pub struct Traffic {
    #[nvtx(unit = "bytes")]
    pub read: u64,
    #[nvtx(unit = "bytes")]
    pub written: u64,
}

pub const KERNELS: [&str; 3] = ["gemm", "softmax", "한강"];

/// Start, end and name of each kernel.
pub fn kernels() -> impl Iterator<Item = (i64, i64, &'static str)> {
    let name = |i: i64| KERNELS[i as usize % 3];
    (0..300).map(move |i| (1000 + i * 100, 1000 + i * 100 + 10 + i % 50, name(i)))
}

/// Start and end of each frame, with that of the step in it.
pub fn frames() -> impl Iterator<Item = [(i64, i64); 2]> {
    (0..20).map(|i| {
        [
            (i * 2000, i * 2000 + 1500),
            (i * 2000 + 100, i * 2000 + 400),
        ]
    })
}

pub fn depths() -> impl Iterator<Item = (i64, i64)> {
    (0..100).map(|i| (i * 300, (i * 37) % 23 - 5))
}

pub fn traffic() -> impl Iterator<Item = (i64, Traffic)> {
    let read = |i: u64| Traffic {
        read: i * i,
        written: (1 << 40) + i,
    };
    (0..50).map(move |i| (i * 500, read(i as u64)))
}

pub fn differences() -> impl Iterator<Item = (i64, i64)> {
    (0..40).map(|i| (i * 700, i % 7 - 2))
}

/// When marks are.
pub fn ticks() -> impl Iterator<Item = i64> {
    (0..12).map(|i| 50 + i * 3000)
}

/// Writes it to `path`.
pub fn write(path: &Path, settings: &[(&str, &str)]) {
    let mut config = Config::new().set("path", path.to_str().unwrap()).unwrap();
    for (key, value) in settings {
        config = config.set(key, value).unwrap();
    }
    let mut session = Session::begin(&Backend::embedded(), "known", &config).unwrap();
    let mut sim = session.domain("sim").unwrap();
    let kernel = sim.schema::<Kernel>().unwrap();
    let names = KERNELS.map(|name| sim.string(name).unwrap());
    let engine = sim.scope("GPU[0]/Engine").unwrap();
    let described = CounterOptions::new()
        .description("what waits")
        .unit("kernels");
    let depth = sim.counter_with::<i64>("depth", described).unwrap();
    let load = sim.counter::<f64>("load").unwrap();
    let traffic = sim.counter_group::<Traffic>("traffic").unwrap();
    let difference = CounterOptions::new().value_type(ValueType::Delta);
    let sent = sim.counter_with::<i64>("sent", difference).unwrap();
    let sim = sim.id();
    let default = session.default_domain().unwrap().id();
    let mut gpu = session
        .open_stream("gpu 0", StreamOptions::new(sim).scope(engine))
        .unwrap();
    let mut host = session
        .open_stream("host", StreamOptions::new(default))
        .unwrap();

    let out = session.writer(&mut gpu).unwrap();
    let batch: Vec<_> = kernels()
        .enumerate()
        .map(|(i, (start, end, name))| Kernel {
            start,
            end,
            name: names[KERNELS.iter().position(|known| *known == name).unwrap()].handle(),
            shared: 4096,
            waited: 0.5,
            grid: [i as u32, 1],
            launch: i as i64 / 2 + 1,
        })
        .collect();
    out.events(kernel).unwrap().write_batch(&batch).unwrap();
    let writer = out.counter(depth).unwrap();
    for (time, value) in depths() {
        writer.sample(time, value).unwrap();
    }
    let writer = out.counter(load).unwrap();
    writer.sample(5, 0.25).unwrap();
    writer.no_value(10, NoValueReason::Unavailable).unwrap();
    writer.sample(15, 0.75).unwrap();
    let writer = out.counter(traffic).unwrap();
    for (time, value) in self::traffic() {
        writer.sample(time, &value).unwrap();
    }
    let writer = out.counter(sent).unwrap();
    for (time, value) in differences() {
        writer.sample(time, value).unwrap();
    }

    let out = session.writer(&mut host).unwrap();
    for [frame, step] in frames() {
        out.push(frame.0).message("frame").write().unwrap();
        out.pushpop(step.0, step.1).message("step").write().unwrap();
        out.pop(frame.1).unwrap();
    }
    for time in ticks() {
        out.mark(time).message("tick").write().unwrap();
    }
    out.start(100, RangeId::new(7).unwrap())
        .message("never ends")
        .write()
        .unwrap();
    let ended = out.end(200, RangeId::new(8).unwrap());
    // A capture takes all calls that make sense by themselves.
    assert_eq!(ended.is_ok(), settings.contains(&("format", "capture")));
    session.end().unwrap();
}
