//! Calls that register something in a domain.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, IdClass, PredefinedScope, TimestampType};

use crate::call::{Call, Expect};
use crate::choices::Choices;
use crate::entry::entry;
use crate::known::Layout;
use crate::memory::Memory;
use crate::schema::{self, set_part};
use crate::semantics;
use crate::sessions::{out, pointer, reach, read, struct_size};
use crate::table::{Answer, Table, member};
use crate::world::{
    COUNTERS, Counter, Domain, EventSchema, Kind, LAYOUTS, Message, SCOPES, TIME_DOMAINS, World,
};

/// The domain that a call is on: its handle, and what is known of it if it is alive.
struct On<'w> {
    handle: u64,
    found: Option<usize>,
    known: &'w Domain,
    is_poisoned: bool,
}

impl<'w> On<'w> {
    fn any(choices: &mut Choices<'_>, world: &'w World, none: &'w Domain) -> Self {
        let handle = world.handle(choices, Kind::Domain);
        let found = world.domain(handle);
        let known = found.map_or(none, |domain| &world.domains[domain]);
        let is_poisoned = found.is_some() && world.sessions[known.session].is_poisoned;
        Self {
            handle,
            found,
            known,
            is_poisoned,
        }
    }

    fn expect(&self, if_alive: Expect) -> Expect {
        match self.found {
            None => Expect::Invalid,
            Some(_) if self.is_poisoned => Expect::Failed,
            Some(_) => if_alive,
        }
    }
}

/// The ID that a call gave out: the producer's own, or a dynamic one. It is taken from now on.
fn take_id(
    world: &mut World,
    domain: Option<usize>,
    what: usize,
    wanted: u64,
    out: *mut u64,
) -> u64 {
    let id = if out.is_null() { wanted } else { read(out) };
    match wanted {
        0 => assert_eq!(IdClass::of(id), IdClass::Dynamic),
        wanted => assert_eq!(id, wanted),
    }
    let domain = domain.expect("what succeeds has a domain");
    let taken = &mut world.domains[domain].taken[what];
    assert!(!taken.contains(&id), "{id} is given out twice");
    taken.push(id);
    id
}

fn nothing_reached(answer: &Answer) {
    assert!(answer.reached.is_nothing());
}

pub fn category(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let handle = on.handle;
    let category = 2_u32.wrapping_sub(choices.below(4) as u32);
    let name = match choices.one_in(16) {
        true => ptr::null(),
        false => memory.text(&schema::text(choices)),
    };
    let expect = on.expect(Expect::if_good(category != 0 && !name.is_null()));
    let run =
        move |table: &Table| member!(table, CategoryRegister(pointer(handle), category, name));
    Call::new("CategoryRegister", memory, expect, run, |_, answer| {
        nothing_reached(answer)
    })
}

pub fn string(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let text = match choices.one_in(16) {
        true => ptr::null(),
        false => memory.text(&schema::text(choices)),
    };
    let out = out::<u64>(choices, &mut memory);
    let expect = on.expect(Expect::if_good(!text.is_null() && !out.is_null()));
    let run =
        move |table: &Table| member!(table, StringRegister(pointer(handle), text, out.cast()));
    Call::new(
        "StringRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            nothing_reached(answer);
            if let (Some(domain), true) = (found, answer.is_success()) {
                let string = read(out);
                let mut all = world
                    .domains
                    .iter()
                    .flat_map(|domain| &domain.known.strings);
                assert!(string != 0 && all.all(|old| *old != string));
                world.domains[domain].known.strings.push(string);
            }
        },
    )
}

pub fn resource(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let handle = on.handle;
    let whole = size_of::<nvtxResourceAttributes_t>();
    let size = struct_size(choices, whole);
    let kind = choices.pick(&[0, 3, 1, 2, 4]);
    let string = world.handle(choices, Kind::String);
    let message: *const u8 = match kind {
        _ if choices.one_in(8) => ptr::null(),
        NVTX_MESSAGE_TYPE_ASCII => memory.text(&schema::text(choices)).cast(),
        NVTX_MESSAGE_TYPE_UNICODE => {
            let units = [0xD800, 0x11_0000, 97, -1, 0x20AC];
            let mut text: Vec<wchar_t> = (0..choices.below(4))
                .map(|_| choices.pick(&units))
                .collect();
            text.push(0);
            memory.items(text).cast()
        }
        NVTX_MESSAGE_TYPE_REGISTERED => pointer(string),
        _ => schema::nowhere(),
    };
    let attr = nvtxResourceAttributes_t {
        version: choices.number() as u16,
        size: size as u16,
        identifierType: choices.number() as i32,
        identifier: nvtxResourceIdentifier_t {
            ullValue: choices.number(),
        },
        messageType: kind,
        message: nvtxMessageValue_t {
            ascii: message.cast(),
        },
    };
    let mut place = memory.head(&attr, size.max(4));
    if choices.one_in(24) {
        place = ptr::null();
    }
    let has_message = reach(size) >= 32 && !message.is_null();
    let is_good = match kind {
        _ if place.is_null() || size < 16 => false,
        NVTX_MESSAGE_TYPE_REGISTERED if has_message => {
            on.known.known.strings.contains(&(message.addr() as u64))
        }
        4 => !has_message,
        _ => true,
    };
    let expect = on.expect(Expect::if_good(is_good));
    let run = move |table: &Table| member!(table, ResourceRegister(pointer(handle), place));
    Call::new("ResourceRegister", memory, expect, run, |_, answer| {
        nothing_reached(answer)
    })
}

pub fn scope(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let whole = size_of::<nvtxScopeAttr_t>();
    let size = struct_size(choices, whole);
    let paths = [
        c"GPU[0]/Stream[7]",
        c"/a//b/",
        c"a\\/b\\[",
        c"a[",
        c"a]",
        c"a[0]b",
    ];
    let path = match choices.below(3) {
        0 => schema::text(choices),
        _ => choices.pick(&paths).into(),
    };
    let path_is_good = is_path(path.to_bytes());
    let attr = nvtxScopeAttr_t {
        structSize: size,
        path: memory.text(&path),
        parentScope: on.known.scope(choices),
        scopeId: on.known.new_id(choices, SCOPES),
    };
    let mut place = memory.head(&attr, size.max(8));
    if choices.one_in(24) {
        place = ptr::null();
    }
    let out = out::<u64>(choices, &mut memory);
    let reach = reach(size);
    let id = if reach >= 32 { attr.scopeId } else { 0 };
    let parent = if reach >= 24 { attr.parentScope } else { 0 };
    let parent_is_good = match PredefinedScope::from_raw(parent) {
        Some(parent) => parent.is_parent(),
        None => on.known.taken[SCOPES].contains(&parent),
    };
    let is_good = !place.is_null()
        && size >= 8
        && (reach < 16 || path_is_good)
        && parent_is_good
        && on.known.allows(SCOPES, id)
        && (id != 0 || !out.is_null());
    let expect = on.expect(Expect::if_good(is_good));
    let run = move |table: &Table| member!(table, ScopeRegister(pointer(handle), place, out));
    Call::new(
        "ScopeRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            nothing_reached(answer);
            if answer.is_success() {
                let id = take_id(world, found, SCOPES, id, out);
                world.domains[found.expect("a domain")]
                    .known
                    .scopes
                    .push(id);
            }
        },
    )
}

/// Whether all brackets are a pair around the end of a segment. A `\` before a `/` or a bracket takes its meaning.
fn is_path(path: &[u8]) -> bool {
    let mut bytes = path.iter().peekable();
    let (mut is_key, mut is_closed) = (false, false);
    while let Some(byte) = bytes.next() {
        let is_plain = match byte {
            b'\\' => {
                bytes.next_if(|next| b"/[]".contains(next));
                true
            }
            b'/' | b'[' | b']' => false,
            _ => true,
        };
        match byte {
            _ if is_plain && is_closed => return false,
            _ if is_plain => {}
            b'/' if is_key => return false,
            b'/' => is_closed = false,
            b'[' if is_key || is_closed => return false,
            b'[' => is_key = true,
            _ if !is_key => return false,
            _ => (is_key, is_closed) = (false, true),
        }
    }
    !is_key
}

pub fn enumeration(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let size = choices.pick(&[4, 1, 2, 8, 0, 3, 16]);
    let id = on.known.new_id(choices, LAYOUTS);
    let mut attr = schema::enumeration(choices, &mut memory, size, id);
    if choices.one_in(24) {
        attr = ptr::null();
    }
    let out = out::<u64>(choices, &mut memory);
    let is_good = !attr.is_null()
        && matches!(size, 1 | 2 | 4 | 8)
        && on.known.allows(LAYOUTS, id)
        && (id != 0 || !out.is_null());
    let expect = on.expect(Expect::if_good(is_good));
    let run = move |table: &Table| member!(table, EnumRegister(pointer(handle), attr, out));
    Call::new("EnumRegister", memory, expect, run, move |world, answer| {
        nothing_reached(answer);
        if answer.is_success() {
            let id = take_id(world, found, LAYOUTS, id, out);
            let layout = Layout {
                id,
                ..Layout::default()
            };
            world.domains[found.expect("a domain")]
                .known
                .layouts
                .push(layout);
        }
    })
}

/// A schema of any kind, or one whose payloads are known.
pub fn schema(choices: &mut Choices<'_>, world: &World) -> Call {
    match choices.below(4) {
        0..2 => event_schema(choices, world),
        2 => group(choices, world),
        _ => any_schema(choices, world),
    }
}

fn any_schema(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let id = on.known.new_id(choices, LAYOUTS);
    let made = schema::schema(choices, &mut memory, &on.known.known, id);
    let out = out::<u64>(choices, &mut memory);
    let is_bad = !on.known.allows(LAYOUTS, id) || (id == 0 && out.is_null());
    let expect = on.expect(Expect::Any);
    let attr = made.attr;
    let run = move |table: &Table| member!(table, SchemaRegister(pointer(handle), attr, out));
    Call::new(
        "SchemaRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            nothing_reached(answer);
            if answer.is_success() {
                assert!(!is_bad, "an ID that can't be had");
                let id = take_id(world, found, LAYOUTS, id, out);
                let layout = Layout {
                    id,
                    size: 40,
                    is_static: made.kind != NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
                    ..Layout::default()
                };
                world.domains[found.expect("a domain")]
                    .known
                    .layouts
                    .push(layout);
            }
        },
    )
}

/// Registers a schema of these entries, which is good; `keep` puts it among what is known.
fn good_schema(
    choices: &mut Choices<'_>,
    world: &World,
    flags: u64,
    entries: Vec<nvtxPayloadSchemaEntry_t>,
    keep: impl FnOnce(&mut Domain, u64) + 'static,
) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let id = on.known.new_id(choices, LAYOUTS);
    let mut attr = schema::of_entries(flags, &entries);
    attr.entries = memory.items(entries);
    if id != 0 {
        attr.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
        attr.schemaId = id;
    }
    let mut is_good = true;
    if choices.one_in(24) {
        match choices.below(4) {
            0 => attr.fieldMask &= !(4 << choices.pick(&[0, 2, 3])),
            1 => attr.entries = ptr::null(),
            2 => attr.numEntries = usize::MAX,
            _ => attr.numEntries = 0,
        }
        is_good = false;
    }
    let mut place = memory.head(&attr, set_part(attr.fieldMask));
    if choices.one_in(24) {
        place = ptr::null();
    }
    let out = out::<u64>(choices, &mut memory);
    let is_good =
        is_good && !place.is_null() && on.known.allows(LAYOUTS, id) && (id != 0 || !out.is_null());
    let expect = on.expect(Expect::if_good(is_good));
    let run = move |table: &Table| member!(table, SchemaRegister(pointer(handle), place, out));
    Call::new(
        "SchemaRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            nothing_reached(answer);
            if answer.is_success() {
                let id = take_id(world, found, LAYOUTS, id, out);
                keep(&mut world.domains[found.expect("a domain")], id);
            }
        },
    )
}

fn event_schema(choices: &mut Choices<'_>, world: &World) -> Call {
    let role = choices.pick(&[4, 2, 3, 5, 6, 7, 8]);
    let message = choices.pick(&[Message::None, Message::Registered, Message::Pointer]);
    let mut entries = schema::times(role, EntryType::Int64);
    let flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
    match message {
        Message::None => {}
        Message::Registered => entries.push(entry(flags, EntryType::RegisteredString, 0)),
        Message::Pointer => entries.push(entry(flags, EntryType::CStringUtf8, 0)),
    }
    good_schema(choices, world, role << 3, entries, move |domain, id| {
        let schema = EventSchema { id, role, message };
        domain.events.push(schema);
        if message == Message::Pointer {
            // Its pointers must hold, which those of any bytes don't.
            return;
        }
        domain.known.layouts.push(Layout {
            id,
            size: 8 * schema.len(),
            is_static: true,
            is_event: true,
            ..Layout::default()
        });
    })
}

fn group(choices: &mut Choices<'_>, world: &World) -> Call {
    let has_time = choices.one_in(2);
    let mut entries = Vec::new();
    if has_time {
        let flags = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;
        entries.push(entry(flags, EntryType::Int64, 0));
    }
    entries.push(entry(
        0,
        choices.pick(&[EntryType::Int64, EntryType::Double]),
        0,
    ));
    let flags = choices.pick(&[NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP, 0]);
    good_schema(choices, world, flags, entries, move |domain, id| {
        domain.groups.push((id, has_time));
    })
}

pub fn counter(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let whole = size_of::<nvtxCounterAttr_t>();
    let size = struct_size(choices, whole);
    let types = [
        EntryType::Int64,
        EntryType::Double,
        EntryType::UInt8,
        EntryType::Float,
    ];
    // What it counts, if that is known to be good.
    let (schema, counted) = match choices.below(16) {
        0..6 => {
            let ty = choices.pick(&types);
            let sample_size = ty.layout().map_or(0, |(size, _)| size);
            (ty.to_raw(), Some((sample_size, false)))
        }
        6..12 => match choices.pick_or(&on.known.groups, (0, false)) {
            (0, _) => (17, Some((8, false))),
            (group, true) => (group, Some((16, true))),
            (group, false) => (group, Some((8, false))),
        },
        12 => (EntryType::CStringUtf8.to_raw(), None),
        13 => (choices.number(), None),
        _ => (choices.pick_or(&on.known.taken[LAYOUTS], 0), None),
    };
    let name = match choices.below(3) {
        0 => c"n".into(),
        _ => schema::text(choices),
    };
    let is_named = !name.is_empty();
    let mut attr = nvtxCounterAttr_t {
        structSize: size,
        schemaId: schema,
        name: memory.text(&name),
        description: schema::name(choices, &mut memory),
        scopeId: on.known.scope(choices),
        semantics: ptr::null(),
        counterId: on.known.new_id(choices, COUNTERS),
    };
    let has_semantics = choices.one_in(4);
    if has_semantics {
        attr.semantics = semantics::list(choices, &mut memory, &on.known.known);
    }
    let mut place = memory.head(&attr, size.max(8));
    if choices.one_in(24) {
        place = ptr::null();
    }
    let out = out::<u64>(choices, &mut memory);
    let reach = reach(size);
    let id = if reach >= 56 { attr.counterId } else { 0 };
    let scope = if reach >= 40 { attr.scopeId } else { 0 };
    let scope_is_good = scope <= 1 || on.known.taken[SCOPES].contains(&scope);
    let is_good = !place.is_null()
        && size >= 24
        && is_named
        && scope_is_good
        && on.known.allows(COUNTERS, id)
        && (id != 0 || !out.is_null());
    let if_alive = match counted {
        Some(_) if !has_semantics => Expect::if_good(is_good),
        _ => Expect::Any,
    };
    let run = move |table: &Table| member!(table, CounterRegister(pointer(handle), place, out));
    Call::new(
        "CounterRegister",
        memory,
        on.expect(if_alive),
        run,
        move |world, answer| {
            nothing_reached(answer);
            if answer.is_success() {
                let id = take_id(world, found, COUNTERS, id, out);
                if let Some((sample_size, has_time)) = counted {
                    let counters = &mut world.domains[found.expect("a domain")].counters;
                    counters.push(Counter {
                        id,
                        sample_size,
                        has_time,
                    });
                }
            }
        },
    )
}

pub fn time_domain(choices: &mut Choices<'_>, world: &World) -> Call {
    let (mut memory, none) = (Memory::default(), Domain::none());
    let on = On::any(choices, world, &none);
    let (handle, found) = (on.handle, on.found);
    let attr = nvtxTimeDomainAttr_t {
        scopeId: on.known.scope(choices),
        timestampTypeId: match choices.below(4) {
            0..3 => choices.pick(&[0, 10, 14, 80]),
            _ => choices.below(100),
        },
        timeDomainId: on.known.new_id(choices, TIME_DOMAINS),
        timerFlags: choices.number(),
        timerResolution: choices.pick(&[0, 1, 1_000_000_000, 3, i64::MAX, -1]),
        timerStart: choices.number(),
    };
    let id = attr.timeDomainId;
    let place = match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.place(attr),
    };
    let out = out::<u64>(choices, &mut memory);
    let is_good = !place.is_null()
        && on.known.knows_scope(attr.scopeId)
        && TimestampType::from_raw(attr.timestampTypeId).is_some()
        && attr.timerResolution >= 0
        && on.known.allows(TIME_DOMAINS, id)
        && (id != 0 || !out.is_null());
    let expect = on.expect(Expect::if_good(is_good));
    let run = move |table: &Table| member!(table, TimeDomainRegister(pointer(handle), place, out));
    Call::new(
        "TimeDomainRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            nothing_reached(answer);
            if answer.is_success() {
                let id = take_id(world, found, TIME_DOMAINS, id, out);
                world.domains[found.expect("a domain")]
                    .known
                    .time_domains
                    .push(id);
            }
        },
    )
}
