//! The linked list of semantics.

use std::mem::offset_of;

use nvtxw_abi::raw::{
    NVTX_COUNTER_FLAG_LIMIT_MAX, NVTX_COUNTER_FLAG_LIMIT_MIN, NVTX_COUNTER_FLAG_NORMALIZE,
    NVTX_SEMANTIC_ID_CORRELATION_V1, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_SEMANTIC_ID_SCOPE_V1,
    NVTX_SEMANTIC_ID_TIME_V1, nvtxCounterLimit_t, nvtxSemanticsCorrelation_t,
    nvtxSemanticsCounter_t, nvtxSemanticsHeader_t, nvtxSemanticsScope_t, nvtxSemanticsTime_t,
};
use nvtxw_abi::{Interpolation, Limit, ValueType};

use crate::raw::views::{field, head, text};
use crate::refusal::{Refusal, Result};
use crate::semantics::{Correlation, CounterSemantics, Semantics};

/// A list longer than this is taken for a ring.
const NODES: usize = 64;

/// Reads the list that starts at `first`. Nodes of unknown kinds are skipped; of two of one kind the later one counts.
///
/// # Safety
/// `first` is null or points to a node. A node has as many bytes as its `structSize` says, its `next` is null or points to
/// a node, and each text in it is null or null-terminated.
pub(crate) unsafe fn read(first: *const nvtxSemanticsHeader_t) -> Result<Semantics> {
    let mut semantics = Semantics::default();
    let mut node = first;
    for _ in 0..NODES {
        if node.is_null() {
            return Ok(semantics);
        }
        let size = field!(node, structSize) as usize;
        if size < size_of::<nvtxSemanticsHeader_t>() {
            return Err(Refusal::invalid(format!(
                "semantics.structSize is {size}; a node has at least {} bytes",
                size_of::<nvtxSemanticsHeader_t>()
            )));
        }
        // SAFETY:
        // - The node has at least the bytes of a header, as was just checked.
        let header = unsafe { node.read_unaligned() };
        match header.semanticId {
            NVTX_SEMANTIC_ID_SCOPE_V1 => {
                // SAFETY:
                // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
                let node = unsafe { head(node.cast::<nvtxSemanticsScope_t>(), size) };
                semantics.scope = Some(node.scopeId);
            }
            NVTX_SEMANTIC_ID_TIME_V1 => {
                // SAFETY:
                // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
                let node = unsafe { head(node.cast::<nvtxSemanticsTime_t>(), size) };
                semantics.time_domain = Some(node.timeDomainId);
            }
            NVTX_SEMANTIC_ID_CORRELATION_V1 => {
                // SAFETY:
                // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
                let node = unsafe { head(node.cast::<nvtxSemanticsCorrelation_t>(), size) };
                // SAFETY:
                // - The caller vouches for the text.
                let name = unsafe { text(node.displayName) };
                let name = name.as_deref().map(Into::into);
                semantics.correlation = Some(Correlation {
                    domain: node.correlationDomainUuid,
                    name,
                });
            }
            NVTX_SEMANTIC_ID_COUNTERS_V1 => {
                // SAFETY:
                // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
                let node = unsafe { head(node.cast::<nvtxSemanticsCounter_t>(), size) };
                // SAFETY:
                // - The caller vouches for the text.
                semantics.counter = Some(unsafe { counter(&node, size) }?);
            }
            _ => {}
        }
        node = header.next;
    }
    Err(Refusal::invalid(format!(
        "semantics: the list has more than {NODES} nodes; does it lead back into itself?"
    )))
}

/// # Safety
/// The unit is null or null-terminated.
unsafe fn counter(node: &nvtxSemanticsCounter_t, size: usize) -> Result<CounterSemantics> {
    // SAFETY:
    // - The caller vouches for the text.
    let unit = unsafe { text(node.unit) };
    let limit = |flag: u64, limit: &nvtxCounterLimit_t, offset: usize, name: &str| {
        if node.flags & flag == 0 {
            return Ok(None);
        }
        if size < offset + size_of::<nvtxCounterLimit_t>() {
            return Err(Refusal::invalid(format!(
                "semantics.flags promise a {name}, but structSize {size} ends before it"
            )));
        }
        // SAFETY:
        // - The flag says that the limit is set, and any 8 bytes are a number.
        let bits = unsafe { limit.u64 };
        match Limit::from_raw(node.limitType, bits) {
            None => Err(Refusal::invalid(format!(
                "semantics.flags promise a {name}, but limitType is {}; the ABI defines 1 to 3",
                node.limitType
            ))),
            limit => Ok(limit),
        }
    };
    Ok(CounterSemantics {
        unit: unit
            .as_deref()
            .filter(|unit| !unit.is_empty())
            .map(Into::into),
        scale: (
            node.unitScaleNumerator.max(1),
            node.unitScaleDenominator.max(1),
        ),
        min: limit(
            NVTX_COUNTER_FLAG_LIMIT_MIN,
            &node.min,
            offset_of!(nvtxSemanticsCounter_t, min),
            "minimum",
        )?,
        max: limit(
            NVTX_COUNTER_FLAG_LIMIT_MAX,
            &node.max,
            offset_of!(nvtxSemanticsCounter_t, max),
            "maximum",
        )?,
        interpolation: Interpolation::from_raw(node.flags),
        value_type: ValueType::from_raw(node.flags),
        normalize: node.flags & NVTX_COUNTER_FLAG_NORMALIZE != 0,
    })
}
