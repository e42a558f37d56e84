//! Sessions that are captured.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::call::{EventCall, Registration, WriteCall};
use nvtxw_backend::log::Report;
use nvtxw_backend::{
    Counter, CounterBatch, Domain, Event, EventBatch, NoValueReason, Refusal, RefusalCounts,
    Result, SessionRequest, Stream, StreamInfo, TimeRelation,
};

use super::encoder::{Records, Tail};
use super::frame;
use crate::config::Settings;
use crate::flusher::Flush;
use crate::outlet::RUN;
use crate::session::with_cost;
use crate::sink::{Failed, Framing, Sink};
use crate::tally::Cost;

/// Bytes of a write that are not copied.
const DIRECT: usize = 1 << 14;

/// Bytes that all streams gather together, about, and one at least.
const GATHERED: usize = 1 << 24;
const LEAST: usize = 1 << 13;

/// A session that is captured.
pub(crate) struct CaptureSession {
    sink: Arc<Sink>,
    /// How many streams were opened.
    streams: Arc<AtomicU32>,
    /// How many calls an error cost, in streams that are closed.
    lost: Arc<Mutex<u64>>,
}

/// A stream that is captured.
pub(crate) struct CaptureStream {
    sink: Arc<Sink>,
    number: u32,
    /// How many streams were opened in the session.
    streams: Arc<AtomicU32>,
    out: Records,
    /// Calls in `out`.
    calls: u64,
    result: Result<()>,
    /// How many calls an error cost.
    lost: u64,
    lost_of_session: Arc<Mutex<u64>>,
    /// Whether the session's end closes it.
    is_left: bool,
}

impl CaptureSession {
    pub(crate) fn begin(settings: &mut Settings, request: &SessionRequest<'_>) -> Result<Self> {
        let framing = Framing {
            whole: frame::whole,
            events: frame::records,
            tail: b"",
        };
        let sink = Sink::create(&mut settings.destination, framing)?;
        let mut records = Records::default();
        records.raw(&frame::file_header());
        records.begin_session(request.name_text(), request.config_text());
        sink.append(records.as_bytes())?;
        Ok(Self {
            sink: Arc::new(sink),
            streams: Arc::default(),
            lost: Arc::default(),
        })
    }

    /// Streams have what they write after this in the file after this.
    fn append(&self, add: impl FnOnce(&mut Records)) -> Result<()> {
        let mut records = Records::default();
        add(&mut records);
        Ok(self.sink.append(records.as_bytes())?)
    }

    pub(crate) fn note_registration(
        &self,
        domain: &Arc<Domain>,
        registration: &Registration<'_>,
    ) -> Result<()> {
        self.append(|records| records.registration(domain.index(), registration))
    }

    pub(crate) fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<CaptureStream> {
        // Numbers count from 1.
        let number = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        self.append(|records| records.open(number, &stream.attributes()))?;
        Ok(CaptureStream {
            sink: Arc::clone(&self.sink),
            number,
            streams: Arc::clone(&self.streams),
            out: Records::default(),
            calls: 0,
            result: Ok(()),
            lost: 0,
            lost_of_session: Arc::clone(&self.lost),
            is_left: false,
        })
    }

    pub(crate) fn note_refusal(&self, report: &Report<'_>) {
        // The session's end tells what couldn't be written.
        let _ = self.append(|records| records.refused(report));
    }

    pub(crate) fn note_refusals(&self, counts: RefusalCounts) {
        let _ = self.append(|records| records.refusals(counts));
    }

    pub(crate) fn end(&self) -> Result<()> {
        let lost = *self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        self.append(Records::end)
            .and_then(|()| self.sink.check())
            .map_err(|refusal| with_cost(refusal, Cost::of(lost)))
    }
}

impl CaptureStream {
    fn write(&mut self, call: &WriteCall<'_>) -> Result<()> {
        self.calls += 1;
        let tail = self.out.write(self.number, call);
        if tail.bytes.len() >= DIRECT {
            return self.send(&tail);
        }
        self.out.raw(tail.bytes);
        self.out.raw(tail.padding);
        let streams = self.streams.load(Ordering::Relaxed) as usize;
        match self.out.len() >= (GATHERED / streams.max(1)).clamp(LEAST, RUN) {
            true => self.send_all(),
            false => Ok(()),
        }
    }

    fn send_all(&mut self) -> Result<()> {
        self.send(&Tail {
            bytes: &[],
            padding: &[],
        })
    }

    /// Appends what there is, and the end of its last record, to the file.
    ///
    /// # Errors
    /// The first error of this and all earlier calls.
    fn send(&mut self, tail: &Tail<'_>) -> Result<()> {
        let calls = mem::take(&mut self.calls);
        if self.out.len() > 0 {
            let parts = [self.out.as_bytes(), tail.bytes, tail.padding];
            let sent = self.sink.append_parts(parts);
            self.out.clear();
            if let Err(Failed { refusal, kept }) = sent {
                self.lost += calls.saturating_sub(kept);
                if self.result.is_ok() {
                    self.result = Err(refusal);
                }
            }
        }
        self.result.clone()
    }
}

impl Stream for CaptureStream {
    fn take_event(&mut self, _event: &Event<'_>, call: &EventCall<'_>) -> Result<()> {
        self.write(&WriteCall::Event(*call))
    }

    fn write_event(&mut self, _event: &Event<'_>) -> Result<()> {
        Err(Refusal::failed("an event has come without its call"))
    }

    fn write_batch(&mut self, batch: &EventBatch<'_>) -> Result<()> {
        // Bad events are rejected now, as in every format, and not again by the replay.
        batch.write_good(|call| self.write(call))
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        samples.write_good(|call| self.write(call))
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        self.write(&WriteCall::NoValue {
            time,
            counter: counter.id(),
            reason: reason.to_raw(),
        })
    }

    fn write_relation(&mut self, relation: &TimeRelation<'_>) -> Result<()> {
        self.write(&relation.call())
    }

    fn take_nothing(&mut self, call: &WriteCall<'_>) -> Result<()> {
        self.write(call)
    }

    fn close(&mut self) -> Result<()> {
        if !self.is_left {
            self.calls += 1;
            self.out.close(self.number);
        }
        let sent = self.send_all();
        let mut lost = self
            .lost_of_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *lost += self.lost;
        sent.map_err(|refusal| with_cost(refusal, Cost::of(self.lost)))
    }
}

impl Flush for CaptureStream {
    fn flush_all(&mut self) -> Result<()> {
        self.send_all()
    }

    fn rest(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn leave(&mut self) {
        self.is_left = true;
    }
}
