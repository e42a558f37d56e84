//! A stream as the SDK has it: in whatever format its session has, and open for as long as other streams may
//! end what it started.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use nvtxw_backend::call::{EventCall, WriteCall};
use nvtxw_backend::{
    Counter, CounterBatch, Event, EventBatch, NoValueReason, PlainEvent, Refusal, Result, Schema,
    Stream, TimeRelation,
};

use super::{Lingering, StreamIn};
use crate::capture::CaptureStream;
use crate::chrome::Chrome;
use crate::flusher::{Flush, Timed};
#[cfg(feature = "parquet")]
use crate::parquet::Parquet;
use crate::perfetto::Perfetto;

/// A stream of a file.
pub struct FileStream {
    stream: AnyStream,
    /// Where it goes if it is closed and not done.
    session: Weak<Mutex<Lingering>>,
}

/// A stream in the format that its session has.
#[expect(
    clippy::large_enum_variant,
    reason = "the SDK has each on the heap already"
)]
pub(crate) enum AnyStream {
    Perfetto(StreamIn<Perfetto>),
    Chrome(StreamIn<Chrome>),
    #[cfg(feature = "parquet")]
    Parquet(StreamIn<Parquet>),
    Capture(CaptureStream),
    /// One of these that is flushed now and then.
    Timed(Timed),
    Closed,
}

/// The same for a stream in any format.
macro_rules! each {
    ($any:expr, $stream:ident => $call:expr) => {
        match $any {
            AnyStream::Perfetto($stream) => $call,
            AnyStream::Chrome($stream) => $call,
            #[cfg(feature = "parquet")]
            AnyStream::Parquet($stream) => $call,
            AnyStream::Capture($stream) => $call,
            AnyStream::Timed(timed) => timed.call(|$stream| $call),
            // The SDK calls nothing that it has closed.
            AnyStream::Closed => Err(Refusal::failed("this stream is closed")),
        }
    };
}

impl FileStream {
    pub(crate) fn new(stream: AnyStream, session: &Arc<Mutex<Lingering>>) -> Self {
        Self {
            stream,
            session: Arc::downgrade(session),
        }
    }
}

fn locked(session: &Mutex<Lingering>) -> MutexGuard<'_, Lingering> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AnyStream {
    /// Closes it for good.
    pub(crate) fn finish(&mut self) -> Result<()> {
        each!(self, stream => stream.close())
    }
}

impl Stream for FileStream {
    #[inline]
    fn take_plain(
        &mut self,
        schema: &Arc<Schema>,
        scope: u64,
        event: &PlainEvent<'_>,
    ) -> Option<Result<()>> {
        match &mut self.stream {
            AnyStream::Perfetto(stream) => stream.take_plain(schema, scope, event),
            AnyStream::Chrome(stream) => stream.take_plain(schema, scope, event),
            _ => None,
        }
    }

    #[inline]
    fn take_event(&mut self, event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.take_event(event, call))
    }

    #[inline]
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.write_event(event))
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.write_batch(batch))
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.write_counters(samples))
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        each!(&mut self.stream, stream => stream.write_no_value(counter, time, reason))
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.write_relation(relation))
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        each!(&mut self.stream, stream => stream.take_nothing(call))
    }

    fn close_at_end(&mut self) -> Result<()> {
        let mut writer = None;
        // What a flush met is told by any call, and keeps no stream open.
        let left = each!(&mut self.stream, stream => {
            stream.leave();
            writer = stream.writer();
            Ok(())
        });
        let Some(session) = self.session.upgrade() else {
            return self.close().and(left);
        };
        let closed = match writer {
            None => self.close(),
            Some(_) => {
                let stream = mem::replace(&mut self.stream, AnyStream::Closed);
                locked(&session).add(stream, writer);
                Ok(())
            }
        };
        if let Err(error) = closed.and(left) {
            locked(&session).keep(error);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let mut stays = false;
        let rested = each!(&mut self.stream, stream => stream.rest().map(|rests| stays = rests));
        match self.session.upgrade().filter(|_| stays) {
            // It knows how many events an error has cost.
            None => self.stream.finish().and(rested),
            Some(session) => {
                let stream = mem::replace(&mut self.stream, AnyStream::Closed);
                locked(&session).add(stream, None);
                rested
            }
        }
    }
}
