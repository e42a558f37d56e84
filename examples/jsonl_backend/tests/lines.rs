//! The backend as a producer in Rust sees it: loaded as a library.

use std::path::{Path, PathBuf};

use nvtxw::{
    Argb, Backend, Config, Flags, NoValueReason, NvtxCounterGroup, NvtxEnum, NvtxEvent,
    NvtxPayload, RangeId, RecordLayout, ResultCode, Session, StreamOptions, StringHandle,
};
use serde_json::{Value as Json, json};

/// Cargo puts the library beside the test programs.
fn backend() -> Backend {
    let name = format!(
        "{}jsonl_backend{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let library = std::env::current_exe()
        .expect("a test program is a file")
        .with_file_name(name);
    // SAFETY:
    // - The library is a backend made with the SDK, which keeps what the ABI promises whatever it is called with.
    unsafe { Backend::load(library) }.expect("a backend")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn config(path: &Path) -> Config {
    Config::new()
        .set("path", path.to_str().expect("UTF-8"))
        .expect("a good value")
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(i8)]
enum Level {
    Low = -1,
    High,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
#[nvtx(flags)]
enum Access {
    Read = 1,
    Write = 2,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = range_startend)]
struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    #[nvtx(color)]
    color: Argb,
    grid: [u32; 3],
    wide: i128,
    wider: u128,
    ratio: f64,
    least: f32,
    corners: [Point; 2],
    level: Level,
    access: Flags<Access>,
    letter: char,
    #[nvtx(string)]
    label: [u8; 8],
    file: StringHandle,
    #[nvtx(hide)]
    secret: u8,
    is_warm: bool,
    address: *const u8,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    read: u64,
    load: f64,
}

#[test]
fn every_event_and_every_sample_is_a_line() {
    let path = file("lines.jsonl");
    let mut session = Session::begin(&backend(), "lines", &config(&path)).expect("a session");
    let mut sim = session.domain("sim").expect("a domain");
    let kernel = sim.schema::<Kernel>().expect("a schema");
    let extra = sim
        .record("arguments", &RecordLayout::new().i64("label").i64("grid"))
        .expect("a record");
    let gemm = sim.string("gemm").expect("a string");
    let io = sim.category("io").expect("a category");
    let engine = sim.scope("GPU[0]/Engine[1]").expect("a scope");
    let depth = sim.counter::<i64>("depth").expect("a counter");
    let channel = sim.counter_group::<Channel>("channel").expect("a counter");
    let sim = sim.id();
    let mut host = session
        .open_stream("host", StreamOptions::new(sim))
        .expect("a stream");
    let options = StreamOptions::new(sim).scope(engine);
    let mut gpu = session.open_stream("gpu", options).expect("a stream");

    let out = session.writer(&mut host).expect("a writer");
    out.mark(-1)
        .message("größe")
        .category(io)
        .color(Argb::GREEN)
        .write()
        .expect("written");
    out.mark(1).write().expect("written");
    out.push(2).message("").write().expect("written");
    out.pop(3).expect("written");
    let dma = RangeId::new(u64::MAX).expect("not zero");
    out.start(4, dma).message(gemm).write().expect("written");
    out.end(5, dma).expect("written");
    out.pushpop(6, 8)
        .message("\"\n\0")
        .write()
        .expect("written");
    let depth = out.counter(depth).expect("a writer");
    depth.write_batch(&[7, 8], &[i64::MIN, 3]).expect("written");
    depth
        .no_value(9, NoValueReason::Unavailable)
        .expect("written");

    let out = session.writer(&mut gpu).expect("a writer");
    let event = Kernel {
        start: 10,
        end: 20,
        name: gemm.handle(),
        color: Argb::NONE,
        grid: [1, 2, u32::MAX],
        wide: i128::MIN,
        wider: u128::MAX,
        ratio: f64::NAN,
        least: f32::NEG_INFINITY,
        corners: [Point { x: 0.5, y: -0.0 }, Point { x: 2.0, y: 1e30 }],
        level: Level::Low,
        access: Access::Read | Access::Write,
        letter: '한',
        label: *b"gemm\0xyz",
        file: StringHandle::NONE,
        secret: 42,
        is_warm: true,
        address: std::ptr::without_provenance(0xDEAD_BEEF),
    };
    let other = Kernel {
        level: Level::High,
        access: Flags::from_bits(0x42),
        ..event
    };
    let kernels = out.events(kernel).expect("a writer");
    kernels.write_batch(&[other]).expect("written");
    let mut row = extra.row();
    row.set(0, -1_i64).expect("in place");
    row.set(1, 5_i64).expect("in place");
    kernels.write_with(&event, &row).expect("written");
    let group = [Channel {
        read: u64::MAX,
        load: f64::INFINITY,
    }];
    out.counter(channel)
        .expect("a writer")
        .write_batch(&[30], &group)
        .expect("written");
    session.end().expect("all lines are written");

    // Each stream's lines in their order, one stream after the other as they are closed.
    assert_eq!(lines(&path), [&host_lines()[..], &gpu_lines()].concat());
}

fn lines(path: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(path).expect("the file is there");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect()
}

/// `more` over what is the same in most lines.
fn line(mut line: Json, more: Json) -> Json {
    for (key, value) in more.as_object().expect("an object") {
        line[key] = value.clone();
    }
    line
}

fn event(more: Json) -> Json {
    let nothing = json!({
        "schema": null, "name": null, "end": null, "category": null, "color": null, "range_id": null, "fields": {},
        "stream": "host", "domain": "sim", "scope": "",
    });
    line(nothing, more)
}

fn host_lines() -> Vec<Json> {
    let sample = |more| {
        line(
            json!({ "kind": "counter", "name": "depth", "stream": "host", "domain": "sim", "scope": "" }),
            more,
        )
    };
    vec![
        event(
            json!({ "kind": "mark", "time": -1, "name": "größe", "category": "io", "color": "#ff008000" }),
        ),
        event(json!({ "kind": "mark", "time": 1, "name": "" })),
        event(json!({ "kind": "range_push", "time": 2, "name": "" })),
        event(json!({ "kind": "range_pop", "time": 3 })),
        event(json!({ "kind": "range_start", "time": 4, "name": "gemm", "range_id": u64::MAX })),
        event(json!({ "kind": "range_end", "time": 5, "range_id": u64::MAX })),
        event(json!({ "kind": "range_pushpop", "time": 6, "end": 8, "name": "\"\n" })),
        sample(json!({ "time": 7, "fields": { "depth": i64::MIN } })),
        sample(json!({ "time": 8, "fields": { "depth": 3 } })),
        sample(json!({ "time": 9, "no_value": "Unavailable" })),
    ]
}

fn gpu_lines() -> Vec<Json> {
    let kernel = |level: &str, access: &str, more| {
        let fields = json!({
            "grid": [1, 2, u32::MAX],
            "wide": i128::MIN.to_string(),
            "wider": u128::MAX.to_string(),
            "ratio": "NaN",
            "least": "-inf",
            "corners": [{ "x": 0.5, "y": -0.0 }, { "x": 2.0, "y": f64::from(1e30_f32) }],
            "level": level,
            "access": access,
            "letter": "한",
            "label": "gemm",
            "file": null,
            "is_warm": true,
            "address": "0xdeadbeef",
        });
        event(json!({
            "kind": "range_startend", "schema": "Kernel", "name": "gemm", "time": 10, "end": 20,
            "stream": "gpu", "scope": "/GPU[0]/Engine[1]", "fields": line(fields, more),
        }))
    };
    let sample = json!({
        "kind": "counter", "name": "channel", "time": 30, "stream": "gpu", "domain": "sim", "scope": "/GPU[0]/Engine[1]",
        "fields": { "read": u64::MAX, "load": "inf" },
    });
    vec![
        kernel("High", "Write | 0x40", json!({})),
        kernel(
            "Low",
            "Read | Write",
            json!({ "label (2)": -1, "grid (2)": 5 }),
        ),
        line(sample, json!({})),
    ]
}

#[test]
fn what_can_not_be_written_is_refused() {
    let path = file("no folder").join("lines.jsonl");
    let refused = Session::begin(&backend(), "lines", &config(&path)).map(drop);
    let code = refused.expect_err("there is no such folder").code();
    assert_eq!(code, Some(ResultCode::FAILED));
}

#[test]
fn an_older_file_is_replaced() {
    let path = file("replaced.jsonl");
    std::fs::write(&path, "an older file").expect("written");
    let session = Session::begin(&backend(), "lines", &config(&path)).expect("a session");
    session.end().expect("nothing to write");
    assert_eq!(lines(&path), [Json::Null; 0]);
}

#[test]
fn streams_on_several_threads_append_whole_lines() {
    const LINES: usize = 500;

    let path = file("threads.jsonl");
    let mut session = Session::begin(&backend(), "threads", &config(&path)).expect("a session");
    let domain = session.default_domain().expect("a domain").id();
    let mut open = |name| {
        session
            .open_stream(name, StreamOptions::new(domain))
            .expect("a stream")
    };
    let streams = [open("a"), open("b"), open("c")];
    // Also lines that are longer than any buffer.
    let text = |stream: &str, index: usize| stream.repeat([20_000, 100][index.min(1)]);
    std::thread::scope(|threads| {
        for mut stream in streams {
            let session = &session;
            threads.spawn(move || {
                let name = stream.name().to_owned();
                let out = session.writer(&mut stream).expect("a writer");
                for index in 0..LINES {
                    out.mark(index as i64)
                        .message(&text(&name, index))
                        .write()
                        .expect("written");
                }
            });
        }
    });
    session.end().expect("all lines are written");

    let found = lines(&path);
    for name in ["a", "b", "c"] {
        let of_stream: Vec<_> = found.iter().filter(|line| line["stream"] == name).collect();
        assert_eq!(of_stream.len(), LINES);
        for (index, line) in of_stream.into_iter().enumerate() {
            assert_eq!(
                (&line["time"], &line["name"]),
                (&json!(index), &json!(text(name, index)))
            );
        }
    }
}

#[test]
fn the_source_stays_short() {
    assert!(include_str!("../src/lib.rs").lines().count() <= 120);
}
