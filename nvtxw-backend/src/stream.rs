//! Streams: what they are opened with, and those that are open.

use std::ffi::CStr;
use std::sync::Arc;

use nvtxw_abi::{Skid, StreamInterleaving, StreamOrdering};

use crate::backend::Stream;
use crate::call::StreamAttributes;
use crate::domain::Domain;
use crate::event::Payload;
use crate::handle::{Kind, Object, Slots};
use crate::log::Account;
use crate::panic::{catch, catch_poisoning};
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::scope::ScopeRef;
use crate::session::OpenSession;
use crate::spec::StreamSpec;
use crate::sync::process_wide;
use crate::text::lossy;
use crate::write::{WITH_TEXT, WithText};

/// What a stream is opened with.
#[derive(Debug)]
pub struct StreamInfo {
    name: Arc<str>,
    account: Arc<Account>,
    domain: Arc<Domain>,
    scope: ScopeRef,
    time_domain: u64,
    interleaving: StreamInterleaving,
    ordering: StreamOrdering,
    skid: Skid,
    skid_amount: u64,
    /// The same as the producer gave it.
    name_text: Option<Box<CStr>>,
    raw_skid_amount: i64,
    names_domain: bool,
}

impl StreamInfo {
    pub(crate) fn new(
        spec: &StreamSpec<'_>,
        domain: Arc<Domain>,
        account: &Arc<Account>,
    ) -> Result<Self> {
        let unknown = |field: &str, value: i64, greatest: i64| {
            Refusal::invalid(format!(
                "attr.{field} is {value}; the ABI defines 0 to {greatest}"
            ))
        };
        let interleaving = StreamInterleaving::from_raw(spec.interleaving)
            .ok_or_else(|| unknown("orderInterleaving", spec.interleaving.into(), 1))?;
        let ordering = StreamOrdering::from_raw(spec.ordering)
            .ok_or_else(|| unknown("orderingType", spec.ordering.into(), 3))?;
        let skid = Skid::from_raw(spec.skid)
            .ok_or_else(|| unknown("orderingSkid", spec.skid.into(), 2))?;
        let skid_amount = match (skid, u64::try_from(spec.skid_amount)) {
            (Skid::None, _) => 0,
            (_, Ok(amount)) => amount,
            (_, Err(_)) => {
                return Err(Refusal::invalid(format!(
                    "attr.orderingSkidAmount is {}; it must not be negative",
                    spec.skid_amount
                )));
            }
        };
        if !domain.knows_time_domain(spec.time_domain) {
            return Err(Refusal::invalid(format!(
                "attr.timeDomainId {} is neither a timestamp type nor a time domain of the stream's domain",
                spec.time_domain
            ))
            .because(Cause::Unregistered(IdKind::TimeDomain, spec.time_domain)));
        }
        Ok(Self {
            name: lossy(spec.name).unwrap_or_default().into(),
            account: Arc::clone(account),
            scope: default_scope(&domain, spec.scope)?,
            domain,
            time_domain: spec.time_domain,
            interleaving,
            ordering,
            skid,
            skid_amount,
            name_text: spec.name.map(Into::into),
            raw_skid_amount: spec.skid_amount,
            names_domain: spec.domain != 0,
        })
    }

    /// What the producer opened the stream with.
    pub fn attributes(&self) -> StreamAttributes<'_> {
        StreamAttributes {
            name: self.name_text.as_deref(),
            domain: self.domain.index(),
            names_domain: self.names_domain,
            scope: self.scope_id(),
            time_domain: self.time_domain,
            interleaving: self.interleaving.to_raw(),
            ordering: self.ordering.to_raw(),
            skid: self.skid.to_raw(),
            skid_amount: self.raw_skid_amount,
        }
    }

    /// The stream's name; empty if it has none. What was not UTF-8 is U+FFFD.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The domain in which all that the stream's data refers to is registered.
    #[inline]
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The scope of data that names none. It is no [`ScopeRef::Predefined`].
    pub fn scope(&self) -> ScopeRef {
        self.scope.clone()
    }

    /// The time domain of timestamps that name none: a [`TimestampType`](crate::TimestampType) or a registered
    /// [time domain](Domain::time_domain); 0 for a timeline of its own.
    #[inline]
    pub fn time_domain(&self) -> u64 {
        self.time_domain
    }

    /// Among which data the order holds.
    pub fn interleaving(&self) -> StreamInterleaving {
        self.interleaving
    }

    /// By which of its timestamps an event takes its place.
    pub fn ordering(&self) -> StreamOrdering {
        self.ordering
    }

    /// The unit of how late data may come.
    pub fn skid(&self) -> Skid {
        self.skid
    }

    /// How late data may come, in that unit; 0 without one.
    pub fn skid_amount(&self) -> u64 {
        self.skid_amount
    }

    /// Tells the [log](crate::log) what was wrong with a call of `member` on this stream that was taken: that only later calls
    /// showed it, for example. It counts as no refusal, and the producer gets no code for it.
    pub fn report(&self, member: &'static str, refusal: &Refusal) {
        self.account.remark(member, &self.name, refusal);
    }

    #[inline]
    pub(crate) fn scope_id(&self) -> u64 {
        self.scope.id()
    }

    pub(crate) fn name_shared(&self) -> &Arc<str> {
        &self.name
    }
}

/// The default scope of a stream or of a counter.
pub(crate) fn default_scope(domain: &Domain, id: u64) -> Result<ScopeRef> {
    match domain.scope_ref(id) {
        Some(ScopeRef::Predefined(_)) => Err(Refusal::invalid(format!(
            "attr.scopeId {id} depends on where code runs; use NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT or a scope of the domain"
        ))),
        Some(scope) => Ok(scope),
        None => Err(Refusal::invalid(format!(
            "attr.scopeId {id} is not registered in the domain: register it first"
        ))
        .because(Cause::Unregistered(IdKind::Scope, id))),
    }
}

/// The most streams of the process that are open at one time. Few in models, so that they get to the end.
const MOST: usize = if cfg!(all(test, loom)) { 3 } else { 1 << 17 };

process_wide! {
    /// The streams of the process.
    pub(crate) static STREAMS: Slots<Box<OpenStream>, MOST> = Slots::new();
}

impl Object for Box<OpenStream> {
    const KIND: Kind = Kind::Stream;
}

/// A stream that is open.
pub(crate) struct OpenStream {
    pub(crate) info: Arc<StreamInfo>,
    // Before the session, whose backend may go as it is dropped.
    pub(crate) backend: StreamBackend,
    pub(crate) session: Arc<OpenSession>,
    /// Memory for the payloads of an event; none are in it.
    pub(crate) payloads: Vec<Payload<'static>>,
    /// By the IDs of their events' schemas.
    pub(crate) with_text: [Option<WithText>; WITH_TEXT],
}

/// The backend's stream, until it panics.
pub(crate) struct StreamBackend {
    stream: Box<dyn Stream>,
    poisoned: bool,
}

impl OpenStream {
    pub(crate) fn new(
        info: Arc<StreamInfo>,
        stream: Box<dyn Stream>,
        session: Arc<OpenSession>,
    ) -> Self {
        Self {
            info,
            backend: StreamBackend {
                stream,
                poisoned: false,
            },
            session,
            payloads: Vec::new(),
            with_text: [const { None }; WITH_TEXT],
        }
    }
}

impl StreamBackend {
    /// Calls the backend's stream, unless it is poisoned.
    #[inline(always)]
    pub(crate) fn call<T>(&mut self, call: impl FnOnce(&mut dyn Stream) -> Result<T>) -> Result<T> {
        self.check()?;
        catch_poisoning(|| self.poisoned = true, || call(&mut *self.stream))
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.poisoned {
            return Err(Refusal::failed(
                "this stream is poisoned: the backend panicked in an earlier call on it",
            ));
        }
        Ok(())
    }
}

/// Closes a stream, and makes its handle stale.
pub(crate) fn close(handle: u64) -> Result<()> {
    let mut stream = STREAMS.enter(handle)?;
    let closed = stream.backend.call(|backend| backend.close());
    if stream.backend.poisoned {
        // It stays, so that later calls are told, until the session ends.
        return closed;
    }
    let stream = stream.remove();
    stream.session.forget_stream(handle, &stream.info.name);
    closed.and(catch(|| drop(stream)))
}
