//! Writes, every so often, what streams hold in memory: also what nobody writes after.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nvtxw_backend::{Refusal, Result, Stream};

use crate::sink::FORKED;
use crate::stream::WriterId;
use crate::sync::Mutex;

/// A stream that can write all that it holds, and go on.
pub(crate) trait Flush: Stream {
    /// # Errors
    /// The first error of this and all earlier runs.
    fn flush_all(&mut self) -> Result<()>;

    /// Writes what is complete, if other streams may still end what this one started: then it has to
    /// be closed later than they are.
    ///
    /// # Errors
    /// As [`flush_all`](Self::flush_all).
    fn rest(&mut self) -> Result<bool>;

    /// Tells that it is not the producer who closes the stream, but its session's end.
    fn leave(&mut self) {}

    /// The thread that last wrote a full window, if one was full: then there may be another one to write. `None` also if the stream
    /// has to be closed in its turn.
    fn writer(&self) -> Option<WriterId> {
        None
    }
}

/// A stream that a [`Flusher`] may enter between two calls.
pub(crate) struct Timed(Arc<Shared>);

struct Shared {
    /// The process that has the thread.
    process: u32,
    held: Mutex<Held>,
}

struct Held {
    stream: Box<dyn Flush>,
    /// What a flush met that nobody has been told of.
    error: Option<Refusal>,
}

type Streams = Mutex<Vec<Weak<Shared>>>;

/// The thread of a session that flushes its streams.
pub(crate) struct Flusher {
    streams: Arc<Streams>,
    process: u32,
    /// Goes when the thread is to end.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Timed {
    /// Makes a call of the stream. Tells what the flusher met, unless the call itself has something to tell.
    pub(crate) fn call(&self, call: impl FnOnce(&mut dyn Flush) -> Result<()>) -> Result<()> {
        // The thread may have been in the stream when a child was forked, and never leaves it there.
        if process::id() != self.0.process {
            return Err(Refusal::failed(FORKED));
        }
        let Ok(mut held) = self.0.held.lock() else {
            return Err(Refusal::failed(
                "the backend panicked while it flushed this stream",
            ));
        };
        call(&mut *held.stream)?;
        held.error.take().map_or(Ok(()), Err)
    }
}

impl Flusher {
    /// Starts the thread: what a stream takes is written at most `interval` later.
    pub(crate) fn start(interval: Duration) -> Result<Self> {
        let streams = Arc::new(Streams::default());
        let (running, stop) = mpsc::channel();
        // What comes right after a flush waits for the next, and that takes its time.
        let period = interval / 2;
        let theirs = Arc::clone(&streams);
        let thread = thread::Builder::new()
            .name("nvtxw flush".to_owned())
            .spawn(move || {
                while stop.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                    flush(&theirs);
                }
            })
            .map_err(|error| {
                Refusal::failed(format!(
                    "can't start the thread that `flush_interval` needs: {error}"
                ))
            })?;
        Ok(Self {
            streams,
            process: process::id(),
            running: Some(running),
            thread: Some(thread),
        })
    }

    /// Flushes the stream from now on.
    pub(crate) fn add(&self, stream: impl Flush) -> Timed {
        add(&self.streams, stream)
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take()
            && process::id() == self.process
        {
            // It panics with a stream only, which tells that.
            let _ = thread.join();
        }
    }
}

fn add(streams: &Streams, stream: impl Flush) -> Timed {
    let shared = Arc::new(Shared {
        process: process::id(),
        held: Mutex::new(Held {
            stream: Box::new(stream),
            error: None,
        }),
    });
    let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
    streams.push(Arc::downgrade(&shared));
    Timed(shared)
}

/// Flushes each stream that is still there.
fn flush(streams: &Streams) {
    let all = {
        let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.clone()
    };
    for stream in all.iter().filter_map(Weak::upgrade) {
        let Ok(mut held) = stream.held.lock() else {
            continue;
        };
        if let Err(error) = held.stream.flush_all()
            && held.error.is_none()
        {
            held.error = Some(error);
        }
    }
}

#[cfg(all(test, loom))]
mod loom {
    use std::sync::atomic::{AtomicU64, Ordering};

    use nvtxw_backend::{Counter, CounterBatch, Event, NoValueReason};
    use nvtxw_loom::{model, thread};

    use super::*;

    /// Takes one thing when it is closed, for which it needs nothing; a flush writes all of them.
    struct Fake {
        taken: u64,
        written: Arc<AtomicU64>,
        is_full: bool,
    }

    impl Stream for Fake {
        fn write_event(&mut self, _: &Event<'_>) -> Result<()> {
            Ok(())
        }

        fn write_counters(&mut self, _: &CounterBatch<'_>) -> Result<()> {
            Ok(())
        }

        fn write_no_value(&mut self, _: &Arc<Counter>, _: i64, _: NoValueReason) -> Result<()> {
            Ok(())
        }

        fn close(&mut self) -> Result<()> {
            self.taken += 1;
            Ok(())
        }
    }

    impl Flush for Fake {
        fn rest(&mut self) -> Result<bool> {
            Ok(false)
        }

        fn flush_all(&mut self) -> Result<()> {
            let taken = std::mem::take(&mut self.taken);
            match (taken, self.is_full) {
                (0, _) => Ok(()),
                (_, true) => Err(Refusal::failed("the disk is full")),
                (_, false) => {
                    self.written.fetch_add(taken, Ordering::Relaxed);
                    Ok(())
                }
            }
        }
    }

    fn take(stream: &Timed) -> Result<()> {
        stream.call(|stream| stream.close())
    }

    #[test]
    fn what_is_taken_is_written_once() {
        let outcomes = ["before both", "in between", "after both"];
        model(outcomes, |outcomes| {
            let streams = Arc::new(Streams::default());
            let written = Arc::new(AtomicU64::new(0));
            let stream = Fake {
                taken: 0,
                written: Arc::clone(&written),
                is_full: false,
            };
            let stream = add(&streams, stream);
            let theirs = Arc::clone(&streams);
            let flusher = thread::spawn(move || flush(&theirs));
            take(&stream).unwrap();
            take(&stream).unwrap();
            flusher.join().unwrap();
            let early = written.load(Ordering::Relaxed);
            outcomes[early as usize].met();
            flush(&streams);
            assert_eq!(written.load(Ordering::Relaxed), 2);
            drop(stream);
            flush(&streams);
            assert!(streams.lock().unwrap().is_empty());
        });
    }

    #[test]
    fn an_error_of_a_flush_is_told_by_the_next_call_and_by_no_other() {
        let outcomes = [
            "nothing to write",
            "told by the second",
            "told by the third",
        ];
        model(outcomes, |outcomes| {
            let streams = Arc::new(Streams::default());
            let written = Arc::new(AtomicU64::new(0));
            let stream = Fake {
                taken: 0,
                written,
                is_full: true,
            };
            let stream = add(&streams, stream);
            let theirs = Arc::clone(&streams);
            let flusher = thread::spawn(move || flush(&theirs));
            take(&stream).unwrap();
            let second = take(&stream);
            flusher.join().unwrap();
            let third = take(&stream);
            match (second, third) {
                (Ok(()), Ok(())) => outcomes[0].met(),
                (Err(error), Ok(())) => {
                    assert_eq!(error.reason(), "the disk is full");
                    outcomes[1].met();
                }
                (Ok(()), Err(_)) => outcomes[2].met(),
                (Err(_), Err(_)) => panic!("told twice"),
            }
        });
    }
}
