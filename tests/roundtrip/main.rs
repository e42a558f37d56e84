//! What a producer writes is what a backend sees: any value of any derived struct, and any row of any layout.
//!
//! What must be seen is worked out from the values by code that shares nothing with the derives, the tables or the decoder.

mod counters;
mod data;
mod enums;
mod events;
mod fields;
mod flex;
#[cfg(feature = "half")]
mod half;
mod payloads;
mod rows;
mod seen;
mod stage;
