//! Whatever the order in which events come, the file is as if they had come in order.

use std::collections::BTreeMap;
use std::fs;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::reader::{Arg, Number, Slice, Trace, text};
use crate::replay::{Random, TempDir};
use crate::table::{Domain, Entry, Session, Stream, entry, time, words};

/// What arrives in a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) kind: Kind,
    pub(crate) time: i64,
    /// Of a whole range.
    pub(crate) end: i64,
    /// Index of its scope.
    pub(crate) place: usize,
    /// Of a range or an instant; the halves of a range share it.
    pub(crate) number: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    PushPop,
    StartEnd,
    Push,
    Pop,
    Start,
    End,
    Mark,
    Sample,
}

/// Makes chains of arrivals: those of one chain come in its order.
pub(crate) struct Chains {
    random: Random,
    chains: Vec<Vec<Arrival>>,
    number: i64,
}

impl Chains {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let span = 5 + random.below(300);
        let mut all = Self {
            random,
            chains: Vec::new(),
            number: 0,
        };
        for place in 0..2 {
            let mut chain = Vec::new();
            let mut at = 0;
            while at < span as i64 && chain.len() < 60 {
                let end = at + 1 + all.below(span) as i64;
                all.nest((at, end), place, 0, &mut chain);
                at = end + all.below(3) as i64;
            }
            // The last pushes of some stay open.
            if all.below(3) == 0 {
                let pops = chain.iter().rev().take_while(|a| a.kind == Kind::Pop);
                let open = pops.count().min(2);
                chain.truncate(chain.len() - open);
            }
            all.chains.push(chain);
        }
        for _ in 0..all.below(80) {
            let kinds = [
                Kind::PushPop,
                Kind::StartEnd,
                Kind::Start,
                Kind::Mark,
                Kind::Sample,
            ];
            let kind = kinds[all.below(5) as usize];
            let start = all.below(span) as i64;
            let end = start + all.below(span / 2) as i64;
            let place = all.below(2) as usize;
            let first = all.arrival(kind, start, end, place);
            let mut chain = vec![first];
            if kind == Kind::Start && all.below(8) != 0 {
                chain.push(Arrival {
                    kind: Kind::End,
                    time: end,
                    ..first
                });
            }
            all.chains.push(chain);
        }
        all
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn arrival(&mut self, kind: Kind, time: i64, end: i64, place: usize) -> Arrival {
        self.number += 1;
        Arrival {
            kind,
            time,
            end,
            place,
            number: self.number,
        }
    }

    /// A push from `start` to `end`, with others in it.
    fn nest(
        &mut self,
        (start, end): (i64, i64),
        place: usize,
        depth: usize,
        chain: &mut Vec<Arrival>,
    ) {
        let push = self.arrival(Kind::Push, start, end, place);
        chain.push(push);
        let mut at = start;
        while depth < 5 && self.below(3) != 0 {
            let from = at + self.below((end - at) as u64 / 2 + 1) as i64;
            let to = from + self.below((end - from) as u64 + 1) as i64;
            self.nest((from, to), place, depth + 1, chain);
            at = to;
        }
        chain.push(Arrival {
            kind: Kind::Pop,
            time: end,
            ..push
        });
    }

    /// All in the order of their times.
    pub(crate) fn in_order(&self) -> Vec<Arrival> {
        let mut all: Vec<_> = self.chains.iter().flatten().copied().collect();
        all.sort_by_key(|arrival| arrival.time);
        all
    }

    /// All in any order.
    pub(crate) fn in_disorder(&mut self) -> Vec<Arrival> {
        let mut rest: Vec<_> = self.chains.clone();
        rest.iter_mut().for_each(|chain| chain.reverse());
        let mut all = Vec::new();
        while !rest.is_empty() {
            let index = self.below(rest.len() as u64) as usize;
            // Long chains would be all that is left in the end.
            for _ in 0..=rest[index].len() / 8 {
                all.extend(rest[index].pop());
            }
            if rest[index].is_empty() {
                rest.swap_remove(index);
            }
        }
        all
    }
}

/// The schemas of events that have a name, a scope and a value.
pub(crate) struct Schemas {
    domain: Domain,
    scopes: [u64; 2],
    pushpop: u64,
    startend: u64,
    push: u64,
    pop: u64,
    start: u64,
    end: u64,
    mark: u64,
    counter: u64,
}

impl Schemas {
    pub(crate) fn new(domain: Domain) -> Self {
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let mark = time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK);
        let id = entry(EntryType::RangeId, c"range_id");
        let name = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"name")
        };
        let scope = entry(EntryType::ScopeId, c"scope");
        let value = entry(EntryType::Int64, c"value");
        let schema = |kind: EventKind, entries: &[Entry<'_>]| {
            let entries = [entries, &[scope, value]].concat();
            domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, &entries)
        };
        Self {
            scopes: ["one", "two"].map(|path| domain.scope(NVTX_SCOPE_ROOT, path)),
            pushpop: schema(EventKind::RangePushPop, &[begin, end, name]),
            startend: schema(EventKind::RangeStartEnd, &[begin, end, name]),
            push: schema(EventKind::RangePush, &[begin, name]),
            pop: schema(EventKind::RangePop, &[end]),
            start: schema(EventKind::RangeStart, &[id, begin, name]),
            end: schema(EventKind::RangeEnd, &[id, end]),
            mark: schema(EventKind::Mark, &[mark, name]),
            counter: domain.counter("load", EntryType::Int64.to_raw(), 0, None),
            domain,
        }
    }

    pub(crate) fn write(&self, stream: &mut Stream, arrival: Arrival) {
        let Arrival {
            time, end, number, ..
        } = arrival;
        let name = self.domain.string(&format!("event {number}")) as i64;
        let scope = self.scopes[arrival.place] as i64;
        let (schema, payload): (_, &[i64]) = match arrival.kind {
            Kind::PushPop => (self.pushpop, &[time, end, name, scope, number]),
            Kind::StartEnd => (self.startend, &[time, end, name, scope, number]),
            Kind::Push => (self.push, &[time, name, scope, number]),
            Kind::Pop => (self.pop, &[time, scope, -number]),
            Kind::Start => (self.start, &[number, time, name, scope, number]),
            Kind::End => (self.end, &[number, time, scope, -number]),
            Kind::Mark => (self.mark, &[time, name, scope, number]),
            Kind::Sample => {
                let sample = number.to_ne_bytes();
                stream.sample(time, self.counter, &sample).unwrap();
                return;
            }
        };
        stream.event(&[(schema, &words(payload))]).unwrap();
    }
}

/// Track, lane, start, end, depth.
type Spot = (Vec<String>, usize, u64, Option<u64>, usize);
/// Track, start, end, name, args.
type Content = (Vec<String>, u64, Option<u64>, String, String);

/// What a reader finds, apart from which one is which of ranges with the same times in one place: the
/// one that came first is the outer one.
#[derive(Debug, PartialEq)]
pub(crate) struct Rows {
    spots: Vec<Spot>,
    contents: Vec<Content>,
    /// Each with its depth.
    instants: Vec<(Content, usize)>,
    /// Track, time, value.
    values: Vec<(Vec<String>, u64, String)>,
    left_open: Option<Arg>,
}

impl Rows {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut lanes: BTreeMap<&[String], Vec<u64>> = BTreeMap::new();
        for range in &trace.ranges {
            let lanes = lanes.entry(&range.track).or_default();
            if let Err(at) = lanes.binary_search(&range.uuid) {
                lanes.insert(at, range.uuid);
            }
        }
        let lane = |range: &Slice| lanes[&range.track[..]].binary_search(&range.uuid).unwrap();
        let content = |slice: &Slice| {
            let args = format!("{:?}", slice.args);
            let track = slice.track.clone();
            (track, slice.start, slice.end, slice.name.clone(), args)
        };
        let mut rows = Self {
            spots: (trace.ranges.iter())
                .map(|r| (r.track.clone(), lane(r), r.start, r.end, r.depth))
                .collect(),
            contents: trace.ranges.iter().map(content).collect(),
            instants: (trace.instants.iter())
                .map(|instant| (content(instant), instant.depth))
                .collect(),
            values: (trace.values.iter())
                .map(|(track, time, value, _)| (track.clone(), *time, format!("{value:?}")))
                .collect(),
            left_open: trace.attributes.get("nvtxw.left_open").cloned(),
        };
        rows.spots.sort();
        rows.contents.sort();
        rows.instants.sort();
        rows.values.sort();
        rows
    }
}

fn write(arrivals: &[Arrival], config: &str) -> Run {
    let run = Run::with(config);
    write_to(&run.session, arrivals);
    run
}

fn write_to(session: &Session, arrivals: &[Arrival]) {
    write_apart(session, arrivals, &[]);
}

/// The ends that are `late` come from another stream, after the first one was closed.
fn write_apart(session: &Session, arrivals: &[Arrival], late: &[Arrival]) {
    let domain = session.domain("");
    let schemas = Schemas::new(domain);
    let mut stream = session.stream("main", domain, 0);
    for arrival in arrivals {
        schemas.write(&mut stream, *arrival);
    }
    // One in order, and one that had nothing to write, stay as they are.
    let mut other = session.stream("other", domain, 0);
    session.stream("idle", domain, 0).close().unwrap();
    for number in 0..20 {
        let mark = Arrival {
            kind: Kind::Mark,
            time: number,
            end: number,
            place: 0,
            number,
        };
        schemas.write(&mut other, mark);
    }
    stream.close().unwrap();
    for arrival in late {
        schemas.write(&mut other, *arrival);
    }
    other.close().unwrap();
}

pub(crate) fn merged(run: Run) -> Trace {
    let folder = run.path.parent().unwrap().to_owned();
    run.session.end().unwrap();
    let files = fs::read_dir(folder).unwrap().count();
    assert_eq!(files, 1, "something is left");
    let trace = Trace::read(&run.path);
    assert_eq!(trace.attributes.get("nvtxw.unmerged"), None);
    trace
}

#[test]
fn any_order_of_arrival_gives_the_same_rows() {
    let mut late = 0;
    for seed in 0..60 {
        let mut chains = Chains::new(seed);
        let in_order = chains.in_order();
        let disorder = chains.in_disorder();
        let window = format!("window={}", 2 + chains.below(63));
        let want = Rows::of(&merged(write(&in_order, "")));
        for (arrivals, config) in [(&in_order, &*window), (&disorder, ""), (&disorder, &window)] {
            let trace = merged(write(arrivals, config));
            let rows = Rows::of(&trace);
            assert_eq!(rows.spots, want.spots, "seed {seed} {config}");
            assert_eq!(rows, want, "seed {seed} {config}");
            if let Some(Arg::Int(count)) = trace.attributes.get("nvtxw.late") {
                assert!(!config.is_empty());
                late += count;
            }
        }
        let (ends, rest): (Vec<_>, _) = (disorder.into_iter())
            .partition(|arrival| arrival.kind == Kind::End && arrival.number % 2 == 0);
        let run = Run::with(&window);
        write_apart(&run.session, &rest, &ends);
        assert_eq!(Rows::of(&merged(run)), want, "seed {seed}, ends elsewhere");
    }
    assert!(late > 200, "{late}");
}

#[test]
fn before_the_end_all_that_was_flushed_is_there() {
    for seed in 0..50 {
        let mut chains = Chains::new(seed);
        let disorder = chains.in_disorder();
        let run = write(&disorder, "window=4");
        let trace = Trace::read(&run.path);
        let got: Vec<_> = (trace.ranges.iter())
            .map(|range| (range.name.clone(), range.start))
            .collect();
        let want = Trace::read(&{
            run.session.end().unwrap();
            run.path.clone()
        });
        assert_eq!(got.len(), want.ranges.len());
        for range in &want.ranges {
            assert!(got.contains(&(range.name.clone(), range.start)));
        }
        assert_eq!(trace.values.len(), want.values.len());
    }
}

#[test]
fn parent_and_children_in_any_order_and_the_smallest_window() {
    let ranges = [("parent", 0, 110), ("first", 0, 100), ("next", 100, 110)];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let run = Run::with("window=2");
        let mut out = crate::Writer::new(&run);
        for (name, start, end) in order.map(|index| ranges[index]) {
            out.pushpop(start, end, name).unwrap();
        }
        let trace = merged(run);
        let spot = |name| {
            let range = trace.range(name);
            (range.start, range.end, range.depth, range.uuid)
        };
        assert_eq!(spot("parent"), (0, Some(110), 0, 1));
        assert_eq!(spot("first"), (0, Some(100), 1, 1));
        assert_eq!(spot("next"), (100, Some(110), 1, 1));
        // Tracks that are not used any more are gone.
        assert_eq!(trace.tracks.len(), 1);
        assert_eq!(trace.attributes.get("nvtxw.overlapping_pushpop"), None);
    }
}

#[test]
fn late_marks_and_samples_need_no_new_file() {
    let run = Run::with("window=4");
    let domain = run.session.domain("");
    let schemas = Schemas::new(domain);
    let mut stream = run.session.stream("main", domain, 0);
    for kind in [Kind::PushPop, Kind::Mark, Kind::Sample] {
        for step in 0..50 {
            let time = match kind {
                Kind::PushPop => step * 10,
                _ => (50 - step) * 10,
            };
            let arrival = Arrival {
                kind,
                time,
                end: time + 5,
                place: 0,
                number: step,
            };
            schemas.write(&mut stream, arrival);
        }
    }
    stream.close().unwrap();
    let before = fs::read(&run.path).unwrap();
    run.session.end().unwrap();
    let after = fs::read(&run.path).unwrap();
    assert!(after.starts_with(&before));
    let trace = Trace::read(&run.path);
    assert_eq!(trace.ranges.len(), 50);
    let values = trace.counter(&["main", "load"]);
    let want: Vec<_> = (0..50)
        .map(|step| (10 + step as u64 * 10, Number::Int(49 - step)))
        .collect();
    assert_eq!(values, want);
    for (mark, number) in trace.instants.iter().zip((0..50).rev()) {
        assert_eq!(mark.name, format!("event {number}"));
        assert_eq!(mark.start, (50 - number) * 10);
        assert_eq!(mark.depth, usize::from(number > 0));
    }
}

#[test]
fn late_differences_are_put_in_order_for_readers_sum_them_up() {
    let run = Run::with("window=4");
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let [level, plain] = [
        domain.delta_counter("level"),
        domain.counter("plain", EntryType::Int64.to_raw(), 0, None),
    ];
    for time in (0..50).rev() {
        for counter in [level, plain] {
            stream.sample(time, counter, &time.to_ne_bytes()).unwrap();
        }
    }
    let trace = merged(run);
    let times = |name: &str| -> Vec<_> {
        let track = trace.tracks.iter().find(|(_, track)| track.name == name);
        let mine = trace
            .value_times
            .iter()
            .filter(|v| v.0 == *track.unwrap().0);
        mine.map(|(_, time)| *time).collect()
    };
    assert_eq!(times("level"), (0..50).collect::<Vec<_>>());
    assert_eq!(times("plain").len(), 50);
    assert_eq!(trace.counter(&["main", "level"])[7], (7, Number::Int(7)));
}

#[test]
fn what_ends_after_its_stream_was_closed_stands_where_it_belongs() {
    let run = Run::new();
    let mut out = crate::Writer::new(&run);
    out.pushpop(0, 100, "outer").unwrap();
    out.start(1, 10, "inner").unwrap();
    let mut other = run.session.stream("other", out.domain, 0);
    out.stream.close().unwrap();
    other.event(&[(out.plain.end, &words(&[1, 20]))]).unwrap();
    let trace = merged(run);
    let inner = trace.range("inner");
    assert_eq!((inner.start, inner.end, inner.depth), (10, Some(20), 1));
    assert_eq!(inner.uuid, trace.range("outer").uuid);
}

#[test]
fn who_wants_no_merge_is_told_what_that_leaves() {
    let mut chains = Chains::new(7);
    let disorder = chains.in_disorder();
    let run = write(&disorder, "window=4|merge=false");
    let before = fs::read(&run.path).unwrap();
    run.session.end().unwrap();
    let after = fs::read(&run.path).unwrap();
    assert!(after.starts_with(&before));
    let trace = Trace::read(&run.path);
    assert_eq!(
        trace.attributes["nvtxw.unmerged"],
        text("the config key `merge` says so")
    );
    let want = Rows::of(&merged(write(&disorder, "window=4")));
    assert_eq!(trace.ranges.len(), want.contents.len());
    assert_eq!(trace.instants.len(), want.instants.len());
}

/// What is left where no merge can be: all that was written, and why.
fn check_unmerged(trace: &Trace, disorder: &[Arrival], reason: &str) {
    assert_eq!(trace.attributes["nvtxw.unmerged"], text(reason));
    let want = Rows::of(&merged(write(disorder, "window=4")));
    let mut got: Vec<_> = (trace.ranges.iter())
        .map(|range| (&range.name, range.start))
        .collect();
    let mut wanted: Vec<_> = (want.contents.iter())
        .map(|(_, start, _, name, _)| (name, *start))
        .collect();
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
    assert_eq!(trace.instants.len(), want.instants.len());
    assert_eq!(trace.values.len(), want.values.len());
}

#[test]
fn a_file_that_was_moved_stays_as_it_is() {
    let disorder = Chains::new(3).in_disorder();
    let run = write(&disorder, "window=4");
    let moved = run.path.with_file_name("moved");
    fs::rename(&run.path, &moved).unwrap();
    run.session.end().unwrap();
    let reason = format!(
        "reading {}: No such file or directory (os error 2)",
        run.path.display()
    );
    check_unmerged(&Trace::read(&moved), &disorder, &reason);
    assert!(!run.path.exists());
}

#[test]
fn a_file_that_someone_changed_is_left_alone() {
    let disorder = Chains::new(8).in_disorder();
    type Damage = fn(&mut Vec<u8>);
    let damages: [(Damage, &str); 3] = [
        (
            |file| {
                let at = file.len() / 2;
                file[at..].fill(0xFF);
            },
            "it has other content than was written",
        ),
        (
            |file| file.truncate(file.len() / 2),
            "unexpected end of file",
        ),
        (|file| file[0] = 0, "it has other content than was written"),
    ];
    for (damage, want) in damages {
        let run = write(&disorder, "window=4");
        let mut file = fs::read(&run.path).unwrap();
        damage(&mut file);
        fs::write(&run.path, &file).unwrap();
        run.session.end().unwrap();
        let after = fs::read(&run.path).unwrap();
        assert!(after.starts_with(&file));
        let reason = format!("reading {}: {want}", run.path.display());
        let found = after
            .windows(reason.len())
            .any(|text| text == reason.as_bytes());
        assert!(found, "{want}");
        let files = fs::read_dir(run.path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_takes_no_new_file_keeps_the_old_one() {
    use std::os::unix::fs::PermissionsExt;

    let disorder = Chains::new(4).in_disorder();
    let run = write(&disorder, "window=4");
    let folder = run.path.parent().unwrap().to_owned();
    let allow = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    if fs::write(folder.join("probe"), "").is_ok() {
        println!("skipped: this user may write to any folder");
        allow(0o755);
        return;
    }
    run.session.end().unwrap();
    allow(0o755);
    let trace = Trace::read(&run.path);
    let Arg::Text(reason) = &trace.attributes["nvtxw.unmerged"] else {
        panic!("no text");
    };
    let begin = format!("creating {}.merge-", run.path.display());
    assert!(reason.starts_with(&begin), "{reason}");
    assert!(
        reason.ends_with(": Permission denied (os error 13)"),
        "{reason}"
    );
    check_unmerged(&trace, &disorder, reason);
}

/// The test is a process of its own here, as the limit holds for all of its files.
#[cfg(target_os = "linux")]
#[test]
fn without_room_for_a_new_file_the_old_one_stays() {
    use std::process::{self, Command};
    use std::{env, path::Path};

    const SELF: &str = "merge::without_room_for_a_new_file_the_old_one_stays";
    const PATH: &str = "NVTXW_FILE_TEST_LIMITED";
    let disorder = Chains::new(6).in_disorder();
    if let Some(path) = env::var_os(PATH) {
        let path = Path::new(&path);
        let config = format!("path={}|window=4", path.display());
        let session = Session::begin("x", &config).unwrap();
        write_to(&session, &disorder);
        let limit = fs::metadata(path).unwrap().len() / 2;
        let set = Command::new("prlimit")
            .arg(format!("--pid={}", process::id()))
            .arg(format!("--fsize={limit}"))
            .status();
        assert!(set.unwrap().success());
        // The counts have no room either.
        let failure = session.end().unwrap_err();
        let want = format!("writing {}: File too large (os error 27)", path.display());
        assert!(failure.reason.starts_with(&want), "{failure:?}");
        return;
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        println!("skipped: prlimit is not here");
        return;
    }
    let dir = TempDir::new();
    let path = dir.path().join("run.pftrace");
    let child = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args(["--exact", SELF])
        .env(PATH, &path)
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let trace = Trace::read(&path);
    let want = merged(write(&disorder, "window=4"));
    assert_eq!(trace.ranges.len(), want.ranges.len());
    assert_eq!(trace.instants.len(), want.instants.len());
    assert_eq!(trace.values.len(), want.values.len());
}

#[cfg(unix)]
#[test]
fn what_went_into_a_pipe_stays_as_it_was() {
    use std::io::Read;

    let disorder = Chains::new(5).in_disorder();
    let dir = TempDir::new();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()));
    let config = format!("path={}|overwrite=true|window=4", path.display());
    let written = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut written = Vec::new();
            let mut pipe = fs::File::open(&path).unwrap();
            pipe.read_to_end(&mut written).unwrap();
            written
        });
        let session = Session::begin("x", &config).unwrap();
        write_to(&session, &disorder);
        session.end().unwrap();
        reader.join().unwrap()
    });
    let copy = dir.path().join("copy");
    fs::write(&copy, written).unwrap();
    let reason = format!("reading {}: it is not a file", path.display());
    check_unmerged(&Trace::read(&copy), &disorder, &reason);
}

#[test]
fn more_events_than_memory_holds_are_sorted_on_disk() {
    const STEPS: i64 = 60_000;
    let run = Run::with("window=2");
    let mut out = crate::Writer::new(&run);
    let mut random = Random::new(1);
    let mut steps: Vec<_> = (0..STEPS).collect();
    for index in (1..steps.len()).rev() {
        steps.swap(index, random.below(index as u64 + 1) as usize);
    }
    let name = out.name("step");
    for step in steps {
        // One of ten holds the other nine.
        let length = if step % 10 == 0 { 99 } else { 9 };
        let payload = words(&[step * 10, step * 10 + length, name]);
        out.stream.event(&[(out.plain.pushpop, &payload)]).unwrap();
    }
    let trace = merged(run);
    assert_eq!(trace.ranges.len() as i64, STEPS);
    for (range, step) in trace.ranges.iter().zip(0..) {
        assert_eq!(range.start, step * 10);
        assert_eq!(range.depth, usize::from(step % 10 != 0), "{range:?}");
        assert_eq!(range.uuid, 1);
    }
}
