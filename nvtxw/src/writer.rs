//! Writers.

use std::ffi::CStr;

use crate::calls::{EventPort, LiveSession};
use crate::counter::Counter;
use crate::derived::NvtxEvent;
use crate::error::{self, Error, Result, WriteError};
use crate::event::{EventWriter, Schema};
use crate::id::{Owner, RangeId};
use crate::owner;
use crate::plain::{self, PlainEvent, PlainIds, PlainSchemas, Shape};
use crate::sample::CounterWriter;
use crate::stream::Stream;

/// What writes to a stream: plain marks and ranges, and typed events and counters through what is bound to it.
///
/// Made by [`Session::writer`](crate::Session::writer). It may move to another thread; what is bound to it stays on its
/// thread, so that one thread at a time writes to the stream. Nothing on it registers, and no write allocates.
///
/// Timestamps are in ticks of the stream's time domain, nanoseconds if it has none.
#[derive(Debug)]
pub struct Writer<'w> {
    port: EventPort<'w>,
    owner: Owner,
    plain_ids: PlainIds,
    pub(crate) live: &'w LiveSession,
    pub(crate) stream: &'w mut Stream,
}

impl<'w> Writer<'w> {
    /// `stream` is one of the session `live`.
    #[inline]
    pub(crate) fn new(live: &'w LiveSession, stream: &'w mut Stream) -> Self {
        Self {
            port: live.events(&stream.handle),
            owner: stream.domain.owner,
            plain_ids: stream.plain_ids,
            live,
            stream,
        }
    }

    #[inline]
    pub(crate) fn port(&self) -> &EventPort<'w> {
        &self.port
    }

    /// The number of the stream's domain.
    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    #[inline]
    pub(crate) fn plain_ids(&self) -> &PlainIds {
        &self.plain_ids
    }

    /// `None`: the stream was opened without plain events.
    pub(crate) fn plain_schemas(&self) -> Option<&PlainSchemas> {
        self.stream.plain.as_deref()
    }

    /// A mark: something happened at `time`.
    #[inline]
    pub fn mark(&self, time: i64) -> PlainEvent<'_> {
        PlainEvent::new(self, Shape::Mark(time))
    }

    /// A whole range that nests in others of the stream, as calls do.
    #[inline]
    pub fn pushpop(&self, start: i64, end: i64) -> PlainEvent<'_> {
        PlainEvent::new(self, Shape::PushPop(start, end))
    }

    /// A whole range that may overlap others.
    #[inline]
    pub fn startend(&self, start: i64, end: i64) -> PlainEvent<'_> {
        PlainEvent::new(self, Shape::StartEnd(start, end))
    }

    /// The start of a range that nests in others of the stream; [`pop`](Writer::pop) ends it.
    #[inline]
    pub fn push(&self, time: i64) -> PlainEvent<'_> {
        PlainEvent::new(self, Shape::Push(time))
    }

    /// The end of the range that was pushed last.
    ///
    /// # Errors
    /// As [`PlainEvent::write`].
    #[inline]
    pub fn pop(&self, time: i64) -> Result<(), WriteError> {
        plain::pop(self, time)
    }

    /// The start of a range that may overlap others; [`end`](Writer::end) with the same id ends it, on whatever stream of
    /// the domain. The built-in backend shows the range where it was started.
    #[inline]
    pub fn start(&self, time: i64, id: RangeId) -> PlainEvent<'_> {
        PlainEvent::new(self, Shape::Start(time, id))
    }

    /// The end of the range that was started with this id.
    ///
    /// # Errors
    /// As [`PlainEvent::write`].
    #[inline]
    pub fn end(&self, time: i64, id: RangeId) -> Result<(), WriteError> {
        plain::end(self, time, id)
    }

    /// What writes events of a struct to this stream.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the schema is registered in another domain than the stream's.
    #[inline]
    pub fn events<E: NvtxEvent>(&self, schema: Schema<E>) -> Result<EventWriter<'_, E>> {
        if schema.owner != self.owner() {
            return Err(foreign_schema(self.stream, schema.owner, E::SCHEMA.name));
        }
        Ok(EventWriter::new(
            self.live.events(&self.stream.handle),
            schema.id,
            self.stream,
        ))
    }

    /// What writes samples of a counter or a counter group to this stream.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the counter is registered in another domain than the stream's.
    #[inline]
    pub fn counter<C>(&self, counter: Counter<C>) -> Result<CounterWriter<'_, C>> {
        if counter.owner != self.owner() {
            return Err(foreign_counter(self.stream, counter.owner, counter.id));
        }
        Ok(CounterWriter::new(
            self.live.counters(&self.stream.handle),
            counter.id,
            self.stream,
        ))
    }
}

#[cold]
#[inline(never)]
fn foreign_schema(stream: &Stream, owner: Owner, name: &CStr) -> Error {
    stream.foreign(&format!("schema `{}`", name.to_string_lossy()), owner)
}

#[cold]
#[inline(never)]
pub(crate) fn foreign_counter(stream: &Stream, owner: Owner, id: u64) -> Error {
    let name =
        owner::find(owner).map_or_else(|| format!("#{id}"), |domain| domain.counter_name(id));
    stream.foreign(&format!("counter `{name}`"), owner)
}

impl error::sealed::Place for Writer<'_> {
    fn what(&self) -> String {
        format!("an event to {}", self.stream.describe())
    }

    fn stream(&self) -> &Stream {
        self.stream
    }
}
