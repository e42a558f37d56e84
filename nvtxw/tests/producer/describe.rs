//! What registered things tell of themselves.

use nvtxw::{
    CounterOptions, EventKind, Limit, NvtxEvent, RowField, RowLayout, RowType, SchemaRole,
    ScopeParent, TimeDomainOptions, TimestampType,
};

use crate::recorder;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Tick {
    #[nvtx(timestamp)]
    time: i64,
}

#[test]
fn everything_that_was_registered_is_there() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let gpu = domain.scope("GPU 0").unwrap();
    let engine = domain.scope_in(gpu, "engine[3]").unwrap();
    let root = domain.scope_in(ScopeParent::Root, "x").unwrap();
    let options = CounterOptions::new()
        .description("jobs that wait")
        .scope(engine)
        .unit("jobs")
        .max(Limit::U64(7));
    let queue = domain
        .counter_with::<u16>("queue", options.clone())
        .unwrap();
    let tick = domain.schema::<Tick>().unwrap();
    let layout =
        RowLayout::event(EventKind::Mark).field(RowField::new("t", RowType::I64).timestamp());
    let rows = domain.rows("rows", &layout).unwrap();
    let layout = RowLayout::counters().field(RowField::new("v", RowType::F32));
    let group = domain
        .counter_rows("group", &layout, CounterOptions::new())
        .unwrap();
    let gemm = domain.string("gemm").unwrap();
    let clock = TimeDomainOptions::new().clock(TimestampType::WinQpc);
    let time_domain = domain.time_domain(clock).unwrap();
    let compute = domain.category("compute").unwrap();
    assert_eq!(domain.category_name(compute).as_deref(), Some("compute"));
    assert_eq!(domain.category_name(nvtxw::CategoryId::NONE), None);

    let info = session.describe(queue).unwrap();
    assert_eq!((info.id, &*info.name), (queue.id(), "queue"));
    assert_eq!((info.scope, info.schema_id), (engine.id(), 14));
    assert_eq!((&*info.sample, info.options), ("uint16", options));
    let info = session.describe(group).unwrap();
    assert_eq!((info.id, &*info.name), (group.id(), "group"));
    assert_eq!(info.sample, "group `group`");
    let schema_id = info.schema_id;

    let info = session.describe(tick).unwrap();
    assert_eq!((&*info.name, info.row_size), ("Tick", 8));
    assert_eq!(info.role, SchemaRole::Event(EventKind::Mark));
    assert_eq!(info.id, tick.id());
    let info = session.describe(rows).unwrap();
    assert_eq!((info.id, &*info.name), (rows.id(), "rows"));
    assert_ne!(rows.id(), schema_id);

    let info = session.describe(engine).unwrap();
    assert_eq!((info.id, &*info.path), (engine.id(), "engine[3]"));
    assert_eq!(info.parent, gpu.id());
    assert_eq!(session.describe(root).unwrap().parent.to_u64(), 1);
    let info = session.describe(gemm).unwrap();
    assert_eq!((info.handle, &*info.text), (gemm.handle(), &b"gemm"[..]));
    assert!(format!("{info:?}").ends_with("text: \"gemm\" }"));
    assert_eq!(session.describe(time_domain).unwrap(), clock);
}

#[test]
fn things_of_another_session_are_not_told_of() {
    let mut one = recorder::session("one");
    let queue = one.domain("sim").unwrap().counter::<i64>("queue").unwrap();
    let two = recorder::session("two");
    assert_eq!(
        two.describe(queue).unwrap_err().to_string(),
        "the given counter belongs to session `one`; it was asked for in session `two`: use it where it belongs, or register \
         it there too"
    );
    drop(one);
    assert_eq!(
        two.describe(queue).unwrap_err().to_string(),
        "the given counter belongs to a session that has ended; it was asked for in session `two`: use it where it belongs, \
         or register it there too"
    );
}
