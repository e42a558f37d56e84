//! Write traces whose timestamps already exist (a simulator's clock, a device's counters, another tool's log) as typed Rust
//! structs, to any NVTXW backend: NVIDIA Nsight Systems' own, or the one that is built in and writes files that open in
//! Perfetto.
//!
//! ```
//! # #[cfg(all(feature = "file", feature = "derive"))] {
//! use nvtxw::{Argb, Backend, Config, NvtxEvent, RangeId, Session, StreamOptions, StringHandle};
//!
//! #[derive(NvtxEvent, Clone, Copy)]
//! #[repr(C)]
//! #[nvtx(kind = range_startend)]
//! struct Kernel {
//!     #[nvtx(timestamp_start)]
//!     start: i64,
//!     #[nvtx(timestamp_end)]
//!     end: i64,
//!     #[nvtx(message, registered_string)]
//!     name: StringHandle,
//!     #[nvtx(color)]
//!     color: u32,
//!     grid: [u32; 3],
//!     #[nvtx(unit = "bytes")]
//!     shared: u64,
//! }
//!
//! # let folder = std::env::temp_dir().join("nvtxw-doc-tour");
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("run-42.pftrace");
//! let backend = Backend::embedded();
//! let config = Config::new();
//! # let config = config.set("path", path.to_str().unwrap())?.set("overwrite", "true")?;
//! let mut session = Session::begin(&backend, "run-42", &config)?;
//!
//! // Register: through `&mut Session`.
//! let mut sim = session.domain("sim")?;
//! let kernel = sim.schema::<Kernel>()?;
//! let queue = sim.counter::<i64>("queue depth")?;
//! let gemm = sim.string("gemm")?;
//! let domain = sim.id();
//! let mut gpu0 = session.open_stream("GPU 0", StreamOptions::new(domain))?;
//!
//! // Write: through `&Session` and `&mut Stream`.
//! let out = session.writer(&mut gpu0)?;
//! out.mark(100).message("start").write()?;
//! out.push(200).message(gemm).color(Argb::GREEN).write()?;
//! out.pop(450)?;
//! let dma = RangeId::new(1).unwrap();
//! out.start(210, dma).message("dma").write()?;
//! out.end(400, dma)?;
//! let kernels = out.events(kernel)?;
//! let depth = out.counter(queue)?;
//! let color = Argb::ORANGE.to_u32();
//! let batch = [
//!     Kernel { start: 220, end: 300, name: gemm.handle(), color, grid: [8, 8, 1], shared: 4096 },
//!     Kernel { start: 260, end: 390, name: gemm.handle(), color, grid: [4, 4, 1], shared: 0 },
//! ];
//! kernels.write_batch(&batch)?;
//! depth.sample(500, 12)?;
//!
//! session.end()?;
//! # assert!(path.metadata()?.len() > 0);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What there is
//!
//! - A [`Backend`] takes traces: embedded (`Backend::embedded`), [in this program](Backend::in_process), or
//!   [loaded](Backend::load). `Backend::checked` puts a layer in front of it that reports what breaks the contract of NVTXW;
//!   so does `NVTXW_CHECK=1` in the environment.
//! - A [`Session`] is one trace. It has domains and streams.
//! - A [`Domain`] is what names, schemas, counters and clocks are registered in; [`Session::describe`] tells what is
//!   known of them.
//! - A [`Stream`] is what data is written to, in the names of one domain.
//! - A [`Writer`] writes to a stream: plain marks and ranges, how clocks relate, and, through an [`EventWriter`] or a
//!   [`CounterWriter`], the structs that derive [`NvtxEvent`] and the counters.
//! - A [`RowLayout`] is a struct that only the run of the program makes known; its rows are written by a [`RowWriter`] or a
//!   [`RowCounterWriter`]. A [`RecordLayout`] is values that go beside an event, registered strings among them.
//!
//! # `&mut Session` registers, `&Session` writes
//!
//! NVTXW allows distinct streams to be written at once, and nothing else to overlap: no registration with a write, no
//! two writes to one stream. The borrow checker holds that, at no cost. A writer borrows the session and, mutably, its
//! stream; while it lives, nothing can be registered, and no second writer of the stream can exist.
//!
//! Many threads share `&Session` and have a `&mut Stream` each:
//!
//! ```
//! # use nvtxw::{Session, Stream};
//! fn simulate(session: &Session, streams: &mut [Stream]) {
//!     std::thread::scope(|scope| {
//!         for stream in streams {
//!             scope.spawn(move || {
//!                 let out = session.writer(stream)?;
//!                 out.mark(0).message("up").write()?;
//!                 Ok::<(), nvtxw::Error>(())
//!             });
//!         }
//!     });
//! }
//! ```
//!
//! A program that meets new names while it writes does both in turn on one thread, or keeps the session in an `RwLock`; what
//! registration gave stays valid, and only the writers are bound anew.
//!
//! # What a write costs
//!
//! A bound writer holds all that its call needs. [`EventWriter::write_batch`] compiles to what a C program would do by
//! hand: fill the batch's struct on the stack, call, compare with 0. The backend gets the slice's own memory: nothing is
//! copied, checked or allocated here. A failed write is a [`WriteError`], which is the backend's result code and as small;
//! [`WriteError::at`] adds names when it is to be shown.
//!
//! What belongs to which session and domain is compared when a writer is bound (and for registered messages and rows at each
//! write). Handles *inside* structs are compared by nothing, in no build: keep them to the streams of their domain.
//!
//! # Features
//!
//! - `derive` (default): the derives of [`NvtxEvent`](trait@NvtxEvent), [`NvtxCounterGroup`](trait@NvtxCounterGroup),
//!   [`NvtxPayload`](trait@NvtxPayload), [`NvtxEnum`](trait@NvtxEnum) and [`NvtxField`](trait@NvtxField).
//! - `file` (default): the embedded backend, `Backend::embedded`.
//! - `check` (default): `Backend::checked`, and `NVTXW_CHECK=1`.
//! - `parquet`: the embedded backend's format `parquet`.
//! - `half`: fields of `half::f16` and `half::bf16`.
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod backend;
#[allow(unsafe_code)]
mod calls;
mod category;
#[cfg(feature = "check")]
pub mod check;
mod color;
mod config;
mod counter;
mod counter_options;
#[allow(unsafe_code)]
mod derived;
mod describe;
mod domain;
mod entry;
mod enumeration;
mod error;
mod event;
#[allow(unsafe_code)]
mod field;
mod flags;
mod flex;
mod id;
mod layout;
mod limit;
mod names;
mod owner;
mod payload;
mod plain;
mod private;
mod record;
mod register;
mod resource;
mod row_counter;
mod row_field;
mod row_layout;
mod rows;
mod sample;
mod scope;
mod session;
mod stream;
mod string;
mod sync;
mod table;
mod text;
mod time;
mod write_error;
mod writer;

/// The ABI's own types, for [`Backend::from_interface`] and [`Backend::from_table`].
pub use nvtxw_abi as abi;
pub use nvtxw_abi::{
    BatchOrdering, EventKind, InProcess, Interpolation, Limit, NoValueReason, ResultCode,
    SchemaRole, Skid, StreamInterleaving, StreamOrdering, TimerStart, TimestampType, ValueType,
};

pub use self::backend::Backend;
pub use self::calls::{StringHandle, SyncPoint};
pub use self::color::Argb;
pub use self::config::Config;
pub use self::counter::{Counter, CounterType};
pub use self::counter_options::{CounterOptions, CounterSemantics};
pub use self::derived::{
    CompleteEvent, EmbeddedTime, FixedEvent, FlexEvent, NvtxCounterGroup, NvtxEnum, NvtxEvent,
    NvtxFlags, NvtxPayload, SeparateTime,
};
pub use self::describe::{CounterInfo, Describe, SchemaInfo, ScopeInfo, StringInfo};
pub use self::domain::Domain;
pub use self::enumeration::{EnumLayout, Enumeration};
pub use self::error::{CloseError, Error, Place, Result, WriteError};
pub use self::event::{EventWriter, Schema};
pub use self::field::NvtxField;
pub use self::flags::Flags;
pub use self::flex::{FlexPool, FlexStr};
pub use self::id::{
    CategoryId, DefaultScope, DomainId, RangeId, Scope, ScopeId, ScopeParent, StaticId,
};
pub use self::payload::{Payloads, TypedPayload};
pub use self::plain::PlainEvent;
pub use self::record::{IntoValue, Record, RecordLayout, RecordRow, Value};
#[doc(hidden)]
pub use self::register::Registrar;
pub use self::resource::ResourceId;
pub use self::row_counter::{RowCounter, RowCounterWriter, SampleTimes};
pub use self::row_field::{RowField, RowType};
pub use self::row_layout::RowLayout;
pub use self::rows::{RowSchema, RowWriter};
pub use self::sample::{CounterWriter, Interval, TimedSample};
pub use self::scope::escape_segment;
pub use self::session::Session;
pub use self::stream::{Stream, StreamOptions};
pub use self::string::{IntoMessage, Message, RegisteredString};
pub use self::time::{Clock, TimeDomain, TimeDomainOptions};
pub use self::writer::Writer;

#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}

/// What may move to another thread, and what may be shared with it.
const _: () = {
    const fn send<T: Send>() {}
    const fn sync<T: Sync>() {}

    /// Is ambiguous, and so doesn't compile, for a type that is `$auto`.
    macro_rules! assert_not {
        ($ty:ty: $auto:ident) => {{
            trait NotBoth<A> {
                const ONE: () = ();
            }
            struct Is;
            impl<T> NotBoth<()> for T {}
            impl<T: $auto> NotBoth<Is> for T {}
            <$ty as NotBoth<_>>::ONE
        }};
    }

    send::<Backend>();
    sync::<Backend>();
    send::<Session>();
    sync::<Session>();
    send::<Error>();
    sync::<Error>();
    send::<CloseError>();
    sync::<CloseError>();
    send::<RecordRow>();
    sync::<RecordRow>();
    send::<StringHandle>();
    sync::<StringHandle>();

    send::<Stream>();
    assert_not!(Stream: Sync);
    send::<Writer<'static>>();
    assert_not!(Writer<'static>: Sync);
    // A second thread could hold another writer that is bound to the same stream.
    assert_not!(EventWriter<'static, ()>: Send);
    assert_not!(EventWriter<'static, ()>: Sync);
    assert_not!(CounterWriter<'static, i64>: Send);
    assert_not!(CounterWriter<'static, i64>: Sync);
    assert_not!(RowWriter<'static>: Send);
    assert_not!(RowWriter<'static>: Sync);
    assert_not!(RowCounterWriter<'static>: Send);
    assert_not!(RowCounterWriter<'static>: Sync);
};
