//! Batches of events.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::ResultCode;

use crate::program::*;
use crate::scene::Scene;

const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const PUSHPOP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP;

#[test]
fn a_batch_is_one_call() {
    let scene = Scene::new();
    let pushpop = scene.schema(PUSHPOP, &pushpop_entries());
    let events = bytes![1_i64, 2_i64, 3_i64, 5_i64];
    for (flags, ordering) in [
        (NVTX_BATCH_FLAG_TIME_SORTED, "Sorted"),
        (NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY, "SortedPartially"),
        (
            NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE | 1 << 40,
            "SortedPerScope",
        ),
        (NVTX_BATCH_FLAG_UNSORTED | 1, "Unsorted"),
    ] {
        // Flexible data that no entry refers to is not looked at.
        let attr = nvtxEventBatch_t {
            flags,
            flexData: garbage::<u8>().cast(),
            flexDataSize: usize::MAX,
            flexDataOffset: usize::MAX,
            ..batch(pushpop, &events)
        };
        scene
            .program
            .write_batch(scene.stream, &attr)
            .expect("written");
        assert_eq!(
            scene.program.journal.take(),
            [
                format!("batch of 2, {ordering}"),
                "range_pushpop @1..2".to_owned(),
                "range_pushpop @3..5".to_owned()
            ]
        );
    }
}

#[test]
fn an_empty_batch_is_nothing() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    scene
        .program
        .write_batch(scene.stream, &batch(mark, &[]))
        .expect("nothing to do");
    let null = nvtxEventBatch_t {
        events: ptr::null(),
        ..batch(mark, &[])
    };
    scene
        .program
        .write_batch(scene.stream, &null)
        .expect("nothing to do");
    assert_eq!(
        scene.program.journal.take(),
        [""; 0],
        "the backend is not asked"
    );
}

#[test]
fn bad_batches_are_refused_as_a_whole() {
    let scene = Scene::new();
    let mark = scene.schema(MARK, &mark_entries());
    let plain = scene
        .program
        .schema(
            scene.domain,
            &named(c"Plain", schema_attr(0, &[entry(0, U64, c"x")])),
        )
        .expect("a schema");
    let bytes = bytes![1_i64, 2_i64];
    for (attr, reason) in [
        (
            batch(mark, &bytes[..12]),
            "size is 12, which leaves 4 bytes over: each event has 8 bytes; nothing was written".to_owned(),
        ),
        (nvtxEventBatch_t { events: ptr::null(), ..batch(mark, &bytes) }, "events is null, but size is 16".to_owned()),
        (
            nvtxEventBatch_t { size: usize::MAX, ..batch(mark, &bytes) },
            "size is 18446744073709551615, more than the address space holds".to_owned(),
        ),
        (
            batch(plain, &bytes),
            format!(
                "eventSchemaId: schema {plain} `Plain` describes no events: set the kind in its flags; nothing was written"
            ),
        ),
        (
            batch(scene.message, &bytes),
            format!(
                "eventSchemaId: schema {} describes no events: set the kind in its flags; nothing was written",
                scene.message
            ),
        ),
        (
            batch(17, &bytes),
            "eventSchemaId: 17 is no schema of the stream's domain: register it there, and use the ID it gets".to_owned(),
        ),
    ] {
        assert_invalid(
            scene.program.write_batch(scene.stream, &attr),
            &format!("EventBatchWrite on \"gpu\": {reason}"),
        );
        assert_eq!(scene.program.journal.take(), [""; 0]);
    }
    assert_invalid(
        member!(scene.program, EventBatchWrite(scene.stream, ptr::null())),
        "EventBatchWrite on \"gpu\": eventBatch is null",
    );
}

#[test]
fn the_good_events_of_a_batch_are_written() {
    let scene = Scene::new();
    let pushpop = scene.schema(PUSHPOP, &pushpop_entries());
    let events = bytes![1_i64, 2_i64, 20_i64, 10_i64, 3_i64, 4_i64];
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &batch(pushpop, &events)),
        "EventBatchWrite on \"gpu\": event 1 of 3: ends before it starts: start 20, end 10",
    );
    assert_eq!(
        scene.program.journal.take(),
        [
            "batch of 3, Sorted",
            "range_pushpop @1..2",
            "range_pushpop @3..4"
        ]
    );
    let worse = bytes![20_i64, 10_i64, 1_i64, 2_i64, 30_i64, 10_i64, 40_i64, 10_i64];
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &batch(pushpop, &worse)),
        "EventBatchWrite on \"gpu\": event 0 of 4: ends before it starts: start 20, end 10; 2 more events of the batch were \
         refused, the others were taken",
    );
    assert_eq!(
        scene.program.journal.take(),
        ["batch of 4, Sorted", "range_pushpop @1..2"]
    );
}

#[test]
fn a_refusal_of_the_backend_comes_first_and_keeps_nothing_out() {
    let scene = Scene::new();
    let entries = [
        pushpop_entries()[0],
        pushpop_entries()[1],
        array(MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"message", 16),
    ];
    let pushpop = scene.schema(PUSHPOP, &entries);
    let event = |start: i64, end: i64, text: &str| {
        let mut bytes = bytes![start, end];
        bytes.extend(text.bytes().chain(std::iter::repeat(0)).take(16));
        bytes
    };
    let events = [
        event(9, 1, ""),
        event(1, 2, "refuse write"),
        event(3, 4, "fine"),
    ]
    .concat();
    assert_failed(
        scene
            .program
            .write_batch(scene.stream, &batch(pushpop, &events)),
        "EventBatchWrite on \"gpu\": the recorder refuses write",
    );
    assert_eq!(
        scene.program.journal.take(),
        [
            "batch of 3, Sorted",
            "range_pushpop @1..2 \"refuse write\"",
            "range_pushpop @3..4 \"fine\""
        ]
    );
    let refused = scene
        .write(&[payload(pushpop, &event(1, 2, "refuse write"))])
        .expect_err("refused");
    assert_eq!(refused.code, ResultCode::FAILED);
    scene
        .write(&[payload(pushpop, &event(1, 2, "fine"))])
        .expect("a refusal is no panic");
}
