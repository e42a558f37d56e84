//! Calls that write events to a stream.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::call::{Call, Expect};
use crate::choices::Choices;
use crate::known::{Layout, Pointers};
use crate::memory::Memory;
use crate::payload::{self, Piece};
use crate::schema;
use crate::sessions::pointer;
use crate::table::{Answer, Table, member};
use crate::world::{Domain, EventSchema, Kind, Message, World};

/// The stream that a call is on: its handle, and what is known of it if it is open.
pub struct On<'w> {
    pub handle: u64,
    pub found: Option<usize>,
    pub domain: &'w Domain,
    is_poisoned: bool,
    /// Whether the backend takes all that the ABI allows.
    is_collector: bool,
}

impl<'w> On<'w> {
    pub fn any(choices: &mut Choices<'_>, world: &'w World, none: &'w Domain) -> Self {
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
    pub fn expect(&self, is_readable: bool, is_good: bool) -> Expect {
        match self.found {
            _ if !is_readable => Expect::Invalid,
            None => Expect::Invalid,
            Some(_) if self.is_poisoned => Expect::Failed,
            Some(_) if is_good && !self.is_collector => Expect::Any,
            Some(_) => Expect::if_good(is_good),
        }
    }

    pub fn expect_any(&self) -> Expect {
        match self.expect(true, true) {
            Expect::Success => Expect::Any,
            other => other,
        }
    }
}

/// Poisons the stream, if the backend panicked.
pub fn note_panic(world: &mut World, stream: Option<usize>, answer: &Answer) {
    if let Some(stream) = stream {
        world.streams[stream].is_poisoned |=
            answer.reached.met_fate && answer.reason.contains(crate::PANIC);
    }
}

/// One event by a schema whose payloads are known: its numbers, and its times if it is good.
type Numbers = (Vec<u64>, Option<(i64, Option<i64>)>);

fn numbers(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    domain: &Domain,
    schema: EventSchema,
) -> Numbers {
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
    let (message, is_good) = match schema.message {
        Message::None => (None, true),
        Message::Registered => {
            let message = match choices.below(16) {
                0..8 => choices.pick_or(&domain.known.strings, 0),
                15 => choices.number(),
                _ => 0,
            };
            let is_good = message == 0 || domain.known.strings.contains(&message);
            (Some(message), is_good)
        }
        Message::Pointer if choices.one_in(4) => (Some(0), true),
        Message::Pointer => {
            let text = memory.text(&schema::text(choices));
            // Where no promise says that it holds, it is refused.
            (
                Some(text.addr() as u64),
                domain.known.pointers != Pointers::Any,
            )
        }
    };
    numbers.extend(message);
    times = times.filter(|_| is_good);
    (numbers, times)
}

/// The bytes of numbers, somewhere.
pub fn stored(choices: &mut Choices<'_>, memory: &mut Memory, numbers: &[u64]) -> *const u8 {
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
    let (numbers, times) = numbers(choices, &mut memory, on.domain, schema);
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
    // Only text may leave its size open.
    let is_open = choices.one_in(32);
    if is_open {
        payloads[0].size = usize::MAX;
    }
    let mut count = payloads.len();
    let mut place = memory.items(payloads);
    if choices.one_in(24) {
        place = ptr::null_mut();
        count *= choices.below(2) as usize;
    }
    let is_readable = !place.is_null() || count == 0;
    let is_good = count > 0 && times.is_some() && !is_open;
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
    .on(handle)
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
    .on(handle)
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
        let (numbers, times) = numbers(choices, &mut memory, on.domain, schema);
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
    if choices.one_in(32) {
        size = usize::MAX;
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
    let is_readable = !place.is_null() && (size == 0 || !events.is_null() && size < usize::MAX);
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
    .on(handle)
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
        eventSchemaId: payload::schema_id(choices, known, layout),
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
    .on(handle)
}
