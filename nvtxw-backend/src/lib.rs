//! Write a backend for the NVTX Writer API (NVTXW) in safe Rust: three traits and one macro.
//!
//! A producer (a simulator, a converter, a profiler; in C, Python or Rust) writes trace data through a table of C functions.
//! This crate is that table, and all behind it that is the same for every backend. A backend implements
//!
//! - [`Backend`], which begins sessions,
//! - [`Session`], which opens streams, and
//! - [`Stream`], which takes events and counter samples;
//!
//! and is handed out by [`export_backend!`], from a library that any producer can load, or by [`in_process`], to a
//! producer in the same program.
//!
//! # A complete backend
//! It keeps each event as a line of text. Here it is driven through the table, as a C program would; a Rust program would
//! use the crate `nvtxw`.
//!
//! ```
//! use std::fmt::Write;
//! use std::sync::{Arc, Mutex};
//!
//! use nvtxw_backend::*;
//!
//! type Lines = Arc<Mutex<Vec<String>>>;
//!
//! struct TextBackend(Lines);
//! struct TextSession(Lines);
//! struct TextStream { name: String, lines: Lines }
//!
//! impl Backend for TextBackend {
//!     type Session = TextSession;
//!
//!     fn begin(&self, _request: &SessionRequest<'_>) -> Result<TextSession> {
//!         Ok(TextSession(Arc::clone(&self.0)))
//!     }
//! }
//!
//! impl Session for TextSession {
//!     type Stream = TextStream;
//!
//!     fn open_stream(&self, stream: &Arc<StreamInfo>) -> Result<TextStream> {
//!         Ok(TextStream { name: stream.name().to_owned(), lines: Arc::clone(&self.0) })
//!     }
//!
//!     fn end(&self) -> Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! impl TextStream {
//!     fn keep(&self, line: String) -> Result<()> {
//!         let mut lines = self.lines.lock().map_err(|_| Refusal::failed("the lines are lost"))?;
//!         lines.push(format!("{}: {line}", self.name));
//!         Ok(())
//!     }
//! }
//!
//! impl Stream for TextStream {
//!     fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
//!         let mut line = format!("{} {:?}", event.kind().name(), event.time());
//!         event.visit(&mut TextVisitor(&mut line));
//!         self.keep(line)
//!     }
//!
//!     fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
//!         for sample in samples.samples() {
//!             let mut line = format!("at {}", sample.time());
//!             sample.visit(&mut TextVisitor(&mut line));
//!             self.keep(line)?;
//!         }
//!         Ok(())
//!     }
//!
//!     fn write_no_value(&mut self, counter: &Arc<Counter>, time: i64, reason: NoValueReason) -> Result<()> {
//!         self.keep(format!("at {time} {}: {reason:?}", counter.name()))
//!     }
//!
//!     fn close(&mut self) -> Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! struct TextVisitor<'a>(&'a mut String);
//!
//! impl Visitor for TextVisitor<'_> {
//!     fn value(&mut self, field: &Field, value: Value<'_>) {
//!         write!(self.0, " {}={value:?}", field.name()).expect("a string takes all");
//!     }
//!     fn begin_array(&mut self, _: &Field, _: usize) {
//!         self.0.push('[');
//!     }
//!     fn end_array(&mut self, _: &Field) {
//!         self.0.push(']');
//!     }
//!     fn begin_struct(&mut self, _: &Field, _: &Schema) {
//!         self.0.push('{');
//!     }
//!     fn end_struct(&mut self, _: &Field) {
//!         self.0.push('}');
//!     }
//! }
//!
//! // From here on: a producer.
//! use std::ptr;
//!
//! use nvtxw_abi::raw::*;
//!
//! let lines = Lines::default();
//! let backend = in_process(TextBackend(Arc::clone(&lines)));
//! let table = backend.table();
//! let attr = nvtxwSessionAttributes_t { structSize: 24, name: c"run".as_ptr(), configString: ptr::null() };
//! let stream = nvtxwStreamAttributes_t {
//!     structSize: 56,
//!     name: c"gpu".as_ptr(),
//!     domain: ptr::null_mut(),
//!     scopeId: 0,
//!     timeDomainId: 0,
//!     orderInterleaving: 0,
//!     orderingType: 0,
//!     orderingSkid: 0,
//!     orderingSkidAmount: 0,
//! };
//! let counter = nvtxCounterAttr_t {
//!     structSize: 56,
//!     schemaId: NVTX_PAYLOAD_ENTRY_TYPE_INT64,
//!     name: c"queue".as_ptr(),
//!     description: ptr::null(),
//!     scopeId: 0,
//!     semantics: ptr::null(),
//!     counterId: 0,
//! };
//! let (mut session, mut domain, mut gpu, mut queue) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 0);
//! # #[allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]
//! unsafe {
//!     backend.begin(&attr, &mut session);
//!     (table.DomainRegister.unwrap())(session, ptr::null(), &mut domain);
//!     (table.CounterRegister.unwrap())(domain, &counter, &mut queue);
//!     (table.StreamOpen.unwrap())(session, &stream, &mut gpu);
//!     (table.CounterWrite.unwrap())(gpu, 10, queue, (&raw const *&3_i64).cast(), 8);
//!     (table.CounterNoValueWrite.unwrap())(gpu, 20, queue, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
//!     (table.SessionEnd.unwrap())(session);
//! }
//! assert_eq!(*lines.lock().unwrap(), ["gpu: at 10 queue=I64(3)", "gpu: at 20 queue: Unavailable"]);
//! ```
//!
//! A backend that records calls, checks them or passes them on gets them as the producer made them: see [`call`].
//!
//! A [`Visitor`] gets the fields one by one, where the producer has them. [`Event::fields`] and [`CounterSample::fields`] keep
//! them as a tree, which the feature `serde` serialises: `examples/jsonl_backend` in the project's repository, a library to copy
//! from, writes JSON lines with it.
//!
//! # What this crate takes care of
//! - **Arguments**: null pointers, struct sizes smaller and larger than today's, masks, text that is not UTF-8, sizes and
//!   counts that can't be. Only what a mask or a size covers is read. Names with bytes that are not UTF-8 get U+FFFD in
//!   their place; text in events stays as it is.
//! - **Handles** are numbers that are looked up, never followed: stale, foreign and made-up ones are refused.
//! - **Rules**: ranges and clashes of IDs, names, parents of scopes, what is registered where, the timestamps that an event
//!   of some kind has, sizes of payloads and batches, order of start and end.
//! - **Bad input** is refused with the right code, the reason goes to the [`log`], and nothing that came before is lost.
//!   The good events of a batch are written, also when others are not.
//! - **Panics** of a backend are caught, and become `FAILED`. The stream, or the session, is not called again.
//! - **Threads**: any call may come from any thread at any time, also where the ABI forbids it. Registration runs beside
//!   writes. Of two calls on one stream at once, or one from inside another, the second fails; a session does not end under
//!   a call on it. (`docs/rules.md` in the project's repository has what is done about each rule of the ABI's calls.)
//! - **Exit**: when the process exits, or the library is unloaded, sessions that the producer has not ended are ended as by
//!   `SessionEnd`, after all handlers of `atexit`; not in a forked child. Streams that a call is inside of even 100 ms later are
//!   left out, [counted](RefusalCounts::skipped_streams) and logged, and the rest of such a session gets ten seconds. Later calls
//!   fail. A backend must expect that thread-locals with destructors are gone by then: [`LocalKey::try_with`](std::thread::LocalKey::try_with).
//! - **Memory**: a library that was finalised holds nothing on the heap. A process holds 4096 sessions, 65,536 domains and 131,072
//!   streams at one time.
//! - **Speed**: a batch is one call of the backend. Writing takes one atomic exchange, no lock that is waited for, and no
//!   allocation; the data is read where the producer has it.
//!
//! # What is read
//! All that a schema can describe: static and dynamic schemas, unions, nesting, arrays and text of any length in all encodings,
//! offsets and pointers within an event, flexible data of batches. Each schema is worked out once, when it is registered; what
//! lies at fixed places is then read from there, and all else is found by a walk that checks each step. The work is in
//! proportion to the bytes of an event or a batch, however they refer to each other, and bad data refuses one event.
//! `docs/decoding.md` in the project's repository has all of it, with the tests that show it.
//!
//! Memory outside of an event's payloads and its batch's flexible data is read for producers that have loaded the backend as a
//! library ([`export_backend!`]): who calls C functions promises that pointers hold. Strings that an entry points to are read
//! there, up to 1 MiB; so is data that entry and schema say is to be copied, and a text payload of size `SIZE_MAX`. It is read
//! where it is, only while the call lasts, and as much of it as is in proportion to the pointers. For a producer in the same
//! program ([`in_process`]), whose safe code may write any address, no such memory is touched: data to be copied is shown as
//! its address, all else is refused.
//!
//! The little that is refused as `NOT_SUPPORTED` comes with a reason that says what to do instead.

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod attributes;
mod backend;
mod batch;
pub mod call;
mod check;
mod config;
mod counter;
mod data;
mod decode;
mod domain;
mod enumeration;
mod event;
// The models have no process to exit from.
#[cfg_attr(all(test, loom), allow(dead_code))]
mod exit;
mod export;
mod finalise;
mod handle;
mod id_map;
mod instance;
mod last_refusal;
mod layout;
mod list;
mod locate;
mod lock;
pub mod log;
#[cfg(all(test, loom))]
mod loom;
mod panic;
mod places;
mod plain;
mod plan;
mod predefined;
mod raw;
mod refusal;
mod region;
mod register;
mod registry;
mod relation;
pub mod relay;
mod resource;
mod rows;
mod sample;
mod scalar;
mod schema;
mod scope;
mod semantics;
mod session;
mod sink;
mod spec;
mod stream;
mod string;
mod sync;
mod text;
mod time;
mod tree;
mod value;
mod walk;
mod write;

pub use nvtxw_abi::{
    BatchOrdering, EntryType, EventKind, InProcess, Interpolation, Limit, NoValueReason,
    PredefinedScope, ResourceType, ResultCode, SchemaRole, Skid, StreamInterleaving,
    StreamOrdering, TimerStart, TimestampRole, TimestampType, ValueType,
};

pub use self::backend::{Backend, Session, Stream};
pub use self::batch::EventBatch;
pub use self::config::Config;
pub use self::counter::{Counter, CounterKind};
pub use self::domain::Domain;
pub use self::enumeration::{Enum, EnumEntry};
pub use self::event::{Event, Text};
pub use self::exit::is_exiting;
pub use self::plain::{PlainEvent, PlainEvents};
pub use self::raw::in_process;
pub use self::refusal::{Cause, IdKind, Refusal, RefusalCounts, Result};
pub use self::relation::{RelationKind, SyncPoints, TimeRelation};
pub use self::resource::Resource;
pub use self::sample::{CounterBatch, CounterSample};
pub use self::schema::{Field, FieldKind, FieldRole, Schema};
pub use self::scope::{Scope, ScopeRef, Segment};
pub use self::semantics::{Correlation, CounterSemantics};
pub use self::session::SessionRequest;
pub use self::stream::StreamInfo;
pub use self::string::Registered;
pub use self::text::WideText;
pub use self::time::{Time, TimeDomain};
pub use self::tree::{Fields, Tree};
pub use self::value::{Value, Visitor};

#[doc(hidden)]
pub use self::export::__private;
