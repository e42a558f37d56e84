//! SIGKILL at random moments, while four threads write and while the session ends.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::child::{Progress, Running, tell};
use crate::load::{KINDS, Load, found, gapless};
use crate::reader::Trace;
use crate::replay::{Random, TempDir};

/// Events of a stream that wait in memory at most, while it is written.
const WINDOW: u64 = 256;
/// Events that a stream writes before the session ends, all of them waiting till then.
const AT_THE_END: u64 = 4096;
/// What a child tells when it begins and when it has ended the session.
const ENDING: u8 = 200;
const ENDED: u8 = 201;

/// Writes until it is killed; tells how many events of each stream were taken.
pub fn write_on(path: &Path) {
    let window = WINDOW.to_string();
    let Load { session, streams } = Load::begin(path, &[("window", &window)]).unwrap();
    std::thread::scope(|scope| {
        for (index, mut stream) in (0..).zip(streams) {
            let session = &session;
            scope.spawn(move || {
                loop {
                    stream.write(session, 48).unwrap();
                    tell(index, stream.next);
                }
            });
        }
    });
}

/// Writes much that waits in memory, and ends the session.
pub fn write_and_end(path: &Path) {
    let Load {
        session,
        mut streams,
    } = Load::begin(path, &[("window", "1048576")]).unwrap();
    for (index, stream) in (0..).zip(&mut streams) {
        stream.write(&session, AT_THE_END).unwrap();
        tell(index, stream.next);
    }
    tell(ENDING, 0);
    session.end().unwrap();
    tell(ENDED, 0);
    // Until it is killed.
    loop {
        std::thread::park();
    }
}

/// What killed children left.
#[derive(Debug, Default)]
struct Counts {
    kills: u32,
    /// Files whose last packet is cut.
    cut: u32,
    events: u64,
    /// Events that were taken and are not in the file.
    missing: u64,
    /// The most of one stream.
    most_missing: u64,
    /// Kills while the session was ending.
    while_ending: u32,
}

/// How often to kill, in each of the two situations.
fn kills() -> u32 {
    let asked = std::env::var("NVTXW_KILLS")
        .ok()
        .map(|text| text.parse::<u32>().expect("a number of kills"));
    asked.unwrap_or(20) / 2
}

/// Where files are kept for another reader to look at.
fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crash");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The file, but for a packet at its end that is cut; and whether there is one.
fn whole(path: &Path) -> (Vec<u8>, bool) {
    let mut file = std::fs::read(path).unwrap();
    let mut end = 0;
    while end < file.len() {
        assert_eq!(file[end], 0x0A, "a packet begins at {end}");
        let (mut size, mut at) = (0, end + 1);
        let complete = loop {
            let Some(byte) = file.get(at) else {
                break false;
            };
            size |= usize::from(byte & 0x7F) << (7 * (at - end - 1));
            at += 1;
            if *byte < 0x80 {
                break at + size <= file.len();
            }
        };
        if !complete {
            break;
        }
        end = at + size;
    }
    let cut = end < file.len();
    file.truncate(end);
    (file, cut)
}

/// The last of what was told of each stream.
fn taken(told: &[Progress]) -> HashMap<u8, u64> {
    told.iter().copied().collect()
}

/// Checks one file against what was told of its streams: but for the last `waiting` events of each, all are there.
fn check(path: &Path, taken: &HashMap<u8, u64>, waiting: u64, counts: &mut Counts) {
    let (file, cut) = whole(path);
    let trace = Trace::of(&file);
    counts.kills += 1;
    counts.cut += u32::from(cut);
    for (index, kind) in (0..).zip(KINDS) {
        let taken = taken.get(&index).copied().unwrap_or(0);
        let numbers = found(&trace, kind);
        counts.events += gapless(&numbers, kind);
        let missing = (0..taken)
            .filter(|number| numbers.binary_search(number).is_err())
            .count() as u64;
        assert!(
            missing <= waiting,
            "{kind:?}: {missing} of {taken} events are missing"
        );
        counts.missing += missing;
        counts.most_missing = counts.most_missing.max(missing);
    }
}

#[test]
fn what_was_flushed_survives_a_kill() {
    let mut random = Random::new(1);
    let mut counts = Counts::default();
    for round in 0..kills() {
        let dir = TempDir::new();
        let path = dir.path().join("run.pftrace");
        let (first, started) = mpsc::channel();
        let child = Running::start("write on", &path, move |_| {
            // Later ones are not waited for.
            let _ = first.send(());
        });
        started.recv().expect("the child writes");
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        let ended = child.kill();
        assert!(!ended.status.success());
        check(&path, &taken(&ended.told), WINDOW, &mut counts);
        if round < 5 {
            std::fs::copy(&path, kept(&format!("killed-{round}.pftrace"))).unwrap();
        }
    }
    println!("killed while writing: {counts:?}");
    assert!(
        counts.most_missing > 0,
        "no kill came while events waited: {counts:?}"
    );
}

#[test]
fn a_kill_while_the_session_ends_leaves_what_was_written() {
    let mut random = Random::new(2);
    let mut counts = Counts::default();
    for round in 0..kills() {
        let dir = TempDir::new();
        let path = dir.path().join("run.pftrace");
        let (send, receive) = mpsc::channel();
        let child = Running::start("write and end", &path, move |(subject, _)| {
            if subject == ENDING {
                let _ = send.send(());
            }
        });
        receive.recv().expect("the child comes to its end");
        std::thread::sleep(Duration::from_micros(random.below(6_000)));
        let ended = child.kill();
        let mut taken = taken(&ended.told);
        let waiting = match taken.remove(&ENDED) {
            Some(_) => 0,
            None => AT_THE_END,
        };
        counts.while_ending += u32::from(waiting > 0);
        check(&path, &taken, waiting, &mut counts);
        if round < 5 {
            std::fs::copy(&path, kept(&format!("ended-{round}.pftrace"))).unwrap();
        }
    }
    println!("killed at the end: {counts:?}");
    assert!(
        counts.while_ending > 0,
        "no kill came while the session ended: {counts:?}"
    );
}
