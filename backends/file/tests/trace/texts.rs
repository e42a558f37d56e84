//! Fields that are text of any length: in flexible data, behind pointers and in the event itself.

use std::ffi::CStr;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
    NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
    NVTX_PAYLOAD_ENTRY_FLAG_MARK, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
    NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
};
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::reader::{Arg, Trace, text};
use crate::replay::Random;
use crate::table::{Entry, entry, time, words};

const MESSAGE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
const HIDDEN: u64 = NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
const UP_TO_NULL: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
const AWAY: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;

/// Name, start, and fields.
type Row = (String, u64, Vec<(String, Arg)>);

fn rows(trace: &Trace) -> Vec<Row> {
    let all = trace.ranges.iter().chain(&trace.instants);
    let row = all.map(|slice| (slice.name.clone(), slice.start, slice.args.clone()));
    let mut rows: Vec<_> = row.collect();
    rows.sort_by_key(|row| row.1);
    rows
}

fn flagged(flags: u64, ty: EntryType, name: &CStr) -> Entry<'_> {
    Entry {
        flags,
        ..entry(ty, name)
    }
}

/// Text whose length the entry of this index tells.
fn counted(flags: u64, teller: u64, name: &CStr) -> Entry<'_> {
    Entry {
        flags: AWAY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX | flags,
        count: teller,
        ..entry(EntryType::CStringUtf8, name)
    }
}

/// Data with a null behind each text but the last one, and where these are.
fn pool(random: &mut Random) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut bytes, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let text = match random.below(8) {
            0 => Vec::new(),
            1 => vec![b'a', 0xFF, 0xC3],
            2 => "ö".repeat(random.below(400) as usize).into_bytes(),
            3 if random.below(20) == 0 => vec![b'x'; 20_000],
            _ => format!("path {}", random.below(30)).into_bytes(),
        };
        texts.push((bytes.len(), text.len()));
        bytes.extend(text);
        bytes.push(0);
    }
    texts.push((bytes.len(), 3));
    bytes.extend(b"end");
    (bytes, texts)
}

/// Events in batches with a message, a text of a given length and one up to a null, perhaps a further one behind a pointer. Some
/// of them lead out of the data: these are refused, and no others.
fn check(seed: u64, kind: EventKind, config: &str) {
    let mut random = Random::new(seed);
    let run = Run::with(config);
    let domain = run.session.domain("");
    let is_mark = kind == EventKind::Mark;
    let (has_handle, has_pointer) = (seed.is_multiple_of(2), seed.is_multiple_of(3));
    let begin = match is_mark {
        true => NVTX_PAYLOAD_ENTRY_FLAG_MARK,
        false => NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
    };
    let mut entries = vec![time(c"start", begin)];
    if !is_mark {
        entries.push(time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END));
    }
    entries.push(flagged(HIDDEN, EntryType::UInt64, c"length"));
    entries.push(match has_handle {
        true => flagged(MESSAGE, EntryType::RegisteredString, c"name"),
        false => counted(MESSAGE, entries.len() as u64 - 1, c"name"),
    });
    entries.push(entry(EntryType::UInt64, c"count"));
    entries.push(counted(0, entries.len() as u64 - 1, c"path"));
    entries.push(flagged(
        AWAY | UP_TO_NULL,
        EntryType::CStringUtf8,
        c"device",
    ));
    entries.push(flagged(
        AWAY | UP_TO_NULL | HIDDEN,
        EntryType::CStringUtf8,
        c"secret",
    ));
    if has_pointer {
        let flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | UP_TO_NULL;
        entries.push(flagged(flags, EntryType::CStringUtf8, c"where"));
    }
    entries.push(entry(EntryType::Int32, c"number"));
    let static_type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    let schema = domain.schema_of("step", static_type, kind.to_raw(), &entries);
    let handle = domain.string("gemm") as i64;
    let mut stream = run.session.stream("main", domain, 0);
    let (mut want, mut at) = (Vec::<Row>::new(), 0);
    for _ in 0..random.below(12) {
        let (data, texts) = pool(&mut random);
        let up_to_null = |start: usize| {
            let rest = &data[start..];
            let end = rest.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]).into_owned()
        };
        let (mut batch, mut bad) = (Vec::new(), 0);
        for _ in 0..1 + random.below(60) {
            let mut any = || texts[random.below(texts.len() as u64) as usize];
            let [name, path, device, secret, place] = [any(), any(), any(), any(), any()];
            let text_of = |(start, len): (usize, usize)| {
                String::from_utf8_lossy(&data[start..start + len]).into_owned()
            };
            let mut is_bad = false;
            let mut offset = |random: &mut Random, start: usize| {
                let out = [data.len() as i64 + 1, i64::MAX, -1];
                match random.below(100) {
                    bad @ 0..3 => {
                        is_bad = true;
                        out[bad as usize]
                    }
                    _ => start as i64,
                }
            };
            let number = random.below(1000) as i32;
            let mut payload = words(&[at, at + 3][..if is_mark { 1 } else { 2 }]);
            payload.extend(words(&[name.1 as i64]));
            payload.extend(words(&[match has_handle {
                true => handle,
                false => offset(&mut random, name.0),
            }]));
            payload.extend(words(&[path.1 as i64, offset(&mut random, path.0)]));
            payload.extend(words(&[offset(&mut random, device.0), secret.0 as i64]));
            let is_null = random.below(3) == 0;
            if has_pointer {
                let address = match is_null {
                    true => 0,
                    false => data.as_ptr().addr() as i64 + place.0 as i64,
                };
                payload.extend(words(&[address]));
            }
            payload.extend(number.to_ne_bytes());
            payload.extend([0; 4]);
            batch.extend(payload);
            bad += usize::from(is_bad);
            if !is_bad {
                let shown = match (has_handle, text_of(name)) {
                    (true, _) => "gemm".to_owned(),
                    (false, name) if name.is_empty() => "step".to_owned(),
                    (false, name) => name,
                };
                let mut args = vec![
                    ("count".to_owned(), Arg::Uint(path.1 as u64)),
                    ("path".to_owned(), Arg::Text(text_of(path))),
                    ("device".to_owned(), Arg::Text(up_to_null(device.0))),
                ];
                if has_pointer && !is_null {
                    args.push(("where".to_owned(), Arg::Text(up_to_null(place.0))));
                }
                args.push(("number".to_owned(), Arg::Int(number.into())));
                want.push((shown, at as u64, args));
            }
            at += 3 + random.below(3) as i64;
        }
        let written = stream.scoped_batch(schema, 0, &batch, 0, &data);
        match written {
            Ok(()) => assert_eq!(bad, 0),
            Err(failure) => {
                assert!(bad > 0, "{}", failure.reason);
                assert!(
                    failure.reason.contains("flexible data"),
                    "{}",
                    failure.reason
                );
            }
        }
    }
    let found = rows(&run.read());
    assert_eq!(found.len(), want.len(), "{seed} {kind:?} {config}");
    for (found, want) in found.iter().zip(&want) {
        assert_eq!(found, want, "{seed} {kind:?} {config}");
    }
}

#[test]
fn texts_in_flexible_data_are_all_there_whatever_is_beside_them() {
    for seed in 0..30 {
        for kind in [
            EventKind::RangeStartEnd,
            EventKind::RangePushPop,
            EventKind::Mark,
        ] {
            check(seed, kind, ["", "window=20"][seed as usize % 2]);
        }
    }
}

/// Also more of them than get numbers.
#[test]
fn texts_behind_the_fields_of_an_event_are_its_own() {
    let run = Run::with("window=100");
    let domain = run.session.domain("");
    let times = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
    ];
    let kind = EventKind::RangeStartEnd.to_raw();
    let text_of = |flags, name| flagged(flags | UP_TO_NULL, EntryType::CStringUtf8, name);
    let behind = [&times[..], &[text_of(0, c"path"), text_of(0, c"device")]].concat();
    let behind = domain.schema_of("load", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, kind, &behind);
    let away = [
        &times[..],
        &[text_of(AWAY, c"path"), text_of(AWAY, c"device")],
    ]
    .concat();
    let away = domain.schema_of("load", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, kind, &away);
    let mut stream = run.session.stream("main", domain, 0);
    let path = |n: i64| format!("/data/{n}");
    for first in (0..70_000).step_by(1000) {
        let of = |n: i64| {
            [
                &words(&[n * 10, n * 10 + 5])[..],
                path(n).as_bytes(),
                b"\0disk\0",
            ]
            .concat()
        };
        let bytes: Vec<u8> = (first..first + 998).flat_map(of).collect();
        stream.batch(behind, &bytes).unwrap();
        stream.event(&[(behind, &of(first + 998))]).unwrap();
        let n = first + 999;
        let path = path(n);
        let start = words(&[n * 10, n * 10 + 5, 32, 33 + path.len() as i64]);
        let payload = [&start[..], path.as_bytes(), b"\0disk"].concat();
        stream.event(&[(away, &payload)]).unwrap();
    }
    let found = rows(&run.read());
    let args = |n| {
        let args = [("path", text(&path(n))), ("device", text("disk"))];
        args.map(|(name, arg)| (name.to_owned(), arg)).to_vec()
    };
    let want = (0..70_000).map(|n| ("load".to_owned(), n as u64 * 10, args(n)));
    assert!(found.into_iter().eq(want));
}
