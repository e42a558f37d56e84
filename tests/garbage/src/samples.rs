//! Calls that write samples of counters, and relations between time domains.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::call::Call;
use crate::choices::Choices;
use crate::events::{On, note_panic, stored};
use crate::memory::Memory;
use crate::sessions::pointer;
use crate::table::{Answer, Table, member};
use crate::world::{COUNTERS, Counter, Domain, World};

/// A counter of the stream's domain, with whether it is one that is known.
fn counter(choices: &mut Choices<'_>, domain: &Domain) -> (Counter, bool) {
    let wrong = Counter {
        id: 0,
        sample_size: 8,
        has_time: false,
    };
    match choices.below(16) {
        0..13 => {
            let counter = choices.pick_or(&domain.counters, wrong);
            (counter, counter.id != 0)
        }
        _ => {
            let id = choices.pick(&[0, 17, 1 << 24, 1 << 32, u64::MAX]);
            let mut known = domain.counters.iter();
            let known = known.find(|counter| counter.id == id).copied();
            (known.unwrap_or(Counter { id, ..wrong }), known.is_some())
        }
    }
}

/// Whether a counter of this ID may be there that the model knows too little of.
fn may_be_there(domain: &Domain, id: u64) -> bool {
    domain.taken[COUNTERS].contains(&id)
}

pub fn sample(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let (counter, is_known) = counter(choices, on.domain);
    let time = choices.time();
    let size = match choices.below(16) {
        15 => choices.below(24) as usize,
        _ => counter.sample_size,
    };
    let bytes = choices.bytes(size);
    let data = match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.skewed(&bytes, choices.pick(&[0, 1])),
    };
    let size = if choices.one_in(32) { usize::MAX } else { size };
    let is_readable = size == 0 || !data.is_null() && size < usize::MAX;
    let is_good = is_known && size == counter.sample_size;
    let mut expect = on.expect(is_readable, is_good);
    if !is_known && may_be_there(on.domain, counter.id) && is_readable {
        expect = on.expect_any();
    }
    let run = move |table: &Table| {
        member!(
            table,
            CounterWrite(pointer(handle), time, counter.id, data.cast(), size)
        )
    };
    Call::new("CounterWrite", memory, expect, run, move |world, answer| {
        note_panic(world, found, answer);
        let came = answer.is_success() || answer.reached.met_fate;
        match came && world.table.is_collector() {
            true => assert_eq!(answer.reached.samples, [time], "it came once"),
            false => assert!(answer.reached.is_nothing()),
        }
    })
    .on(handle)
}

pub fn no_value(choices: &mut Choices<'_>, world: &World) -> Call {
    let none = Domain::none();
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let (counter, is_known) = counter(choices, on.domain);
    let time = choices.time();
    let reason = choices.below(4) as u8;
    let is_known = is_known || may_be_there(on.domain, counter.id);
    let expect = on.expect(true, is_known && reason <= 2);
    let run = move |table: &Table| {
        member!(
            table,
            CounterNoValueWrite(pointer(handle), time, counter.id, reason)
        )
    };
    Call::new(
        "CounterNoValueWrite",
        Memory::default(),
        expect,
        run,
        move |world, answer| {
            note_panic(world, found, answer);
            let came = answer.is_success() || answer.reached.met_fate;
            let came = came && world.table.is_collector();
            assert_eq!(answer.reached.no_values, usize::from(came));
        },
    )
    .on(handle)
}

pub fn samples(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let (counter, is_known) = counter(choices, on.domain);
    let mut size = choices.pick(&[2, 1, 0, 9]) * counter.sample_size;
    if choices.one_in(24) {
        size = size.saturating_sub(1);
    }
    let count = size / counter.sample_size;
    let is_whole = size.is_multiple_of(counter.sample_size);
    let bytes = choices.bytes(size);
    let counters = match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.skewed(&bytes, choices.pick(&[0, 1])),
    };
    // One time each, one pair of a time and an interval for all, or none.
    let placement = choices.pick(&[0, 0, 0, 1, 2, 3]);
    let needed = if placement == 0 { count } else { 2 };
    let len = match choices.below(8) {
        7 => choices.below(12) as usize,
        _ => needed,
    };
    let times: Vec<u64> = (0..len).map(|_| choices.time() as u64).collect();
    let timestamps = match choices.one_in(4) {
        true => ptr::null(),
        false => stored(choices, &mut memory, &times),
    };
    let is_endless = choices.one_in(32);
    let batch = nvtxCounterBatch_t {
        counterId: counter.id,
        counters: counters.cast(),
        countersSize: if is_endless { usize::MAX } else { size },
        flags: choices.below(4) << 1 | placement << 32,
        timestamps: timestamps.cast(),
        timestampsSize: if timestamps.is_null() { 999 } else { 8 * len },
    };
    let place = match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.place(batch),
    };

    let embedded = || {
        let at = |index: usize| bytes[index * 16..][..8].try_into().expect("8 bytes");
        (0..count)
            .map(|index| i64::from_ne_bytes(at(index)))
            .collect()
    };
    let each = || times[..count].iter().map(|time| *time as i64).collect();
    let paired = |times: &[u64]| {
        let (time, interval) = (i128::from(times[0] as i64), i128::from(times[1] as i64));
        let before = if placement == 2 { count as i128 - 1 } else { 0 };
        let at = |index| i64::try_from(time + (index as i128 - before) * interval).ok();
        (0..count).map(at).collect::<Vec<_>>()
    };
    let is_readable = !place.is_null() && !is_endless && (size == 0 || !counters.is_null());
    // `None` for a sample whose time can't be told.
    let expected: Option<Vec<Option<i64>>> = match (timestamps.is_null(), placement) {
        _ if !is_known || !is_whole => None,
        _ if count == 0 => Some(Vec::new()),
        (_, 3) => None,
        (false, 0) if len >= count => {
            let each: Vec<i64> = each();
            Some(each.into_iter().map(Some).collect())
        }
        (false, 1 | 2) if len >= 2 => Some(paired(&times)),
        (true, 0) if counter.has_time => {
            let embedded: Vec<i64> = embedded();
            Some(embedded.into_iter().map(Some).collect())
        }
        _ => None,
    };
    let is_good = expected.iter().flatten().all(Option::is_some) && expected.is_some();
    let mut expect = on.expect(is_readable, is_good);
    if !is_known && may_be_there(on.domain, counter.id) && is_readable {
        expect = on.expect_any();
    }
    let good: Option<Vec<i64>> = expected.map(|times| times.into_iter().flatten().collect());
    let run = move |table: &Table| member!(table, CounterBatchWrite(pointer(handle), place));
    Call::new(
        "CounterBatchWrite",
        memory,
        expect,
        run,
        move |world, answer| {
            note_panic(world, found, answer);
            if !world.table.is_collector() || !is_known {
                return;
            }
            match good {
                Some(good) if !answer.reached.is_nothing() => {
                    assert_eq!(answer.reached.samples, good, "the good ones came once");
                }
                _ if answer.is_success() => assert_eq!(size, 0),
                _ => assert!(answer.reached.is_nothing()),
            }
        },
    )
    .on(handle)
}

/// A relation between time domains, by one of three members.
pub fn relation(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let (from, to) = (
        on.domain.time_domain(choices),
        on.domain.time_domain(choices),
    );
    let (here, there) = (choices.time(), choices.time());
    let are_known = on.domain.knows_time_domain(from) && on.domain.knows_time_domain(to);
    let after = move |world: &mut World, answer: &Answer, is_some: bool| {
        note_panic(world, found, answer);
        if let (Some(stream), true) = (found, answer.is_success() && is_some) {
            let session = world.streams[stream].session;
            world.sessions[session].written.is_related = true;
        }
        let came = (answer.is_success() && is_some) || answer.reached.met_fate;
        let came = came && world.table.is_collector();
        assert_eq!(answer.reached.relations, usize::from(came));
    };
    match choices.below(3) {
        0 => {
            let expect = on.expect(true, are_known);
            let run = move |table: &Table| {
                member!(
                    table,
                    TimeSyncPointWrite(pointer(handle), from, to, here, there)
                )
            };
            let name = "TimeSyncPointWrite";
            Call::new(name, memory, expect, run, move |world, answer| {
                after(world, answer, true);
            })
            .on(handle)
        }
        1 => {
            let mut count = choices.below(4) as usize;
            let points = vec![
                nvtxSyncPoint_t {
                    src: here,
                    dst: there
                };
                count
            ];
            let mut points = memory.items(points);
            if choices.one_in(16) {
                points = ptr::null_mut();
                count = choices.below(2) as usize * (1 << 40);
            }
            let expect = on.expect(!points.is_null() || count == 0, are_known);
            let run = move |table: &Table| {
                member!(
                    table,
                    TimeSyncPointTableWrite(pointer(handle), from, to, points, count)
                )
            };
            let name = "TimeSyncPointTableWrite";
            Call::new(name, memory, expect, run, move |world, answer| {
                after(world, answer, count > 0);
            })
            .on(handle)
        }
        _ => {
            let slopes = [
                1.0,
                0.5,
                2.0,
                3.7,
                1e300,
                0.0,
                -1.0,
                f64::NAN,
                f64::INFINITY,
                5e-324,
            ];
            let slope = choices.pick(&slopes);
            let expect = on.expect(true, are_known && slope > 0.0 && slope.is_finite());
            let run = move |table: &Table| {
                let stream = pointer(handle);
                member!(
                    table,
                    TimestampConversionFactorWrite(stream, from, to, slope, here, there)
                )
            };
            let name = "TimestampConversionFactorWrite";
            Call::new(name, memory, expect, run, move |world, answer| {
                after(world, answer, true);
            })
            .on(handle)
        }
    }
}
