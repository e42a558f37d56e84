//! What a backend is told of refusals when its session ends.

use nvtxw_abi::raw::*;
use nvtxw_backend::RefusalCounts;

use crate::program::*;
use crate::scene::Scene;

#[test]
fn refusals_are_counted_for_the_session() {
    let scene = Scene::new();
    let (program, domain, stream) = (&scene.program, scene.domain, scene.stream);
    let pushpop = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, &pushpop_entries());
    let counter = program
        .counter(domain, &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64))
        .expect("a counter");
    // On the stream, the domain, the session.
    scene.write(&[]).expect_err("no payload");
    program
        .write_counter(stream, 0, counter, &[1])
        .expect_err("too short");
    program
        .schema(domain, &schema_attr(0, &[]))
        .expect_err("no entry");
    program
        .open_with(scene.session, &stream_attr(c"gpu", domain))
        .expect_err("the name is taken");
    // Two bad of four; and by the backend itself.
    let events = bytes![1_i64, 2_i64, 2_i64, 1_i64, 3_i64, 4_i64, 4_i64, 3_i64];
    program
        .write_batch(stream, &batch(pushpop, &events))
        .expect_err("two end before they start");
    let late = [
        mark_entries()[0],
        message_entry(),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"late"),
    ];
    program
        .schema(domain, &dynamic(schema_attr(0, &late)))
        .expect_err("not supported");
    // Those never get to the session.
    program
        .write(handle(number(stream) + 1), &[])
        .expect_err("no such stream");

    assert_eq!(program.journal.refusals(), []);
    program.end(scene.session).expect("ended");
    assert_eq!(
        program.journal.refusals(),
        [RefusalCounts {
            calls: 6,
            unsupported: 1,
            left_out: 2
        }]
    );
}

#[test]
fn a_session_without_refusals_is_told_nothing() {
    let scene = Scene::new();
    let other = scene.program.begin(c"other");
    scene.write(&[]).expect_err("no payload");
    scene.program.end(other).expect("ended");
    assert_eq!(scene.program.journal.refusals(), []);
    scene.program.end(scene.session).expect("ended");
    let counts = scene.program.journal.refusals();
    assert_eq!((counts.len(), counts[0].calls), (1, 1));
}
