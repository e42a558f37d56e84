//! What decoding costs beside a decoder that is written by hand for one struct, for each value that it finds.
//!
//! `cargo bench -p nvtxw-tests --bench decode`. One producer writes the same bytes through two tables of C functions: that of a
//! backend on the SDK, and that of a backend by hand, which knows the one struct of a shape and makes the checks that the ABI
//! asks for. Both show each value to a sink that neither knows, and what the sinks took is compared. Each line:
//! `name: ours A, other B, ratio R`, in nanoseconds for each value, measured in turn, the best of several rounds. An argument
//! selects lines by a part of their name; `--once` makes it one round, for a profiler.

mod by_hand;
mod decoders;
mod producer;
mod sdk;
mod shapes;
mod sink;

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::producer::{Calls, Data, Way};

const ROUNDS: usize = 300;
/// Passes through the data in each round.
const PASSES: usize = 8;

/// The best times of one pass, of the SDK and by hand.
fn best(rounds: usize, ours: &Calls, other: &Calls, data: &Data, way: Way) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        for (calls, best) in [ours, other].into_iter().zip(&mut best) {
            let start = Instant::now();
            for _ in 0..PASSES {
                calls.write(black_box(data), way);
            }
            *best = (*best).min(start.elapsed() / PASSES as u32);
        }
    }
    best
}

fn main() {
    // Cargo passes `--bench`.
    let wanted = env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let rounds = match env::args().any(|arg| arg == "--once") {
        true => 1,
        false => ROUNDS,
    };
    for shape in shapes::all() {
        for &way in shape.ways() {
            let name = format!("{}, {}", shape.name, way.name());
            if wanted.as_ref().is_some_and(|part| !name.contains(&**part)) {
                continue;
            }
            let sdk = sdk::Opened::new(&shape);
            let data = (shape.data)(sdk.handles());
            let by_hand = by_hand::Opened::new(&shape, sdk.handles());
            let (ours, other) = (sdk.calls(), by_hand.calls());
            let times = best(rounds, &ours, &other, &data, way);
            let [a, b] = times.map(|time| time.as_secs_f64() * 1e9 / data.values as f64);
            assert_eq!(
                sdk.close(),
                by_hand.close(),
                "both decoders saw the same values of `{name}`"
            );
            println!(
                "{name}: ours {a:.2} ns, other {b:.2} ns, ratio {:.2}",
                a / b
            );
        }
    }
}
