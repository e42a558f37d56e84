//! The C side: the functions of the table, and the views of what their pointers point to. All unsafe code of the crate is
//! here.

#![allow(unsafe_code)]

#[cfg(not(all(test, loom)))]
mod exit;
mod instance;
mod nodes;
mod onward;
mod outside;
mod payload;
mod semantics;
mod trampoline;
mod views;

#[cfg(not(all(test, loom)))]
pub(crate) use self::exit::set_exit_hook;
pub(crate) use self::onward::{DomainHandle, Onward, SessionHandle, StreamHandle};
pub(crate) use self::outside::{Outside, Promise, TEXT_LIMIT};
pub(crate) use self::payload::{CounterBatchArg, EventBatchArg, PayloadArg};

pub use self::instance::{Library, in_process};
pub use self::trampoline::{get_interface, table};
