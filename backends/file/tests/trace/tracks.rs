use std::fmt::Write;

use nvtxw_abi::raw::{NVTX_SCOPE_CURRENT_VM, NVTX_SCOPE_ROOT};
use nvtxw_abi::{EntryType, EventKind, SchemaRole};

use crate::Run;
use crate::content::mark_time;
use crate::reader::{Slice, Trace, Track};
use crate::table::{Domain, Entry, Plain, Stream, entry, time, words};

fn mark(stream: &mut Stream, domain: Domain, plain: Plain, name: &str) {
    let payload = words(&[1, domain.string(name) as i64]);
    stream.event(&[(plain.mark, &payload)]).unwrap();
}

fn range(stream: &mut Stream, domain: Domain, plain: Plain, times: [i64; 2], name: &str) {
    let payload = words(&[times[0], times[1], domain.string(name) as i64]);
    stream.event(&[(plain.pushpop, &payload)]).unwrap();
}

/// The tracks as viewers show them: names, of processes and threads after their numbers.
fn tree(trace: &Trace) -> String {
    let mut out = String::new();
    add_children(trace, 0, 0, &mut out);
    out
}

fn add_children(trace: &Trace, parent: u64, depth: usize, out: &mut String) {
    let is_child = |track: &&Track| track.parent == parent;
    let mut children: Vec<_> = trace
        .tracks
        .iter()
        .filter(|(_, track)| is_child(track))
        .collect();
    // Lanes of one place are shown as one track.
    children.sort_by_key(|(uuid, track)| (track.rank, track.merge_key, **uuid));
    children.dedup_by_key(|(uuid, track)| match track.merge_key {
        0 => **uuid,
        key => key,
    });
    for (uuid, track) in children {
        let line = match &track.owner {
            Some((pid, 0, name)) => format!("process {pid} {name}"),
            Some((_, tid, name)) => format!("thread {tid} {name}"),
            None if track.is_counter => format!("counter {}", track.name),
            None => track.name.clone(),
        };
        writeln!(out, "{:1$}{line}", "", 2 * depth).unwrap();
        if track.owner.is_some() {
            assert_eq!(track.sort_index, track.rank);
        }
        add_children(trace, *uuid, depth + 1, out);
    }
}

/// Whether a reader shows both on one track.
fn merged(trace: &Trace, a: &Slice, b: &Slice) -> bool {
    let (one, other) = (&trace.tracks[&a.uuid], &trace.tracks[&b.uuid]);
    assert_eq!((one.merge, other.merge), (3, 3));
    one.parent == other.parent && one.merge_key == other.merge_key
}

#[test]
fn scopes_are_processes_threads_and_tracks_below() {
    let run = Run::new();
    let sim = run.session.domain("sim");
    let default = run.session.domain("");
    let (plain, plain_default) = (Plain::new(sim), Plain::new(default));
    let gpu = sim.scope(NVTX_SCOPE_ROOT, "GPU[0]");
    let stream7 = sim.scope(gpu, "Stream[7]");
    let same = default.scope(NVTX_SCOPE_ROOT, "/GPU[0]/Stream[7]");
    let mut a = run.session.stream("a", sim, stream7);
    let mut b = run.session.stream("b", default, same);
    let mut c = run.session.stream("c", sim, gpu);
    let mut d = run.session.stream("d", sim, 0);
    mark(&mut a, sim, plain, "in a");
    mark(&mut b, default, plain_default, "in b");
    mark(&mut c, sim, plain, "in c");
    mark(&mut d, sim, plain, "in d");
    let trace = run.read();
    assert_eq!(trace.instant("in a").track, ["GPU[0]", "Stream[7]"]);
    assert_eq!(trace.instant("in b").track, ["GPU[0]", "Stream[7]"]);
    assert_eq!(trace.instant("in c").track, ["GPU[0]"]);
    assert_eq!(trace.instant("in d").track, ["d"]);
    let track = &trace.tracks[&trace.instant("in d").uuid];
    assert_eq!(track.description, "Domain: sim");
    assert!(trace.tracks.values().all(|track| track.ordering == 3));
    assert_eq!(
        tree(&trace),
        "\
process 1 GPU[0]
  thread 1 GPU[0]
    GPU[0]
  thread 2 Stream[7]
    Stream[7]
process 3 run
  thread 4 d
    d
"
    );
}

#[test]
fn one_place_is_one_track_whatever_streams_and_lanes_it_has() {
    let run = Run::new();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let scope = domain.scope(NVTX_SCOPE_ROOT, "queue");
    let mut a = run.session.stream("a", domain, scope);
    let mut b = run.session.stream("b", domain, scope);
    range(&mut a, domain, plain, [0, 10], "a 1");
    range(&mut a, domain, plain, [5, 15], "a 2");
    range(&mut b, domain, plain, [7, 17], "b 1");
    let trace = run.read();
    let [a1, a2, b1] = ["a 1", "a 2", "b 1"].map(|name| trace.range(name));
    assert!(a1.uuid != a2.uuid && a1.uuid != b1.uuid && a2.uuid != b1.uuid);
    assert!(merged(&trace, a1, a2) && merged(&trace, a1, b1));
    for range in [a1, a2, b1] {
        assert_eq!(range.track, ["queue"]);
        assert_eq!(trace.tracks[&range.uuid].rank, 0);
    }
}

#[test]
fn equal_names_in_different_places_stay_apart() {
    let run = Run::new();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let places = [
        domain.scope(NVTX_SCOPE_ROOT, "a/x"),
        domain.scope(NVTX_SCOPE_ROOT, "b/x"),
        domain.scope(NVTX_SCOPE_ROOT, r"a\/x"),
        domain.scope(NVTX_SCOPE_ROOT, "a/x[1]"),
        domain.scope(NVTX_SCOPE_ROOT, r"a/x\[1\]"),
        domain.scope(NVTX_SCOPE_CURRENT_VM, "a/x"),
    ];
    for (index, scope) in places.into_iter().enumerate() {
        let mut stream = run.session.stream(&format!("s{index}"), domain, scope);
        mark(&mut stream, domain, plain, &format!("in {index}"));
    }
    // A stream without scope that is called as a scope, and a domain that is.
    let mut stream = run.session.stream("a", domain, 0);
    mark(&mut stream, domain, plain, "in 6");
    let x = run.session.domain("x");
    let scope = x.scope(NVTX_SCOPE_ROOT, "c");
    domain.scope(NVTX_SCOPE_ROOT, "d");
    let second = x.scope(NVTX_SCOPE_ROOT, "d");
    let mut stream = run.session.stream("s7", x, second);
    mark(&mut stream, x, Plain::new(x), "in 7");
    let mut stream = run.session.stream("s8", x, scope);
    mark(&mut stream, x, Plain::new(x), "in 8");

    let trace = run.read();
    let slices: Vec<_> = (0..9)
        .map(|index| trace.instant(&format!("in {index}")))
        .collect();
    let paths = [
        &["a", "x"][..],
        &["b", "x"],
        &["a/x"],
        &["a", "x[1]"],
        &["a", "x[1]"],
        &["a", "x"],
        &["a"],
        &["d", "x"],
        &["c"],
    ];
    for (index, slice) in slices.iter().enumerate() {
        assert_eq!(slice.track, paths[index]);
        for other in &slices[..index] {
            assert_ne!(slice.uuid, other.uuid);
            assert!(!merged(&trace, slice, other), "{slice:?} {other:?}");
        }
    }
}

#[test]
fn tracks_are_in_the_order_of_registration() {
    let run = Run::new();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let root = domain.scope(NVTX_SCOPE_ROOT, "root");
    let names = ["z", "m", "a"];
    let mut streams = names.map(|name| {
        let scope = domain.scope(root, name);
        run.session.stream(name, domain, scope)
    });
    for (stream, name) in streams.iter_mut().zip(names).rev() {
        mark(stream, domain, plain, name);
    }
    let trace = run.read();
    let thread = |name| &trace.tracks[&trace.tracks[&trace.instant(name).uuid].parent];
    assert_eq!(names.map(|name| thread(name).rank), [1, 2, 3]);
}

#[test]
fn a_scope_deeper_than_readers_follow_is_one_track_at_its_end() {
    let run = Run::new();
    let domain = run.session.domain("");
    let path = |last: &str| {
        let mut path: Vec<_> = (0..200).map(|depth| format!("n{depth}")).collect();
        path.push(last.to_owned());
        path.join("/")
    };
    let plain = Plain::new(domain);
    for last in ["x", "y"] {
        let scope = domain.scope(NVTX_SCOPE_ROOT, &path(last));
        let mut stream = run.session.stream(last, domain, scope);
        mark(&mut stream, domain, plain, last);
    }
    let trace = run.read();
    let (x, y) = (trace.instant("x"), trace.instant("y"));
    assert_eq!(x.track.len(), 91);
    // The process and the thread included.
    assert_eq!(trace.depth(x.uuid), 92);
    assert_eq!(x.track.join("/"), path("x"));
    assert_eq!(y.track.join("/"), path("y"));
    assert!(!merged(&trace, x, y));
}

fn sample(stream: &mut Stream, counter: u64) {
    stream.sample(1, counter, &words(&[1])).unwrap();
}

#[test]
fn counters_of_a_thread_are_beside_its_rows_and_have_its_name() {
    let run = Run::new();
    let domain = run.session.domain("");
    let scope = |path| domain.scope(NVTX_SCOPE_ROOT, path);
    let [gpu, engine, deep] = ["GPU[0]", "GPU[0]/Engine[0]", "GPU[0]/Engine[0]/SM[1]"].map(scope);
    let counter = |name, scope| domain.counter(name, EntryType::Int64.to_raw(), scope, None);
    let of = |name, unit| Entry {
        unit,
        ..entry(EntryType::Int64, name)
    };
    let entries = [
        time(c"t", 0),
        of(c"read", Some(c"bytes")),
        of(c"written", Some(c"bytes")),
        of(c"load", Some(c"%")),
        of(c"requests", None),
    ];
    let group = SchemaRole::CounterGroup.flags();
    let group = domain.schema("group", group, 40, &entries);
    let groups = [gpu, engine].map(|scope| domain.counter("traffic", group, scope, None));
    let mut stream = run.session.stream("main", domain, 0);
    for counter in [
        counter("temperature", gpu),
        counter("depth", engine),
        counter("warps", deep),
        counter("power", NVTX_SCOPE_ROOT),
        counter("used", 0),
    ] {
        sample(&mut stream, counter);
    }
    for group in groups {
        stream.samples(group, &words(&[1, 2, 3, 4, 5])).unwrap();
    }
    let trace = run.read();
    assert_eq!(
        tree(&trace),
        "\
process 1 GPU[0]
  thread 2 Engine[0]
    Engine[0]
      SM[1]
        counter warps
    Engine[0] traffic
      counter read
      counter written
      counter load
      counter requests
    counter Engine[0] depth
  traffic
    counter read
    counter written
    counter load
    counter requests
  counter temperature
process 3 run
  thread 4 main
    counter main used
  counter power
"
    );
    assert_eq!(
        trace
            .counter(&["GPU[0]", "Engine[0]", "traffic", "read"])
            .len(),
        1
    );
    assert_eq!(trace.counter(&["GPU[0]", "traffic", "read"]).len(), 1);
    assert_eq!(trace.counter(&["main", "used"]).len(), 1);
    let axes = |name| {
        let tracks = trace.tracks.values().filter(|track| track.name == name);
        let mut axes: Vec<_> = tracks.map(|track| &*track.y_axis).collect();
        axes.sort();
        axes
    };
    // Members of one group with one unit share an axis.
    let read = axes("read");
    assert!(read[0] != read[1] && !read[0].is_empty());
    assert_eq!(axes("written"), read);
    assert!(axes("load").iter().all(|axis| !read.contains(axis)));
    assert_eq!(
        [axes("requests"), axes("temperature")].concat(),
        ["", "", ""]
    );
}

#[test]
fn real_numbers_stay_and_others_are_made_up() {
    let run = Run::new();
    let domain = run.session.domain("");
    domain.name_thread(42, c"decoder");
    domain.name_thread(1234, c"server");
    let plain = Plain::new(domain);
    for path in [
        "GPU[0]",
        "Process[2]/Worker",
        "Process[1]",
        "PID[2]",
        "Process[1234]",
        "Process[1234]/Thread[42]",
        "Process[1234]/Thread[1234]",
        "Process[7]/TID[42]",
        "Process[7]/Thread[9]",
        "Process[0]/Thread[-5]",
        "Process[2147483648]/Thread[4]",
        "3914/7",
        "0/-7",
    ] {
        let scope = domain.scope(NVTX_SCOPE_ROOT, path);
        let mut stream = run.session.stream(path, domain, scope);
        mark(&mut stream, domain, plain, path);
    }
    let trace = run.read();
    assert_eq!(
        tree(&trace),
        "\
process 1 GPU[0]
  thread 1 GPU[0]
    GPU[0]
process 2 Process
  thread 3 Worker
    Worker
process 4 Process[1]
  thread 4 Process[1]
    Process[1]
process 5 PID[2]
  thread 5 PID[2]
    PID[2]
process 1234 server
  thread 1234 server
    server
    Thread[1234]
  thread 42 decoder
    decoder
process 7 Process
  thread 42 decoder
    decoder
  thread 9 Thread
    Thread[9]
process 6 Process[0]
  thread 8 Thread[-5]
    Thread[-5]
process 10 Process[2147483648]
  thread 4 Thread
    Thread[4]
process 3914 Process
  thread 7 Thread
    Thread 7
process 11 Process 0
  thread 12 Thread -7
    Thread -7
"
    );
    for (path, track) in [
        ("Process[1234]", &["Process[1234]"][..]),
        ("Process[1234]/Thread[42]", &["Process[1234]", "Thread[42]"]),
        (
            "Process[1234]/Thread[1234]",
            &["Process[1234]", "Thread[1234]"],
        ),
        ("3914/7", &["Process 3914", "Thread 7"]),
    ] {
        assert_eq!(trace.instant(path).track, track);
    }
}

#[test]
fn the_first_domain_of_a_scope_stands_in_it_and_later_ones_below() {
    for is_swapped in [false, true] {
        let run = Run::new();
        let [one, two] = ["compute", "network"].map(|name| run.session.domain(name));
        let paths = ["rank", "rank/queue", "rank/queue/deep"];
        let scopes = [one, two].map(|domain| {
            let scopes = paths.map(|path| domain.scope(NVTX_SCOPE_ROOT, path));
            (domain, scopes)
        });
        let alone = two.scope(NVTX_SCOPE_ROOT, "alone");
        let mut streams = Vec::new();
        for (name, (domain, scopes)) in ["one", "two"].into_iter().zip(scopes) {
            for (scope, path) in scopes.into_iter().zip(paths) {
                let ty = EntryType::Int64.to_raw();
                let counter = domain.counter(&format!("{name} {path}"), ty, scope, None);
                let stream = run.session.stream(&format!("{name} {path}"), domain, scope);
                streams.push((stream, domain, Plain::new(domain), Some(counter)));
            }
        }
        let stream = run.session.stream("alone", two, alone);
        streams.push((stream, two, Plain::new(two), None));
        // It does not matter who writes first.
        if is_swapped {
            streams.reverse();
        }
        for (stream, domain, plain, counter) in &mut streams {
            mark(stream, *domain, *plain, "mark");
            if let Some(counter) = counter {
                sample(stream, *counter);
            }
        }
        let trace = run.read();
        assert_eq!(
            tree(&trace),
            "\
process 1 rank
  thread 1 rank
    rank
      network
  thread 2 queue
    queue
      deep
        network
          counter two rank/queue/deep
        counter one rank/queue/deep
      network
    queue network
      counter two rank/queue
    counter queue one rank/queue
  network
    counter two rank
  counter one rank
process 3 alone
  thread 3 alone
    alone
"
        );
    }
}

#[test]
fn numbers_and_order_do_not_depend_on_which_stream_is_written_first() {
    let trees = [false, true].map(|is_swapped| {
        let run = Run::new();
        let mut streams = Vec::new();
        for name in ["a", "b"] {
            let domain = run.session.domain(name);
            let entries = [
                mark_time(),
                entry(EntryType::PidUInt64, c"pid"),
                entry(EntryType::TidUInt64, c"tid"),
                entry(EntryType::ScopeId, c"scope"),
            ];
            let flags = EventKind::Mark.to_raw();
            let [os, placed] = [&entries[..3], &[entries[0], entries[3]]]
                .map(|entries| domain.schema("mark", flags, 8 * entries.len(), entries));
            let stream = run.session.stream(name, domain, 0);
            let scope = domain.scope(NVTX_SCOPE_ROOT, &format!("scope of {name}/x"));
            streams.push((stream, os, placed, scope));
        }
        if is_swapped {
            streams.reverse();
        }
        for (number, (stream, os, placed, scope)) in streams.iter_mut().enumerate() {
            let number = if is_swapped { 1 - number } else { number } as i64;
            stream
                .event(&[(*placed, &words(&[1, *scope as i64]))])
                .unwrap();
            stream
                .event(&[(*os, &words(&[1, 300 - number, 20 - number]))])
                .unwrap();
            stream
                .event(&[(*os, &words(&[1, 200, 20 - number]))])
                .unwrap();
        }
        tree(&run.read())
    });
    assert_eq!(trees[0], trees[1]);
    assert_eq!(
        trees[0],
        "\
process 3 scope of a
  thread 4 x
    x
process 6 scope of b
  thread 7 x
    x
process 200 Process
  thread 19 Thread
    Thread[19]
      b
  thread 20 Thread
    Thread[20]
process 299 Process
  thread 19 Thread
    Thread[19]
      b
process 300 Process
  thread 20 Thread
    Thread[20]
"
    );
}
