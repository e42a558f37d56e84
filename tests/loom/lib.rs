//! The primitives of `std::sync` as the model checker loom has them. Empty without `--cfg loom`.
//!
//! A crate that is modelled takes its primitives from a module `sync`, which is the standard library's or, in its own unit
//! tests under `--cfg loom`, this crate. Everything else is compiled as ever.
#![cfg(loom)]
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use loom::{lazy_static, thread};

mod mutex;
mod once_lock;

/// As `std::sync`.
pub mod sync {
    pub use crate::mutex::{Mutex, MutexGuard};
    pub use crate::once_lock::OnceLock;

    /// As `std::sync::atomic`.
    pub mod atomic {
        pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    }
}

/// Runs `model` under every interleaving.
///
/// Says how many those are, and how often the model came to each of `outcomes`: each must be met, or else the model does not
/// show what it is for.
///
/// # Panics
/// As the model does, or if an outcome is never met.
pub fn model<const N: usize>(
    outcomes: [&'static str; N],
    model: impl Fn(&[Outcome; N]) + Sync + Send + 'static,
) {
    let runs = Outcome::default();
    let met: [Outcome; N] = std::array::from_fn(|_| Outcome::default());
    let inside = (runs.clone(), met.clone());
    loom::model(move || {
        inside.0.met();
        model(&inside.1);
    });
    println!("{} interleavings", runs.times());
    for (outcome, met) in outcomes.iter().zip(&met) {
        println!("{} times: {outcome}", met.times());
        assert!(met.times() > 0, "never: {outcome}");
    }
}

/// Something that must happen under some interleaving.
#[derive(Clone, Debug, Default)]
pub struct Outcome(Arc<AtomicUsize>);

impl Outcome {
    /// It happened.
    pub fn met(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
