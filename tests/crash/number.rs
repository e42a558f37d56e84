//! Sessions whose config has no `path`: their files are named by the sessions, and numbered.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nvtxw::{Backend, Config, Session, StreamOptions};

use crate::child::run;
use crate::reader::Trace;
use crate::replay::TempDir;

/// Values of the config key `format`, and the extensions of the files.
const FORMATS: &[(&str, &str)] = &[
    ("perfetto", "pftrace"),
    ("chrome", "json"),
    ("capture", "nvtxw"),
    #[cfg(feature = "parquet")]
    ("parquet", "parquet"),
];

/// Writes sessions of each format in the folder, all of one format at the same time.
pub fn write_sessions(folder: &Path, sessions: &[(&str, &str)]) {
    std::env::set_current_dir(folder).unwrap();
    for (format, _) in FORMATS {
        let begun = sessions.iter().map(|(name, config)| {
            let config = Config::raw(&format!("format={format}|window=2|{config}")).unwrap();
            let mut session = Session::begin(&Backend::embedded(), name, &config).unwrap();
            let domain = session.domain("sim").unwrap().id();
            let stream = session
                .open_stream("stream", StreamOptions::new(domain))
                .unwrap();
            (session, stream)
        });
        let mut begun: Vec<_> = begun.collect();
        for (session, stream) in &mut begun {
            let out = session.writer(stream).unwrap();
            // The last one is late, so that the session's end replaces the file.
            for time in [10, 20, 30, 40, 5] {
                out.mark(time).message("tick").write().unwrap();
            }
        }
        for (session, stream) in begun {
            drop(stream);
            session.end().unwrap();
        }
    }
}

pub fn write_odd_names(folder: &Path) {
    let names = ["a\\b", ".", "a.b", "new\nline"];
    write_sessions(folder, &names.map(|name| (name, "")));
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Checks that the file or folder holds the events of exactly one session.
fn check(path: &Path) {
    match path.extension().unwrap().to_str().unwrap() {
        "pftrace" | "json" => assert_eq!(Trace::read(path).instants.len(), 5, "{}", path.display()),
        "nvtxw" => {
            let file = fs::File::open(path).unwrap();
            let mut reader = nvtxw_file::capture::Reader::new(file).unwrap();
            let is_write = |record: &nvtxw_file::capture::Record<'_>| {
                matches!(record, nvtxw_file::capture::Record::Write { .. })
            };
            let mut writes = 0;
            while let Some(found) = reader.next(|record| is_write(record)).unwrap() {
                writes += usize::from(found);
            }
            assert_eq!(writes, 5);
        }
        #[cfg(feature = "parquet")]
        "parquet" => assert_eq!(crate::dataset::read(path.join("events")).rows.len(), 5),
        other => panic!("{other}"),
    }
}

#[test]
fn sessions_of_one_name_in_two_processes_get_files_of_their_own() {
    let dir = TempDir::new();
    let log: Vec<_> = std::thread::scope(|scope| {
        let start = || {
            scope.spawn(|| {
                run(
                    "sessions of one name",
                    dir.path(),
                    &["env", "-u", "NVTXW_LOG"],
                )
            })
        };
        let children = [start(), start()];
        children.map(|child| child.join().unwrap().unwrap()).into()
    });
    let mut want = BTreeSet::new();
    for (_, extension) in FORMATS {
        want.insert(format!("run.{extension}"));
        want.extend((2..=4).map(|number| format!("run.{number}.{extension}")));
    }
    assert_eq!(names(dir.path()), want);
    for name in &want {
        check(&dir.path().join(name));
    }
    // Each number is named once.
    let mut lines: Vec<_> = log.iter().flat_map(|log| log.lines()).collect();
    lines.sort_unstable();
    let mut want: Vec<_> = (FORMATS.iter())
        .flat_map(|(_, extension)| {
            (2..=4).map(move |number| {
                format!(
                    "nvtxw: SessionBegin on \"run\": run.{extension} exists: this session writes run.{number}.{extension}; \
                     the config keys `path` and `overwrite` choose otherwise"
                )
            })
        })
        .collect();
    want.sort_unstable();
    assert_eq!(lines, want);
    // The child's environment silences the log.
    let log = run("sessions of one name", dir.path(), &[]).unwrap();
    assert_eq!(log, "");
    assert_eq!(names(dir.path()).len(), 6 * FORMATS.len());
}

#[test]
fn session_names_that_look_like_paths_name_files() {
    let dir = TempDir::new();
    run("odd names", dir.path(), &[]).unwrap();
    let mut want = BTreeSet::new();
    for (_, extension) in FORMATS {
        for name in ["a\\b", ".", "a.b", "new\nline"] {
            want.insert(format!("{name}.{extension}"));
        }
    }
    assert_eq!(names(dir.path()), want);
    for name in &want {
        check(&dir.path().join(name));
    }
}
