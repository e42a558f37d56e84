//! Handles: stale, foreign, null and made up; overlap and re-entry.

use std::ptr;

use nvtxw_backend::ResultCode;

use crate::program::*;
use crate::recorder::from_inside;

#[test]
fn null_handles_are_refused_by_every_member() {
    let program = Program::new();
    let (session, domain, stream): (Session, Domain, Stream) =
        (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let refused = |member: &str, kind: &str| format!("{member} on \"\": the {kind} handle is null");
    assert_invalid(program.end(session), &refused("SessionEnd", "session"));
    assert_invalid(
        program.domain(session, None),
        &refused("DomainRegister", "session"),
    );
    assert_invalid(
        program.open_with(session, &stream_attr(c"gpu", domain)),
        &refused("StreamOpen", "session"),
    );
    assert_invalid(
        member!(program, CategoryRegister(domain, 1, c"io".as_ptr())),
        &refused("CategoryRegister", "domain"),
    );
    assert_invalid(
        program.string(domain, c"gemm"),
        &refused("StringRegister", "domain"),
    );
    assert_invalid(
        member!(program, ResourceRegister(domain, ptr::null())),
        &refused("ResourceRegister", "domain"),
    );
    assert_invalid(
        program.scope(domain, 0, None, 0),
        &refused("ScopeRegister", "domain"),
    );
    assert_invalid(
        program.schema(domain, &schema_attr(0, &mark_entries())),
        &refused("SchemaRegister", "domain"),
    );
    assert_invalid(
        program.enumeration(domain, &enum_attr(&[], 4)),
        &refused("EnumRegister", "domain"),
    );
    assert_invalid(
        program.counter(domain, &counter_attr(c"n", 17)),
        &refused("CounterRegister", "domain"),
    );
    assert_invalid(
        member!(
            program,
            TimeDomainRegister(domain, ptr::null(), ptr::null_mut())
        ),
        &refused("TimeDomainRegister", "domain"),
    );
    assert_invalid(program.close(stream), &refused("StreamClose", "stream"));
    assert_invalid(program.write(stream, &[]), &refused("EventWrite", "stream"));
    assert_invalid(
        program.write_batch(stream, &batch(0, &[])),
        &refused("EventBatchWrite", "stream"),
    );
    assert_invalid(
        program.write_counter(stream, 0, 0, &[]),
        &refused("CounterWrite", "stream"),
    );
    assert_invalid(
        member!(program, CounterNoValueWrite(stream, 0, 0, 0)),
        &refused("CounterNoValueWrite", "stream"),
    );
    assert_invalid(
        program.write_counters(stream, &counter_batch(0, &[], None)),
        &refused("CounterBatchWrite", "stream"),
    );
    assert_invalid(
        member!(program, TimeSyncPointWrite(stream, 0, 0, 0, 0)),
        &refused("TimeSyncPointWrite", "stream"),
    );
    assert_invalid(
        member!(
            program,
            TimeSyncPointTableWrite(stream, 0, 0, ptr::null(), 0)
        ),
        &refused("TimeSyncPointTableWrite", "stream"),
    );
    assert_invalid(
        member!(
            program,
            TimestampConversionFactorWrite(stream, 0, 0, 1.0, 0, 0)
        ),
        &refused("TimestampConversionFactorWrite", "stream"),
    );
}

#[test]
fn handles_of_another_kind_are_named() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let string = program.string(domain, c"gemm").expect("a string");
    assert_invalid(
        program.close(session.cast()),
        &format!(
            "StreamClose on \"\": {:#x} is no stream handle, but that of a session",
            number(session)
        ),
    );
    assert_invalid(
        program.end(stream.cast()),
        &format!(
            "SessionEnd on \"\": {:#x} is no session handle, but that of a stream",
            number(stream)
        ),
    );
    assert_invalid(
        program.string(string.cast(), c"x"),
        &format!(
            "StringRegister on \"\": {:#x} is no domain handle, but that of a string",
            number(string)
        ),
    );
}

#[test]
fn made_up_handles_are_refused() {
    let program = Program::new();
    let (_, _, stream) = program.ready();
    for made_up in [
        1,
        0xDEAD_BEEF,
        u64::MAX,
        number(stream) + (1 << 30),
        number(stream) ^ (1 << 62),
    ] {
        assert_invalid(
            program.close(handle(made_up)),
            &format!(
                "StreamClose on \"\": {made_up:#x} is no stream handle: none such was given out"
            ),
        );
    }
}

#[test]
fn stale_handles_stay_stale_when_their_place_is_used_again() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    program.close(stream).expect("closed");
    // Places are used again: some of these streams have the old one's.
    let streams: Vec<Stream> = (0..50)
        .map(|_| program.open(session, c"", domain))
        .collect();
    assert!(!streams.contains(&stream));
    let stale = |member: &str| {
        format!(
            "{member} on \"gpu\": the stream handle {:#x} is stale: its stream has ended",
            number(stream)
        )
    };
    let outcome = program.close(stream).expect_err("stale");
    assert_eq!(outcome.code, ResultCode::INVALID_ARGUMENT);
    // The name is gone with the place.
    assert_eq!(
        outcome.report.replace("on \"\"", "on \"gpu\""),
        stale("StreamClose")
    );

    program.end(session).expect("ended");
    for stream in streams {
        assert_invalid(
            program.write(stream, &[]),
            &format!(
                "EventWrite on \"\": the stream handle {:#x} is stale: its stream has ended",
                number(stream)
            ),
        );
    }
    assert_invalid(
        program.string(domain, c"gemm"),
        &format!(
            "StringRegister on \"\": the domain handle {:#x} is stale: its domain has ended",
            number(domain)
        ),
    );
    assert_invalid(
        program.domain(session, None),
        &format!(
            "DomainRegister on \"run\": the session handle {:#x} is stale: its session has ended",
            number(session)
        ),
    );
}

#[test]
fn a_call_from_inside_on_the_same_stream_fails() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let mark = program.mark(domain);
    let other = program.open(session, c"other", domain);
    let table = program.table();
    from_inside(move || {
        let inside = "another call is inside this stream: calls on one stream must not overlap, nor come from inside the \
                      backend";
        let write = table.EventWrite.expect("a member");
        let write = |stream| {
            let bytes = bytes![2_i64];
            // SAFETY:
            // - One payload is passed.
            call(|| unsafe { write(stream, &payload(mark, &bytes), 1) })
        };
        let close = table.StreamClose.expect("a member");
        let string = table.StringRegister.expect("a member");
        assert_failed(write(stream), &format!("EventWrite on \"gpu\": {inside}"));
        // SAFETY:
        // - Handles are never followed.
        assert_failed(
            call(|| unsafe { close(stream) }),
            &format!("StreamClose on \"gpu\": {inside}"),
        );
        // Other streams, and registration, are free.
        write(other).expect("written");
        // SAFETY:
        // - The text is null-terminated, and the result has a place.
        call(|| unsafe { string(domain, c"inside".as_ptr(), &mut ptr::null_mut()) })
            .expect("registered");
    });
    program
        .write(stream, &[payload(mark, &bytes![1_i64])])
        .expect("written");
    assert_eq!(program.journal.take(), ["open other", "mark @1", "mark @2"]);
    program.close(stream).expect("the stream is as before");
}

#[test]
fn a_session_that_ends_takes_nothing_new() {
    let program = Program::new();
    let (session, ..) = program.ready();
    let table = program.table();
    from_inside(move || {
        let register = table.DomainRegister.expect("a member");
        let end = table.SessionEnd.expect("a member");
        // SAFETY:
        // - The result has a place.
        let registered = call(|| unsafe { register(session, ptr::null(), &mut ptr::null_mut()) });
        assert_failed(
            registered,
            "DomainRegister on \"run\": this session is ending",
        );
        // SAFETY:
        // - Handles are never followed.
        assert_failed(
            call(|| unsafe { end(session) }),
            "SessionEnd on \"run\": this session is ending",
        );
    });
    program.end(session).expect("ended");
    assert_eq!(
        program.journal.take().last().map(String::as_str),
        Some("drop session run")
    );
}
