//! Sessions and streams: beginning, opening, closing, ending.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{ScopeRef, Skid, StreamInterleaving, StreamOrdering};

use crate::program::*;
use crate::recorder::from_inside;

fn session_attr(
    name: *const std::ffi::c_char,
    config: *const std::ffi::c_char,
) -> nvtxwSessionAttributes_t {
    nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name,
        configString: config,
    }
}

#[test]
fn a_session_from_begin_to_end() {
    let program = Program::new();
    let attr = session_attr(c"run-42".as_ptr(), c"a=1|a=2\n#x|b=2".as_ptr());
    let session = program.begin_with(&attr).expect("a session");
    let gpu = program.open(session, c"gpu", ptr::null_mut());
    program.open(session, c"dma", ptr::null_mut());
    program.open(session, c"cpu", ptr::null_mut());
    program.close(gpu).expect("closed");
    program.end(session).expect("ended");
    let lines = program.journal.take();
    assert_eq!(
        lines,
        [
            "begin run-42 a=1 b=2",
            "open gpu",
            "open dma",
            "open cpu",
            "close gpu",
            "drop stream gpu",
            // In the order in which they were opened.
            "close dma",
            "drop stream dma",
            "close cpu",
            "drop stream cpu",
            "end run-42",
            "drop session run-42",
        ]
    );
    let journal = program.journal.clone();
    drop(program);
    assert_eq!(journal.take(), ["finalize", "drop backend"]);
}

#[test]
fn the_backend_stays_until_its_last_session_ends() {
    let program = Program::new();
    let session = program.begin(c"run");
    let (journal, table) = (program.journal.clone(), program.table());
    drop(program);
    assert_eq!(journal.take(), ["begin run"]);
    let end = table.SessionEnd.expect("a member");
    // SAFETY:
    // - Handles are never followed.
    call(|| unsafe { end(session) }).expect("ended");
    assert_eq!(
        journal.take(),
        ["end run", "drop session run", "finalize", "drop backend"]
    );
}

#[test]
fn sessions_need_no_name_and_take_any_bytes_as_one() {
    let program = Program::new();
    for (name, noted) in [
        (ptr::null(), "begin (none)"),
        (c"".as_ptr(), "begin (none)"),
        (c"\xFFrun".as_ptr(), "begin \u{FFFD}run"),
        (c"한강".as_ptr(), "begin 한강"),
    ] {
        program
            .begin_with(&session_attr(name, ptr::null()))
            .expect("a session");
        assert_eq!(program.journal.take(), [noted]);
    }
}

#[test]
fn two_instances_know_nothing_of_each_other() {
    let (one, two) = (Program::new(), Program::new());
    let (session, domain, stream) = one.ready();
    two.ready();
    let mark = one
        .schema(
            domain,
            &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
        )
        .expect("a schema");
    one.write(stream, &[payload(mark, &bytes![7_i64])])
        .expect("written");
    assert_eq!(one.journal.take(), ["mark @7"]);
    assert_eq!(two.journal.take(), [""; 0]);
    one.end(session).expect("ended");
    assert_eq!(two.journal.take(), [""; 0]);
}

#[test]
fn what_a_backend_refuses_is_refused() {
    let program = Program::new();
    assert_failed(
        program.begin_with(&session_attr(c"refuse begin".as_ptr(), ptr::null())),
        "SessionBegin on \"refuse begin\": the recorder refuses begin",
    );
    let session = program.begin(c"refuse end");
    assert_failed(
        program.open_with(session, &stream_attr(c"refuse open", ptr::null_mut())),
        "StreamOpen on \"refuse end\": the recorder refuses open",
    );
    let stream = program.open(session, c"refuse close", ptr::null_mut());
    let other = program.open(session, c"fine", ptr::null_mut());
    assert_failed(
        program.close(stream),
        "StreamClose on \"refuse close\": the recorder refuses close",
    );
    assert_invalid(
        program.close(stream),
        &format!(
            "StreamClose on \"refuse close\": the stream handle {:#x} is stale: its stream has ended",
            number(stream)
        ),
    );
    let last = program.open(session, c"refuse close", ptr::null_mut());
    program.journal.take();
    // All streams are closed and the session is ended, whatever fails.
    assert_failed(
        program.end(session),
        "SessionEnd on \"refuse end\": stream \"refuse close\": the recorder refuses close",
    );
    assert_eq!(
        program.journal.take(),
        [
            "close fine",
            "drop stream fine",
            "close refuse close",
            "drop stream refuse close",
            "end refuse end",
            "drop session refuse end"
        ]
    );
    for stream in [other, last] {
        program.close(stream).expect_err("a stale handle");
    }
}

#[test]
fn the_refusal_of_the_flush_is_returned() {
    let program = Program::new();
    let session = program.begin(c"refuse end");
    assert_failed(
        program.end(session),
        "SessionEnd on \"refuse end\": the recorder refuses end",
    );
    assert_invalid(
        program.end(session),
        &format!(
            "SessionEnd on \"refuse end\": the session handle {:#x} is stale: its session has ended",
            number(session)
        ),
    );
}

#[test]
fn names_of_open_streams_differ() {
    let program = Program::new();
    let session = program.begin(c"run");
    let gpu = program.open(session, c"gpu", ptr::null_mut());
    assert_invalid(
        program.open_with(session, &stream_attr(c"gpu", ptr::null_mut())),
        "StreamOpen on \"run\": attr.name \"gpu\" is that of an open stream of this session; names of streams must differ",
    );
    // Another session may, and so may this one once the stream is closed, or if opening it failed.
    program.open(program.begin(c"run"), c"gpu", ptr::null_mut());
    program.close(gpu).expect("closed");
    program.open(session, c"gpu", ptr::null_mut());
    for _ in 0..2 {
        program
            .open_with(session, &stream_attr(c"refuse open", ptr::null_mut()))
            .expect_err("refused by the backend");
    }
    assert_eq!(
        program
            .journal
            .take()
            .iter()
            .filter(|line| *line == "open refuse open")
            .count(),
        2
    );
    // Streams without a name are not mistaken for each other.
    for _ in 0..2 {
        let attr = nvtxwStreamAttributes_t {
            name: ptr::null(),
            ..stream_attr(c"", ptr::null_mut())
        };
        program
            .open_with(session, &attr)
            .expect("a stream without name");
    }
}

#[test]
fn a_stream_knows_what_it_was_opened_with() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let scope = program
        .scope(domain, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 0)
        .expect("a scope");
    let attr = nvtxwStreamAttributes_t {
        scopeId: scope,
        timeDomainId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
        orderInterleaving: NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE,
        orderingType: NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END,
        orderingSkid: NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT,
        orderingSkidAmount: 64,
        ..stream_attr(c"gpu\xFF", domain)
    };
    program.open_with(session, &attr).expect("a stream");
    let stream = program.journal.stream();
    assert_eq!(stream.name(), "gpu\u{FFFD}");
    assert_eq!(stream.domain().name(), Some("sim"));
    assert!(
        matches!(stream.scope(), ScopeRef::Registered(scope) if scope.path()[0].to_string() == "GPU[0]")
    );
    assert_eq!(stream.time_domain(), NVTX_TIMESTAMP_TYPE_CPU_TSC);
    assert_eq!(stream.interleaving(), StreamInterleaving::Scope);
    assert_eq!(stream.ordering(), StreamOrdering::PackedRangeEnd);
    assert_eq!(
        (stream.skid(), stream.skid_amount()),
        (Skid::EventCount, 64)
    );
}

#[test]
fn bad_stream_attributes_are_refused() {
    let program = Program::new();
    let session = program.begin(c"run");
    let domain = program.domain(session, Some(c"sim")).expect("a domain");
    let good = stream_attr(c"gpu", domain);
    let foreign = program
        .domain(program.begin(c"other"), Some(c"sim"))
        .expect("a domain of another session");
    let scope = program
        .scope(foreign, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 0)
        .expect("a scope of another session");
    program.journal.take();
    for (attr, reason) in [
        (
            nvtxwStreamAttributes_t { domain: foreign, ..good },
            format!("attr.domain {:#x} is a domain of another session: register it in this one", number(foreign)),
        ),
        (
            nvtxwStreamAttributes_t { domain: session.cast(), ..good },
            format!("attr.domain: {:#x} is no domain handle, but that of a session", number(session)),
        ),
        (
            nvtxwStreamAttributes_t { scopeId: NVTX_SCOPE_CURRENT_SW_THREAD, ..good },
            "attr.scopeId 22 depends on where code runs; use NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT or a scope of the domain"
                .to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { scopeId: scope, ..good },
            format!("attr.scopeId {scope} is not registered in the domain: register it first"),
        ),
        (
            nvtxwStreamAttributes_t { timeDomainId: 9, ..good },
            "attr.timeDomainId 9 is neither a timestamp type nor a time domain of the stream's domain".to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { orderInterleaving: 2, ..good },
            "attr.orderInterleaving is 2; the ABI defines 0 to 1".to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { orderingType: -1, ..good },
            "attr.orderingType is -1; the ABI defines 0 to 3".to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { orderingSkid: 3, ..good },
            "attr.orderingSkid is 3; the ABI defines 0 to 2".to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { orderingSkid: 1, orderingSkidAmount: -5, ..good },
            "attr.orderingSkidAmount is -5; it must not be negative".to_owned(),
        ),
        (
            nvtxwStreamAttributes_t { structSize: 7, ..good },
            "attr.structSize is 7; at least 8 bytes are needed: set it to the size of the struct".to_owned(),
        ),
    ] {
        assert_invalid(program.open_with(session, &attr), &format!("StreamOpen on \"run\": {reason}"));
    }
    assert_eq!(program.journal.take(), [""; 0], "the backend is not asked");
    assert_invalid(
        member!(
            program,
            StreamOpen(session, ptr::null(), &mut ptr::null_mut())
        ),
        "StreamOpen on \"run\": attr is null",
    );
    assert_invalid(
        member!(program, StreamOpen(session, &good, ptr::null_mut())),
        "StreamOpen on \"run\": streamOut is null, so that the result has no place",
    );
}

#[test]
fn structs_may_be_smaller_or_larger_than_ours() {
    #[repr(C)]
    struct Newer {
        attr: nvtxwStreamAttributes_t,
        more: [u64; 4],
    }

    let program = Program::new();
    let session = program.begin(c"run");
    let newer = Newer {
        attr: nvtxwStreamAttributes_t {
            structSize: size_of::<Newer>(),
            ..stream_attr(c"newer", ptr::null_mut())
        },
        more: [u64::MAX; 4],
    };
    program.open_with(session, &newer.attr).expect("a stream");

    // What the struct does not reach is as if it were zero, whatever lies there.
    let older = nvtxwStreamAttributes_t {
        structSize: 16,
        scopeId: 0xDEAD,
        timeDomainId: 0xDEAD,
        orderingType: 77,
        ..stream_attr(c"older", garbage())
    };
    program.open_with(session, &older).expect("a stream");
    assert_eq!(program.journal.stream().name(), "older");
    assert_eq!(program.journal.domain().name(), None);

    let oldest = nvtxwStreamAttributes_t {
        structSize: 8,
        name: garbage(),
        ..older
    };
    program.open_with(session, &oldest).expect("a stream");
    assert_eq!(program.journal.stream().name(), "");

    // Half a pointer is none.
    let cut = nvtxwStreamAttributes_t {
        structSize: 15,
        ..oldest
    };
    program.open_with(session, &cut).expect("a stream");
    assert_eq!(program.journal.stream().name(), "");

    let session = nvtxwSessionAttributes_t {
        structSize: 16,
        ..session_attr(c"older".as_ptr(), garbage())
    };
    program.begin_with(&session).expect("a session");
    assert_invalid(
        program.begin_with(&nvtxwSessionAttributes_t {
            structSize: 0,
            ..session
        }),
        "SessionBegin on \"\": attr.structSize is 0; at least 8 bytes are needed: set it to the size of the struct",
    );
}

#[test]
fn a_session_does_not_end_under_another_call() {
    let program = Program::new();
    let (session, domain, stream) = program.ready();
    let mark = program.mark(domain);
    let end_from_inside = |reason: &'static str| {
        let end = program.table().SessionEnd.expect("a member");
        from_inside(move || {
            // SAFETY:
            // - Handles are never followed.
            let outcome = call(|| unsafe { end(session) });
            assert_failed(outcome, reason);
        });
    };
    end_from_inside(
        "SessionEnd on \"run\": nothing was ended: a StreamOpen of this session is running",
    );
    let other = program.open(session, c"other", domain);
    end_from_inside(
        "SessionEnd on \"run\": nothing was ended: stream \"gpu\": another call is inside this stream: calls on one stream \
         must not overlap, nor come from inside the backend",
    );
    program
        .write(stream, &[payload(mark, &bytes![1_i64])])
        .expect("written");
    assert_eq!(
        program.journal.take(),
        ["open other", "mark @1"],
        "nothing was closed"
    );
    program
        .write(other, &[payload(mark, &bytes![2_i64])])
        .expect("the session goes on");
    program.end(session).expect("ended");
}
