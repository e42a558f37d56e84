//! What is said of entries and counters.

use nvtxw_abi::raw::*;
use serde_json::{Value, json};

use crate::read::{get, text};
use crate::recording::Domain;
use crate::symbol;

/// The bits of the flags of counter semantics that are numbers: value type, interpolation.
const COUNTER_FIELDS: [u64; 2] = [
    NVTX_COUNTER_FLAG_VALUETYPES,
    NVTX_COUNTER_FLAG_INTERPOLATIONS,
];

/// The linked list of semantics that begins at `header`.
pub(crate) fn semantics(domain: &Domain, mut header: *const nvtxSemanticsHeader_t) -> Value {
    let mut all = Vec::new();
    while !header.is_null() {
        let head = get(header);
        let mut one = match head.semanticId {
            NVTX_SEMANTIC_ID_SCOPE_V1 => {
                json!({"scope": domain.scope(get(header.cast::<nvtxSemanticsScope_t>()).scopeId)})
            }
            NVTX_SEMANTIC_ID_TIME_V1 => {
                json!({"time_domain": domain.time_domain(get(header.cast::<nvtxSemanticsTime_t>()).timeDomainId)})
            }
            NVTX_SEMANTIC_ID_CORRELATION_V1 => {
                let correlation = get(header.cast::<nvtxSemanticsCorrelation_t>());
                json!({
                    "uuid": symbol::hex(&correlation.correlationDomainUuid),
                    "name": text(correlation.displayName),
                    "role": correlation.role,
                })
            }
            NVTX_SEMANTIC_ID_COUNTERS_V1 => counter_semantics(get(header.cast())),
            _ => json!({}),
        };
        one["semantics"] = json!(symbol::name("NVTX_SEMANTIC_ID_", head.semanticId));
        one["struct_size"] = json!(head.structSize);
        one["version"] = json!(head.version);
        all.push(one);
        header = head.next;
    }
    json!(all)
}

fn counter_semantics(counter: &nvtxSemanticsCounter_t) -> Value {
    let mut line = json!({
        "flags": symbol::flags("NVTX_COUNTER_FLAG_", &COUNTER_FIELDS, counter.flags),
        "unit": text(counter.unit),
        "scale": [counter.unitScaleNumerator, counter.unitScaleDenominator],
        "limit_type": symbol::name("NVTX_COUNTER_LIMIT_", counter.limitType),
    });
    let limit = |limit: &nvtxCounterLimit_t| {
        // SAFETY:
        // - All members are 8 bytes that hold any value.
        let bits = unsafe { limit.u64 };
        match counter.limitType {
            NVTX_COUNTER_LIMIT_I64 => json!(bits.cast_signed()),
            NVTX_COUNTER_LIMIT_F64 => json!(f64::from_bits(bits)),
            _ => json!(bits),
        }
    };
    if counter.flags & NVTX_COUNTER_FLAG_LIMIT_MIN != 0 {
        line["min"] = limit(&counter.min);
    }
    if counter.flags & NVTX_COUNTER_FLAG_LIMIT_MAX != 0 {
        line["max"] = limit(&counter.max);
    }
    line
}
