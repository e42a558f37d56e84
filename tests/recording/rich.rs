//! The rich trace: every kind of call that the producer makes, with values that tell fields apart. `interop/rich.py` writes
//! the same as far as Python can say it.

mod beyond;

use nvtxw::{
    Argb, Backend, BatchOrdering, CategoryId, Config, CounterOptions, CounterSemantics,
    DefaultScope, Domain, DomainId, EnumLayout, EventKind, Flags, FlexPool, FlexStr, Interpolation,
    Interval, Limit, NoValueReason, RangeId, RecordLayout, RegisteredString, ResourceId, Result,
    RowField, RowLayout, RowType, SampleTimes, Scope, ScopeParent, Session, Skid, StaticId, Stream,
    StreamInterleaving, StreamOptions, StreamOrdering, StringHandle, SyncPoint, TimeDomainOptions,
    TimerStart, TimestampType, ValueType, Writer,
};

use self::beyond::beyond;
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
