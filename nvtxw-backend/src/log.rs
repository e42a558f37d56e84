//! Diagnostics: every refusal is reported, with its reason.
//!
//! The producer gets only a code. The reasons go to the hook that [`set_hook`] sets, by default to standard error, there at
//! most 20 lines per process. The environment variable `NVTXW_LOG=off` silences that default.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lock::lock;
use crate::refusal::Refusal;

/// Lines on standard error, before the one that says that no more come.
const LINES: u32 = 20;

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

static HOOK: Mutex<Option<fn(&Report<'_>)>> = Mutex::new(None);

/// Sets who gets the reports, for the whole process; `None` sets the default. The hook may be called from any thread, also
/// from several at once.
pub fn set_hook(hook: Option<fn(&Report<'_>)>) {
    *lock(&HOOK) = hook;
}

pub(crate) fn report(report: &Report<'_>) {
    let hook = *lock(&HOOK);
    match hook {
        Some(hook) => hook(report),
        None => write_line(report),
    }
}

fn write_line(report: &Report<'_>) {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);

    if std::env::var_os("NVTXW_LOG").is_some_and(|value| value == "off") {
        return;
    }
    let written = WRITTEN.fetch_add(1, Ordering::Relaxed);
    if written < LINES {
        let Report {
            member,
            object,
            refusal,
        } = report;
        write(format_args!("nvtxw: {member} on {object:?}: {refusal}"));
    } else {
        // The count must not wrap around to where lines are written again.
        WRITTEN.store(LINES + 1, Ordering::Relaxed);
        if written == LINES {
            write(format_args!(
                "nvtxw: further refusals are not shown ({LINES} were)"
            ));
        }
    }
}

/// Unlike `eprintln!`, doesn't panic where standard error is closed.
fn write(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
