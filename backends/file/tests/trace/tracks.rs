use nvtxw_abi::raw::{NVTX_SCOPE_CURRENT_VM, NVTX_SCOPE_ROOT};

use crate::Run;
use crate::reader::{Slice, Trace};
use crate::table::{Domain, Plain, Stream, words};

fn mark(stream: &mut Stream, domain: Domain, plain: Plain, name: &str) {
    let payload = words(&[1, domain.string(name) as i64]);
    stream.event(&[(plain.mark, &payload)]).unwrap();
}

fn range(stream: &mut Stream, domain: Domain, plain: Plain, times: [i64; 2], name: &str) {
    let payload = words(&[times[0], times[1], domain.string(name) as i64]);
    stream.event(&[(plain.pushpop, &payload)]).unwrap();
}

/// Whether a reader shows both on one track.
fn merged(trace: &Trace, a: &Slice, b: &Slice) -> bool {
    let (one, other) = (&trace.tracks[&a.uuid], &trace.tracks[&b.uuid]);
    assert_eq!((one.merge, other.merge), (3, 3));
    one.parent == other.parent && one.merge_key == other.merge_key
}

#[test]
fn scopes_are_a_tree_of_tracks_with_the_domain_under_it() {
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
    assert_eq!(trace.instant("in a").track, ["GPU[0]", "Stream[7]", "sim"]);
    assert_eq!(trace.instant("in b").track, ["GPU[0]", "Stream[7]"]);
    assert_eq!(trace.instant("in c").track, ["GPU[0]", "sim"]);
    assert_eq!(trace.instant("in d").track, ["d"]);
    let track = &trace.tracks[&trace.instant("in d").uuid];
    assert_eq!(track.description, "Domain: sim");
    assert!(trace.tracks.values().all(|track| track.ordering == 3));
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
    let scope = x.scope(NVTX_SCOPE_ROOT, "a");
    let mut stream = run.session.stream("s7", x, scope);
    mark(&mut stream, x, Plain::new(x), "in 7");

    let trace = run.read();
    let slices: Vec<_> = (0..8)
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
        &["a", "x"],
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
fn tracks_come_in_the_order_in_which_their_streams_are_opened() {
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
    let ranks = names.map(|name| trace.tracks[&trace.instant(name).uuid].rank);
    assert_eq!(ranks, [0, 1, 2]);
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
    assert_eq!(x.track.join("/"), path("x"));
    assert_eq!(y.track.join("/"), path("y"));
    assert!(!merged(&trace, x, y));
}
