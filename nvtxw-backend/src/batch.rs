//! Batches of events of one schema.

use std::cell::{Cell, OnceCell};
use std::iter::Enumerate;
use std::slice::ChunksExact;
use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, EventKind};

use crate::event::{Event, Payload};
use crate::refusal::Refusal;
use crate::schema::Schema;
use crate::stream::StreamInfo;

/// Events of one schema.
#[derive(Debug)]
pub struct EventBatch<'a> {
    stream: &'a StreamInfo,
    schema: &'a Arc<Schema>,
    kind: EventKind,
    bytes: &'a [u8],
    scope: u64,
    ordering: BatchOrdering,
    refusals: Refusals,
}

impl<'a> EventBatch<'a> {
    /// `bytes` are a whole number of payloads of `schema`, which is of this kind and of fixed size.
    pub(crate) fn new(
        stream: &'a StreamInfo,
        schema: &'a Arc<Schema>,
        kind: EventKind,
        bytes: &'a [u8],
        scope: u64,
        ordering: BatchOrdering,
    ) -> Self {
        Self {
            stream,
            schema,
            kind,
            bytes,
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

    /// Number of events, bad ones included.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.schema.size
    }

    /// Whether there is no event. (A backend doesn't get such a batch.)
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The events, in order. Bad ones (that end before they start, for example) are left out: the producer gets the code
    /// of the first of them, once the backend is through with the batch.
    #[inline]
    pub fn events(&self) -> impl Iterator<Item = Event<'a>> {
        Events {
            batch: self,
            rest: self.bytes.chunks_exact(self.schema.size).enumerate(),
        }
    }

    pub(crate) fn into_refusal(self) -> Option<Refusal> {
        let len = self.len();
        self.refusals.into_first("event", len)
    }
}

/// The good events of a batch.
struct Events<'b, 'a> {
    batch: &'b EventBatch<'a>,
    rest: Enumerate<ChunksExact<'a, u8>>,
}

impl<'a> Iterator for Events<'_, 'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        let EventBatch {
            stream,
            schema,
            kind,
            scope,
            refusals,
            ..
        } = self.batch;
        loop {
            let (index, bytes) = self.rest.next()?;
            match Event::of_one(
                stream,
                *scope,
                Payload {
                    schema,
                    bytes,
                    count: None,
                },
                *kind,
            ) {
                Ok(event) => return Some(event),
                Err(refusal) => refusals.note(index, refusal),
            }
        }
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

    pub(crate) fn into_first(self, what: &str, len: usize) -> Option<Refusal> {
        let (index, refusal) = self.first.into_inner()?;
        let refusal = refusal.at(format_args!("{what} {index} of {len}"));
        Some(match self.count.get() - 1 {
            0 => refusal,
            more => refusal.and(format_args!(
                "{more} more {what}s of the batch were refused, the others were taken"
            )),
        })
    }
}
