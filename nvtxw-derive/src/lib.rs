//! The derives of `nvtxw`: they turn a struct into an event, a counter group or a payload, with a table of its fields and
//! checks of its layout, and enums and newtypes into types of such fields, all at compile time.
//!
//! Use them through `nvtxw`, which re-exports them beside the traits of the same names; examples are there.
//!
//! ```text
//! #[derive(NvtxEvent, Clone, Copy)]
//! #[repr(C)]
//! #[nvtx(kind = range_startend)]
//! struct Kernel {
//!     #[nvtx(timestamp_start)] start: i64,
//!     #[nvtx(timestamp_end)]   end: i64,
//!     #[nvtx(message)]         name: StringHandle,
//!     #[nvtx(unit = "bytes")]  shared: u64,
//! }
//! ```
//!
//! The struct is `Copy` and `#[repr(C)]` (`packed` and `align` may stand beside it), has named fields and no padding.
//! Its fields are of the types that implement `nvtxw::NvtxField`: numbers, `bool`, `char`, `*const T`, `nvtxw`'s
//! `StringHandle`, `Argb`, `CategoryId`, `RangeId`, `ScopeId`, payloads, enums and newtypes that derive [`NvtxPayload`],
//! [`NvtxEnum`] and [`NvtxField`], and arrays of them all. It may have type and const parameters, but no lifetimes.
//!
//! # Attributes of the struct
//!
//! | `#[nvtx(…)]` | |
//! |---|---|
//! | `kind = …` | What the event says, see below. Events only, and required. |
//! | `name = "…"` | The schema's name instead of the struct's. |
//! | `crate = "…"` | The path of `nvtxw` where it isn't `::nvtxw`: see [below](#a-renamed-crate). |
//!
//! # Attributes of fields
//!
//! A field without attributes is data, shown under its name. Roles:
//!
//! | `#[nvtx(…)]` | type | |
//! |---|---|---|
//! | `timestamp` | `i64`, `u64` | When a mark happened; when a counter group was sampled. |
//! | `timestamp_start` | `i64`, `u64` | When the range starts. |
//! | `timestamp_end` | `i64`, `u64` | When the range ends. |
//! | `range_id` | `RangeId`, `u64` | What joins `range_start` to `range_end`; never 0. |
//! | `message` | `StringHandle` | What the event is called in the trace. |
//! | `color` | `Argb`, `u32` | 0 is none. |
//! | `category` | `CategoryId`, `u32` | 0 is none. |
//! | `scope` | `ScopeId`, `u64` | Where the event belongs; 0 leaves that to the batch and the stream. |
//! | `correlation`, `correlation = "…"` | `u64`, `i64`, `u32` | Relates events with one number in one correlation domain, which is named by the value, else by the field: Perfetto shows them as a flow. 0 is none. |
//!
//! A timestamp, a color and so on may also be a newtype of such a type.
//!
//! A field has one role, and a role one field, except that an event may correlate in several domains. Text can be stored
//! in three ways, which may all stand beside `message`:
//!
//! | `#[nvtx(…)]` | type | |
//! |---|---|---|
//! | `registered_string` | `StringHandle` | Registered text, as the type says already. |
//! | `string` | `[u8; N]` | UTF-8 inside the struct; it ends before the first 0. Several of them: an array of a payload with such a field. |
//! | `flex` | `FlexStr` | UTF-8 of any length in a `FlexPool`; marks and whole ranges only. |
//!
//! What else can be said:
//!
//! | `#[nvtx(…)]` | |
//! |---|---|
//! | `name = "…"` | The entry's name instead of the field's. |
//! | `description = "…"` | What the field holds, for people. |
//! | `skip` | The bytes are written, but the trace shows nothing of them. Fills gaps. Also for `PhantomData<T>`, which has no bytes. |
//! | `hide` | Viewers shouldn't show the field. |
//! | `unit = "…"` | The unit of a number. |
//! | `scale = "1/1000"` | The factor from a number to its unit, a fraction of positive integers: `"1/1000"` for 0.001; `"60"` is `"60/1"`. |
//! | `min = …`, `max = …` | The limits of a number: literals within the range of the field's type, of at most 64 bits and without a fraction for integers. |
//! | `interpolation = "…"` | How a number runs between its samples: `point`, `since_last`, `until_next`, `linear`. |
//! | `value_type = "…"` | What a number is: `absolute`, `delta` (to the sample before), `delta_since_start`. |
//! | `time_domain = "…"` | The clock of a timestamp, where it isn't the stream's: a variant of `nvtxw::TimestampType` in snake case, such as `clock_monotonic`. Start and end are of one clock. |
//!
//! # Kinds
//!
//! | `kind = …` | needs | written |
//! |---|---|---|
//! | `mark` | `timestamp` | singly, in batches |
//! | `range_pushpop` | `timestamp_start`, `timestamp_end` | singly, in batches |
//! | `range_startend` | `timestamp_start`, `timestamp_end` | singly, in batches |
//! | `range_push` | `timestamp_start` | singly |
//! | `range_pop` | `timestamp_end` | singly |
//! | `range_start` | `timestamp_start`, `range_id` | singly |
//! | `range_end` | `timestamp_end`, `range_id` | singly |
//!
//! All of them may have the other roles of the table but `timestamp…` and `range_id`. A counter group has no kind, and
//! its fields are numbers. A payload has no kind, no `flex`, and no role but `correlation`.
//!
//! # Enums
//!
//! | `#[nvtx(…)]` | on | |
//! |---|---|---|
//! | `name = "…"` | the enum, a variant | Its name instead of the identifier. |
//! | `flags` | the enum | Its values are bits, which `nvtxw::Flags` combines. |
//! | `crate = "…"` | the enum | As for structs; for newtypes too. |
//!
//! # A renamed crate
//!
//! Derived code names the crate `::nvtxw`. If `Cargo.toml` gives it another name, as in
//! `tracing = { package = "nvtxw", version = "…" }`, rustc reports that it could not find `nvtxw` in the list of imported
//! crates. The same holds for a crate that re-exports `nvtxw` to its users. Each derived type then needs the path:
//!
//! ```text
//! #[derive(NvtxEvent, Clone, Copy)]
//! #[repr(C)]
//! #[nvtx(kind = mark, crate = "tracing")]
//! struct Event { … }
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ast;
mod attr;
mod derive;
mod errors;
mod expand;
#[cfg(test)]
mod expansions;
mod repr;
mod valid;
mod vocabulary;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct an event that is written as its own bytes. The attributes are those of the [crate's page](crate).
///
/// # Errors
///
/// Where the struct doesn't fit, the compiler points at the field and says what to write. All independent errors come
/// in one compile. The layout of a generic struct is checked for the types that it is used with: in a build, or where
/// `nvtxw::assert_event!` asks for it.
///
/// If rustc could not find `nvtxw` in the list of imported crates, `Cargo.toml` gives the crate another name: add
/// [`crate = "…"`](crate#a-renamed-crate).
#[proc_macro_derive(NvtxEvent, attributes(nvtx))]
pub fn derive_event(input: TokenStream) -> TokenStream {
    derive::event(parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct a group of counters that are sampled together, one counter for each numeric field. The attributes are
/// those of the [crate's page](crate); of the roles, there is `timestamp`.
///
/// # Errors
///
/// As for [`NvtxEvent`](macro@NvtxEvent).
#[proc_macro_derive(NvtxCounterGroup, attributes(nvtx))]
pub fn derive_counter_group(input: TokenStream) -> TokenStream {
    derive::counter_group(parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct a payload: a field of events and of other payloads, or something that is written beside an event. The
/// attributes are those of the [crate's page](crate); of the roles, there is `correlation`.
///
/// # Errors
///
/// As for [`NvtxEvent`](macro@NvtxEvent).
#[proc_macro_derive(NvtxPayload, attributes(nvtx))]
pub fn derive_payload(input: TokenStream) -> TokenStream {
    derive::payload(parse_macro_input!(input as DeriveInput)).into()
}

/// Makes an enum a field that a trace shows by the names of its values. The attributes are those of the
/// [crate's page](crate).
///
/// # Errors
///
/// Where the enum doesn't fit, the compiler points at the place and says what to write.
#[proc_macro_derive(NvtxEnum, attributes(nvtx))]
pub fn derive_enum(input: TokenStream) -> TokenStream {
    derive::enumeration(parse_macro_input!(input as DeriveInput)).into()
}

/// Makes a struct around one field type a field type of its own, with all roles that the wrapped type can have.
///
/// # Errors
///
/// Where the struct isn't `#[repr(transparent)]` around one field type, the compiler points at it and says what to write.
#[proc_macro_derive(NvtxField, attributes(nvtx))]
pub fn derive_field(input: TokenStream) -> TokenStream {
    derive::newtype(parse_macro_input!(input as DeriveInput)).into()
}
