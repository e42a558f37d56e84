//! Diagnostics: every refusal is reported, with its reason.
//!
//! A producer in the same program can get the reason with the code, any other gets the code alone. The reasons go to the hook
//! that [`set_hook`] sets, by default to standard error, there at most 20 lines per session, and 20 for all that is on no
//! session. The environment variable `NVTXW_LOG=off` silences that default.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lock::lock;
use crate::refusal::Refusal;
use crate::sync::{Mutex, process_wide};

/// Lines for a session, before the one that says that no more come.
const LINES: u32 = 20;

/// The lines on standard error for one session, or for what is on none.
pub(crate) struct Lines {
    /// The session's name.
    session: Option<Arc<str>>,
    written: AtomicU32,
}

/// Those for what is on no session.
pub(crate) static OUTSIDE: Lines = Lines {
    session: None,
    written: AtomicU32::new(0),
};

impl Lines {
    /// Those for a session of this name.
    pub(crate) fn new(session: Arc<str>) -> Self {
        Self {
            session: Some(session),
            written: AtomicU32::new(0),
        }
    }
}

/// A refusal, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The function that was called, by its name in the table: `EventWrite`, for example.
    pub member: &'static str,
    /// The name of the stream, domain or session that it was called on; empty if it has none, or if there was none.
    pub object: &'a str,
    /// The code and the reason.
    pub refusal: &'a Refusal,
}

process_wide! {
    static HOOK: Mutex<Option<fn(&Report<'_>)>> = Mutex::new(None);
}

/// Sets who gets the reports, for the whole process; `None` sets the default. The hook may be called from any thread, also
/// from several at once.
pub fn set_hook(hook: Option<fn(&Report<'_>)>) {
    *lock(&HOOK) = hook;
}

pub(crate) fn report(report: &Report<'_>, lines: &Lines) {
    let hook = *lock(&HOOK);
    match hook {
        Some(hook) => hook(report),
        None => write_line(report, lines),
    }
}

fn write_line(report: &Report<'_>, lines: &Lines) {
    if std::env::var_os("NVTXW_LOG").is_some_and(|value| value == "off") {
        return;
    }
    let written = lines.written.fetch_add(1, Ordering::Relaxed);
    if written < LINES {
        let Report {
            member,
            object,
            refusal,
        } = report;
        write(format_args!("nvtxw: {member} on {object:?}: {refusal}"));
    } else {
        // The count must not wrap around to where lines are written again.
        lines.written.store(LINES + 1, Ordering::Relaxed);
        if written == LINES {
            match &lines.session {
                Some(session) => write(format_args!(
                    "nvtxw: further refusals of session {session:?} are not shown ({LINES} were)"
                )),
                None => write(format_args!(
                    "nvtxw: further refusals outside of sessions are not shown ({LINES} were)"
                )),
            }
        }
    }
}

/// Unlike `eprintln!`, doesn't panic where standard error is closed.
fn write(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
