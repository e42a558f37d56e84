//! `nvtxw replay`: what a backend gets of a capture, and what is said of one that is cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nvtxw::{Backend, Config, NvtxEvent, Result, Session, StreamOptions, StringHandle};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Kernel {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, registered_string)]
    name: StringHandle,
}

/// The same calls on any backend.
fn write(backend: &Backend, config: Config) -> Result<()> {
    let mut session = Session::begin(backend, "replayed", &config)?;
    let mut domain = session.domain("sim")?;
    let name = domain.string("gemm")?;
    let kernel = domain.schema::<Kernel>()?;
    let depth = domain.counter::<i64>("depth")?;
    let domain = domain.id();
    let mut gpu = session.open_stream("gpu", StreamOptions::new(domain))?;
    let out = session.writer(&mut gpu)?;
    out.mark(1).message("begin").write()?;
    out.mark(2).message(name).write()?;
    let kernels: Vec<_> = (0..5000)
        .map(|index| Kernel {
            start: 10 * index,
            end: 10 * index + 5,
            name: name.handle(),
        })
        .collect();
    out.events(kernel)?.write_batch(&kernels)?;
    out.counter(depth)?.sample(7, 3)?;
    session.close_stream(gpu)?;
    session.end()
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn capture(name: &str) -> PathBuf {
    let path = place(name);
    let config = [
        ("format", "capture"),
        ("path", path.to_str().unwrap()),
        ("overwrite", "true"),
        ("level", "3"),
    ];
    let set = |config: Config, (key, value): (&str, &str)| config.set(key, value).unwrap();
    let config = config.into_iter().fold(Config::new(), set);
    write(&Backend::embedded(), config).unwrap();
    path
}

/// The recorder as a library: Cargo puts it beside the test programs.
fn recorder() -> PathBuf {
    let name = format!(
        "{}nvtxw_recorder{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    std::env::current_exe().unwrap().with_file_name(name)
}

fn replay(arguments: &[&str], record: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
    command.arg("replay").args(arguments);
    if let Some(record) = record {
        command.env("NVTXW_RECORD", record);
    }
    command.output().unwrap()
}

#[track_caller]
fn said(output: &Output, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
    assert_eq!(output.status.code(), Some(code));
}

#[test]
fn a_library_gets_the_same_calls() {
    // SAFETY:
    // - The recorder implements the ABI, takes calls from any thread, doesn't unwind, and never follows a handle.
    let direct = unsafe { Backend::from_table(&nvtxw_recorder::TABLE) }.unwrap();
    write(&direct, Config::new().set("level", "3").unwrap()).unwrap();
    let direct = nvtxw_recorder::take("replayed").unwrap();

    let capture = capture("same.nvtxw");
    let record = place("same.jsonl");
    let _ = fs::remove_file(&record);
    let (capture, library) = (capture.to_str().unwrap(), recorder());
    let output = replay(
        &[capture, "--backend", library.to_str().unwrap()],
        Some(&record),
    );
    said(&output, 0, "23 calls replayed, 0 refused\n", "");
    let text = fs::read_to_string(&record).unwrap();
    let mut replayed: Vec<_> = text.lines().collect();
    assert_eq!(replayed.pop(), Some(r#"{"call":"nvtxwFinalize"}"#));
    assert_eq!(replayed.len(), direct.len());
    for (replayed, direct) in replayed.iter().zip(&direct) {
        assert_eq!(replayed, direct);
    }
}

#[test]
fn the_built_in_backend_writes_its_formats() {
    let capture = capture("formats.nvtxw");
    for (format, beginning) in [
        ("chrome", &b"{"[..]),
        ("capture", b"NVTXWCAP"),
        ("perfetto", b"\n"),
    ] {
        let path = place(&format!("replayed.{format}"));
        let config = [
            format!("format={format}"),
            format!("path={}", path.display()),
            "overwrite=true".to_owned(),
        ];
        let [format, place, overwrite] = config.each_ref();
        let capture = capture.to_str().unwrap();
        let arguments = [
            capture, "--config", format, "--config", place, "--config", overwrite,
        ];
        said(
            &replay(&arguments, None),
            0,
            "23 calls replayed, 0 refused\n",
            "",
        );
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(beginning), "{format}");
        assert!(bytes.windows(4).any(|word| word == b"gemm"), "{format}");
    }
}

#[test]
fn a_capture_of_a_capture_is_the_same_capture() {
    let first = capture("first.nvtxw");
    let second = place("second.nvtxw");
    let path = format!("path={}", second.display());
    let arguments = [
        first.to_str().unwrap(),
        "--config",
        "format=capture",
        "--config",
        &path,
        "--config",
        "overwrite=true",
    ];
    said(
        &replay(&arguments, None),
        0,
        "23 calls replayed, 0 refused\n",
        "",
    );
    // But for the options and the handles.
    let (first, second) = (fs::read(first).unwrap(), fs::read(second).unwrap());
    assert_eq!(first.len().abs_diff(second.len()) % 16, 0);
    assert!(first.len().abs_diff(second.len()) < 256);
}

#[test]
fn a_capture_is_not_written_over_while_it_is_read() {
    let capture = capture("spared.nvtxw");
    let before = fs::read(&capture).unwrap();
    let config = format!("path={}", capture.display());
    let output = replay(
        &[
            capture.to_str().unwrap(),
            "--config",
            "overwrite=true",
            "--config",
            &config,
        ],
        None,
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!(
            "error: {} would be written over while it is read: name another file to write\n",
            capture.display()
        )
    );
    assert!(fs::read(&capture).unwrap() == before);
}

#[test]
fn a_cut_capture_is_replayed_up_to_there_and_told() {
    let whole = capture("whole.nvtxw");
    let bytes = fs::read(&whole).unwrap();
    let cut = place("cut.nvtxw");
    let path = format!("path={}", place("cut.pftrace").display());
    let arguments = [
        cut.to_str().unwrap(),
        "--config",
        &path,
        "--config",
        "overwrite=true",
    ];

    // In the last record, which is the session's end.
    fs::write(&cut, &bytes[..bytes.len() - 5]).unwrap();
    let start = bytes.len() - 16;
    said(
        &replay(&arguments, None),
        1,
        "23 calls replayed, 0 refused\n",
        &format!(
            "error: {}: the capture is cut: the record at byte {start} has only 11 bytes; what comes before is replayed\n",
            cut.display()
        ),
    );
    // Before it, as after a kill.
    fs::write(&cut, &bytes[..start]).unwrap();
    said(
        &replay(&arguments, None),
        0,
        "23 calls replayed, 0 refused\n",
        &format!(
            "note: {}: the capture ends without its session's end, as after a kill; what it has is replayed\n",
            cut.display()
        ),
    );
}

#[test]
fn what_can_not_be_replayed_is_told() {
    let file = place("none.nvtxw");
    fs::write(&file, "{}").unwrap();
    let name = file.to_str().unwrap();
    said(
        &replay(&[name, "--config", "path=none"], None),
        2,
        "",
        &format!(
            "error: {name}: this is no capture: such a file begins with NVTXWCAP, and is written with the config \
             `format=capture`\n"
        ),
    );
    let capture = capture("refused.nvtxw");
    let capture = capture.to_str().unwrap();
    said(
        &replay(&[capture], None),
        2,
        "",
        "error: the built-in backend is not told where to write: add `--config path=FILE`, or name another backend with \
         `--backend`\n",
    );
    let format = ["--config", "path=none", "--config", "format=xml"];
    said(
        &replay(&[&[capture][..], &format].concat(), None),
        2,
        "",
        &format!(
            "error: {capture}: the backend begins no session: INVALID_ARGUMENT (2): config key `format` has the value `xml`; \
             accepted: perfetto, chrome, parquet, capture\n"
        ),
    );
    said(
        &replay(&[capture, "--config", "pth=none"], None),
        2,
        "",
        "error: the built-in backend has no config key `pth`; it has `path`, `overwrite`, `format`, `base`, `compression`, `window`, \
         `memory`, `flush_interval`, `row_group`, `part`, `merge`, `field_units`, `metadata.NAME`\n",
    );
    let output = replay(&[capture, "--config", "format"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("an option is KEY=VALUE"));
}

#[test]
fn no_option_writes_over_the_capture() {
    let capture = capture("replay-twice.nvtxw");
    let before = fs::read(&capture).unwrap();
    let capture = capture.to_str().unwrap();
    let onto_itself = format!("path={capture}");
    let hidden = format!("overwrite=true|{onto_itself}");
    let blank = format!("path = {capture}");
    for (options, problem) in [
        (
            [&*onto_itself, "path=elsewhere.pftrace", "overwrite=true"],
            "the key `path`: it is set already, and the first of a repeated key counts; set it once",
        ),
        ([&*hidden, "path=elsewhere.pftrace", "window=16"], "`|`"),
        (
            [&*blank, "overwrite=true", "window=16"],
            "would be written over while it is read",
        ),
    ] {
        let mut arguments = vec![capture];
        arguments.extend(options.iter().flat_map(|option| ["--config", option]));
        let output = replay(&arguments, None);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(problem), "{stderr}");
        assert_eq!(output.status.code(), Some(2));
        assert!(fs::read(capture).unwrap() == before, "{options:?}");
    }
}
