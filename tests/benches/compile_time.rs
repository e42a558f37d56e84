//! What `#[derive(NvtxEvent)]` costs at compile time over `#[derive(serde::Serialize, bytemuck::NoUninit)]` on the same
//! structs, by `cargo check`.
//!
//! Prints `case, ms: ours A, other B, ratio R`. The structs are in generated crates that differ in nothing but the derives
//! and `nvtxw`'s attributes, and whose dependencies are built before. Fields are of types that all three derives know, so
//! a color is a `u32`. Each figure is the best of several alternating runs, less what a crate without structs takes: that
//! is the start of cargo and rustc and the loading of the dependencies, all of which each crate names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nvtxw_tests::workspace_root;

const RUNS: usize = 9;

/// What is derived, and with which attributes of fields.
struct Derives {
    name: &'static str,
    derive: &'static str,
    with_attributes: bool,
}

const NVTXW: Derives = Derives {
    name: "nvtxw",
    derive: "#[derive(nvtxw::NvtxEvent, Clone, Copy)]\n#[nvtx(kind = range_startend)]",
    with_attributes: true,
};

const SERDE: Derives = Derives {
    name: "serde",
    derive: "#[derive(serde::Serialize, bytemuck::NoUninit, Clone, Copy)]",
    with_attributes: false,
};

/// The fields of each struct, with `nvtxw`'s attributes.
const FIELDS: [(&str, &str); 10] = [
    ("#[nvtx(timestamp_start)]", "start: i64"),
    ("#[nvtx(timestamp_end)]", "end: i64"),
    ("#[nvtx(color)]", "color: u32"),
    ("#[nvtx(category)]", "category: u32"),
    ("#[nvtx(correlation)]", "launch: u64"),
    ("#[nvtx(unit = \"bytes\")]", "shared: u64"),
    ("", "occupancy: f64"),
    ("", "grid: [u32; 4]"),
    ("", "queue: u32"),
    ("", "device: u32"),
];

/// A generated crate, and the best time of its check.
struct Crate {
    name: String,
    source: PathBuf,
    text: String,
    best: Duration,
}

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        eprintln!("nothing to do: `cargo bench -p nvtxw-tests --bench compile_time` measures");
        return ExitCode::SUCCESS;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let mut crates = [
        Crate::new(&folder, &NVTXW, 0),
        Crate::new(&folder, &NVTXW, 100),
        Crate::new(&folder, &SERDE, 100),
        Crate::new(&folder, &NVTXW, 400),
        Crate::new(&folder, &SERDE, 400),
    ];
    write(&folder.join("Cargo.toml"), &workspace(&crates));
    let lock = workspace_root().join("Cargo.lock");
    write(
        &folder.join("Cargo.lock"),
        &std::fs::read_to_string(lock).expect("the workspace has a lock file"),
    );
    check(&folder, "--workspace");

    for _ in 0..RUNS {
        for krate in &mut crates {
            // Cargo checks again what is newer than its last result.
            write(&krate.source, &krate.text);
            let start = Instant::now();
            check(&folder, &format!("--package={}", krate.name));
            krate.best = start.elapsed().min(krate.best);
        }
    }

    let [none, ours_100, other_100, ours_400, other_400] = crates.map(|krate| krate.best);
    let line = |case: &str, ours: Duration, other: Duration| {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{case}, ms: ours {:.0}, other {:.0}, ratio {:.2}",
            ms(ours),
            ms(other),
            ms(ours) / ms(other)
        );
    };
    let (ours_100, ours_400) = (ours_100.saturating_sub(none), ours_400.saturating_sub(none));
    line(
        "check of 100 structs",
        ours_100,
        other_100.saturating_sub(none),
    );
    line(
        "check of 400 structs",
        ours_400,
        other_400.saturating_sub(none),
    );
    line(
        "check of 400 structs against 4 times that of 100",
        ours_400,
        ours_100 * 4,
    );
    ExitCode::SUCCESS
}

impl Crate {
    fn new(folder: &Path, derives: &Derives, structs: usize) -> Self {
        let name = format!("{}-{structs}", derives.name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n\
             nvtxw = {{ path = {:?}, default-features = false, features = [\"derive\"] }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n\
             bytemuck = {{ version = \"1\", features = [\"derive\"] }}\n",
            workspace_root().join("nvtxw"),
        );
        let source = folder.join(&name).join("src/lib.rs");
        std::fs::create_dir_all(source.parent().expect("it has one"))
            .expect("the target folder can be written");
        write(&folder.join(&name).join("Cargo.toml"), &manifest);
        let mut text = String::from(
            "extern crate bytemuck as _;\nextern crate nvtxw as _;\nextern crate serde as _;\n\n",
        );
        for index in 0..structs {
            let _ = writeln!(
                text,
                "{}\n#[repr(C)]\npub struct Event{index} {{",
                derives.derive
            );
            for (attribute, field) in FIELDS {
                let attribute = if derives.with_attributes {
                    attribute
                } else {
                    ""
                };
                let _ = writeln!(text, "    {attribute} pub {field},");
            }
            text.push_str("}\n\n");
        }
        write(&source, &text);
        Self {
            name,
            source,
            text,
            best: Duration::MAX,
        }
    }
}

fn workspace(crates: &[Crate]) -> String {
    let members: Vec<_> = crates.iter().map(|krate| &krate.name).collect();
    format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n")
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text)
        .unwrap_or_else(|error| panic!("can't write {}: {error}", path.display()));
}

/// Runs `cargo check` in the workspace `folder`.
fn check(folder: &Path, which: &str) {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--offline", "--quiet", which])
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .current_dir(workspace_root())
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "`cargo check {which}` failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
