//! Many streams at once, of several domains and scopes: nothing is lost, and all is where it belongs.

use std::collections::{BTreeMap, BTreeSet};

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::Run;
use crate::reader::{Number, Trace};
use crate::replay::Random;
use crate::table::{Plain, Stream, words};

/// What a range or an instant is named by, where it is, and its times.
type Rows = BTreeMap<String, (String, i64, Option<i64>)>;

struct Place {
    stream: Option<Stream>,
    domain: usize,
    group: String,
    pushes: Vec<(String, i64)>,
}

struct Model {
    random: Random,
    ranges: Rows,
    instants: Rows,
    /// By counter: time and value.
    values: BTreeMap<String, Vec<(i64, i64)>>,
    open: Vec<(i64, String, i64)>,
    number: i64,
}

impl Model {
    fn below(&mut self, limit: u64) -> i64 {
        self.random.below(limit) as i64
    }
}

#[test]
fn all_that_many_streams_write_is_where_it_belongs() {
    let configs = [
        "",
        "window=2",
        "window=7",
        "window=64|flush_interval=2",
        "window=3|flush_interval=1",
        "window=2|compression=zlib:1",
    ];
    for seed in 0..12 {
        let config = configs[seed as usize % configs.len()];
        check(seed, &format!("format=perfetto|base=-100000|{config}"));
        let config = config.replace("|compression=zlib:1", "");
        check(seed, &format!("format=chrome|base=-100000|{config}"));
        if cfg!(feature = "parquet") {
            check(seed, &format!("format=parquet|{config}"));
        }
    }
}

fn check(seed: u64, config: &str) {
    let run = Run::with(config);
    let mut model = Model {
        random: Random::new(seed),
        ranges: Rows::new(),
        instants: Rows::new(),
        values: BTreeMap::new(),
        open: Vec::new(),
        number: 0,
    };
    let domains = ["", "other"].map(|name| run.session.domain(name));
    let plain = domains.map(Plain::new);
    let scopes = domains.map(|domain| {
        ["A/x", "B/x", "A", "x"].map(|path| (path, domain.scope(NVTX_SCOPE_ROOT, path)))
    });
    let counters = domains.map(|domain| domain.counter("load", EntryType::Int64.to_raw(), 0, None));
    let mut places: Vec<Place> = Vec::new();
    let mut opened = 0;
    let span = 10 + model.below(400) as u64;
    for step in 0..400i64 {
        if places.len() < 6 {
            let domain = model.below(2) as usize;
            let (path, scope) = match model.below(5) {
                4 => ("", 0),
                index => scopes[domain][index as usize],
            };
            opened += 1;
            let name = format!("s{opened}");
            let stream = run.session.stream(&name, domains[domain], scope);
            let group = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{domain}")
            };
            places.push(Place {
                stream: Some(stream),
                domain,
                group,
                pushes: Vec::new(),
            });
        }
        let index = model.below(places.len() as u64) as usize;
        let base = step * 3 - 600;
        let start = base - model.below(span);
        let end = start + model.below(span / 2) * model.below(2);
        model.number += 1;
        let number = model.number;
        let name = format!("e{number}");
        let kind = model.below(14);
        let place = &mut places[index];
        let (domain, plain) = (domains[place.domain], &plain[place.domain]);
        let text = domain.string(&name) as i64;
        let stream = place.stream.as_mut().unwrap();
        let mut write =
            |schema, payload: &[i64]| stream.event(&[(schema, &words(payload))]).unwrap();
        match kind {
            0..=2 => {
                write(plain.pushpop, &[start, end, text]);
                model
                    .ranges
                    .insert(name, (place.group.clone(), start, Some(end)));
            }
            3 | 4 => {
                write(plain.startend, &[start, end, text]);
                model
                    .ranges
                    .insert(name, (place.group.clone(), start, Some(end)));
            }
            5 | 6 => {
                write(plain.push, &[start, text]);
                model
                    .ranges
                    .insert(name.clone(), (place.group.clone(), start, None));
                place.pushes.push((name, start));
            }
            7 | 8 => {
                if let Some((name, start)) = place.pushes.pop() {
                    let end = base.max(start);
                    write(plain.pop, &[end]);
                    model.ranges.get_mut(&name).unwrap().2 = Some(end);
                }
            }
            9 => {
                write(plain.start, &[number, start, text]);
                model
                    .ranges
                    .insert(name.clone(), (place.group.clone(), start, None));
                model.open.push((number, name, start));
            }
            10 => {
                if !model.open.is_empty() {
                    let at = model.random.below(model.open.len() as u64) as usize;
                    let (id, name, start) = model.open.swap_remove(at);
                    let end = base.max(start);
                    write(plain.end, &[id, end]);
                    model.ranges.get_mut(&name).unwrap().2 = Some(end);
                }
            }
            11 => {
                write(plain.mark, &[start, text]);
                model
                    .instants
                    .insert(name, (place.group.clone(), start, None));
            }
            12 => {
                stream
                    .sample(start, counters[place.domain], &number.to_ne_bytes())
                    .unwrap();
                model
                    .values
                    .entry(place.group.clone())
                    .or_default()
                    .push((start, number));
            }
            _ => {
                if model.below(4) == 0 {
                    let place = places.swap_remove(index);
                    place.stream.unwrap().close().unwrap();
                }
            }
        }
    }
    for mut place in places {
        if model.below(2) == 0 {
            place.stream.take().unwrap().close().unwrap();
        }
    }
    if config.starts_with("format=parquet") {
        #[cfg(feature = "parquet")]
        compare_rows(run, &model, config, seed);
        return;
    }
    let trace = run.read();
    compare(&trace, &model, config, seed);
}

#[cfg(feature = "parquet")]
fn compare_rows(run: Run, model: &Model, config: &str, seed: u64) {
    let path = run.path.clone();
    run.session.end().unwrap();
    let rows = crate::dataset::read(path.join("events")).rows;
    let mut seen = BTreeSet::new();
    for row in &rows {
        let name = row["name"].as_str().unwrap();
        let want = model.ranges.get(name).or(model.instants.get(name)).unwrap();
        assert!(seen.insert(name), "{seed} {config}: {name}");
        let times = (row["start_ns"].as_i64().unwrap(), row["end_ns"].as_i64());
        assert_eq!(times, (want.1, want.2), "{seed} {config}: {name}");
    }
    assert_eq!(seen.len(), model.ranges.len() + model.instants.len());
    let values = crate::dataset::read(path.join("counters")).rows;
    let mut found: Vec<_> = (values.iter())
        .map(|row| {
            (
                row["time_ns"].as_i64().unwrap(),
                row["value_i64"].as_i64().unwrap(),
            )
        })
        .collect();
    let mut want: Vec<_> = model.values.values().flatten().copied().collect();
    found.sort();
    want.sort();
    assert_eq!(found, want, "{seed} {config}");
}

fn compare(trace: &Trace, model: &Model, config: &str, seed: u64) {
    let told = |time: u64| time as i64 - 100_000;
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (found, want) in [
        (&trace.ranges, &model.ranges),
        (&trace.instants, &model.instants),
    ] {
        let mut seen = BTreeSet::new();
        for row in found {
            let want = &want.get(&row.name);
            let (group, start, end) = want.unwrap_or_else(|| panic!("{seed} {config}: {row:?}"));
            assert!(seen.insert(&row.name), "{seed} {config}: twice {row:?}");
            assert_eq!(
                (told(row.start), row.end.map(told)),
                (*start, *end),
                "{seed} {config} {}",
                row.name
            );
            let path = groups
                .entry(group.clone())
                .or_insert_with(|| row.track.clone());
            assert_eq!(*path, row.track, "{seed} {config} {group}");
        }
        assert_eq!(seen.len(), want.len(), "{seed} {config}");
    }
    let paths: BTreeSet<_> = groups.values().collect();
    assert_eq!(paths.len(), groups.len(), "{seed} {config}: {groups:?}");
    let mut found: Vec<_> = (trace.values.iter())
        .map(|(_, time, value, _)| match value {
            Number::Int(value) => (told(*time), *value),
            other => panic!("{other:?}"),
        })
        .collect();
    let mut want: Vec<_> = model.values.values().flatten().copied().collect();
    found.sort();
    want.sort();
    assert_eq!(found, want, "{seed} {config}");
    assert!(!trace.attributes.contains_key("nvtxw.refused"));
}
