use nvtxw_abi::ResultCode;

use crate::reader::{Arg, Trace, text};
use crate::replay::TempDir;
use crate::table::{Plain, Session, words};
use crate::{Run, Writer};

fn refusal(name: &str, config: &str) -> (ResultCode, String) {
    match Session::begin(name, config) {
        Ok(_) => panic!("{config} is taken"),
        Err(failure) => (failure.code, failure.reason),
    }
}

#[test]
fn an_existing_file_is_not_overwritten_unless_asked() {
    let dir = TempDir::new();
    let path = dir.path().join("old.pftrace");
    std::fs::write(&path, "precious").unwrap();
    let config = format!("path={}", path.display());
    assert_eq!(
        refusal("x", &config),
        (
            ResultCode::FAILED,
            format!(
                "{} exists: remove it, or set `overwrite=true` to replace it",
                path.display()
            )
        )
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let session = Session::begin("x", &format!("{config}|overwrite=true")).unwrap();
    session.end().unwrap();
    let trace = Trace::read(&path);
    assert_eq!(trace.attributes["nvtxw.session"], text("x"));
    assert_eq!(
        trace.attributes["nvtxw.producer"],
        text(concat!("nvtxw-file ", env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(trace.attributes["nvtxw.time_base"], Arg::Int(0));
}

#[cfg(unix)]
#[test]
fn a_path_is_taken_byte_by_byte() {
    use std::ffi::{CString, OsStr};
    use std::os::unix::ffi::OsStrExt;

    let mut formats = vec!["perfetto", "chrome", "capture"];
    if cfg!(feature = "parquet") {
        formats.push("parquet");
    }
    for format in formats {
        let dir = TempDir::new();
        let name = OsStr::from_bytes(b"\xE9t\xE9 \xFF");
        let path = dir.path().join(name);
        let config = [b"# \xE9\n path = ", path.as_os_str().as_bytes(), b" | "].concat();
        let config = CString::new([&config[..], format.as_bytes()].join(&b"format="[..])).unwrap();
        let begin = || Session::begin_with("x", &config);
        let session = begin().unwrap();
        let domain = session.domain("");
        let plain = Plain::new(domain);
        let mut stream = session.stream("main", domain, 0);
        let payload = words(&[1, domain.string("tick") as i64]);
        stream.event(&[(plain.mark, &payload)]).unwrap();
        session.end().unwrap();
        let names = std::fs::read_dir(dir.path()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [name]);
        let told = begin().map(drop).unwrap_err().reason;
        assert!(told.contains("/\u{FFFD}t\u{FFFD} \u{FFFD}"), "{told}");
        assert!(told.contains(" exists: "), "{told}");
    }
}

#[test]
fn bad_config_is_named() {
    let (code, reason) = refusal("x", "overwrite=perhaps");
    assert_eq!(code, ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        reason,
        "config key `overwrite` has the value `perhaps`; accepted: true, false, 1, 0, yes, no"
    );
    let (code, reason) = refusal("../x", "");
    assert_eq!(code, ResultCode::INVALID_ARGUMENT);
    assert_eq!(
        reason,
        "the session's name `../x` has a path separator, so it can't name the file: set the \
         config key `path`"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn too_long_session_name_is_rejected_with_its_length() {
    let mut formats = vec!["perfetto", "chrome", "capture"];
    if cfg!(feature = "parquet") {
        formats.push("parquet");
    }
    for format in formats {
        for overwrite in ["", "|overwrite=true"] {
            let config = format!("format={format}{overwrite}");
            let (code, reason) = refusal(&"a".repeat(300), &config);
            assert_eq!(code, ResultCode::INVALID_ARGUMENT);
            assert_eq!(
                reason,
                "the session's name has 300 bytes, too many to name the file (File name too long (os error 36)): \
                 set the config key `path`"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_when_the_session_begins() {
    let (code, reason) = refusal("x", "path=/dev/full|overwrite=true");
    assert_eq!(code, ResultCode::FAILED);
    assert!(
        reason.starts_with("writing /dev/full: No space left on device"),
        "{reason}"
    );
}

/// A session that writes to a pipe, and what reads from that.
#[cfg(unix)]
pub(crate) fn piped(dir: &TempDir, config: &str) -> (Session, std::fs::File) {
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()));
    let config = format!("path={}|overwrite=true|{config}", path.display());
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| std::fs::File::open(&path).unwrap());
        let session = Session::begin("x", &config).unwrap();
        (session, reader.join().unwrap())
    })
}

/// A session that writes to a pipe whose reader has gone away, as if the disk was full from there on, and the error
/// that its writes meet.
#[cfg(unix)]
pub(crate) fn broken(dir: &TempDir, config: &str) -> (Session, String) {
    use std::io::Read;

    let (session, mut reader) = piped(dir, config);
    reader.read_exact(&mut [0; 10]).unwrap();
    let error = format!(
        "writing {}: Broken pipe (os error 32); later events are dropped, the file keeps what \
         came before",
        dir.path().join("pipe").display()
    );
    (session, error)
}

#[cfg(unix)]
#[test]
fn an_error_while_writing_is_told_by_the_write_and_by_the_end() {
    let dir = TempDir::new();
    let (session, want) = broken(&dir, "window=100");
    let domain = session.domain("");
    let plain = Plain::new(domain);
    let mut stream = session.stream("main", domain, 0);
    let name = domain.string("tick") as i64;
    let mut failures = 0;
    for time in 0..1000 {
        if let Err(failure) = stream.event(&[(plain.mark, &words(&[time, name]))]) {
            assert_eq!(failure.code, ResultCode::FAILED);
            assert_eq!(failure.reason, want);
            failures += 1;
        }
    }
    assert_eq!(failures, (1000 - 100) / 50 + 1);
    let want = format!("{want}; 1000 events were dropped");
    let failure = stream.close().unwrap_err();
    assert_eq!(failure.reason, want);
    let failure = session.end().unwrap_err();
    assert_eq!(failure.code, ResultCode::FAILED);
    assert_eq!(failure.reason, want);
}

/// What an error cost is told too where other streams might have ended a range.
#[cfg(unix)]
#[test]
fn an_error_is_told_when_a_stream_is_closed_whose_ranges_are_open() {
    for config in ["", "format=chrome", "flush_interval=86400000"] {
        let dir = TempDir::new();
        let (session, want) = broken(&dir, config);
        let domain = session.domain("");
        let plain = Plain::new(domain);
        let mut stream = session.stream("main", domain, 0);
        let name = domain.string("tick") as i64;
        (stream.event(&[(plain.start, &words(&[0, 7, name]))])).unwrap();
        for time in 0..10 {
            (stream.event(&[(plain.mark, &words(&[time, name]))])).unwrap();
        }
        let want = format!("{want}; 11 events were dropped");
        let failure = stream.close().unwrap_err();
        assert_eq!(failure.reason, want, "{config}");
        let failure = session.end().unwrap_err();
        assert_eq!(failure.code, ResultCode::FAILED);
        assert_eq!(failure.reason, want, "{config}");
    }
}

/// The end of a session tells what an error cost all of its streams, whoever closes them.
#[cfg(unix)]
#[test]
fn the_end_tells_what_an_error_cost_all_streams() {
    for config in ["", "format=chrome", "flush_interval=86400000"] {
        let dir = TempDir::new();
        let (session, want) = broken(&dir, config);
        let domain = session.domain("");
        let plain = Plain::new(domain);
        let name = domain.string("tick") as i64;
        let mut streams =
            ["closed", "left", "left with a range"].map(|stream| session.stream(stream, domain, 0));
        for stream in &mut streams {
            for time in 0..10 {
                (stream.event(&[(plain.mark, &words(&[time, name]))])).unwrap();
            }
        }
        let [closed, _, mut open] = streams;
        (open.event(&[(plain.start, &words(&[0, 7, name]))])).unwrap();
        let failure = closed.close().unwrap_err();
        assert_eq!(failure.reason, format!("{want}; 10 events were dropped"));
        let failure = session.end().unwrap_err();
        assert_eq!(failure.code, ResultCode::FAILED);
        assert_eq!(
            failure.reason,
            format!("{want}; 31 events were dropped"),
            "{config}"
        );
    }
}

#[test]
fn what_was_flushed_can_be_read_without_an_end() {
    let run = Run::with("window=10");
    let mut out = Writer::new(&run);
    out.push(0, "open").unwrap();
    for step in 0..1000 {
        out.pushpop(step, step + 1, &format!("step {step}"))
            .unwrap();
    }
    let trace = Trace::read(&run.path);
    assert!(trace.ranges.len() > 985, "{}", trace.ranges.len());
    assert_eq!(trace.range("open").end, None);
    for range in &trace.ranges[1..] {
        assert_eq!(range.name, format!("step {}", range.start));
        assert_eq!(range.end, Some(range.start + 1));
    }
    let trace = run.read();
    assert_eq!(trace.ranges.len(), 1001);
}

/// The test is a process of its own here, as the limit holds for all of its files.
#[cfg(target_os = "linux")]
#[test]
fn what_a_write_that_was_cut_short_left_in_the_file_is_not_lost() {
    use std::process::Command;
    use std::{env, fs};

    const SELF: &str = "faults::what_a_write_that_was_cut_short_left_in_the_file_is_not_lost";
    const PATH: &str = "NVTXW_FILE_TEST_CUT";
    const CONFIG: &str = "NVTXW_FILE_TEST_CUT_CONFIG";
    /// Of each of two streams.
    const EVENTS: u64 = 5_000;
    let write = |path: &std::path::Path, config: &str| {
        let config = format!("path={}|{config}", path.display());
        let session = Session::begin("x", &config).unwrap();
        let domain = session.domain("");
        let plain = Plain::new(domain);
        let entry_type = nvtxw_abi::EntryType::Int64.to_raw();
        let counter = domain.counter("load", entry_type, 0, None);
        let name = domain.string("tick") as i64;
        let mut streams = ["one", "two"].map(|name| session.stream(name, domain, 0));
        for step in 0..EVENTS as i64 / 4 {
            for stream in &mut streams {
                let at = step * 10;
                let _ = stream.event(&[(plain.mark, &words(&[at, name]))]);
                let _ = stream.event(&[(plain.pushpop, &words(&[at + 1, at + 3, name]))]);
                let _ = stream.event(&[(plain.startend, &words(&[at + 2, at + 9, name]))]);
                let _ = stream.sample(at, counter, &step.to_ne_bytes());
            }
        }
        session.end()
    };
    if let Some(path) = env::var_os(PATH) {
        let failure = write(path.as_ref(), &env::var(CONFIG).unwrap()).unwrap_err();
        println!("{}", failure.reason);
        return;
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: prlimit is not here");
        return;
    }
    for config in [
        "window=64",
        "",
        "compression=zlib:1",
        "format=chrome|window=64",
        "format=chrome",
    ] {
        let dir = TempDir::new();
        let path = dir.path().join("whole");
        write(&path, config).unwrap();
        let size = fs::metadata(&path).unwrap().len();
        for part in 1..4 {
            let path = dir.path().join(format!("cut {part}"));
            let limit = size * part / 4 + 3 * part;
            let child = Command::new("sh")
                .args(["-c", r#"trap "" XFSZ; exec prlimit --fsize="$0" "$@""#])
                .arg(limit.to_string())
                .arg(env::current_exe().unwrap())
                .args(["--exact", SELF, "--nocapture"])
                .env(PATH, &path)
                .env(CONFIG, config)
                .output()
                .unwrap();
            assert!(child.status.success(), "{child:?}");
            let said = String::from_utf8(child.stdout).unwrap();
            let (said, _) = said.split_once(" events were dropped").expect(&said);
            let lost: u64 = said.rsplit_once(' ').unwrap().1.parse().unwrap();
            let (trace, _) = Trace::read_cut(&path);
            let kept = trace.ranges.len() + trace.instants.len() + trace.values.len();
            assert_eq!(
                kept as u64 + lost,
                2 * EVENTS,
                "{config}: {limit} of {size}"
            );
            if config != "compression=zlib:1" {
                assert!(kept as u64 > EVENTS / 4 * part, "{config}: {kept}");
            }
        }
    }
}
