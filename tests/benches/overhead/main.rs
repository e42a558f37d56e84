//! What a call through `nvtxw` costs over the same call by hand on the C function table, in instructions and in time.
//!
//! Prints `case, unit: ours A, other B, ratio R`, each for one call. The backend does nothing, and its own instructions
//! are not counted. The instructions are exact, and a ratio above its limit makes the program fail. The times are the best
//! of many alternating rounds, in several processes, because where the system puts a process's stack makes a difference
//! as large as the call; they are still noisy.

mod by_hand;
mod callgrind;
mod cases;
mod ours;
mod place;
mod table;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::callgrind::ONE_LOOP;
use crate::cases::{CALLS, Case};
use crate::place::PLACES;

/// The argument that says to measure times, and to print them as nanoseconds of all calls together, a line per case.
const TIMES: &str = "--times";

/// The argument that leaves the times out, which take much longer and hold no limit.
const INSTRUCTIONS: &str = "--instructions";

const PROCESSES: usize = 20;
const ROUNDS: usize = 100;

fn main() -> nvtxw::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cases::with_all(|cases| match arguments[..] {
        [ONE_LOOP, module, name] => {
            let case = cases.iter().find(|case| case.name == name);
            let case = case.unwrap_or_else(|| panic!("there is no case `{name}`"));
            if module == "ours" {
                case.ours[0]();
            } else {
                case.by_hand[0]();
            }
            ExitCode::SUCCESS
        }
        [TIMES] => {
            for (ours, by_hand) in cases.iter().map(times) {
                println!("{} {}", ours.as_nanos(), by_hand.as_nanos());
            }
            ExitCode::SUCCESS
        }
        _ if arguments.contains(&"--bench") => measure(cases, !arguments.contains(&INSTRUCTIONS)),
        _ => {
            eprintln!("nothing to do: `cargo bench -p nvtxw-tests --bench overhead` measures");
            ExitCode::SUCCESS
        }
    })
}

fn measure(cases: &[Case<'_>], with_times: bool) -> ExitCode {
    let with_callgrind = callgrind::is_here();
    let times = with_times.then(|| best_times(cases.len()));
    let mut missed = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if with_callgrind {
            let (ours, by_hand) = (
                callgrind::count(case, "ours"),
                callgrind::count(case, "by_hand"),
            );
            let ratio = ours as f64 / by_hand as f64;
            println!(
                "{}, instructions: ours {ours}, other {by_hand}, ratio {ratio:.2}",
                case.name
            );
            if ratio > case.limit {
                missed.push((case, ratio));
            }
        }
        if let Some(times) = &times {
            let (ours_ns, by_hand_ns) = times[index];
            println!(
                "{}, ns: ours {ours_ns:.2}, other {by_hand_ns:.2}, ratio {:.2}",
                case.name,
                ours_ns / by_hand_ns
            );
        }
    }
    if !with_callgrind {
        nvtxw_tests::skip("valgrind is not here, so no instructions were counted; install it");
    }
    for (case, ratio) in &missed {
        eprintln!(
            "{}: {ratio:.3} times the instructions, more than {:.2}",
            case.name, case.limit
        );
    }
    if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The best time of the case's loops in this process, ours and by hand.
fn times(case: &Case<'_>) -> (Duration, Duration) {
    let time = |run: &dyn Fn(), best: &mut Duration| {
        let start = Instant::now();
        run();
        *best = start.elapsed().min(*best);
    };
    let (mut ours, mut by_hand) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        for place in 0..PLACES {
            time(&case.ours[place], &mut ours);
            time(&case.by_hand[place], &mut by_hand);
        }
    }
    (ours, by_hand)
}

/// The best nanoseconds of one call of each case in several processes, ours and by hand.
fn best_times(cases: usize) -> Vec<(f64, f64)> {
    let program = std::env::current_exe().expect("this program has a path");
    let mut best = vec![(f64::INFINITY, f64::INFINITY); cases];
    for _ in 0..PROCESSES {
        let output = Command::new(&program)
            .arg(TIMES)
            .output()
            .expect("this program can be run");
        let lines = String::from_utf8(output.stdout).expect("this program prints text");
        assert_eq!(lines.lines().count(), cases, "a process printed:\n{lines}");
        for ((ours, by_hand), line) in best.iter_mut().zip(lines.lines()) {
            let times: Vec<f64> = line
                .split(' ')
                .map(|ns| ns.parse::<f64>().expect("nanoseconds") / CALLS as f64)
                .collect();
            *ours = ours.min(times[0]);
            *by_hand = by_hand.min(times[1]);
        }
    }
    best
}
