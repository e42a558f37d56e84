//! The linked list of semantics.

use std::slice;

use nvtxw_abi::raw::{
    NVTX_SEMANTIC_ID_CORRELATION_V1, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_SEMANTIC_ID_SCOPE_V1,
    NVTX_SEMANTIC_ID_TIME_V1, nvtxSemanticsCorrelation_t, nvtxSemanticsCounter_t,
    nvtxSemanticsHeader_t, nvtxSemanticsScope_t, nvtxSemanticsTime_t,
};

use crate::call::{Semantic, SemanticNode};
use crate::raw::views::{field, head, text};
use crate::refusal::{Refusal, Result};

/// A list longer than this is taken for a ring.
const NODES: usize = 64;

/// Reads the list that starts at `first`.
///
/// # Safety
/// `first` is null or points to a node. A node has as many bytes as its `structSize` says, its `next` is null or points to
/// a node, and each text in it is null or null-terminated. All of it stays as it is for `'a`.
pub(crate) unsafe fn read<'a>(
    first: *const nvtxSemanticsHeader_t,
) -> Result<Vec<SemanticNode<'a>>> {
    let mut nodes = Vec::new();
    let mut node = first;
    while !node.is_null() {
        if nodes.len() == NODES {
            return Err(Refusal::invalid(format!(
                "semantics: the list has more than {NODES} nodes; does it lead back into itself?"
            )));
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
        nodes.push(SemanticNode {
            size: header.structSize,
            version: header.version,
            // SAFETY:
            // - The caller vouches for `size` bytes, and for texts in them.
            semantic: unsafe { semantic(node, header.semanticId, size) },
        });
        node = header.next;
    }
    Ok(nodes)
}

/// # Safety
/// `node` points to `size` bytes, at least those of a header; each text in them is null or null-terminated. All of it stays
/// as it is for `'a`.
unsafe fn semantic<'a>(node: *const nvtxSemanticsHeader_t, kind: u16, size: usize) -> Semantic<'a> {
    match kind {
        NVTX_SEMANTIC_ID_SCOPE_V1 => {
            // SAFETY:
            // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
            let node = unsafe { head(node.cast::<nvtxSemanticsScope_t>(), size) };
            Semantic::Scope(node.scopeId)
        }
        NVTX_SEMANTIC_ID_TIME_V1 => {
            // SAFETY:
            // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
            let node = unsafe { head(node.cast::<nvtxSemanticsTime_t>(), size) };
            Semantic::Time(node.timeDomainId)
        }
        NVTX_SEMANTIC_ID_CORRELATION_V1 => {
            // SAFETY:
            // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
            let node = unsafe { head(node.cast::<nvtxSemanticsCorrelation_t>(), size) };
            Semantic::Correlation {
                domain: node.correlationDomainUuid,
                // SAFETY:
                // - The caller vouches for the text.
                name: unsafe { text(node.displayName) },
                role: node.role,
            }
        }
        NVTX_SEMANTIC_ID_COUNTERS_V1 => {
            // SAFETY:
            // - The caller vouches for `size` bytes; zeros are a valid node of this kind.
            let node = unsafe { head(node.cast::<nvtxSemanticsCounter_t>(), size) };
            // SAFETY:
            // - Any 8 bytes are a number; what is behind the node's end is zero.
            let min = unsafe { node.min.u64 };
            // SAFETY:
            // - As above.
            let max = unsafe { node.max.u64 };
            Semantic::Counter {
                flags: node.flags,
                // SAFETY:
                // - The caller vouches for the text.
                unit: unsafe { text(node.unit) },
                scale: (node.unitScaleNumerator, node.unitScaleDenominator),
                limit_type: node.limitType,
                min,
                max,
            }
        }
        kind => {
            let header = size_of::<nvtxSemanticsHeader_t>();
            // SAFETY:
            // - The node has the bytes of a header.
            let start = unsafe { node.byte_add(header) };
            // SAFETY:
            // - The caller vouches for `size` bytes, which are fewer than 2^32, for `'a`; bytes need no alignment.
            let bytes = unsafe { slice::from_raw_parts(start.cast(), size - header) };
            Semantic::Other { kind, bytes }
        }
    }
}
