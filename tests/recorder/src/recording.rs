//! What was recorded.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_abi::raw::{NVTXW_RESULT_FAILED, NVTXW_RESULT_SUCCESS};
use nvtxw_abi::{EntryType, raw};
use serde_json::{Value, json};

use crate::symbol;

/// The environment variable that names the file for the lines.
const FILE: &str = "NVTXW_RECORD";

/// All sessions. A handle's parts say where in here it is.
static STATE: Mutex<State> = Mutex::new(State {
    sessions: Vec::new(),
    ended: Vec::new(),
});

#[derive(Debug)]
struct State {
    /// `None`: the place is free.
    sessions: Vec<Option<Session>>,
    /// Name and lines of those that ended without a file.
    ended: Vec<(String, Vec<String>)>,
}

/// What was recorded of one session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) name: String,
    lines: Vec<String>,
    domains: Vec<Domain>,
    streams: Vec<Stream>,
}

#[derive(Debug, Default)]
pub(crate) struct Domain {
    pub(crate) name: String,
    /// Its place in its session.
    index: usize,
    pub(crate) strings: Vec<String>,
    pub(crate) scopes: BTreeMap<u64, Object>,
    /// And enums.
    pub(crate) schemas: BTreeMap<u64, Schema>,
    pub(crate) counters: BTreeMap<u64, Counter>,
    pub(crate) time_domains: BTreeMap<u64, Object>,
}

#[derive(Debug)]
struct Stream {
    name: String,
    domain: usize,
    is_open: bool,
}

/// Something with an ID, by what it is called in the lines.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) label: String,
}

#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) label: String,
    pub(crate) schema: u64,
}

#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) label: String,
    pub(crate) is_static: bool,
    pub(crate) size: usize,
    /// None: it is an enum, and `size` is that of its values.
    pub(crate) entries: Option<Vec<Entry>>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) flags: u64,
    pub(crate) ty: u64,
    pub(crate) name: String,
    pub(crate) detail: u64,
    pub(crate) offset: u64,
}

/// What a handle is one of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Session = 1,
    Domain,
    Stream,
    String,
}

/// A handle: its kind, and where its object is.
fn handle(kind: Kind, session: usize, domain: usize, index: usize) -> usize {
    (kind as usize) << 48 | session << 32 | domain << 16 | (index + 1)
}

/// Where the object of `handle` is: session, domain and place, if it is of that kind.
fn place(kind: Kind, handle: usize) -> Option<(usize, usize, usize)> {
    if handle >> 48 != kind as usize {
        return None;
    }
    Some((
        handle >> 32 & 0xFFFF,
        handle >> 16 & 0xFFFF,
        (handle & 0xFFFF).checked_sub(1)?,
    ))
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines of the session `name`, which has ended.
pub fn take(name: &str) -> Option<Vec<String>> {
    let mut state = state();
    let index = state.ended.iter().position(|(ended, _)| ended == name)?;
    Some(state.ended.remove(index).1)
}

pub(crate) fn finalize() {
    if std::env::var_os(FILE).is_some() {
        append(&[json!({"call": "nvtxwFinalize"}).to_string()])
            .expect("the file of the lines can be written");
    }
}

fn append(lines: &[String]) -> std::io::Result<()> {
    let path = std::env::var_os(FILE).expect("it was asked for before");
    let mut file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path)?;
    lines.iter().try_for_each(|line| writeln!(file, "{line}"))
}

/// Begins a session; gives its handle.
pub(crate) fn begin(name: &str, line: Value) -> usize {
    let mut state = state();
    let mut session = Session {
        name: name.to_owned(),
        ..Session::default()
    };
    session.line(line);
    let index = state
        .sessions
        .iter()
        .position(Option::is_none)
        .unwrap_or(state.sessions.len());
    if index == state.sessions.len() {
        state.sessions.push(None);
    }
    state.sessions[index] = Some(session);
    handle(Kind::Session, index, 0, 0)
}

/// Ends a session.
pub(crate) fn end(session: usize) -> i32 {
    let mut state = state();
    let (index, ..) = place(Kind::Session, session).expect("SessionEnd: not a session's handle");
    let mut session = state.sessions[index]
        .take()
        .expect("SessionEnd: the session has ended");
    session.line(json!({"call": "SessionEnd"}));
    if std::env::var_os(FILE).is_none() {
        state.ended.push((session.name, session.lines));
        return NVTXW_RESULT_SUCCESS;
    }
    match append(&session.lines) {
        Ok(()) => NVTXW_RESULT_SUCCESS,
        Err(error) => {
            eprintln!("nvtxw-recorder: can't write the file that {FILE} names: {error}");
            NVTXW_RESULT_FAILED
        }
    }
}

/// Runs `call` on the session of this handle.
pub(crate) fn session<R>(handle: usize, call: impl FnOnce(&mut Session) -> R) -> R {
    let mut state = state();
    let (session, ..) = place(Kind::Session, handle).expect("not a session's handle");
    call(
        state.sessions[session]
            .as_mut()
            .expect("the session has ended"),
    )
}

/// Runs `call` on the domain of this handle; what it gives is a line of its session.
pub(crate) fn domain<R>(handle: usize, call: impl FnOnce(&mut Domain) -> (Value, R)) -> R {
    let mut state = state();
    let (session, _, domain) = place(Kind::Domain, handle).expect("not a domain's handle");
    let session = state.sessions[session]
        .as_mut()
        .expect("the domain's session has ended");
    let (mut line, result) = call(&mut session.domains[domain]);
    line["domain"] = json!(session.domains[domain].name);
    session.line(line);
    result
}

/// Runs `call` on the domain of this stream; what it gives is a line of its session.
pub(crate) fn stream(handle: usize, call: impl FnOnce(&Domain) -> Value) -> i32 {
    let mut state = state();
    let (session, _, stream) = place(Kind::Stream, handle).expect("not a stream's handle");
    let session = state.sessions[session]
        .as_mut()
        .expect("the stream's session has ended");
    let found = &session.streams[stream];
    assert!(found.is_open, "the stream `{}` is closed", found.name);
    let mut line = call(&session.domains[found.domain]);
    line["stream"] = json!(found.name);
    session.line(line);
    NVTXW_RESULT_SUCCESS
}

/// Closes a stream.
pub(crate) fn close(handle: usize) -> i32 {
    stream(handle, |_| json!({"call": "StreamClose"}));
    let mut state = state();
    let (session, _, stream) = place(Kind::Stream, handle).expect("it was found before");
    state.sessions[session]
        .as_mut()
        .expect("it was found before")
        .streams[stream]
        .is_open = false;
    NVTXW_RESULT_SUCCESS
}

impl Session {
    pub(crate) fn line(&mut self, line: Value) {
        self.lines.push(line.to_string());
    }

    /// The handle of the domain of this name: a new one, or the one that is there. `session` is this one's handle.
    pub(crate) fn enter_domain(&mut self, session: usize, name: &str) -> usize {
        let (session, ..) = place(Kind::Session, session).expect("it was found before");
        let index = self
            .domains
            .iter()
            .position(|domain| domain.name == name)
            .unwrap_or_else(|| {
                self.domains.push(Domain {
                    name: name.to_owned(),
                    index: self.domains.len(),
                    ..Domain::default()
                });
                self.domains.len() - 1
            });
        handle(Kind::Domain, session, 0, index)
    }

    /// The domain of this handle, which is one of this session.
    pub(crate) fn domain(&self, domain: usize) -> &Domain {
        let (_, _, index) = place(Kind::Domain, domain).expect("not a domain's handle");
        &self.domains[index]
    }

    /// The handle of a new stream.
    pub(crate) fn enter_stream(&mut self, session: usize, name: &str, domain: usize) -> usize {
        let (session, ..) = place(Kind::Session, session).expect("it was found before");
        let (_, _, domain) = place(Kind::Domain, domain).expect("not a domain's handle");
        self.streams.push(Stream {
            name: name.to_owned(),
            domain,
            is_open: true,
        });
        handle(Kind::Stream, session, 0, self.streams.len() - 1)
    }
}

impl Domain {
    /// The handle of a new string. It has no part of the session, as it stands in the bytes of payloads.
    pub(crate) fn enter_string(&mut self, string: String) -> usize {
        self.strings.push(string);
        handle(Kind::String, 0, self.index, self.strings.len() - 1)
    }

    /// The string of this handle.
    pub(crate) fn string(&self, handle: usize) -> Value {
        if handle == 0 {
            return Value::Null;
        }
        match place(Kind::String, handle) {
            Some((_, domain, index)) if domain == self.index && index < self.strings.len() => {
                json!(self.strings[index])
            }
            _ => json!(format!("unknown string {handle:#x}")),
        }
    }

    /// A type of an entry or of a payload by name.
    pub(crate) fn type_name(&self, ty: u64) -> String {
        match ty {
            raw::NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED => "REFERENCED".to_owned(),
            raw::NVTX_TYPE_PAYLOAD_SCHEMA_RAW => "RAW".to_owned(),
            _ => match self.schemas.get(&ty) {
                Some(schema) => schema.label.clone(),
                None => symbol::name("NVTX_PAYLOAD_ENTRY_TYPE_", ty),
            },
        }
    }

    /// The bytes of a value of this type, if that is fixed.
    pub(crate) fn size(&self, ty: u64) -> Option<usize> {
        match self.schemas.get(&ty) {
            Some(schema) => schema.is_static.then_some(schema.size),
            None => EntryType::from_raw(ty)
                .and_then(EntryType::layout)
                .map(|(size, _)| size),
        }
    }

    /// A scope by name.
    pub(crate) fn scope(&self, scope: u64) -> String {
        self.scopes.get(&scope).map_or_else(
            || symbol::name("NVTX_SCOPE_", scope),
            |scope| scope.label.clone(),
        )
    }

    /// A time domain by name.
    pub(crate) fn time_domain(&self, domain: u64) -> String {
        let found = self.time_domains.get(&domain);
        found.map_or_else(
            || symbol::name("NVTX_TIMESTAMP_TYPE_", domain),
            |domain| domain.label.clone(),
        )
    }

    /// A counter by name.
    pub(crate) fn counter(&self, counter: u64) -> String {
        self.counters.get(&counter).map_or_else(
            || format!("unknown counter {counter:#x}"),
            |counter| counter.label.clone(),
        )
    }
}

/// The ID of something new, and what it is called: the producer's own ID if it is not 0, else the next of this table.
pub(crate) fn id<T>(what: &str, own: u64, start: u64, table: &BTreeMap<u64, T>) -> (u64, String) {
    if own != 0 {
        return (own, format!("static {what} {own}"));
    }
    let dynamic = table.range(start..).count() as u64;
    (start + 1 + dynamic, format!("{what} {}", dynamic + 1))
}
