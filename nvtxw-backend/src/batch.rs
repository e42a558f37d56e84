//! Batches of events of one schema.

use std::cell::{Cell, OnceCell};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use nvtxw_abi::{BatchOrdering, EventKind};

use crate::call::{EventBatchCall, Pointees, WriteCall};
use crate::data::{Flex, Steps};
use crate::event::Event;
use crate::plain::PlainEvents;
use crate::raw::EventBatchArg;
use crate::refusal::{Refusal, RefusalTally, Result};
use crate::schema::{Schema, Shape, Way};
use crate::stream::StreamInfo;

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
    arg: &'a EventBatchArg<'a>,
    refusals: Refusals,
}

impl<'a> EventBatch<'a> {
    /// The bytes of `arg` are a whole number of payloads of `schema`, which is of this kind, if that is of fixed size.
    pub(crate) fn new(
        stream: &'a StreamInfo,
        schema: &'a Arc<Schema>,
        kind: EventKind,
        arg: &'a EventBatchArg<'a>,
        flex: Option<Flex<'a>>,
        ordering: BatchOrdering,
    ) -> Self {
        Self {
            stream,
            schema,
            kind,
            bytes: arg.bytes,
            flex,
            scope: arg.scope,
            ordering,
            arg,
            refusals: Refusals::default(),
        }
    }

    /// The call that the batch came in. What is bad in its events is not looked at.
    pub fn call(&self) -> WriteCall<'a> {
        self.arg.call(Pointees::there(self.stream.domain()))
    }

    /// Passes `write` the calls that write the good events alone: [`call`](Self::call), or if there are bad events, a call for
    /// each run of good ones between them. Reads all events.
    ///
    /// # Errors
    /// The first error of `write`, which gets no call after it.
    pub fn write_good(&self, mut write: impl FnMut(&WriteCall<'a>) -> Result<()>) -> Result<()> {
        self.for_each(|_| ());
        let call = self.call();
        let WriteCall::EventBatch(whole) = call else {
            unreachable!("an event batch is written by that call");
        };
        if !self.has_bad() {
            return write(&call);
        }
        let mut write_run = |run: Range<usize>| match run.is_empty() {
            true => Ok(()),
            false => write(&WriteCall::EventBatch(EventBatchCall {
                bytes: &self.bytes[run],
                ..whole
            })),
        };
        let (steps, mut rest, mut event) = (self.steps(), self.bytes, self.unread());
        let mut run = 0..0;
        while let Some(read) = self.next(&mut event, &mut rest, &steps) {
            let end = self.bytes.len() - rest.len();
            match read {
                Ok(()) => run.end = end,
                Err(_) => write_run(mem::replace(&mut run, end..end))?,
            }
        }
        write_run(run)
    }

    /// The schema of all events.
    pub fn schema(&self) -> &Arc<Schema> {
        self.schema
    }

    /// In which order the producer says that the events stand.
    pub fn ordering(&self) -> BatchOrdering {
        self.ordering
    }

    /// Whether one of the events that were read so far is bad. Then the call is refused for what is wrong with it, if not for
    /// what the backend answers.
    pub fn has_bad(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// Number of events, bad ones included. Those of a dynamic schema are walked through to count them, up to one whose end
    /// can't be found.
    pub fn len(&self) -> usize {
        match self.schema.shape {
            Shape::Dynamic => {
                let (steps, mut rest) = (self.steps(), self.bytes);
                let mut event = self.unread();
                std::iter::from_fn(|| self.next(&mut event, &mut rest, &steps)).count()
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
                let mut event = self.unread();
                let index = indices.next()?;
                match self.next(&mut event, &mut rest, &steps)? {
                    Ok(()) => return Some(event),
                    Err(refusal) => self.refusals.note(index, refusal),
                }
            }
        })
    }

    /// Calls `take` with each of the [`events`](Self::events), in order. Faster: an event stays where it is made.
    #[inline]
    pub fn for_each(&self, take: impl FnMut(&Event<'a>)) {
        match self.schema.shape {
            Shape::Dynamic => self.for_each_dynamic(take),
            _ => self.for_each_static(take),
        }
    }

    /// The same where all events have the same size.
    #[inline(always)]
    fn for_each_static(&self, mut take: impl FnMut(&Event<'a>)) {
        let (steps, mut event) = (self.steps(), self.unread());
        for (index, bytes) in self.bytes.chunks_exact(self.schema.size).enumerate() {
            match event.read(bytes, self.scope, &steps) {
                Ok(()) => take(&event),
                Err(refusal) => self.refusals.note(index, refusal),
            }
        }
    }

    /// The same where they have not.
    fn for_each_dynamic(&self, mut take: impl FnMut(&Event<'a>)) {
        let (steps, mut event) = (self.steps(), self.unread());
        let (mut rest, mut index) = (self.bytes, 0);
        while let Some(read) = self.next_dynamic(&mut event, &mut rest, &steps) {
            match read {
                Ok(()) => take(&event),
                Err(refusal) => self.refusals.note(index, refusal),
            }
            index += 1;
        }
    }

    /// The events by their bytes, if each of their fields has a [fixed place](crate::Field::offset) in these, but for text in the
    /// flexible data: so that a backend can work out once how it reads the events of a schema. It must
    /// [read](PlainEvents::read) an event that it finds anything wrong with, or does not know what to do with.
    pub fn plain_events(&self) -> Option<PlainEvents<'_, 'a>> {
        PlainEvents::new(self, self.flex)
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The event of these bytes, behind which there are so many more; `None` if it is bad.
    pub(crate) fn read(&self, bytes: &'a [u8], rest: usize, steps: &Steps) -> Option<Event<'a>> {
        let mut event = self.unread();
        match event.read(bytes, self.scope, steps) {
            Ok(()) => Some(event),
            Err(refusal) => {
                let read = self.bytes.len() - rest;
                self.refusals.note(read / self.schema.size - 1, refusal);
                None
            }
        }
    }

    /// The ID of the scope of all events, if none of them can name one of its own, nor a process or a thread.
    pub fn scope_id(&self) -> Option<u64> {
        (self.schema.plan).fixed_scope(self.scope, self.stream.scope_id())
    }

    fn unread(&self) -> Event<'a> {
        Event::unread(self.stream, self.scope, self.schema, self.kind, self.flex)
    }

    /// Work for what all events together refer to.
    #[inline]
    pub(crate) fn steps(&self) -> Steps {
        let flex = self.flex.map_or(0, |flex| flex.bytes.len());
        Steps::for_bytes(
            self.bytes.len().saturating_add(flex),
            self.schema.plan.reaches_out,
        )
    }

    /// Reads the first event of `rest`, and takes its bytes off that. After an event whose end can't be found there are no more.
    #[inline(always)]
    fn next(
        &self,
        event: &mut Event<'a>,
        rest: &mut &'a [u8],
        steps: &Steps,
    ) -> Option<Result<()>> {
        if self.schema.shape == Shape::Dynamic {
            return self.next_dynamic(event, rest, steps);
        }
        let bytes;
        (bytes, *rest) = rest.split_at_checked(self.schema.size)?;
        Some(event.read(bytes, self.scope, steps))
    }

    /// The same for a dynamic schema.
    #[inline(never)]
    fn next_dynamic(
        &self,
        event: &mut Event<'a>,
        rest: &mut &'a [u8],
        steps: &Steps,
    ) -> Option<Result<()>> {
        let schema = self.schema;
        if rest.is_empty() {
            return None;
        }
        if schema.plan.way != Way::Regular || schema.plan.refers {
            return Some(self.next_irregular(event, rest, steps));
        }
        let end = match rest.len() < schema.size {
            true => Err(cut_short("an event", schema, rest.len())),
            false => event.locate(rest, steps),
        };
        let bytes = split(rest, end, "event");
        Some(bytes.and_then(|bytes| event.read_at(bytes, self.scope, &schema.plan.at)))
    }

    /// The same where more than a few fields vary, or something is elsewhere.
    #[inline(never)]
    fn next_irregular(
        &self,
        event: &mut Event<'a>,
        rest: &mut &'a [u8],
        steps: &Steps,
    ) -> Result<()> {
        let (schema, mut late) = (self.schema, None);
        let end = match rest.len() < schema.size {
            true => Err(cut_short("an event", schema, rest.len())),
            false => event.find(rest, steps, &mut late),
        };
        let bytes = split(rest, end, "event")?;
        match schema.plan.refers {
            // What it refers to must be its own.
            true => event.read(bytes, self.scope, steps),
            false => {
                let at = late.as_ref().unwrap_or(&schema.plan.at);
                event.read_at(bytes, self.scope, at)
            }
        }
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

/// Takes the bytes of the first item, which ends there, off `rest`. After one whose end can't be found there are no more.
#[inline(always)]
pub(crate) fn split<'a>(rest: &mut &'a [u8], end: Result<usize>, what: &str) -> Result<&'a [u8]> {
    match end {
        Ok(end) => {
            let bytes;
            // What takes no bytes would come for ever.
            (bytes, *rest) = rest.split_at(end.max(1));
            Ok(bytes)
        }
        Err(refusal) => {
            *rest = &[];
            Err(endless(refusal, what))
        }
    }
}

#[cold]
fn endless(refusal: Refusal, what: &str) -> Refusal {
    refusal.and(format_args!(
        "where the next {what} starts can't be told, so that this and all after it are left out"
    ))
}

#[cold]
pub(crate) fn cut_short(what: &str, schema: &Schema, left: usize) -> Refusal {
    Refusal::invalid(format!(
        "only {left} bytes are left, but {what} of {} has at least {}",
        schema.label(),
        schema.size
    ))
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

    pub(crate) fn is_empty(&self) -> bool {
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
