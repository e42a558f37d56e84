//! What belongs to one session or domain, used with another: both are named.

use nvtxw::{CounterOptions, NvtxEvent, RecordLayout, Session, Stream, StreamOptions};

use crate::recorder::{Call, call, calls, session};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = mark)]
struct Launch {
    #[nvtx(timestamp)]
    time: i64,
}

const FIX: &str = "use it where it belongs, or register it there too";

fn open(session: &mut Session, domain: &str) -> Stream {
    let domain = session.domain(domain).unwrap().id();
    session
        .open_stream("s", StreamOptions::new(domain))
        .unwrap()
}

#[test]
fn a_counter_or_a_schema_of_another_domain() {
    let (mut x, mut y) = (session("x"), session("y"));
    let mut a = x.domain("a").unwrap();
    let (queue, launch) = (
        a.counter::<i64>("queue").unwrap(),
        a.schema::<Launch>().unwrap(),
    );
    let mut s = open(&mut y, "b");
    let out = y.writer(&mut s).unwrap();
    assert_eq!(
        out.counter(queue).unwrap_err().to_string(),
        format!(
            "counter `queue` belongs to domain `a` of session `x`; stream `s` writes to domain `b` of session `y`: {FIX}"
        )
    );
    assert_eq!(
        out.events(launch).unwrap_err().to_string(),
        format!(
            "schema `Launch` belongs to domain `a` of session `x`; stream `s` writes to domain `b` of session `y`: {FIX}"
        )
    );
    // Within one session as well.
    let mut s = open(&mut x, "");
    let out = x.writer(&mut s).unwrap();
    assert_eq!(
        out.counter(queue).unwrap_err().to_string(),
        format!(
            "counter `queue` belongs to domain `a` of session `x`; stream `s` writes to the default domain of session `x`: \
             {FIX}"
        )
    );
}

#[test]
fn names_that_are_the_same_are_numbered() {
    let (mut first, mut second) = (session("run"), session("run"));
    let queue = first
        .domain("sim")
        .unwrap()
        .counter::<i64>("queue")
        .unwrap();
    let mut s = open(&mut second, "sim");
    let error = second
        .writer(&mut s)
        .unwrap()
        .counter(queue)
        .unwrap_err()
        .to_string();
    let number = |text: &str| -> u64 {
        let (_, text) = text.split_once("(number ").unwrap();
        text.split_once(" of this process)")
            .unwrap()
            .0
            .parse()
            .unwrap()
    };
    let (there, here) = error.split_once("; ").unwrap();
    assert!(
        there.starts_with("counter `queue` belongs to domain `sim` of session `run` (number "),
        "{error}"
    );
    assert!(
        here.starts_with("stream `s` writes to domain `sim` of session `run` (number "),
        "{error}"
    );
    assert!(number(there) < number(here), "{error}");

    let error = first.writer(&mut s).unwrap_err().to_string();
    let (there, here) = error.split_once("; ").unwrap();
    assert!(number(there) > number(here), "{error}");
}

#[test]
fn a_stream_of_another_session() {
    let (mut x, mut y) = (session("x"), session("y"));
    let mut s = open(&mut x, "a");
    assert_eq!(
        y.writer(&mut s).unwrap_err().to_string(),
        format!(
            "stream `s` belongs to session `x`; a writer of it was asked for in session `y`: {FIX}"
        )
    );
    calls();
    let error = y.close_stream(s).unwrap_err();
    assert_eq!(
        error.error().to_string(),
        format!("stream `s` belongs to session `x`; it was to be closed in session `y`: {FIX}")
    );
    assert_eq!(calls(), []);
    let mut s = error.into_stream();
    x.writer(&mut s).unwrap();

    // A stream outlives its session, and is of no use then.
    x.end().unwrap();
    let mut x = session("x");
    assert!(x.writer(&mut s).is_err());
    let error = x.close_stream(s).unwrap_err().to_string();
    assert!(
        error.starts_with("stream `s` belongs to session `x` (number "),
        "{error}"
    );
}

#[test]
fn a_domain_of_another_session() {
    let (mut x, mut y) = (session("x"), session("y"));
    let a = x.domain("a").unwrap().id();
    y.domain("b").unwrap();
    calls();
    assert_eq!(
        y.domain_at(a).unwrap_err().to_string(),
        format!("domain `a` belongs to session `x`; it was asked for in session `y`: {FIX}")
    );
    assert_eq!(
        y.open_stream("s", StreamOptions::new(a))
            .unwrap_err()
            .to_string(),
        format!(
            "domain `a` belongs to session `x`; stream `s` was to be opened on it in session `y`: {FIX}"
        )
    );
    assert_eq!(calls(), []);
    x.end().unwrap();
    assert_eq!(
        y.domain_at(a).unwrap_err().to_string(),
        format!(
            "the given domain belongs to a session that has ended; it was asked for in session `y`: {FIX}"
        )
    );
}

#[test]
fn a_scope_of_another_domain() {
    let mut session = session("run");
    let scope = session.domain("a").unwrap().scope("GPU 0").unwrap();
    let mut b = session.domain("b").unwrap();
    let launch = b.schema::<Launch>().unwrap();
    calls();
    let there = "belongs to domain `a` of session `run`";
    let here = "domain `b` of session `run`";
    assert_eq!(
        b.scope_in(scope, "queue").unwrap_err().to_string(),
        format!("a scope that was passed {there}; scope `queue` is for {here}: {FIX}")
    );
    assert_eq!(
        b.counter_with::<i64>("q", CounterOptions::new().scope(scope))
            .unwrap_err()
            .to_string(),
        format!("a scope that was passed {there}; counter `q` is for {here}: {FIX}")
    );
    let b = b.id();
    assert_eq!(
        session
            .open_stream("s", StreamOptions::new(b).scope(scope))
            .unwrap_err()
            .to_string(),
        format!("the scope of stream `s` {there}; the stream is for {here}: {FIX}")
    );
    assert_eq!(calls(), []);
    let mut s = session
        .open_stream("s", StreamOptions::new(b).plain_events(false))
        .unwrap();
    let out = session.writer(&mut s).unwrap();
    assert_eq!(
        out.events(launch)
            .unwrap()
            .scope(scope)
            .unwrap_err()
            .to_string(),
        format!("a scope that was passed {there}; stream `s` writes to {here}: {FIX}")
    );
}

#[test]
fn a_registered_message_or_a_row_of_another_domain() {
    let mut session = session("run");
    let mut a = session.domain("a").unwrap();
    let gemm = a.string("gemm").unwrap();
    let row = a
        .record("args", &RecordLayout::new().i64("x"))
        .unwrap()
        .row();
    let mut b = session.domain("b").unwrap();
    let launch = b.schema::<Launch>().unwrap();
    let mut s = open(&mut session, "b");
    calls();
    let out = session.writer(&mut s).unwrap();
    let error = out.mark(1).message(gemm).write().unwrap_err();
    let reason = "a registered string or a row that was passed belongs to domain `a` of session `run`: use one of the \
                  stream's own domain";
    assert_eq!(error.to_string(), reason);
    assert_eq!(error.code(), nvtxw::ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        error.at(&out).to_string(),
        format!("can't write an event to stream `s` of domain `b` of session `run`: {reason}")
    );
    let launches = out.events(launch).unwrap();
    assert_eq!(launches.write_with(&Launch { time: 1 }, &row), Err(error));
    assert_eq!(calls(), []);
}

#[test]
fn a_row_has_no_place_for_the_scope_of_a_batch() {
    let mut session = session("run");
    let mut domain = session.domain("sim").unwrap();
    let row = domain
        .record("args", &RecordLayout::new().i64("x"))
        .unwrap()
        .row();
    let (launch, scope) = (
        domain.schema::<Launch>().unwrap(),
        domain.scope("GPU 0").unwrap(),
    );
    let mut s = open(&mut session, "sim");
    calls();
    let out = session.writer(&mut s).unwrap();
    let error = out
        .events(launch)
        .unwrap()
        .scope(scope)
        .unwrap()
        .write_with(&Launch { time: 1 }, &row)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "a row or payload can't be written through a writer with a scope, which only batches carry: take a writer without one, and \
         give the event a `scope` field"
    );
    assert_eq!(calls(), []);
    out.events(launch)
        .unwrap()
        .write_with(&Launch { time: 1 }, &row)
        .unwrap();
    assert!(matches!(call(), Call::Event { .. }));
}
