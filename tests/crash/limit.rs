//! Processes that may hold few open files.

use std::fs::File;
use std::path::Path;

use nvtxw::{Backend, Config, Session, StreamOptions};

use crate::child::run;
use crate::reader::Trace;
use crate::replay::TempDir;

/// Runs a program that may hold 32 open files.
const LIMITED: &[&str] = &["sh", "-c", "ulimit -n 32; exec \"$0\" \"$@\""];

const REMEDY: &str = "Too many open files (os error 24); the process may hold 32 open files (`ulimit -n`): raise the limit, or \
                      keep fewer files open";

fn begin(path: &Path, config: &str) -> nvtxw::Result<Session> {
    let config = Config::raw(&format!("path={}|{config}", path.display()))?;
    Session::begin(&Backend::embedded(), "run", &config)
}

/// Takes all file handles that are left but for so many.
fn take_handles(left: usize) -> Vec<File> {
    let mut files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    files.truncate(files.len() - left);
    files
}

pub fn begin_many_sessions(folder: &Path) {
    for format in ["perfetto", "chrome", "capture"] {
        let mut sessions = Vec::new();
        let error = loop {
            let path = folder.join(format!("{format}-{}", sessions.len()));
            match begin(&path, &format!("format={format}")) {
                Ok(session) => sessions.push(session),
                Err(error) => break (path, error.to_string()),
            }
        };
        let (path, error) = error;
        assert!(
            error.ends_with(&format!("can't create {}: {REMEDY}", path.display())),
            "{error}"
        );
        assert!(sessions.len() > 10);
        for session in sessions {
            session.end().unwrap();
        }
    }
}

pub fn end_without_handles(folder: &Path) {
    for (format, left) in [
        ("perfetto", 0),
        ("perfetto", 1),
        ("chrome", 0),
        ("chrome", 1),
    ] {
        let path = folder.join(format!("{format}-{left}"));
        let mut session = begin(&path, &format!("window=2|format={format}")).unwrap();
        let domain = session.domain("sim").unwrap().id();
        let mut stream = session
            .open_stream("stream", StreamOptions::new(domain))
            .unwrap();
        let out = session.writer(&mut stream).unwrap();
        for time in [10, 20, 30, 40, 5] {
            out.push(time).message("late").write().unwrap();
            out.pop(time + 3).unwrap();
        }
        let handles = take_handles(left);
        let error = session.end().unwrap_err().to_string();
        drop(handles);
        assert!(error.contains(REMEDY), "{error}");
        assert_eq!(Trace::read(&path).ranges.len(), 5);
    }
}

#[cfg(feature = "parquet")]
pub fn write_more_tables_than_files(folder: &Path) {
    const STREAMS: usize = 40;
    const EVENTS: i64 = 300;
    let path = folder.join("data");
    let mut session = begin(&path, "window=32|format=parquet").unwrap();
    let domain = session.domain("sim").unwrap().id();
    let mut streams: Vec<_> = (0..STREAMS)
        .map(|stream| {
            let options = StreamOptions::new(domain);
            session.open_stream(&format!("{stream}"), options).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for streams in streams.chunks_mut(STREAMS / 2) {
            let session = &session;
            scope.spawn(move || {
                for time in 0..2 * EVENTS {
                    for stream in &mut *streams {
                        let out = session.writer(stream).unwrap();
                        out.mark(time).message("tick").write().unwrap();
                    }
                }
            });
        }
    });
    // Those that the program takes meanwhile are missing too.
    let handles = take_handles(1);
    session.end().unwrap();
    drop(handles);
    assert!(!crate::tables::has_hidden(&path));
    let rows = crate::dataset::read(path.join("events")).rows.len();
    assert_eq!(rows, STREAMS * 2 * EVENTS as usize);
}

#[cfg(feature = "parquet")]
pub fn write_tables_without_handles(folder: &Path) {
    let path = folder.join("data");
    let mut session = begin(&path, "window=32|format=parquet").unwrap();
    let domain = session.domain("sim").unwrap().id();
    let mut stream = session
        .open_stream("stream", StreamOptions::new(domain))
        .unwrap();
    let handles = take_handles(0);
    let out = session.writer(&mut stream).unwrap();
    let error = (0..)
        .find_map(|time| out.mark(time).message("tick").write().err())
        .unwrap();
    let error = error.at(&out).to_string();
    drop(handles);
    let shown = path.display();
    assert!(
        error.contains(&format!(
            "creating {shown}/events/nvtxw_session=run/nvtxw_stream=stream/part-0-0.parquet: {REMEDY}; later events are \
             dropped"
        )),
        "{error}"
    );
    drop(session);
    let handles = take_handles(0);
    let error = begin(&folder.join("more"), "format=parquet")
        .map(drop)
        .unwrap_err();
    drop(handles);
    assert!(error.to_string().contains(REMEDY), "{error}");
    assert!(!folder.join("more").exists());
}

#[test]
fn limit_on_open_files_is_named() {
    let mut plans = vec!["many sessions", "end without file handles"];
    if cfg!(feature = "parquet") {
        plans.push("tables without file handles");
    }
    for plan in plans {
        let dir = TempDir::new();
        run(plan, dir.path(), LIMITED).unwrap();
    }
}

#[cfg(feature = "parquet")]
#[test]
fn few_open_files_are_enough_for_many_tables() {
    let dir = TempDir::new();
    run("more tables than files", dir.path(), LIMITED).unwrap();
}
