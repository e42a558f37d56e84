//! Pseudo-random inputs: the same in every run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_garbage::{Decoded, FORMS, KINDS, MEMBERS, Successes, calls, decode, files, formats};

/// One test at a time: made-up handles come true, and would disturb the others.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Some bytes, by xorshift.
fn input(seed: u64, len: usize) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len)
        .map(|_| if next() < 80 { 0 } else { next() })
        .collect()
}

#[test]
fn any_bytes_of_any_accepted_schema_are_decoded() {
    let _alone = alone();
    let mut all = Decoded::default();
    for seed in 0..4000 {
        all.add(&decode(&input(seed, 1500)));
    }
    assert_is_rich(&all);
    assert!(all.outside > 200, "hardly any pointer leads out: {all:?}");
}

#[test]
fn any_bytes_of_any_accepted_schema_are_written_in_any_format() {
    let _alone = alone();
    let mut all = Decoded::default();
    for seed in 0..2000 {
        all.add(&formats(&input(seed, 1500)));
    }
    assert_is_rich(&all);
    assert!(all.replayed > 3000, "hardly any call is replayed: {all:?}");
}

#[test]
fn short_inputs_lead_to_values() {
    let _alone = alone();
    let seeds = 0..1000;
    let has_values = |seed| decode(&input(seed, 300)).kinds.iter().sum::<u64>() > 0;
    let useful = seeds.clone().filter(|seed| has_values(*seed)).count();
    assert!(useful > 500, "{useful} of {} inputs", seeds.count());
}

/// Checks that runs came by each kind of entry and of value, and often to data.
fn assert_is_rich(all: &Decoded) {
    let rare = |names: &[&'static str], counts: &[u64]| -> Vec<String> {
        let counts = names.iter().zip(counts);
        let rare = counts.filter(|(_, count)| **count < 3);
        rare.map(|(name, count)| format!("{name}: {count}"))
            .collect()
    };
    assert_eq!(rare(&FORMS, &all.forms), [""; 0], "of {all:?}");
    assert_eq!(rare(&KINDS, &all.kinds), [""; 0], "of {all:?}");
    let kinds = all.schemas[1..].iter().all(|count| *count > 500);
    let written = all.events > 5000 && all.batches_of_many > 250 && all.samples > 250;
    assert!(
        kinds && written && all.compared > 1500,
        "hardly anything is tested: {all:?}"
    );
}

fn assert_all_succeed(run: fn(&[u8]) -> Successes, seeds: u64) {
    let _alone = alone();
    let mut all = Successes::default();
    for seed in 0..seeds {
        let successes = run(&input(seed, 2000));
        all.iter_mut()
            .zip(successes)
            .for_each(|(sum, more)| *sum += more);
    }
    for (member, successes) in MEMBERS.iter().zip(all) {
        assert!(
            successes > seeds / 20,
            "{member} hardly ever succeeded: {all:?}"
        );
    }
}

#[test]
fn any_calls_on_any_backend() {
    assert_all_succeed(calls, 1000);
}

#[test]
fn any_calls_on_the_built_in_backend() {
    assert_all_succeed(files, 200);
}
