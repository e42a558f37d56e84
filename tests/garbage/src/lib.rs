//! Arbitrary schemas, bytes and calls, and the rules that hold whatever they are.
//!
//! Each function takes an input, by whose bytes it makes all of its choices, and panics if a rule does not hold. The fuzz
//! targets in `tests/fuzz` feed them what leads somewhere new, the tests here pseudo-random bytes.

mod call;
mod choices;
mod collector;
mod decoding;
mod entry;
mod events;
mod file;
mod known;
mod memory;
mod payload;
#[allow(dead_code)]
#[path = "../../../backends/file/tests/trace/reader.rs"]
mod reader;
mod registration;
#[allow(dead_code)]
#[path = "../../../backends/file/src/replay.rs"]
mod replay;
mod samples;
mod schema;
mod semantics;
mod sequence;
mod sessions;
mod show;
mod side;
mod table;
mod ways;
mod world;

use self::collector::PANIC;
pub use self::collector::{KINDS, Kinds};
pub use self::decoding::{Decoded, decode, formats};
pub use self::entry::FORMS;
pub use self::sequence::{MEMBERS, Successes, calls, files};
