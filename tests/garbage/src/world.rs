//! What a producer knows of the objects that it has made.

use std::path::PathBuf;

use nvtxw_abi::IdClass;

use crate::choices::Choices;
use crate::file::{self, Folder, Written};
use crate::known::{Known, Pointers};
use crate::table::Table;

/// All objects of a run, those that are gone too.
pub struct World {
    pub table: Table,
    /// Where the built-in backend writes.
    pub folder: Option<Folder>,
    pub sessions: Vec<Session>,
    pub domains: Vec<Domain>,
    pub streams: Vec<Stream>,
}

pub struct Session {
    pub handle: u64,
    pub is_alive: bool,
    /// Whether the backend panicked in a call on it.
    pub is_poisoned: bool,
    /// Whether it has ended, and its file is to be looked at.
    pub is_complete: bool,
    pub file: Option<PathBuf>,
    pub written: Written,
}

/// What is registered in one domain. It lives as long as its session.
pub struct Domain {
    pub handle: u64,
    pub session: usize,
    pub name: String,
    pub known: Known,
    /// Schemas of events that have nothing but numbers of 64 bits.
    pub events: Vec<EventSchema>,
    /// Schemas of counters: a value of 64 bits, after a timestamp of its own if that is true.
    pub groups: Vec<(u64, bool)>,
    pub counters: Vec<Counter>,
    /// IDs that are taken: of schemas and enums, scopes, counters, time domains.
    pub taken: [Vec<u64>; 4],
}

pub const LAYOUTS: usize = 0;
pub const SCOPES: usize = 1;
pub const COUNTERS: usize = 2;
pub const TIME_DOMAINS: usize = 3;

#[derive(Clone, Copy)]
pub struct EventSchema {
    pub id: u64,
    /// The event role of the ABI: 2 to 8.
    pub role: u64,
    /// What comes last.
    pub message: Message,
}

/// The message of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Message {
    None,
    Registered,
    /// Text somewhere in memory.
    Pointer,
}

impl EventSchema {
    pub fn times(self) -> usize {
        1 + usize::from(matches!(self.role, 2 | 3))
    }

    /// Numbers of 64 bits in one event.
    pub fn len(self) -> usize {
        self.times() + usize::from(self.role >= 7) + usize::from(self.message != Message::None)
    }
}

#[derive(Clone, Copy)]
pub struct Counter {
    pub id: u64,
    pub sample_size: usize,
    /// Whether the samples have timestamps.
    pub has_time: bool,
}

pub struct Stream {
    pub handle: u64,
    pub session: usize,
    pub domain: usize,
    pub name: String,
    pub is_open: bool,
    /// Whether the backend panicked in a call on it.
    pub is_poisoned: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Session,
    Domain,
    Stream,
    String,
}

impl World {
    /// Which pointers events may hold.
    pub fn pointers(&self) -> Pointers {
        match self.table.is_library() {
            true => Pointers::None,
            false => Pointers::Any,
        }
    }

    /// Checks the files of sessions that have ended, when all calls up to then are known.
    pub fn check_files(&mut self) {
        for session in &mut self.sessions {
            if let (Some(path), true) = (&session.file, session.is_complete) {
                file::check(path, &session.written);
            }
            session.is_complete = false;
        }
    }

    /// The session of this handle, if it is alive.
    pub fn session(&self, handle: u64) -> Option<usize> {
        let mut sessions = self.sessions.iter();
        sessions.position(|session| session.handle == handle && session.is_alive)
    }

    /// The domain of this handle, if its session is alive.
    pub fn domain(&self, handle: u64) -> Option<usize> {
        let is_alive = |domain: &Domain| self.sessions[domain.session].is_alive;
        let mut domains = self.domains.iter();
        domains.position(|domain| domain.handle == handle && is_alive(domain))
    }

    /// The stream of this handle, if it is open and its session is alive.
    pub fn stream(&self, handle: u64) -> Option<usize> {
        let is_alive = |stream: &Stream| stream.is_open && self.sessions[stream.session].is_alive;
        let mut streams = self.streams.iter();
        streams.position(|stream| stream.handle == handle && is_alive(stream))
    }

    /// All handles of a kind that were ever given out, with whether they are good.
    fn handles(&self, kind: Kind) -> Vec<(u64, bool)> {
        match kind {
            Kind::Session => {
                let all = self.sessions.iter();
                all.map(|session| (session.handle, session.is_alive))
                    .collect()
            }
            Kind::Domain => {
                let all = self.domains.iter().map(|domain| domain.handle);
                all.map(|handle| (handle, self.domain(handle).is_some()))
                    .collect()
            }
            Kind::Stream => {
                let all = self.streams.iter().map(|stream| stream.handle);
                all.map(|handle| (handle, self.stream(handle).is_some()))
                    .collect()
            }
            Kind::String => {
                let all = self.domains.iter().flat_map(|domain| &domain.known.strings);
                all.map(|handle| (*handle, true)).collect()
            }
        }
    }

    /// A handle for an argument of this kind: mostly a good and recent one.
    pub fn handle(&self, choices: &mut Choices<'_>, kind: Kind) -> u64 {
        let choice = choices.below(24);
        let kind = match choice {
            20 => choices.pick(&[Kind::Session, Kind::Domain, Kind::Stream, Kind::String]),
            _ => kind,
        };
        let mut handles = self.handles(kind);
        handles.reverse();
        if choice < 20 {
            handles.retain(|(_, is_good)| *is_good);
            handles.truncate(3);
        }
        let handles: Vec<u64> = handles.into_iter().map(|(handle, _)| handle).collect();
        let handle = choices.pick_or(&handles, 0);
        match choice {
            22 => 0,
            23 if choices.below(2) == 0 => choices.number(),
            23 => handle ^ 1 << choices.below(64),
            _ => handle,
        }
    }
}

impl Domain {
    pub fn new(handle: u64, session: usize, name: String, pointers: Pointers) -> Self {
        Self {
            handle,
            session,
            name,
            known: Known {
                pointers,
                ..Known::default()
            },
            events: Vec::new(),
            groups: Vec::new(),
            counters: Vec::new(),
            taken: Default::default(),
        }
    }

    /// What stands for the domain of a handle that leads to none.
    pub fn none() -> Self {
        Self::new(0, 0, String::new(), Pointers::None)
    }

    /// An ID for something that is to be registered: mostly 0, which lets the backend pick one.
    pub fn new_id(&self, choices: &mut Choices<'_>, what: usize) -> u64 {
        match choices.below(16) {
            0..8 => 0,
            8..12 => (1 << 24) + choices.below(8),
            12 => choices.pick_or(&self.taken[what], 1 << 24),
            13 => choices.below(200),
            14 => choices.number(),
            _ => (1 << 32) - 1 + choices.below(2),
        }
    }

    /// Whether something may be registered under this ID.
    pub fn allows(&self, what: usize, id: u64) -> bool {
        id == 0 || IdClass::of(id) == IdClass::Static && !self.taken[what].contains(&id)
    }

    /// A scope that something refers to, or none.
    pub fn scope(&self, choices: &mut Choices<'_>) -> u64 {
        match choices.below(16) {
            0..9 => 0,
            9..13 => choices.pick_or(&self.taken[SCOPES], 1),
            13 | 14 => choices.below(33),
            _ => choices.number(),
        }
    }

    /// A time domain that something refers to, or none.
    pub fn time_domain(&self, choices: &mut Choices<'_>) -> u64 {
        match choices.below(16) {
            0..8 => 0,
            8..12 => choices.pick_or(&self.taken[TIME_DOMAINS], 10),
            12..15 => choices.below(90),
            _ => choices.number(),
        }
    }

    pub fn knows_scope(&self, id: u64) -> bool {
        nvtxw_abi::PredefinedScope::from_raw(id).is_some() || self.taken[SCOPES].contains(&id)
    }

    pub fn knows_time_domain(&self, id: u64) -> bool {
        let is_type = nvtxw_abi::TimestampType::from_raw(id).is_some();
        is_type || self.taken[TIME_DOMAINS].contains(&id)
    }
}
