//! Typed events.

use std::fmt;
use std::marker::PhantomData;

use nvtxw_abi::BatchOrdering;

use crate::calls::{EventPort, Payload};
use crate::derived::{CompleteEvent, FixedEvent, FlexEvent, NvtxEvent};
use crate::error::{self, Result, WriteError};
use crate::flex::FlexPool;
use crate::id::{Owner, Scope, ScopeId};
use crate::payload::Payloads;
use crate::stream::Stream;

/// The registered schema of an event or a payload struct, as a small value to keep.
///
/// Made by [`Domain::schema`](crate::Domain::schema) for [`Writer::events`](crate::Writer::events), and by
/// [`Domain::payload_schema`](crate::Domain::payload_schema) for [`Schema::payload`].
pub struct Schema<E> {
    pub(crate) id: u64,
    pub(crate) owner: Owner,
    event: PhantomData<fn(&E)>,
}

impl<E> Schema<E> {
    pub(crate) fn new(id: u64, owner: Owner) -> Self {
        Self {
            id,
            owner,
            event: PhantomData,
        }
    }
}

impl<E> Schema<E> {
    /// The schema's number, unique among the schemas and enums of its domain.
    #[must_use]
    pub const fn id(self) -> u64 {
        self.id
    }
}

impl<E> Clone for Schema<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Schema<E> {}

impl<E> PartialEq for Schema<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.owner) == (other.id, other.owner)
    }
}

impl<E> Eq for Schema<E> {}

impl<E> fmt::Debug for Schema<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("id", &self.id)
            .field("owner", &self.owner)
            .finish()
    }
}

/// What writes events of one struct to a stream.
///
/// Bound by [`Writer::events`](crate::Writer::events), and meant to be kept for a while: it holds all that a call needs,
/// so that [`write_batch`](EventWriter::write_batch) is nothing but that call. Several of them may write to one stream in
/// turn.
///
/// String handles, scopes and categories inside the structs must be those of the stream's domain; nothing compares them.
///
/// ```
/// # #[cfg(all(feature = "file", feature = "derive"))] {
/// use nvtxw::{Backend, Config, NvtxEvent, Session, StreamOptions};
///
/// #[derive(NvtxEvent, Clone, Copy)]
/// #[repr(C)]
/// #[nvtx(kind = range_pushpop)]
/// struct Step {
///     #[nvtx(timestamp_start)]
///     start: i64,
///     #[nvtx(timestamp_end)]
///     end: i64,
///     loss: f64,
/// }
///
/// # let folder = std::env::temp_dir().join("nvtxw-doc-event");
/// # std::fs::create_dir_all(&folder)?;
/// # let config = Config::new().set("path", folder.join("run.pftrace").to_str().unwrap())?.set("overwrite", "true")?;
/// let mut session = Session::begin(&Backend::embedded(), "run", &config)?;
/// let mut domain = session.default_domain()?;
/// let (step, domain) = (domain.schema::<Step>()?, domain.id());
/// let mut stream = session.open_stream("steps", StreamOptions::new(domain))?;
///
/// let out = session.writer(&mut stream)?;
/// let steps = out.events(step)?;
/// steps.write_batch(&[Step { start: 0, end: 10, loss: 0.5 }, Step { start: 10, end: 19, loss: 0.25 }])?;
/// session.end()?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EventWriter<'w, E> {
    port: EventPort<'w>,
    schema: u64,
    scope: u64,
    flags: u64,
    owner: Owner,
    stream: &'w Stream,
    event: PhantomData<fn(&E)>,
}

impl<'w, E: NvtxEvent> EventWriter<'w, E> {
    /// `schema` is that of `E` in the stream's domain.
    #[inline]
    pub(crate) fn new(port: EventPort<'w>, schema: u64, stream: &'w Stream) -> Self {
        Self {
            port,
            schema,
            scope: ScopeId::NONE.to_u64(),
            flags: stream.batch_ordering.to_raw(),
            owner: stream.domain.owner,
            stream,
            event: PhantomData,
        }
    }

    /// Writes one event.
    ///
    /// # Errors
    /// What the backend answered.
    #[inline]
    pub fn write(&self, event: &E) -> Result<(), WriteError>
    where
        E: FixedEvent,
    {
        if self.scope == ScopeId::NONE.to_u64() {
            self.port.write(&[Payload::event(self.schema, event)])
        } else {
            self.port.write_batch(
                self.schema,
                std::slice::from_ref(event),
                self.scope,
                self.flags,
                &[],
            )
        }
    }

    /// Writes one event with what else there is to say of it: a struct ([`Schema::payload`]), a row of values that only the
    /// run of the program made known (`&`[`RecordRow`](crate::RecordRow)), or up to four of them as a tuple.
    ///
    /// # Errors
    /// What the backend answered; that a payload or a row belongs to another domain; that this writer has a
    /// [`scope`](EventWriter::scope), which a single event can't carry.
    #[inline]
    pub fn write_with(&self, event: &E, payloads: impl Payloads) -> Result<(), WriteError>
    where
        E: FixedEvent,
    {
        if self.scope != ScopeId::NONE.to_u64() {
            return Err(WriteError::ROW_WITH_SCOPE);
        }
        let event = Payload::event(self.schema, event);
        payloads.beside(event, self.owner, |payloads| self.port.write(payloads))
    }

    /// Writes events: one call, which gets the slice itself. An empty slice is no call.
    ///
    /// # Errors
    /// What the backend answered. Which events of the slice it took then is its matter.
    #[inline]
    pub fn write_batch(&self, events: &[E]) -> Result<(), WriteError>
    where
        E: CompleteEvent + FixedEvent,
    {
        if events.is_empty() {
            return Ok(());
        }
        self.port
            .write_batch(self.schema, events, self.scope, self.flags, &[])
    }

    /// Writes one event whose text is in `pool`. It goes as a batch of one.
    ///
    /// # Errors
    /// As [`write_batch_flex`](EventWriter::write_batch_flex).
    #[inline]
    pub fn write_flex(&self, event: &E, pool: &FlexPool) -> Result<(), WriteError>
    where
        E: FlexEvent,
    {
        self.write_batch_flex(std::slice::from_ref(event), pool)
    }

    /// Writes events whose text is in `pool`: one call, which gets the slice and the pool themselves. An empty slice is no
    /// call.
    ///
    /// # Errors
    /// What the backend answered; that an event's text lies outside the pool, as that of another pool can, and then nothing
    /// is written.
    #[inline]
    pub fn write_batch_flex(&self, events: &[E], pool: &FlexPool) -> Result<(), WriteError>
    where
        E: FlexEvent,
    {
        if events.is_empty() {
            return Ok(());
        }
        let pool = pool.bytes();
        if !events.iter().all(|event| E::fits(event, pool.len())) {
            return Err(WriteError::TEXT_OUTSIDE_POOL);
        }
        self.port
            .write_batch(self.schema, events, self.scope, self.flags, pool)
    }

    /// Says in which order the events of a batch stand; by default as
    /// [`StreamOptions::batch_ordering`](crate::StreamOptions::batch_ordering) says.
    #[inline]
    #[must_use]
    pub fn ordering(mut self, ordering: BatchOrdering) -> Self
    where
        E: CompleteEvent,
    {
        self.flags = ordering.to_raw();
        self
    }

    /// Gives the events a scope, if they have none of their own: it goes before the stream's.
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) if the scope is one of another domain.
    #[inline]
    pub fn scope(mut self, scope: Scope) -> Result<Self>
    where
        E: CompleteEvent,
    {
        if scope.owner != self.owner {
            return Err(self.stream.foreign("a scope that was passed", scope.owner));
        }
        self.scope = scope.id.to_u64();
        Ok(self)
    }
}

impl<E> fmt::Debug for EventWriter<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("EventWriter");
        debug
            .field("stream", &self.stream.name())
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl<E: NvtxEvent> error::sealed::Place for EventWriter<'_, E> {
    fn what(&self) -> String {
        format!(
            "events of schema `{}` to {}",
            E::SCHEMA.name.to_string_lossy(),
            self.stream.describe()
        )
    }

    fn stream(&self) -> &Stream {
        self.stream
    }
}
