//! Calls that begin and end sessions and streams.

use std::ffi::CString;
use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::ResultCode;

use crate::call::{Call, Expect};
use crate::choices::Choices;
use crate::file::{self, Written};
use crate::memory::Memory;
use crate::schema::NAMES;
use crate::table::{answer, member};
use crate::world::{Domain, Kind, Session, Stream, World};

pub fn pointer<T>(handle: u64) -> *mut T {
    ptr::without_provenance_mut(handle as usize)
}

/// The name that a text means, as a backend sees it.
pub fn shown(name: usize) -> String {
    NAMES[name].to_string_lossy().into_owned()
}

/// Where a result goes; now and then nowhere.
pub fn out<T: Default + 'static>(choices: &mut Choices<'_>, memory: &mut Memory) -> *mut T {
    match choices.one_in(24) {
        true => ptr::null_mut(),
        false => memory.place(T::default()),
    }
}

/// What a call stored there.
pub fn read<T: Copy>(out: *mut T) -> T {
    // SAFETY:
    // - Calls that succeed have a place for their result, in their own memory.
    unsafe { out.read() }
}

/// A size that a struct may say that it has: today's, an older one's, or a newer one's.
pub fn struct_size(choices: &mut Choices<'_>, today: usize) -> usize {
    match choices.below(16) {
        0..12 => today,
        12 => choices.below(today as u64 + 1) as usize,
        13 => choices.below(today as u64 / 8 + 1) as usize * 8,
        _ => today + choices.below(40) as usize,
    }
}

/// How far a struct reaches of which so many bytes are there: whole fields only.
pub fn reach(size: usize) -> usize {
    size / 8 * 8
}

/// A name out of [`NAMES`], or none.
fn name(choices: &mut Choices<'_>) -> Option<usize> {
    match choices.below(NAMES.len() as u64 + 1) {
        0 => None,
        index => Some(index as usize - 1),
    }
}

pub fn begin(choices: &mut Choices<'_>, world: &World) -> Call {
    let mut memory = Memory::default();
    let (config, path, is_good) = config(choices, world);
    let whole = size_of::<nvtxwSessionAttributes_t>();
    let mut attr = nvtxwSessionAttributes_t {
        structSize: whole,
        name: crate::schema::name(choices, &mut memory),
        configString: memory.text(&config),
    };
    // By the hook of an instance that takes whole structs only.
    let is_plain = !world.table.is_library();
    if !is_plain {
        attr.structSize = struct_size(choices, whole);
    }
    let mut place = memory.head(&attr, attr.structSize.max(8));
    let mut out = memory.place(0_u64);
    if !is_plain && choices.one_in(24) {
        place = ptr::null();
    }
    if !is_plain && choices.one_in(24) {
        out = ptr::null_mut();
    }
    let is_good = is_good && attr.structSize >= 8 && !place.is_null() && !out.is_null();
    let run = move |table: &crate::table::Table| table.begin(place, out.cast());
    Call::new(
        "SessionBegin",
        memory,
        Expect::if_good(is_good),
        run,
        move |world, answer| {
            if answer.is_success() {
                assert!(!world.table.is_collector() || answer.reached.begun == 1);
                let handle = read(out);
                assert!(handle != 0 && world.sessions.iter().all(|old| old.handle != handle));
                world.sessions.push(Session {
                    handle,
                    is_alive: true,
                    is_poisoned: false,
                    is_complete: false,
                    file: path.clone(),
                    written: Written::default(),
                });
            }
        },
    )
}

/// The options of a session, the file that it writes, and whether they are good.
fn config(choices: &mut Choices<'_>, world: &World) -> (CString, Option<std::path::PathBuf>, bool) {
    let Some(folder) = &world.folder else {
        let configs = [c"", c"a=b|c", c"=|#x=y\n a = b \r|", c"\xFF=\xFE"];
        return (choices.pick(&configs).into(), None, true);
    };
    let path = folder.file();
    let options = [
        ("", true),
        ("window=2", true),
        ("window=16|overwrite=yes", true),
        ("base=-100", true),
        ("base=9223372036854775807|# base=1", true),
        ("format=chrome", true),
        ("format=chrome|window=2", true),
        ("merge=no|window=3", true),
        ("compression=zlib|window=4", true),
        ("compression=zlib:9|base=-1000", true),
        ("flush_interval=1", true),
        ("memory=1|window=8", true),
        (file::PARQUET, true),
        ("format=chrome|compression=zlib", false),
        ("window=1", false),
        ("overwrite=maybe", false),
        ("base=x", false),
        ("format=none", false),
    ];
    let (options, is_good) = choices.pick(&options);
    let config = format!("path={}|{options}", path.display());
    let config = CString::new(config).expect("no null");
    (config, Some(path), is_good)
}

pub fn end(choices: &mut Choices<'_>, world: &World) -> Call {
    end_of(world, world.handle(choices, Kind::Session))
}

pub fn end_of(world: &World, handle: u64) -> Call {
    let found = world.session(handle);
    let expect = match found {
        None => Expect::Invalid,
        Some(session) => {
            let is_mine = |stream: &&Stream| stream.session == session && stream.is_open;
            let mut streams = world.streams.iter().filter(is_mine);
            let is_poisoned = world.sessions[session].is_poisoned;
            match is_poisoned || streams.any(|stream| stream.is_poisoned) {
                true => Expect::Failed,
                false => Expect::Success,
            }
        }
    };
    let run = move |table: &crate::table::Table| member!(table, SessionEnd(pointer(handle)));
    Call::new(
        "SessionEnd",
        Memory::default(),
        expect,
        run,
        move |world, ended| {
            let Some(session) = found else {
                assert!(ended.reached.is_nothing());
                return;
            };
            if ended.is_success() {
                assert!(!world.table.is_collector() || ended.reached.ended == 1);
                world.sessions[session].is_complete = true;
            }
            // Where it failed it has ended nevertheless, unless another call was inside.
            world.sessions[session].is_alive = !ended.is_success() && {
                let mut domain = ptr::null_mut();
                let probe = answer(None, || {
                    member!(
                        world.table,
                        DomainRegister(pointer(handle), ptr::null(), &mut domain)
                    )
                });
                probe.code != ResultCode::INVALID_ARGUMENT
            };
        },
    )
    .on(handle)
}

pub fn domain(choices: &mut Choices<'_>, world: &World) -> Call {
    let mut memory = Memory::default();
    let handle = world.handle(choices, Kind::Session);
    let whole = size_of::<nvtxwDomainAttributes_t>();
    let index = name(choices);
    let mut attr = nvtxwDomainAttributes_t {
        structSize: whole,
        name: index.map_or(ptr::null(), |index| memory.text(NAMES[index])),
    };
    attr.structSize = struct_size(choices, whole);
    let is_null = choices.one_in(8);
    let place = match is_null {
        true => ptr::null(),
        false => memory.head(&attr, attr.structSize.max(8)),
    };
    let out = out::<u64>(choices, &mut memory);
    let name = match index {
        Some(index) if !is_null && attr.structSize >= whole => shown(index),
        _ => String::new(),
    };
    let found = world.session(handle);
    let is_good = (is_null || attr.structSize >= 8) && !out.is_null();
    let expect = match found {
        Some(session) if world.sessions[session].is_poisoned => Expect::Refused,
        found => Expect::if_good(found.is_some() && is_good),
    };
    let run = move |table: &crate::table::Table| {
        member!(table, DomainRegister(pointer(handle), place, out.cast()))
    };
    Call::new(
        "DomainRegister",
        memory,
        expect,
        run,
        move |world, answer| {
            assert!(answer.reached.is_nothing());
            let (Some(session), true) = (found, answer.is_success()) else {
                return;
            };
            let handle = read(out);
            let mut domains = world.domains.iter();
            match domains.find(|domain| domain.session == session && domain.name == name) {
                Some(known) => assert_eq!(known.handle, handle, "one name, one domain"),
                None => {
                    assert!(world.domains.iter().all(|old| old.handle != handle));
                    world
                        .domains
                        .push(Domain::new(handle, session, name, world.pointers()));
                }
            }
        },
    )
}

pub fn open(choices: &mut Choices<'_>, world: &World) -> Call {
    let mut memory = Memory::default();
    let handle = world.handle(choices, Kind::Session);
    let whole = size_of::<nvtxwStreamAttributes_t>();
    let size = struct_size(choices, whole);
    let reach = reach(size);
    let index = name(choices);
    let domain = match choices.below(3) {
        0 => 0,
        _ => world.handle(choices, Kind::Domain),
    };
    let none = Domain::none();
    let named = world.domain(domain);
    let known = named.map_or(&none, |domain| &world.domains[domain]);
    let odd = choices.one_in(6);
    let mut small = |bound: u64| if odd { choices.below(bound) } else { 0 };
    let ordering = (
        small(3) as i16,
        small(5) as i16,
        small(4) as i32,
        small(5) as i64 - 1,
    );
    let attr = nvtxwStreamAttributes_t {
        structSize: size,
        name: index.map_or(ptr::null(), |index| memory.text(NAMES[index])),
        domain: pointer(domain),
        scopeId: known.scope(choices),
        timeDomainId: known.time_domain(choices),
        orderInterleaving: ordering.0,
        orderingType: ordering.1,
        orderingSkid: ordering.2,
        orderingSkidAmount: ordering.3.max(if odd { -1 } else { 0 }),
    };
    let mut place = memory.head(&attr, size.max(8));
    if choices.one_in(24) {
        place = ptr::null();
    }
    let out = out::<u64>(choices, &mut memory);

    let found = world.session(handle);
    let name = match index {
        Some(index) if reach >= 16 => shown(index),
        _ => String::new(),
    };
    // The default domain, if it is not registered yet, has no scopes.
    let domain = match (found, reach >= 24 && domain != 0) {
        (Some(session), false) => {
            let is_default = |domain: &Domain| domain.session == session && domain.name.is_empty();
            Some(world.domains.iter().position(is_default))
        }
        (Some(session), true) => named
            .filter(|domain| world.domains[*domain].session == session)
            .map(Some),
        (None, _) => None,
    };
    let is_good = domain.is_some_and(|domain| {
        let known = domain.map_or(&none, |domain| &world.domains[domain]);
        let scope = if reach >= 32 { attr.scopeId } else { 0 };
        let scope_is_good = scope <= 1 || known.taken[crate::world::SCOPES].contains(&scope);
        let clock = if reach >= 40 { attr.timeDomainId } else { 0 };
        let order_is_good = reach < 48
            || attr.orderInterleaving <= 1 && attr.orderingType <= 3 && attr.orderingSkid <= 2;
        let amount_is_bad = reach >= 56 && attr.orderingSkid != 0 && attr.orderingSkidAmount < 0;
        scope_is_good && known.knows_time_domain(clock) && order_is_good && !amount_is_bad
    });
    let is_taken = |stream: &Stream| {
        Some(stream.session) == found && stream.is_open && stream.name == name && !name.is_empty()
    };
    let is_good = is_good
        && !place.is_null()
        && size >= 8
        && !out.is_null()
        && !world.streams.iter().any(is_taken);
    let expect = match found {
        Some(session) if world.sessions[session].is_poisoned => Expect::Refused,
        _ => Expect::if_good(is_good),
    };
    let run = move |table: &crate::table::Table| {
        member!(table, StreamOpen(pointer(handle), place, out.cast()))
    };
    Call::new("StreamOpen", memory, expect, run, move |world, answer| {
        let Some(session) = found else {
            assert!(answer.reached.is_nothing());
            return;
        };
        if answer.reached.met_fate {
            world.sessions[session].is_poisoned |= answer.reason.contains(crate::PANIC);
        }
        if !answer.is_success() {
            assert!(answer.reached.opened.len() == usize::from(answer.reached.met_fate));
            return;
        }
        assert!(!world.table.is_collector() || answer.reached.opened.len() == 1);
        let handle = read(out);
        assert!(handle != 0 && world.streams.iter().all(|old| old.handle != handle));
        let domain = domain
            .flatten()
            .unwrap_or_else(|| default_domain(world, session));
        world.streams.push(Stream {
            handle,
            session,
            domain,
            name,
            is_open: true,
            is_poisoned: false,
        });
    })
}

/// The default domain of a session, which came into being with a stream.
fn default_domain(world: &mut World, session: usize) -> usize {
    let is_default = |domain: &Domain| domain.session == session && domain.name.is_empty();
    if let Some(known) = world.domains.iter().position(is_default) {
        return known;
    }
    let mut handle = 0_u64;
    let out: *mut u64 = &mut handle;
    let owner = pointer(world.sessions[session].handle);
    let found = answer(None, || {
        member!(world.table, DomainRegister(owner, ptr::null(), out.cast()))
    });
    // Where a call at the same time has ended the session, it is refused, and nobody will look for the domain.
    assert!(found.is_success() || handle == 0, "{}", found.reason);
    let domain = Domain::new(handle, session, String::new(), world.pointers());
    world.domains.push(domain);
    world.domains.len() - 1
}

pub fn close(choices: &mut Choices<'_>, world: &World) -> Call {
    close_of(world, world.handle(choices, Kind::Stream))
}

pub fn close_of(world: &World, handle: u64) -> Call {
    let found = world.stream(handle);
    let expect = match found {
        Some(stream) if world.streams[stream].is_poisoned => Expect::Failed,
        found => Expect::if_good(found.is_some()),
    };
    let run = move |table: &crate::table::Table| member!(table, StreamClose(pointer(handle)));
    Call::new(
        "StreamClose",
        Memory::default(),
        expect,
        run,
        move |world, closed| {
            let Some(stream) = found else {
                assert!(closed.reached.is_nothing());
                return;
            };
            let panicked = closed.reached.met_fate && closed.reason.contains(crate::PANIC);
            if closed.is_success() {
                assert!(!world.table.is_collector() || closed.reached.closed == 1);
            }
            // Where it failed it is closed nevertheless, unless another call was inside, or the backend panicked.
            world.streams[stream].is_poisoned |= panicked;
            world.streams[stream].is_open = !closed.is_success() && {
                let probe = answer(None, || {
                    let stream = pointer(handle);
                    member!(
                        world.table,
                        TimeSyncPointTableWrite(stream, 0, 0, ptr::null(), 0)
                    )
                });
                probe.code != ResultCode::INVALID_ARGUMENT
            };
        },
    )
    .on(handle)
}
