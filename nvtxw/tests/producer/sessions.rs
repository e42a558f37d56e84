//! Sessions, domains and streams.

use nvtxw::abi::raw;
use nvtxw::{
    BatchOrdering, Config, DefaultScope, Error, ResultCode, Session, Skid, StreamInterleaving,
    StreamOptions, StreamOrdering, TimestampType,
};

use crate::recorder::{self, Call, Stream, answer, call, calls, session};

#[test]
fn a_session_begins_with_its_name_and_config_and_ends_once() {
    let backend = recorder::backend();
    let config = Config::new()
        .set("path", "a b")
        .unwrap()
        .set("overwrite", "true")
        .unwrap();
    let session = Session::begin(&backend, "run-42", &config).unwrap();
    assert_eq!(session.name(), "run-42");
    let Call::SessionBegin {
        struct_size,
        name,
        config,
        out,
    } = call()
    else {
        panic!()
    };
    assert_eq!(
        (struct_size, name.as_str(), config.as_deref()),
        (24, "run-42", Some("path=a b|overwrite=true"))
    );
    session.end().unwrap();
    assert_eq!(calls(), [Call::SessionEnd { session: out }]);

    let session = Session::begin(&backend, "", &Config::new()).unwrap();
    let Call::SessionBegin {
        config: None, out, ..
    } = call()
    else {
        panic!()
    };
    drop(session);
    assert_eq!(calls(), [Call::SessionEnd { session: out }]);
}

#[test]
fn a_session_that_cannot_begin_says_why() {
    let backend = recorder::backend();
    let error = Session::begin(&backend, "a\0b", &Config::new())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the session name has a NUL byte at position 1, where C's text ends: take it out"
    );
    assert_eq!(calls(), []);

    answer("SessionBegin", raw::NVTXW_RESULT_FAILED);
    let error = Session::begin(&backend, "run", &Config::new()).unwrap_err();
    assert!(matches!(
        error,
        Error::Call {
            code: ResultCode::FAILED,
            ..
        }
    ));
    assert_eq!(
        error.to_string(),
        "can't begin session `run`: the backend answered FAILED (1); it may tell why, a full disk for example, on \
         standard error or in a log"
    );
}

#[test]
fn the_error_of_the_end_is_reported_and_the_session_is_over() {
    let session = session("run");
    answer("SessionEnd", raw::NVTXW_RESULT_FAILED);
    let error = session.end().unwrap_err().to_string();
    assert!(
        error.starts_with("can't end session `run`: the backend answered FAILED (1)"),
        "{error}"
    );
    assert_eq!(calls().len(), 1);
}

#[test]
fn a_domain_is_registered_once_by_name() {
    let mut session = session("run");
    let sim = session.domain("sim").unwrap().id();
    let Call::Domain {
        struct_size, name, ..
    } = call()
    else {
        panic!()
    };
    assert_eq!((struct_size, name.as_deref()), (16, Some("sim")));
    assert_eq!(session.domain("sim").unwrap().id(), sim);
    assert_eq!(session.domain_at(sim).unwrap().name(), "sim");
    assert_eq!(calls(), []);

    let default = session.default_domain().unwrap().id();
    assert!(matches!(call(), Call::Domain { name: None, .. }));
    assert_eq!(session.domain("").unwrap().id(), default);
    assert_ne!(default, sim);
    assert_eq!(calls(), []);

    let error = session.domain("\0").unwrap_err().to_string();
    assert_eq!(
        error,
        "the domain name has a NUL byte at position 0, where C's text ends: take it out"
    );
    answer("DomainRegister", 42);
    let error = session.domain("other").unwrap_err().to_string();
    assert_eq!(
        error,
        "can't register domain `other` of session `run`: the backend answered unknown result 42; see that backend's \
         documentation"
    );
}

#[test]
fn a_stream_opens_with_its_options() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let scope = domain.scope("GPU 0").unwrap();
    let id = domain.id();
    let [
        Call::Domain {
            session: handle,
            out: domain,
            ..
        },
        Call::Scope { out: scope_id, .. },
    ] = calls()[..]
    else {
        panic!()
    };
    let plain = StreamOptions::new(id).plain_events(false);
    let stream = session.open_stream("s", plain).unwrap();
    assert_eq!(stream.name(), "s");
    let defaults = Stream {
        struct_size: 56,
        name: "s".into(),
        domain,
        scope: 0,
        time_domain: 0,
        interleaving: 0,
        ordering: 0,
        skid: 0,
        skid_amount: 0,
    };
    let Call::StreamOpen {
        session: of,
        stream,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!((of, stream), (handle, defaults.clone()));

    let options = plain
        .scope(scope)
        .time_domain(TimestampType::ClockMonotonic)
        .interleaving(StreamInterleaving::Scope)
        .ordering(StreamOrdering::PackedRangeEnd)
        .skid(Skid::EventCount, 7)
        .batch_ordering(BatchOrdering::Sorted);
    session.open_stream("t", options).unwrap();
    let Call::StreamOpen { stream, .. } = call() else {
        panic!()
    };
    let all = Stream {
        name: "t".into(),
        scope: scope_id,
        time_domain: raw::NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
        interleaving: 1,
        ordering: 3,
        skid: 2,
        skid_amount: 7,
        ..defaults
    };
    assert_eq!(stream, all);

    session
        .open_stream("u", plain.scope(DefaultScope::Root))
        .unwrap();
    assert!(matches!(
        call(),
        Call::StreamOpen {
            stream: Stream { scope: 1, .. },
            ..
        }
    ));
}

#[test]
fn a_stream_that_cannot_open_is_named() {
    let mut session = session("run");
    let domain = session.domain("sim").unwrap().id();
    let options = StreamOptions::new(domain).plain_events(false);
    let error = session.open_stream("a\0", options).unwrap_err().to_string();
    assert_eq!(
        error,
        "the stream name has a NUL byte at position 1, where C's text ends: take it out"
    );
    answer("StreamOpen", raw::NVTXW_RESULT_INVALID_ARGUMENT);
    assert_eq!(
        session
            .open_stream("GPU 0", options)
            .unwrap_err()
            .to_string(),
        "can't open stream `GPU 0` on domain `sim` of session `run` (no two streams of a session may have the same name): \
         the backend answered INVALID_ARGUMENT (2); it may tell why on standard error or in a log"
    );
    answer("StreamOpen", raw::NVTXW_RESULT_FAILED);
    let error = session
        .open_stream("GPU 0", options)
        .unwrap_err()
        .to_string();
    assert!(
        error
            .starts_with("can't open stream `GPU 0` on domain `sim` of session `run`: the backend"),
        "{error}"
    );
}

#[test]
fn a_stream_is_closed_once_or_handed_back() {
    let mut session = session("run");
    let domain = session.default_domain().unwrap().id();
    let options = StreamOptions::new(domain).plain_events(false);
    let stream = session.open_stream("s", options).unwrap();
    let Some(Call::StreamOpen { out, .. }) = calls().pop() else {
        panic!()
    };
    answer("StreamClose", raw::NVTXW_RESULT_FAILED);
    let error = session.close_stream(stream).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "can't close stream `s` of the default domain of session `run`: the backend answered"
        ),
        "{error}"
    );
    assert_eq!(call(), Call::StreamClose { stream: out });
    answer("StreamClose", 0);
    session.close_stream(error.into_stream()).unwrap();
    assert_eq!(call(), Call::StreamClose { stream: out });

    // Dropped, it is the session's end that closes it.
    drop(session.open_stream("t", options).unwrap());
    calls();
    session.end().unwrap();
    assert!(matches!(call(), Call::SessionEnd { .. }));
}

#[test]
fn threads_write_to_streams_of_their_own() {
    let mut session = session("run");
    let domain = session.default_domain().unwrap().id();
    let mut streams: Vec<_> = (0..3)
        .map(|number| {
            session
                .open_stream(&number.to_string(), StreamOptions::new(domain))
                .unwrap()
        })
        .collect();
    calls();
    let session = &session;
    std::thread::scope(|scope| {
        for stream in &mut streams {
            scope.spawn(move || {
                let out = session.writer(stream).unwrap();
                out.mark(1).write().unwrap();
                assert!(matches!(call(), Call::Event { .. }));
            });
        }
    });
    // A writer moves, too.
    let out = session.writer(&mut streams[0]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            out.mark(2).write().unwrap();
            assert!(matches!(call(), Call::Event { .. }));
        });
    });
    assert_eq!(calls(), []);
}
