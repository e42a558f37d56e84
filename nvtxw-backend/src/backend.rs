//! What a tool author writes: a backend, its sessions and their streams.

use std::sync::Arc;

use nvtxw_abi::NoValueReason;

use crate::batch::EventBatch;
use crate::call::{EventCall, Registration, WriteCall};
use crate::counter::Counter;
use crate::domain::Domain;
use crate::event::Event;
use crate::log::Report;
use crate::plain::PlainEvent;
use crate::refusal::{Refusal, RefusalCounts, Result};
use crate::relation::TimeRelation;
use crate::sample::CounterBatch;
use crate::schema::Schema;
use crate::session::SessionRequest;
use crate::stream::StreamInfo;

/// A backend: begins sessions.
///
/// A panic in any method of these traits is caught. The producer gets `FAILED`, and all further calls on that stream, or on
/// that session if it was a method of the session, fail.
pub trait Backend: Send + Sync + 'static {
    /// What a session is to this backend.
    type Session: Session;

    /// Begins a session.
    ///
    /// # Errors
    /// What the producer gets if it can't begin: `INVALID_ARGUMENT` for a config key that this backend knows with a value
    /// that it doesn't, `FAILED` if an output can't be created.
    fn begin(&self, request: &SessionRequest<'_>) -> Result<Self::Session>;

    /// Frees what this backend holds for the whole process. Called once at most, when no session is left; then the backend is
    /// dropped.
    fn finalize(&self) {}
}

/// A session: opens streams.
pub trait Session: Send + Sync + 'static {
    /// What a stream is to this backend.
    type Stream: Stream;

    /// Opens a stream. Its name is not that of another open stream of the session, and all that it refers to is checked.
    ///
    /// # Errors
    /// What the producer gets if the stream can't be opened.
    fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<Self::Stream>;

    /// Tells of a registration that was accepted, before the producer gets its ID or handle: what refers to it comes later,
    /// whatever the thread. By default it is let go: [`Domain`] has what is registered in it.
    ///
    /// # Errors
    /// What the producer gets instead. The SDK keeps what was registered, but the producer doesn't get its ID.
    fn note_registration(
        &self,
        _domain: &Arc<Domain>,
        _registration: &Registration<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// Tells of a refused call on the session, its domains or its streams, also while another call is inside that stream.
    /// Called for all of them, whatever the [`log`](crate::log) shows; not for what comes after the session's end. By default
    /// it is let go.
    fn note_refusal(&self, _report: &Report<'_>) {}

    /// Tells, once all streams are closed, how much of the session was refused. Called once, before [`end`](Self::end), if
    /// anything was. By default it is let go.
    fn note_refusals(&self, _counts: RefusalCounts) {}

    /// All data is in, and all streams are closed: the flush. Called once; then the session is dropped.
    ///
    /// # Errors
    /// What the producer gets if not all data could be kept.
    fn end(&self) -> Result<()>;
}

/// A stream: takes events and counter samples.
///
/// A stream gets one call at a time, so that it needs no lock of its own; a producer's overlapping call fails. Calls may
/// come from different threads.
pub trait Stream: Send + 'static {
    /// Takes one event.
    ///
    /// # Errors
    /// What the producer gets if the event can't be kept; earlier ones stay.
    fn write_event(&mut self, event: &Event<'_>) -> Result<()>;

    /// Takes one event of `schema` in the scope with the ID `scope` by its bytes, before these are read: for a backend that has
    /// worked out how it reads the events of a schema. A single event comes here first if each of its fields has a
    /// [fixed place](crate::Field::offset) in the bytes, none names a scope, a process or a thread, and the message is in the bytes or
    /// text behind them. `None`, with nothing done, leaves it to [`take_event`](Self::take_event): so must be one that the
    /// backend finds anything wrong with. By default all are.
    ///
    /// # Errors
    /// As those of [`write_event`](Self::write_event).
    fn take_plain(
        &mut self,
        _schema: &Arc<Schema>,
        _scope: u64,
        _event: &PlainEvent<'_>,
    ) -> Option<Result<()>> {
        None
    }

    /// Takes one event with the call that it came in. By default that is let go, and the event
    /// [taken](Self::write_event).
    ///
    /// # Errors
    /// As those of [`write_event`](Self::write_event).
    fn take_event(&mut self, event: &Event<'_>, _call: &EventCall<'_>) -> Result<()> {
        self.write_event(event)
    }

    /// Takes events of one schema; by default one by one.
    ///
    /// # Errors
    /// The first refusal of an event. Those that are good are kept nevertheless.
    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        let mut result = Ok(());
        for event in batch.events() {
            result = result.and(self.write_event(&event));
        }
        result
    }

    /// Takes samples of one counter.
    ///
    /// # Errors
    /// The first refusal of a sample. Those that are good are kept nevertheless.
    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()>;

    /// Takes a sample that has no value, at `time` in ticks of the counter's time domain.
    ///
    /// # Errors
    /// What the producer gets if the sample can't be kept.
    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()>;

    /// Takes a relation between two time domains of the stream's domain.
    ///
    /// # Errors
    /// What the producer gets if it can't be kept; by default `NOT_SUPPORTED`.
    fn write_relation(&mut self, _relation: &TimeRelation<'_>) -> Result<()> {
        Err(Refusal::unsupported(
            "this backend takes no relations between time domains: convert the timestamps to one time domain before writing \
             them",
        ))
    }

    /// Takes a call that writes nothing: a batch without events or samples, a table without sync points. By default it is let
    /// go.
    ///
    /// # Errors
    /// What the producer gets.
    fn take_nothing(&mut self, _call: &WriteCall<'_>) -> Result<()> {
        Ok(())
    }

    /// The session ends, and the producer has not closed the stream. By default it is [closed](Self::close). Called instead of
    /// that.
    ///
    /// # Errors
    /// As those of [`close`](Self::close).
    fn close_at_end(&mut self) -> Result<()> {
        self.close()
    }

    /// Nothing more will come. Called once, when the stream is closed or its session ends; then the stream is dropped.
    ///
    /// # Errors
    /// What the producer gets if something of the stream can't be kept.
    fn close(&mut self) -> Result<()>;
}

/// A backend without its type.
pub trait AnyBackend: Send + Sync {
    #[doc(hidden)]
    fn begin_any(&self, request: &SessionRequest<'_>) -> Result<Box<dyn AnySession>>;
    #[doc(hidden)]
    fn finalize_any(&self);
}

impl<B: Backend> AnyBackend for B {
    fn begin_any(&self, request: &SessionRequest<'_>) -> Result<Box<dyn AnySession>> {
        Ok(Box::new(self.begin(request)?))
    }

    fn finalize_any(&self) {
        self.finalize();
    }
}

/// A session without its type.
pub trait AnySession: Send + Sync {
    #[doc(hidden)]
    fn open_any(&self, stream: &Arc<StreamInfo>) -> Result<Box<dyn Stream>>;
    #[doc(hidden)]
    fn note_registration_any(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()>;
    #[doc(hidden)]
    fn note_refusal_any(&self, report: &Report<'_>);
    #[doc(hidden)]
    fn note_refusals_any(&self, counts: RefusalCounts);
    #[doc(hidden)]
    fn end_any(&self) -> Result<()>;
}

impl<S: Session> AnySession for S {
    fn open_any(&self, stream: &Arc<StreamInfo>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(self.open_stream(stream)?))
    }

    fn note_registration_any(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        self.note_registration(domain, registration)
    }

    fn note_refusal_any(&self, report: &Report<'_>) {
        self.note_refusal(report);
    }

    fn note_refusals_any(&self, counts: RefusalCounts) {
        self.note_refusals(counts);
    }

    fn end_any(&self) -> Result<()> {
        self.end()
    }
}
