//! Lists of semantics.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::choices::Choices;
use crate::known::Known;
use crate::memory::Memory;
use crate::schema::{name, nowhere};

/// A list of a few nodes; now and then one that leads back into itself.
pub fn list(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
) -> *const nvtxSemanticsHeader_t {
    let mut next = ptr::null();
    for _ in 0..choices.below(4) {
        next = node(choices, memory, known, next);
    }
    if choices.one_in(32) {
        let header = nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsHeader_t>() as u32,
            semanticId: 4,
            version: 0,
            next,
        };
        let ring = memory.place(header);
        // SAFETY:
        // - The node was just stored there, and nothing else refers to it.
        unsafe { (*ring).next = ring };
        next = ring;
    }
    next
}

fn node(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
    next: *const nvtxSemanticsHeader_t,
) -> *const nvtxSemanticsHeader_t {
    let header = |size: usize, id: u16| nvtxSemanticsHeader_t {
        structSize: size as u32,
        semanticId: id,
        version: 1,
        next,
    };
    let kind = choices.below(5);
    let whole = match kind {
        0 => size_of::<nvtxSemanticsScope_t>(),
        1 => size_of::<nvtxSemanticsTime_t>(),
        2 => size_of::<nvtxSemanticsCorrelation_t>(),
        _ => size_of::<nvtxSemanticsCounter_t>(),
    };
    // As it is today, from before a field was added, or from after.
    let size = match choices.below(8) {
        0 => 16 + choices.below(whole as u64 - 15) as usize,
        1 => whole + choices.below(40) as usize,
        _ => whole,
    };
    match kind {
        0 => {
            let node = nvtxSemanticsScope_t {
                header: header(size, NVTX_SEMANTIC_ID_SCOPE_V1),
                scopeId: match choices.below(4) {
                    0 => choices.number(),
                    _ => choices.pick_or(&known.scopes, 0),
                },
            };
            memory.head(&node, size).cast()
        }
        1 => {
            let node = nvtxSemanticsTime_t {
                header: header(size, NVTX_SEMANTIC_ID_TIME_V1),
                timeDomainId: match choices.below(4) {
                    0 => choices.number(),
                    _ => choices.pick_or(&known.time_domains, 0),
                },
            };
            memory.head(&node, size).cast()
        }
        2 => {
            let node = nvtxSemanticsCorrelation_t {
                header: header(size, NVTX_SEMANTIC_ID_CORRELATION_V1),
                correlationDomainUuid: [choices.below(3) as u8; 16],
                displayName: name(choices, memory),
                role: 0,
            };
            memory.head(&node, size).cast()
        }
        _ => {
            let is_known = kind == 3;
            let node = nvtxSemanticsCounter_t {
                header: header(
                    size,
                    if is_known {
                        NVTX_SEMANTIC_ID_COUNTERS_V1
                    } else {
                        9
                    },
                ),
                flags: choices.below(1 << 11),
                // What is in a node of a kind that nobody knows must not be read.
                unit: if is_known {
                    name(choices, memory)
                } else {
                    nowhere()
                },
                unitScaleNumerator: choices.number(),
                unitScaleDenominator: choices.number(),
                limitType: choices.below(5) as i64,
                min: nvtxCounterLimit_t {
                    u64: choices.number(),
                },
                max: nvtxCounterLimit_t {
                    u64: choices.number(),
                },
            };
            memory.head(&node, size).cast()
        }
    }
}
