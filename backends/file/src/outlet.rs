//! From a stream to its session's file.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use nvtxw_backend::Result;

use crate::proto::Writer;
use crate::sink::{Appended, Failed, Sink};

/// A file gets what streams write in runs of about this size.
pub(crate) const RUN: usize = 1 << 18;

/// What a stream has for the file, gathered in runs.
///
/// A long run that comes while another stream is writing waits until the next one, so that its stream goes on meanwhile.
pub(crate) struct Outlet {
    sink: Arc<Sink>,
    /// What waits; it belongs before `out`.
    waiting: Waiting,
    /// Whole packets or lines, and those that are in the making.
    pub(crate) out: Writer,
    /// Events in `out`.
    events: u64,
    result: Result<()>,
    /// Events that were not written because of an error.
    lost: u64,
}

/// A run that waits.
#[derive(Default)]
struct Waiting {
    /// What was in `out` before it, with so many events.
    head: Writer,
    head_events: u64,
    bytes: Writer,
    /// Of the bytes. Empty if nothing waits.
    range: Range<usize>,
    events: u64,
}

impl Outlet {
    pub(crate) fn new(sink: Arc<Sink>) -> Self {
        Self {
            sink,
            waiting: Waiting::default(),
            out: Writer::default(),
            events: 0,
            result: Ok(()),
            lost: 0,
        }
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
        let _ = self.send_all();
        self.write(events, bytes);
    }

    /// Takes whole events that are a `range` of `bytes`. If they have to wait, it takes the buffer, and leaves another one.
    pub(crate) fn append_or_keep(&mut self, events: u64, bytes: &mut Writer, range: Range<usize>) {
        let run = &bytes.as_bytes()[range.clone()];
        if run.len() < RUN {
            self.append(events, run);
            return;
        }
        self.send_waiting();
        if let Some(sent) = self.try_out().and_then(|()| self.sink.try_append(run)) {
            self.note(events, sent);
            return;
        }
        let Self { waiting, out, .. } = self;
        mem::swap(&mut waiting.head, out);
        waiting.head_events = mem::take(&mut self.events);
        mem::swap(&mut waiting.bytes, bytes);
        waiting.range = range;
        waiting.events = events;
    }

    /// Appends what is in `out`, if nobody else is writing.
    fn try_out(&mut self) -> Option<()> {
        if !self.out.is_empty() {
            let sent = self.sink.try_append(self.out.as_bytes())?;
            self.out.clear();
            let events = mem::take(&mut self.events);
            self.note(events, sent);
        }
        Some(())
    }

    /// Writes what waits, if nobody else is writing.
    ///
    /// # Errors
    /// As [`send`](Self::send), if something waits.
    #[inline]
    pub(crate) fn catch_up(&mut self) -> Result<()> {
        match self.waiting.range.is_empty() {
            true => Ok(()),
            false => self.try_waiting(),
        }
    }

    /// Whether something waits.
    pub(crate) fn is_behind(&self) -> bool {
        !self.waiting.range.is_empty()
    }

    #[cold]
    fn try_waiting(&mut self) -> Result<()> {
        if !self.waiting.head.is_empty() {
            let Some(sent) = self.sink.try_append(self.waiting.head.as_bytes()) else {
                return self.result.clone();
            };
            self.waiting.head.clear();
            self.note(self.waiting.head_events, sent);
        }
        let Waiting { bytes, range, .. } = &self.waiting;
        if let Some(sent) = self.sink.try_append(&bytes.as_bytes()[range.clone()]) {
            self.waiting.range = 0..0;
            self.note(self.waiting.events, sent);
        }
        self.result.clone()
    }

    /// Appends what there is to the file, and what waits too.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub(crate) fn send_all(&mut self) -> Result<()> {
        self.send_waiting();
        self.send()
    }

    /// Gives the memory back that waiting runs take.
    pub(crate) fn shrink(&mut self) {
        self.send_waiting();
        self.waiting = Waiting::default();
    }

    fn send_waiting(&mut self) {
        let range = mem::take(&mut self.waiting.range);
        if range.is_empty() {
            return;
        }
        let mut waiting = mem::take(&mut self.waiting);
        if !waiting.head.is_empty() {
            self.write(waiting.head_events, waiting.head.as_bytes());
            waiting.head.clear();
        }
        self.write(waiting.events, &waiting.bytes.as_bytes()[range]);
        self.waiting = waiting;
    }

    /// Appends what there is to the file; without it, what waits goes on waiting.
    ///
    /// # Errors
    /// The first error of this and all earlier runs.
    pub(crate) fn send(&mut self) -> Result<()> {
        if !self.out.is_empty() {
            self.send_waiting();
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
        self.note(events, sent);
    }

    fn note(&mut self, events: u64, sent: Appended) {
        if let Err(Failed { refusal, kept }) = sent {
            self.lost += events.saturating_sub(kept);
            if self.result.is_ok() {
                self.result = Err(refusal);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::destination::Destination;
    use crate::replay::TempDir;
    use crate::sink::Framing;

    const BYTES: Framing = Framing {
        whole: <[u8]>::len,
        events: |_| 0,
        tail: b"",
    };

    fn outlet(path: &Path) -> Outlet {
        Outlet::new(Arc::new(
            Sink::create(&mut Destination::new(path, true), BYTES).unwrap(),
        ))
    }

    /// As long as a run, after a byte that does not belong to it.
    fn run(byte: u8) -> (Writer, Range<usize>) {
        let mut bytes = Writer::default();
        bytes.raw(b"-");
        bytes.raw(&vec![byte; RUN]);
        (bytes, 1..RUN + 1)
    }

    /// Each byte with how many of it follow one another.
    fn runs(path: &Path) -> Vec<(u8, usize)> {
        let bytes = std::fs::read(path).unwrap();
        let runs = bytes.chunk_by(|byte, next| byte == next);
        runs.map(|run| (run[0], run.len())).collect()
    }

    #[test]
    fn a_long_run_waits_for_another_stream_and_stays_in_its_place() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let mut outlet = outlet(&path);
        let sink = Arc::clone(&outlet.sink);
        let (mut bytes, range) = run(b'a');
        let held = sink.hold();
        outlet.append(1, b"0");
        outlet.append_or_keep(3, &mut bytes, range);
        assert!(bytes.is_empty(), "the buffer waits");
        outlet.send().unwrap();
        outlet.catch_up().unwrap();
        assert_eq!(runs(&path), []);
        drop(held);
        outlet.append(1, b"b");
        outlet.send().unwrap();
        let mut want = vec![(b'0', 1), (b'a', RUN), (b'b', 1)];
        assert_eq!(runs(&path), want);

        for (byte, send) in [
            (b'c', Outlet::catch_up as fn(&mut Outlet) -> Result<()>),
            (b'd', Outlet::send_all),
            (b'e', |outlet| {
                outlet.shrink();
                outlet.send()
            }),
            (b'f', |outlet| {
                let (mut bytes, range) = run(b'f');
                outlet.append(1, &bytes.as_bytes()[range.clone()]);
                outlet.append_or_keep(1, &mut bytes, range);
                assert_eq!(bytes.len(), 1 + RUN, "nothing is in its way");
                outlet.send()
            }),
        ] {
            let (mut bytes, range) = run(byte);
            let held = sink.hold();
            outlet.append(1, b"1");
            outlet.append_or_keep(1, &mut bytes, range);
            drop(held);
            assert_eq!(runs(&path), want);
            send(&mut outlet).unwrap();
            want.push((b'1', 1));
            want.push((byte, if byte == b'f' { 3 * RUN } else { RUN }));
            assert_eq!(runs(&path), want);
        }
        assert_eq!(outlet.lost(), 0);
    }

    #[test]
    fn a_short_run_does_not_wait_for_its_buffer() {
        let dir = TempDir::new();
        let path = dir.path().join("a");
        let mut outlet = outlet(&path);
        let (mut bytes, range) = run(b'a');
        let sink = Arc::clone(&outlet.sink);
        let held = sink.hold();
        outlet.append_or_keep(1, &mut bytes, 0..range.end - 2);
        assert_eq!(bytes.len(), range.end);
        drop(held);
        outlet.send().unwrap();
        assert_eq!(runs(&path), [(b'-', 1), (b'a', RUN - 2)]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_error_of_a_run_that_waited_is_told_with_its_events() {
        let mut outlet = outlet(Path::new("/dev/full"));
        let sink = Arc::clone(&outlet.sink);
        let (mut bytes, range) = run(b'a');
        let held = sink.hold();
        outlet.append(2, b"0");
        outlet.append_or_keep(3, &mut bytes, range);
        outlet.send().unwrap();
        drop(held);
        let refusal = outlet.catch_up().unwrap_err();
        assert_eq!(outlet.lost(), 5);
        assert!(refusal.reason().starts_with("writing /dev/full: "));
        assert_eq!(outlet.send_all().unwrap_err(), refusal);
        assert_eq!(outlet.lost(), 5);
    }
}
