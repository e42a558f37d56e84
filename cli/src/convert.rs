//! `nvtxw convert`: writes a trace that another tool wrote.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, Result};

/// Converts a trace to a file of the built-in backend, or hands it to another backend
#[derive(Args)]
pub struct Options {
    /// The trace to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replaces OUT if it exists
    #[arg(long)]
    overwrite: bool,
}

/// Reads, and writes.
pub fn run(options: &Options) -> Result<()> {
    if !options.overwrite && !is_standard(&options.output) && options.output.exists() {
        return Err(Error::Usage(format!(
            "{} exists already: name another OUT, or add `--overwrite` to replace it",
            options.output.display()
        )));
    }
    let mut start = Vec::new();
    let read = |error| Error::io("read", &options.input, error);
    open(&options.input)
        .map_err(read)?
        .take(4096)
        .read_to_end(&mut start)
        .map_err(read)?;
    Err(Error::Input {
        path: options.input.clone(),
        problem: "this is no trace that `nvtxw convert` knows".to_owned(),
    })
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if is_standard(path) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    })
}

/// Whether it stands for standard input or output.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}
