//! Streams.

use std::sync::Arc;

use nvtxw_abi::{
    BatchOrdering, PredefinedScope, ReasonHook, ResultCode, Skid, StreamInterleaving,
    StreamOrdering, TimestampType,
};

use crate::calls::{
    LiveSession, OneThreadAtATime, Refusal, StreamAttributes, StreamHandle, last_reason,
};
use crate::domain::DomainState;
use crate::error::{CloseError, Error, Result};
use crate::id::{DefaultScope, DomainId, Owner};
use crate::plain::{PlainIds, PlainSchemas};
use crate::time::Clock;
use crate::{owner, text};

/// What a stream opens with.
///
/// ```
/// use nvtxw::{BatchOrdering, DomainId, Scope, StreamOptions, StreamOrdering};
///
/// fn sorted(domain: DomainId, gpu: Scope) -> StreamOptions {
///     StreamOptions::new(domain)
///         .scope(gpu)
///         .ordering(StreamOrdering::PackedRangeStart)
///         .batch_ordering(BatchOrdering::Sorted)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct StreamOptions {
    pub(crate) domain: DomainId,
    scope: DefaultScope,
    time_domain: Clock,
    interleaving: StreamInterleaving,
    ordering: StreamOrdering,
    skid: Skid,
    skid_amount: i64,
    batch_ordering: BatchOrdering,
    plain_events: bool,
}

impl StreamOptions {
    /// A stream that writes to `domain`: without a scope, of an unknown clock, in any order.
    pub const fn new(domain: DomainId) -> Self {
        Self {
            domain,
            scope: DefaultScope::None,
            time_domain: Clock::Predefined(TimestampType::None),
            interleaving: StreamInterleaving::None,
            ordering: StreamOrdering::Unknown,
            skid: Skid::None,
            skid_amount: 0,
            batch_ordering: BatchOrdering::Unsorted,
            plain_events: true,
        }
    }

    /// The scope of data that names none: a [`Scope`](crate::Scope) of the domain, or one of [`DefaultScope`]'s.
    ///
    /// With a scope, the built-in backend shows the data on the scope's track, and the stream's name in the description of that.
    pub fn scope(mut self, scope: impl Into<DefaultScope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// The clock that timestamps come from: a [`TimestampType`], or a [`TimeDomain`](crate::TimeDomain) of the stream's
    /// domain. By default it is unknown, and timestamps are a timeline of their own; readers take them as nanoseconds.
    pub fn time_domain(mut self, clock: impl Into<Clock>) -> Self {
        self.time_domain = clock.into();
        self
    }

    /// Among which data [`ordering`](StreamOptions::ordering) holds.
    pub const fn interleaving(mut self, interleaving: StreamInterleaving) -> Self {
        self.interleaving = interleaving;
        self
    }

    /// The order in which data is written, which a backend may rely on.
    pub const fn ordering(mut self, ordering: StreamOrdering) -> Self {
        self.ordering = ordering;
        self
    }

    /// How late data may come in spite of [`ordering`](StreamOptions::ordering): `amount` nanoseconds or events, as `skid`
    /// says.
    pub const fn skid(mut self, skid: Skid, amount: i64) -> Self {
        self.skid = skid;
        self.skid_amount = amount;
        self
    }

    /// The order inside batches; [`EventWriter::ordering`](crate::EventWriter::ordering) sets it for one writer.
    pub const fn batch_ordering(mut self, ordering: BatchOrdering) -> Self {
        self.batch_ordering = ordering;
        self
    }

    /// Whether plain events will be written: [`mark`](crate::Writer::mark), [`push`](crate::Writer::push) and so on. Their
    /// 13 schemas are registered with the first such stream of a domain; `false` leaves them out.
    pub const fn plain_events(mut self, plain_events: bool) -> Self {
        self.plain_events = plain_events;
        self
    }
}

/// What data is written to: one order of events, one thread at a time.
///
/// An owned thing without a lifetime, to be kept in a struct and moved to the thread that writes.
/// [`Session::writer`](crate::Session::writer) borrows it for writing. Dropping it does nothing: the session's end closes
/// it, or [`Session::close_stream`](crate::Session::close_stream).
#[derive(Debug)]
pub struct Stream {
    pub(crate) session: u64,
    pub(crate) domain: Arc<DomainState>,
    pub(crate) handle: StreamHandle,
    pub(crate) batch_ordering: BatchOrdering,
    /// `None`: opened without plain events.
    pub(crate) plain: Option<Arc<PlainSchemas>>,
    /// Those of `plain`.
    pub(crate) plain_ids: PlainIds,
    name: Box<str>,
    reason: Option<ReasonHook>,
    _one: OneThreadAtATime,
}

impl Stream {
    /// Opens a stream on `domain`, which is one of the session `live`; the caller has borrowed that mutably.
    pub(crate) fn open(
        name: &str,
        options: &StreamOptions,
        live: &LiveSession,
        domain: Arc<DomainState>,
        session: u64,
    ) -> Result<Self> {
        let c_name = text::c_string(name, "stream name")?;
        let scope = match options.scope {
            DefaultScope::None => PredefinedScope::None.to_raw(),
            DefaultScope::Root => PredefinedScope::Root.to_raw(),
            DefaultScope::Scope(scope) if scope.owner == domain.owner => scope.id.to_u64(),
            DefaultScope::Scope(scope) => {
                let object = format!("the scope of stream `{name}`");
                return Err(owner::foreign(
                    object,
                    scope.owner,
                    "the stream is for",
                    domain.owner,
                ));
            }
        };
        let time_domain = options.time_domain.number(domain.owner).map_err(|owner| {
            let object = format!("the time domain of stream `{name}`");
            owner::foreign(object, owner, "the stream is for", domain.owner)
        })?;
        let plain = options
            .plain_events
            .then(|| PlainSchemas::of(live, &domain));
        let attributes = StreamAttributes {
            name: &c_name,
            domain: domain.handle,
            scope,
            time_domain,
            interleaving: options.interleaving.to_raw(),
            ordering: options.ordering.to_raw(),
            skid: options.skid.to_raw(),
            skid_amount: options.skid_amount,
        };
        let handle = live.open_stream(&attributes).map_err(|refusal| {
            let object = format!("stream `{name}` on {}", domain.describe());
            if let Refusal::Code {
                code: ResultCode::INVALID_ARGUMENT,
                reason: None,
            } = refusal
            {
                refusal.of(
                    "open",
                    object + " (no two streams of a session may have the same name)",
                )
            } else {
                refusal.of("open", object)
            }
        })?;
        let batch_ordering = options.batch_ordering;
        Ok(Self {
            session,
            domain,
            handle,
            batch_ordering,
            plain_ids: plain.as_ref().map_or([0; 13], |plain| plain.ids()),
            plain,
            name: name.into(),
            reason: live.reason(),
            _one: OneThreadAtATime::MARK,
        })
    }

    /// Closes the stream, which is one of the session `live`; the caller has borrowed that mutably.
    pub(crate) fn close(mut self, live: &LiveSession) -> Result<(), CloseError> {
        match live.close_stream(&mut self.handle) {
            Ok(()) => Ok(()),
            Err(refusal) => {
                let error = refusal.of(
                    "close",
                    format!("stream `{}` of {}", self.name, self.domain.describe()),
                );
                Err(CloseError::new(self, error))
            }
        }
    }

    /// The stream's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The error of using `object`, which belongs to the domain `owner`, with this stream.
    #[cold]
    #[inline(never)]
    pub(crate) fn foreign(&self, object: &str, owner: Owner) -> Error {
        owner::foreign(
            object.to_owned(),
            owner,
            &format!("stream `{}` writes to", self.name),
            self.domain.owner,
        )
    }

    /// Why the last write on this thread got the answer `code`, if the backend tells.
    pub(crate) fn last_reason(&self, code: ResultCode) -> Option<String> {
        last_reason(self.reason, code)
    }

    /// The stream and its domain in words.
    pub(crate) fn describe(&self) -> String {
        format!("stream `{}` of {}", self.name, self.domain.describe())
    }
}
