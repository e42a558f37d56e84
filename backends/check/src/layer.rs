//! The layer: a backend in front of a backend.

use std::sync::Arc;

use nvtxw_backend::call::{EventCall, Registration, WriteCall};
use nvtxw_backend::{
    Backend, Cause, Counter, CounterBatch, Domain, Event, EventBatch, NoValueReason, RefusalCounts,
    Result, Session, SessionRequest, Stream, StreamInfo, TimeRelation, is_exiting, log,
};

use crate::account::Account;
use crate::checks::{Checks, is_invalid};
use crate::finding::{FindingKind, Place};
use crate::gate::Gate;
use crate::report::Report;
use crate::shared::{Shared, of_stream};
use crate::strays::Strays;
use crate::values::not_utf8;

/// A backend that checks what reaches it, and passes it on to another.
///
/// ```
/// use nvtxw_backend::{Backend, in_process};
/// use nvtxw_check::{Behind, Checked};
///
/// // In place of nothing, the backend that is to get what is written.
/// let checked = Checked::new(Behind::nothing());
/// let report = checked.report();
/// let backend = in_process(checked);
/// assert!(report.is_clean());
/// # drop(backend);
/// ```
pub struct Checked<B> {
    inner: B,
    report: Report,
    /// Sessions that begin.
    begins: Gate,
    strays: Arc<Strays>,
}

impl<B> Checked<B> {
    /// In front of this backend.
    pub fn new(inner: B) -> Self {
        let report = Report::default();
        Self {
            inner,
            begins: Gate::default(),
            strays: Strays::new(report.clone()),
            report,
        }
    }

    /// What is found in all sessions.
    pub fn report(&self) -> Report {
        self.report.clone()
    }
}

impl<B: Backend> Backend for Checked<B> {
    type Session = CheckedSession<B::Session>;

    fn begin(&self, request: &SessionRequest<'_>) -> Result<Self::Session> {
        let running = self.begins.alone();
        let name = request.name().unwrap_or_default();
        // Bad options of the checker are no finding of it.
        let account = Account::new(name, request.config(), &self.report)
            .map_err(|refusal| refusal.because(Cause::Told))?;
        let shared = Arc::new(Shared::new(account));
        let inner = self.inner.begin(request).map_err(|refusal| {
            shared.refused_behind("SessionBegin", refusal, Place::default(), false)
        })?;
        shared.account.begin();
        self.strays.begin(&shared);
        for (what, text) in [
            ("name", request.name_text()),
            ("config", request.config_text()),
        ] {
            if let Some(bad) = text.and_then(|text| not_utf8(text.to_bytes())) {
                let what = || format!("SessionBegin: the {what} is {bad}");
                (shared.account).note(FindingKind::NotUtf8, Place::default(), what);
            }
        }
        if running.overlaps {
            shared.overlap("SessionBegin", Place::default());
        }
        Ok(CheckedSession { inner, shared })
    }

    fn finalize(&self) {
        self.inner.finalize();
    }
}

/// A session of a [`Checked`] backend.
pub struct CheckedSession<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S: Session> Session for CheckedSession<S> {
    type Stream = CheckedStream<S::Stream>;

    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<Self::Stream> {
        let running = self.shared.gate.alone();
        if running.overlaps {
            self.shared.overlap("StreamOpen", of_stream(stream.name()));
        }
        let number = self.shared.open_stream(stream);
        let inner = self.inner.open_stream(stream).map_err(|refusal| {
            let place = of_stream(stream.name());
            self.shared
                .refused_behind("StreamOpen", refusal, place, false)
        })?;
        Ok(CheckedStream {
            inner,
            checks: Checks::new(Arc::clone(&self.shared), stream, number),
            shared: Arc::clone(&self.shared),
        })
    }

    fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        let running = self.shared.gate.alone();
        if running.overlaps {
            (self.shared).overlap(registration.member(), Place::default());
        }
        self.shared.register(domain, registration);
        self.inner
            .note_registration(domain, registration)
            .map_err(|refusal| {
                let (member, place) = (registration.member(), Place::default());
                self.shared.refused_behind(member, refusal, place, false)
            })
    }

    fn note_refusal(&self, report: &log::Report<'_>) {
        self.shared.refused(report);
        self.inner.note_refusal(report);
    }

    fn note_refusals(&self, counts: RefusalCounts) {
        self.inner.note_refusals(counts);
    }

    fn end(&self) -> Result<()> {
        let running = self.shared.gate.alone();
        if running.overlaps {
            self.shared.overlap("SessionEnd", Place::default());
        }
        let ended = self.inner.end().map_err(|refusal| {
            self.shared
                .refused_behind("SessionEnd", refusal, Place::default(), false)
        });
        // A session that its producer has left open has no end to be checked.
        if !is_exiting() {
            self.shared.end();
        }
        ended
    }
}

/// A stream of a [`Checked`] backend.
pub struct CheckedStream<T> {
    inner: T,
    checks: Checks,
    shared: Arc<Shared>,
}

impl<T: Stream> CheckedStream<T> {
    /// Checks what a write brings, and passes it on.
    #[inline]
    fn write(
        &mut self,
        member: &'static str,
        check: impl FnOnce(&mut Checks),
        pass_on: impl FnOnce(&mut T) -> Result<()>,
    ) -> Result<()> {
        let running = self.shared.gate.write();
        let before = self.checks.findings();
        if running.overlaps {
            self.checks.overlap(member);
        }
        check(&mut self.checks);
        pass_on(&mut self.inner).map_err(|refusal| self.checks.refused(member, refusal, before))
    }
}

/// What a backend answers to a batch. A library finds what is bad in it too, without a word of what rule that breaks: then
/// the refusal is that of this side, which knows.
fn unless_bad(written: Result<()>, has_bad: bool) -> Result<()> {
    written.or_else(|refusal| match has_bad && is_invalid(&refusal) {
        true => Ok(()),
        false => Err(refusal),
    })
}

impl<T: Stream> Stream for CheckedStream<T> {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        self.write(
            "EventWrite",
            |checks| checks.event(event),
            |inner| inner.write_event(event),
        )
    }

    fn take_event(&mut self, event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        self.write(
            "EventWrite",
            |checks| checks.event(event),
            |inner| inner.take_event(event, call),
        )
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        self.write(
            "EventBatchWrite",
            |checks| checks.batch(batch),
            |inner| unless_bad(inner.write_batch(batch), batch.has_bad()),
        )
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        self.write(
            samples.call().member(),
            |checks| checks.samples(samples),
            |inner| unless_bad(inner.write_counters(samples), samples.has_bad()),
        )
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        self.write(
            "CounterNoValueWrite",
            |checks| checks.no_value(counter, time),
            |inner| inner.write_no_value(counter, time, reason),
        )
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        self.write(
            relation.call().member(),
            |checks| checks.relation(relation),
            |inner| inner.write_relation(relation),
        )
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        self.write(
            call.member(),
            |checks| checks.reserved(call),
            |inner| inner.take_nothing(call),
        )
    }

    fn close_at_end(&mut self) -> Result<()> {
        self.close_by(T::close_at_end)
    }

    fn close(&mut self) -> Result<()> {
        self.close_by(T::close)
    }
}

impl<T: Stream> CheckedStream<T> {
    fn close_by(&mut self, close: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
        let running = self.shared.gate.alone();
        if running.overlaps {
            self.checks.overlap("StreamClose");
        }
        if !is_exiting() {
            self.checks.close();
        }
        let before = self.checks.findings();
        close(&mut self.inner)
            .map_err(|refusal| self.checks.refused("StreamClose", refusal, before))
    }
}
