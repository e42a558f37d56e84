//! Files that can't be written: what is told, and what is in them.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nvtxw::StreamOptions;

use crate::child::run;
use crate::format::{ALL, FILES, Format};
use crate::load::{KINDS, Load, found, gapless};
use crate::posix::{interrupted, limit_file_size};
use crate::replay::TempDir;

/// How much memory this process has, in KiB.
fn memory() -> u64 {
    memory_of("VmRSS:")
}

/// The same, or the most that it had at any time, `VmHWM:`.
pub fn memory_of(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Writes until the file can't grow, and long after; checks what is told, how much memory it takes, and the file.
pub fn write_beyond_the_end(path: &Path, why: &str) {
    let format = Format::of(path);
    let (begin, end) = (
        // Of a dataset it names the part.
        format!("writing {}", path.display()),
        format!(": {why}; {}", format.keeps()),
    );
    let is_told = |error: &str| error.contains(&begin) && error.ends_with(&end);
    let Load {
        session,
        mut streams,
    } = Load::begin(path, &[("window", "256")]).unwrap();
    let mut write = |rounds: u64| {
        let mut failures = 0;
        for _ in 0..rounds {
            for stream in &mut streams {
                if let Err(error) = stream.write(&session, 160) {
                    assert!(is_told(&error.to_string()), "{error}");
                    failures += 1;
                }
            }
        }
        failures
    };
    let (before, rounds) = match format {
        // A stream remembers 65536 texts at most: after this it does.
        Format::Perfetto | Format::Compressed => (420, 500),
        _ => (100, 100),
    };
    while write(1) == 0 {}
    write(before);
    let settled = memory();
    let failures = write(rounds);
    let grown = memory().saturating_sub(settled);
    // Each call that has to write tells of the error: all of them, or where longer events are in the window not quite.
    let least = match format {
        Format::Perfetto | Format::Compressed => 5 * rounds,
        _ => 4 * rounds,
    };
    assert!(
        (least..=5 * rounds).contains(&failures),
        "{failures} of {rounds} rounds told of the error"
    );
    assert!(grown < 2048, "memory grew by {grown} KiB");

    let trace = format.read(path);
    let mut held = KINDS.map(|kind| gapless(&found(&trace, kind), kind));
    assert!(held.iter().all(|count| *count > 0), "{held:?}");
    // The end tells what it cost all streams.
    let written: u64 = streams.iter().map(|stream| stream.next).sum();
    let before: u64 = held.iter().sum();
    let error = session.end().unwrap_err().to_string();
    let (error, dropped) = error.rsplit_once("; ").unwrap();
    assert!(is_told(error), "{error}");
    let (events, fields) = dropped.split_once(" events were dropped").unwrap();
    let fields = fields.strip_prefix(", and the fields of ").unwrap_or("0");
    let dropped = [events, fields].map(|count| count.parse::<u64>().unwrap());
    let want = match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let typed = streams.iter().filter(|stream| stream.kind.is_typed());
            let typed: u64 = typed.map(|stream| stream.next).sum();
            let [events, rows_of_fields] = crate::tables::count(path);
            [written - events, typed - rows_of_fields]
        }
        _ => [written - before, 0],
    };
    assert_eq!(dropped, want, "{before} of {written} held: {format:?}");
    let trace = format.read(path);
    held = KINDS.map(|kind| gapless(&found(&trace, kind), kind));
    assert_eq!(held.iter().sum::<u64>(), before);
    eprint!(
        "{format:?}: {why}: {held:?} events held, {failures} refused writes, {grown} KiB more memory"
    );
}

/// The same, where no file may grow beyond a limit.
pub fn write_beyond_a_limit(path: &Path) {
    limit_file_size(300_000);
    write_beyond_the_end(path, "File too large (os error 27)");
}

/// Ends sessions whose file has to be put in order, while the disk has less and more room for that.
pub fn merge_without_room(path: &Path) {
    let format = Format::of(path);
    let folder = path.parent().unwrap();
    let filler = folder.join("filler");
    let mut told = Vec::new();
    for room in [16 << 10, 300 << 10, 2100 << 10, 16 << 20] {
        let load = Load::begin(path, &[("window", "64")]).unwrap();
        let (session, mut streams) = (load.session, load.streams);
        // One is out of order, and more than memory holds.
        let late = streams.pop().unwrap();
        let mut streams = [late, streams.swap_remove(0)];
        for (stream, count) in streams.iter_mut().zip([24_000, 160]) {
            stream.write(&session, count).unwrap();
        }
        fill(&filler, room);
        let ended = session.end();
        std::fs::remove_file(&filler).unwrap();
        let files = std::fs::read_dir(folder).unwrap();
        assert_eq!(files.count(), 1, "only the file is left");
        let trace = format.read(path);
        for stream in &streams {
            let held = gapless(&found(&trace, stream.kind), stream.kind);
            assert_eq!(held, stream.next, "{:?}, {room} bytes", stream.kind);
        }
        std::fs::remove_file(path).unwrap();
        told.push(match ended {
            Ok(()) => "",
            Err(error) => {
                let (error, shown) = (error.to_string(), path.display());
                let told = [".sort-", ".merge-"].into_iter().find(|file| {
                    let begin =
                        format!("can't put what was written in order: writing {shown}{file}");
                    error.contains(&begin)
                        && error
                            .contains(": No space left on device (os error 28); it stays as it is")
                });
                told.unwrap_or_else(|| panic!("{error}"))
            }
        });
    }
    eprint!("{format:?}: {told:?}");
    assert_eq!((told[0], told[3]), (".sort-", ""));
}

/// Takes all of a disk but for so many bytes.
pub fn fill(path: &Path, room: u64) {
    let mut filler = File::create(path).unwrap();
    let (piece, mut len) = (vec![0; 1 << 16], 0);
    while let Ok(written) = filler.write(&piece) {
        len += written as u64;
    }
    filler.set_len(len.saturating_sub(room)).unwrap();
}

/// Can't even begin.
pub fn begin_read_only(path: &Path) {
    let error = Load::begin(path, &[]).map(|_| ()).unwrap_err().to_string();
    let why = "Read-only file system (os error 30)";
    assert!(
        error.ends_with(&format!("{}: {why}", path.display())) && error.contains("can't create"),
        "{error}"
    );
    eprint!("read-only: told when the session begins");
}

/// Opens very many streams, with one event and one sample each: ten thousand of them must not take more than a GiB.
pub fn open_many_streams(path: &Path) {
    const STREAMS: u64 = 500;
    let Load { mut session, .. } = Load::begin(path, &[]).unwrap();
    let mut domain = session.default_domain().unwrap();
    let (depth, domain) = (domain.counter::<i64>("depth").unwrap(), domain.id());
    let before = memory();
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let name = format!("stream {number}");
        let mut stream = session
            .open_stream(&name, StreamOptions::new(domain))
            .unwrap();
        let out = session.writer(&mut stream).unwrap();
        out.pushpop(0, 1).message("step").write().unwrap();
        out.counter(depth).unwrap().sample(0, 1).unwrap();
        streams.push(stream);
    }
    let each = memory().saturating_sub(before) / STREAMS;
    assert!(each <= (1 << 20) / 10_000, "a stream takes {each} KiB");
    eprint!("{:?}: {each} KiB for a stream", Format::of(path));
}

/// Runs a plan whose file is on a mount of its own, which ends with it. Says so where that is not allowed.
fn run_mounted(plan: &str, options: &str) {
    for format in ALL {
        run_mounted_in(*format, plan, options);
    }
}

pub fn run_mounted_in(format: Format, plan: &str, options: &str) {
    let dir = TempDir::new();
    let folder = dir.path().to_str().unwrap();
    let apart = ["unshare", "--map-root-user", "--mount"];
    let mount = ["mount", "-t", "tmpfs", "-o", options, "none", folder];
    let tried = Command::new(apart[0])
        .args(&apart[1..])
        .args(mount)
        .output();
    if !tried.is_ok_and(|output| output.status.success()) {
        println!("{plan}: not here, where mounts are not allowed");
        return;
    }
    let script = format!("{} && exec \"$@\"", mount.join(" "));
    let before = [&apart[..], &["sh", "-c", &script, "sh"]].concat();
    println!("{}", run(plan, &format.path(dir.path()), &before).unwrap());
}

#[test]
fn a_full_disk_is_told_and_keeps_what_it_has() {
    run_mounted("full disk", "size=400k");
}

#[test]
fn a_disk_that_is_full_while_a_file_is_put_in_order_is_told_and_keeps_all() {
    for format in FILES {
        run_mounted_in(format, "full merge", "size=20m");
    }
}

#[test]
fn a_read_only_folder_is_told() {
    run_mounted("read-only", "ro");
}

#[test]
fn a_file_that_may_not_grow_is_told_and_keeps_what_it_has() {
    // No part of a dataset becomes as long.
    for format in FILES {
        let dir = TempDir::new();
        println!("{}", run("limited", &format.path(dir.path()), &[]).unwrap());
    }
}

#[test]
fn very_many_streams_take_little_memory_each() {
    for format in ALL {
        let dir = TempDir::new();
        let said = run("many streams", &format.path(dir.path()), &[]);
        println!("{}", said.unwrap());
    }
}

#[test]
fn a_device_without_room_is_told_when_the_session_begins() {
    for &format in ALL {
        let overwrite = [("overwrite", "true")];
        let error = Load::begin_in(format, Path::new("/dev/full"), &overwrite);
        let error = error.map(|_| ()).unwrap_err().to_string();
        let want = match FILES.contains(&format) {
            true => "writing /dev/full: No space left on device (os error 28)",
            false => {
                "/dev/full exists and is no folder, as a Parquet dataset is: give another `path`, or remove it"
            }
        };
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn a_file_that_exists_is_kept() {
    for &format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        std::fs::write(&path, "precious").unwrap();
        let error = Load::begin(&path, &[]).map(|_| ()).unwrap_err().to_string();
        let shown = path.display();
        let want = match FILES.contains(&format) {
            true => format!("{shown} exists: remove it, or set `overwrite=true` to replace it"),
            false => format!(
                "{shown} exists and is no folder, as a Parquet dataset is: give another `path`, or remove it"
            ),
        };
        assert!(error.ends_with(&want), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }
}

#[test]
fn a_folder_that_is_not_there_and_one_that_goes_away_are_told() {
    for &format in ALL {
        let dir = TempDir::new();
        let folder = dir.path().join("folder");
        let path = format.path(&folder);
        let error = Load::begin(&path, &[]).map(|_| ()).unwrap_err().to_string();
        let shown = path.display();
        let want = match FILES.contains(&format) {
            true => format!("can't create {shown}: its folder doesn't exist"),
            false => format!("can't create the folder {shown}: what it is in doesn't exist"),
        };
        assert!(error.contains(&want), "{error}");

        std::fs::create_dir(&folder).unwrap();
        let Load {
            session,
            mut streams,
        } = Load::begin(&path, &[("window", "64")]).unwrap();
        streams[0].write(&session, 160).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let want = format!("{shown} was removed while it was written");
        let written = streams[0].write(&session, 320);
        match FILES.contains(&format) {
            true => written.unwrap(),
            // A part can't be completed.
            false => {
                let error = written.unwrap_err().to_string();
                assert!(error.contains(&want), "{error}");
            }
        }
        let error = session.end().unwrap_err().to_string();
        assert!(error.contains(&want), "{error}");
    }
}

#[test]
fn interrupted_and_short_writes_lose_nothing() {
    for format in FILES {
        write_into_a_pipe(format);
    }
}

fn write_into_a_pipe(format: Format) {
    let dir = TempDir::new();
    let path = dir.path().join("pipe");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()));
    const COUNT: u64 = 8_000;
    let (file, signals) = std::thread::scope(|scope| {
        // It reads slower than is written, so that each write waits in the middle of its data.
        let reader = scope.spawn(|| {
            let mut pipe = File::open(&path).unwrap();
            let (mut file, mut part) = (Vec::new(), vec![0; 1 << 14]);
            loop {
                match pipe.read(&mut part).unwrap() {
                    0 => return file,
                    count => file.extend(&part[..count]),
                }
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        let ((), signals) = interrupted(|| {
            let config = [("overwrite", "true")];
            let Load {
                session,
                mut streams,
            } = Load::begin_in(format, &path, &config).unwrap();
            for stream in &mut streams {
                stream.write(&session, COUNT).unwrap();
            }
            session.end().unwrap();
        });
        (reader.join().unwrap(), signals)
    });
    let copy = format.path(dir.path());
    std::fs::write(&copy, &file).unwrap();
    let trace = format.read(&copy);
    for kind in KINDS {
        assert_eq!(gapless(&found(&trace, kind), kind), COUNT);
    }
    println!("{format:?}, pipe: {} bytes, {signals} signals", file.len());
    assert!(signals > 20, "only {signals} signals came");
}
