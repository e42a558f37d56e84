//! What processors can do at most.

use std::hint;
use std::thread;
use std::time::Duration;

use super::race::Result;
use super::start::StartLine;

/// What each thread does, in steps.
const STEPS: usize = 1_000_000;

/// Computes something that needs no memory, on so many threads at once. Two processors that share a core, or are lent to
/// others, do less than twice the work of one.
pub fn compute(threads: usize) -> Result<Duration> {
    let line = &StartLine::new(threads);
    let mix = || {
        line.wait();
        // Independent of each other, so that a processor is busy with all of them.
        let mut words = [1_u64, 2, 3, 4];
        for _ in 0..STEPS {
            for word in &mut words {
                for _ in 0..4 {
                    *word = (*word ^ *word >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                }
            }
        }
        hint::black_box(words);
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(mix))));
    line.elapsed()
}
