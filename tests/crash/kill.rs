//! SIGKILL at random moments, while five threads write and while the session ends.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nvtxw::RangeId;
use nvtxw_backend::relay::Relay;
use nvtxw_file::capture::replay::Replay;
use nvtxw_file::capture::{Ending, Reader};

use crate::child::{Progress, Running, tell};
use crate::format::{ALL, Format};
use crate::load::{KINDS, Load, found, gapless};
use crate::replay::{Random, TempDir};

/// Events of a stream that wait in memory at most, while it is written.
pub const WINDOW: u64 = 256;
/// The same while it is captured: batches of so few samples fit into its buffer.
const CAPTURED: u64 = 1 << 15;
/// Events that a stream writes before the session ends.
const AT_THE_END: u64 = 4096;
/// A window in which all of them wait till then.
pub const LARGE: u64 = 1 << 20;
/// Events that a stream writes and waits.
const FEW: u64 = 96;
/// What a child tells when it begins and when it has ended the session.
const ENDING: u8 = 200;
const ENDED: u8 = 201;

/// Writes until it is killed; tells how many events of each stream were taken.
pub fn write_on(path: &Path, setting: (&str, &str)) {
    let window = WINDOW.to_string();
    let config = [("window", &*window), setting];
    let Load { session, streams } = Load::begin(path, &config).unwrap();
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

/// Writes little, which nothing but the time brings to the file.
pub fn write_and_wait(path: &Path) {
    let mut load = Load::begin(path, &[("flush_interval", "2")]).unwrap();
    for (index, stream) in (0..).zip(&mut load.streams) {
        stream.write(&load.session, FEW).unwrap();
        tell(index, stream.next);
    }
    tell(ENDING, 0);
    until_killed();
}

/// Writes through a window, and ends the session.
pub fn write_and_end(path: &Path, window: u64) {
    let window = window.to_string();
    let mut load = Load::begin(path, &[("window", &window)]).unwrap();
    for (index, stream) in (0..).zip(&mut load.streams) {
        stream.write(&load.session, AT_THE_END).unwrap();
        tell(index, stream.next);
    }
    tell(ENDING, 0);
    load.session.end().unwrap();
    tell(ENDED, 0);
    until_killed();
}

/// Begins ranges whose ends never come.
pub fn open_and_wait(path: &Path) {
    let mut load = Load::begin(path, &[("flush_interval", "2")]).unwrap();
    let out = load.session.writer(&mut load.streams[0].stream).unwrap();
    out.push(10).message("pushed").write().unwrap();
    let id = RangeId::new(1).expect("not 0");
    out.start(20, id).message("started").write().unwrap();
    tell(ENDING, 0);
    until_killed();
}

fn until_killed() -> ! {
    loop {
        std::thread::park();
    }
}

/// What killed children left.
#[derive(Debug, Default)]
struct Counts {
    kills: u32,
    /// Files whose last packet or line is cut, and datasets with parts in the making.
    cut: u32,
    events: u64,
    /// Events that were taken and are not in the file.
    missing: u64,
    /// The most of one stream.
    most_missing: u64,
    /// Kills while the session was ending.
    while_ending: u32,
}

/// How often to kill in each of the four situations: of other formats a fifth, but each at least once.
fn kills(format: Format) -> u32 {
    let asked = std::env::var("NVTXW_KILLS")
        .ok()
        .map(|text| text.parse::<u32>().expect("a number of kills"));
    let kills = asked.unwrap_or(20) / 4;
    match format {
        Format::Perfetto => kills,
        _ => kills.div_ceil(5),
    }
}

/// Keeps a file of packets for another reader to look at.
fn keep(path: &Path, format: Format, name: &str) {
    if matches!(format, Format::Perfetto | Format::Compressed) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crash");
        std::fs::create_dir_all(&folder).unwrap();
        let name = format!("{name}-{format:?}.pftrace").to_lowercase();
        std::fs::copy(path, folder.join(name)).unwrap();
    }
}

/// The last of what was told of each stream.
fn taken(told: &[Progress]) -> HashMap<u8, u64> {
    told.iter()
        .copied()
        .filter(|(subject, _)| *subject != ENDING)
        .collect()
}

/// Checks one file against what was told of its streams: but for the last `waiting` events of each, all are there.
fn check(path: &Path, taken: &HashMap<u8, u64>, waiting: u64, counts: &mut Counts) {
    let (trace, cut) = Format::of(path).read_cut(path);
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

/// Kills a child that writes on and on.
fn kill_while_writing(plan: &str, seed: u64) {
    for &format in ALL {
        kill_while_writing_in(format, plan, seed);
    }
}

fn kill_while_writing_in(format: Format, plan: &str, seed: u64) {
    let mut random = Random::new(seed);
    let mut counts = Counts::default();
    for round in 0..kills(format) {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let (first, started) = mpsc::channel();
        let child = Running::start(plan, &path, move |_| {
            // Later ones are not waited for.
            let _ = first.send(());
        });
        started.recv().expect("the child writes");
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        let ended = child.kill();
        assert!(!ended.status.success());
        let waiting = format.waiting(WINDOW);
        check(&path, &taken(&ended.told), waiting, &mut counts);
        if round < 3 {
            keep(&path, format, &format!("killed-{seed}-{round}"));
        }
    }
    println!("{plan}, {format:?}: {counts:?}");
    assert!(
        counts.most_missing > 0 || counts.kills < 5,
        "no kill came while events waited: {counts:?}"
    );
}

#[test]
fn what_was_flushed_survives_a_kill() {
    kill_while_writing("write on", 1);
}

#[test]
fn what_was_flushed_survives_a_kill_beside_a_thread_that_flushes() {
    kill_while_writing("write on, flushed", 2);
}

#[test]
fn what_a_capture_has_survives_a_kill() {
    let mut random = Random::new(3);
    let mut counts = Counts::default();
    // All that was written is replayed, which takes its time.
    let wanted = kills(Format::Perfetto).min(10);
    // On a busy machine most kills come before anything is in the file: those that follow come later.
    for delay in (1..=10).flat_map(|delay| std::iter::repeat_n(delay, wanted as usize)) {
        if delay > 1 && counts.most_missing > 0 && counts.events > 0 {
            break;
        }
        let dir = TempDir::new();
        let path = dir.path().join("capture.pftrace");
        let (first, started) = mpsc::channel();
        let child = Running::start("write on, captured", &path, move |_| {
            let _ = first.send(());
        });
        started.recv().expect("the child writes");
        std::thread::sleep(Duration::from_micros(random.below(4000 * delay)));
        let ended = child.kill();
        assert!(!ended.status.success());
        // It replays up to its last record.
        let replayed = dir.path().join("run.pftrace");
        let relay = Relay::to_instance(nvtxw_file::in_process());
        let outcome = Replay::new(relay)
            .set("path", replayed.to_str().expect("test folders are UTF-8"))
            .run(
                &mut Reader::new(BufReader::new(File::open(&path).unwrap())).unwrap(),
                |_| (),
            )
            .unwrap();
        assert_eq!(outcome.refused(), 0, "{:?}", outcome.refusals);
        assert!(!matches!(outcome.ending.unwrap(), Ending::Whole));
        outcome.end.unwrap();
        check(&replayed, &taken(&ended.told), CAPTURED, &mut counts);
    }
    println!("write on, captured: {counts:?}");
    assert!(
        counts.most_missing > 0 && counts.events > 0,
        "no kill came while calls waited: {counts:?}"
    );
}

/// Kills a child that is ending its session. While it is, so many events of a stream may be missing.
fn kill_while_ending(plan: &str, seed: u64, longest: u64, missing: impl Fn(Format) -> u64) {
    for &format in ALL {
        kill_while_ending_in(format, plan, seed, longest, missing(format));
    }
}

fn kill_while_ending_in(format: Format, plan: &str, seed: u64, longest: u64, missing: u64) {
    let mut random = Random::new(seed);
    let mut counts = Counts::default();
    let kills = kills(format);
    for round in 0..kills + 20 {
        // Where the system is busy, a kill may come too late.
        if round >= kills && counts.while_ending > 0 {
            break;
        }
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let (send, receive) = mpsc::channel();
        let child = Running::start(plan, &path, move |(subject, _)| {
            if subject == ENDING {
                let _ = send.send(());
            }
        });
        receive.recv().expect("the child comes to its end");
        // The first and those in addition are killed at once, so that one is before it has ended.
        let wait = random.below(longest) * u64::from((1..kills).contains(&round));
        std::thread::sleep(Duration::from_micros(wait));
        let ended = child.kill();
        let mut taken = taken(&ended.told);
        let waiting = match taken.remove(&ENDED) {
            Some(_) => 0,
            None => missing,
        };
        counts.while_ending += u32::from(waiting > 0);
        check(&path, &taken, waiting, &mut counts);
        if round < 3 {
            keep(&path, format, &format!("ended-{seed}-{round}"));
        }
    }
    println!("{plan}, {format:?}: {counts:?}");
    assert!(
        counts.while_ending > 0,
        "no kill came while the session ended: {counts:?}"
    );
}

#[test]
fn a_kill_while_the_session_ends_leaves_what_was_written() {
    kill_while_ending("write and end", 3, 6_000, |_| AT_THE_END);
}

#[test]
fn a_kill_while_the_file_is_put_in_order_costs_no_more() {
    kill_while_ending("write and merge", 4, 60_000, |format| {
        format.waiting(WINDOW)
    });
}

#[test]
fn what_is_open_at_a_kill_is_there() {
    for &format in ALL {
        let dir = TempDir::new();
        let path = format.path(dir.path());
        let (send, receive) = mpsc::channel();
        let child = Running::start("open and wait", &path, move |_| {
            let _ = send.send(());
        });
        receive.recv().expect("the child waits");
        let start = Instant::now();
        let open = || {
            let ranges = format.read_open(&path);
            let open = ranges.iter().filter(|range| range.end.is_none());
            let mut open: Vec<_> = open
                .map(|range| (range.start, range.name.clone()))
                .collect();
            open.sort();
            open
        };
        while open().len() < 2 {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it is not written"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill();
        let want = [(10, "pushed".to_owned()), (20, "started".to_owned())];
        assert_eq!(open(), want, "{format:?}");
    }
}

#[test]
fn what_waits_is_in_the_file_after_the_flush_interval() {
    for &format in ALL {
        wait_for_a_flush(format);
    }
}

fn wait_for_a_flush(format: Format) {
    let dir = TempDir::new();
    let path = format.path(dir.path());
    let (send, receive) = mpsc::channel();
    let child = Running::start("write and wait", &path, move |(subject, _)| {
        if subject == ENDING {
            let _ = send.send(());
        }
    });
    receive.recv().expect("the child waits");
    let start = Instant::now();
    let is_there = || {
        // Read while it is written, it may be any mixture.
        let read = std::panic::catch_unwind(|| format.read_cut(&path));
        read.is_ok_and(|(trace, _)| {
            let mut kinds = KINDS.iter();
            kinds.all(|kind| found(&trace, *kind).len() as u64 == FEW)
        })
    };
    while !is_there() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it is not written"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    let ended = child.kill();
    check(&path, &taken(&ended.told), 0, &mut Counts::default());
}
