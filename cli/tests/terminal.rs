//! What the command shows on a terminal, which is a real one, and not into a pipe.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, process};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal, and the side of it that a program gets.
struct Terminal {
    main: File,
    side: File,
}

impl Terminal {
    /// 120 characters wide.
    fn new() -> Self {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        let name = ptsname(&main, Vec::new()).unwrap();
        let name = OsStr::from_bytes(name.to_bytes());
        let side = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name)
            .unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&side, size).unwrap();
        Self {
            main: main.into(),
            side,
        }
    }

    fn side(&self) -> Stdio {
        self.side.try_clone().unwrap().into()
    }

    /// All that `command`, which was given the side, shows until it ends.
    fn shown(self, command: &mut Command) -> String {
        let mut child = command.env("TERM", "xterm-256color").spawn().unwrap();
        // The command has copies of the side too.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Self { mut main, side } = self;
        drop(side);
        let (mut all, mut some) = (Vec::new(), [0; 4096]);
        // The end is an error here.
        while let Ok(len @ 1..) = main.read(&mut some) {
            all.extend_from_slice(&some[..len]);
        }
        assert!(child.wait().unwrap().success());
        String::from_utf8(all).unwrap()
    }
}

/// A trace of so many megabytes that reading them takes some of the bar's ticks on a fast machine too. It is gone with the test.
struct Trace(PathBuf);

impl Trace {
    fn new(test: &str) -> Self {
        let path = env::temp_dir().join(format!("nvtxw-terminal-{test}-{}.json", process::id()));
        let mut text = "[".to_owned();
        for number in 0..100_000 {
            let name = number % 100;
            let _ = writeln!(
                text,
                r#"{{"ph":"X","pid":1,"tid":{},"ts":{number},"dur":0.5,"name":"call {name}","args":{{"n":{number}}}}},"#,
                number % 3
            );
        }
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn output(&self) -> PathBuf {
        self.0.with_extension("pftrace")
    }

    fn capture(&self) -> PathBuf {
        self.0.with_extension("nvtxw")
    }

    /// Replays a capture of it, which is made here.
    fn replay(&self) -> Command {
        let mut convert = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        convert.arg("convert").arg(&self.0).arg("-o");
        assert!(convert.arg(self.capture()).status().unwrap().success());
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        let config = format!("path={}", self.output().display());
        command.arg("replay").arg(self.capture());
        command.args(["--config", &config]);
        command
    }

    fn convert(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        command
            .arg("convert")
            .arg(&self.0)
            .arg("-o")
            .arg(self.output())
            .arg("--overwrite");
        command
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(self.capture());
        let _ = fs::remove_file(self.output());
    }
}

/// The numbers in `text`, without units.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|character: char| !character.is_ascii_digit() && character != '.');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn a_terminal_gets_a_bar_with_rate_and_time_left() {
    let trace = Trace::new("bar");
    check_bar(trace.convert(), "reading", &trace.0);
    assert!(trace.output().exists());
}

#[test]
fn a_replay_has_a_bar_too() {
    let trace = Trace::new("replay");
    check_bar(trace.replay(), "replaying", &trace.capture());
    assert!(trace.output().exists());
}

/// What `command`, which is doing `what`, shows while it reads `input`.
fn check_bar(mut command: Command, what: &str, input: &Path) {
    let terminal = Terminal::new();
    let side = terminal.side();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(side);
    let shown = terminal.shown(&mut command);
    // The bar may be there before the file is open.
    let frames: Vec<_> = shown
        .split(['\r', '\n'])
        .filter(|frame| frame.contains(what) && !frame.contains(" 0 B/0 B "))
        .collect();
    let size = fs::metadata(input).unwrap().len() as f64 / f64::from(1 << 20);
    let mut rates = 0;
    for frame in &frames {
        let (_, counts) = frame
            .split_once('/')
            .unwrap_or_else(|| panic!("{frame:?} counts nothing"));
        assert!(
            counts.contains("/s, ") && counts.contains(" left)"),
            "{frame:?}"
        );
        let told = numbers(counts);
        assert!(
            (told[0] - size).abs() < 0.01,
            "{frame:?}: the file has {size} MiB"
        );
        rates += usize::from(told[1] > 0.0);
    }
    assert!(rates > 0, "no frame has a rate: {frames:?}");
    // At last the line is empty again.
    let (_, last) = shown.rsplit_once(" left)").unwrap();
    assert!(last.contains("\u{1b}[2K"), "{last:?}");
}

#[test]
fn a_pipe_gets_nothing() {
    let trace = Trace::new("pipe");
    let output = trace.convert().output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        (output.stdout.len(), output.stderr.len()),
        (0, 0),
        "{output:?}"
    );
}

#[test]
fn headings_are_bold_on_a_terminal_that_has_colours() {
    let trace = Trace::new("bold");
    let shown = |no_color: bool| {
        let terminal = Terminal::new();
        let side = terminal.side();
        let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        command.arg("info").arg(&trace.0).env_remove("NO_COLOR");
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command
            .stdin(Stdio::null())
            .stdout(side)
            .stderr(Stdio::null());
        terminal.shown(&mut command)
    };
    let with = shown(false);
    assert!(with.contains("\u{1b}[1mStreams\u{1b}[0m"), "{with}");
    let without = shown(true);
    assert!(
        without.contains("\nStreams\r\n") && !without.contains('\u{1b}'),
        "{without}"
    );
}
