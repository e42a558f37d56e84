//! Instructions of registrations and look-ups: n and 10n objects of each kind, in each format.
//!
//! `cargo bench -p nvtxw-tests --bench setup`, with `--features parquet` for Parquet too; an argument selects one backend.
//! Prints `backend, case, instructions: n objects A, 10n objects B, ratio R`, and fails where the ratio is above 12: the cost of
//! an object then depends on how many there are. A case is a whole session: registrations, data that uses them, and the end.

mod callgrind;
mod cases;

use std::process::ExitCode;
use std::thread::{self, ScopedJoinHandle};

use crate::callgrind::RUN;
use crate::cases::{CASES, Target};

/// The greatest ratio of instructions that passes. 10 is linear, and what is left is for growing tables and logarithms.
const LIMIT: f64 = 12.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [RUN, target] => {
            cases::run(target);
            return ExitCode::SUCCESS;
        }
        _ if !arguments.contains(&"--bench") => {
            eprintln!("nothing to do: `cargo bench -p nvtxw-tests --bench setup` measures");
            return ExitCode::SUCCESS;
        }
        _ if !callgrind::is_here() => {
            nvtxw_tests::skip("valgrind is not here, so no instructions were counted; install it");
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let is_wanted = |target: &&Target| {
        let names = arguments.iter().filter(|name| !name.starts_with("--"));
        names.clone().count() == 0 || names.clone().any(|name| *name == target.name)
    };
    let mut failures = Vec::new();
    // valgrind uses one core for each, and counts don't depend on what else runs.
    let counts: Vec<_> = thread::scope(|scope| {
        let targets = cases::TARGETS.iter().filter(is_wanted);
        let count = |target: &'static Target| {
            let counts = scope.spawn(|| callgrind::count(target.name, 2 * CASES.len()));
            (target, counts)
        };
        let running: Vec<_> = targets.map(count).collect();
        let join = |(target, counts): (_, ScopedJoinHandle<'_, _>)| (target, counts.join());
        running.into_iter().map(join).collect()
    });
    for (target, counts) in counts {
        let Ok(counts) = counts else {
            return ExitCode::FAILURE;
        };
        for (case, counts) in CASES.iter().zip(counts.chunks_exact(2)) {
            let line = format!("{}, {}", target.name, case.name);
            let ratio = counts[1] as f64 / counts[0] as f64;
            let n = case.objects_in(target);
            println!(
                "{line}, instructions: {n} objects {}, {} objects {}, ratio {ratio:.2}",
                counts[0],
                10 * n,
                counts[1]
            );
            if ratio > LIMIT {
                failures.push((line, ratio));
            }
        }
    }
    for (line, ratio) in &failures {
        eprintln!(
            "{line}: 10 times the objects take {ratio:.2} times the instructions, more than {LIMIT}"
        );
    }
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
