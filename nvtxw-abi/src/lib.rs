//! The NVTX Writer (NVTXW) v2 ABI, and the vocabulary that producers and backends share.
//!
//! NVTXW is a C interface for writing trace data that already has timestamps. A producer gets a
//! table of functions from a backend, and writes sessions, streams, events and counters through it.
//! This crate holds
//!
//! - [`raw`]: every struct, constant and function type of the ABI under its C name, with layouts
//!   that are asserted at compile time;
//! - the types at the root: the same numbers as Rust enums. Several are numbers in a bit-field of
//!   some flags, where testing single bits goes wrong: `from_raw` and `from_flags` mask them;
//! - [`InProcess`]: how a backend in the same program is handed to a producer;
//! - [`layout`]: the ABI as data;
//! - [`OneLine`]: messages that quote text of others.
//!
//! ```
//! use nvtxw_abi::{EventKind, SchemaRole, raw};
//!
//! // A push is 5 << 3, a mark 4 << 3: the same bit, another kind.
//! let flags = raw::NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH | raw::NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY;
//! assert_eq!(SchemaRole::from_flags(flags), Some(SchemaRole::Event(EventKind::RangePush)));
//! ```

#![no_std]
#![deny(missing_docs)]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

mod batch;
mod counter;
mod entry;
mod entry_type;
mod event;
mod id;
#[allow(unsafe_code)]
mod in_process;
pub mod layout;
mod one_line;
pub mod raw;
mod resource;
mod result;
mod scope;
mod stream;
mod time;
mod vocabulary;

pub use self::batch::{BatchOrdering, IntervalPlacement};
pub use self::counter::{Interpolation, Limit, NoValueReason, ValueType};
pub use self::entry::{ArrayStyle, EntryPurpose, EntryRole, TimestampRole};
pub use self::entry_type::EntryType;
pub use self::event::{EventKind, SchemaRole};
pub use self::id::IdClass;
pub use self::in_process::{BeginHook, InProcess, ReasonHook};
pub use self::one_line::OneLine;
pub use self::resource::ResourceType;
pub use self::result::ResultCode;
pub use self::scope::PredefinedScope;
pub use self::stream::{Skid, StreamInterleaving, StreamOrdering};
pub use self::time::{TimerStart, TimestampType};
