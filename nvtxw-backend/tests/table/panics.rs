//! Panics of the backend: caught, told, and the object is poisoned.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;

const STREAM_POISONED: &str =
    "this stream is poisoned: the backend panicked in an earlier call on it";
const SESSION_POISONED: &str =
    "this session is poisoned: the backend panicked in an earlier call on it";

/// A mark whose message is `text`.
fn mark_with(program: &Program, domain: Domain) -> (u64, u64) {
    let mark = program.mark(domain);
    let message = program
        .schema(domain, &message_attr(&[message_entry()]))
        .expect("a schema");
    (mark, message)
}

#[test]
fn a_panic_in_a_write_poisons_the_stream_alone() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let (mark, message) = mark_with(&program, domain);
    let time = bytes![1_i64];
    let write = |stream, text: &[u8]| {
        program.write(stream, &[payload(mark, &time), payload(message, text)])
    };
    assert_failed(
        write(stream, b"panic in write"),
        "EventWrite on \"gpu\": the backend panicked: the recorder panics in write",
    );
    let counter = program
        .counter(domain, &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64))
        .expect("a counter");
    let poisoned = |member: &str| format!("{member} on \"gpu\": {STREAM_POISONED}");
    assert_failed(write(stream, b"fine"), &poisoned("EventWrite"));
    assert_failed(
        program.write_batch(stream, &batch(mark, &[])),
        &poisoned("EventBatchWrite"),
    );
    assert_failed(
        program.write_counter(stream, 0, counter, &bytes![0_i64]),
        &poisoned("CounterWrite"),
    );
    assert_failed(
        member!(program, CounterNoValueWrite(stream, 0, counter, 0)),
        &poisoned("CounterNoValueWrite"),
    );
    assert_failed(
        program.write_counters(stream, &counter_batch(counter, &[], None)),
        &poisoned("CounterBatchWrite"),
    );
    assert_failed(program.close(stream), &poisoned("StreamClose"));

    // The session and its other streams go on.
    let other = program.open(session, c"other", domain);
    write(other, b"fine").expect("written");
    program.journal.take();
    assert_failed(
        program.end(session),
        &format!("SessionEnd on \"run\": stream \"gpu\": {STREAM_POISONED}"),
    );
    assert_eq!(
        program.journal.take(),
        [
            "drop stream gpu",
            "close other",
            "drop stream other",
            "end run",
            "drop session run"
        ],
        "all but the poisoned stream's close is called"
    );
    program.close(stream).expect_err("stale");
}

#[test]
fn panics_of_all_other_writes_are_caught() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let samples = program
        .counter(
            domain,
            &counter_attr(c"panic in counters", NVTX_PAYLOAD_ENTRY_TYPE_INT64),
        )
        .expect("a counter");
    assert_failed(
        program.write_counter(stream, 0, samples, &bytes![0_i64]),
        "CounterWrite on \"gpu\": the backend panicked: the recorder panics in counters",
    );
    let second = program.open(session, c"second", domain);
    assert_failed(
        program.write_counters(second, &counter_batch(samples, &bytes![0_i64], Some(&[1]))),
        "CounterBatchWrite on \"second\": the backend panicked: the recorder panics in counters",
    );
    let third = program.open(session, c"third", domain);
    let no_value = program
        .counter(
            domain,
            &counter_attr(c"panic in no value", NVTX_PAYLOAD_ENTRY_TYPE_INT64),
        )
        .expect("a counter");
    assert_failed(
        member!(program, CounterNoValueWrite(third, 0, no_value, 0)),
        "CounterNoValueWrite on \"third\": the backend panicked: the recorder panics in no value",
    );
    let fourth = program.open(session, c"panic in close", domain);
    assert_failed(
        program.close(fourth),
        "StreamClose on \"panic in close\": the backend panicked: the recorder panics in close",
    );
    assert_failed(
        program.close(fourth),
        &format!("StreamClose on \"panic in close\": {STREAM_POISONED}"),
    );
}

#[test]
fn a_panic_in_a_batch_is_caught() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let entries = [
        mark_entries()[0],
        array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"message", 14),
    ];
    let schema = program
        .schema(
            domain,
            &packed(1, schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries)),
        )
        .expect("a schema");
    let events = [
        bytes![1_i64],
        b"all is fine...".to_vec(),
        bytes![2_i64],
        b"panic in write".to_vec(),
    ]
    .concat();
    assert_failed(
        program.write_batch(stream, &batch(schema, &events)),
        "EventBatchWrite on \"gpu\": the backend panicked: the recorder panics in write",
    );
    assert_failed(
        program.write_batch(stream, &batch(schema, &events)),
        &format!("EventBatchWrite on \"gpu\": {STREAM_POISONED}"),
    );
}

#[test]
fn a_panic_in_open_poisons_the_session() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let (mark, message) = mark_with(&program, domain);
    assert_failed(
        program.open_with(session, &stream_attr(c"panic in open", domain)),
        "StreamOpen on \"run\": the backend panicked: the recorder panics in open",
    );
    assert_failed(
        program.open_with(session, &stream_attr(c"another", domain)),
        &format!("StreamOpen on \"run\": {SESSION_POISONED}"),
    );
    assert_failed(
        program.domain(session, None),
        &format!("DomainRegister on \"run\": {SESSION_POISONED}"),
    );
    assert_failed(
        program.string(domain, c"x"),
        &format!("StringRegister on \"\": {SESSION_POISONED}"),
    );
    // Streams are objects of their own.
    let time = bytes![1_i64];
    program
        .write(stream, &[payload(mark, &time), payload(message, b"x")])
        .expect("written");
    program.journal.take();
    assert_failed(
        program.end(session),
        &format!("SessionEnd on \"run\": {SESSION_POISONED}"),
    );
    assert_eq!(
        program.journal.take(),
        ["close gpu", "drop stream gpu", "drop session run"]
    );
    program.end(session).expect_err("stale");
}

#[test]
fn panics_in_begin_and_end_are_caught() {
    let program = Program::new();
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"panic in begin".as_ptr(),
        configString: ptr::null(),
    };
    assert_failed(
        program.begin_with(&attr),
        "SessionBegin on \"panic in begin\": the backend panicked: the recorder panics in begin",
    );
    let session = program.begin(c"panic in end");
    let stream = program.open(session, c"panic in drop", ptr::null_mut());
    assert_failed(
        program.close(stream),
        "StreamClose on \"panic in drop\": the backend panicked: the recorder panics in drop",
    );
    program.open(session, c"gpu", ptr::null_mut());
    program.open(session, c"panic in close", ptr::null_mut());
    program.open(session, c"panic in drop", ptr::null_mut());
    program.open(session, c"last", ptr::null_mut());
    program.journal.take();
    assert_failed(
        program.end(session),
        "SessionEnd on \"panic in end\": stream \"panic in close\": the backend panicked: the recorder panics in close",
    );
    assert_eq!(
        program.journal.take(),
        [
            "close gpu",
            "drop stream gpu",
            "close panic in close",
            "drop stream panic in close",
            "close panic in drop",
            "drop stream panic in drop",
            "close last",
            "drop stream last",
            "end panic in end",
            "drop session panic in end",
        ],
        "a panic keeps nothing else from its end"
    );
    program.end(session).expect_err("stale");
}
