//! Messages on standard error: errors, warnings and notes.

use std::fmt;
use std::io::{self, Write};

use nvtxw::abi::OneLine;

/// Prints a message on a line of its own. Unlike `eprintln!`, it works where the terminal is gone.
pub fn print(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", OneLine(message));
}
