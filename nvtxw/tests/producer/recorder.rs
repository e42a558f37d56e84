//! A backend that remembers every call of the thread it is called on, byte by byte.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use nvtxw::{Backend, Config, Session};

use crate::recorder_table::TABLE;

/// One call, with everything that its pointers led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    SessionBegin {
        struct_size: usize,
        name: String,
        config: Option<String>,
        out: usize,
    },
    SessionEnd {
        session: usize,
    },
    Domain {
        session: usize,
        struct_size: usize,
        name: Option<String>,
        out: usize,
    },
    Category {
        domain: usize,
        id: u32,
        name: String,
    },
    String {
        domain: usize,
        text: String,
        out: usize,
    },
    Resource {
        domain: usize,
        version: u16,
        struct_size: u16,
        identifier_type: i32,
        identifier: u64,
        name: ResourceName,
    },
    Scope {
        domain: usize,
        struct_size: usize,
        path: String,
        parent: u64,
        static_id: u64,
        out: u64,
    },
    Schema {
        domain: usize,
        schema: Schema,
        out: u64,
    },
    Enum {
        domain: usize,
        mask: u64,
        name: String,
        size: usize,
        values: Vec<(String, u64, i8)>,
        static_id: u64,
        out: u64,
    },
    Counter {
        domain: usize,
        counter: Counter,
        out: u64,
    },
    TimeDomain {
        domain: usize,
        time_domain: TimeDomain,
        out: u64,
    },
    StreamOpen {
        session: usize,
        stream: Stream,
        out: usize,
    },
    StreamClose {
        stream: usize,
    },
    Event {
        stream: usize,
        payloads: Vec<Payload>,
    },
    Batch {
        stream: usize,
        schema: u64,
        address: usize,
        bytes: Vec<u8>,
        scope: u64,
        flags: u64,
        flex: (usize, usize, usize),
    },
    Sample {
        stream: usize,
        time: i64,
        counter: u64,
        bytes: Vec<u8>,
    },
    NoValue {
        stream: usize,
        time: i64,
        counter: u64,
        reason: u8,
    },
    Samples {
        stream: usize,
        counter: u64,
        address: usize,
        bytes: Vec<u8>,
        flags: u64,
        times_address: usize,
        times: Vec<i64>,
    },
    SyncPoint {
        stream: usize,
        domains: (u64, u64),
        times: (i64, i64),
    },
    SyncPoints {
        stream: usize,
        domains: (u64, u64),
        address: usize,
        times: Vec<(i64, i64)>,
    },
    Conversion {
        stream: usize,
        domains: (u64, u64),
        slope: f64,
        times: (i64, i64),
    },
    Finalize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ResourceName {
    Ascii(String),
    Registered(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TimeDomain {
    pub scope: u64,
    pub clock: u64,
    pub static_id: u64,
    pub flags: u64,
    pub resolution: i64,
    pub start: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub mask: u64,
    pub name: Option<String>,
    pub ty: u64,
    pub flags: u64,
    pub size: usize,
    pub pack_align: usize,
    pub static_id: u64,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub flags: u64,
    pub ty: u64,
    pub name: String,
    pub description: Option<String>,
    pub detail: u64,
    pub offset: u64,
    pub semantics: Vec<Semantics>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Semantics {
    Counter {
        struct_size: u32,
        version: u16,
        flags: u64,
        unit: Option<String>,
        scale: (u64, u64),
        limit_type: i64,
        min: u64,
        max: u64,
    },
    Time {
        struct_size: u32,
        version: u16,
        time_domain: u64,
    },
    Correlation {
        struct_size: u32,
        version: u16,
        uuid: [u8; 16],
        name: Option<String>,
        role: u64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    pub struct_size: usize,
    pub schema: u64,
    pub name: String,
    pub description: Option<String>,
    pub scope: u64,
    pub static_id: u64,
    pub semantics: Vec<Semantics>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub struct_size: usize,
    pub name: String,
    pub domain: usize,
    pub scope: u64,
    pub time_domain: u64,
    pub interleaving: i16,
    pub ordering: i16,
    pub skid: i32,
    pub skid_amount: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    pub schema: u64,
    pub address: usize,
    pub bytes: Vec<u8>,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    /// What members answer, by their name, if not success.
    static ANSWERS: RefCell<HashMap<&'static str, i32>> = RefCell::default();
}

thread_local! {
    /// The flexible data of the last batch.
    static FLEX: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What the events of the last batch could refer to.
pub fn flex() -> Vec<u8> {
    FLEX.take()
}

pub fn keep_flex(bytes: Vec<u8>) {
    FLEX.set(bytes);
}

static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

/// The calls since the last time.
pub fn calls() -> Vec<Call> {
    CALLS.take()
}

/// The one call since the last time.
pub fn call() -> Call {
    let mut calls = calls();
    assert_eq!(calls.len(), 1, "{calls:#?}");
    calls.remove(0)
}

/// Makes `member` answer `code` from now on.
pub fn answer(member: &'static str, code: i32) {
    ANSWERS.with_borrow_mut(|answers| answers.insert(member, code));
}

pub fn answer_of(member: &str) -> i32 {
    ANSWERS.with_borrow(|answers| answers.get(member).copied().unwrap_or(0))
}

pub fn record(call: Call) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

pub fn next() -> usize {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// A backend whose functions are the recorder's.
pub fn backend() -> Backend {
    // SAFETY:
    // - The recorder's functions implement the ABI, take calls from any thread, don't unwind and hold no state of a session.
    unsafe { Backend::from_table(&TABLE) }.unwrap()
}

/// A session of that backend; the calls so far are forgotten.
pub fn session(name: &str) -> Session {
    let session = Session::begin(&backend(), name, &Config::new()).unwrap();
    calls();
    session
}
