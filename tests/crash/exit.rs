//! Programs that end without ending their session, that fork, and that panic.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nvtxw::{Error, Session};

use crate::child::{Running, run};
use crate::format::{ALL, Format};
use crate::load::{KINDS, Load, found, gapless};
use crate::posix::fork_and_wait;
use crate::replay::TempDir;

/// Events of a stream that wait in memory at most.
const WINDOW: u64 = 64;
/// Events that are written at a time.
const COUNT: u64 = 1008;

fn begin(path: &Path, flush_interval: &str) -> Load {
    let window = WINDOW.to_string();
    let config = [("window", &*window), ("flush_interval", flush_interval)];
    Load::begin(path, &config).unwrap()
}

impl Load {
    fn write(&mut self, count: u64) {
        for stream in &mut self.streams {
            stream.write(&self.session, count).unwrap();
        }
    }
}

/// Whether the file has all of so many events of each stream, but for those that may be missing.
fn check(path: &Path, count: u64, missing: u64) {
    let (trace, _) = Format::of(path).read_cut(path);
    for kind in KINDS {
        let held = gapless(&found(&trace, kind), kind);
        assert!(
            (count - missing..=count).contains(&held),
            "{kind:?}: {held} of {count}"
        );
    }
}

fn plans(plans: [&str; 2]) -> impl Iterator<Item = (&str, Format)> {
    let all = plans.into_iter();
    all.flat_map(|plan| ALL.iter().map(move |format| (plan, *format)))
}

/// Leaves without a word about the session.
pub fn leave(path: &Path, how: &str) {
    let mut load = begin(path, "0");
    load.write(COUNT);
    match how {
        "exit" => std::process::exit(0),
        "return" => forget(load),
        _ => std::process::abort(),
    }
}

/// Leaves while threads write.
pub fn leave_beside_writers(path: &Path) {
    let Load { session, streams } = begin(path, "0");
    let session: &Session = Box::leak(Box::new(session));
    let (writing, is_writing) = mpsc::channel();
    for mut stream in streams {
        let writing = writing.clone();
        std::thread::spawn(move || {
            stream.write(session, COUNT).unwrap();
            writing.send(()).unwrap();
            // Until the exit has ended the session.
            while stream.write(session, 16).is_ok() {}
        });
    }
    for _ in KINDS {
        is_writing.recv().unwrap();
    }
    std::process::exit(0);
}

/// Leaves, after a forked child has.
pub fn leave_after_a_child(path: &Path) {
    let mut load = begin(path, "0");
    load.write(COUNT);
    assert_eq!(fork_and_wait(|| ()), 0);
    load.write(COUNT);
    forget(load);
}

#[test]
fn what_was_flushed_is_there_after_an_abort() {
    for format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let ended = Running::start("abort", &path, |_| {}).wait();
        assert!(!ended.status.success(), "{}", ended.status);
        check(&path, COUNT, format.waiting(WINDOW));
    }
}

#[test]
fn an_exit_ends_the_session() {
    let counts = [
        ("exit", COUNT),
        ("return", COUNT),
        ("return after a child", 2 * COUNT),
    ];
    for (plan, count) in counts {
        for format in ALL {
            let dir = TempDir::new();
            let path = format.path(dir.path());
            run(plan, &path, &[]).unwrap();
            let trace = format.read(&path);
            for kind in KINDS {
                assert_eq!(
                    gapless(&found(&trace, kind), kind),
                    count,
                    "{plan}: {kind:?}"
                );
            }
        }
    }
}

#[test]
fn an_exit_beside_writers_leaves_a_whole_file() {
    for format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        run("exit beside writers", &path, &[]).unwrap();
        let trace = format.read(&path);
        for kind in KINDS {
            let held = gapless(&found(&trace, kind), kind);
            assert!(held >= COUNT, "{kind:?}: {held}");
        }
    }
}

/// Forks children that go on with the session.
pub fn fork(path: &Path, flush_interval: &str) {
    let mut load = begin(path, flush_interval);
    load.write(COUNT);
    let status = fork_and_wait(|| {
        let want = "this process was forked from the one that began the session, which alone may write; begin a \
                    session of its own here";
        for stream in &mut load.streams {
            let error = stream.write(&load.session, COUNT).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    });
    assert_eq!(status, 0);
    load.write(COUNT);
    let mut load = Some(load);
    let status = fork_and_wait(|| {
        let ended = load.take().unwrap().session.end();
        assert!(matches!(ended, Err(Error::Forked { .. })), "{ended:?}");
    });
    assert_eq!(status, 0);
    assert_eq!(fork_and_wait(|| drop(load.take())), 0);
    assert_eq!(fork_and_wait(|| ()), 0);
    load.take().unwrap().session.end().unwrap();
    check(path, 2 * COUNT, 0);
}

/// Forks a child that lives on when the session has ended: the path is free for the next one.
pub fn fork_and_begin_again(path: &Path, flush_interval: &str) {
    let mut load = begin(path, flush_interval);
    load.write(COUNT);
    let folder = path.parent().unwrap();
    let [born, over] = ["born", "over"].map(|name| folder.join(name));
    let wait_for = |file: &Path| {
        let start = Instant::now();
        while !file.exists() && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let status = fork_and_wait(|| {
                std::fs::write(&born, "").unwrap();
                wait_for(&over);
            });
            assert_eq!(status, 0);
        });
        wait_for(&born);
        load.session.end().unwrap();
        let again = Load::begin(path, &[("overwrite", "true")]);
        std::fs::write(&over, "").unwrap();
        let mut again = again.unwrap();
        again.write(COUNT);
        again.session.end().unwrap();
    });
    check(path, COUNT, 0);
}

/// Forks children while other threads write, so that these may hold any lock. Each child writes, and exits.
pub fn fork_beside_writers(path: &Path) {
    let Load {
        session,
        mut streams,
    } = begin(path, "1");
    let mut own = streams.pop().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for stream in &mut streams {
            let (session, done) = (&session, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    stream.write(session, 16).unwrap();
                }
            });
        }
        for _ in 0..16 {
            own.write(&session, 16).unwrap();
            let status = fork_and_wait(|| {
                own.write(&session, COUNT).unwrap_err();
            });
            assert_eq!(status, 0);
        }
        done.store(true, Ordering::Relaxed);
    });
    session.end().unwrap();
    let (trace, _) = Format::of(path).read_cut(path);
    for stream in streams.iter().chain([&own]) {
        let held = gapless(&found(&trace, stream.kind), stream.kind);
        assert_eq!(held, stream.next, "{:?}", stream.kind);
    }
}

#[test]
fn a_child_that_is_forked_while_others_write_waits_for_nobody() {
    for format in ALL {
        let dir = TempDir::new();
        run("fork, beside writers", &format.path(dir.path()), &[]).unwrap();
    }
}

#[test]
fn a_forked_child_writes_nothing() {
    for (plan, format) in plans(["fork", "fork, flushed"]) {
        let dir = TempDir::new();
        run(plan, &format.path(dir.path()), &[]).unwrap();
    }
}

#[test]
fn a_child_that_lives_on_is_not_in_the_way_of_the_next_session() {
    for (plan, format) in plans(["fork, again", "fork, flushed, again"]) {
        let dir = TempDir::new();
        run(plan, &format.path(dir.path()), &[]).unwrap();
    }
}

#[test]
fn a_panic_of_one_writer_loses_nothing() {
    for format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let Load {
            session,
            mut streams,
        } = begin(&path, "0");
        for stream in &mut streams {
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    stream.write(&session, COUNT).unwrap();
                    resume_unwind(Box::new("a panic"));
                });
                writer.join().unwrap_err();
            });
        }
        session.end().unwrap();
        check(&path, COUNT, 0);
    }
}

#[test]
fn a_panic_of_the_session_s_owner_ends_it() {
    for format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut load = begin(&path, "0");
            load.write(COUNT);
            resume_unwind(Box::new("a panic"));
        }));
        panicked.unwrap_err();
        check(&path, COUNT, 0);
    }
}
