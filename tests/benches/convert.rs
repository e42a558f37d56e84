//! What `nvtxw convert` costs beside reading the same file with Python's `json.load`, which only reads it.
//!
//! `cargo bench -p nvtxw-tests --bench convert`. Each line: `name: ours A, other B, ratio R`; times are the best of several
//! runs that take turns. Ours is the whole process from its start to its end, the other what `json.load` takes once Python runs.

#[path = "convert/capture.rs"]
mod capture;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fmt};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROUNDS: usize = 7;
const TIMES: u64 = 10;

/// Prints the seconds that reading its argument takes, and the KiB that were resident at most.
const JSON_LOAD: &str = "
import gzip, json, resource, sys, time
path = sys.argv[1]
start = time.perf_counter()
json.load(gzip.open(path) if path.endswith('.gz') else open(path))
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";

/// The same for a command.
const RUN: &str = "
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
";

fn main() -> Result<()> {
    capture::lines()?;
    let Some(packed) = nvtxw_tests::shared("traces/pytorch_train_ns.json.gz") else {
        return Ok(());
    };
    if Command::new("python3").arg("--version").output().is_err() {
        nvtxw_tests::skip("python3 is not here, nor what conversion is compared with");
        return Ok(());
    }
    let command = command()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("convert");
    fs::create_dir_all(&folder)?;
    let plain = folder.join("pytorch_train_ns.json");
    io::copy(
        &mut GzDecoder::new(BufReader::new(File::open(&packed)?)),
        &mut File::create(&plain)?,
    )?;
    let out = folder.join("out.pftrace");

    for (name, input, compression) in [
        ("pytorch_train_ns", &plain, "none"),
        ("pytorch_train_ns, compressed as by default", &plain, "zlib"),
        ("pytorch_train_ns, gzipped", &packed, "none"),
    ] {
        let (mut ours, mut other) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            convert(&command, input, &out, compression)?;
            ours = ours.min(start.elapsed().as_secs_f64());
            other = other.min(python(JSON_LOAD, &[input])?.0);
        }
        line(name, Milliseconds(ours), Milliseconds(other), ours / other);
    }

    let large = folder.join("large.json");
    repeat(&plain, &large)?;
    let (ours, resident) = python(
        RUN,
        &[
            &command,
            "convert".as_ref(),
            &large,
            "--overwrite".as_ref(),
            "--compression=none".as_ref(),
            "-o".as_ref(),
            &out,
        ],
    )?;
    let (other, other_resident) = python(JSON_LOAD, &[&large])?;
    let name = "ten times its size";
    line(name, Milliseconds(ours), Milliseconds(other), ours / other);
    let name = "resident memory at ten times its size";
    line(
        name,
        Mebibytes(resident),
        Mebibytes(other_resident),
        resident / other_resident,
    );
    for large in [large, out] {
        fs::remove_file(large)?;
    }
    Ok(())
}

fn line(name: &str, ours: impl fmt::Display, other: impl fmt::Display, ratio: f64) {
    println!("{name}: ours {ours}, other {other}, ratio {ratio:.3}");
}

struct Milliseconds(f64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0 * 1e3)
    }
}

/// Of KiB.
struct Mebibytes(f64);

impl fmt::Display for Mebibytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB", self.0 / 1024.0)
    }
}

/// Builds the command as it is installed.
fn command() -> Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "-p", "nvtxw-cli"])
        .current_dir(nvtxw_tests::workspace_root())
        .status()?;
    if !status.success() {
        return Err("the command `nvtxw` can't be built".into());
    }
    // Benches are in `deps` beside it.
    let folder = env::current_exe()?
        .parent()
        .and_then(Path::parent)
        .map(Path::to_owned);
    Ok(folder
        .ok_or("the bench is in no target folder")?
        .join("nvtxw"))
}

fn convert(command: &Path, input: &Path, out: &Path, compression: &str) -> Result<()> {
    let output = Command::new(command)
        .args([
            "convert".as_ref(),
            input,
            "--overwrite".as_ref(),
            "--compression".as_ref(),
            compression.as_ref(),
            "-o".as_ref(),
            out,
        ])
        .output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into())
    }
}

/// Seconds and KiB, as a script prints them.
fn python(script: &str, arguments: &[&Path]) -> Result<(f64, f64)> {
    let output = Command::new("python3")
        .args(["-c", script])
        .args(arguments)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, kib) = text
        .trim()
        .split_once(' ')
        .ok_or("a script printed something else")?;
    Ok((seconds.parse()?, kib.parse()?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace<'a> {
    #[serde(borrow)]
    trace_events: &'a RawValue,
}

/// Writes the events of `from` several times, each time later and with other numbers that relate them.
fn repeat(from: &Path, to: &Path) -> Result<()> {
    let text = fs::read_to_string(from)?;
    let trace: Trace<'_> = serde_json::from_str(&text)?;
    let events = trace.trace_events.get();
    let events = &events[1..events.len() - 1];
    let mut out = BufWriter::new(File::create(to)?);
    for time in 0..TIMES {
        out.write_all(if time == 0 { b"[" } else { b"," })?;
        let mut rest = events;
        while let Some((before, number, behind)) = next_number(rest) {
            out.write_all(before.as_bytes())?;
            let digits = number.parse::<u64>()?;
            // More microseconds than the trace has, and more than there are calls and flows. 0 relates nothing.
            let shift = if digits == 0 { 0 } else { time * 100_000_000 };
            write!(out, "{}", digits + shift)?;
            rest = behind;
        }
        out.write_all(rest.as_bytes())?;
    }
    out.write_all(b"]")?;
    Ok(out.flush()?)
}

/// What stands before the next number that tells a time or a relation, its digits before a point, and the rest.
fn next_number(text: &str) -> Option<(&str, &str, &str)> {
    let keys = ["\"ts\": ", "\"id\": ", "\"correlation\": "];
    let mut from = 0;
    loop {
        let quote = from + text[from..].find('"')?;
        let key = keys.iter().find(|key| text[quote..].starts_with(**key));
        let Some(key) = key else {
            from = quote + 1;
            continue;
        };
        let start = quote + key.len();
        let len = text[start..].find(|c: char| !c.is_ascii_digit())?;
        if len > 0 {
            return Some((
                &text[..start],
                &text[start..start + len],
                &text[start + len..],
            ));
        }
        from = start;
    }
}
