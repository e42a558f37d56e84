//! What a write makes happen: one call into the backend, and no allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;
use std::hint::black_box;

use nvtxw::abi::raw::{
    NVTXW_RESULT_FAILED, NVTXW_RESULT_SUCCESS, nvtxCounterBatch_t, nvtxEventBatch_t,
    nvtxwInterface_v2_t, nvtxwResultCode_t, nvtxwStreamHandle_t,
};
use nvtxw::{
    Argb, Backend, BatchOrdering, CategoryId, Config, CounterOptions, EventKind, FlexPool, FlexStr,
    Interval, NoValueReason, NvtxCounterGroup, NvtxEvent, NvtxPayload, RangeId, RecordLayout,
    ResultCode, RowField, RowLayout, RowType, Session, Stream, StreamOptions, StringHandle,
    SyncPoint, TimeDomainOptions, TimestampType, WriteError,
};

#[path = "benches/overhead/table.rs"]
mod table;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Calls that write.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// Where the rows of the last batch are, and how many bytes.
    static ROWS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// What a call that writes answers.
    static ANSWER: Cell<nvtxwResultCode_t> = const { Cell::new(NVTXW_RESULT_SUCCESS) };
}

/// The system's allocator, which counts what each thread takes from it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY:
// - Everything is passed on to the system's allocator, which keeps the contract; counting touches no memory of its.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY:
        // - The caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY:
        // - The caller's promise is the one that is asked for: the block came from the same allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY:
        // - The caller's promise is the one that is asked for: the block came from the same allocator.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// A function that counts itself as a call that writes.
macro_rules! counted {
    ($($ty:ident),+) => {{
        unsafe extern "C" fn member<$($ty),+>($(_: $ty),+) -> nvtxwResultCode_t {
            written()
        }
        Some(member)
    }};
}

static TABLE: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
    EventWrite: counted!(A, B, C),
    EventBatchWrite: Some(event_batch_write),
    CounterWrite: counted!(A, B, C, D, E),
    CounterNoValueWrite: counted!(A, B, C, D),
    CounterBatchWrite: Some(counter_batch_write),
    TimeSyncPointWrite: counted!(A, B, C, D, E),
    TimeSyncPointTableWrite: counted!(A, B, C, D, E),
    TimestampConversionFactorWrite: counted!(A, B, C, D, E, F),
    ..table::TABLE
};

fn written() -> nvtxwResultCode_t {
    CALLS.set(CALLS.get() + 1);
    ANSWER.get()
}

unsafe extern "C" fn event_batch_write(
    _: nvtxwStreamHandle_t,
    batch: *const nvtxEventBatch_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The ABI says that the batch is there through the call.
    let batch = unsafe { &*batch };
    ROWS.set((batch.events.addr(), batch.size));
    written()
}

unsafe extern "C" fn counter_batch_write(
    _: nvtxwStreamHandle_t,
    batch: *const nvtxCounterBatch_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The ABI says that the batch is there through the call.
    let batch = unsafe { &*batch };
    ROWS.set((batch.counters.addr(), batch.countersSize));
    written()
}

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Step {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
}

const STEP: Step = Step {
    start: 1,
    end: 2,
    name: StringHandle::NONE,
};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Query {
    #[nvtx(timestamp)]
    time: i64,
    #[nvtx(message, flex)]
    text: FlexStr,
}

#[derive(NvtxPayload, Clone, Copy)]
#[repr(C)]
struct Peer {
    address: [u8; 4],
    port: u32,
}

const PEER: Peer = Peer {
    address: [127, 0, 0, 1],
    port: 80,
};

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Channel {
    read: u64,
    busy: f64,
}

const CHANNEL: Channel = Channel { read: 1, busy: 0.5 };

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Reading {
    #[nvtx(timestamp)]
    time: i64,
    value: f32,
    limit: f32,
}

const READING: Reading = Reading {
    time: 1,
    value: 0.5,
    limit: 1.0,
};

fn session() -> Session {
    // SAFETY:
    // - The table's functions implement the ABI: they keep nothing but numbers, don't unwind, and calls may come from any
    //   thread, each of which has numbers of its own.
    let backend = unsafe { Backend::from_table(&TABLE) }.unwrap();
    Session::begin(&backend, "run", &Config::new()).unwrap()
}

fn stream(session: &mut Session) -> Stream {
    let domain = session.domain("sim").unwrap().id();
    session
        .open_stream("stream", StreamOptions::new(domain))
        .unwrap()
}

/// How many calls and allocations `write` makes.
fn count<R>(write: impl FnOnce() -> R) -> (R, usize, usize) {
    let (calls, allocations) = (CALLS.get(), ALLOCATIONS.get());
    let result = write();
    (result, CALLS.get() - calls, ALLOCATIONS.get() - allocations)
}

/// `write` is one call and no allocation, also if the backend refuses.
#[track_caller]
fn is_one_call(what: &str, write: impl Fn() -> Result<(), WriteError>) {
    succeeds_in_one_call(what, &write);
    ANSWER.set(NVTXW_RESULT_FAILED);
    let (result, calls, allocations) = count(&write);
    ANSWER.set(NVTXW_RESULT_SUCCESS);
    assert_eq!(
        result.map_err(WriteError::code),
        Err(ResultCode::FAILED),
        "{what}"
    );
    assert_eq!(
        (calls, allocations),
        (1, 0),
        "calls and allocations: {what}, refused"
    );
}

/// `write` is one call and no allocation; if the backend refuses, the error holds text.
#[track_caller]
fn succeeds_in_one_call<E: Debug>(what: &str, write: impl Fn() -> Result<(), E>) {
    let (result, calls, allocations) = count(write);
    result.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert_eq!(
        (calls, allocations),
        (1, 0),
        "calls and allocations: {what}"
    );
}

#[test]
fn allocations_are_counted() {
    let (_, _, allocations) = count(|| black_box(Box::new(1)));
    assert_eq!(allocations, 1);
    let (_, _, allocations) = count(|| black_box(vec![1]).push(2));
    assert_eq!(allocations, 2);
}

#[test]
fn plain_events() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let name = session.domain("sim").unwrap().string("launch").unwrap();
    let out = session.writer(&mut stream).unwrap();
    let id = RangeId::new(7).unwrap();
    for text in ["", "start"] {
        is_one_call("mark", || out.mark(1).message(text).write());
        is_one_call("pushpop", || out.pushpop(1, 2).message(text).write());
        is_one_call("startend", || out.startend(1, 2).message(text).write());
        is_one_call("push", || out.push(1).message(text).write());
        is_one_call("start", || out.start(1, id).message(text).write());
    }
    let long = "x".repeat(100_000);
    is_one_call("mark with bytes", || {
        out.mark(1).message(long.as_bytes()).write()
    });
    is_one_call("mark, all attributes", || {
        out.mark(1)
            .message(name)
            .color(Argb::GREEN)
            .category(CategoryId::from_u32(3))
            .write()
    });
    is_one_call("pushpop, registered", || {
        out.pushpop(1, 2).message(name).write()
    });
    is_one_call("startend, registered", || {
        out.startend(1, 2).message(name).write()
    });
    is_one_call("push, registered", || out.push(1).message(name).write());
    is_one_call("start, registered", || {
        out.start(1, id).message(name).write()
    });
    is_one_call("pop", || out.pop(2));
    is_one_call("end", || out.end(2, id));
}

#[test]
fn typed_events() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let mut domain = session.domain("sim").unwrap();
    let step = domain.schema::<Step>().unwrap();
    let scope = domain.scope("GPU 0").unwrap();
    let name = domain.string("launch").unwrap();
    let record = domain
        .record("arguments", &RecordLayout::new().i64("size").string("kind"))
        .unwrap();
    let peer = domain.payload_schema::<Peer>().unwrap();
    let query = domain.schema::<Query>().unwrap();
    let mut row = record.row();
    row.set(0, 17_i64).unwrap();
    row.set(1, name).unwrap();
    let out = session.writer(&mut stream).unwrap();
    let steps = out.events(step).unwrap();
    let scoped = out.events(step).unwrap().scope(scope).unwrap();
    let sorted = out.events(step).unwrap().ordering(BatchOrdering::Sorted);
    let event = Step {
        name: name.handle(),
        ..STEP
    };
    is_one_call("write", || steps.write(&event));
    is_one_call("write in a scope", || scoped.write(&event));
    is_one_call("write with a row", || steps.write_with(&event, &row));
    is_one_call("write with a struct and a row", || {
        steps.write_with(&event, (peer.payload(&PEER), &row))
    });
    let batch = [event; 64];
    is_one_call("batch", || steps.write_batch(&batch));
    is_one_call("batch in a scope", || scoped.write_batch(&batch));
    is_one_call("sorted batch", || sorted.write_batch(&batch));

    let queries = out.events(query).unwrap();
    let mut pool = FlexPool::new();
    let query = Query {
        time: 1,
        text: pool.push("SELECT 1"),
    };
    is_one_call("flexible text", || queries.write_flex(&query, &pool));
    let batch = [query; 64];
    is_one_call("batch of flexible text", || {
        queries.write_batch_flex(&batch, &pool)
    });
}

#[test]
fn rows_of_a_run_time_layout() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let mut domain = session.domain("sim").unwrap();
    let layout = RowLayout::event(EventKind::RangePushPop)
        .field(RowField::new("start", RowType::I64).timestamp_start())
        .field(RowField::new("end", RowType::I64).timestamp_end());
    let rows = domain.rows("query", &layout).unwrap();
    let layout = RowLayout::payload().field(RowField::new("size", RowType::U64));
    let size = domain.rows("size", &layout).unwrap();
    let layout = RowLayout::counters().field(RowField::new("read", RowType::U64));
    let options = CounterOptions::new();
    let counter = domain.counter_rows("reads", &layout, options).unwrap();
    let out = session.writer(&mut stream).unwrap();
    let rows = out.rows(rows).unwrap();
    succeeds_in_one_call("rows", || rows.write_rows(&[[1_i64, 2]; 64]));
    succeeds_in_one_call("bytes of rows", || rows.write_bytes(&[1; 64]));
    succeeds_in_one_call("row with a row", || {
        rows.write_with(&[1_i64, 2], size.payload(&7_u64)?)
    });
    let counter = out.row_counter(counter).unwrap();
    succeeds_in_one_call("sample", || counter.sample(1, &7_u64));
    succeeds_in_one_call("samples", || counter.write_rows(&[1, 2], &[7_u64, 8]));
    succeeds_in_one_call("samples in an interval", || {
        counter.write_rows(Interval::from_begin(1, 2), &[7_u64, 8])
    });
    is_one_call("no value", || {
        counter.no_value(1, NoValueReason::Unavailable)
    });
}

#[test]
fn clocks() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let mut domain = session.domain("sim").unwrap();
    let clock = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let out = session.writer(&mut stream).unwrap();
    let other = TimestampType::ClockMonotonic;
    let point = SyncPoint {
        source: 1,
        destination: 2,
    };
    succeeds_in_one_call("sync point", || out.sync_point(clock, other, point));
    succeeds_in_one_call("sync points", || {
        out.sync_points(clock, other, &[point; 64])
    });
    succeeds_in_one_call("conversion", || out.conversion(clock, other, 2.0, point));
}

#[test]
fn a_row_is_filled_without_allocating() {
    let mut session = session();
    let mut domain = session.domain("sim").unwrap();
    let name = domain.string("launch").unwrap();
    let layout = RecordLayout::new().i64("size").f64("share").string("kind");
    let mut row = domain.record("arguments", &layout).unwrap().row();
    let (result, _, allocations) = count(|| {
        row.clear();
        row.set(0, 17_i64)?;
        row.set(1, 0.5)?;
        row.set(2, name)
    });
    result.unwrap();
    assert_eq!(allocations, 0);
}

#[test]
fn samples() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let mut domain = session.domain("sim").unwrap();
    let signed = domain.counter::<i64>("signed").unwrap();
    let unsigned = domain.counter::<u64>("unsigned").unwrap();
    let float = domain.counter::<f64>("float").unwrap();
    let channel = domain.counter_group::<Channel>("channel").unwrap();
    let reading = domain.counter_group::<Reading>("reading").unwrap();
    let out = session.writer(&mut stream).unwrap();
    let signed = out.counter(signed).unwrap();
    let unsigned = out.counter(unsigned).unwrap();
    let float = out.counter(float).unwrap();
    let channel = out.counter(channel).unwrap();
    let reading = out.counter(reading).unwrap();
    is_one_call("i64", || signed.sample(1, -1));
    is_one_call("u64", || unsigned.sample(1, 1));
    is_one_call("f64", || float.sample(1, 0.5));
    is_one_call("group", || channel.sample(1, &CHANNEL));
    is_one_call("group with its time", || reading.sample_embedded(&READING));
    is_one_call("groups with their times", || {
        reading.write_batch_embedded(&[READING; 64])
    });
    is_one_call("no value", || float.no_value(1, NoValueReason::Unavailable));

    is_one_call("samples in an interval", || {
        float.write_batch_interval(Interval::from_begin(1, 2), &[0.5; 64])
    });
    is_one_call("group at another time", || reading.sample_at(2, &READING));
    succeeds_in_one_call("samples", || float.write_batch(&[1, 2], &[0.5, 0.25]));
    succeeds_in_one_call("groups", || channel.write_batch(&[1, 2], &[CHANNEL; 2]));
    succeeds_in_one_call("groups at other times", || {
        reading.write_batch_at(&[1, 2], &[READING; 2])
    });
}

#[test]
fn a_batch_is_one_call_with_the_slice_itself() {
    let mut session = session();
    let mut stream = stream(&mut session);
    let mut domain = session.domain("sim").unwrap();
    let step = domain.schema::<Step>().unwrap();
    let float = domain.counter::<f64>("float").unwrap();
    let reading = domain.counter_group::<Reading>("reading").unwrap();
    let out = session.writer(&mut stream).unwrap();
    let steps = out.events(step).unwrap();
    let float = out.counter(float).unwrap();
    let reading = out.counter(reading).unwrap();
    for len in [0, 1, 64, 4096] {
        let calls = usize::from(len > 0);
        let check = |what: &str, counts: (usize, usize), rows: (usize, usize)| {
            assert_eq!(counts, (calls, 0), "calls and allocations: {len} {what}");
            if len > 0 {
                assert_eq!(ROWS.get(), rows, "address and bytes: {len} {what}");
            }
        };
        let rows = vec![STEP; len];
        let (result, calls, allocations) = count(|| steps.write_batch(&rows));
        result.unwrap();
        check(
            "events",
            (calls, allocations),
            (rows.as_ptr().addr(), size_of_val(&rows[..])),
        );

        let times: Vec<i64> = (0..len as i64).collect();
        let values = vec![0.5; len];
        let (result, calls, allocations) = count(|| float.write_batch(&times, &values));
        result.unwrap();
        check(
            "samples",
            (calls, allocations),
            (values.as_ptr().addr(), len * size_of::<f64>()),
        );

        let groups = vec![READING; len];
        let (result, calls, allocations) = count(|| reading.write_batch_embedded(&groups));
        result.unwrap();
        check(
            "groups",
            (calls, allocations),
            (groups.as_ptr().addr(), size_of_val(&groups[..])),
        );
    }
}
