//! What is in a dataset of the format `parquet`.

mod folders;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind, ResultCode};
use serde_json::{Value, json};

use crate::content::{array, mark_time, pack};
use crate::dataset::{Rows, read};
use crate::replay::TempDir;
use crate::table::{Entry, Plain, Session, entry, time, words};
use crate::{Run, Writer};

fn parquet(config: &str) -> Run {
    Run::with(&format!("format=parquet|{config}"))
}

/// Some columns of all rows.
fn columns<const N: usize>(rows: &Rows, names: [&str; N]) -> Vec<[Value; N]> {
    rows.rows
        .iter()
        .map(|row| names.map(|name| row[name].clone()))
        .collect()
}

fn types(rows: &Rows) -> BTreeMap<&str, String> {
    let fields = rows.schema.fields().iter();
    fields
        .map(|field| (&**field.name(), field.data_type().to_string()))
        .collect()
}

#[test]
fn all_events_are_in_one_table() {
    let run = parquet("window=4");
    let path = run.path.clone();
    let domain = run.session.domain("sim");
    domain.category(3, "kernels");
    let plain = Plain::new(domain);
    let scope = domain.scope(NVTX_SCOPE_ROOT, "GPU[0]/Stream[7]");
    let stream = run.session.stream("main", domain, scope);
    let mut out = Writer {
        domain,
        plain,
        stream,
    };
    out.push(i64::MIN, "long").unwrap();
    out.startend(0, 300, "a").unwrap();
    out.startend(100, 400, "b").unwrap();
    for time in [5, 6, 7, 8] {
        out.mark(time, "tick").unwrap();
    }
    out.start(7, 350, "started").unwrap();
    out.start(8, 351, "ends").unwrap();
    out.push(360, "open").unwrap();
    out.push(361, "inner").unwrap();
    out.pop(i64::MAX).unwrap();
    out.end(8, 500).unwrap();
    out.pushpop(-1, 20, "late").unwrap();
    let entries = [mark_time(), entry(EntryType::Category, c"category")];
    let entries = [&entries[..], &[entry(EntryType::ColorArgb, c"color")]].concat();
    let mark = domain.schema("colored", EventKind::Mark.to_raw(), 16, &entries);
    let payload = pack![9i64, 3u32, 0xFF00_0001u32];
    out.stream.event(&[(mark, &payload)]).unwrap();
    run.session.end().unwrap();

    let events = read(path.join("events"));
    let mut ids: Vec<_> = columns(&events, ["event_id"]).concat();
    ids.sort_by_key(Value::as_i64);
    let all: Vec<_> = (0..events.rows.len()).map(Value::from).collect();
    assert_eq!(ids, all);
    let mut found = columns(&events, ["name", "kind", "start_ns", "end_ns", "args"]);
    found.sort_by_key(|row| (row[2].as_i64(), row[0].as_str().map(str::to_owned)));
    let (nests, free, mark) = ("range_pushpop", "range_startend", "mark");
    let (none, id) = (Value::Null, |id| format!("{{\"range_id\":{id}}}"));
    let want = json!([
        ["long", nests, i64::MIN, none, none],
        ["late", nests, -1, 20, none],
        ["a", free, 0, 300, none],
        ["tick", mark, 5, none, none],
        ["tick", mark, 6, none, none],
        ["tick", mark, 7, none, none],
        ["tick", mark, 8, none, none],
        ["colored", mark, 9, none, none],
        ["b", free, 100, 400, none],
        ["started", free, 350, none, id(7)],
        ["ends", free, 351, 500, id(8)],
        ["open", nests, 360, none, none],
        ["inner", nests, 361, i64::MAX, none],
    ]);
    assert_eq!(json!(found), want);
    for row in &events.rows {
        assert_eq!(row["domain"], "sim");
        assert_eq!(row["scope"], "/GPU[0]/Stream[7]");
        let is_colored = row["name"] == "colored";
        assert_eq!(row["category"] == "kernels", is_colored);
        assert_eq!(row["color"] == 0xFF00_0001u32, is_colored);
    }
    // Only attributes: there is nothing to have a table for.
    assert!(!path.join("typed").exists());
    let facts = read(path.join("metadata"));
    let facts = columns(&facts, ["stream", "key", "value"]);
    for fact in [
        json!([none, "nvtxw.session", "run"]),
        json!(["main", "domain", "sim"]),
        json!(["main", "scope", "/GPU[0]/Stream[7]"]),
        json!([none, "nvtxw.left_open", "3"]),
    ] {
        assert!(facts.iter().any(|row| json!(row) == fact), "{fact}");
    }
}

#[test]
fn schemas_that_are_alike_share_a_table() {
    let run = parquet("part=2");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let entries = [mark_time(), entry(EntryType::Int64, c"step")];
    let schema = || domain.schema("tick", EventKind::Mark.to_raw(), 16, &entries);
    let schemas = [schema(), schema()];
    for step in 0..8 {
        let mark = schemas[step as usize % 2];
        stream.event(&[(mark, &words(&[step, -step]))]).unwrap();
    }
    run.session.end().unwrap();
    let mut found = columns(&read(path.join("typed/tick")), ["event_id", "step"]);
    found.sort_by_key(|row| row[0].as_i64());
    let want: Vec<_> = (0..8).map(|step| json!([step, -step])).collect();
    assert_eq!(json!(found), json!(want));
}

#[test]
fn a_stream_that_is_opened_again_has_other_events() {
    let run = parquet("");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let name = domain.string("tick") as i64;
    for time in 0..3 {
        let mut stream = run.session.stream("main", domain, 0);
        for time in [time, time + 10] {
            stream
                .event(&[(plain.mark, &words(&[time, name]))])
                .unwrap();
        }
        stream.close().unwrap();
    }
    run.session.end().unwrap();
    let mut found = columns(&read(path.join("events")), ["event_id", "start_ns"]);
    found.sort_by_key(|row| row[0].as_i64());
    let again = |times: i64, id: i64| (times << 40) + id;
    let want = json!([
        [0, 0],
        [1, 10],
        [again(1, 0), 1],
        [again(1, 1), 11],
        [again(2, 0), 2],
        [again(2, 1), 12],
    ]);
    assert_eq!(json!(found), want);
}

#[test]
fn each_schema_is_a_table_with_the_types_of_its_fields() {
    let run = parquet("");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let hidden = |entry: Entry<'static>| Entry {
        flags: entry.flags | NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
        ..entry
    };
    let point = [
        entry(EntryType::Int16, c"x"),
        hidden(entry(EntryType::Int16, c"secret")),
        entry(EntryType::UInt32, c"y"),
    ];
    let point = domain.schema("point", 0, 8, &point);
    let boolean = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
    let level = domain.enumeration(1, &[(c"low", 1), (c"high", 200)]);
    let of = |ty, name| Entry {
        ty,
        ..entry(EntryType::Int8, name)
    };
    let correlated = Entry {
        correlation: Some([1; 16]),
        unit: None,
        ..entry(EntryType::UInt64, c"launch")
    };
    let entries = [
        mark_time(),
        entry(EntryType::Int64, c"least"),
        entry(EntryType::UInt64, c"most"),
        correlated,
        entry(EntryType::Int128, c"i128"),
        entry(EntryType::UInt128, c"u128"),
        entry(EntryType::Float64, c"nan"),
        Entry {
            unit: Some(c"bytes"),
            ..entry(EntryType::Float64, c"double")
        },
        entry(EntryType::Address, c"address"),
        entry(EntryType::RegisteredString, c"known"),
        entry(EntryType::RegisteredString, c"absent"),
        hidden(entry(EntryType::Int64, c"hidden")),
        of(point, c"point"),
        Entry {
            ty: point,
            ..array(EntryType::Int8, 2, c"points")
        },
        hidden(array(EntryType::Int32, 2, c"hidden too")),
        array(EntryType::Float32, 2, c"floats"),
        array(EntryType::Byte, 4, c"bytes"),
        entry(EntryType::Char32, c"char"),
        entry(EntryType::Int16, c"short"),
        entry(EntryType::Int8, c"Name"),
        entry(EntryType::UInt8, c"event_id"),
        of(boolean, c"yes"),
        of(boolean, c"odd"),
        of(level, c"level"),
        of(level, c"unnamed"),
        array(EntryType::UInt16, 3, c"grid"),
        Entry {
            count: 4,
            ..entry(EntryType::CStringUtf8, c"text")
        },
    ];
    let payload = |time: i64| {
        [
            pack![time, i64::MIN, u64::MAX, 7u64],
            pack![i128::MIN, u128::MAX],
            pack![f64::NAN, 0.5f64, 0xDEAD_BEEF_u64],
            pack![domain.string("한강"), 0u64, 666i64],
            pack![-1i16, 0i16, 2u32, 3i16, 0i16, 4u32, 5i16, 0i16, 6u32],
            pack![1i32, 2i32],
            pack![0.1f32, f32::INFINITY],
            vec![0, 1, 0xAB, 0xFF],
            pack![u32::from('é'), -2i16, -3i8, 255u8],
            vec![1, 7, 200, 3],
            pack![1u16, 2u16, 65535u16],
            b"a\xFFb\0".to_vec(),
            vec![0; 2],
        ]
        .concat()
    };
    let mark = EventKind::Mark.to_raw();
    let schema = domain.schema("all", mark, payload(0).len(), &entries);
    stream.event(&[(schema, &payload(5))]).unwrap();
    // Fields of other payloads are arguments.
    let more = domain.schema("more", 0, 16, &[entry(EntryType::Int128, c"i128")]);
    stream
        .event(&[(schema, &payload(6)), (more, &pack![-7i128])])
        .unwrap();
    run.session.end().unwrap();

    let all = read(path.join("typed/all"));
    let types = types(&all);
    for (name, ty) in [
        ("event_id", "Int64"),
        ("start_ns", "Int64"),
        ("least", "Int64"),
        ("most", "UInt64"),
        ("i128", "Utf8"),
        ("u128", "Utf8"),
        ("nan", "Float64"),
        ("address", "UInt64"),
        ("short", "Int16"),
        ("Name (2)", "Int8"),
        ("event_id (2)", "UInt8"),
        ("yes", "Boolean"),
        ("level", "Dictionary(Int32, Utf8)"),
        ("floats", "FixedSizeList(2 x Float32)"),
        ("grid", "FixedSizeList(3 x UInt16)"),
        ("bytes", "Binary"),
        ("text", "Utf8"),
    ] {
        assert_eq!(types[name], ty, "{name}");
    }
    assert!(types["point"].starts_with("Struct("));
    assert!(types["points"].starts_with("FixedSizeList(2 x Struct("));
    let double = all.schema.field_with_name("double").unwrap();
    assert_eq!(double.metadata()["unit"], "bytes");
    let xy = |x, y| json!({"x": x, "y": y});
    let mut want = json!({
        "event_id": 0, "name": "all", "category": null, "start_ns": 5, "end_ns": null, "scope": null,
        "least": i64::MIN, "most": u64::MAX, "launch": 7,
        "i128": i128::MIN.to_string(), "u128": u128::MAX.to_string(),
        "nan": "NaN", "double": 0.5, "address": 0xDEAD_BEEF_u64, "known": "한강", "absent": null,
        "point": xy(-1, 2), "points": [xy(3, 4), xy(5, 6)],
        "floats": [0.1f32, "inf"], "bytes": [0, 1, 0xAB, 0xFF], "char": "é", "short": -2,
        "Name (2)": -3, "event_id (2)": 255, "yes": true, "odd": null, "level": "high", "unnamed": "3",
        "grid": [1, 2, 65535], "text": "a\u{FFFD}b",
    });
    assert_eq!(all.rows[0], want);
    (want["event_id"], want["start_ns"]) = (1.into(), 6.into());
    assert_eq!(all.rows[1..], [want]);

    let events = read(path.join("events"));
    let found = columns(&events, ["event_id", "name", "args"]);
    let want = json!([[0, "all", null], [1, "all", "{\"i128\":-7}"]]);
    assert_eq!(json!(found), want);
    let flows = columns(&events, ["correlation"]);
    assert_eq!(flows[0], flows[1]);
    assert_eq!(flows[0][0].as_array().unwrap().len(), 1);
}

#[test]
fn what_has_no_table_is_json() {
    let run = parquet("");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    // Of varying size; and without a name.
    let entries = [
        mark_time(),
        Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
            ..entry(EntryType::CStringUtf8, c"text")
        },
    ];
    let dynamic = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    let varying = domain.schema_of("varying", dynamic, EventKind::Mark.to_raw(), &entries);
    let entries = [mark_time(), entry(EntryType::Int64, c"a")];
    let nameless = domain.schema("", EventKind::Mark.to_raw(), 16, &entries);
    let text = [&words(&[1])[..], b"\"x\"\0"].concat();
    stream.event(&[(varying, &text)]).unwrap();
    stream.event(&[(nameless, &words(&[2, 3]))]).unwrap();
    run.session.end().unwrap();
    let events = read(path.join("events"));
    let args = columns(&events, ["args"]).concat();
    assert_eq!(args, [r#"{"text":"\"x\""}"#, r#"{"a":3}"#]);
    assert!(!path.join("typed").exists());
}

#[test]
fn both_halves_of_a_range_make_one_row() {
    // In one window, and with the push written long before its pop.
    for window in [100, 2] {
        let run = parquet(&format!("window={window}"));
        let path = run.path.clone();
        let domain = run.session.domain("");
        let mut stream = run.session.stream("main", domain, 0);
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let int = |name| entry(EntryType::Int64, name);
        let message = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"label")
        };
        let category = entry(EntryType::Category, c"kind");
        let color = entry(EntryType::ColorArgb, c"shade");
        let entries = [begin, message, category, color, int(c"in")];
        let push = domain.schema("work", EventKind::RangePush.to_raw(), 32, &entries);
        let entries = [end, message, category, color, int(c"out")];
        let pop = domain.schema("done", EventKind::RangePop.to_raw(), 32, &entries);
        let mark = domain.schema("tick", EventKind::Mark.to_raw(), 8, &[mark_time()]);
        let names = ["a", "b"].map(|name| domain.string(name) as i64);
        let both = |one: i64| one | one << 32;
        for start in [0, 1] {
            let payload = words(&[start, names[0], both(1), 4]);
            stream.event(&[(push, &payload)]).unwrap();
        }
        for tick in 10..20 {
            stream.event(&[(mark, &words(&[tick]))]).unwrap();
        }
        for (end, name, other) in [(90, 0, 1), (100, 1, 2)] {
            let payload = words(&[end, names[name], both(other), 5]);
            stream.event(&[(pop, &payload)]).unwrap();
        }
        run.session.end().unwrap();
        let work = read(path.join("typed/work"));
        let mut found = columns(&work, ["name", "category", "start_ns", "end_ns", "in"]);
        found.sort_by_key(|row| row[2].as_i64());
        let want = json!([["a", "1", 0, 100, 4], ["a", "1", 1, 90, 4]]);
        assert_eq!(json!(found), want, "window {window}");
        let events = read(path.join("events"));
        let mut args = columns(&events, ["start_ns", "args"]);
        args.retain(|row| !row[1].is_null());
        args.sort_by_key(|row| row[0].as_i64());
        let outer = r##"{"label":"b","kind":"2","shade":"#00000002","out":5}"##;
        assert_eq!(json!(args), json!([[0, outer], [1, r#"{"out":5}"#]]));
        assert!(!path.join("typed/done").exists());
    }
}

#[test]
fn counters_are_rows_with_exact_integers() {
    let run = parquet("");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let gpu = domain.scope(NVTX_SCOPE_ROOT, "GPU[0]");
    let scalar = |name, ty: EntryType, scope, unit| domain.counter(name, ty.to_raw(), scope, unit);
    let unsigned = scalar("memory", EntryType::UInt64, gpu, Some(c"bytes"));
    let signed = scalar("signed", EntryType::Int64, 0, None);
    let float = scalar("power", EntryType::Float64, 0, Some(c"W"));
    let entries = [time(c"t", 0), entry(EntryType::Int64, c"read")];
    let group = nvtxw_abi::SchemaRole::CounterGroup.flags();
    let group = domain.schema("group", group, 16, &entries);
    let group = domain.counter("traffic", group, gpu, None);
    stream.sample(1, unsigned, &u64::MAX.to_ne_bytes()).unwrap();
    stream.sample(2, signed, &i64::MIN.to_ne_bytes()).unwrap();
    stream.sample(3, float, &0.5f64.to_ne_bytes()).unwrap();
    stream.sample(4, float, &f64::NAN.to_ne_bytes()).unwrap();
    let unavailable = NVTX_COUNTER_SAMPLE_UNAVAILABLE;
    stream.no_value(5, signed, unavailable).unwrap();
    stream.samples(group, &words(&[6, 7])).unwrap();
    run.session.end().unwrap();
    let values = read(path.join("counters"));
    let names = ["time_ns", "name", "group", "unit", "scope"];
    let none = Value::Null;
    assert_eq!(
        json!(columns(&values, names)),
        json!([
            [1, "memory", none, "bytes", "/GPU[0]"],
            [2, "signed", none, none, none],
            [3, "power", none, "W", none],
            [4, "power", none, "W", none],
            [5, "signed", none, none, none],
            [6, "read", "traffic", none, "/GPU[0]"],
        ])
    );
    assert_eq!(
        json!(columns(
            &values,
            ["value", "value_i64", "value_u64", "is_delta"]
        )),
        json!([
            [u64::MAX as f64, none, u64::MAX, false],
            [i64::MIN as f64, i64::MIN, none, false],
            [0.5, none, none, false],
            ["NaN", none, none, false],
            [none, none, none, false],
            [7.0, 7, 7, false],
        ])
    );
}

#[test]
fn differences_are_rows_as_they_were_written_and_not_called_sums() {
    let run = parquet("");
    let path = run.path.clone();
    let domain = run.session.domain("");
    let mut stream = run.session.stream("main", domain, 0);
    let level = domain.delta_counter("level");
    for (time, difference) in [(1, 5_i64), (2, -3)] {
        let value = difference.to_ne_bytes();
        stream.sample(time, level, &value).unwrap();
    }
    run.session.end().unwrap();
    let values = read(path.join("counters"));
    let names = ["value", "value_i64", "is_delta", "description"];
    let none = Value::Null;
    assert_eq!(
        json!(columns(&values, names)),
        json!([[5.0, 5, true, none], [-3.0, -3, true, none]])
    );
}

#[test]
fn schemas_of_one_name_have_tables_of_their_own() {
    let run = parquet("");
    let path = run.path.clone();
    let domains = [run.session.domain("a"), run.session.domain("b")];
    for (domain, ty, stream) in [
        (domains[0], EntryType::Int64, "a"),
        (domains[1], EntryType::Int64, "b"),
        (domains[1], EntryType::UInt64, "c"),
    ] {
        let entries = [mark_time(), entry(ty, c"a")];
        let mark = domain.schema("_tick", EventKind::Mark.to_raw(), 16, &entries);
        let mut stream = run.session.stream(stream, domain, 0);
        stream.event(&[(mark, &words(&[1, 2]))]).unwrap();
    }
    run.session.end().unwrap();
    let tables = fs::read_dir(path.join("typed")).unwrap();
    let mut tables: Vec<_> = tables.map(|table| table.unwrap().path()).collect();
    tables.sort();
    let rows: Vec<_> = tables.iter().map(|table| read(table).rows.len()).collect();
    assert_eq!(rows, [2, 1]);
    assert!(tables[0].ends_with("%5Ftick"));
}
