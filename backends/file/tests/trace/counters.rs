use std::ffi::CStr;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, SchemaRole};

use crate::Run;
use crate::reader::Number::{Double, Int};
use crate::reader::Trace;
use crate::replay::Random;
use crate::table::{Entry, Stream, entry, time, words};

#[test]
fn values_are_exact_where_the_format_can() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let counter =
        |name: &str, ty: EntryType, unit: Option<&CStr>| domain.counter(name, ty.to_raw(), 0, unit);
    let signed = counter("signed", EntryType::Int64, Some(c"bytes"));
    let unsigned = counter("unsigned", EntryType::UInt64, Some(c"ns"));
    let float = counter("float", EntryType::Float64, Some(c"W/m²"));
    let single = counter("single", EntryType::Float32, None);

    for (at, value) in [(1, i64::MIN), (2, 0), (3, i64::MAX)] {
        stream.sample(at, signed, &value.to_ne_bytes()).unwrap();
    }
    for (at, value) in [(1, i64::MAX as u64), (2, 1 << 63), (3, u64::MAX)] {
        stream.sample(at, unsigned, &value.to_ne_bytes()).unwrap();
    }
    for (at, value) in [(1, f64::INFINITY), (2, f64::NEG_INFINITY), (3, f64::NAN)] {
        stream.sample(at, float, &value.to_ne_bytes()).unwrap();
    }
    stream.sample(1, single, &0.1f32.to_ne_bytes()).unwrap();

    let trace = run.read();
    assert_eq!(
        trace.counter(&["main", "signed"]),
        [(1, Int(i64::MIN)), (2, Int(0)), (3, Int(i64::MAX))]
    );
    assert_eq!(
        trace.counter(&["main", "unsigned"]),
        [
            (1, Int(i64::MAX)),
            (2, Double(9_223_372_036_854_775_808.0)),
            (3, Double(18_446_744_073_709_551_615.0))
        ]
    );
    // Viewers can't draw these.
    assert_eq!(trace.counter(&["main", "float"]), []);
    assert_eq!(
        marks(&trace),
        [
            (1, "float: +Inf".to_owned()),
            (2, "float: -Inf".to_owned()),
            (3, "float: NaN".to_owned())
        ]
    );
    assert_eq!(
        trace.counter(&["main", "single"]),
        [(1, Double(0.1f32.into()))]
    );
    let unit = |name: &str| {
        let mut tracks = trace.tracks.values();
        let track = tracks
            .find(|track| track.name == format!("main {name}"))
            .unwrap();
        assert!(track.is_counter);
        (track.unit, track.unit_name.as_str())
    };
    assert_eq!(unit("signed"), (3, ""));
    assert_eq!(unit("unsigned"), (1, ""));
    assert_eq!(unit("single"), (0, ""));
}

/// Times and names of the instants on the stream's own track.
fn marks(trace: &Trace) -> Vec<(u64, String)> {
    let marks = trace.instants.iter();
    marks
        .map(|mark| {
            assert_eq!(mark.track, ["main"]);
            (mark.start, mark.name.clone())
        })
        .collect()
}

#[test]
fn values_that_can_not_be_drawn_are_marks_in_groups_and_batches_too() {
    for compression in ["", "compression=zlib"] {
        let run = Run::with(compression);
        let domain = run.session.domain("");
        let mut stream = run.session.stream("main", domain, 0);
        let entries = [
            time(c"t", 0),
            entry(EntryType::Float64, c"x"),
            entry(EntryType::Float64, c"y"),
        ];
        let group = domain.schema("group", SchemaRole::CounterGroup.flags(), 24, &entries);
        let counter = domain.counter("pair", group, 0, None);
        let sample =
            |t: i64, x: f64, y: f64| [t.to_ne_bytes(), x.to_ne_bytes(), y.to_ne_bytes()].concat();
        let samples = [
            sample(1, 1.0, 2.0),
            sample(2, f64::NAN, 3.0),
            sample(3, 4.0, f64::INFINITY),
            sample(4, f64::NEG_INFINITY, f64::NAN),
            sample(5, 5.0, 6.0),
        ];
        stream.samples(counter, &samples.concat()).unwrap();
        stream.samples(counter, &sample(6, 7.0, f64::NAN)).unwrap();
        let trace = run.read();
        assert_eq!(
            trace.counter(&["main", "pair", "x"]),
            [(1, 1.0), (3, 4.0), (5, 5.0), (6, 7.0)].map(|(at, x)| (at, Double(x)))
        );
        assert_eq!(
            trace.counter(&["main", "pair", "y"]),
            [(1, Double(2.0)), (2, Double(3.0)), (5, Double(6.0))]
        );
        assert_eq!(
            marks(&trace),
            [
                (2, "pair/x: NaN".to_owned()),
                (3, "pair/y: +Inf".to_owned()),
                (4, "pair/x: -Inf".to_owned()),
                (4, "pair/y: NaN".to_owned()),
                (6, "pair/y: NaN".to_owned())
            ]
        );
    }
}

#[test]
fn samples_go_to_the_scope_that_they_name() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let [a, b] = ["GPU[0]", "GPU[1]"].map(|path| domain.scope(NVTX_SCOPE_ROOT, path));
    let entries = [
        time(c"t", 0),
        entry(EntryType::ScopeId, c"gpu"),
        entry(EntryType::Int64, c"power"),
    ];
    let group = domain.schema("group", SchemaRole::CounterGroup.flags(), 24, &entries);
    let counter = domain.counter("dram", group, 0, None);
    let samples = [1, a, 5, 1, b, 6, 2, a, 7, 3, 0, 8].map(|word: u64| word as i64);
    stream.samples(counter, &words(&samples)).unwrap();
    let trace = run.read();
    let values = |path: &[&str]| trace.counter(path);
    assert_eq!(
        values(&["GPU[0]", "dram", "power"]),
        [(1, Int(5)), (2, Int(7))]
    );
    assert_eq!(values(&["GPU[1]", "dram", "power"]), [(1, Int(6))]);
    assert_eq!(values(&["main", "dram", "power"]), [(3, Int(8))]);
}

#[test]
fn samples_without_a_value() {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let counter = domain.counter("c", EntryType::Int64.to_raw(), 0, None);
    stream
        .no_value(1, counter, NVTX_COUNTER_SAMPLE_UNCHANGED)
        .unwrap();
    stream.sample(2, counter, &7i64.to_ne_bytes()).unwrap();
    stream
        .no_value(3, counter, NVTX_COUNTER_SAMPLE_UNCHANGED)
        .unwrap();
    stream
        .no_value(4, counter, NVTX_COUNTER_SAMPLE_UNAVAILABLE)
        .unwrap();
    stream
        .no_value(5, counter, NVTX_COUNTER_SAMPLE_UNCHANGED)
        .unwrap();
    stream
        .no_value(6, counter, NVTX_COUNTER_SAMPLE_ZERO)
        .unwrap();
    stream
        .no_value(7, counter, NVTX_COUNTER_SAMPLE_UNCHANGED)
        .unwrap();
    let trace = run.read();
    let values = trace.counter(&["main", "c"]);
    assert_eq!(
        values,
        [
            (2, Int(7)),
            (3, Int(7)),
            (5, Int(7)),
            (6, Int(0)),
            (7, Int(0))
        ]
    );
    assert_eq!(marks(&trace), [(4, "c: unavailable".to_owned())]);
}

#[test]
fn a_group_is_a_folder_of_counters() {
    let run = Run::new();
    let domain = run.session.domain("sim");
    let scope = domain.scope(NVTX_SCOPE_ROOT, "HBM[1]");
    let mut stream = run.session.stream("main", domain, scope);
    let inner = domain.schema(
        "inner",
        0,
        16,
        &[
            entry(EntryType::Int64, c"x"),
            entry(EntryType::Float64, c"y"),
        ],
    );
    let entries = [
        time(c"when", 0),
        Entry {
            unit: Some(c"bytes"),
            ..entry(EntryType::Int64, c"read")
        },
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::Int64, c"secret")
        },
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
            count: 2,
            ..entry(EntryType::Int64, c"banks")
        },
        Entry {
            ty: inner,
            ..entry(EntryType::Int64, c"detail")
        },
    ];
    let schema = domain.schema("traffic", SchemaRole::CounterGroup.flags(), 56, &entries);
    let group = domain.counter("traffic", schema, 0, Some(c"packets"));
    let early = domain.counter("early", schema, NVTX_SCOPE_ROOT, None);
    stream.no_value(3, early, NVTX_COUNTER_SAMPLE_ZERO).unwrap();
    let mut samples = Vec::new();
    for step in 0..2 {
        samples.extend(words(&[
            100 + step,
            step,
            666,
            10 + step,
            20 + step,
            30 + step,
        ]));
        samples.extend((step as f64 / 2.0).to_ne_bytes());
    }
    stream.samples(group, &samples).unwrap();

    let trace = run.read();
    let counter = |name| trace.counter(&["HBM[1]", "traffic", name]);
    assert_eq!(counter("read"), [(100, Int(0)), (101, Int(1))]);
    assert_eq!(counter("banks[0]"), [(100, Int(10)), (101, Int(11))]);
    assert_eq!(counter("banks[1]"), [(100, Int(20)), (101, Int(21))]);
    assert_eq!(counter("detail.x"), [(100, Int(30)), (101, Int(31))]);
    assert_eq!(
        counter("detail.y"),
        [(100, Double(0.0)), (101, Double(0.5))]
    );
    assert_eq!(trace.counter(&["early", "detail.y"]), [(3, Int(0))]);
    assert_eq!(trace.values.len(), 15);
    let with_unit = |name: &str, unit: (u64, &str)| {
        let tracks = trace.tracks.values().filter(|track| track.name == name);
        let units = tracks.map(|track| (track.unit, track.unit_name.as_str()));
        units.filter(|found| *found == unit).count()
    };
    // Fields that have no unit have that of the group.
    assert_eq!(with_unit("read", (3, "")), 2);
    assert_eq!(with_unit("banks[1]", (0, "packets")), 1);
    assert_eq!(with_unit("banks[1]", (0, "")), 1);
}

#[test]
fn values_of_samples_that_differ_go_to_tracks_of_their_own() {
    let run = Run::new();
    let domain = run.session.domain("");
    let of = |ty, count, name| Entry {
        ty,
        count,
        ..entry(EntryType::Int8, name)
    };
    let pair = [entry(EntryType::Int32, c"x"), entry(EntryType::Int32, c"y")];
    let pair = domain.schema("pair", 0, 8, &pair);
    let members = [
        entry(EntryType::Int64, c"whole"),
        of(pair, 0, c"pair"),
        Entry {
            unit: Some(c"bytes"),
            ..entry(EntryType::Float64, c"real")
        },
    ];
    let either = domain.schema_of("either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 0, &members);
    let entries = [
        time(c"when", 0),
        entry(EntryType::UInt32, c"which"),
        entry(EntryType::UInt32, c"count"),
        Entry {
            unit: Some(c"packets"),
            ..of(either, 1, c"value")
        },
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
            ..of(pair, 2, c"pairs")
        },
    ];
    let dynamic = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    let schema = domain.schema_of("group", dynamic, SchemaRole::CounterGroup.flags(), &entries);
    let group = domain.counter("traffic", schema, NVTX_SCOPE_ROOT, None);
    let packed = |x: u32, y: u32| i64::from(y) << 32 | i64::from(x);
    let head = |which, count| packed(which, count);
    let samples = [
        words(&[10, head(0, 0), -7]),
        words(&[20, head(1, 2), packed(1, 2), packed(3, 4), packed(5, 6)]),
        words(&[30, head(2, 1), 0.5_f64.to_bits() as i64, packed(7, 8)]),
    ]
    .concat();
    // Two streams meet the names in different orders.
    let mut first = run.session.stream("first", domain, 0);
    first.samples(group, &samples).unwrap();
    let mut second = run.session.stream("second", domain, 0);
    let late = words(&[40, head(2, 0), 1.5_f64.to_bits() as i64]);
    second.samples(group, &late).unwrap();
    first.no_value(50, group, NVTX_COUNTER_SAMPLE_ZERO).unwrap();
    first.close().unwrap();
    second.close().unwrap();

    let trace = run.read();
    let counter = |name| trace.counter(&["traffic", name]);
    let at = |time, value| (time, Int(value));
    assert_eq!(
        counter("which"),
        [at(10, 0), at(20, 1), at(30, 2), at(40, 2), at(50, 0)]
    );
    assert_eq!(
        counter("count"),
        [at(10, 0), at(20, 2), at(30, 1), at(40, 0), at(50, 0)]
    );
    assert_eq!(counter("value.whole"), [at(10, -7), at(50, 0)]);
    assert_eq!(counter("value.pair.x"), [at(20, 1), at(50, 0)]);
    assert_eq!(counter("value.pair.y"), [at(20, 2), at(50, 0)]);
    assert_eq!(
        counter("value.real"),
        [(30, Double(0.5)), (40, Double(1.5)), at(50, 0)]
    );
    assert_eq!(counter("pairs[0].x"), [at(20, 3), at(30, 7), at(50, 0)]);
    assert_eq!(counter("pairs[0].y"), [at(20, 4), at(30, 8), at(50, 0)]);
    assert_eq!(counter("pairs[1].x"), [at(20, 5), at(50, 0)]);
    assert_eq!(counter("pairs[1].y"), [at(20, 6), at(50, 0)]);
    assert_eq!(trace.values.len(), 29);
    let unit = |name: &str| {
        let mut tracks = trace.tracks.values().filter(|track| track.name == name);
        let track = tracks.next().expect("a track");
        assert!(tracks.next().is_none(), "one for both streams");
        (track.unit, track.unit_name.as_str())
    };
    // A field's own, or that of what it is in.
    assert_eq!(unit("value.real"), (3, ""));
    assert_eq!(unit("value.pair.x"), (0, "packets"));
    assert_eq!(unit("pairs[0].x"), (0, ""));
}

#[test]
fn a_counter_is_one_track_for_each_scope() {
    let run = Run::new();
    let domain = run.session.domain("");
    let scopes = ["a", "b"].map(|path| domain.scope(NVTX_SCOPE_ROOT, path));
    let fixed = domain.scope(NVTX_SCOPE_ROOT, "fixed");
    let here = domain.counter("load", EntryType::Int64.to_raw(), 0, None);
    let there = domain.counter("load", EntryType::Int64.to_raw(), fixed, None);
    for (value, scope) in scopes.into_iter().enumerate() {
        let mut stream = run.session.stream(&format!("s{value}"), domain, scope);
        let value = value as i64;
        stream.sample(value, here, &value.to_ne_bytes()).unwrap();
        stream.sample(value, there, &value.to_ne_bytes()).unwrap();
    }
    let trace = run.read();
    assert_eq!(trace.counter(&["a", "load"]), [(0, Int(0))]);
    assert_eq!(trace.counter(&["b", "load"]), [(1, Int(1))]);
    assert_eq!(
        trace.counter(&["fixed", "load"]),
        [(0, Int(0)), (1, Int(1))]
    );
    assert_eq!(trace.tracks.values().filter(|t| t.is_counter).count(), 3);
}

/// A character keeps a group from being read by the places of its values.
#[test]
fn groups_are_the_same_however_they_are_read() {
    let at_once = compare_groups(|_, _| {});
    // Two sync points: each tick is two nanoseconds.
    let moved = compare_groups(|stream, _| {
        let clocks = [0, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC];
        stream.sync(clocks, [0, 1000]).unwrap();
        stream.sync(clocks, [1000, 3000]).unwrap();
    });
    let other_base = compare_groups(|stream, counter| {
        stream.sample(-1, counter, &0_i64.to_ne_bytes()).unwrap();
    });
    assert_eq!(at_once.len(), moved.len());
    assert_eq!(at_once.len(), other_base.len());
    for ((time, value), (late, other)) in at_once.iter().zip(&moved) {
        assert_eq!((1000 + 2 * time, value), (*late, other));
    }
    for ((time, value), (late, other)) in at_once.iter().zip(&other_base) {
        assert_eq!((time + (1 << 62), value), (*late, other));
    }
}

/// The values of a group that is read by places, each with its time; they are those of one that is read field by field. What
/// comes `behind` them may tell that they were not ready.
fn compare_groups(behind: impl FnOnce(&mut Stream, u64)) -> Vec<(u64, String)> {
    let run = Run::new();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let of = |ty: u64, count: u64, name| Entry {
        ty,
        count,
        flags: match count {
            0 => 0,
            _ => NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
        },
        ..entry(EntryType::Int8, name)
    };
    let level = domain.enumeration(2, &[(c"low", 1), (c"high", 0xFFFF)]);
    let point = [
        time(c"t", 0),
        entry(EntryType::Int8, c"x"),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::UInt8, c"hidden")
        },
        of(EntryType::Float32.to_raw(), 3, c"y"),
    ];
    let point = domain.schema("point", 0, 24, &point);
    let entries = [
        time(c"when", 0),
        entry(EntryType::UInt64, c"great"),
        entry(EntryType::Int64, c"signed"),
        entry(EntryType::Float64, c"double"),
        of(point, 2, c"points"),
        of(level, 0, c"level"),
        // More tracks than a stream knows without a search.
        of(EntryType::Int16.to_raw(), 40, c"many"),
        entry(EntryType::UInt8, c"byte"),
        entry(EntryType::Char, c"character"),
    ];
    let flags = SchemaRole::CounterGroup.flags();
    let kinds =
        [&entries[..8], &entries].map(|entries| domain.schema("group", flags, 168, entries));
    let counters = ["by places", "field by field"].map(|name| {
        let schema = kinds[usize::from(name != "by places")];
        domain.counter(name, schema, 0, None)
    });
    let mut random = Random::new(3);
    for n in 0..40 {
        let mut samples = Vec::new();
        for step in 0..1 + random.below(5) {
            let mut sample = words(&[(n * 10 + step) as i64]);
            sample.resize_with(168, || random.below(256) as u8);
            samples.extend(sample);
        }
        for counter in counters {
            stream.samples(counter, &samples).unwrap();
        }
    }
    let other = domain.counter("other", EntryType::Int64.to_raw(), 0, None);
    behind(&mut stream, other);
    let trace = run.read();
    let of = |group: &str| -> Vec<_> {
        let mine = trace.values.iter().filter(|(path, ..)| path[1] == group);
        let mine = mine.filter(|(path, ..)| path.get(2).is_some_and(|name| name != "character"));
        let mut all: Vec<_> = mine
            .map(|(path, time, value, _)| (*time, format!("{:?} {value:?}", &path[2..])))
            .collect();
        // Of values that can't be drawn.
        all.extend(trace.instants.iter().filter_map(|mark| {
            let (of, name) = mark.name.split_once('/')?;
            (of == group).then(|| (mark.start, name.to_owned()))
        }));
        all.sort();
        all
    };
    let [places, fields] = ["by places", "field by field"].map(of);
    assert_eq!(places.len() % 55, 0);
    assert!(places.len() > 55 * 40);
    assert_eq!(places, fields);
    places
}
