//! Claims about the order of data.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

fn ordered(ordering: i16) -> Scene {
    Scene::with(c"check.output=off", |attr| attr.orderingType = ordering)
}

#[test]
fn a_stream_that_claims_an_order_must_keep_it() {
    let scene = ordered(NVTXW_STREAM_ORDERING_TYPE_STRICT);
    let marks = scene.marks();
    scene.write_marks(marks, &[100, 100, 90, 120]);
    assert_eq!(
        scene.found(),
        [
            "stream-order: stream \"gpu\", event 2, at 90: 90 comes after 100 in a stream of ordering Strict, skid None 0"
        ]
    );
}

#[test]
fn a_stream_of_points_takes_no_whole_ranges() {
    let scene = ordered(NVTXW_STREAM_ORDERING_TYPE_STRICT);
    let ranges = scene.whole_ranges();
    scene
        .write(ranges, &bytes![10_i64, 20_i64])
        .expect("written");
    assert_eq!(
        scene.found(),
        [
            "stream-order: stream \"gpu\", event 0, at 10: a whole range in a stream of ordering Strict: all are points in time there"
        ]
    );
}

#[test]
fn ranges_stand_by_their_start_or_by_their_end() {
    // By start they are in order, by end they are not.
    for (ordering, count) in [
        (NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START, 0),
        (NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END, 1),
        (NVTXW_STREAM_ORDERING_TYPE_UNKNOWN, 0),
    ] {
        let scene = ordered(ordering);
        let ranges = scene.whole_ranges();
        for (start, end) in [(10_i64, 100_i64), (20, 30)] {
            scene.write(ranges, &bytes![start, end]).expect("written");
        }
        assert_eq!(scene.found().len(), count);
    }
}

#[test]
fn with_interleaved_scopes_each_has_its_own_order() {
    let scene = Scene::with(c"check.output=off", |attr| {
        attr.orderingType = NVTXW_STREAM_ORDERING_TYPE_STRICT;
        attr.orderInterleaving = NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE;
    });
    let entries = [
        mark_entries()[0],
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
    ];
    let marks = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let scope = |path| {
        scene
            .program
            .scope(scene.domain, NVTX_SCOPE_ROOT, Some(path), 0)
    };
    let (a, b) = (scope(c"a").expect("a scope"), scope(c"b").expect("a scope"));
    for (time, scope) in [(100_i64, a), (50, b), (99, a), (60, b)] {
        scene.write(marks, &bytes![time, scope]).expect("written");
    }
    let found = scene.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("stream-order: stream \"gpu\", event 2, at 99: 99 comes after 100")
    );
}

#[test]
fn a_skid_lets_data_be_late() {
    let count = |skid: i32, amount: i64, clock: u64, times: &[i64]| {
        let scene = Scene::with(c"check.output=off", |attr| {
            attr.orderingType = NVTXW_STREAM_ORDERING_TYPE_STRICT;
            attr.orderingSkid = skid;
            attr.orderingSkidAmount = amount;
            attr.timeDomainId = clock;
        });
        let marks = scene.marks();
        scene.write_marks(marks, times);
        scene.found().len()
    };
    let by_time =
        |clock, times: &[i64]| count(NVTXW_STREAM_ORDERING_SKID_TIME_NS, 1000, clock, times);
    let nanoseconds = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC;
    assert_eq!(by_time(nanoseconds, &[5000, 4000]), 0);
    assert_eq!(by_time(nanoseconds, &[5000, 3999]), 1);
    // 100 ns a tick.
    assert_eq!(by_time(NVTX_TIMESTAMP_TYPE_WIN_GSTAFT, &[5000, 4990]), 0);
    assert_eq!(by_time(NVTX_TIMESTAMP_TYPE_WIN_GSTAFT, &[5000, 4989]), 1);
    // How long these ticks are nobody knows.
    assert_eq!(by_time(NVTX_TIMESTAMP_TYPE_NONE, &[5000, 0]), 0);
    let by_events = |times: &[i64]| count(NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT, 2, 0, times);
    assert_eq!(by_events(&[9, 1, 2, 9]), 0);
    assert_eq!(by_events(&[9, 1, 2, 8]), 1);
}

#[test]
fn samples_stand_in_the_order_of_their_stream_too() {
    let scene = ordered(NVTXW_STREAM_ORDERING_TYPE_STRICT);
    let attr = counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = scene
        .program
        .counter(scene.domain, &attr)
        .expect("a counter");
    let (program, stream) = (&scene.program, scene.stream);
    program
        .write_counter(stream, 50, counter, &bytes![1_i64])
        .expect("written");
    program
        .write_counter(stream, 49, counter, &bytes![1_i64])
        .expect("written");
    member!(program, CounterNoValueWrite(stream, 48, counter, 0)).expect("written");
    let found = scene.found();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1].starts_with("stream-order: stream \"gpu\", event 2, at 48: 48 comes after 50")
    );
}

#[test]
fn a_batch_is_in_the_order_that_its_flags_say() {
    let scene = Scene::new();
    let marks = scene.marks();
    let times = bytes![100_i64, 90_i64, 200_i64];
    for flags in [
        NVTX_BATCH_FLAG_TIME_SORTED,
        NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE,
        // The stream has no skid that would say how much that is.
        NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY,
        NVTX_BATCH_FLAG_UNSORTED,
    ] {
        let batch = nvtxEventBatch_t {
            flags,
            ..batch(marks, &times)
        };
        scene
            .program
            .write_batch(scene.stream, &batch)
            .expect("written");
    }
    assert_eq!(
        scene.found(),
        [
            "batch-order: stream \"gpu\", event 1, at 90: event 1 of the batch comes after one at 100; the flags say Sorted",
            "batch-order: stream \"gpu\", event 4, at 90: event 1 of the batch comes after one at 100; the flags say SortedPerScope",
        ]
    );
    assert_eq!(
        scene
            .journal
            .take()
            .iter()
            .filter(|line| line.starts_with("mark @"))
            .count(),
        12
    );
}

#[test]
fn a_batch_of_samples_is_in_the_order_that_its_flags_say() {
    let scene = Scene::new();
    let attr = counter_attr(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = scene
        .program
        .counter(scene.domain, &attr)
        .expect("a counter");
    let values = bytes![1_i64, 2_i64];
    let batch = counter_batch(counter, &values, Some(&[20, 10]));
    scene
        .program
        .write_counters(scene.stream, &batch)
        .expect("written");
    assert_eq!(
        scene.found(),
        [
            "batch-order: stream \"gpu\", event 1, at 10: sample 1 of the batch of counter `depth` comes after one at 20; the flags say Sorted"
        ]
    );
}

#[test]
fn many_batches_of_few_items_are_noticed() {
    let write = |batches: usize, items: usize| {
        let scene = Scene::new();
        let marks = scene.marks();
        let times: Vec<u8> = (0..items as i64).flat_map(i64::to_ne_bytes).collect();
        for _ in 0..batches {
            scene
                .program
                .write_batch(scene.stream, &batch(marks, &times))
                .expect("written");
        }
        scene.found()
    };
    assert_eq!(write(63, 1), [""; 0]);
    assert_eq!(write(64, 2), [""; 0]);
    assert_eq!(
        write(64, 1),
        ["tiny-batches: stream \"gpu\": 64 events and samples came in 64 batches"]
    );
}
