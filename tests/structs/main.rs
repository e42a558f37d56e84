//! What derived types are in a file: each kind of field, in an event and beside it, through the embedded backend.

#![forbid(unsafe_code)]

// The reader of the file backend's own tests; they use more of it.
#[allow(dead_code)]
#[path = "../../backends/file/tests/trace/reader.rs"]
mod reader;
#[allow(dead_code)]
#[path = "../../backends/file/src/replay.rs"]
mod replay;

use nvtxw::{
    Backend, Config, Flags, NoValueReason, NvtxEnum, NvtxEvent, NvtxField, NvtxPayload,
    RecordLayout, Session, StreamOptions, TimeDomainOptions,
};
use reader::{Arg, Trace, text};
use replay::TempDir;

#[derive(NvtxEnum, Clone, Copy)]
#[repr(i16)]
enum Level {
    Low = -1,
    #[nvtx(name = "so-so")]
    Middle,
}

#[derive(NvtxEnum, Clone, Copy)]
#[repr(u8)]
#[nvtx(flags)]
enum Access {
    Read = 1,
    Write = 2,
}

#[derive(NvtxField, Clone, Copy)]
#[repr(transparent)]
struct Ticks(i64);

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C, packed)]
struct Shape<T> {
    #[nvtx(string)]
    label: [u8; 4],
    corners: [Point; 2],
    level: Level,
    value: T,
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C, packed)]
#[nvtx(kind = range_pushpop)]
struct Step {
    #[nvtx(timestamp_start)]
    start: Ticks,
    #[nvtx(timestamp_end)]
    end: Ticks,
    #[nvtx(message, string)]
    name: [u8; 8],
    shape: Shape<bool>,
    levels: [Level; 3],
    access: Flags<Access>,
    modes: [Flags<Access>; 3],
    letter: char,
    waited: Ticks,
}

fn step(start: i64) -> Step {
    Step {
        start: Ticks(start),
        end: Ticks(start + 10),
        name: *b"step\0xyz",
        shape: Shape {
            label: "größe".as_bytes()[..4].try_into().expect("4 bytes"),
            corners: [Point { x: 0.5, y: -1.0 }, Point { x: 2.0, y: 3.0 }],
            level: Level::Low,
            value: true,
        },
        levels: [Level::Middle, Level::Low, Level::Middle],
        access: Flags::from(Access::Write),
        modes: [
            Flags::from(Access::Read) | Access::Write,
            Flags::none(),
            Access::Read.into(),
        ],
        letter: 'ß',
        waited: Ticks(-7),
    }
}

fn point(x: f64, y: f64) -> Arg {
    Arg::Dict(vec![
        ("x".to_owned(), Arg::Double(x)),
        ("y".to_owned(), Arg::Double(y)),
    ])
}

#[test]
fn fields_are_in_the_file_as_what_they_are() {
    let folder = TempDir::new();
    let path = folder.path().join("run.pftrace");
    let config = Config::new()
        .set("path", path.to_str().expect("temporary folders are UTF-8"))
        .unwrap();
    let mut session = Session::begin(&Backend::embedded(), "run", &config).unwrap();
    let mut domain = session.default_domain().unwrap();
    let step_schema = domain.schema::<Step>().unwrap();
    let shape_schema = domain.payload_schema::<Shape<u64>>().unwrap();
    let record = domain
        .record("arguments", &RecordLayout::new().i64("External id"))
        .unwrap();
    let domain = domain.id();
    let mut stream = session
        .open_stream("steps", StreamOptions::new(domain))
        .unwrap();
    let out = session.writer(&mut stream).unwrap();
    let steps = out.events(step_schema).unwrap();
    steps.write_batch(&[step(0), step(20)]).unwrap();
    let beside = Shape {
        label: *b"abcd",
        corners: [Point { x: 1.0, y: 1.0 }; 2],
        level: Level::Middle,
        value: u64::MAX,
    };
    let mut row = record.row();
    row.set(0, 17_i64).unwrap();
    steps
        .write_with(&step(40), (shape_schema.payload(&beside), &row))
        .unwrap();
    session.end().unwrap();

    let trace = Trace::read(&path);
    assert_eq!(trace.ranges.len(), 3);
    for range in &trace.ranges {
        assert_eq!(range.name, "step");
        assert_eq!(
            *range.arg("shape"),
            Arg::Dict(vec![
                ("label".to_owned(), text("grö")),
                (
                    "corners".to_owned(),
                    Arg::List(vec![point(0.5, -1.0), point(2.0, 3.0)])
                ),
                ("level".to_owned(), text("Low")),
                ("value".to_owned(), Arg::Bool(true)),
            ])
        );
        let levels = [text("so-so"), text("Low"), text("so-so")];
        assert_eq!(*range.arg("levels"), Arg::List(levels.into()));
        assert_eq!(*range.arg("access"), text("Write"));
        let modes = [text("Read | Write"), Arg::Uint(0), text("Read")];
        assert_eq!(*range.arg("modes"), Arg::List(modes.into()));
        assert_eq!(*range.arg("letter"), text("ß"));
        assert_eq!(*range.arg("waited"), Arg::Int(-7));
    }
    let last = trace.ranges.iter().find(|range| range.start == 40).unwrap();
    assert_eq!(*last.arg("External id"), Arg::Int(17));
    assert_eq!(*last.arg("label"), text("abcd"));
    assert_eq!(*last.arg("level"), text("so-so"));
    assert_eq!(*last.arg("value"), Arg::Uint(u64::MAX));
    assert_eq!(*last.arg("corners"), Arg::List(vec![point(1.0, 1.0); 2]));
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Cycle {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
}

#[test]
fn ticks_of_a_known_clock_are_nanoseconds_in_the_file() {
    let folder = TempDir::new();
    let path = folder.path().join("run.pftrace");
    let config = Config::new()
        .set("path", path.to_str().expect("temporary folders are UTF-8"))
        .unwrap();
    let mut session = Session::begin(&Backend::embedded(), "run", &config).unwrap();
    let mut domain = session.default_domain().unwrap();
    let cycle = domain.schema::<Cycle>().unwrap();
    let load = domain.counter::<i64>("load").unwrap();
    let microseconds = domain
        .time_domain(TimeDomainOptions::new().ticks_per_second(1_000_000))
        .unwrap();
    let domain = domain.id();
    let slow = StreamOptions::new(domain).time_domain(microseconds);
    let mut slow = session.open_stream("slow", slow).unwrap();
    let mut fast = session
        .open_stream("fast", StreamOptions::new(domain))
        .unwrap();
    for stream in [&mut slow, &mut fast] {
        let out = session.writer(stream).unwrap();
        let cycles = out.events(cycle).unwrap();
        cycles
            .write_batch(&[Cycle { start: 1, end: 3 }, Cycle { start: 4, end: 4 }])
            .unwrap();
        cycles.write(&Cycle { start: 5, end: 9 }).unwrap();
        out.push(10).write().unwrap();
        out.pop(12).unwrap();
        out.mark(20).write().unwrap();
        let load = out.counter(load).unwrap();
        load.sample(30, 7).unwrap();
        load.no_value(31, NoValueReason::Zero).unwrap();
    }
    let out = session.writer(&mut slow).unwrap();
    let late = out.mark(i64::MAX).write().unwrap_err().at(&out);
    assert!(
        (late.to_string()).contains("is a time in nanoseconds which 64 bits don't hold"),
        "{late}"
    );
    session.end().unwrap();

    let trace = Trace::read(&path);
    let mut ranges: Vec<_> = (trace.ranges.iter())
        .map(|range| (range.start, range.end.expect("it ended")))
        .collect();
    ranges.sort_unstable();
    let fast = [(1, 3), (4, 4), (5, 9), (10, 12)];
    let slow = fast.map(|(start, end)| (start * 1000, end * 1000));
    assert_eq!(ranges, [fast, slow].concat());
    let mut marks: Vec<_> = trace.instants.iter().map(|mark| mark.start).collect();
    marks.sort_unstable();
    assert_eq!(marks, [20, 20_000]);
    let mut values: Vec<_> = trace.values.iter().map(|value| value.1).collect();
    values.sort_unstable();
    assert_eq!(values, [30, 31, 30_000, 31_000]);
}
