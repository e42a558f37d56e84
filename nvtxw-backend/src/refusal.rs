//! Why a call was refused.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use nvtxw_abi::{OneLine, ResultCode};

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Refusal>;

/// Why a call was refused: the ABI's result code, and the reason in words.
///
/// The producer sees the code; the reason goes to the [log](crate::log), and to a producer that has the backend
/// [in its own program](crate::in_process). A reason names the argument and says what to do. It is one line: control
/// characters in it, which names may hold, are escaped as [`OneLine`] does.
///
/// ```
/// use nvtxw_backend::{Refusal, ResultCode};
///
/// let refusal = Refusal::failed("can't create out.txt: the folder is read-only; set the config key `path`");
/// assert_eq!(refusal.code(), ResultCode::FAILED);
/// assert!(refusal.to_string().starts_with("FAILED (1): can't create out.txt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
// One word, so that results are returned in registers.
pub struct Refusal(Box<Reason>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reason {
    code: ResultCode,
    cause: Cause,
    /// Escaped.
    text: String,
}

/// What an ID is one of: each kind has its own IDs in each domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A scope.
    Scope,
    /// A schema or an enum.
    Layout,
    /// A counter.
    Counter,
    /// A time domain.
    TimeDomain,
}

/// Which rule of the ABI a refused call breaks, for tools that explain it. Not all rules have one of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// None of these.
    #[default]
    Other,
    /// A handle is null, stale or made up, or is that of another kind of object, another domain or another session.
    Handle,
    /// Nothing of this kind is registered under this ID where it would have to be.
    Unregistered(IdKind, u64),
    /// An ID or a name is given to a second object.
    Taken,
    /// Another call was inside the stream or the session.
    Overlap,
    /// A range ends before it starts.
    EndBeforeStart,
    /// A batch is no whole number of events or samples.
    BatchSize,
    /// The category 0, which means none, gets a name.
    CategoryZero,
    /// Whichever it is, a layer above has told of it.
    Told,
}

impl Refusal {
    /// The argument, or something that it refers to, is not valid: `INVALID_ARGUMENT`.
    pub fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(ResultCode::INVALID_ARGUMENT, reason.into())
    }

    /// The call is right, but doing it failed: `FAILED`.
    pub fn failed(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(ResultCode::FAILED, reason.into())
    }

    /// The call is right, but the backend doesn't do this: `NOT_SUPPORTED`. A producer goes on without it.
    pub fn unsupported(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(ResultCode::NOT_SUPPORTED, reason.into())
    }

    #[cold]
    pub(crate) fn of(code: ResultCode, reason: Cow<'_, str>) -> Self {
        Self(Box::new(Reason {
            code,
            cause: Cause::Other,
            text: OneLine(reason).to_string(),
        }))
    }

    /// What the producer gets.
    pub fn code(&self) -> ResultCode {
        self.0.code
    }

    /// What was wrong, with what, and what to do.
    pub fn reason(&self) -> &str {
        &self.0.text
    }

    /// Which rule was broken.
    pub fn cause(&self) -> Cause {
        self.0.cause
    }

    /// The same refusal, for breaking this rule.
    #[cold]
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.0.cause = cause;
        self
    }

    /// The same refusal, with where it happened before its reason.
    pub(crate) fn at(self, place: impl fmt::Display) -> Self {
        let text = format!("{place}: {}", self.reason());
        self.reworded(text)
    }

    /// The same refusal, with something more after its reason.
    pub(crate) fn and(self, more: impl fmt::Display) -> Self {
        let text = format!("{}; {more}", self.reason());
        self.reworded(text)
    }

    fn reworded(mut self, text: String) -> Self {
        self.0.text = OneLine(text).to_string();
        self
    }
}

/// How much of a session was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounts {
    /// Calls that got another code than success: on the session, its domains and its streams, also while another call was
    /// inside a stream, and after it was closed, for as long as its handle is remembered. Those on other handles are of no
    /// session.
    pub calls: u64,
    /// Of these calls, those that got `NOT_SUPPORTED`.
    pub unsupported: u64,
    /// Events and samples that were left out of batches.
    pub left_out: u64,
    /// Streams that a call was inside of when the process exited: what they had not written is lost.
    pub skipped_streams: u64,
}

/// Counts the refusals of a session.
#[derive(Debug, Default)]
pub(crate) struct RefusalTally {
    calls: AtomicU64,
    unsupported: AtomicU64,
    left_out: AtomicU64,
    skipped_streams: AtomicU64,
}

impl RefusalTally {
    pub(crate) fn note(&self, refusal: &Refusal) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let unsupported = refusal.code() == ResultCode::NOT_SUPPORTED;
        self.unsupported
            .fetch_add(unsupported.into(), Ordering::Relaxed);
    }

    pub(crate) fn leave_out(&self, count: usize) {
        self.left_out.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn skip_stream(&self) {
        self.skipped_streams.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> RefusalCounts {
        RefusalCounts {
            calls: self.calls.load(Ordering::Relaxed),
            unsupported: self.unsupported.load(Ordering::Relaxed),
            left_out: self.left_out.load(Ordering::Relaxed),
            skipped_streams: self.skipped_streams.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.reason())
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::{Cause, IdKind, Refusal};

    #[test]
    fn reason_has_no_control_characters() {
        let name = "a\u{1b}[2J\nb";
        let refusal = Refusal::failed(format!("stream `{name}`: full"));
        let refusal = refusal.at(name).and(name);
        let escaped = r"a\u{1b}[2J\nb";
        assert_eq!(
            refusal.reason(),
            format!("{escaped}: stream `{escaped}`: full; {escaped}")
        );
    }

    #[test]
    fn a_place_and_more_words_keep_the_rule() {
        let refusal = Refusal::invalid("scope 7 is unknown");
        assert_eq!(refusal.cause(), Cause::Other);
        let refusal = refusal
            .because(Cause::Unregistered(IdKind::Scope, 7))
            .at("event 3")
            .and("no more");
        assert_eq!(refusal.cause(), Cause::Unregistered(IdKind::Scope, 7));
        assert_eq!(refusal.reason(), "event 3: scope 7 is unknown; no more");
    }
}
