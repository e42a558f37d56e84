//! The command `nvtxw`.
//!
//! Each subcommand is a module with a `run` that takes its options and answers with a [`Result`](error::Result). What a command says goes to
//! standard output; what it has to say about its work (progress, warnings, errors) to standard error.
#![deny(unsafe_code)]
// `notice` and `page` escape what names hold.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod backends;
mod check;
mod convert;
mod error;
mod info;
mod library;
mod manual;
mod notice;
mod page;
mod progress;
mod replay;
mod setting;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::Error;

/// Traces whose timestamps already exist: converts them, and looks into them.
#[derive(Parser)]
#[command(name = "nvtxw", version, about, after_help = NOTES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const NOTES: &str = "\
Examples:
  nvtxw convert trace.json.gz -o run.pftrace
  nvtxw info run.pftrace
  nvtxw help info                       options and examples of a subcommand

Exit codes:
  0  all is well
  1  done, and what was found is not well: a file that is cut or damaged, or of which something
     was refused; warnings with `--strict`, no backend, findings of `check`
  2  not done: wrong options, or a file that can't be read or written";

#[derive(Subcommand)]
enum Command {
    Convert(convert::Options),
    Info(info::Options),
    Check(check::Options),
    Replay(replay::Options),
    Backends(backends::Options),
    Completions(manual::Completions),
    Man(manual::Man),
}

fn main() -> ExitCode {
    let options = Cli::try_parse().unwrap_or_else(|error| error::escaped(error).exit());
    let result = match options.command {
        Command::Convert(options) => convert::run(&options),
        Command::Info(options) => info::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Replay(options) => replay::run(&options),
        Command::Backends(options) => backends::run(&options),
        Command::Completions(options) => manual::completions(&options, Cli::command()),
        Command::Man(options) => manual::man(&options, Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Who closed the pipe has seen enough.
        Err(Error::BrokenPipe) => ExitCode::SUCCESS,
        Err(error) => {
            notice::print(format_args!("error: {error}"));
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands below the options is laid out by hand: wrapped once more, it is hard to read.
    #[test]
    fn notes_fit_into_a_terminal() {
        let mut command = Cli::command();
        command.build();
        for command in command.get_subcommands().chain([&command]) {
            let notes = [command.get_after_help(), command.get_after_long_help()];
            for text in notes.into_iter().flatten().map(ToString::to_string) {
                for line in text.lines() {
                    assert!(
                        line.chars().count() <= 100,
                        "{}: {line}",
                        command.get_name()
                    );
                }
            }
        }
    }
}
