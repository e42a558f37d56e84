//! Libraries that are loaded and unloaded again and again, and programs that leave their sessions open.

#![cfg(target_os = "linux")]

mod nested;
mod stuck;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use nvtxw_tests::{skip, workspace_root};

/// The libraries of the workspace, with their packages.
const LIBRARIES: [(&str, &str); 3] = [
    ("libnvtxw3.so", "nvtxw-file-so"),
    ("libnvtxw_check.so", "nvtxw-check-so"),
    ("libjsonl_backend.so", "nvtxw-jsonl-backend"),
];

/// The folder of the libraries, which are built for it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    // This program is in `<target>/<profile>/deps`.
    let program = std::env::current_exe().expect("a path of this program");
    let profile = program.ancestors().nth(2).expect("two folders above");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(workspace_root())
        .args(["build", "--offline", "--target-dir"]);
    cargo.arg(profile.parent().expect("the target folder"));
    for (_, package) in LIBRARIES {
        cargo.args(["-p", package]);
    }
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", said(&output));
    profile.to_owned()
});

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Compiles `host.c` with these arguments. `None`, said aloud, if that doesn't work.
fn host(name: &str, arguments: &[&str]) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(workspace_root().join("tests/lifecycle/host.c"))
        .args(arguments)
        .output();
    match output {
        Ok(output) if output.status.success() => return Some(program),
        Ok(output) if arguments.is_empty() => panic!("{}", said(&output)),
        Ok(output) => skip(&format!(
            "cc {arguments:?} doesn't work here: {}",
            said(&output)
        )),
        Err(error) => skip(&format!("no C compiler is here: `cc`: {error}")),
    }
    None
}

/// A run of the host with a library.
fn run(before: &[&str], program: &Path, library: &str, cycles: u32, how: &str) -> Output {
    let file = output_file(program, library, how);
    let words = before
        .iter()
        .map(AsRef::as_ref)
        .chain([program.as_os_str()]);
    let mut words = words.collect::<Vec<_>>().into_iter();
    Command::new(words.next().expect("a program"))
        .args(words)
        .arg(FOLDER.join(library))
        .arg(format!(
            "path={}\noverwrite=true\ncheck.output=off",
            file.display()
        ))
        .args([&cycles.to_string(), how])
        .env("NVTXW_CHECK_BACKEND", FOLDER.join("libnvtxw3.so"))
        .env("NVTXW_LOG", "off")
        // Memory that the C library keeps for the next allocations counts as used.
        .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
        .output()
        .unwrap_or_else(|error| panic!("{before:?} {}: {error}", program.display()))
}

fn output_file(program: &Path, library: &str, how: &str) -> PathBuf {
    program.with_extension(format!("{library}.{how}"))
}

fn assert_success(output: &Output, what: &str) {
    assert!(
        output.status.success(),
        "{what}: {}: {}",
        output.status,
        said(output)
    );
}

#[test]
fn memory_does_not_grow_from_cycle_to_cycle() {
    let Some(program) = host("cycles", &[]) else {
        return;
    };
    for (library, _) in LIBRARIES {
        let output = run(&[], &program, library, 300, "unload");
        assert_success(&output, library);
        let text = String::from_utf8_lossy(&output.stdout);
        let bytes: Vec<u64> = text
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        let [early, late] = bytes[..] else {
            panic!("{text}")
        };
        assert!(late <= early, "{library}: {early} bytes, then {late}");
    }
}

#[test]
fn nothing_leaks() {
    if let Some(program) = host("leaks", &["-fsanitize=leak"]) {
        for (library, _) in LIBRARIES {
            for how in ["unload", "keep"] {
                assert_success(
                    &run(&[], &program, library, 3, how),
                    &format!("{library}, {how}"),
                );
            }
        }
    }
    if std::env::var_os("NVTXW_LONG").is_none() {
        return;
    }
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let Some(program) = host("memcheck", &[]).filter(|_| has_valgrind) else {
        return skip("valgrind or a C compiler is not here");
    };
    let valgrind = ["valgrind", "--leak-check=full", "--error-exitcode=9"];
    for (library, _) in LIBRARIES {
        for how in ["unload", "keep"] {
            assert_success(
                &run(&valgrind, &program, library, 3, how),
                &format!("{library}, {how}"),
            );
        }
    }
}

#[test]
fn sessions_that_are_left_open_end_with_the_program() {
    let Some(program) = host("leaves", &[]) else {
        return;
    };
    for (library, _) in LIBRARIES {
        let file = |how| std::fs::read(output_file(&program, library, how)).unwrap();
        assert_success(&run(&[], &program, library, 1, "unload"), library);
        let ended = file("unload");
        for how in ["return", "exit", "close"] {
            assert_success(
                &run(&[], &program, library, 1, how),
                &format!("{library}, {how}"),
            );
            assert!(
                file(how) == ended,
                "{library}, {how}: the file differs from that of an end"
            );
        }
        // Events written while the program exits are there, too.
        assert_success(&run(&[], &program, library, 1, "handler"), library);
        assert!(file("handler").len() > ended.len(), "{library}");
    }
}
