//! Rows of a dataset of the format `parquet` that were written before more was known of their clock.

use std::fs;
use std::path::Path;

use nvtxw_abi::raw::{
    NVTX_PAYLOAD_ENTRY_FLAG_MARK, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
    NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
};
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::dataset::read;
use crate::table::{Entry, Plain, entry, time, words};

/// Events each 10 ticks of no known clock, of which each so many a sync point says more: a tick is a
/// nanosecond first, then 2, then 3.
fn write(config: &str) -> Run {
    let run = Run::with(&format!("format=parquet|window=2|{config}"));
    let domain = run.session.domain("");
    let plain = Plain::new(domain);
    let counter = domain.counter("load", EntryType::Int64.to_raw(), 0, None);
    let mut stream = run.session.stream("main", domain, 0);
    let name = domain.string("step") as i64;
    for step in 0..60 {
        let at = step * 10;
        if step > 0 && step % 20 == 0 {
            let time = 1000 + at * (step / 20 + 1);
            let clocks = [0, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC];
            stream.sync(clocks, [at, time]).unwrap();
        }
        let payload = words(&[at, at + 5, name]);
        stream.event(&[(plain.pushpop, &payload)]).unwrap();
        stream.sample(at, counter, &step.to_ne_bytes()).unwrap();
    }
    stream.close().unwrap();
    run
}

/// Starts, ends, and times of values.
fn times(path: &Path) -> (Vec<(i64, i64)>, Vec<i64>) {
    let int = |value: &serde_json::Value| value.as_i64().unwrap();
    let events = read(path.join("events")).rows;
    let values = read(path.join("counters")).rows;
    let mut ranges: Vec<_> = (events.iter())
        .map(|row| (int(&row["start_ns"]), int(&row["end_ns"])))
        .collect();
    ranges.sort();
    let mut values: Vec<_> = values.iter().map(|row| int(&row["time_ns"])).collect();
    values.sort();
    (ranges, values)
}

fn fact(path: &Path, key: &str) -> Option<String> {
    let facts = read(path.join("metadata")).rows;
    let found = facts.iter().find(|row| row["key"] == key);
    found.map(|row| row["value"].as_str().unwrap().to_owned())
}

#[test]
fn rows_get_the_times_that_are_known_at_the_end_in_parts_of_any_size() {
    // Between two sync points the line is straight; before the first it has the slope behind it.
    let time = |tick: i64| match tick {
        ..400 => 1400 + (tick - 200) * (2200 - 1400) / 200,
        _ => 2200 + (tick - 400) * 4,
    };
    for config in ["", "part=7|row_group=3"] {
        let run = write(config);
        let path = run.path.clone();
        let (before, _) = times(&path);
        assert_ne!(before[0], (time(0), time(5)));
        run.session.end().unwrap();
        let (ranges, values) = times(&path);
        let want: Vec<_> = (0..60)
            .map(|step| (time(step * 10), time(step * 10 + 5)))
            .collect();
        assert_eq!(ranges, want, "{config}");
        assert_eq!(values, want.iter().map(|range| range.0).collect::<Vec<_>>());
        assert_eq!(fact(&path, "nvtxw.before_sync"), None);
        assert_eq!(fact(&path, "nvtxw.unmerged"), None);
        // Nothing else stays.
        let folder = path.join("events/nvtxw_session=run/nvtxw_stream=main");
        let names = fs::read_dir(folder).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.all(|name| name.starts_with("part-0-")));
    }
}

#[test]
fn rows_keep_their_times_where_parts_can_not_be_written_once_more() {
    for config in ["merge=false", "part=7"] {
        let run = write(config);
        let path = run.path.clone();
        let before = times(&path);
        let folder = run
            .path
            .join("counters/nvtxw_session=run/nvtxw_stream=main");
        // The events' new parts are ready then.
        let taken = folder.join(".part-0-0.parquet.merge");
        fs::create_dir(&taken).unwrap();
        let ended = run.session.end();
        assert_eq!(times(&path), before);
        let want = match config {
            "merge=false" => {
                ended.unwrap();
                "the config key `merge` says so".to_owned()
            }
            _ => {
                let want = format!("creating {}: Is a directory (os error 21)", taken.display());
                let told = ended.unwrap_err().reason;
                let told = told.strip_prefix("can't put what was written in order: ");
                assert!(told.unwrap().starts_with(&want), "{told:?}");
                want
            }
        };
        assert_eq!(fact(&path, "nvtxw.unmerged"), Some(want));
        let count: u64 = fact(&path, "nvtxw.before_sync").unwrap().parse().unwrap();
        assert!((40..120).contains(&count), "{count}");
        let folder = path.join("events/nvtxw_session=run/nvtxw_stream=main");
        let names = fs::read_dir(folder).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.all(|name| name.starts_with("part-0-")));
    }
}

#[test]
fn a_part_that_someone_removes_or_changes_is_told_at_the_end() {
    type Damage = fn(&Path);
    let damages: [Damage; 3] = [
        |part| fs::remove_file(part).unwrap(),
        |part| fs::write(part, b"PAR1").unwrap(),
        |part| {
            let longer = [&fs::read(part).unwrap()[..], b"more"].concat();
            fs::write(part, longer).unwrap();
        },
    ];
    let parts = |path: &Path| {
        ["events", "counters"].map(|table| {
            path.join(table)
                .join("nvtxw_session=run/nvtxw_stream=main/part-0-1.parquet")
        })
    };
    for config in ["part=7|merge=false", "part=7"] {
        for number in 0..2 {
            for damage in damages {
                let run = write(config);
                let part = &parts(&run.path)[number];
                damage(part);
                let want = format!(
                    "{}: another program has removed or changed it; choose a `path` that nobody else writes",
                    part.display()
                );
                assert_eq!(run.session.end().unwrap_err().reason, want);
            }
        }
    }
    // What is left has its times.
    let run = write("part=7");
    let path = run.path.clone();
    for part in parts(&path) {
        fs::remove_file(part).unwrap();
    }
    run.session.end().unwrap_err();
    let (ranges, values) = times(&path);
    assert_eq!((ranges.len(), values.len()), (53, 53));
    assert_eq!((ranges[0].0, values[0]), (600, 600));
}

#[test]
fn a_batch_of_marks_has_times_of_one_clock_only() {
    let run = Run::with("format=parquet|window=2");
    let domain = run.session.domain("");
    let clock = NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER;
    let at = Entry {
        clock: Some(clock),
        ..time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK)
    };
    let entries = [at, entry(EntryType::UInt64, c"number")];
    let mark = domain.schema("tick", EventKind::Mark.to_raw(), 16, &entries);
    let mut stream = run.session.stream("main", domain, 0);
    let batch: Vec<i64> = (0..20).flat_map(|number| [number * 10, number]).collect();
    stream.batch(mark, &words(&batch)).unwrap();
    let clocks = [clock, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC];
    stream.sync(clocks, [0, 1000]).unwrap();
    stream.close().unwrap();
    let path = run.path.clone();
    run.session.end().unwrap();
    assert_eq!(fact(&path, "nvtxw.before_sync"), None);
    let rows = read(path.join("events")).rows;
    let mut found: Vec<_> = (rows.iter())
        .map(|row| row["start_ns"].as_i64().unwrap())
        .collect();
    found.sort();
    let want: Vec<_> = (0..20).map(|number| 1000 + number * 10).collect();
    assert_eq!(found, want);
}

#[test]
fn a_table_that_is_new_after_a_sync_point_has_no_rows_from_before() {
    let run = Run::with("format=parquet|window=2");
    let domain = run.session.domain("");
    let clock = NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER;
    let clocks = [clock, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC];
    let at = Entry {
        clock: Some(clock),
        ..time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK)
    };
    let entries = [at, entry(EntryType::UInt64, c"number")];
    let mut stream = run.session.stream("main", domain, 0);
    let [early, late] =
        ["early", "late"].map(|name| domain.schema(name, EventKind::Mark.to_raw(), 16, &entries));
    for (mark, from) in [(early, 0), (early, 20), (late, 50)] {
        let batch: Vec<i64> = (from..from + 10).flat_map(|at| [at, at]).collect();
        stream.batch(mark, &words(&batch)).unwrap();
        // The first rows are written by what is known before, and the next ones by this.
        if from != 20 {
            stream.sync(clocks, [from, 1000 + 3 * from]).unwrap();
        }
    }
    stream.close().unwrap();
    let path = run.path.clone();
    run.session.end().unwrap();
    for (name, count) in [("early", 20), ("late", 10)] {
        let rows = read(path.join("typed").join(name)).rows;
        for row in &rows {
            let [number, start] = ["number", "start_ns"].map(|key| row[key].as_i64().unwrap());
            let want = match number {
                ..50 => 1000 + 3 * number,
                _ => 1150 + number - 50,
            };
            assert_eq!(start, want, "{name} {number}");
        }
        assert_eq!(rows.len(), count, "{name}");
    }
}
