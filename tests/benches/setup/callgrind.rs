//! Instructions of each case, counted by callgrind in one run of this program.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The argument that runs all cases on one backend, whose name follows.
pub const RUN: &str = "--run";

/// Returns whether valgrind is installed.
pub fn is_here() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The instructions of all threads from each call of `cases::measured` to the next one; there are `calls`, and one more.
pub fn count(target: &str, calls: usize) -> Vec<u64> {
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("setup-{target}.callgrind"));
    // callgrind appends the number of each dump, of which the first has what is before all calls.
    let dump = |number: usize| PathBuf::from(format!("{}.{}", profile.display(), number + 1));
    (0..=calls).for_each(|number| drop(std::fs::remove_file(dump(number))));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=no"])
        .arg("--dump-before=setup::cases::measured*")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(std::env::current_exe().expect("this program has a path"))
        .args([RUN, target])
        .output()
        .expect("valgrind was here a moment ago");
    assert!(
        output.status.success(),
        "valgrind failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let count = |number: usize| {
        let profile = std::fs::read_to_string(dump(number)).expect("callgrind wrote a profile");
        drop(std::fs::remove_file(dump(number)));
        let mut lines = profile.lines();
        let total = lines.find_map(|line| {
            line.strip_prefix("summary: ")
                .or(line.strip_prefix("totals: "))
        });
        let total = total.and_then(|total| total.trim().parse().ok());
        total.expect("a profile tells the sum of its events")
    };
    (1..=calls).map(count).collect()
}
