//! The kinds of objects, and the backends that they are registered in.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use nvtxw::{
    Backend, Config, CounterOptions, DomainId, EnumLayout, EventKind, NvtxEvent, RecordLayout,
    ResourceId, Result, RowField, RowLayout, RowSchema, RowType, Session, StreamOptions, SyncPoint,
    TimeDomainOptions, TimestampType,
};

/// A backend.
pub struct Target {
    pub name: &'static str,
    format: &'static str,
    is_checked: bool,
}

const fn target(name: &'static str) -> Target {
    Target {
        name,
        format: name,
        is_checked: false,
    }
}

pub const TARGETS: &[Target] = &[
    target("perfetto"),
    target("chrome"),
    target("capture"),
    #[cfg(feature = "parquet")]
    target("parquet"),
    Target {
        name: "check",
        format: "capture",
        is_checked: true,
    },
];

/// A kind of object.
pub struct Case {
    pub name: &'static str,
    objects: usize,
    /// Gives each object a stream of its own.
    has_streams: bool,
    /// Registers that many objects in a session, uses each, and ends the session.
    run: fn(Place<'_>, usize) -> Result<()>,
}

impl Case {
    /// How many objects the shorter of the two runs has.
    pub fn objects_in(&self, target: &Target) -> usize {
        // Each stream writes several files there.
        match (target.format, self.has_streams) {
            ("parquet", true) => self.objects / 5,
            _ => self.objects,
        }
    }
}

const fn case(name: &'static str, objects: usize, run: fn(Place<'_>, usize) -> Result<()>) -> Case {
    Case {
        name,
        objects,
        has_streams: false,
        run,
    }
}

const fn streams(
    name: &'static str,
    objects: usize,
    run: fn(Place<'_>, usize) -> Result<()>,
) -> Case {
    Case {
        has_streams: true,
        ..case(name, objects, run)
    }
}

pub const CASES: &[Case] = &[
    case("domains", 100, domains),
    case("typed schemas", 100, typed_schemas),
    case("row layouts", 200, row_layouts),
    case("row layouts of one name", 100, namesakes),
    case("nested rows", 100, nested_rows),
    case("records", 100, records),
    case("enums", 100, enums),
    case("counters", 100, counters),
    case("counter groups", 100, counter_groups),
    case("strings", 200, strings),
    case("categories", 200, categories),
    case("scopes", 100, scopes),
    case("scopes in scopes", 100, nested_scopes),
    case("processes", 100, processes),
    case("named threads", 100, named_threads),
    case("resources", 200, resources),
    streams("open streams", 50, open_streams),
    streams("closed streams", 50, closed_streams),
    streams("streams of one scope", 50, streams_of_one_scope),
    streams("time domains", 100, time_domains),
    streams("time domains met one by one", 100, met_time_domains),
    case("sync points", 200, sync_points),
    case("sync points in one table", 400, sync_table),
    case("sync points that come late", 200, late_sync_points),
    case("sessions", 10, sessions),
    case("sessions at once", 10, sessions_at_once),
];

/// Where a case writes.
#[derive(Clone, Copy)]
struct Place<'a> {
    backend: &'a Backend,
    folder: &'a Path,
    format: &'a str,
}

impl Place<'_> {
    fn session(self, name: &str) -> Result<Session> {
        let path = self.folder.join(name);
        let config = Config::new()
            .set("path", &path.to_string_lossy())?
            .set("format", self.format)?;
        Session::begin(self.backend, name, &config)
    }
}

/// Runs all cases on a backend, each with n and 10n objects.
pub fn run(target: &str) {
    let target = TARGETS.iter().find(|known| known.name == target);
    let target = target.expect("a backend of the list");
    let backend = match target.is_checked {
        true => Backend::embedded().checked(),
        false => Backend::embedded(),
    };
    for case in CASES {
        let n = case.objects_in(target);
        for objects in [n, 10 * n] {
            let folder = Folder::new();
            let place = Place {
                backend: &backend,
                folder: &folder.0,
                format: target.format,
            };
            measured(case, place, objects);
        }
    }
    // Ends what is counted for the last one.
    let (backend, folder) = (&backend, Path::new(""));
    let place = Place {
        backend,
        folder,
        format: "",
    };
    measured(&case("nothing", 0, |_, _| Ok(())), place, 0);
}

/// A run of a case, up to the removal of its files. callgrind knows it by its name.
#[inline(never)]
fn measured(case: &Case, place: Place<'_>, objects: usize) {
    (case.run)(place, objects).unwrap_or_else(|error| panic!("{}: {error}", case.name));
}

/// A folder that is removed at the end: in memory, if the system has such a file system.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let parent = match memory.is_dir() {
            true => memory.to_owned(),
            false => env::temp_dir(),
        };
        let folder = parent.join(format!("nvtxw-bench-setup-{}", process::id()));
        fs::create_dir(&folder).expect("a folder for traces can be made");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A session with one domain, and a stream in it.
struct Trace {
    session: Session,
    domain: DomainId,
    stream: nvtxw::Stream,
}

impl Trace {
    fn new(place: Place<'_>) -> Result<Self> {
        let mut session = place.session("run")?;
        let domain = session.domain("sim")?.id();
        let stream = session.open_stream("main", StreamOptions::new(domain))?;
        Ok(Self {
            session,
            domain,
            stream,
        })
    }

    fn domain(&mut self) -> Result<nvtxw::Domain<'_>> {
        self.session.domain_at(self.domain)
    }

    fn writer(&mut self) -> Result<nvtxw::Writer<'_>> {
        self.session.writer(&mut self.stream)
    }

    fn end(self) -> Result<()> {
        self.session.end()
    }
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Sent {
    #[nvtx(timestamp)]
    time: i64,
    bytes: u64,
}

fn domains(place: Place<'_>, n: usize) -> Result<()> {
    let mut session = place.session("run")?;
    let mut ids = Vec::new();
    for i in 0..n {
        let domain = session.domain(&format!("domain {i}"))?;
        ids.push(domain.id());
    }
    for (i, id) in ids.into_iter().enumerate() {
        let name = format!("domain {i}");
        assert_eq!(session.domain(&name)?.id(), id);
        let string = session.domain_at(id)?.string(&name)?;
        assert_eq!(*session.describe(string)?.text, *name.as_bytes());
    }
    session.end()
}

fn typed_schemas(place: Place<'_>, n: usize) -> Result<()> {
    let mut session = place.session("run")?;
    for i in 0..n {
        let mut domain = session.domain(&format!("domain {i}"))?;
        let schema = domain.schema::<Sent>()?;
        assert_eq!(domain.schema::<Sent>()?, schema);
        session.describe(schema)?;
    }
    session.end()
}

fn layout(fields: usize) -> RowLayout {
    let layout = RowLayout::event(EventKind::Mark);
    let layout = layout.field(RowField::new("time", RowType::I64).timestamp());
    (0..fields).fold(layout, |layout, i| {
        layout.field(RowField::new(&format!("value {i}"), RowType::U64))
    })
}

/// One row of each layout, twice.
fn write_rows(trace: &mut Trace, layouts: &[RowSchema]) -> Result<()> {
    let out = trace.writer()?;
    for (time, layout) in (0..).zip(layouts.iter().chain(layouts)) {
        out.rows(*layout)?.write_rows(&[[time, 7_i64]])?;
    }
    Ok(())
}

fn row_layouts(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut layouts = Vec::new();
    for name in (0..n).map(|i| format!("layout {i}")) {
        let mut domain = trace.domain()?;
        let schema = domain.rows(&name, &layout(1))?;
        assert_eq!(domain.rows(&name, &layout(1))?, schema);
        layouts.push(schema);
        assert_eq!(*trace.session.describe(schema)?.name, *name);
    }
    write_rows(&mut trace, &layouts)?;
    trace.end()
}

fn namesakes(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut layouts = Vec::new();
    for i in 0..n {
        let field = RowField::new(&format!("value {i}"), RowType::U64);
        let layout = layout(0).field(field);
        let mut domain = trace.domain()?;
        let schema = domain.rows("layout", &layout)?;
        assert_eq!(domain.rows("layout", &layout)?, schema);
        layouts.push(schema);
    }
    write_rows(&mut trace, &layouts)?;
    trace.end()
}

fn nested_rows(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut layouts = Vec::new();
    for i in 0..n {
        let mut domain = trace.domain()?;
        let inner = RowLayout::payload().field(RowField::new("value", RowType::U64));
        let inner = domain.rows(&format!("inner {i}"), &inner)?;
        let outer = layout(0).field(RowField::new("inner", RowType::Row(inner)));
        layouts.push(domain.rows(&format!("outer {i}"), &outer)?);
    }
    write_rows(&mut trace, &layouts)?;
    trace.end()
}

fn records(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let schema = trace.domain()?.schema::<Sent>()?;
    let mut rows = Vec::new();
    for i in 0..n {
        let record = RecordLayout::new().i64("one").i64("other");
        let record = trace.domain()?.record(&format!("record {i}"), &record)?;
        rows.push(record.row());
    }
    let out = trace.writer()?;
    let events = out.events(schema)?;
    for (time, row) in (0..).zip(rows.iter().chain(&rows)) {
        events.write_with(&Sent { time, bytes: 1 }, row)?;
    }
    trace.end()
}

fn enums(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut layouts = Vec::new();
    for i in 0..n {
        let mut domain = trace.domain()?;
        let values = EnumLayout::new(8).value("idle", 0).value("busy", 7);
        let states = domain.enumeration(&format!("enum {i}"), &values)?;
        let layout = layout(0).field(RowField::new("state", RowType::Enumeration(states)));
        layouts.push(domain.rows(&format!("layout {i}"), &layout)?);
    }
    write_rows(&mut trace, &layouts)?;
    trace.end()
}

fn counters(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut counters = Vec::new();
    for name in (0..n).map(|i| format!("counter {i}")) {
        let mut domain = trace.domain()?;
        let counter = domain.counter::<u64>(&name)?;
        assert_eq!(domain.counter::<u64>(&name)?, counter);
        counters.push(counter);
        assert_eq!(*trace.session.describe(counter)?.name, *name);
    }
    let out = trace.writer()?;
    for (time, counter) in (0..).zip(counters.iter().chain(&counters)) {
        out.counter(*counter)?.sample(time, 7)?;
    }
    trace.end()
}

fn counter_groups(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut groups = Vec::new();
    for name in (0..n).map(|i| format!("group {i}")) {
        let layout = RowLayout::counters()
            .field(RowField::new("read", RowType::U64))
            .field(RowField::new("written", RowType::U64));
        let group = trace
            .domain()?
            .counter_rows(&name, &layout, CounterOptions::new())?;
        groups.push(group);
    }
    let out = trace.writer()?;
    for (time, group) in (0..).zip(groups.iter().chain(&groups)) {
        out.row_counter(*group)?.sample(time, &[7_u64, 9])?;
    }
    trace.end()
}

fn strings(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut strings = Vec::new();
    for text in (0..n).map(|i| format!("string {i}")) {
        let mut domain = trace.domain()?;
        let string = domain.string(&text)?;
        assert_eq!(domain.string(&text)?, string);
        strings.push(string);
        assert_eq!(*trace.session.describe(string)?.text, *text.as_bytes());
    }
    let out = trace.writer()?;
    for (time, string) in (0..).zip(strings.iter().chain(&strings)) {
        out.mark(time).message(*string).write()?;
    }
    trace.end()
}

fn categories(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut categories = Vec::new();
    for name in (0..n).map(|i| format!("category {i}")) {
        let mut domain = trace.domain()?;
        let category = domain.category(&name)?;
        assert_eq!(domain.category(&name)?, category);
        categories.push(category);
    }
    let out = trace.writer()?;
    for (time, category) in (0..).zip(categories.iter().chain(&categories)) {
        out.mark(time).category(*category).write()?;
    }
    trace.end()
}

/// One row in each scope, twice.
fn write_scopes(trace: &mut Trace, scopes: &[nvtxw::Scope]) -> Result<()> {
    let schema = trace.domain()?.rows("layout", &layout(1))?;
    let out = trace.writer()?;
    for (time, scope) in (0..).zip(scopes.iter().chain(scopes)) {
        out.rows(schema)?
            .scope(*scope)?
            .write_rows(&[[time, 7_i64]])?;
    }
    Ok(())
}

fn scopes(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut scopes = Vec::new();
    for path in (0..n).map(|i| format!("GPU/Engine[{i}]")) {
        let mut domain = trace.domain()?;
        let scope = domain.scope(&path)?;
        assert_eq!(domain.scope(&path)?, scope);
        scopes.push(scope);
        assert_eq!(*trace.session.describe(scope)?.path, *path);
    }
    write_scopes(&mut trace, &scopes)?;
    trace.end()
}

fn nested_scopes(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let parent = trace.domain()?.scope("GPU")?;
    let mut scopes = Vec::new();
    for i in 0..n {
        let scope = trace.domain()?.scope_in(parent, &format!("Engine {i}"))?;
        scopes.push(scope);
    }
    write_scopes(&mut trace, &scopes)?;
    trace.end()
}

fn processes(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut scopes = Vec::new();
    for i in 1..=n {
        let path = format!("Process[{i}]/Thread[{i}]");
        scopes.push(trace.domain()?.scope(&path)?);
    }
    write_scopes(&mut trace, &scopes)?;
    trace.end()
}

fn named_threads(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut scopes = Vec::new();
    for i in 1..=n {
        let mut domain = trace.domain()?;
        let thread = ResourceId::NativeThread(i as u64);
        domain.resource(thread, &*format!("worker {i}"))?;
        scopes.push(domain.scope(&format!("Process[1]/Thread[{i}]"))?);
    }
    write_scopes(&mut trace, &scopes)?;
    trace.end()
}

fn resources(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    for i in 0..n {
        let pool = ResourceId::Pointer(0x1000 + i as u64);
        trace.domain()?.resource(pool, &*format!("pool {i}"))?;
    }
    trace.end()
}

fn open_streams(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut streams = Vec::new();
    for i in 0..n {
        let options = StreamOptions::new(trace.domain);
        let mut stream = (trace.session).open_stream(&format!("stream {i}"), options)?;
        trace.session.writer(&mut stream)?.mark(1).write()?;
        streams.push(stream);
    }
    for stream in &mut streams {
        trace.session.writer(stream)?.mark(2).write()?;
    }
    trace.end()
}

fn closed_streams(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    for i in 0..n {
        let options = StreamOptions::new(trace.domain);
        let mut stream = (trace.session).open_stream(&format!("stream {i}"), options)?;
        trace.session.writer(&mut stream)?.mark(1).write()?;
        trace.session.close_stream(stream)?;
    }
    trace.end()
}

fn streams_of_one_scope(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let scope = trace.domain()?.scope("GPU")?;
    let mut streams = Vec::new();
    for i in 0..n {
        let options = StreamOptions::new(trace.domain).scope(scope);
        let mut stream = (trace.session).open_stream(&format!("stream {i}"), options)?;
        let out = trace.session.writer(&mut stream)?;
        out.pushpop(1, 3).write()?;
        streams.push(stream);
    }
    trace.end()
}

fn point(source: i64, destination: i64) -> SyncPoint {
    SyncPoint {
        source,
        destination,
    }
}

/// Clocks that are related to one, each with a stream.
fn time_domains(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut clocks = Vec::new();
    for _ in 0..n {
        let options = TimeDomainOptions::new().ticks_per_second(1000);
        let clock = trace.domain()?.time_domain(options)?;
        assert_eq!(trace.session.describe(clock)?, options);
        clocks.push(clock);
    }
    let out = trace.writer()?;
    for (i, clock) in (0..).zip(&clocks) {
        out.sync_point(*clock, TimestampType::ClockMonotonic, point(0, i))?;
    }
    let mut streams = Vec::new();
    for (i, clock) in clocks.iter().enumerate() {
        let options = StreamOptions::new(trace.domain).time_domain(*clock);
        let mut stream = (trace.session).open_stream(&format!("stream {i}"), options)?;
        trace.session.writer(&mut stream)?.mark(1).write()?;
        streams.push(stream);
    }
    trace.end()
}

/// The same, but each clock comes when the ones before are in use.
fn met_time_domains(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let mut streams = Vec::new();
    for i in 0..n {
        let options = TimeDomainOptions::new().ticks_per_second(1000);
        let clock = trace.domain()?.time_domain(options)?;
        let options = StreamOptions::new(trace.domain).time_domain(clock);
        let mut stream = (trace.session).open_stream(&format!("stream {i}"), options)?;
        let out = trace.session.writer(&mut stream)?;
        out.sync_point(clock, TimestampType::ClockMonotonic, point(0, i as i64))?;
        out.mark(1).write()?;
        streams.push(stream);
    }
    trace.end()
}

/// A clock with a resolution, and a stream of it.
fn clock(trace: &mut Trace) -> Result<(nvtxw::TimeDomain, nvtxw::Stream)> {
    let options = TimeDomainOptions::new().ticks_per_second(1_000_000);
    let clock = trace.domain()?.time_domain(options)?;
    let options = StreamOptions::new(trace.domain).time_domain(clock);
    Ok((clock, trace.session.open_stream("GPU", options)?))
}

/// One by one, with an event behind each.
fn sync_points(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let (clock, mut stream) = clock(&mut trace)?;
    let out = trace.session.writer(&mut stream)?;
    for i in 0..n as i64 {
        let at = i * 1000;
        out.sync_point(
            clock,
            TimestampType::ClockMonotonic,
            point(at, at * 1000 + i % 7),
        )?;
        out.mark(at + 1).write()?;
    }
    trace.end()
}

fn sync_table(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let (clock, mut stream) = clock(&mut trace)?;
    let out = trace.session.writer(&mut stream)?;
    let at = |i: i64| point(i * 1000, i * 1_000_000 + i % 7);
    let points: Vec<_> = (0..n as i64).map(at).collect();
    out.sync_points(clock, TimestampType::ClockMonotonic, &points)?;
    for i in 0..n as i64 {
        out.mark(i * 1000 + 1).write()?;
    }
    trace.end()
}

/// Events first, and the points from the last to the first.
fn late_sync_points(place: Place<'_>, n: usize) -> Result<()> {
    let mut trace = Trace::new(place)?;
    let (clock, mut stream) = clock(&mut trace)?;
    let out = trace.session.writer(&mut stream)?;
    for i in 0..n as i64 {
        out.mark(i * 1000 + 1).write()?;
    }
    for i in (0..n as i64).rev() {
        let at = i * 1000;
        out.sync_point(
            clock,
            TimestampType::ClockMonotonic,
            point(at, at * 1000 + i % 7),
        )?;
    }
    trace.end()
}

fn sessions(place: Place<'_>, n: usize) -> Result<()> {
    for i in 0..n {
        place.session(&format!("run {i}"))?.end()?;
    }
    Ok(())
}

fn sessions_at_once(place: Place<'_>, n: usize) -> Result<()> {
    let names = (0..n).map(|i| format!("run {i}"));
    let sessions = names.map(|name| place.session(&name));
    for session in sessions.collect::<Result<Vec<_>>>()? {
        session.end()?;
    }
    Ok(())
}
