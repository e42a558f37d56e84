//! What streams share: the primitives of the standard library, or those of the model checker in the models of this crate.

#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, atomic};

#[cfg(all(test, loom))]
pub(crate) use nvtxw_loom::sync::{Mutex, MutexGuard, OnceLock, atomic};
