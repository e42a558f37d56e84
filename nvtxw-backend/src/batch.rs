//! Batches of events of one schema.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, EventKind};

use crate::data::{Data, Flex, Steps};
use crate::event::{Event, Payload};
use crate::refusal::{Refusal, RefusalTally, Result};
use crate::schema::{Plan, Schema, Shape};
use crate::stream::StreamInfo;
use crate::walk;

/// Events of one schema.
#[derive(Debug)]
pub struct EventBatch<'a> {
    stream: &'a StreamInfo,
    schema: &'a Arc<Schema>,
    kind: EventKind,
    bytes: &'a [u8],
    flex: Option<Flex<'a>>,
    scope: u64,
    ordering: BatchOrdering,
    refusals: Refusals,
}

impl<'a> EventBatch<'a> {
    /// `bytes` are a whole number of payloads of `schema`, which is of this kind, if that is of fixed size.
    pub(crate) fn new(
        stream: &'a StreamInfo,
        schema: &'a Arc<Schema>,
        kind: EventKind,
        bytes: &'a [u8],
        flex: Option<Flex<'a>>,
        scope: u64,
        ordering: BatchOrdering,
    ) -> Self {
        Self {
            stream,
            schema,
            kind,
            bytes,
            flex,
            scope,
            ordering,
            refusals: Refusals::default(),
        }
    }

    /// The schema of all events.
    pub fn schema(&self) -> &Arc<Schema> {
        self.schema
    }

    /// In which order the producer says that the events stand.
    pub fn ordering(&self) -> BatchOrdering {
        self.ordering
    }

    /// Number of events, bad ones included. Those of a dynamic schema are walked through to count them, up to one whose end
    /// can't be found.
    pub fn len(&self) -> usize {
        match self.schema.shape {
            Shape::Dynamic => {
                let (steps, mut rest) = (self.steps(), self.bytes);
                std::iter::from_fn(|| self.next(&mut rest, &steps)).count()
            }
            _ => self.bytes.len() / self.schema.size,
        }
    }

    /// Whether there is no event. (A backend doesn't get such a batch.)
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The events, in order. Bad ones (that end before they start, for example) are left out: the producer gets the code
    /// of the first of them, once the backend is through with the batch.
    #[inline]
    pub fn events(&self) -> impl Iterator<Item = Event<'a>> {
        let (steps, mut rest) = (self.steps(), self.bytes);
        let mut indices = 0..;
        std::iter::from_fn(move || {
            loop {
                let bytes = self.next(&mut rest, &steps)?;
                let index = indices.next()?;
                match self.read(bytes, &steps) {
                    Ok(event) => return Some(event),
                    Err(refusal) => self.refusals.note(index, refusal),
                }
            }
        })
    }

    /// Calls `take` with each of the [`events`](Self::events), in order. Faster: an event stays where it is made.
    #[inline]
    pub fn for_each(&self, mut take: impl FnMut(&Event<'a>)) {
        let (steps, mut rest) = (self.steps(), self.bytes);
        let mut index = 0;
        while let Some(bytes) = self.next(&mut rest, &steps) {
            match &self.read(bytes, &steps) {
                Ok(event) => take(event),
                Err(refusal) => self.refusals.note(index, refusal.clone()),
            }
            index += 1;
        }
    }

    /// The bytes of all events, [as many](Schema::size) for each, if each field has a [fixed place](crate::Field::offset) in
    /// them: so that a backend can work out once how it reads the events of a schema. It must leave an event that it finds
    /// anything wrong with, or does not know what to do with, to [`event`](Self::event).
    pub fn plain(&self) -> Option<&'a [u8]> {
        (self.schema.shape == Shape::Static && !self.schema.plan.needs_walk).then_some(self.bytes)
    }

    /// The event at `index` of a [plain](Self::plain) batch. `None` if it is bad, as in [`events`](Self::events), and if
    /// there is none.
    pub fn event(&self, index: usize) -> Option<Event<'a>> {
        let size = self.schema.size;
        let bytes = self.plain()?.chunks_exact(size).nth(index)?;
        match self.read(Ok(bytes), &self.steps()) {
            Ok(event) => Some(event),
            Err(refusal) => {
                self.refusals.note(index, refusal);
                None
            }
        }
    }

    /// The ID of the scope of all events, if none of them can name one of its own.
    pub fn scope_id(&self) -> Option<u64> {
        let Plan { at, scopes, .. } = &self.schema.plan;
        if at.purpose_scope.or(at.scope).is_some() || scopes.purpose != 0 {
            return None;
        }
        let mut named = [self.scope, scopes.general].into_iter();
        Some(
            named
                .find(|scope| *scope != 0)
                .unwrap_or(self.stream.scope_id()),
        )
    }

    #[inline]
    fn read(&self, bytes: Result<&'a [u8]>, steps: &Steps) -> Result<Event<'a>> {
        let payload = Payload {
            schema: self.schema,
            bytes: bytes?,
            count: None,
        };
        Event::of_one(
            self.stream,
            self.scope,
            payload,
            self.kind,
            self.flex,
            steps,
        )
    }

    /// Work for what all events together refer to.
    #[inline]
    fn steps(&self) -> Steps {
        let flex = self.flex.map_or(0, |flex| flex.bytes.len());
        Steps::for_bytes(
            self.bytes.len().saturating_add(flex),
            self.schema.plan.reaches_out,
        )
    }

    /// Takes the bytes of the first event off `rest`. After an event whose end can't be found there are no more.
    #[inline]
    fn next(&self, rest: &mut &'a [u8], steps: &Steps) -> Option<Result<&'a [u8]>> {
        if rest.is_empty() {
            return None;
        }
        let end = match self.schema.shape {
            Shape::Dynamic => self.end(rest, steps),
            _ => Ok(self.schema.size),
        };
        Some(match end {
            Ok(end) => {
                let event;
                (event, *rest) = rest.split_at(end);
                Ok(event)
            }
            Err(refusal) => {
                *rest = &[];
                Err(refusal.and(
                    "where the next event starts can't be told, so that this and all after it are left out",
                ))
            }
        })
    }

    /// Where the first event of `rest` ends, of a dynamic schema.
    fn end(&self, rest: &'a [u8], steps: &Steps) -> Result<usize> {
        if rest.len() < self.schema.size {
            return Err(Refusal::invalid(format!(
                "only {} bytes are left, but an event of {} has at least {}",
                rest.len(),
                self.schema.label(),
                self.schema.size
            )));
        }
        let payload = Payload {
            schema: self.schema,
            bytes: rest,
            count: None,
        };
        let data = Data {
            payloads: &[payload],
            flex: self.flex,
            domain: self.stream.domain(),
            steps,
        };
        let end = walk::check(self.schema, rest, &data)?.end;
        // What takes no bytes would come for ever.
        Ok(end.max(1))
    }

    /// What the producer gets for the events that were left out.
    pub(crate) fn finish(self, tally: &RefusalTally) -> Result<()> {
        if self.refusals.is_empty() {
            return Ok(());
        }
        let len = self.len();
        self.refusals.finish("event", len, tally)
    }
}

/// What was wrong in a batch.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    first: OnceCell<(usize, Refusal)>,
    /// Greatest index of a bad item so far, so that a second pass doesn't count them again.
    seen: Cell<Option<usize>>,
    count: Cell<usize>,
}

impl Refusals {
    /// Notes that the item at `index` is bad.
    #[cold]
    pub(crate) fn note(&self, index: usize, refusal: Refusal) {
        if self.seen.get() < Some(index) {
            self.seen.set(Some(index));
            self.count.set(self.count.get() + 1);
            // Only the first one is told.
            let _ = self.first.set((index, refusal));
        }
    }

    fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// The first refusal, of one of `len` items, with how many others there were. They are counted.
    pub(crate) fn finish(self, what: &str, len: usize, tally: &RefusalTally) -> Result<()> {
        let count = self.count.get();
        let Some((index, refusal)) = self.first.into_inner() else {
            return Ok(());
        };
        tally.leave_out(count);
        let refusal = refusal.at(format_args!("{what} {index} of {len}"));
        Err(match count - 1 {
            0 => refusal,
            more => refusal.and(format_args!(
                "{more} more {what}s of the batch were refused, the others were taken"
            )),
        })
    }
}
