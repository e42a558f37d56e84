//! Converts a PyTorch profiler trace (Kineto, the Chrome trace-event format) to a file of the built-in backend.
//!
//! The shape to copy: known events become structs (`row.rs`), what only the file knows becomes records (`trace.rs`,
//! `write.rs`); everything is registered while reading, sorted, and then written stream by stream.
#![forbid(unsafe_code)]

mod event;
mod problems;
mod read;
mod relate;
mod row;
#[cfg(test)]
mod tests;
mod trace;
mod write;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Parser;
use nvtxw::abi::OneLine;
use nvtxw::{Backend, Config, Session};

use crate::problems::Problems;
use crate::relate::Flows;
use crate::trace::Trace;
use crate::write::Written;

/// Converts a PyTorch profiler trace to a file of the built-in backend: for Perfetto, if no other format is named
#[derive(Parser)]
struct Options {
    /// The trace: JSON, gzipped or not
    input: PathBuf,
    /// The file to write; an existing one is replaced
    #[arg(short, long, value_name = "OUT.pftrace")]
    output: PathBuf,
    /// The format of the file, as the backend's config calls it
    #[arg(long, default_value = "perfetto")]
    format: String,
    /// One more setting of the backend, as `compression=zlib`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    config: Vec<String>,
}

fn main() -> Result<()> {
    let Options {
        input,
        output,
        format,
        config: settings,
    } = Options::parse();
    let source = read::open(&input).with_context(|| format!("can't read {}", input.display()))?;
    ensure!(
        fs::canonicalize(&input).ok() != fs::canonicalize(&output).ok(),
        "{} would be written over while it is read: choose another output",
        input.display()
    );
    let path = output
        .to_str()
        .with_context(|| format!("{} is not UTF-8", output.display()))?;
    let mut config = Config::new()
        .set("path", path)?
        .set("format", &format)?
        .set("overwrite", "true")?;
    for setting in &settings {
        let (key, value) = (setting.split_once('='))
            .with_context(|| format!("`{setting}` is not of the form KEY=VALUE"))?;
        config = config.set(key, value)?;
    }
    let mut session = Session::begin(&Backend::embedded(), "kineto", &config)?;

    let mut domain = session.default_domain()?;
    let (mut trace, mut problems, mut number) = (Trace::default(), Problems::default(), 0);
    let read = read::events(source, &mut |event| {
        if let Err(bad) = trace.add(event, &mut domain) {
            problems.add(number, bad);
        }
        number += 1;
    });
    problems.report();

    // After bad JSON too: what stands before it is good.
    let domain = domain.id();
    let flows = relate::relate(&mut trace);
    let written = write::write(&mut session, domain, &mut trace)?;
    session.end()?;

    let Written {
        ranges,
        instants,
        threads,
    } = written;
    println!(
        "{}: {ranges} ranges and {instants} instants of {threads} threads",
        output.display()
    );
    let Flows {
        numbered,
        covered,
        loose,
    } = flows;
    println!(
        "flows: {numbered} written, {covered} within one correlation id, {loose} of fewer than two ranges"
    );
    let others = read.map_err(|bad| {
        anyhow!(
            "{}: {bad}; what stands before is converted",
            input.display()
        )
    })?;
    if !others.is_empty() {
        let others = OneLine(others.join(", "));
        println!("not converted: the file's own {others}");
    }
    println!("to see it: ui.perfetto.dev, Open trace file");
    Ok(())
}
