//! What the command says of itself.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::{env, fs};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .args(arguments)
        .output()
        .unwrap()
}

/// What it says on standard output, when all is well.
fn said(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The subcommands that the help lists.
fn subcommands() -> Vec<String> {
    let help = said(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let first = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    let all: Vec<_> = list
        .lines()
        .map(first)
        .filter(|name| name != "help")
        .collect();
    assert!(all.len() > 3, "{help}");
    all
}

#[test]
fn every_subcommand_has_examples_and_a_page() {
    let folder = env::temp_dir().join(format!("nvtxw-manual-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    said(&["man", "--out", folder.to_str().unwrap()]);
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(page("nvtxw.1"), said(&["man"]));
    for name in &subcommands() {
        let help = said(&[name, "--help"]);
        assert!(
            help.contains(&format!("Examples:\n  nvtxw {name} ")),
            "{help}"
        );
        assert!(!help.contains('\u{1b}'), "colours in a pipe");
        assert!(page("nvtxw.1").contains(&format!("nvtxw\\-{name}(1)")));
        let page = page(&format!("nvtxw-{name}.1"));
        assert_eq!(page, said(&["man", name]));
        assert!(
            page.starts_with(".ie") && page.contains(".SH NOTES\nExamples:\n"),
            "{page}"
        );
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn exit_codes_are_told() {
    for arguments in [
        &["--help"][..],
        &["info", "--help"],
        &["backends", "--help"],
    ] {
        let help = said(arguments);
        let (_, codes) = help.split_once("Exit codes:\n").unwrap();
        for code in ["  0  ", "  1  ", "  2  "] {
            assert!(codes.contains(code), "{help}");
        }
    }
}

#[test]
fn shells_get_scripts_that_know_all_subcommands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = said(&["completions", shell]);
        for name in subcommands() {
            assert!(script.contains(&name), "{shell}: no {name}");
        }
    }
    let mut bash = match Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn() {
        Ok(bash) => bash,
        Err(error) => return nvtxw_tests::skip(&format!("there is no bash ({error})")),
    };
    let script = said(&["completions", "bash"]);
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn what_there_is_not_is_named() {
    let output = run(&["man", "bake"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: there is no subcommand `bake`: `nvtxw --help` lists them\n"
    );
    let output = run(&["man", "--out", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: can't write /nowhere/nvtxw.1: No such file or directory (os error 2)\n"
    );
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn help_into_a_closed_pipe_is_quiet() {
    for arguments in [
        &["--help"][..],
        &["info", "--help"],
        &["completions", "zsh"],
        &["man"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_nvtxw"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}
