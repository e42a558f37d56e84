//! The rich trace: every kind of call that the producer makes, with values that tell fields apart. `interop/rich.py` writes
//! the same as far as Python can say it.

use nvtxw::{
    Argb, Backend, BatchOrdering, CategoryId, Config, CounterOptions, CounterSemantics,
    DefaultScope, Domain, DomainId, EnumLayout, EventKind, Flags, FlexPool, FlexStr, Interpolation,
    Interval, Limit, NoValueReason, RangeId, RecordLayout, RegisteredString, ResourceId, Result,
    RowField, RowLayout, RowType, SampleTimes, Scope, ScopeParent, Session, Skid, StaticId, Stream,
    StreamInterleaving, StreamOptions, StreamOrdering, StringHandle, SyncPoint, TimeDomainOptions,
    TimerStart, TimestampType, ValueType, Writer,
};

use crate::types::{
    Access, Begin, Copy, Cycle, Direction, Draw, Enter, Finish, Frame, Kernel, Launch, Leave, Line,
    Memory, Point, Power, Statement,
};

/// What both producers register in the domain `sim`, in this order.
struct Names {
    domain: DomainId,
    gemm: RegisteredString,
    relu: RegisteredString,
    engine: Scope,
    queue: Scope,
    io: CategoryId,
    net: CategoryId,
}

impl Names {
    fn register(sim: &mut Domain<'_>) -> Result<Self> {
        let gemm = sim.string("gemm")?;
        let relu = sim.string("größe 한강")?;
        let engine = sim.scope("GPU[0]/Engine[1]")?;
        let queue = sim.scope_in(engine, r"queue \[high\]")?;
        sim.scope_in(ScopeParent::CurrentMachine, "socket")?;
        sim.scope_in(ScopeParent::CurrentVm, "process")?;
        sim.scope_in(ScopeParent::None, "alone")?;
        // Asked for again, they are not registered again.
        assert_eq!(sim.string("gemm")?, gemm);
        assert_eq!(sim.scope("GPU[0]/Engine[1]")?, engine);
        let net = sim.claim_category(1)?;
        let io = sim.category("io")?;
        Ok(Self {
            domain: sim.id(),
            gemm,
            relu,
            engine,
            queue,
            io,
            net,
        })
    }
}

/// Notes what a backend doesn't support, and goes on without it.
fn degrade(result: Result<()>, what: &'static str, missed: &mut Vec<&'static str>) -> Result<()> {
    match result {
        Err(error) if error.is_not_supported() => {
            missed.push(what);
            Ok(())
        }
        result => result,
    }
}

/// Writes the trace; gives what the backend doesn't support.
pub fn write(backend: &Backend, config: Config) -> Result<Vec<&'static str>> {
    let config = config.set("mode", "full")?.set("level", "3")?;
    let mut session = Session::begin(backend, "rich", &config)?;
    let mut sim = session.domain("sim")?;
    let names = Names::register(&mut sim)?;

    let mut host = session.open_stream("host", StreamOptions::new(names.domain))?;
    plain(&session.writer(&mut host)?, &names)?;

    let options = StreamOptions::new(names.domain)
        .scope(names.engine)
        .time_domain(TimestampType::ClockMonotonic)
        .interleaving(StreamInterleaving::Scope)
        .ordering(StreamOrdering::PackedRangeStart)
        .skid(Skid::TimeNs, 1000)
        .batch_ordering(BatchOrdering::Sorted)
        .plain_events(false);
    let mut gpu = session.open_stream("gpu", options)?;
    typed(&mut session, &mut gpu, &names)?;
    counters(&mut session, &mut host, &names)?;

    let default = session.default_domain()?.id();
    let options = StreamOptions::new(default)
        .scope(DefaultScope::Root)
        .time_domain(TimestampType::GpuGlobaltimer)
        .ordering(StreamOrdering::Strict)
        .skid(Skid::EventCount, 2);
    let mut log = session.open_stream("log", options)?;
    session
        .writer(&mut log)?
        .mark(-1)
        .message("before zero")
        .write()?;

    rows(&mut session, &mut gpu, &names)?;
    let mut missed = Vec::new();
    beyond(&mut session, &mut gpu, &names, &mut missed)?;
    session.close_stream(host)?;
    session.end()?;
    Ok(missed)
}

/// Plain events: each kind with text and with a registered string; all attributes.
fn plain(out: &Writer<'_>, names: &Names) -> Result<()> {
    out.mark(100).message("begin").category(names.net).write()?;
    out.mark(101)
        .message(names.gemm)
        .color(Argb::from_u32(0xFF11_2233))
        .category(names.io)
        .write()?;
    out.mark(102).write()?;
    out.mark(103)
        .message("한강")
        .color(Argb::new(0x80, 1, 2, 3))
        .category(names.net)
        .write()?;
    out.mark(104)
        .message(&b"bytes"[..])
        .color(Argb::named("darkgreen").expect("it has that name"))
        .write()?;
    out.pushpop(200, 300)
        .message("frame")
        .color(Argb::from_u32(0xFF00_8000))
        .write()?;
    out.pushpop(210, 290).message(names.relu).write()?;
    out.startend(400, 500)
        .message("copy")
        .category(names.io)
        .write()?;
    out.startend(450, 550).message(names.gemm).write()?;
    out.push(600).message("outer").write()?;
    out.push(610).message(names.gemm).write()?;
    out.pop(620)?;
    out.pop(630)?;
    let (first, second) = (
        RangeId::new(42).expect("not 0"),
        RangeId::new(u64::MAX).expect("not 0"),
    );
    out.start(700, first).message("dma").write()?;
    out.start(710, second).message(names.relu).write()?;
    out.end(720, first)?;
    out.end(730, second)?;
    Ok(())
}

fn kernel(names: &Names, index: u32) -> Kernel {
    let time = 1000 + 100 * i64::from(index);
    Kernel {
        start: time,
        end: time + 60,
        name: if index == 1 {
            names.relu.handle()
        } else {
            names.gemm.handle()
        },
        engine: names.queue.id(),
        color: Argb::from_u32(0xFF00_0000 + index),
        category: names.io,
        grid: [index + 1, 2, 0xFFFF_FFFF],
        warps: 0x1234,
        level: -7,
        flags: 0x85,
        flops: 0.125,
        ratio: -1.5,
        delta: -2_000_000_000,
        total: u64::MAX - u64::from(index),
        file: StringHandle::NONE,
        steps: [-1, 2, -3, 4],
    }
}

/// Typed events of all seven kinds, one by one and in batches of every order.
fn typed(session: &mut Session, gpu: &mut Stream, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let kernel_schema = sim.schema::<Kernel>()?;
    let frame_schema = sim.schema::<Frame>()?;
    let launch_schema = sim.schema::<Launch>()?;
    let enter_schema = sim.schema::<Enter>()?;
    let leave_schema = sim.schema::<Leave>()?;
    let begin_schema = sim.schema::<Begin>()?;
    let finish_schema = sim.schema::<Finish>()?;

    let out = session.writer(gpu)?;
    let kernels = out.events(kernel_schema)?;
    kernels.write(&kernel(names, 0))?;
    kernels.write_batch(&[kernel(names, 1), kernel(names, 2), kernel(names, 3)])?;
    let frames = out.events(frame_schema)?.ordering(BatchOrdering::Unsorted);
    let frame = |depth, start, end| Frame {
        depth,
        start,
        end,
        name: names.gemm.handle(),
    };
    frames.write(&frame(9, 2000, 2100))?;
    frames.write_batch(&[frame(1, 2210, 2220), frame(0, 2200, 2300)])?;
    let launches = out.events(launch_schema)?;
    launches.write(&Launch {
        time: (1 << 62) + 1,
        bytes: 7,
    })?;
    let batch = [
        Launch {
            time: 3000,
            bytes: 1,
        },
        Launch {
            time: 3001,
            bytes: 2,
        },
    ];
    launches
        .ordering(BatchOrdering::SortedPartially)
        .write_batch(&batch)?;
    out.events(launch_schema)?
        .ordering(BatchOrdering::SortedPerScope)
        .write_batch(&batch)?;
    out.events(enter_schema)?.write(&Enter {
        time: 4000,
        name: names.relu.handle(),
    })?;
    out.events(leave_schema)?.write(&Leave {
        time: 4100,
        status: -1,
    })?;
    let id = RangeId::new(77).expect("not 0");
    out.events(begin_schema)?.write(&Begin {
        time: 5000,
        id,
        name: names.gemm.handle(),
    })?;
    out.events(finish_schema)?
        .write(&Finish { id, time: 5100 })?;
    Ok(())
}

/// Counters and groups: samples one by one, without a value, in batches with their times beside them and inside.
fn counters(session: &mut Session, host: &mut Stream, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let options = CounterOptions::new()
        .description("commands that wait")
        .scope(names.queue)
        .unit("commands")
        .scale(3, 1000)
        .min(Limit::I64(-5))
        .max(Limit::I64(1 << 40))
        .value_type(ValueType::DeltaSinceStart)
        .interpolation(Interpolation::SinceLast);
    let queue = sim.counter_with::<i64>("queue depth", options)?;
    let load = sim.counter::<f64>("load")?;
    let total = sim.counter::<u64>("total")?;
    let limited = CounterOptions::new()
        .min(Limit::F64(-0.5))
        .value_type(ValueType::Absolute)
        .interpolation(Interpolation::Point);
    let celsius = sim.counter_with::<f64>("temperature", limited)?;
    let memory = sim.counter_group_with::<Memory>(
        "memory",
        CounterOptions::new().description("of the device"),
    )?;
    let power = sim.counter_group::<Power>("power")?;

    let out = session.writer(host)?;
    let depth = out.counter(queue)?;
    depth.sample(100, -5)?;
    depth.no_value(110, NoValueReason::Zero)?;
    depth.no_value(111, NoValueReason::Unchanged)?;
    depth.no_value(112, NoValueReason::Unavailable)?;
    depth.write_batch(&[200, 201, 202], &[1, i64::MIN, i64::MAX])?;
    let loads = out.counter(load)?;
    loads.sample(100, 45.25)?;
    loads
        .ordering(BatchOrdering::Sorted)
        .write_batch(&[200, 201], &[0.5, -0.25])?;
    out.counter(total)?.sample(100, u64::MAX)?;
    out.counter(celsius)?.sample(100, -40.0)?;
    let memories = out.counter(memory)?;
    memories.sample(
        150,
        &Memory {
            used: 1,
            load: 0.5,
            faults: -1,
            pages: 4,
        },
    )?;
    let batch = [
        Memory {
            used: 2,
            load: 0.75,
            faults: 1,
            pages: 5,
        },
        Memory {
            used: 3,
            load: 1.0,
            faults: 0,
            pages: 6,
        },
    ];
    memories.write_batch(&[160, 170], &batch)?;
    let power = out.counter(power)?;
    power.write_batch_embedded(&[
        Power {
            watts: 1.5,
            fans: 2,
            time: 180,
        },
        Power {
            watts: -2.5,
            fans: 3,
            time: 190,
        },
    ])?;
    Ok(())
}

/// Layouts that the program finds out while it runs, as NumPy's are.
fn rows(session: &mut Session, gpu: &mut Stream, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let query = RowLayout::event(EventKind::RangeStartEnd)
        .field(RowField::new("table", RowType::U8))
        .field(RowField::new("start", RowType::I64).timestamp_start())
        .field(RowField::new("end", RowType::I64).timestamp_end())
        .field(RowField::new("color", RowType::U32).color())
        .field(RowField::new("category", RowType::U32).category())
        .field(RowField::new("cells", RowType::I16).array(3))
        .packed();
    let query = sim.rows("query", &query)?;
    let open = RowLayout::event(EventKind::RangeStart)
        .field(RowField::new("time", RowType::I64).timestamp_start())
        .field(RowField::new("id", RowType::U64).range_id());
    let open = sim.rows("open", &open)?;
    let channel = RowLayout::counters()
        .field(RowField::new("time", RowType::I64).timestamp())
        .field(
            RowField::new("read", RowType::U32).semantics(
                CounterSemantics::new()
                    .unit("bytes")
                    .value_type(ValueType::Absolute)
                    .interpolation(Interpolation::Point),
            ),
        )
        .field(RowField::new("busy", RowType::F32));
    let channel = sim.counter_rows("channel", &channel, CounterOptions::new())?;

    let out = session.writer(gpu)?;
    let queries = out.rows(query)?;
    let mut bytes = Vec::new();
    for start in [7000_i64, 7100] {
        bytes.push(3);
        bytes.extend(start.to_ne_bytes());
        bytes.extend((start + 50).to_ne_bytes());
        bytes.extend(0xFF00_00FF_u32.to_ne_bytes());
        bytes.extend(names.io.to_u32().to_ne_bytes());
        bytes.extend([-1_i16, 2, -3].map(i16::to_ne_bytes).concat());
    }
    queries.write_bytes(&bytes)?;
    // Starts have no batches: each is a call of its own.
    out.rows(open)?.write_rows(&[[7200_u64, 1], [7201, 2]])?;
    let busy = f32::to_bits(0.5);
    out.row_counter(channel)?.write_rows(
        SampleTimes::Embedded,
        &[[7300_u32, 0, 9, busy], [7301, 0, 10, busy]],
    )
}

/// What Python cannot say.
fn beyond(
    session: &mut Session,
    gpu: &mut Stream,
    names: &Names,
    missed: &mut Vec<&'static str>,
) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let copy = sim.schema::<Copy>()?;
    let arguments = RecordLayout::new()
        .i64("external id")
        .u64("bytes")
        .f64("blocks per SM")
        .bool("async")
        .string("kind")
        .correlation("launch")
        .hidden_correlation("other", "launch");
    let arguments = sim.record("arguments", &arguments)?;
    let mut row = arguments.row();
    row.set(0, -17_i64)?;
    row.set(1, 99_u64)?;
    row.set(2, 0.75)?;
    row.set(3, true)?;
    row.set(4, names.gemm)?;
    row.set(5, 11_u64)?;
    let out = session.writer(gpu)?;
    let copies = out.events(copy)?;
    let event = |time| Copy {
        time,
        sent: 4096,
        wide: -1 - (1 << 70),
        wider: u128::MAX,
        launch: 11,
        address: 0xDEAD_BEEF,
        flags: [true, false, true, true],
        done: true,
        _reserved: [0; 11],
    };
    copies.write(&event(6000))?;
    copies.write_with(&event(6001), &row)?;
    copies.scope(names.queue)?.write_batch(&[event(6002)])?;

    derived(session, gpu, names)?;
    degrade(flexible(session, gpu, names), "flexible data", missed)?;
    nested(session, gpu, names)?;
    named(session, names)?;
    timed(session, gpu, names, missed)
}

/// Structs and enums inside events, and structs beside them.
fn derived(session: &mut Session, gpu: &mut Stream, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let draw_schema = sim.schema::<Draw>()?;
    let point_schema = sim.payload_schema::<Point>()?;

    let out = session.writer(gpu)?;
    let draws = out.events(draw_schema)?;
    let (from, to) = (Point { x: 0.5, y: -0.5 }, Point { x: 1.5, y: 2.0 });
    let line = |direction| Line {
        ends: [from, to],
        direction,
        _reserved: 0,
        access: Flags::from(Access::Read) | Access::Execute,
    };
    let draw = |time, direction| Draw {
        time: Cycle(time),
        line: line(direction),
        letter: 'ß',
        label: *b"rule\0\0\0\0",
        launch: 11,
    };
    draws.write_batch(&[
        draw(9000, Direction::HostToDevice),
        draw(9001, Direction::Unknown),
    ])?;
    draws.write_with(
        &draw(9002, Direction::DeviceToHost),
        (point_schema.payload(&from), point_schema.payload(&to)),
    )?;
    Ok(())
}

/// Text of any length.
fn flexible(session: &mut Session, gpu: &mut Stream, names: &Names) -> Result<()> {
    let schema = session.domain_at(names.domain)?.schema::<Statement>()?;
    let out = session.writer(gpu)?;
    let statements = out.events(schema)?;
    let mut pool = FlexPool::new();
    let select = pool.push("SELECT größe FROM t");
    let scan = pool.push("scan");
    let statement = |start, plan| Statement {
        start,
        end: start + 5,
        text: select,
        rows: 3,
        plan,
    };
    statements.write_batch_flex(
        &[statement(9100, scan), statement(9200, FlexStr::EMPTY)],
        &pool,
    )?;
    statements
        .write_flex(&statement(9300, scan), &pool)
        .map_err(|error| error.at(&statements))
}

/// Layouts in layouts, with names for values.
fn nested(session: &mut Session, gpu: &mut Stream, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let state = sim.enumeration(
        "state",
        &EnumLayout::new(2)
            .value("idle", 0)
            .value("busy", 1)
            .value("failed", 0xFFFF),
    )?;
    let access = EnumLayout::new(1)
        .value("read", 1)
        .value("write", 2)
        .flags();
    let access = sim.enumeration("access", &access)?;
    let peer = RowLayout::payload()
        .field(RowField::new("address", RowType::U8).array(4))
        .field(RowField::new("state", RowType::Enumeration(state)))
        .field(RowField::new("access", RowType::Enumeration(access)).array(2));
    let peer = sim.rows("peer", &peer)?;
    let request = RowLayout::event(EventKind::Mark)
        .field(RowField::new("time", RowType::I64).timestamp())
        .field(RowField::new("from", RowType::Row(peer)))
        .field(RowField::new("path", RowType::Text(7)).description("cut to fit"))
        .field(RowField::new("secure", RowType::Bool))
        .field(RowField::new("key", RowType::Char).hidden())
        .field(RowField::new("launch", RowType::U32).correlation("launch"));
    let request = sim.rows("request", &request)?;

    #[derive(Clone, Copy, bytemuck::NoUninit)]
    #[repr(C)]
    struct Peer {
        address: [u8; 4],
        state: u16,
        access: [u8; 2],
    }
    #[derive(Clone, Copy, bytemuck::NoUninit)]
    #[repr(C)]
    struct Request {
        time: i64,
        from: Peer,
        path: [u8; 7],
        secure: u8,
        key: char,
        launch: u32,
    }
    let peer_row = Peer {
        address: [127, 0, 0, 1],
        state: 0xFFFF,
        access: [1, 3],
    };
    let row = |time| Request {
        time,
        from: peer_row,
        path: *b"/a\0\0\0\0\0",
        secure: 1,
        key: '한',
        launch: 11,
    };
    let out = session.writer(gpu)?;
    let requests = out.rows(request)?;
    requests.write_rows(&[row(8000), row(8001)])?;
    requests.write_with(
        &row(8002),
        (
            peer.payload(&peer_row)?,
            peer.payload_bytes(&[10, 0, 0, 2, 1, 0, 0, 2])?,
        ),
    )
}

/// Numbers of the caller's own, and names of objects.
fn named(session: &mut Session, names: &Names) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    sim.category_at(9, "disk")?;
    let id = |id| StaticId::new(id).expect("2^24 or more");
    let fixed = sim.scope_at(id(1 << 24), names.engine, "fixed")?;
    sim.counter_with::<i32>(
        "fixed",
        CounterOptions::new()
            .scope(fixed)
            .static_id(id(17 << 20))
            .max(Limit::I64(i32::MAX.into()))
            .normalize(),
    )?;
    let layout = RowLayout::payload()
        .field(RowField::new("x", RowType::F64).at(8))
        .size(24)
        .static_id(id(99 << 20));
    sim.rows("fixed", &layout)?;
    sim.resource(ResourceId::Pointer(0x7F00_DEAD_B000), "frame pool")?;
    sim.resource(ResourceId::Handle(3), names.relu)?;
    sim.resource(ResourceId::NativeThread(4711), "decoder")?;
    sim.resource(ResourceId::PosixThread(0x7FFF_0001), "encoder")?;
    sim.resource(
        ResourceId::Other {
            identifier_type: 0x0004_0002,
            identifier: u64::MAX,
        },
        "context",
    )
}

/// Clocks, how they relate, and samples at equal distances.
fn timed(
    session: &mut Session,
    gpu: &mut Stream,
    names: &Names,
    missed: &mut Vec<&'static str>,
) -> Result<()> {
    let mut sim = session.domain_at(names.domain)?;
    let ticks = sim.time_domain(
        TimeDomainOptions::new()
            .clock(TimestampType::GpuGlobaltimer)
            .ticks_per_second(31_250_000)
            .start(TimerStart::UnixEpoch)
            .monotonic()
            .steady()
            .scope(names.engine),
    )?;
    let fixed = StaticId::new(1 << 24).expect("2^24 or more");
    let unknown = sim.time_domain(TimeDomainOptions::new().static_id(fixed))?;
    let load = sim.counter::<f32>("single load")?;
    let power = sim.counter_group::<Power>("power")?;
    let (domain, options) = (
        sim.id(),
        StreamOptions::new(names.domain).plain_events(false),
    );
    assert_eq!(domain, names.domain);
    let clocked = session.open_stream("clocked", options.time_domain(ticks))?;

    let out = session.writer(gpu)?;
    let point = |source, destination| SyncPoint {
        source,
        destination,
    };
    let one = out.sync_point(ticks, TimestampType::ClockMonotonic, point(-7, 1_000_000));
    degrade(one, "sync point", missed)?;
    let table = out.sync_points(ticks, unknown, &[point(31_250, 1), point(62_500, i64::MAX)]);
    degrade(table, "sync points", missed)?;
    let slope = out.conversion(unknown, TimestampType::CpuTsc, 0.5, point(4, -4));
    degrade(slope, "conversion", missed)?;
    let loads = out.counter(load)?;
    let begin = loads.write_batch_interval(Interval::from_begin(1000, 10), &[0.5, 0.75]);
    degrade(begin.map_err(|error| error.at(&loads)), "interval", missed)?;
    let loads = loads.ordering(BatchOrdering::Sorted);
    let end = loads.write_batch_interval(Interval::from_end(2000, 5), &[-1.0]);
    degrade(end.map_err(|error| error.at(&loads)), "interval", missed)?;
    let powers = out.counter(power)?;
    powers.sample_embedded(&Power {
        watts: 0.5,
        fans: 1,
        time: 2100,
    })?;
    powers.sample_at(
        2200,
        &Power {
            watts: 0.5,
            fans: 1,
            time: 1,
        },
    )?;
    powers.write_batch_at(
        &[2300],
        &[Power {
            watts: 0.5,
            fans: 1,
            time: 2,
        }],
    )?;
    session.close_stream(clocked)?;
    Ok(())
}
