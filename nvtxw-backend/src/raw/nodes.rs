//! Lists of semantics, from what they say to C.

use std::ptr;

use nvtxw_abi::raw::{
    NVTX_SEMANTIC_ID_CORRELATION_V1, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_SEMANTIC_ID_SCOPE_V1,
    NVTX_SEMANTIC_ID_TIME_V1, nvtxCounterLimit_t, nvtxSemanticsCorrelation_t,
    nvtxSemanticsCounter_t, nvtxSemanticsHeader_t, nvtxSemanticsScope_t, nvtxSemanticsTime_t,
};

use crate::call::{Semantic, SemanticNode};
use crate::raw::onward::pointer;

/// A list of semantics, in C. Nodes of kinds that are not known are left out: what they hold may be pointers.
pub(super) struct Nodes(Vec<Node>);

#[repr(C)]
#[derive(Clone, Copy)]
union Node {
    header: nvtxSemanticsHeader_t,
    scope: nvtxSemanticsScope_t,
    time: nvtxSemanticsTime_t,
    correlation: nvtxSemanticsCorrelation_t,
    counter: nvtxSemanticsCounter_t,
}

impl Nodes {
    pub(super) fn new(nodes: &[SemanticNode<'_>]) -> Self {
        Self(nodes.iter().filter_map(node).collect())
    }

    /// The first node, which leads to all others as long as this is there and not moved.
    pub(super) fn first(&mut self) -> *const nvtxSemanticsHeader_t {
        let mut next: *const nvtxSemanticsHeader_t = ptr::null();
        for node in self.0.iter_mut().rev() {
            // SAFETY:
            // - Each node begins with a header.
            let header = unsafe { &mut node.header };
            header.next = next;
            next = (&raw const *node).cast();
        }
        next
    }
}

fn node(node: &SemanticNode<'_>) -> Option<Node> {
    let header = |kind, size: usize| nvtxSemanticsHeader_t {
        structSize: size as u32,
        semanticId: kind,
        version: node.version,
        next: ptr::null(),
    };
    Some(match node.semantic {
        Semantic::Scope(scope) => Node {
            scope: nvtxSemanticsScope_t {
                header: header(NVTX_SEMANTIC_ID_SCOPE_V1, size_of::<nvtxSemanticsScope_t>()),
                scopeId: scope,
            },
        },
        Semantic::Time(time_domain) => Node {
            time: nvtxSemanticsTime_t {
                header: header(NVTX_SEMANTIC_ID_TIME_V1, size_of::<nvtxSemanticsTime_t>()),
                timeDomainId: time_domain,
            },
        },
        Semantic::Correlation { domain, name, role } => Node {
            correlation: nvtxSemanticsCorrelation_t {
                header: header(
                    NVTX_SEMANTIC_ID_CORRELATION_V1,
                    size_of::<nvtxSemanticsCorrelation_t>(),
                ),
                correlationDomainUuid: domain,
                displayName: pointer(name),
                role,
            },
        },
        Semantic::Counter {
            flags,
            unit,
            scale,
            limit_type,
            min,
            max,
        } => Node {
            counter: nvtxSemanticsCounter_t {
                header: header(
                    NVTX_SEMANTIC_ID_COUNTERS_V1,
                    size_of::<nvtxSemanticsCounter_t>(),
                ),
                flags,
                unit: pointer(unit),
                unitScaleNumerator: scale.0,
                unitScaleDenominator: scale.1,
                limitType: limit_type,
                min: nvtxCounterLimit_t { u64: min },
                max: nvtxCounterLimit_t { u64: max },
            },
        },
        Semantic::Other { .. } => return None,
    })
}
