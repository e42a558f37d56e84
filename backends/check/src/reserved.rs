//! Flags and numbers that the ABI reserves.

use nvtxw_abi::raw::*;
use nvtxw_backend::TimerStart;
use nvtxw_backend::call::{
    CounterBatchCall, EntryAttributes, EnumAttributes, EventBatchCall, SchemaAttributes, Semantic,
    SemanticNode, TimeDomainAttributes, WriteCall,
};

/// The role of a schema: a number of four bits.
pub(crate) const ROLE: u64 = 0xF << 3;
const SCHEMA: u64 = ROLE | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY | NVTX_PAYLOAD_SCHEMA_FLAG_REFERENCED;
/// All bits of masks from the second one on; the last one is of a field that is reserved itself.
const SCHEMA_MASK: u64 = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_EXTENSION - 2;
const ENUM_MASK: u64 = NVTX_PAYLOAD_ENUM_ATTR_FIELD_EXTENSION - 2;
const ENTRY: u64 = 2 * NVTX_PAYLOAD_ENTRY_FLAG_COUNTER - 2;
const COUNTER: u64 = NVTX_COUNTER_FLAG_NORMALIZE
    | NVTX_COUNTER_FLAG_LIMITS
    | NVTX_COUNTER_FLAG_VALUETYPES
    | NVTX_COUNTER_FLAG_INTERPOLATIONS;
const TIMER: u64 = NVTX_TIMER_FLAG_CLOCK_MONOTONIC | NVTX_TIMER_FLAG_CLOCK_STEADY;
const EVENT_BATCH: u64 = NVTX_BATCH_FLAG_UNSORTED;
const COUNTER_BATCH: u64 = NVTX_BATCH_FLAG_UNSORTED
    | NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR
    | NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR;

/// That bits of `flags` are none of `known`.
fn beyond(what: impl std::fmt::Display, flags: u64, known: u64) -> Option<String> {
    let reserved = flags & !known;
    (reserved != 0).then(|| format!("{what} is {flags:#x}, in which {reserved:#x} is reserved"))
}

/// What a batch has set.
pub(crate) fn of_batch(call: &WriteCall<'_>) -> Option<String> {
    match call {
        WriteCall::EventBatch(EventBatchCall { flags, .. }) => beyond("flags", *flags, EVENT_BATCH),
        WriteCall::CounterBatch(CounterBatchCall { flags, .. }) => {
            beyond("flags", *flags, COUNTER_BATCH)
        }
        _ => None,
    }
}

/// What a schema and its entries have set.
pub(crate) fn of_schema(schema: &SchemaAttributes<'_>) -> Option<String> {
    let entry = |(index, entry): (usize, &EntryAttributes<'_>)| {
        let flags = format!("the flags of entry {index}");
        beyond(flags, entry.flags, ENTRY)
            .or_else(|| of_semantics(&entry.semantics))
            .or_else(|| of_pointer(index, entry.reserved))
    };
    beyond("fieldMask", schema.mask, SCHEMA_MASK)
        .or_else(|| beyond("flags", schema.flags, SCHEMA))
        .or_else(|| schema.entries.iter().enumerate().find_map(entry))
}

/// That the reserved pointer of an entry is not null.
fn of_pointer(index: usize, pointer: u64) -> Option<String> {
    (pointer != 0)
        .then(|| format!("the reserved pointer of entry {index} is {pointer:#x}, not null"))
}

/// What an enum has set.
pub(crate) fn of_enum(enumeration: &EnumAttributes<'_>) -> Option<String> {
    beyond("fieldMask", enumeration.mask, ENUM_MASK)
}

/// What semantics have set.
pub(crate) fn of_semantics(semantics: &[SemanticNode<'_>]) -> Option<String> {
    semantics.iter().find_map(|node| match node.semantic {
        Semantic::Counter { flags, .. }
            if flags & NVTX_COUNTER_FLAG_INTERPOLATIONS
                > NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR =>
        {
            Some(format!(
                "the interpolation in the semantics' flags {flags:#x} is reserved"
            ))
        }
        Semantic::Counter { flags, .. } => beyond("the semantics' flags", flags, COUNTER),
        _ => None,
    })
}

/// What a time domain has set.
pub(crate) fn of_time_domain(clock: &TimeDomainAttributes) -> Option<String> {
    let start = clock.start;
    beyond("timerFlags", clock.flags, TIMER).or_else(|| {
        TimerStart::from_raw(start)
            .is_none()
            .then(|| format!("timerStart is {start}, which is reserved"))
    })
}
