//! The exit of the process, and the unloading of the library: ends the sessions that their producers have left open.
//!
//! Other threads may still be inside of calls then, and so may this one: a signal handler that exits has interrupted it. A call
//! that is inside may hold any lock of the backend. So this waits for nobody longer than [`PATIENCE`], and what may need
//! such a lock runs on a thread of its own, for no longer than [`LIMIT`].

use std::cmp::Reverse;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::log;
use crate::refusal::{Refusal, Result};
use crate::session::{self, OpenSession, SESSIONS};
use crate::stream::STREAMS;

/// Longest wait for the calls of other threads to return, for all sessions together.
const PATIENCE: Duration = Duration::from_millis(100);

/// Longest wait for the end of a session that a call is inside of.
const LIMIT: Duration = Duration::from_secs(10);

static BEGUN: AtomicBool = AtomicBool::new(false);

/// Returns true once the process exits: the SDK ends the sessions that their producers have left open, and no more begin.
pub fn is_exiting() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// Ends the open sessions of this process. Those of a parent process stay: the files are the parent's.
pub(crate) fn end_sessions() {
    BEGUN.store(true, Ordering::Relaxed);
    let mut sessions = SESSIONS.idle();
    sessions.retain(|(_, session)| session.process == process::id());
    // A layer's session begins after the one that it passes calls on to, and has to end before that.
    sessions.sort_by_key(|(_, session)| Reverse(session.number));
    let deadline = Instant::now() + PATIENCE;
    for (handle, session) in sessions {
        let account = Arc::clone(&session.account);
        if let Err(refusal) = end(handle, session, deadline) {
            let refusal = refusal.at("at the exit of the process");
            log::report("SessionEnd", account.session(), &refusal, Some(&account));
        }
    }
}

fn end(handle: u64, session: Arc<OpenSession>, deadline: Instant) -> Result<()> {
    let has_ended = || SESSIONS.get(handle).is_err();
    let started = until(deadline, || match has_ended() {
        true => Some(None),
        false => session.try_start_ending(false).map(Some),
    });
    let (streams, mut is_alone) = match started {
        Some(None) => return Ok(()),
        Some(Some(streams)) => (streams, true),
        None => match session.try_start_ending(true) {
            Some(streams) => (streams, false),
            None => {
                return Err(Refusal::failed(
                    "another thread is ending this session; let it return before the process exits",
                ));
            }
        },
    };
    // No later call gets into the streams, so that each is free when the call that is inside it returns.
    let mut streams = streams;
    streams.retain(|stream| STREAMS.retire(*stream));
    let (mut entered, mut busy) = (Vec::new(), Vec::new());
    for &stream in &streams {
        match until(deadline, || STREAMS.enter_retired(stream)) {
            Some(stream) => entered.extend(stream),
            None => busy.push(stream),
        }
    }
    is_alone &= busy.is_empty();
    if is_alone {
        return session::finish(handle, session, entered);
    }
    drop(entered);
    end_apart(handle, session, streams, busy)
}

/// Ends a session on another thread, without the streams that are `busy`: a call inside of one may hold a lock that this takes.
fn end_apart(
    handle: u64,
    session: Arc<OpenSession>,
    streams: Vec<u64>,
    busy: Vec<u64>,
) -> Result<()> {
    let (done, ended) = mpsc::channel();
    let work = move || {
        let deadline = Instant::now() + PATIENCE;
        let mut entered = Vec::new();
        for stream in streams {
            let found = match busy.contains(&stream) {
                true => None,
                false => until(deadline, || STREAMS.enter_retired(stream)),
            };
            match found {
                Some(stream) => entered.extend(stream),
                None => skip(stream, &session),
            }
        }
        // Where the other thread waits no more, nobody hears of it.
        let _ = done.send(session::finish(handle, session, entered));
    };
    if let Err(error) = thread::Builder::new().spawn(work) {
        return Err(Refusal::failed(format!(
            "a call is inside of this session, and the thread that ends it all the same can't be started: {error}"
        )));
    }
    ended.recv_timeout(LIMIT).unwrap_or_else(|_| {
        Err(Refusal::failed(
            "not all of this session is written: a call that is inside of it holds what its end needs; let calls return before \
             the process exits",
        ))
    })
}

/// Leaves out a stream that a call is inside of.
fn skip(stream: u64, session: &OpenSession) {
    session.account.tally.skip_stream();
    let name = STREAMS.known(stream).unwrap_or_default().name;
    let refusal = Refusal::failed(
        "the process exits while a call is inside of this stream: what the stream has not written is lost; let calls return \
         before the process exits",
    );
    log::report("SessionEnd", &name, &refusal, Some(&session.account));
}

/// Repeats `attempt` until it returns a value or the deadline has passed.
fn until<T>(deadline: Instant, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    loop {
        let result = attempt();
        if result.is_some() || Instant::now() >= deadline {
            return result;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
