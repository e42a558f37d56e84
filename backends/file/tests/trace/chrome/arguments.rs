//! The fields of events, as arguments.

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};
use serde_json::json;

use super::{Lines, chrome};
use crate::content::{array, mark_time, pack};
use crate::table::{Entry, entry, time, words};

#[test]
fn fields_are_arguments() {
    let run = chrome("");
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let point = [
        entry(EntryType::Int32, c"x"),
        entry(EntryType::UInt32, c"y"),
    ];
    let point = domain.schema("point", 0, 8, &point);
    let boolean = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
    let level = domain.enumeration(1, &[(c"low", 1), (c"high", 200)]);
    let of = |ty, name| Entry {
        ty,
        ..entry(EntryType::Int8, name)
    };
    let entries = [
        mark_time(),
        entry(EntryType::Int64, c"least"),
        entry(EntryType::UInt64, c"most"),
        entry(EntryType::Int64, c"safe"),
        entry(EntryType::Int128, c"i128"),
        entry(EntryType::UInt128, c"u128"),
        entry(EntryType::Float64, c"nan"),
        entry(EntryType::Float64, c"infinite"),
        entry(EntryType::Address, c"address"),
        entry(EntryType::RegisteredString, c"known"),
        entry(EntryType::RegisteredString, c"absent"),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
            ..entry(EntryType::Int64, c"hidden")
        },
        of(point, c"point"),
        Entry {
            ty: point,
            ..array(EntryType::Int8, 2, c"points")
        },
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
            ..array(EntryType::Int32, 2, c"hidden too")
        },
        array(EntryType::Float32, 2, c"floats"),
        array(EntryType::Byte, 4, c"bytes"),
        entry(EntryType::Char32, c"char"),
        of(boolean, c"yes"),
        of(boolean, c"odd"),
        of(level, c"level"),
        of(level, c"unnamed"),
        entry(EntryType::ColorArgb, c"shade"),
        array(EntryType::RegisteredString, 2, c"strings"),
    ];
    let payload = [
        pack![5i64, i64::MIN, u64::MAX, 1i64 << 53],
        pack![i128::MIN, 7u128],
        pack![f64::NAN, f64::NEG_INFINITY, 0xDEAD_BEEF_u64],
        pack![domain.string("한강"), 0u64, 666i64],
        pack![-1i32, 2u32, 3i32, 4u32, 5i32, 6u32],
        pack![1i32, 2i32],
        pack![0.1f32, f32::INFINITY],
        vec![0, 1, 0xAB, 0xFF],
        pack![u32::from('é')],
        vec![1, 7, 200, 3],
        pack![0xFF00_0000u32],
        pack![domain.string("one"), 0u64],
    ]
    .concat();
    let schema = domain.schema("all", EventKind::Mark.to_raw(), payload.len(), &entries);
    stream.event(&[(schema, &payload)]).unwrap();
    let lines = Lines::of(run);
    assert_eq!(
        lines.args("all"),
        &json!({
            "shade": "#FF000000",
            "least": "-9223372036854775808",
            "most": "18446744073709551615",
            "safe": 9_007_199_254_740_992_i64,
            "i128": "-170141183460469231731687303715884105728",
            "u128": 7,
            "nan": "NaN",
            "infinite": "-Infinity",
            "address": "0xdeadbeef",
            "known": "한강",
            "point": {"x": -1, "y": 2},
            "points": [{"x": 3, "y": 4}, {"x": 5, "y": 6}],
            "floats": [0.1, "Infinity"],
            "bytes": "0x0001abff",
            "char": "é",
            "yes": true,
            "odd": 7,
            "level": "high",
            "unnamed": 3,
            "strings": ["one", null],
        })
    );
}

#[test]
fn names_of_arguments_do_not_repeat() {
    let run = chrome("");
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let int = |name| entry(EntryType::Int64, name);
    let entries = [mark_time(), int(c"a"), int(c"a (2)")];
    let event = domain.schema("event", EventKind::Mark.to_raw(), 24, &entries);
    let more = domain.schema("more", 0, 16, &[int(c"a"), int(c"b")]);
    let payloads = [words(&[1, 10, 20]), words(&[30, 40]), words(&[50, 60])];
    stream
        .event(&[
            (event, &payloads[0]),
            (more, &payloads[1]),
            (more, &payloads[2]),
        ])
        .unwrap();
    let args = r#"{"a":10,"a (2)":20,"a (3)":30,"b":40,"a (4)":50,"b (2)":60}"#;
    let lines = Lines::of(run);
    assert!(lines.of_phases("i")[0].ends_with(&format!("{args}}}")));
}

#[test]
fn both_halves_of_a_range_give_their_arguments() {
    // In one window, and with the push written long before its pop.
    for window in [100, 2] {
        let run = chrome(&format!("window={window}"));
        let domain = run.session.domain("");
        let mut stream = run.session.stream("main", domain, 0);
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let int = |name| entry(EntryType::Int64, name);
        let message = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"label")
        };
        let color = entry(EntryType::ColorArgb, c"shade");
        let category = entry(EntryType::Category, c"kind");
        let entries = [begin, message, int(c"in"), color, category];
        let kind = EventKind::RangePush.to_raw();
        let push = domain.schema("work", kind, 32, &entries);
        let entries = [end, message, int(c"out"), color, category, int(c"in")];
        let kind = EventKind::RangePop.to_raw();
        let pop = domain.schema("done", kind, 40, &entries);
        let bare = domain.schema("bare", kind, 8, &[end]);
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
        let names = ["a", "b"].map(|name| domain.string(name) as i64);
        let attributes = |color: u32, category: u32| i64::from(color) | i64::from(category) << 32;
        for (start, color, category) in [(0, 1, 1), (1, 1, 1), (2, 1, 1)] {
            let payload = words(&[start, names[0], 1, attributes(color, category)]);
            stream.event(&[(push, &payload)]).unwrap();
        }
        for tick in 10..20 {
            stream.event(&[(mark, &words(&[tick]))]).unwrap();
        }
        stream.event(&[(bare, &words(&[90]))]).unwrap();
        for (end, name, color, category) in [(95, 0, 1, 1), (100, 1, 2, 2)] {
            let payload = words(&[end, names[name], 2, attributes(color, category), 3]);
            stream.event(&[(pop, &payload)]).unwrap();
        }
        let lines = Lines::of(run);
        let head = r##""name":"a","cat":"1","args":{"shade":"#00000001","in":1"##;
        let same = r##""out":2,"in (2)":3}}"##;
        let other = r##""label":"b","kind":"2","shade (2)":"#00000002","##;
        let mut ranges = lines.of_phases("XBE");
        ranges.sort();
        let at = |phase: &str, time: &str| format!(r#"{{"ph":"{phase}","pid":1,"tid":2,{time},"#);
        let want = if window == 100 {
            vec![
                at("X", r#""ts":0.000,"dur":0.100"#) + head + "," + other + same,
                at("X", r#""ts":0.001,"dur":0.094"#) + head + "," + same,
                at("X", r#""ts":0.002,"dur":0.088"#) + head + "}}",
            ]
        } else {
            vec![
                at("B", r#""ts":0.000"#) + head + "}}",
                at("B", r#""ts":0.001"#) + head + "}}",
                at("B", r#""ts":0.002"#) + head + "}}",
                at("E", r#""ts":0.090"#) + r#""args":{}}"#,
                at("E", r#""ts":0.095"#) + r#""args":{"# + same,
                at("E", r#""ts":0.100"#) + r#""args":{"# + other + same,
            ]
        };
        assert_eq!(ranges, want, "window {window}");
    }
}
