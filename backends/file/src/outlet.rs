//! From a stream to its session's file.

use std::mem;
use std::sync::Arc;

use nvtxw_backend::Result;

use crate::proto::Writer;
use crate::sink::Sink;

/// A file gets what streams write in runs of about this size.
pub(crate) const RUN: usize = 1 << 18;

/// What a stream has for the file, gathered in runs.
pub(crate) struct Outlet {
    sink: Arc<Sink>,
    /// Whole packets or lines, and those that are in the making.
    pub(crate) out: Writer,
    /// Events in `out`.
    events: u64,
    result: Result<()>,
    /// Events that were not written because of an error.
    lost: u64,
}

impl Outlet {
    pub(crate) fn new(sink: Arc<Sink>) -> Self {
        Self {
            sink,
            out: Writer::default(),
            events: 0,
            result: Ok(()),
            lost: 0,
        }
    }

    pub(crate) fn sink(&self) -> &Arc<Sink> {
        &self.sink
    }

    /// Tells that what is in `out` is whole, with so many events more.
    pub(crate) fn complete(&mut self, events: u64) {
        self.events += events;
        if self.out.len() >= RUN {
            // The result is kept for the last run.
            let _ = self.send();
        }
    }

    /// Takes whole events.
    pub(crate) fn append(&mut self, events: u64, bytes: &[u8]) {
        if bytes.len() < RUN {
            self.out.raw(bytes);
            self.complete(events);
            return;
        }
        // What is long goes to the file from where it is; results are kept for the last run.
        let _ = self.send();
        self.write(events, bytes);
    }

    /// Appends what there is to the file.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    pub(crate) fn send(&mut self) -> Result<()> {
        if !self.out.is_empty() {
            let out = mem::take(&mut self.out);
            let events = mem::take(&mut self.events);
            self.write(events, out.as_bytes());
            self.out = out;
            self.out.clear();
        }
        self.result.clone()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    fn write(&mut self, events: u64, bytes: &[u8]) {
        let sent = self.sink.append(bytes);
        if sent.is_err() {
            self.lost += events;
        }
        if self.result.is_ok() {
            self.result = sent;
        }
    }
}
