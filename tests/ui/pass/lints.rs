//! Generated code gives no warning, whatever the crate around it asks for.
#![deny(warnings, unused, unused_qualifications, missing_docs, missing_debug_implementations, unreachable_pub)]
#![deny(rust_2018_idioms, trivial_casts, single_use_lifetimes, unsafe_op_in_unsafe_fn)]
#![forbid(unsafe_code)]

use nvtxw::{NvtxCounterGroup, NvtxEvent};

/// Nothing reads these fields in Rust: the trace does.
#[derive(NvtxEvent, Clone, Copy, Debug)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
pub struct Event {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(unit = "bytes", min = -1)]
    value: i64,
    flag: bool,
    #[nvtx(skip)]
    _pad: [u8; 7],
}

/// Generic.
#[derive(NvtxCounterGroup, Clone, Copy, Debug)]
#[repr(C)]
pub struct Group<T> {
    reads: T,
}

fn main() {
    let _ = Event { start: 0, end: 1, value: 2, flag: true, _pad: [0; 7] };
    let _ = Group { reads: 0_u64 };
}
