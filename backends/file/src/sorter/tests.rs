use super::*;
use crate::replay::{Random, TempDir};

/// Sorts records that look random; returns how many levels of runs there were.
fn check(seed: u64, limits: Limits, count: u64) -> usize {
    let dir = TempDir::new();
    let mut random = Random::new(seed);
    let mut sorter = Sorter::new(&dir.path().join("run.pftrace"), limits);
    let longest = 1 + random.below(300);
    let mut want = Vec::new();
    for number in 0..count {
        let key = Key {
            group: random.below(3) as u32,
            start: random.below(50) as i64 - 25,
            rank: random.below(3) as i64 - 1,
            number,
        };
        let record: Vec<u8> = (0..random.below(longest))
            .map(|_| random.below(256) as u8)
            .collect();
        let (one, other) = record.split_at(record.len() / 2);
        sorter.add(key, &[one, other]).unwrap();
        want.push((key, record));
    }
    want.sort();
    let levels = sorter.levels.len();
    let mut sorted = sorter.finish().unwrap();
    for (key, record) in &want {
        let found = sorted.next().unwrap();
        assert_eq!(found, Some((*key, &record[..])), "seed {seed}");
    }
    assert_eq!(sorted.next().unwrap(), None);
    let files = || std::fs::read_dir(dir.path()).unwrap().count();
    if cfg!(unix) {
        assert_eq!(files(), 0, "spilled records have names");
    }
    drop(sorted);
    assert_eq!(files(), 0);
    levels
}

#[test]
fn records_come_in_order_whatever_the_limits() {
    let mut deepest = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let limits = Limits {
            memory: 1 + random.below(4000) as usize,
            fan_in: 2 + random.below(5) as usize,
        };
        let count = random.below(400);
        deepest = deepest.max(check(seed, limits, count));
    }
    assert!(deepest > 3, "{deepest}");
}

#[test]
fn what_fits_into_memory_needs_no_file() {
    assert_eq!(check(1, Limits::of(16 << 20), 20_000), 0);
}

#[test]
fn records_longer_than_any_buffer_come_back() {
    let dir = TempDir::new();
    let limits = Limits {
        memory: 1000,
        fan_in: 4,
    };
    let mut sorter = Sorter::new(&dir.path().join("run"), limits);
    let record = |number: u64| vec![number as u8; 1 + number as usize * 60_000];
    let key = |number: u64| Key {
        group: 0,
        start: -(number as i64),
        rank: 0,
        number,
    };
    for number in 0..9 {
        sorter.add(key(number), &[&record(number)]).unwrap();
    }
    let mut sorted = sorter.finish().unwrap();
    for number in (0..9).rev() {
        let found = sorted.next().unwrap().unwrap();
        assert_eq!(found, (key(number), &record(number)[..]));
    }
    assert_eq!(sorted.next().unwrap(), None);
}

#[test]
fn no_more_runs_are_read_at_once_than_asked() {
    let dir = TempDir::new();
    let limits = Limits {
        memory: 1,
        fan_in: 3,
    };
    let mut sorter = Sorter::new(&dir.path().join("run"), limits);
    for number in 0..100 {
        let key = Key {
            group: 0,
            start: 0,
            rank: 0,
            number,
        };
        sorter.add(key, &[b"x"]).unwrap();
        assert!(sorter.levels.iter().all(|level| level.runs.len() < 3));
    }
    // 100 is 10201 in base 3.
    let runs: Vec<_> = sorter.levels.iter().map(|level| level.runs.len()).collect();
    assert_eq!(runs, [1, 0, 2, 0, 1]);
    let Source::Disk(mut merge) = sorter.finish().unwrap().0 else {
        panic!("nothing was spilled");
    };
    assert!(merge.runs.len() <= 3, "{}", merge.runs.len());
    for number in 0..100 {
        assert_eq!(merge.next().unwrap().unwrap().0.number, number);
    }
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let dir = TempDir::new();
    let limits = Limits {
        memory: 1,
        fan_in: 2,
    };
    let mut sorter = Sorter::new(&dir.path().join("no/where"), limits);
    let key = Key {
        group: 0,
        start: 0,
        rank: 0,
        number: 0,
    };
    let text = sorter.add(key, &[b"x"]).unwrap_err().to_string();
    let want = format!("creating {}", dir.path().join("no/where.sort-").display());
    assert!(text.starts_with(&want), "{text}");
}
