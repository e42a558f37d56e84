//! Models of what threads share, run under every interleaving that matters.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release --lib loom --target-dir target/loom -p nvtxw-backend
//! ```

mod instance;
mod registry;
mod session;
mod slots;

use std::sync::Arc;

use nvtxw_loom::thread;

/// Runs both on a thread of its own each, and returns what they return.
fn both<T, A, B>(
    shared: &Arc<T>,
    one: impl FnOnce(&T) -> A + 'static,
    other: impl FnOnce(&T) -> B + 'static,
) -> (A, B)
where
    T: 'static,
    A: 'static,
    B: 'static,
{
    let here = Arc::clone(shared);
    let one = thread::spawn(move || one(&here));
    let there = Arc::clone(shared);
    let other = thread::spawn(move || other(&there));
    (
        one.join().expect("no panic"),
        other.join().expect("no panic"),
    )
}
