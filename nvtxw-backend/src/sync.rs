//! What threads share: the primitives of the standard library, or those of the model checker in the models of this crate.

#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, atomic};

#[cfg(all(test, loom))]
pub(crate) use nvtxw_loom::sync::{Mutex, MutexGuard, OnceLock, atomic};

/// A static of a type whose `new` is const, save in models.
macro_rules! process_wide {
    ($(#[$meta:meta])* $(pub($scope:tt))? static $name:ident: $ty:ty = $new:expr;) => {
        $(#[$meta])*
        #[cfg(not(all(test, loom)))]
        $(pub($scope))? static $name: $ty = $new;
        #[cfg(all(test, loom))]
        nvtxw_loom::lazy_static! {
            $(#[$meta])*
            $(pub($scope))? static ref $name: $ty = $new;
        }
    };
}
pub(crate) use process_wide;
