//! Calls that write to a stream.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::call::{Call, Expect};
use crate::choices::Choices;
use crate::known::Layout;
use crate::memory::Memory;
use crate::payload::{self, Piece};
use crate::sessions::pointer;
use crate::table::{Answer, Table, member};
use crate::world::{Counter, Domain, EventSchema, Kind, World};

/// The stream that a call is on: its handle, and what is known of it if it is open.
struct On<'w> {
    handle: u64,
    found: Option<usize>,
    domain: &'w Domain,
    is_poisoned: bool,
    /// Whether the backend takes all that the ABI allows.
    is_collector: bool,
}

impl<'w> On<'w> {
    fn any(choices: &mut Choices<'_>, world: &'w World, none: &'w Domain) -> Self {
        let handle = world.handle(choices, Kind::Stream);
        let found = world.stream(handle);
        let stream = found.map(|stream| &world.streams[stream]);
        Self {
            handle,
            found,
            domain: stream.map_or(none, |stream| &world.domains[stream.domain]),
            is_poisoned: stream.is_some_and(|stream| stream.is_poisoned),
            is_collector: world.table.is_collector(),
        }
    }

    /// What a call must answer whose arguments are good or bad. Those that can be read without the stream come first.
    fn expect(&self, is_readable: bool, is_good: bool) -> Expect {
        match self.found {
            _ if !is_readable => Expect::Invalid,
            None => Expect::Invalid,
            Some(_) if self.is_poisoned => Expect::Failed,
            Some(_) if is_good && !self.is_collector => Expect::Any,
            Some(_) => Expect::if_good(is_good),
        }
    }

    fn expect_any(&self) -> Expect {
        match self.expect(true, true) {
            Expect::Success => Expect::Any,
            other => other,
        }
    }
}

/// Poisons the stream, if the backend panicked.
fn note_panic(world: &mut World, stream: Option<usize>, answer: &Answer) {
    if let Some(stream) = stream {
        world.streams[stream].is_poisoned |=
            answer.reached.met_fate && answer.reason.contains(crate::PANIC);
    }
}

/// One event by a schema whose payloads are known: its numbers, and its times if it is good.
type Numbers = (Vec<u64>, Option<(i64, Option<i64>)>);

fn numbers(choices: &mut Choices<'_>, domain: &Domain, schema: EventSchema) -> Numbers {
    let start = choices.time();
    let mut numbers = vec![start as u64];
    let mut times = Some((start, None));
    if schema.times() == 2 {
        let end = match choices.below(8) {
            7 => choices.time(),
            _ => start.saturating_add(choices.below(100) as i64),
        };
        numbers.push(end as u64);
        times = (start <= end).then_some((start, Some(end)));
    }
    if schema.role >= 7 {
        numbers.push(choices.below(4));
    }
    if schema.has_message {
        let message = match choices.below(16) {
            0..8 => choices.pick_or(&domain.known.strings, 0),
            15 => choices.number(),
            _ => 0,
        };
        let is_good = message == 0 || domain.known.strings.contains(&message);
        times = times.filter(|_| is_good);
        numbers.push(message);
    }
    (numbers, times)
}

/// The bytes of numbers, somewhere.
fn stored(choices: &mut Choices<'_>, memory: &mut Memory, numbers: &[u64]) -> *const u8 {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect();
    memory.skewed(&bytes, choices.pick(&[0, 0, 1, 4]))
}

pub fn event(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let choice = choices.below(16);
    if choice >= 12 || on.domain.events.is_empty() {
        return any_event(choices, &on);
    }
    let schema = choices.pick(&on.domain.events);
    let (numbers, times) = numbers(choices, on.domain, schema);
    let bytes = stored(choices, &mut memory, &numbers);
    let mut payloads = vec![nvtxPayloadData_t {
        schemaId: schema.id,
        size: 8 * numbers.len(),
        payload: bytes.cast(),
    }];
    if choices.one_in(4) {
        let message = memory.items(b"a message".to_vec());
        payloads.push(nvtxPayloadData_t {
            schemaId: NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8,
            size: 9,
            payload: message.cast(),
        });
    }
    let mut count = payloads.len();
    let mut place = memory.items(payloads);
    if choices.one_in(24) {
        place = ptr::null_mut();
        count *= choices.below(2) as usize;
    }
    let is_readable = !place.is_null() || count == 0;
    let is_good = count > 0 && times.is_some();
    let expect = on.expect(is_readable, is_good);
    let run = move |table: &Table| member!(table, EventWrite(pointer(handle), place, count));
    Call::new("EventWrite", memory, expect, run, move |world, answer| {
        note_panic(world, found, answer);
        let is_collected = world.table.is_collector() && expect != Expect::Invalid;
        if is_collected && (answer.is_success() || answer.reached.met_fate) {
            let times = times.expect("what is bad does not get here");
            assert_eq!(answer.reached.events, [times], "it came once, as it is");
        } else {
            assert!(answer.reached.is_nothing());
        }
        if let (Some(stream), true) = (found, answer.is_success()) {
            let session = world.streams[stream].session;
            world.sessions[session].written.add(schema.role, [1, 1]);
        }
    })
}

fn blob(choices: &mut Choices<'_>, memory: &mut Memory, domain: &Domain) -> Piece {
    let len = choices.below(72) as usize;
    payload::piece(
        choices,
        memory,
        &domain.known,
        None,
        &Layout::default(),
        len,
    )
}

/// An event of any payloads.
fn any_event(choices: &mut Choices<'_>, on: &On<'_>) -> Call {
    let mut memory = Memory::default();
    let (handle, found) = (on.handle, on.found);
    let known = &on.domain.known;
    let blob = blob(choices, &mut memory, on.domain);
    let mut payloads = Vec::new();
    for _ in 0..choices.pick(&[1, 2, 3, 10]) {
        payloads.push(payload::beside(choices, &mut memory, known, blob));
    }
    let count = payloads.len();
    let place = memory.items(payloads);
    let run = move |table: &Table| member!(table, EventWrite(pointer(handle), place, count));
    Call::new(
        "EventWrite",
        memory,
        on.expect_any(),
        run,
        move |world, answer| {
            note_panic(world, found, answer);
            let reached = answer.reached.events.len();
            let came = answer.is_success() || answer.reached.met_fate;
            assert!(!world.table.is_collector() || reached == usize::from(came));
            if let (Some(stream), true) = (found, answer.is_success()) {
                let session = world.streams[stream].session;
                world.sessions[session].written.add_any([0, 1]);
            }
        },
    )
}

pub fn batch(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let choice = choices.below(16);
    if choice >= 12 || on.domain.events.is_empty() {
        return any_batch(choices, &on);
    }
    let schema = choices.pick(&on.domain.events);
    let (mut all, mut good) = (Vec::new(), Vec::new());
    let count = choices.pick(&[3, 1, 0, 20]);
    for _ in 0..count {
        let (numbers, times) = numbers(choices, on.domain, schema);
        all.extend(numbers);
        good.extend(times);
    }
    let mut events = stored(choices, &mut memory, &all);
    let mut size = 8 * all.len();
    let mut is_whole = true;
    if size > 0 && choices.one_in(24) {
        size -= 1 + choices.below(7) as usize;
        is_whole = false;
    }
    if choices.one_in(24) {
        events = ptr::null();
    }
    let scope = on.domain.scope(choices);
    let batch = nvtxEventBatch_t {
        eventSchemaId: schema.id,
        size,
        events: events.cast(),
        scope,
        flags: choices.below(5) << 1 | choices.below(2) << 40,
        flexData: ptr::null(),
        flexDataSize: choices.number() as usize,
        flexDataOffset: choices.number() as usize,
    };
    let place = match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.place(batch),
    };
    let is_readable = !place.is_null() && (size == 0 || !events.is_null());
    let is_taken = is_whole && on.domain.knows_scope(scope);
    let expect = on.expect(is_readable, is_taken && good.len() == count);
    let run = move |table: &Table| member!(table, EventBatchWrite(pointer(handle), place));
    Call::new(
        "EventBatchWrite",
        memory,
        expect,
        run,
        move |world, answer| {
            note_panic(world, found, answer);
            // An empty batch does not get to the backend.
            let gets_there = is_readable && is_taken && size > 0;
            if world.table.is_collector() && gets_there && !answer.reached.events.is_empty() {
                assert_eq!(
                    answer.reached.events, good,
                    "the good ones came once, in order"
                );
            } else if answer.is_success() && world.table.is_collector() {
                assert!(size == 0 && answer.reached.is_nothing());
            }
            let (Some(stream), true) = (found, gets_there) else {
                assert!(answer.reached.is_nothing());
                return;
            };
            let session = world.streams[stream].session;
            let least = if answer.is_success() { count } else { 0 };
            world.sessions[session]
                .written
                .add(schema.role, [least, good.len()]);
        },
    )
}

/// A batch of any bytes.
fn any_batch(choices: &mut Choices<'_>, on: &On<'_>) -> Call {
    let mut memory = Memory::default();
    let (handle, found) = (on.handle, on.found);
    let known = &on.domain.known;
    let none = Layout::default();
    let layout = known.layout(choices).unwrap_or(&none);
    let flex = match choices.one_in(2) {
        true => Some(blob(choices, &mut memory, on.domain)),
        false => None,
    };
    let len = layout.size * choices.pick(&[1, 3]) as usize + choices.pick(&[0, 0, 5]);
    let piece = payload::piece(choices, &mut memory, known, flex, layout, len);
    let start = choices.below(flex.map_or(0, |flex| flex.len) as u64 + 1) as usize;
    let batch = memory.place(nvtxEventBatch_t {
        eventSchemaId: if choices.one_in(8) {
            choices.number()
        } else {
            layout.id
        },
        size: piece.len,
        events: piece.start.cast(),
        scope: on.domain.scope(choices),
        flags: choices.number(),
        flexData: flex.map_or(ptr::null(), |flex| flex.start.cast()),
        flexDataSize: flex.map_or(7, |flex| flex.len - start),
        flexDataOffset: start,
    });
    let run = move |table: &Table| member!(table, EventBatchWrite(pointer(handle), batch));
    Call::new(
        "EventBatchWrite",
        memory,
        on.expect_any(),
        run,
        move |world, answer| {
            note_panic(world, found, answer);
            if let Some(stream) = found {
                let session = world.streams[stream].session;
                // Events of no size would be without number; one has 8 bytes of time at least.
                world.sessions[session].written.add_any([0, len / 8]);
            }
        },
    )
}

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
    domain.taken[crate::world::COUNTERS].contains(&id)
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
    let is_readable = !data.is_null() || size == 0;
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
    let batch = nvtxCounterBatch_t {
        counterId: counter.id,
        counters: counters.cast(),
        countersSize: size,
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
    let is_readable = !place.is_null() && (size == 0 || !counters.is_null());
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
        }
    }
}
