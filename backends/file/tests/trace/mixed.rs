//! Batches, single events and halves of ranges in any mix.

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_MARK, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, NVTX_SCOPE_ROOT,
};
use nvtxw_abi::{EntryType, EventKind};

use crate::reader::Arg;
use crate::replay::Random;
use crate::table::{Plain, entry, time, words};
use crate::{Run, seeds};

const STREAMS: [&str; 3] = ["one", "two", "three"];

/// Stream, start, end, and number: 0 of a range that came in halves.
type Row = (&'static str, u64, u64, u64);

/// When traces begin: a program, today, and where times begin to take a byte more than eight.
const ORIGINS: [i64; 3] = [0, 1_700_000_000_123_456_789, (1 << 56) - 20_000];

/// The times of a stream's next range.
fn next(time: &mut i64, random: &mut Random) -> (i64, i64) {
    let start = *time + random.below(20) as i64;
    let end = start + random.below(30) as i64;
    *time = match random.below(300) {
        0 => (start - random.below(3000) as i64).max(0),
        1..4 => start,
        // More than the difference of two ranges that follow one another may be.
        4 => end + (1 << 33),
        _ => end,
    };
    (start, end)
}

fn check(seed: u64, config: &str) {
    let mut random = Random::new(seed);
    let run = Run::with(config);
    let domain = run.session.domain("");
    // Ranges that were pushed would cross one another.
    let schema = domain.numbered(EventKind::RangeStartEnd);
    let plain = Plain::new(domain);
    let names = ["gemm", "softmax"].map(|name| domain.string(name) as i64);
    let origin = ORIGINS[seed as usize % ORIGINS.len()];
    let mut streams = STREAMS.map(|name| (run.session.stream(name, domain, 0), origin));
    let (mut count, mut want, mut marks): (i64, Vec<Row>, Vec<u64>) = (0, vec![], vec![]);
    for _ in 0..60 {
        // Those that come last have little.
        let index = random.below(6).saturating_sub(3) as usize;
        let ((stream, clock), name) = (&mut streams[index], STREAMS[index]);
        let mut range = |clock: &mut i64, random: &mut Random| {
            let (start, end) = next(clock, random);
            count += 1;
            want.push((name, start as u64, end as u64, count as u64));
            words(&[start, end, names[random.below(2) as usize], count])
        };
        match random.below(8) {
            0 => {
                let mut mark = || {
                    let at = *clock + random.below(5) as i64;
                    marks.push(at as u64);
                    words(&[at, names[0]])
                };
                stream.event(&[(plain.mark, &mark())]).unwrap();
                let batch: Vec<u8> = (0..*clock % 30).flat_map(|_| mark()).collect();
                if !batch.is_empty() {
                    stream.batch(plain.mark, &batch).unwrap();
                }
            }
            1 => {
                let id = seed as i64 * 1000 + count + 1;
                let (start, end) = next(clock, &mut random);
                want.push((name, start as u64, end as u64, 0));
                stream
                    .event(&[(plain.start, &words(&[id, start, names[0]]))])
                    .unwrap();
                count += 1;
                stream.event(&[(plain.end, &words(&[id, end]))]).unwrap();
            }
            2 | 3 => {
                for _ in 0..random.below(40) {
                    let payload = range(clock, &mut random);
                    stream.event(&[(schema, &payload)]).unwrap();
                }
            }
            _ => {
                let len = 1 + random.below(700);
                let batch = (0..len).flat_map(|_| range(clock, &mut random));
                let batch: Vec<u8> = batch.collect();
                stream.batch(schema, &batch).unwrap();
            }
        }
    }
    let trace = run.read();
    let mut found: Vec<Row> = (trace.ranges.iter())
        .map(|range| {
            let number = match &range.args[..] {
                [(name, Arg::Uint(number))] if name == "number" => *number,
                _ => 0,
            };
            let name = STREAMS.into_iter().find(|name| range.track == [*name]);
            let end = range.end.expect("each ends");
            (name.expect("on its track"), range.start, end, number)
        })
        .collect();
    found.sort();
    want.sort();
    assert_eq!(found.len(), want.len(), "{seed} {config}");
    for (found, want) in found.iter().zip(&want) {
        assert_eq!(found, want, "{seed} {config}");
    }
    let mut shown: Vec<_> = trace.instants.iter().map(|mark| mark.start).collect();
    shown.sort();
    marks.sort();
    assert_eq!(shown, marks, "{seed} {config}");
}

#[test]
fn nothing_is_lost_or_changed_in_any_mix() {
    for seed in seeds(3) {
        for config in ["", "window=300", "window=2", "window=5000|memory=1"] {
            check(seed, config);
        }
    }
}

/// More scopes than a stream keeps in mind, and several schemas: each event is where it belongs, with its own number.
#[test]
fn schemas_and_scopes_take_turns() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let run = Run::with(["", "window=20"][seed as usize % 2]);
        let domain = run.session.domain("");
        let scopes: Vec<_> = (0..1 + 4 * seed)
            .map(|index| domain.scope(NVTX_SCOPE_ROOT, &format!("GPU[{index}]")))
            .collect();
        let kinds = [
            (EventKind::RangeStartEnd, c"range"),
            (EventKind::RangePushPop, c"call"),
            (EventKind::Mark, c"mark"),
        ];
        let schemas = kinds.map(|(kind, name)| {
            let is_mark = kind == EventKind::Mark;
            let begin = match is_mark {
                true => NVTX_PAYLOAD_ENTRY_FLAG_MARK,
                false => NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
            };
            let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
            let mut entries = vec![time(c"start", begin)];
            entries.extend((!is_mark).then_some(end));
            entries.push(entry(EntryType::ScopeId, c"gpu"));
            entries.push(entry(EntryType::UInt64, name));
            (
                domain.schema("step", kind.to_raw(), 8 * entries.len(), &entries),
                name,
            )
        });
        let mut stream = run.session.stream("main", domain, 0);
        let mut want = Vec::new();
        for number in 0..500 {
            let (schema, name) = schemas[random.below(3) as usize];
            let scope = random.below(scopes.len() as u64) as usize;
            let is_mark = name == c"mark";
            let at = number * 10;
            let mut payload = words(&[at, at + 7][..if is_mark { 1 } else { 2 }]);
            payload.extend(words(&[scopes[scope] as i64, number]));
            stream.event(&[(schema, &payload)]).unwrap();
            let args = vec![(name.to_str().unwrap().to_owned(), Arg::Uint(number as u64))];
            let end = (!is_mark).then_some(at as u64 + 7);
            want.push((format!("GPU[{scope}]"), at as u64, end, args));
        }
        let trace = run.read();
        let all = trace.ranges.iter().chain(&trace.instants);
        let mut found: Vec<_> = all
            .map(|slice| {
                let track = slice.track[0].clone();
                (track, slice.start, slice.end, slice.args.clone())
            })
            .collect();
        found.sort_by_key(|row| row.1);
        assert_eq!(found, want, "{seed}");
    }
}
