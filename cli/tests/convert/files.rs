//! Files: their forms, their ends, what is refused.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::scratch::Scratch;
use crate::{command, convert, piped, read, said, shown};

const EVENT: &str = r#"{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2}"#;
const SHOWN: &str = r#"Process 1/Thread 2 {"args":{},"dur":2.0,"name":"a","ph":"X","ts":1.0}"#;

/// The exit code, what is said, and the lines of what was written.
fn of(input: &[u8], options: &[&str]) -> (i32, String, Vec<String>) {
    let output = piped(input, options);
    let (code, text) = said(&output);
    let lines = if output.stdout.is_empty() {
        Vec::new()
    } else {
        shown(&output.stdout)
    };
    (code, text, lines)
}

#[test]
fn both_forms_with_and_without_their_ends() {
    for form in [
        "[E]",
        "\u{FEFF} [E]",
        "[E",
        "[E,\n",
        "[E,",
        "{\"traceEvents\":[E]}",
        "{\"displayTimeUnit\": \"ns\", \"traceEvents\" : [ E ] , \"schemaVersion\" : 1 }\n",
        "{\"traceEvents\":[E",
        "{\"traceEvents\":[E],",
    ] {
        let text = form
            .replace('E', EVENT)
            .replace("traceEVENTvents", "traceEvents");
        let text = text.replace(&format!("trace{EVENT}vents"), "traceEvents");
        assert_eq!(
            of(text.as_bytes(), &[]),
            (0, String::new(), vec![SHOWN.to_owned()]),
            "{form}"
        );
    }
}

#[test]
fn a_file_that_ends_inside_an_event_keeps_those_before() {
    let (code, text, lines) = of(format!("[{EVENT},\n{{\"ph\":\"X\",").as_bytes(), &[]);
    assert_eq!((code, lines), (1, vec![SHOWN.to_owned()]));
    assert_eq!(
        text,
        "error: -: line 2, byte 56: the file ends inside an event; what stands before is converted\n"
    );
}

#[test]
fn bad_json_is_placed_and_what_stands_before_is_kept() {
    let json = format!("[{EVENT},\n{{\"ph\":\"X\",\n\"ts\" 1}}]");
    let byte = json.rfind('1').unwrap() + 1;
    let (code, text, lines) = of(json.as_bytes(), &[]);
    assert_eq!((code, lines), (1, vec![SHOWN.to_owned()]));
    assert_eq!(
        text,
        format!(
            "error: -: line 3, byte {byte}: this is no JSON; what stands before is converted\n"
        )
    );
    let (code, text, lines) = of(format!("[{EVENT}] x").as_bytes(), &[]);
    assert_eq!((code, lines.len()), (1, 1));
    assert_eq!(
        text,
        "error: -: line 1, byte 56: nothing is expected behind the trace; what stands before is converted\n"
    );
}

#[test]
fn what_is_no_trace_is_said() {
    for (input, problem) in [
        (&b""[..], "there is nothing in it"),
        (
            b"{}",
            "there is no array `traceEvents` in it, so it is no trace of Chrome's format",
        ),
        (
            b"{\"traceEvents\": 5}",
            "there is no array `traceEvents` in it, so it is no trace of Chrome's format",
        ),
        (b"{\"a\" 5}", "line 1, byte 6: expected `:`"),
        (b"{\"a\":", "line 1, byte 6: the file ends inside a value"),
        (
            b"{\"a\":1,",
            "line 1, byte 8: the file ends before any events",
        ),
        (
            b"\xff\xfe[\0]\0",
            "this looks like UTF-16, and only UTF-8 is read: convert it (`iconv -f UTF-16 -t UTF-8`)",
        ),
        (
            b"\0[\0]",
            "this looks like UTF-16, and only UTF-8 is read: convert it (`iconv -f UTF-16 -t UTF-8`)",
        ),
        (
            b"hello",
            "this is no trace that is converted or checked: it is neither JSON nor a capture, nor a table whose first line names columns \
             with commas or tabs between them; if it is one of them, `nvtxw convert --from` takes it as that",
        ),
        (
            b"\n\x04\x52\x02\x08\x01",
            "this is a Perfetto file, which `nvtxw info` reads; to be converted or checked, the program has to write a capture (the \
             config `format=capture`) or Chrome's JSON",
        ),
    ] {
        let (code, text, lines) = of(input, &[]);
        assert_eq!(
            (code, text, lines.len()),
            (2, format!("error: -: {problem}\n"), 0)
        );
    }
}

#[test]
fn strict_makes_warnings_errors() {
    let scratch = Scratch::new("convert-strict");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    fs::write(&input, format!("[{EVENT},{{\"ph\":\"V\"}}]")).unwrap();
    let warning = "warning: an event of phase `V` is not converted (line 1, byte 55)\n";
    let error = format!(
        "error: {}: 1 warning; nothing was written, because of `--strict`\n",
        input.display()
    );
    let strict = convert(&input, &output, &["--strict"]);
    assert_eq!(said(&strict), (1, format!("{warning}{error}")));
    assert!(!output.exists());
    assert_eq!(
        said(&convert(&input, &output, &[])),
        (0, warning.to_owned())
    );
    assert!(output.exists());
    fs::write(&input, format!("[{EVENT}]")).unwrap();
    let strict = convert(&input, &output, &["--strict", "--overwrite"]);
    assert_eq!(said(&strict), (0, String::new()));
}

#[test]
fn an_existing_file_is_refused_without_overwrite() {
    let scratch = Scratch::new("convert-existing");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.json"));
    fs::write(&input, format!("[{EVENT}]")).unwrap();
    fs::write(&output, "precious").unwrap();
    let refused = format!(
        "error: {} exists already: name another OUT, or add `--overwrite` to replace it\n",
        output.display()
    );
    assert_eq!(said(&convert(&input, &output, &[])), (2, refused));
    assert_eq!(read(&scratch, "out.json"), b"precious");
    assert_eq!(
        said(&convert(&input, &output, &["--overwrite"])),
        (0, String::new())
    );
    assert_eq!(shown(&read(&scratch, "out.json")), [SHOWN]);

    let itself = |path: &Path| {
        let path = path.display();
        format!(
            "error: {path} would be written over while it is read: name another file to write\n"
        )
    };
    let onto_itself = convert(&input, &input, &["--overwrite"]);
    assert_eq!(said(&onto_itself), (2, itself(&input)));
    // As an option of another backend, before that is loaded.
    let mut onto_itself = command();
    onto_itself.arg(&input);
    onto_itself.args([
        "--backend",
        "libnone.so",
        "--config",
        "overwrite=true",
        "--config",
    ]);
    onto_itself.arg(format!("path= {}", input.display()));
    let onto_itself = onto_itself.output().unwrap();
    assert_eq!(said(&onto_itself), (2, itself(&input)));
    assert_eq!(read(&scratch, "in.json"), format!("[{EVENT}]").as_bytes());
    // By another name, and as standard input.
    #[cfg(unix)]
    {
        let link = scratch.path("link.json");
        fs::hard_link(&input, &link).unwrap();
        let onto_itself = convert(&input, &link, &["--overwrite"]);
        assert_eq!(said(&onto_itself), (2, itself(&link)));
        let mut command = command();
        command.args(["-", "--overwrite", "-o"]).arg(&input);
        command.stdin(fs::File::open(&input).unwrap());
        assert_eq!(said(&command.output().unwrap()), (2, itself(&input)));
    }
    assert_eq!(read(&scratch, "in.json"), format!("[{EVENT}]").as_bytes());
}

#[test]
fn files_that_are_not_there_are_named() {
    let scratch = Scratch::new("convert-absent");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    let (code, text) = said(&convert(&input, &output, &[]));
    assert_eq!(code, 2);
    assert!(
        text.starts_with(&format!("error: can't read {}: ", input.display())),
        "{text}"
    );
    fs::write(&input, format!("[{EVENT}]")).unwrap();
    let (code, text) = said(&convert(&input, &scratch.path("no/out.pftrace"), &[]));
    assert_eq!(code, 2);
    // Once, and not by the backend too.
    assert_eq!(text.matches("no/out.pftrace").count(), 1, "{text}");
}

#[test]
fn times_may_be_negative_behind_others() {
    let scratch = Scratch::new("convert-negative");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    // More events than one flush waits for, and then a track that begins before them.
    let late = r#"{"ph":"i","name":"late","pid":1,"tid":1,"ts":5}"#;
    let early = r#"{"ph":"i","name":"early","pid":1,"tid":2,"ts":-1700000000.5}"#;
    fs::write(
        &input,
        format!("[{}{early}]", format!("{late},").repeat(5000)),
    )
    .unwrap();
    assert_eq!(said(&convert(&input, &output, &[])), (0, String::new()));
    let mut info = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
    let info = info.args(["info", "--json"]).arg(&output).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(
        (&info["start_ns"], &info["end_ns"]),
        (&(-1_700_000_000_500_i64).into(), &5000.into())
    );
    // A base that is told is taken.
    let (code, text) = said(&convert(
        &input,
        &output,
        &["--overwrite", "--config", "base=0"],
    ));
    assert_eq!(code, 1);
    assert!(text.contains("time base 0"), "{text}");
}

#[test]
fn what_a_backend_refuses_is_left_out_and_told() {
    let scratch = Scratch::new("convert-refused");
    let (input, output) = (scratch.path("in.json"), scratch.path("out.pftrace"));
    let info = || {
        let mut info = Command::new(env!("CARGO_BIN_EXE_nvtxw"));
        let info = info.args(["info", "--json"]).arg(&output).output().unwrap();
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        let counts = &info["counts"];
        ["ranges", "marks", "samples"].map(|kind| counts[kind].as_u64().unwrap())
    };
    let first = r#"{"ph":"X","name":"first","tid":1,"ts":-9223372036854775,"dur":1}"#;
    let far = r#"{"ph":"X","name":"far","tid":1,"ts":1,"dur":1}"#;
    fs::write(
        &input,
        format!(r#"[{far},{first},{{"ph":"i","tid":2,"ts":-5}}]"#),
    )
    .unwrap();
    let (code, text) = said(&convert(&input, &output, &[]));
    let told = format!(
        "error: {}: an event is left out: can't write ",
        input.display()
    );
    assert!(code == 1 && text.starts_with(&told), "{text}");
    assert!(text.contains("timestamp 1000 doesn't fit"), "{text}");
    assert_eq!(info(), [1, 1, 0]);

    // Of a file that is cut, that is told too.
    let sample = r#"{"ph":"C","name":"c","ts":1,"args":{"a":1}}"#;
    let mark = r#"{"ph":"i","tid":2,"ts":1}"#;
    fs::write(&input, format!("[{far},{first},{sample},{mark},{{\"ph\"")).unwrap();
    let (code, text) = said(&convert(&input, &output, &["--overwrite"]));
    let [cut, told] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{text}");
    };
    assert!(cut.contains("the file ends inside an event; "), "{text}");
    let left_out = ": 3 events are left out, the first for this: can't write ";
    assert!(code == 1 && told.contains(left_out), "{text}");
    assert_eq!(info(), [1, 0, 0]);
}

#[test]
fn gzip_and_zstd_are_known_by_their_first_bytes() {
    let json = format!("[{}]", vec![EVENT; 12_000].join(","));
    // Two members, and two frames with something to skip between them.
    let (first, second) = json.as_bytes().split_at(json.len() / 3);
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let gzipped = [gzip(first), gzip(second)].concat();
    let frame = |bytes: &[u8]| {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let zstd = [frame(first), skipped, frame(second)].concat();
    for input in [&gzipped, &zstd] {
        let (code, text, lines) = of(input, &[]);
        assert_eq!((code, text, lines.len()), (0, String::new(), 12_000));
    }
    for (input, name) in [(gzipped, "gzip"), (zstd, "zstd")] {
        let (code, text, lines) = of(&input[..input.len() - 9], &[]);
        assert!(
            text.starts_with("error: -: reading on failed (")
                && text.ends_with("); what stands before is converted\n"),
            "{name}: {text}"
        );
        assert_eq!(code, 1, "{name}");
        assert!(lines.len() > 3_000, "{name}: what stands before is lost");
    }
}

#[test]
fn bad_utf8_is_replaced_and_told() {
    let (code, text, lines) = of(
        b"[{\"ph\":\"X\",\"name\":\"a\xFFb\",\"pid\":1,\"tid\":2,\"ts\":1}]",
        &[],
    );
    assert_eq!(code, 0);
    assert_eq!(
        text,
        "warning: bytes that are not UTF-8 are U+FFFD in the trace (line 1, byte 21)\n"
    );
    assert!(lines[0].contains("\"name\":\"a\u{FFFD}b\""), "{lines:?}");
}

#[test]
fn settings_reach_the_backend() {
    let (code, text, _) = of(b"[]", &["--config", "window"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "error: `--config window` has no `=`: give a key and a value, such as `--config compression=zlib`\n"
    );
    let (code, text, _) = of(b"[]", &["--config", "path=other.json"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "error: `--config path=other.json` says where the file goes, as `--output` does: leave it out\n"
    );
    let (code, text, _) = of(b"[]", &["--config", "compresion=zlib"]);
    assert_eq!(code, 2);
    assert_eq!(
        text,
        "error: the built-in backend has no config key `compresion`; it has `path`, `overwrite`, `format`, `base`, `compression`, \
         `window`, `memory`, `flush_interval`, `row_group`, `part`, `merge`, `field_units`, `metadata.NAME`\n"
    );
    let (code, text, _) = of(b"[]", &["--config", "window=many"]);
    assert_eq!(code, 2);
    assert!(text.contains("window"), "{text}");
    let (code, text, _) = of(b"[]", &["--config", "window=16"]);
    assert_eq!((code, text), (0, String::new()));
}

#[test]
fn files_for_perfetto_are_compressed_unless_told_otherwise() {
    let scratch = Scratch::new("convert-compression");
    let input = scratch.path("in.json");
    fs::write(&input, format!("[{}]", [EVENT; 3000].join(","))).unwrap();
    let size = |name: &str, options: &[&str]| {
        let output = scratch.path(name);
        assert_eq!(said(&convert(&input, &output, options)), (0, String::new()));
        fs::metadata(output).unwrap().len()
    };
    let small = size("small.pftrace", &[]);
    let large = size("large.perfetto-trace", &["--compression", "none"]);
    assert!(small * 3 < large, "{small} {large}");
    assert_eq!(
        size("config.pftrace", &["--config", "compression=none"]),
        large
    );
    assert!(size("fast.pftrace", &["--compression", "zlib:1"]) < large);
    size("out.json", &[]);
    let (code, text) = said(&convert(
        &input,
        &scratch.path("no.json"),
        &["--compression", "zlib"],
    ));
    assert!(
        code == 2 && text.contains("config key `compression`"),
        "{text}"
    );
}

#[test]
fn times_of_chrome_json_count_from_the_first_one_where_doubles_would_round() {
    let event = EVENT.replace("\"ts\":1", "\"ts\":1712195495519689.047");
    let (code, _, lines) = of(format!("[{event}]").as_bytes(), &[]);
    assert_eq!(code, 0);
    assert_eq!(lines, [SHOWN.replace("\"ts\":1.0", "\"ts\":0.0")]);
    let (_, _, lines) = of(b"[]", &[]);
    assert_eq!(lines, [""; 0]);
}

#[test]
fn the_extension_of_the_output_names_a_format() {
    let scratch = Scratch::new("convert-extension");
    let input = scratch.path("in.json");
    fs::write(&input, format!("[{EVENT}]")).unwrap();
    for name in ["out.pb", "out", "out.json.gz"] {
        let output = scratch.path(name);
        let error = format!(
            "error: {} has none of the extensions that stand for a format (`.pftrace`, `.perfetto-trace`, `.json`, `.nvtxw`, \
             `.parquet`): add `--format`, such as `--format perfetto`\n",
            output.display()
        );
        assert_eq!(said(&convert(&input, &output, &[])), (2, error));
        assert!(!output.exists());
        let done = convert(&input, &output, &["--format", "perfetto"]);
        assert_eq!(said(&done), (0, String::new()));
    }
    #[cfg(not(feature = "parquet"))]
    {
        let output = scratch.path("out.parquet");
        let error = format!(
            "error: {} would be a Parquet dataset, which this build can't write: build the command with `--features parquet`, or \
             name another OUT\n",
            output.display()
        );
        assert_eq!(said(&convert(&input, &output, &[])), (2, error));
        assert!(!output.exists());
    }
}

#[test]
fn a_folder_can_not_go_to_standard_output() {
    let mut command = command();
    command.args(["-", "-o", "-", "--config", "format=parquet"]);
    let scratch = Scratch::new("convert-folder");
    fs::write(scratch.path("in.json"), format!("[{EVENT}]")).unwrap();
    command.stdin(fs::File::open(scratch.path("in.json")).unwrap());
    let error = "error: a Parquet dataset is a folder, which can't go to standard output: name a folder as OUT\n";
    assert_eq!(said(&command.output().unwrap()), (2, error.to_owned()));
}

#[test]
fn who_closes_the_pipe_is_told_nothing() {
    let mut child = command()
        .args(["-", "-o", "-", "--format", "chrome"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let events = format!("[{}]", vec![EVENT; 20_000].join(","));
    let mut pipe = child.stdout.take().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(events.as_bytes())
        .unwrap();
    pipe.read_exact(&mut [0; 10]).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(said(&output), (0, String::new()));
}

#[test]
fn a_capture_is_a_trace_like_others() {
    let scratch = Scratch::new("capture");
    let path = |name: &str| scratch.path(name);
    let trace = format!(
        "[{EVENT},{{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":3,\"ts\":4,\"args\":{{\"x\":[1,\"y\"]}}}},\
         {{\"ph\":\"E\",\"pid\":1,\"tid\":3,\"ts\":9}},{{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":2,\"args\":{{\"v\":7}}}}]"
    );
    fs::write(path("in.json"), trace).unwrap();
    for (from, to) in [
        ("in.json", "direct.json"),
        ("in.json", "run.nvtxw"),
        ("run.nvtxw", "replayed.json"),
        ("run.nvtxw", "again.nvtxw"),
        ("again.nvtxw", "again.json"),
    ] {
        let output = convert(&path(from), &path(to), &[]);
        assert_eq!(said(&output), (0, String::new()), "{from} to {to}");
        assert!(output.stdout.is_empty());
    }
    assert!(read(&scratch, "run.nvtxw").starts_with(b"NVTXWCAP"));
    let sorted = |name: &str| {
        let mut lines = shown(&read(&scratch, name));
        lines.sort();
        lines
    };
    let direct = sorted("direct.json");
    assert_eq!(direct.len(), 3);
    assert_eq!(sorted("replayed.json"), direct);
    assert_eq!(sorted("again.json"), direct);

    // Cut, it is converted up to there.
    let bytes = read(&scratch, "run.nvtxw");
    fs::write(path("cut.nvtxw"), &bytes[..bytes.len() - 4]).unwrap();
    let (code, text) = said(&convert(&path("cut.nvtxw"), &path("cut.json"), &[]));
    assert_eq!(code, 1);
    assert!(
        text.contains("the capture is cut: the record at byte"),
        "{text}"
    );
    assert_eq!(sorted("cut.json"), direct);
}

/// A shell that runs the command in a loop must see that it ended by the signal.
#[cfg(unix)]
#[test]
fn what_is_interrupted_says_so_and_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;

    let scratch = Scratch::new("convert-interrupted");
    let input = scratch.path("in.json");
    // More than a pipe holds.
    fs::write(&input, format!("[{}]", [EVENT; 4000].join(","))).unwrap();
    let folder = scratch.path("temporary");
    fs::create_dir(&folder).unwrap();
    for is_terminal_gone in [false, true] {
        let mut child = command()
            .arg(&input)
            .args(["-o", "-", "--format", "chrome"])
            .env("TMPDIR", &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Copying has begun, and can't end.
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        if is_terminal_gone {
            drop(child.stderr.take());
        }
        let id = child.id().to_string();
        // Whoever runs the tests may have them ignore the signal of Ctrl-C.
        let killed = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(15));
        let want = match is_terminal_gone {
            true => "",
            false => "error: interrupted: standard output did not get the whole trace\n",
        };
        assert_eq!(String::from_utf8(output.stderr).unwrap(), want);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
