//! Streams that the end of their session finishes.

use std::collections::HashSet;
use std::num::NonZero;
use std::panic;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use nvtxw_backend::{Refusal, Result};

use super::AnyStream;

/// A thread, as long as it lives: where it keeps something. Unlike the standard library's ID that takes no memory from the
/// heap, which a program in C never gives back.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WriterId(usize);

impl WriterId {
    /// The thread that asks.
    pub(crate) fn current() -> Self {
        thread_local!(static HERE: u8 = const { 0 });
        Self(HERE.with(|here| ptr::from_ref(here).addr()))
    }
}

/// What closed streams leave for the end of their session.
#[derive(Default)]
pub(crate) struct Lingering {
    /// Those of which other streams may still end what they started, and those with a window that takes time to write. Each with
    /// the thread that wrote its full windows.
    streams: Vec<(AnyStream, Option<WriterId>)>,
    /// The first error of a stream that the session's end closes: that tells more than one stream could.
    error: Option<Refusal>,
}

impl Lingering {
    pub(super) fn add(&mut self, stream: AnyStream, writer: Option<WriterId>) {
        self.streams.push((stream, writer));
    }

    pub(super) fn keep(&mut self, error: Refusal) {
        self.error.get_or_insert(error);
    }

    /// Closes them for good: with several threads, if several wrote. (What one thread writes is the same in each run, byte for
    /// byte.) Returns the first error of all streams that were not closed before the session's end.
    pub(crate) fn finish(self) -> Result<()> {
        let streams = self.streams.len();
        let writers: HashSet<_> = self
            .streams
            .iter()
            .filter_map(|(_, writer)| *writer)
            .collect();
        let threads = match writers.len() {
            0 | 1 => 1,
            _ => thread::available_parallelism()
                .map_or(1, NonZero::get)
                .min(streams),
        };
        let left = Mutex::new(self.streams.into_iter().enumerate());
        let work = || {
            let mut errors = Vec::new();
            loop {
                // Not locked while the stream is finished.
                let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, (mut stream, _))) = next else {
                    return errors;
                };
                errors.extend(stream.finish().err().map(|error| (number, error)));
            }
        };
        let errors = match threads {
            1 => work(),
            _ => thread::scope(|scope| {
                // Without more threads, this one does all.
                let others: Vec<_> = (1..threads)
                    .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
                    .collect();
                let mut errors = work();
                for other in others {
                    errors.extend(
                        other
                            .join()
                            .unwrap_or_else(|reason| panic::resume_unwind(reason)),
                    );
                }
                errors
            }),
        };
        let first = errors.into_iter().min_by_key(|(number, _)| *number);
        let first = self.error.or(first.map(|(_, error)| error));
        first.map_or(Ok(()), Err)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_that_live_at_one_time_differ() {
        let here = WriterId::current();
        let there = thread::spawn(WriterId::current).join().unwrap();
        assert!(here == WriterId::current() && here != there);
    }
}
