//! Sessions: their end beside what else happens in them.

use std::ffi::CStr;
use std::sync::Arc;

use nvtxw_abi::NoValueReason;
use nvtxw_loom::{lazy_static, model, thread};

use super::both;
use crate::backend::{Backend, Session, Stream};
use crate::counter::Counter;
use crate::event::Event;
use crate::instance::Instance;
use crate::refusal::Result;
use crate::sample::CounterBatch;
use crate::session::{self, DOMAINS, OpenSession, SESSIONS, SessionRequest};
use crate::spec::{SessionSpec, StreamSpec};
use crate::stream::{self, STREAMS, StreamInfo};
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

lazy_static! {
    /// Streams of the backend that are open.
    static ref OPEN: AtomicUsize = AtomicUsize::new(0);
    static ref ENDED: AtomicBool = AtomicBool::new(false);
    /// The backend was called as it must not be.
    static ref MISUSED: AtomicBool = AtomicBool::new(false);
}

struct Mock;
pub(super) struct MockSession;
/// Whether it is closed.
pub(super) struct MockStream(bool);

fn require(right: bool) {
    if !right {
        MISUSED.store(true, Ordering::Relaxed);
    }
}

impl Backend for Mock {
    type Session = MockSession;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<MockSession> {
        Ok(MockSession)
    }
}

impl Session for MockSession {
    type Stream = MockStream;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<MockStream> {
        require(!ENDED.load(Ordering::Relaxed));
        OPEN.fetch_add(1, Ordering::Relaxed);
        Ok(MockStream(false))
    }

    fn end(&self) -> Result<()> {
        require(OPEN.load(Ordering::Relaxed) == 0);
        require(!ENDED.load(Ordering::Relaxed));
        ENDED.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Stream for MockStream {
    fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
        Ok(())
    }

    fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
        Ok(())
    }

    fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        require(!self.0);
        require(!ENDED.load(Ordering::Relaxed));
        self.0 = true;
        OPEN.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

fn begin() -> u64 {
    let spec = SessionSpec {
        name: None,
        config: None,
    };
    session::begin(&Arc::new(Instance::new(Box::new(Mock))), &spec, None).expect("begun")
}

fn open(session: &Arc<OpenSession>, name: &CStr) -> Result<u64> {
    session.open_stream(&StreamSpec {
        name: Some(name),
        domain: 0,
        scope: nvtxw_abi::raw::NVTX_SCOPE_NONE,
        time_domain: 0,
        interleaving: 0,
        ordering: 0,
        skid: 0,
        skid_amount: 0,
    })
}

/// Ends a session as soon as nothing is running in it.
fn end(session: u64) {
    while let Err(refusal) = session::end(session) {
        assert!(
            refusal.reason().starts_with("nothing was ended"),
            "{refusal}"
        );
        thread::yield_now();
    }
}

fn assert_ended(session: u64) {
    assert!(!MISUSED.load(Ordering::Relaxed));
    assert!(ENDED.load(Ordering::Relaxed));
    assert_eq!(OPEN.load(Ordering::Relaxed), 0);
    assert!(SESSIONS.get(session).is_err());
}

#[test]
fn a_stream_is_opened_before_the_end_and_closed_by_it_or_not_opened() {
    model(["opened", "refused"], |[yes, no]| {
        let handle = begin();
        let session = SESSIONS.get(handle).expect("begun");
        let (domain, _) = session.domain("").expect("a domain");
        let opener = Arc::clone(&session);
        let (_, opened) = both(&session, move |_| end(handle), move |_| open(&opener, c""));
        assert_ended(handle);
        assert!(DOMAINS.get(domain).is_err());
        match opened {
            Ok(stream) => {
                assert!(STREAMS.enter(stream).is_err());
                yes.met();
            }
            Err(refusal) => {
                let reason = refusal.reason();
                assert!(
                    reason == "this session is ending" || reason.contains("stale"),
                    "{reason}"
                );
                no.met();
            }
        }
    });
}

#[test]
fn a_stream_is_closed_once_by_itself_or_by_the_end() {
    model(["closed itself", "refused"], |[yes, no]| {
        let handle = begin();
        let session = SESSIONS.get(handle).expect("begun");
        let stream = open(&session, c"").expect("open");
        let (_, closed) = both(
            &session,
            move |_| end(handle),
            move |_| stream::close(stream),
        );
        assert_ended(handle);
        assert!(STREAMS.enter(stream).is_err());
        match closed {
            Ok(()) => yes.met(),
            Err(refusal) => {
                let reason = refusal.reason();
                assert!(
                    reason.ends_with("is stale: its stream has ended")
                        || reason.starts_with("another call is inside"),
                    "{reason}"
                );
                no.met();
            }
        }
    });
}

#[test]
fn a_session_does_not_end_under_a_call_on_its_stream() {
    model(["written", "refused"], |outcomes| {
        let handle = begin();
        let session = SESSIONS.get(handle).expect("begun");
        let stream = open(&session, c"").expect("open");
        let [written, refused] = outcomes.clone();
        both(
            &session,
            move |_| end(handle),
            move |_| {
                if let Ok(mut entered) = STREAMS.enter(stream) {
                    written.met();
                    let result = entered.backend.call(|_| {
                        require(OPEN.load(Ordering::Relaxed) == 1);
                        Ok(())
                    });
                    assert_eq!(result, Ok(()));
                } else {
                    refused.met();
                }
            },
        );
        assert_ended(handle);
    });
}

#[test]
fn a_session_ends_once() {
    model([], |[]| {
        let handle = begin();
        let session = SESSIONS.get(handle).expect("begun");
        let end = move |_: &OpenSession| session::end(handle).is_ok();
        let (one, other) = both(&session, end, end);
        assert!(one != other);
        assert_ended(handle);
    });
}

#[test]
fn a_domain_is_made_once_and_a_name_is_one_stream_s() {
    model([], |[]| {
        let handle = begin();
        let session = SESSIONS.get(handle).expect("begun");
        let open = |session: &Arc<OpenSession>| {
            let session = Arc::clone(session);
            move |_: &OpenSession| {
                let (domain, _) = session.domain("").expect("a domain");
                (domain, open(&session, c"name").is_ok())
            }
        };
        let (one, other) = both(&session, open(&session), open(&session));
        assert_eq!(one.0, other.0);
        assert!(one.1 != other.1);
        end(handle);
        assert_ended(handle);
    });
}
