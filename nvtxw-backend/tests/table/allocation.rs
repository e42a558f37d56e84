//! Writing allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::Library;
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, Field, NoValueReason, Refusal, Result, Schema, Session,
    SessionRequest, Stream, StreamInfo, Value, Visitor, in_process,
};

use crate::program::*;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY:
// - All calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY:
        // - The caller keeps the contract of this very function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY:
        // - The caller keeps the contract of this very function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Looks at everything, and adds it up.
pub struct Summing;

impl Backend for Summing {
    type Session = Summing;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Summing> {
        Ok(Summing)
    }
}

impl Session for Summing {
    type Stream = Sum;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Sum> {
        Ok(Sum(0))
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

pub struct Sum(u64);

/// What one event adds: message, scope and colour; the length of the array, two structs with a number and a name each.
const OF_EVENT: u64 = 4 + 1 + 7 + 2 + 2 * (1 + 5 + 4);

impl Stream for Sum {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.0 += event
            .message()
            .map_or(0, |message| message.to_string_lossy().len() as u64);
        self.0 += event.scope().id() + u64::from(event.color().unwrap_or(0));
        event.visit(self);
        Ok(())
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        samples.samples().for_each(|sample| sample.visit(self));
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        // Three single events, two of them with a text of the same length, a batch of five; five samples.
        if self.0 == 8 * OF_EVENT + 5 * 5 {
            Ok(())
        } else {
            Err(Refusal::failed(format!("the sum is {}", self.0)))
        }
    }
}

impl Visitor for Sum {
    fn value(&mut self, _: &Field, value: Value<'_>) {
        self.0 += match value {
            Value::I64(value) => value as u64,
            Value::Registered(Some(string)) => string.text().len() as u64,
            _ => 0,
        };
    }

    fn begin_array(&mut self, _: &Field, len: usize) {
        self.0 += len as u64;
    }

    fn end_array(&mut self, _: &Field) {}

    fn begin_struct(&mut self, _: &Field, _: &Schema) {
        self.0 += 1;
    }

    fn end_struct(&mut self, _: &Field) {}
}

#[test]
fn writing_allocates_nothing() {
    const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;

    let program = Program::of(in_process(Summing));
    let (_, domain, stream) = program.ready();
    let gemm = number(program.string(domain, c"gemm").expect("a string"));
    let message = program
        .schema(domain, &message_attr(&[message_entry()]))
        .expect("a schema");
    let inner = [entry(0, INT64, c"n"), entry(0, STRING, c"name")];
    let inner = program
        .schema(domain, &schema_attr(0, &inner))
        .expect("a schema");
    let [start, end] = pushpop_entries();
    let entries = [
        start,
        end,
        entry(MESSAGE, STRING, c"message"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, c"color"),
        array(0, inner, c"inner", 2),
    ];
    let pushpop = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, &entries);
    // Static IDs are found without an allocation too.
    let pushpop = program
        .schema(domain, &with_id(1 << 24, pushpop))
        .expect("a schema");
    let counter = program
        .counter(domain, &counter_attr(c"depth", INT64))
        .expect("a counter");

    let event = bytes![
        1_i64,
        2_i64,
        gemm,
        NVTX_SCOPE_ROOT,
        7_u64,
        5_i64,
        gemm,
        5_i64,
        gemm
    ];
    let events = event.repeat(5);
    let (main, text) = (payload(pushpop, &event), payload(message, b"text"));
    let samples = bytes![5_i64, 5_i64, 5_i64, 5_i64];
    let events = batch(pushpop, &events);
    let four = counter_batch(counter, &samples, Some(&[1, 2, 3, 4]));
    let many = [vec![text; 20], vec![main], vec![text; 20]].concat();
    // What a process and a stream do once, they do here.
    program.write(stream, &many).expect("written");

    let before = ALLOCATIONS.get();
    program.write(stream, &[main]).expect("written");
    program.write(stream, &many).expect("written");
    program.write_batch(stream, &events).expect("written");
    program
        .write_counter(stream, 1, counter, &samples[..8])
        .expect("written");
    program.write_counters(stream, &four).expect("written");
    assert_eq!(ALLOCATIONS.get() - before, 0);
    program.close(stream).expect("all was seen");
}

#[test]
fn following_pointers_out_of_events_allocates_nothing() {
    const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;

    let program = Program::of_library(Library::new(|| Box::new(Summing)));
    let (_, domain, stream) = program.ready();
    let copied = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
    let entries = [
        mark_entries()[0],
        entry(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"message"),
        array(copied, INT64, c"numbers", 2),
    ];
    let flags = NVTX_PAYLOAD_SCHEMA_FLAG_MARK | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY;
    let mark = program
        .schema(domain, &schema_attr(flags, &entries))
        .expect("a schema");
    let numbers = [20_i64, 30_i64];
    let event = bytes![
        1_i64,
        c"four".as_ptr().expose_provenance(),
        numbers.as_ptr().expose_provenance()
    ];
    let events = event.repeat(2);
    let text = nvtxPayloadData_t {
        schemaId: NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
        size: usize::MAX,
        payload: c"text".as_ptr().cast(),
    };

    let one = [payload(mark, &event), text];
    // What a process does once, it does here.
    program.write(stream, &one).expect("written");

    let before = ALLOCATIONS.get();
    program.write(stream, &one).expect("written");
    program
        .write_batch(stream, &batch(mark, &events))
        .expect("written");
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // Four times the message's length, the array's length, and its numbers.
    let sum = program.close(stream).expect_err("another sum than usual");
    let expected = format!("the sum is {}", 4 * (4 + 2 + 20 + 30));
    assert!(sum.report.ends_with(&expected), "{}", sum.report);
}

#[test]
fn places_of_many_lengths_are_kept_in_the_same_memory() {
    const BYTE: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;

    let program = Program::of(in_process(Summing));
    let (_, domain, stream) = program.ready();
    let mut entries = vec![mark_entries()[0], message_entry()];
    for index in 0..40 {
        entries.push(entry(0, BYTE, c"n"));
        entries.push(nvtxPayloadSchemaEntry_t {
            arrayOrUnionDetail: 2 * index + 2,
            ..entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, BYTE, c"items")
        });
    }
    let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let mark = program.schema(domain, &dynamic(mark)).expect("a schema");
    let event = [bytes![1_i64], b"text\0".to_vec(), [1, 9].repeat(40)].concat();
    let write = || program.write(stream, &[payload(mark, &event)]);
    write().expect("written");

    let before = ALLOCATIONS.get();
    write().expect("written");
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // Twice the message's length, and the lengths of the arrays.
    let sum = program.close(stream).expect_err("another sum than usual");
    assert!(
        sum.report
            .ends_with(&format!("the sum is {}", 2 * (4 + 40))),
        "{}",
        sum.report
    );
}

#[test]
fn samples_that_differ_allocate_nothing() {
    const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;

    let program = Program::of(in_process(Summing));
    let (_, domain, stream) = program.ready();
    let entries = [
        entry(0, INT64, c"n"),
        nvtxPayloadSchemaEntry_t {
            arrayOrUnionDetail: 0,
            ..entry(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, INT64, c"values")
        },
    ];
    let group = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP, &entries);
    let group = program.schema(domain, &dynamic(group)).expect("a schema");
    let counter = program
        .counter(domain, &counter_attr(c"n", group))
        .expect("a counter");
    let samples = bytes![2_i64, 20_i64, 30_i64, 0_i64, 1_i64, 40_i64];
    let batch = counter_batch(counter, &samples, Some(&[1, 2, 3]));

    let before = ALLOCATIONS.get();
    program
        .write_counter(stream, 1, counter, &samples[..24])
        .expect("written");
    program.write_counters(stream, &batch).expect("written");
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // Numbers and lengths of the first sample, twice, and of the others.
    let sum = program.close(stream).expect_err("another sum than usual");
    let expected = 2 * (2 + 2 + 20 + 30) + (1 + 1 + 40);
    assert!(
        sum.report.ends_with(&format!("the sum is {expected}")),
        "{}",
        sum.report
    );
}

#[test]
fn walking_allocates_nothing() {
    const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;

    let program = Program::of(in_process(Summing));
    let (_, domain, stream) = program.ready();
    let detail = |detail, entry| nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: detail,
        ..entry
    };
    let by_index = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
    let members = [entry(0, INT64, c"a"), array(0, TEXT, c"b", 8)];
    let either = program
        .schema(domain, &union(schema_attr(0, &members)))
        .expect("a schema");
    let entries = [
        mark_entries()[0],
        entry(0, INT64, c"length"),
        detail(
            1,
            entry(
                MESSAGE | by_index | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
                TEXT,
                c"message",
            ),
        ),
        detail(1, entry(0, either, c"either")),
        detail(1, entry(by_index, INT64, c"values")),
        entry(
            NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
            NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16,
            c"wide",
        ),
    ];
    let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let mark = program.schema(domain, &dynamic(mark)).expect("a schema");
    let event = bytes![1_i64, 1_i64, 0_i64, 5_i64, 7_i64, 0_u16];
    let many = event.repeat(5);
    let events = nvtxEventBatch_t {
        flexData: b"x".as_ptr().cast(),
        flexDataSize: 1,
        ..batch(mark, &many)
    };

    let before = ALLOCATIONS.get();
    program
        .write(stream, &[payload(mark, &event)])
        .expect("written");
    program.write_batch(stream, &events).expect("written");
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // Six times the message's length, the array's length, the union, the number beside it, and its own.
    // (The union's member is text.)
    let sum = program
        .close(stream)
        .expect_err("another sum than that of the other test");
    assert!(
        sum.report
            .ends_with(&format!("the sum is {}", 6 * (1 + 1 + 1 + 1 + 7))),
        "{}",
        sum.report
    );
}
