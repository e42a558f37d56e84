use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
};
use nvtxw_abi::{EntryType, EventKind};

use crate::reader::{Arg, Trace};
use crate::replay::Random;
use crate::table::{Entry, entry, time, words};
use crate::{Run, seeds};

const NAMES: [&str; 3] = ["gemm", "softmax", "layer norm"];

/// Name, categories, start, end, and fields.
type Row = (String, Vec<String>, u64, u64, Vec<(String, Arg)>);

fn rows(trace: &Trace, stream: &str) -> Vec<Row> {
    let mut rows: Vec<_> = (trace.ranges.iter())
        .filter(|range| range.track == [stream])
        .map(|range| {
            let end = range.end.expect("the range has an end");
            let categories = range.categories.clone();
            let name = range.name.clone();
            (name, categories, range.start, end, range.args.clone())
        })
        .collect();
    rows.sort_by_key(|row| (row.2, row.3));
    rows
}

/// A number of any width: of 0 to 64 bits.
fn number(random: &mut Random) -> u64 {
    let bits = random.below(65);
    let number = random.below(u64::MAX) << 11 ^ random.below(u64::MAX);
    if bits == 0 { 0 } else { number >> (64 - bits) }
}

/// Ranges with `fields` numbers of each kind in batches, and one by one with a payload more, so that
/// they are read field by field.
fn check(seed: u64, fields: usize, config: &str, base: i64) {
    let mut random = Random::new(seed);
    let run = Run::with(config);
    let domain = run.session.domain("");
    domain.category(7, "compute");
    let mut entries = vec![
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"name")
        },
    ];
    for _ in 0..fields {
        entries.extend([
            entry(EntryType::UInt64, c"u64"),
            entry(EntryType::Int64, c"i64"),
            entry(EntryType::Float64, c"f64"),
            entry(EntryType::Address, c"address"),
            entry(EntryType::Int16, c"i16"),
            entry(EntryType::UInt16, c"u16"),
            entry(EntryType::Float32, c"f32"),
            entry(EntryType::Int32, c"i32"),
            entry(EntryType::UInt32, c"u32"),
            entry(EntryType::Int8, c"i8"),
            entry(EntryType::UInt8, c"u8"),
            Entry {
                flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
                ..entry(EntryType::UInt16, c"hidden")
            },
            entry(EntryType::Category, c"category"),
        ]);
    }
    // The last category counts, and the others are its equals.
    let size = 24 + fields * 56;
    let kind = EventKind::RangeStartEnd.to_raw();
    let schema = domain.schema("range", kind, size, &entries);
    let hidden = Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
        ..entry(EntryType::Int64, c"more")
    };
    let more = domain.schema("more", 0, 8, &[hidden]);
    let names = NAMES.map(|name| domain.string(name));
    let mut batches = run.session.stream("batches", domain, 0);
    let mut singles = run.session.stream("singles", domain, 0);

    let mut want = Vec::new();
    let mut start = 0;
    for _ in 0..random.below(40) {
        let (mut batch, mut bad) = (Vec::new(), false);
        for _ in 0..random.below(50) {
            start += random.below(1000) as i64;
            let end = start + random.below(3000) as i64 - 20;
            let name = random.below(4) as usize;
            let category = [0, 0, 7, 8][random.below(4) as usize];
            let mut payload = words(&[start, end, *names.get(name).unwrap_or(&0) as i64]);
            let mut args = Vec::new();
            for copy in 0..fields {
                let (a, b, c, d) = (
                    number(&mut random),
                    number(&mut random) as i64,
                    number(&mut random),
                    number(&mut random),
                );
                let double = d as f64 / 3.0;
                payload.extend(a.to_ne_bytes());
                payload.extend(b.to_ne_bytes());
                payload.extend(double.to_ne_bytes());
                payload.extend(c.to_ne_bytes());
                payload.extend((b as i16).to_ne_bytes());
                payload.extend((a as u16).to_ne_bytes());
                payload.extend((double as f32).to_ne_bytes());
                payload.extend((b as i32).to_ne_bytes());
                payload.extend((a as u32).to_ne_bytes());
                payload.extend([b as i8 as u8, a as u8]);
                payload.extend(1_u16.to_ne_bytes());
                payload.extend(u32::to_ne_bytes(category));
                let values = [
                    ("u64", Arg::Uint(a)),
                    ("i64", Arg::Int(b)),
                    ("f64", Arg::Double(double)),
                    ("address", Arg::Pointer(c)),
                    ("i16", Arg::Int((b as i16).into())),
                    ("u16", Arg::Uint((a as u16).into())),
                    ("f32", Arg::Double((double as f32).into())),
                    ("i32", Arg::Int((b as i32).into())),
                    ("u32", Arg::Uint((a as u32).into())),
                    ("i8", Arg::Int((b as i8).into())),
                    ("u8", Arg::Uint((a as u8).into())),
                ];
                for (index, (name, value)) in (copy * 13 + 3..).zip(values) {
                    // A name that comes twice has the entry's index.
                    let name = match copy {
                        0 => name.to_owned(),
                        _ => format!("{name} ({index})"),
                    };
                    args.push((name, value));
                }
            }
            let single = singles.event(&[(schema, &payload), (more, &words(&[1]))]);
            assert_eq!(single.is_err(), end < start);
            batch.extend(payload);
            if end < start {
                bad = true;
                continue;
            }
            let category = match category {
                7 if fields > 0 => vec!["compute".to_owned()],
                8 if fields > 0 => vec!["8".to_owned()],
                _ => vec![],
            };
            let name = NAMES.get(name).unwrap_or(&"range").to_string();
            let shown = |time: i64| (time - base) as u64;
            want.push((name, category, shown(start), shown(end), args));
        }
        assert_eq!(batches.batch(schema, &batch).is_err(), bad);
    }
    want.sort_by_key(|row: &Row| (row.2, row.3));
    let trace = run.read();
    let (found, singles) = (rows(&trace, "batches"), rows(&trace, "singles"));
    assert_eq!(found.len(), want.len());
    assert_eq!(singles.len(), want.len());
    for (row, want) in found.iter().chain(&singles).zip(want.iter().chain(&want)) {
        assert_eq!(row, want);
    }
}

#[test]
fn what_comes_in_batches_is_read_as_one_by_one() {
    // Up to more than there is room for before an event is taken field by field.
    for seed in seeds(12) {
        let fields = seed as usize % 12;
        check(seed, fields, "window=20", 0);
        check(seed, fields, "", 0);
    }
}

#[test]
fn batches_have_the_given_base() {
    for seed in 0..8 {
        check(
            seed,
            1,
            "window=20|base=-9000000000000000000",
            -9_000_000_000_000_000_000,
        );
    }
}

#[test]
fn what_was_ready_before_a_negative_timestamp_came_is_moved() {
    const BASE: i64 = -(1 << 62);
    let run = Run::new();
    let domain = run.session.domain("");
    let schema = domain.numbered(EventKind::RangeStartEnd);
    let gemm = domain.string("gemm") as i64;
    let mut one = run.session.stream("one", domain, 0);
    let mut two = run.session.stream("two", domain, 0);
    for n in [1, 2] {
        // The first has a name that is new, the second is as usual.
        one.batch(schema, &words(&[n, n + 1, gemm, n])).unwrap();
    }
    two.batch(schema, &words(&[-5, 7, gemm, 3])).unwrap();
    let trace = run.read();
    let shown = |time: i64| (time - BASE) as u64;
    let row = |start, end, n| {
        let args = vec![("number".to_owned(), Arg::Uint(n))];
        ("gemm".to_owned(), vec![], shown(start), shown(end), args)
    };
    assert_eq!(rows(&trace, "one"), [row(1, 2, 1), row(2, 3, 2)]);
    assert_eq!(rows(&trace, "two"), [row(-5, 7, 3)]);
}

/// Windows turn and grow within batches, wherever that is.
#[test]
fn batches_of_any_length_are_whole() {
    for config in ["", "window=256", "window=2", "format=chrome|window=256"] {
        for count in [1, 16, 127, 128, 160, 333] {
            let run = Run::with(config);
            let domain = run.session.domain("");
            let schema = domain.numbered(EventKind::RangePushPop);
            let mut stream = run.session.stream("main", domain, 0);
            let text = domain.string("step") as i64;
            let batches = 1000 / count + 8;
            for first in (0..batches).map(|batch| batch * count) {
                let all = (first..first + count).map(|n| words(&[n * 10, n * 10 + 5, text, n]));
                let bytes: Vec<u8> = all.flatten().collect();
                stream.batch(schema, &bytes).unwrap();
            }
            let trace = run.read();
            let mut found: Vec<_> = (trace.ranges.iter())
                .map(|range| (range.start as i64, format!("{:?}", range.arg("number"))))
                .collect();
            found.sort();
            let is_json = config.contains("chrome");
            let want = (0..batches * count).map(|n| match is_json {
                true => (n * 10, format!("Int({n})")),
                false => (n * 10, format!("Uint({n})")),
            });
            assert!(found.into_iter().eq(want), "{config} {count}");
        }
    }
}
