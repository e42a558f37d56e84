//! Holds a producer to the contract of NVTXW: a layer in front of any backend.
//!
//! A producer that misuses the ABI gets a wrong trace, often without a word. [`Checked`] is a backend that looks at all that
//! reaches it, keeps a [`Report`] of what breaks the contract, and passes what was accepted on to the backend behind it, so that
//! the trace is the one that would have been written without it.
//!
//! Each [`Finding`] says what is wrong and where (stream, event number, timestamp), and its [`FindingKind`] why that matters and
//! how to fix it. `docs/check.md` in the project's repository lists the kinds, each with the test that provokes it.
//!
//! # Where findings go
//! Into the [`Report`], and to standard error when the session ends. Keys of the session's config, or where they are missing
//! variables of the environment, say otherwise:
//!
//! | key | variable | what |
//! |---|---|---|
//! | `check.output` | `NVTXW_CHECK_OUTPUT` | `stderr`; `off`: only the report; else the path of a file that gets JSON lines |
//! | `check.live` | `NVTXW_CHECK_LIVE` | `true`: to standard error as they happen too |
//! | `check.examples` | `NVTXW_CHECK_EXAMPLES` | how many cases of each kind are told in full; 3 if it isn't said. The others are counted |
//!
//! The lines of the file are objects: `{"begin": SESSION}`; `{"finding": CODE, "session", "stream", "event", "time", "what",
//! "why", "fix"}` for each of the first cases, as it happens; `{"end": SESSION, "findings": {CODE: COUNT}}`. A session that has no
//! `end` was not ended. Lines are added to a file that exists.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod account;
mod behind;
mod checks;
mod dates;
mod finding;
mod gate;
mod layer;
mod order;
mod outlet;
mod ranges;
mod registrations;
mod report;
mod reserved;
mod shared;
mod strays;
mod values;

pub use self::behind::{Behind, BehindSession, BehindStream};
pub use self::finding::{Finding, FindingKind};
pub use self::layer::{Checked, CheckedSession, CheckedStream};
pub use self::report::Report;
