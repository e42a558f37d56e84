//! What keeps a stream on one thread at a time.

use std::marker::PhantomData;

/// Nothing implements this: its name and message are what the compiler shows when a writer is shared.
#[diagnostic::on_unimplemented(
    message = "a stream and its writers can't be shared between threads",
    label = "one thread at a time writes to a stream",
    note = "share `&Session`, give each thread a `&mut Stream` of its own, and call `session.writer(…)` there"
)]
pub trait SharedBetweenThreads {}

/// What a stream is: a thing that may move to another thread, and not be shared with it.
#[derive(Debug)]
pub struct WrittenByOneThread;

/// Part of [`Stream`](crate::Stream): makes it and every writer of it `!Sync`, in words.
#[derive(Debug)]
pub struct OneThreadAtATime(Marker<WrittenByOneThread>);

#[derive(Debug)]
struct Marker<T>(PhantomData<T>);

// SAFETY:
// - The impl holds for no type, since `SharedBetweenThreads` has no implementor: it only takes the automatic one away.
unsafe impl<T: SharedBetweenThreads> Sync for Marker<T> {}

impl OneThreadAtATime {
    pub(crate) const MARK: Self = Self(Marker(PhantomData));
}

/// A value that can only be taken out again, so that sharing the wrapper shares nothing of it.
pub(crate) struct Unshared<T>(T);

// SAFETY:
// - `&Unshared<T>` gives no access to the value.
unsafe impl<T> Sync for Unshared<T> {}

impl<T> Unshared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}
