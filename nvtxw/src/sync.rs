//! What threads share: the primitives of the standard library, or those of the model checker in the models of this crate.

#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Mutex, MutexGuard};

#[cfg(all(test, loom))]
pub(crate) use nvtxw_loom::sync::{Mutex, MutexGuard};

/// A number that no other living thread has.
#[cfg(not(all(test, loom)))]
pub(crate) type ThreadKey = usize;

/// The key of this thread: the address of something that it has. Unlike the standard library's ID it is there also while
/// the thread ends.
#[cfg(not(all(test, loom)))]
pub(crate) fn thread_key() -> ThreadKey {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(all(test, loom))]
pub(crate) use nvtxw_loom::thread::ThreadId as ThreadKey;

#[cfg(all(test, loom))]
pub(crate) fn thread_key() -> ThreadKey {
    nvtxw_loom::thread::current().id()
}
