//! Diagnostics: every refusal is reported, with its reason, and what is wrong with a call that is
//! [taken all the same](crate::StreamInfo::report), without a code.
//!
//! A producer in the same program can get the reason with the code, any other gets the code alone. The reasons go to the hook
//! that [`set_hook`] sets, by default to standard error, there at most 20 of a session, and 20 of all that is on no
//! session, with a line that says so. What a backend in the same program rejects behind a layer ([`relay`](crate::relay)) is
//! logged once, by the layer, with the handles and IDs of the producer. The environment variable `NVTXW_LOG=off` silences that default. How many there were a session is
//! [told](crate::Session::note_refusals) at its end.

use std::cell::Cell;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use crate::lock::lock;
use crate::panic::catch;
use crate::refusal::{Refusal, RefusalTally};
use crate::session::OpenSession;
use crate::sync::{Mutex, OnceLock, process_wide};

/// Lines for a session, before the one that says that no more come.
const LINES: u32 = 20;

/// The refusals of one session, or of what is on none. Apart from the session, so that who reports one doesn't keep the
/// backend alive.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The session's name.
    session: Option<Arc<str>>,
    /// The session, once it has begun.
    open: OnceLock<Weak<OpenSession>>,
    pub(crate) tally: RefusalTally,
    /// Lines on standard error.
    written: AtomicU32,
}

impl Account {
    /// That of a session of this name.
    pub(crate) fn new(session: Arc<str>) -> Self {
        Self {
            session: Some(session),
            ..Self::default()
        }
    }

    /// Lets the session's backend know of refusals from now on.
    pub(crate) fn begin(&self, session: &Arc<OpenSession>) {
        let _ = self.open.set(Arc::downgrade(session));
    }

    /// The name of the session; empty if it has none.
    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    fn report<'a>(
        &'a self,
        member: &'static str,
        object: &'a str,
        refusal: &'a Refusal,
        is_refused: bool,
    ) -> Report<'a> {
        Report {
            member,
            object,
            session: self.session(),
            refusal,
            is_refused,
        }
    }

    /// Shows it to the hook, or on standard error.
    fn show(&self, report: &Report<'_>) {
        let hook = *lock(&HOOK);
        // A hook is the backend's code, which may panic; whoever else is told is told nevertheless.
        let _ = catch(|| match hook {
            Some(hook) => hook(report),
            None => write_line(report, self),
        });
    }

    /// Shows what was wrong with a call that was taken.
    pub(crate) fn remark(&self, member: &'static str, object: &str, refusal: &Refusal) {
        self.show(&self.report(member, object, refusal, false));
    }

    /// Tells the session's backend of a refusal. False if it is no more, or not yet.
    fn tell(&self, report: &Report<'_>) -> bool {
        let Some(session) = self.open.get().and_then(Weak::upgrade) else {
            return false;
        };
        session.note_refusal(report);
        // Where the session has ended meanwhile, this drops it.
        let _ = catch(|| drop(session));
        true
    }
}

/// A refusal, or what was wrong with a call that was taken, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The function that was called, by its name in the table: `EventWrite`, for example.
    pub member: &'static str,
    /// The name of the stream, domain or session that it was called on; empty if it has none, or if there was none.
    pub object: &'a str,
    /// The name of the session that the object is of; empty if it has none, or if it is not known.
    pub session: &'a str,
    /// The code and the reason.
    pub refusal: &'a Refusal,
    /// Whether the call was refused. Else it was taken, and this was wrong with it [all the same](crate::StreamInfo::report):
    /// the producer gets no code.
    pub is_refused: bool,
}

process_wide! {
    static HOOK: Mutex<Option<fn(&Report<'_>)>> = Mutex::new(None);
}
process_wide! {
    static STRAY_HOOK: Mutex<Option<fn(&Report<'_>)>> = Mutex::new(None);
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Makes a call on another backend of this program without log lines about what that one rejects.
pub(crate) fn without_rejections<R>(call: impl FnOnce() -> R) -> R {
    let before = IS_QUIET.replace(true);
    let result = call();
    IS_QUIET.set(before);
    result
}

/// Sets who gets the reports, for the whole process; `None` sets the default. The hook may be called from any thread, also
/// from several at once.
pub fn set_hook(hook: Option<fn(&Report<'_>)>) {
    *lock(&HOOK) = hook;
}

/// Sets who is told, beside the hook of [`set_hook`], of the refusals that no [session](crate::Session::note_refusal) is told
/// of: of calls on what is no handle, on what has ended, and of beginnings. For the whole process, and called as that hook is.
pub fn set_stray_hook(hook: Option<fn(&Report<'_>)>) {
    *lock(&STRAY_HOOK) = hook;
}

/// Reports a refusal of what has this account; of what is on no session, if it has none.
pub(crate) fn report(
    member: &'static str,
    object: &str,
    refusal: &Refusal,
    account: Option<&Account>,
) {
    static OUTSIDE: LazyLock<Account> = LazyLock::new(Account::default);

    let account = account.unwrap_or(&OUTSIDE);
    let report = account.report(member, object, refusal, true);
    account.show(&report);
    if account.tell(&report) {
        return;
    }
    let stray_hook = *lock(&STRAY_HOOK);
    if let Some(hook) = stray_hook {
        let _ = catch(|| hook(&report));
    }
}

fn write_line(report: &Report<'_>, account: &Account) {
    if report.is_refused && IS_QUIET.get()
        || std::env::var_os("NVTXW_LOG").is_some_and(|value| value == "off")
    {
        return;
    }
    let written = account.written.fetch_add(1, Ordering::Relaxed);
    if written < LINES {
        let Report {
            member,
            object,
            session,
            refusal,
            is_refused,
        } = *report;
        let problem: &dyn fmt::Display = match is_refused {
            true => refusal,
            // A code would say that it was.
            false => &refusal.reason(),
        };
        match (object, session) {
            ("", "") => write(format_args!("nvtxw: {member}: {problem}")),
            // What has no name: the default domain, for example.
            ("", session) => write(format_args!(
                "nvtxw: {member} in session {session:?}: {problem}"
            )),
            _ if session == object => {
                write(format_args!("nvtxw: {member} on {object:?}: {problem}"));
            }
            _ => write(format_args!(
                "nvtxw: {member} on {object:?} of session {session:?}: {problem}"
            )),
        }
    } else {
        // The count must not wrap around to where lines are written again.
        account.written.store(LINES + 1, Ordering::Relaxed);
        if written == LINES {
            match &account.session {
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
fn write(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
