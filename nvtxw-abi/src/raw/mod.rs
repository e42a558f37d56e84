//! The v2 ABI under its C names: structs, constants, handles and the function table.
//!
//! Sizes are those of C's types on the target; the layouts of 64-bit targets are asserted at
//! compile time. Text is null-terminated UTF-8 unless said otherwise. A pointer passed to a table
//! function is valid during the call only: the callee copies what it needs.

#![allow(non_camel_case_types, non_snake_case)]

pub(crate) mod counter;
mod definition;
pub(crate) mod entry;
pub(crate) mod event;
pub(crate) mod loading;
pub(crate) mod payload;
pub(crate) mod resource;
pub(crate) mod schema;
pub(crate) mod scope;
pub(crate) mod semantics;
pub(crate) mod session;
pub(crate) mod table;
pub(crate) mod time;

pub use self::{
    counter::*, entry::*, event::*, loading::*, payload::*, resource::*, schema::*, scope::*,
    semantics::*, session::*, table::*, time::*,
};
