//! Fields of all kinds, in batches and one by one.

use std::ffi::CStr;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
    NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_FLAG_MARK,
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END,
};
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::reader::{Arg, Slice, text};
use crate::replay::Random;
use crate::table::{Domain, Entry, Session, Stream, entry, time, words};

/// A field, and a value for it.
struct Column<'a> {
    entry: Entry<'a>,
    align: usize,
    value: fn(&mut Random, &Texts) -> Vec<u8>,
}

/// What values refer to.
struct Texts {
    handles: Vec<u64>,
}

fn array(ty: u64, name: &CStr, count: u64) -> Entry<'_> {
    Entry {
        ty,
        count,
        flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
        ..entry(EntryType::UInt8, name)
    }
}

fn of(ty: u64, name: &CStr) -> Entry<'_> {
    Entry {
        ty,
        ..entry(EntryType::UInt8, name)
    }
}

/// A number of 0 to 64 bits.
fn number(random: &mut Random) -> u64 {
    let bits = random.below(65);
    let number = random.below(u64::MAX) << 11 ^ random.below(u64::MAX);
    number.checked_shr(64 - bits as u32).unwrap_or_default()
}

fn some(count: usize, random: &mut Random, of: impl Fn(&mut Random) -> Vec<u8>) -> Vec<u8> {
    (0..count).flat_map(|_| of(random)).collect()
}

/// The values of a `point`.
fn point(random: &mut Random) -> Vec<u8> {
    let mut bytes = number(random).to_ne_bytes().to_vec();
    bytes.extend((number(random) as f64).to_ne_bytes());
    bytes.extend(color(random));
    bytes.extend([random.below(3) as u8 % 2, 0, 0, 0]);
    bytes
}

/// A named colour of the enum, or one without a name.
fn color(random: &mut Random) -> Vec<u8> {
    let value = [1, 2, 3, 0x8000_0000, 77, u32::MAX][random.below(6) as usize];
    value.to_ne_bytes().to_vec()
}

/// Text in so many bytes, perhaps all of them.
fn short(size: usize, random: &mut Random) -> Vec<u8> {
    let text = ["", "a", "volta_sgemm_128x64_nn", "größer als 128 ×", "b\0c"];
    let mut bytes = text[random.below(5) as usize].as_bytes().to_vec();
    bytes.resize(size, 0);
    if random.below(20) == 0 {
        // No UTF-8.
        bytes[0] = 0xFF;
    }
    bytes
}

/// Registers what columns are of, and gives them.
fn columns(domain: Domain) -> Vec<Column<'static>> {
    let truth = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
    let colors = [
        (c"red", 1),
        (c"green", 2),
        (c"blue", 3),
        (c"far", 0x8000_0000),
    ];
    let colors = domain.enumeration(4, &colors);
    let flags = domain.flags(8, &[(c"pinned", 1), (c"async", 2), (c"wide", 1 << 40)]);
    let entries = [
        entry(EntryType::UInt64, c"x"),
        entry(EntryType::Float64, c"y"),
        of(colors, c"color"),
        of(truth, c"is_set"),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
            ..array(EntryType::UInt8.to_raw(), c"rest", 3)
        },
    ];
    let point_type = domain.schema("point", 0, 24, &entries);
    let pair = domain.schema(
        "pair",
        0,
        56,
        &[
            array(point_type, c"points", 2),
            Entry {
                correlation: Some([7; 16]),
                ..entry(EntryType::UInt64, c"joined")
            },
        ],
    );
    vec![
        Column {
            entry: of(truth, c"is_async"),
            align: 1,
            value: |random, _| {
                let value = [0, 1, 0, 1, 0, 1, 0, 7][random.below(8) as usize];
                vec![value]
            },
        },
        Column {
            entry: of(colors, c"color"),
            align: 4,
            value: |random, _| color(random),
        },
        Column {
            entry: of(flags, c"flags"),
            align: 8,
            value: |random, _| {
                let rest = [0, 0, 0, 1 << 40, 1 << 50, number(random)][random.below(6) as usize];
                (random.below(4) | rest).to_ne_bytes().to_vec()
            },
        },
        Column {
            entry: entry(EntryType::RegisteredString, c"device"),
            align: 8,
            value: |random, texts| {
                let handle = texts.handles[random.below(texts.handles.len() as u64) as usize];
                handle.to_ne_bytes().to_vec()
            },
        },
        Column {
            entry: array(EntryType::RegisteredString.to_raw(), c"peers", 3),
            align: 8,
            value: |random, texts| {
                let count = texts.handles.len() as u64;
                some(3, random, |random| {
                    let handle = texts.handles[random.below(count) as usize];
                    handle.to_ne_bytes().to_vec()
                })
            },
        },
        Column {
            entry: array(EntryType::CStringUtf8.to_raw(), c"tag", 24),
            align: 1,
            value: |random, _| short(24, random),
        },
        Column {
            entry: array(EntryType::Int64.to_raw(), c"grid", 3),
            align: 8,
            value: |random, _| some(3, random, |random| number(random).to_ne_bytes().to_vec()),
        },
        // More than a length of one byte.
        Column {
            entry: array(EntryType::Float32.to_raw(), c"weights", 12),
            align: 4,
            value: |random, _| {
                some(12, random, |random| {
                    (number(random) as f32).to_ne_bytes().to_vec()
                })
            },
        },
        Column {
            entry: array(truth, c"mask", 8),
            align: 1,
            value: |random, _| some(8, random, |random| vec![random.below(2) as u8]),
        },
        Column {
            entry: of(point_type, c"origin"),
            align: 8,
            value: |random, _| point(random),
        },
        Column {
            entry: of(pair, c"pair"),
            align: 8,
            value: |random, _| {
                let mut bytes = some(2, random, point);
                bytes.extend(random.below(9).to_ne_bytes());
                bytes
            },
        },
        Column {
            entry: Entry {
                correlation: Some([3; 16]),
                ..entry(EntryType::Int64, c"flow")
            },
            align: 8,
            value: |random, _| (random.below(7) as i64 - 3).to_ne_bytes().to_vec(),
        },
        Column {
            entry: Entry {
                flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
                correlation: Some([4; 16]),
                ..of(colors, c"hidden")
            },
            align: 4,
            value: |random, _| color(random),
        },
        Column {
            entry: entry(EntryType::ColorArgb, c"shown_as"),
            align: 4,
            value: |random, _| {
                let color = [0, 0xFF00_FF00_u32, 0x8012_3456][random.below(3) as usize];
                color.to_ne_bytes().to_vec()
            },
        },
    ]
}

/// Streams of events in batches, and one by one with a payload more, so that they are read field by field.
struct Pair {
    batches: Stream,
    singles: Stream,
    more: u64,
}

impl Pair {
    fn new(session: &Session, domain: Domain) -> Self {
        let hidden = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::Int64, c"more")
        };
        Self {
            batches: session.stream("batches", domain, 0),
            singles: session.stream("singles", domain, 0),
            more: domain.schema("more", 0, 8, &[hidden]),
        }
    }

    fn write(&mut self, schema: u64, payloads: &[Vec<u8>]) {
        match payloads {
            [one] => self.batches.event(&[(schema, one)]).unwrap(),
            all => self.batches.batch(schema, &all.concat()).unwrap(),
        }
        for payload in payloads {
            let all = [(schema, &payload[..]), (self.more, &words(&[1]))];
            self.singles.event(&all).unwrap();
        }
    }
}

fn check(seed: u64, kind: EventKind, config: &str) {
    let mut random = Random::new(seed);
    let run = Run::with(config);
    let domain = run.session.domain("");
    let texts = Texts {
        handles: [
            vec![0],
            vec![domain.string("GPU 0"), domain.string("GPU 1")],
        ]
        .concat(),
    };
    // Some, in their order, which are near and not too long together for most.
    let mut columns = columns(domain);
    columns.retain(|_| random.below(5) > 1);
    let begin = match kind {
        EventKind::Mark => time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK),
        _ => time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
    };
    let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
    let mut entries = vec![
        begin,
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"name")
        },
    ];
    let is_whole = kind == EventKind::RangeStartEnd;
    entries.extend(is_whole.then_some(end));
    entries.extend(columns.iter().map(|column| column.entry));
    let schema = domain.schema_of(
        "all",
        nvtxw_abi::raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        kind.to_raw(),
        &entries,
    );
    let pop = domain.schema("pop", EventKind::RangePop.to_raw(), 8, &[end]);
    let name = domain.string("gemm") as i64;
    let mut pair = Pair::new(&run.session, domain);
    let (mut at, mut count) = (0, 0);
    for _ in 0..random.below(12) {
        let mut payloads = Vec::new();
        for _ in 0..1 + random.below(50) {
            let len = random.below(9) as i64;
            let mut payload = words(&[at, name]);
            payload.extend(words(&[at + len][..usize::from(is_whole)]));
            for column in &columns {
                payload.resize(payload.len().next_multiple_of(column.align), 0);
                payload.extend((column.value)(&mut random, &texts));
            }
            payload.resize(payload.len().next_multiple_of(8), 0);
            at += len + random.below(9) as i64;
            payloads.push(payload);
        }
        count += payloads.len();
        pair.write(schema, &payloads);
        if kind == EventKind::RangePush {
            let pops: Vec<_> = payloads.iter().map(|_| words(&[at])).collect();
            pair.write(pop, &pops);
        }
    }
    let trace = run.read();
    let all = match kind {
        EventKind::Mark => trace.instants,
        _ => trace.ranges,
    };
    let shown = |stream: &str| -> Vec<Slice> {
        let mine = all.iter().filter(|slice| slice.track == [stream]);
        mine.cloned().collect()
    };
    let (batches, singles) = (shown("batches"), shown("singles"));
    assert_eq!([batches.len(), singles.len()], [count; 2]);
    for (found, want) in batches.iter().zip(&singles) {
        let what = |slice: &Slice| {
            let Slice { start, end, .. } = *slice;
            // Printed, so that what is no number is equal to itself.
            let args = format!("{:?}", slice.args);
            let flows = slice.flows.clone();
            (start, end, args, flows, slice.correlation.clone())
        };
        assert_eq!(what(found), what(want), "{seed} {kind:?} {config}");
    }
}

#[test]
fn fields_of_batches_are_as_those_of_single_events() {
    for seed in 0..40 {
        for kind in [
            EventKind::RangeStartEnd,
            EventKind::Mark,
            EventKind::RangePush,
        ] {
            let config = ["", "window=20"][seed as usize % 2];
            check(seed, kind, config);
        }
    }
}

#[test]
fn values_of_enums_and_truths_are_in_words_again_and_again() {
    let run = Run::new();
    let domain = run.session.domain("");
    let truth = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
    let level = domain.enumeration(1, &[(c"low", 1), (c"high", 9)]);
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
        of(truth, c"truth"),
        of(level, c"level"),
    ];
    let kind = EventKind::RangeStartEnd.to_raw();
    let schema = domain.schema("step", kind, 18, &entries);
    let mut stream = run.session.stream("main", domain, 0);
    let rows: Vec<(u8, u8)> = (0..3)
        .flat_map(|_| [(0, 1), (1, 9), (2, 3), (0, 200), (1, 1)])
        .collect();
    let bytes = (0..).zip(&rows).flat_map(|(n, (truth, level))| {
        let mut payload = words(&[n * 10, n * 10 + 5]);
        payload.extend([*truth, *level]);
        payload
    });
    let bytes: Vec<u8> = bytes.collect();
    stream.batch(schema, &bytes).unwrap();
    let trace = run.read();
    assert_eq!(trace.ranges.len(), rows.len());
    for (range, (truth, level)) in trace.ranges.iter().zip(rows) {
        let truth = match truth {
            0 | 1 => Arg::Bool(truth == 1),
            other => Arg::Uint(other.into()),
        };
        let level = match level {
            1 => text("low"),
            9 => text("high"),
            other => Arg::Uint(other.into()),
        };
        let want = [("truth".to_owned(), truth), ("level".to_owned(), level)];
        assert_eq!(range.args, want);
    }
}

#[test]
fn what_is_hidden_joins_events_whatever_is_beside_it() {
    for more in [EntryType::UInt32, EntryType::Char32] {
        let run = Run::new();
        let domain = run.session.domain("");
        let joined = Entry {
            correlation: Some([5; 16]),
            ..entry(EntryType::UInt64, c"joined")
        };
        let inner = domain.schema("inner", 0, 8, &[joined]);
        let entries = [
            time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK),
            Entry {
                flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
                ..of(inner, c"inner")
            },
            entry(more, c"one"),
            entry(more, c"other"),
        ];
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 24, &entries);
        let mut stream = run.session.stream("main", domain, 0);
        for at in [1, 2] {
            let payload = words(&[at, 77, 65]);
            stream.event(&[(mark, &payload)]).unwrap();
        }
        let trace = run.read();
        let flows: Vec<_> = trace.instants.iter().map(|mark| &mark.flows).collect();
        assert_eq!(flows.len(), 2);
        assert_eq!((flows[0], flows[0].len()), (flows[1], 1), "{more:?}");
    }
}
