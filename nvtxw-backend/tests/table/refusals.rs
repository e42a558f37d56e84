//! What a backend is told of refusals when its session ends.

use nvtxw_abi::raw::*;
use nvtxw_backend::RefusalCounts;

use crate::program::*;
use crate::recorder::from_inside;
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
    let overlapping = [at(1, entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, c"x")); 9];
    program
        .schema(domain, &schema_attr(0, &overlapping))
        .expect_err("not supported");
    // Of no session.
    program
        .write(handle(u64::MAX), &[])
        .expect_err("no such stream");

    assert_eq!(program.journal.refusals(), []);
    program.end(scene.session).expect("ended");
    assert_eq!(
        program.journal.refusals(),
        [RefusalCounts {
            calls: 6,
            unsupported: 1,
            left_out: 2,
            skipped_streams: 0,
        }]
    );
}

#[test]
fn calls_that_never_get_to_their_stream_are_counted_too() {
    let scene = Scene::new();
    let mark = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries());
    let (table, stream) = (scene.program.table(), scene.stream);
    from_inside(move || {
        let write = table.EventWrite.expect("a member");
        let close = table.StreamClose.expect("a member");
        // SAFETY:
        // - There are no payloads.
        call(|| unsafe { write(stream, std::ptr::null(), 0) }).expect_err("overlaps");
        // SAFETY:
        // - Handles are never followed.
        call(|| unsafe { close(stream) }).expect_err("overlaps");
    });
    scene
        .write(&[payload(mark, &bytes![1_i64])])
        .expect("written");
    scene.program.close(stream).expect("closed");
    scene.write(&[]).expect_err("closed before");
    scene.program.close(stream).expect_err("closed before");
    scene.program.end(scene.session).expect("ended");
    let counts = scene.program.journal.refusals();
    assert_eq!((counts.len(), counts[0].calls), (1, 4));
    // Nobody is told any more.
    scene.program.end(scene.session).expect_err("ended before");
    assert_eq!(scene.program.journal.refusals(), counts);
}

/// Each with something that it refuses, on an object that has a name.
#[test]
fn every_member_names_what_it_was_called_on() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let stream = program.open(session, c"gpu", domain);
    let begin = |attr: &nvtxwSessionAttributes_t| program.begin_with(attr);
    let refused = begin(&nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"refuse begin".as_ptr(),
        configString: std::ptr::null(),
    });
    let mut reports = vec![refused.expect_err("refused").report];
    let mut refuse = |outcome: Outcome| reports.push(outcome.expect_err("refused").report);
    refuse(member!(
        program,
        DomainRegister(session, std::ptr::null(), std::ptr::null_mut())
    ));
    refuse(member!(
        program,
        CategoryRegister(domain, 0, c"io".as_ptr())
    ));
    refuse(member!(
        program,
        StringRegister(domain, std::ptr::null(), &mut std::ptr::null_mut())
    ));
    refuse(member!(program, ResourceRegister(domain, std::ptr::null())));
    refuse(member!(
        program,
        ScopeRegister(domain, std::ptr::null(), &mut 0)
    ));
    refuse(member!(
        program,
        SchemaRegister(domain, std::ptr::null(), &mut 0)
    ));
    refuse(member!(
        program,
        EnumRegister(domain, std::ptr::null(), &mut 0)
    ));
    refuse(member!(
        program,
        CounterRegister(domain, std::ptr::null(), &mut 0)
    ));
    refuse(member!(
        program,
        TimeDomainRegister(domain, std::ptr::null(), &mut 0)
    ));
    refuse(member!(
        program,
        StreamOpen(session, std::ptr::null(), &mut std::ptr::null_mut())
    ));
    refuse(member!(program, EventWrite(stream, std::ptr::null(), 1)));
    refuse(member!(program, EventBatchWrite(stream, std::ptr::null())));
    refuse(member!(
        program,
        CounterWrite(stream, 0, 1, std::ptr::null(), 8)
    ));
    refuse(member!(program, CounterNoValueWrite(stream, 0, 1, 0)));
    refuse(member!(
        program,
        CounterBatchWrite(stream, std::ptr::null())
    ));
    refuse(member!(program, TimeSyncPointWrite(stream, 999, 0, 0, 0)));
    refuse(member!(
        program,
        TimeSyncPointTableWrite(stream, 0, 0, std::ptr::null(), 1)
    ));
    refuse(member!(
        program,
        TimestampConversionFactorWrite(stream, 0, 0, 0.0, 0, 0)
    ));
    program.close(stream).expect("closed");
    refuse(program.close(stream));
    program.end(session).expect("ended");
    refuse(program.end(session));

    let named: Vec<_> = reports
        .iter()
        .map(|report| report.split_once(": ").expect("a reason").0)
        .collect();
    assert_eq!(
        named,
        [
            "SessionBegin on \"refuse begin\"",
            "DomainRegister on \"run\"",
            "CategoryRegister on \"sim\"",
            "StringRegister on \"sim\"",
            "ResourceRegister on \"sim\"",
            "ScopeRegister on \"sim\"",
            "SchemaRegister on \"sim\"",
            "EnumRegister on \"sim\"",
            "CounterRegister on \"sim\"",
            "TimeDomainRegister on \"sim\"",
            "StreamOpen on \"run\"",
            "EventWrite on \"gpu\"",
            "EventBatchWrite on \"gpu\"",
            "CounterWrite on \"gpu\"",
            "CounterNoValueWrite on \"gpu\"",
            "CounterBatchWrite on \"gpu\"",
            "TimeSyncPointWrite on \"gpu\"",
            "TimeSyncPointTableWrite on \"gpu\"",
            "TimestampConversionFactorWrite on \"gpu\"",
            "StreamClose on \"gpu\"",
            "SessionEnd on \"run\"",
        ]
    );
    // All but the first and the last, which are of no session that lives.
    assert_eq!(program.journal.refusals()[0].calls, 19);
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
