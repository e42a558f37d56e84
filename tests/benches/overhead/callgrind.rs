//! Instructions, counted by callgrind in a run of this program that measures one loop.

use std::path::Path;
use std::process::Command;

use crate::cases::{CALLS, Case};

/// The argument that says to run one loop: its module and its case follow.
pub const ONE_LOOP: &str = "--one-loop";

/// Whether there is a valgrind to run.
pub fn is_here() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The instructions of one pass through the loop of `case` in `module`, without those of the backend.
pub fn count(case: &Case<'_>, module: &str) -> u64 {
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overhead.callgrind");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!(
            "--toggle-collect=overhead::{module}::{}*",
            case.function
        ))
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(std::env::current_exe().expect("this program has a path"))
        .args([ONE_LOOP, module, case.name])
        .output()
        .expect("valgrind was here a moment ago");
    assert!(
        output.status.success(),
        "valgrind failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let profile = std::fs::read_to_string(profile).expect("callgrind wrote its profile");
    let instructions = without_backend(&profile);
    let calls = CALLS as u64;
    assert!(
        instructions >= calls,
        "callgrind counted {instructions} instructions in {calls} calls of `{}` in `{module}`: it missed the loop",
        case.name
    );
    instructions / calls
}

/// The sum of what `profile` says that functions took themselves, but for those of the backend.
///
/// The format: `fn=(id) name` begins what follows of a function, the name only where the ID comes first; a line of numbers
/// is a position and its cost; the one after `calls=` is the cost of the callee.
fn without_backend(profile: &str) -> u64 {
    let mut backend = Vec::new();
    let (mut in_backend, mut of_callee) = (false, false);
    let mut sum = 0;
    for line in profile.lines() {
        if let Some((key, function)) = line.split_once("fn=(")
            && matches!(key, "" | "c")
        {
            let (id, name) = function.split_once(')').expect("an ID in parentheses");
            if name.contains("::table::") {
                backend.push(id);
            }
            if key.is_empty() {
                in_backend = backend.contains(&id);
            }
        } else if line.starts_with("calls=") {
            of_callee = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split_once(' ').map_or("", |(_, cost)| cost);
            if !of_callee && !in_backend {
                sum += cost.parse::<u64>().expect("a cost of one event");
            }
            of_callee = false;
        }
    }
    sum
}
