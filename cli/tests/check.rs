//! What `nvtxw check` says of traces, and of programs: this one is such a program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, mem, process};

use nvtxw::{Backend, Config, Session, StreamOptions};
use serde_json::Value;

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("check-{name}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn check(arguments: &[&str]) -> Said {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_nvtxw"))
        .arg("check")
        .args(arguments)
        .output()
        .unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Writes a range that is pushed and not popped.
fn misbehave(config: &Config) -> Session {
    let mut session = Session::begin(&Backend::embedded(), "run", config).unwrap();
    let domain = session.domain("sim").unwrap().id();
    let mut stream = session
        .open_stream("gpu", StreamOptions::new(domain))
        .unwrap();
    let out = session.writer(&mut stream).unwrap();
    out.push(100).message("step").write().unwrap();
    session
}

const FOUND: &str = "
push-without-pop (1): a range that was pushed is still open when its stream closes
    session \"run\", stream \"gpu\", event 0, at 100: pushed, and open when the stream closes
  why: the range has no end: it is shown up to the trace's end, or not at all, and all later ones are inside it
  fix: write a pop for each push, also where an error leaves the code between them
";

#[test]
fn a_capture_is_made_once_more_and_checked() {
    let path = folder("capture").join("run.nvtxw");
    let path = path.to_str().unwrap();
    let config = Config::new().set("format", "capture").unwrap();
    misbehave(&config.set("path", path).unwrap()).end().unwrap();
    let said = check(&[path]);
    assert_eq!((&*said.out, said.code), (FOUND, 1), "{}", said.err);
    assert_eq!(said.err, "error: 1 finding\n");

    let said = check(&["--json", path]);
    let lines: Vec<Value> = (said.out.lines().map(serde_json::from_str))
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(lines[0]["begin"], "run");
    assert_eq!(
        (&lines[1]["finding"], &lines[1]["time"]),
        (&"push-without-pop".into(), &100.into())
    );
    assert_eq!(lines[2]["findings"]["push-without-pop"], 1);
    assert_eq!(said.code, 1);
}

#[test]
fn a_capture_that_is_cut_is_checked_up_to_there_and_that_is_said() {
    let folder = folder("cut");
    let (whole, cut) = (folder.join("run.nvtxw"), folder.join("cut.nvtxw"));
    let config = Config::new().set("format", "capture").unwrap();
    let config = config.set("path", whole.to_str().unwrap()).unwrap();
    misbehave(&config).end().unwrap();
    let bytes = fs::read(&whole).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 4]).unwrap();
    let said = check(&[cut.to_str().unwrap()]);
    assert_eq!((&*said.out, said.code), (FOUND, 1));
    assert!(
        said.err.contains("the capture is cut: the record at byte"),
        "{}",
        said.err
    );
}

#[test]
fn other_traces_are_converted_and_checked() {
    let path = folder("table").join("queries.csv");
    fs::write(&path, "start,end,name\n10,20,a\n15,30,b\n").unwrap();
    let said = check(&[path.to_str().unwrap()]);
    assert_eq!(
        (&*said.out, &*said.err, said.code),
        ("no findings\n", "", 0)
    );
    // Nothing is in it, which is no misuse.
    fs::write(&path, "[]").unwrap();
    let said = check(&[path.to_str().unwrap()]);
    assert_eq!(
        (&*said.out, &*said.err, said.code),
        ("no findings\n", "", 0)
    );
    // As of a capture, what stands before a cut is checked.
    fs::write(&path, r#"[{"ph":"i","ts":1},{"ph":"#).unwrap();
    let said = check(&[path.to_str().unwrap()]);
    let cut = format!(
        "error: {}: line 1, byte 20: the file ends inside an event; what stands before is checked\n",
        path.display()
    );
    assert_eq!((&*said.out, said.err, said.code), ("no findings\n", cut, 1));
    fs::write(&path, "\u{0}\u{1}").unwrap();
    let said = check(&[path.to_str().unwrap()]);
    assert_eq!((&*said.out, said.code), ("", 2));
    assert!(
        said.err
            .contains("this is no trace that is converted or checked"),
        "{}",
        said.err
    );
    let folder = path.parent().unwrap().to_str().unwrap();
    let said = check(&[folder]);
    let problem = "this is a folder: name a file; a Parquet dataset is read by `nvtxw info` only";
    assert_eq!(
        (said.err, said.code),
        (format!("error: {folder}: {problem}\n"), 2)
    );
    let said = check(&["/nowhere/run.nvtxw"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("can't read /nowhere/run.nvtxw"),
        "{}",
        said.err
    );
}

/// What runs behind `--`: nothing here loads the library, so that any file may stand for it.
fn run(command: &[&str]) -> Said {
    check(&[&["--checker", env!("CARGO_BIN_EXE_nvtxw"), "--"], command].concat())
}

#[test]
fn a_program_is_run_and_checked() {
    let folder = folder("program");
    let table = folder.join("queries.csv");
    fs::write(&table, "start,end,name\n10,20,a\n").unwrap();
    let out = folder.join("queries.pftrace");
    let convert = [
        env!("CARGO_BIN_EXE_nvtxw"),
        "convert",
        table.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    let said = run(&convert);
    assert_eq!(
        (&*said.out, said.code),
        ("no findings\n", 0),
        "{}",
        said.err
    );
    assert!(
        out.metadata().unwrap().len() > 0,
        "its backend gets all of it"
    );
    // It refuses to write the file once more.
    let said = run(&convert);
    assert_eq!((&*said.out, said.code), ("", 2));
    assert!(
        said.err
            .ends_with("nvtxw: the program failed: exit status: 2\n"),
        "{}",
        said.err
    );
}

/// Ctrl-C reaches all programs of a terminal.
#[cfg(unix)]
#[test]
fn what_was_found_until_an_interrupt_is_told() {
    let folder = folder("interrupted");
    let table = folder.join("queries.csv");
    fs::write(&table, "start,end,name\n10,20,a\n").unwrap();
    let script = format!(
        "kill -INT $PPID && {} convert {} --overwrite -o {} && kill -INT $$",
        env!("CARGO_BIN_EXE_nvtxw"),
        table.display(),
        folder.join("out.pftrace").display()
    );
    let said = run(&["sh", "-c", &script]);
    assert_eq!((&*said.out, said.code), ("no findings\n", 2));
    assert!(
        said.err
            .ends_with("the program failed: signal: 2 (SIGINT)\n"),
        "{}",
        said.err
    );
}

#[test]
fn json_is_apart_from_what_the_program_prints() {
    let folder = folder("printing");
    let table = folder.join("queries.csv");
    fs::write(&table, "start,end,name\n10,20,a\n").unwrap();
    let arguments = ["--json", "--checker", env!("CARGO_BIN_EXE_nvtxw"), "--"];
    let program = [
        env!("CARGO_BIN_EXE_nvtxw"),
        "convert",
        table.to_str().unwrap(),
        "--format",
        "chrome",
        "-o",
        "-",
    ];
    let said = check(&[&arguments[..], &program].concat());
    for line in said.out.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert_eq!((said.out.lines().count(), said.code), (2, 0));
    assert!(said.err.contains("traceEvents"), "{}", said.err);
}

/// A part of the next test.
#[test]
#[ignore = "it is run behind the checker"]
fn misbehaving() {
    let path = |name| {
        folder("misbehaving")
            .join(name)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let config = |name| {
        let config = Config::new().set("path", &path(name)).unwrap();
        config.set("overwrite", "true").unwrap()
    };
    misbehave(&config("ended.pftrace")).end().unwrap();
    // As a program does that exits without the end.
    mem::forget(misbehave(&config("left.pftrace")));
}

#[test]
fn what_a_program_breaks_is_told() {
    let own = env::current_exe().unwrap();
    let said = run(&[
        own.to_str().unwrap(),
        "--quiet",
        "--ignored",
        "--exact",
        "misbehaving",
    ]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains(FOUND), "{}", said.out);
    let left = "
session-without-end (1): a session was begun and not ended
    session \"run\"
";
    assert!(said.out.contains(left), "{}", said.out);
    assert!(said.err.ends_with("error: 2 findings\n"), "{}", said.err);
}

#[test]
fn what_can_not_be_checked_is_an_error() {
    let said = run(&[env!("CARGO_BIN_EXE_nvtxw"), "--version"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err
            .starts_with("error: no session was begun, so that nothing was checked: "),
        "{}",
        said.err
    );
    let said = run(&["/nowhere/program"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("can't run /nowhere/program"),
        "{}",
        said.err
    );
    let said = check(&["--checker", "/nowhere/libnvtxw_check.so", "--", "true"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err
            .contains("the checker's library is not at /nowhere/libnvtxw_check.so"),
        "{}",
        said.err
    );
    let said = check(&[]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("<FILE|COMMAND") || said.err.contains("required"),
        "{}",
        said.err
    );
}

#[test]
fn without_cases_the_kinds_are_told() {
    let path = folder("no-cases").join("run.nvtxw");
    let path = path.to_str().unwrap();
    let config = Config::new().set("format", "capture").unwrap();
    let config = config.set("path", path).unwrap();
    misbehave(&config).end().unwrap();
    let said = check(&["--examples", "0", path]);
    let first = |line: &&str| !line.starts_with("    ");
    let want: Vec<_> = FOUND.lines().filter(first).collect();
    let mut lines: Vec<_> = said.out.lines().collect();
    assert_eq!(lines.remove(2), "    and 1 more");
    assert_eq!((said.code, lines), (1, want));
}
