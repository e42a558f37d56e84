//! Ranges that are open, in a dataset of the format `parquet`: what a kill would leave of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};
use serde_json::Value;

use crate::Run;
use crate::dataset::read;
use crate::table::{Plain, entry, time, words};

/// Name, start, end and number of the rows of a table.
fn rows(run: &Run, table: &str) -> Vec<(String, i64, Option<i64>, i64)> {
    let rows = read(run.path.join(table)).rows.into_iter();
    let mut rows: Vec<_> = rows
        .map(|row| {
            let int = |name: &str| row[name].as_i64();
            let name = row["name"].as_str().unwrap().to_owned();
            (
                name,
                int("start_ns").unwrap(),
                int("end_ns"),
                int("event_id").unwrap(),
            )
        })
        .collect();
    rows.sort();
    rows
}

fn wait_for(found: impl Fn() -> bool) {
    let start = Instant::now();
    while !found() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_is_open_is_in_tables_of_its_own_until_it_ends() {
    let run = Run::with("format=parquet|flush_interval=2");
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let entries = [
        time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
        entry(EntryType::Int64, c"step"),
    ];
    let push = domain.schema("typed", EventKind::RangePush.to_raw(), 16, &entries);
    let mut stream = run.session.stream("main", domain, 0);
    let name = |name| domain.string(name) as i64;
    let mut write = |schema, payload: &[i64]| {
        stream.event(&[(schema, &words(payload))]).unwrap();
    };
    write(plain.pushpop, &[0, 1, name("whole")]);
    write(push, &[10, 42]);
    write(plain.push, &[20, name("inner")]);
    write(plain.start, &[7, 30, name("started")]);
    wait_for(|| rows(&run, "open/events").len() == 3);
    let open = rows(&run, "open/events");
    let told: Vec<_> = open
        .iter()
        .map(|(name, start, end, _)| (&**name, *start, *end))
        .collect();
    assert_eq!(
        told,
        [
            ("inner", 20, None),
            ("started", 30, None),
            ("typed", 10, None)
        ]
    );
    let typed = read(run.path.join("open/typed/typed")).rows;
    assert_eq!(typed.len(), 1);
    assert_eq!(typed[0]["step"], 42);
    assert_eq!(typed[0]["end_ns"], Value::Null);
    wait_for(|| rows(&run, "events").len() == 1);

    // One ends, and may be in both then: the number is the same.
    write(plain.pop, &[25]);
    wait_for(|| rows(&run, "events").len() == 2);
    let ended = &rows(&run, "events")[0];
    assert_eq!((&*ended.0, ended.1, ended.2), ("inner", 20, Some(25)));
    let numbers: BTreeSet<_> = rows(&run, "open/events")
        .into_iter()
        .map(|row| row.3)
        .collect();
    assert!(numbers.contains(&ended.3));

    write(plain.end, &[7, 40]);
    let path = run.path.clone();
    stream.close().unwrap();
    let all = rows(&run, "events");
    let told: Vec<_> = all
        .iter()
        .map(|(name, start, end, _)| (&**name, *start, *end))
        .collect();
    let want = [
        ("inner", 20, Some(25)),
        ("started", 30, Some(40)),
        ("typed", 10, None),
        ("whole", 0, Some(1)),
    ];
    assert_eq!(told, want);
    let numbers: BTreeSet<_> = all.iter().map(|row| row.3).collect();
    assert_eq!(numbers, (0..4).collect());
    assert_eq!(read(run.path.join("typed/typed")).rows[0]["step"], 42);
    assert_eq!(rows(&run, "open/events"), []);
    run.session.end().unwrap();
    assert!(!path.join("open").exists());
}
