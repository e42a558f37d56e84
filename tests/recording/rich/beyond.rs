//! What Python cannot say.

use super::*;

/// Writes it all.
pub(super) fn beyond(
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
