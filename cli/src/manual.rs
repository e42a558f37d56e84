//! `nvtxw completions` and `nvtxw man`: the command's own description, for shells and for `man`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::{Error, Result};

/// Prints a script that completes the command in a shell
#[derive(Args)]
#[command(after_long_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  nvtxw completions bash >~/.local/share/bash-completion/completions/nvtxw
  nvtxw completions zsh >~/.zfunc/_nvtxw        (a folder in fpath)
  nvtxw completions fish >~/.config/fish/completions/nvtxw.fish";

/// Prints a page of the manual
#[derive(Args)]
#[command(after_long_help = PAGES)]
pub struct Man {
    /// The subcommand that the page is about; without it, the command as a whole
    #[arg(value_name = "SUBCOMMAND", conflicts_with = "out")]
    subcommand: Option<String>,
    /// Writes all pages to this folder, which must be there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

const PAGES: &str = "\
Examples:
  nvtxw man info | man -l -                        reads it now
  nvtxw man --out ~/.local/share/man/man1          installs nvtxw.1, nvtxw-info.1, …";

/// Prints the script for `command`.
pub fn completions(options: &Completions, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(options.shell, &mut command, name, &mut script);
    print(&script)
}

/// Prints a page about `command`, or writes all.
pub fn man(options: &Man, mut command: Command) -> Result<()> {
    command.build();
    if let Some(folder) = &options.out {
        for (name, page) in pages(&command) {
            let path = folder.join(name);
            fs::write(&path, page).map_err(|error| Error::io("write", &path, error))?;
        }
        return Ok(());
    }
    let wanted = options.subcommand.as_deref();
    let about = match wanted {
        None => Some(&command),
        Some(name) => command.find_subcommand(name),
    };
    match about {
        Some(about) => print(page(about).as_bytes()),
        None => Err(Error::Usage(format!(
            "there is no subcommand `{}`: `nvtxw --help` lists them",
            wanted.unwrap_or_default()
        ))),
    }
}

/// The names of all pages' files, and the pages.
fn pages(command: &Command) -> impl Iterator<Item = (String, String)> {
    let subcommands = command.get_subcommands().filter(|it| !it.is_hide_set());
    [command].into_iter().chain(subcommands).map(|about| {
        let name = about.get_display_name().unwrap_or(about.get_name());
        (format!("{name}.1"), page(about))
    })
}

fn page(about: &Command) -> String {
    let mut page = Vec::new();
    // A vector takes all.
    let _ = clap_mangen::Man::new(about.clone()).render(&mut page);
    // What it calls the texts behind the options.
    String::from_utf8_lossy(&page).replace("\n.SH EXTRA\n", "\n.SH NOTES\n")
}

fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    (out.write_all(text).and_then(|()| out.flush()))
        .map_err(|error| Error::io("write", Path::new("-"), error))
}
