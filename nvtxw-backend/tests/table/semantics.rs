//! Semantics of entries.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{Interpolation, Limit, ValueType};

use crate::program::*;
use crate::registered::{assert_schema_invalid, register};

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;

/// A node of semantics of an unknown kind.
#[repr(C)]
struct Unknown {
    header: nvtxSemanticsHeader_t,
    rest: [u64; 3],
}

fn header<T>(id: u16, next: *const nvtxSemanticsHeader_t) -> nvtxSemanticsHeader_t {
    nvtxSemanticsHeader_t {
        structSize: size_of::<T>() as u32,
        semanticId: id,
        version: 1,
        next,
    }
}

fn counter_semantics(flags: u64) -> nvtxSemanticsCounter_t {
    nvtxSemanticsCounter_t {
        header: header::<nvtxSemanticsCounter_t>(NVTX_SEMANTIC_ID_COUNTERS_V1, ptr::null()),
        flags,
        unit: c"bytes".as_ptr(),
        unitScaleNumerator: 1024,
        unitScaleDenominator: 0,
        limitType: 0x7777,
        min: nvtxCounterLimit_t { u64: 0xDEAD },
        max: nvtxCounterLimit_t { f64: 0.5 },
    }
}

fn with_semantics(node: &nvtxSemanticsHeader_t) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        semantics: node,
        ..entry(0, U64, c"x")
    }
}

#[test]
fn semantics_are_read_from_the_list() {
    let counter = nvtxSemanticsCounter_t {
        limitType: NVTX_COUNTER_LIMIT_F64,
        ..counter_semantics(
            NVTX_COUNTER_FLAG_LIMIT_MAX
                | NVTX_COUNTER_FLAG_NORMALIZE
                | NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START
                | NVTX_COUNTER_FLAG_INTERPOLATION_UNTIL_NEXT,
        )
    };
    let unknown = Unknown {
        header: header::<Unknown>(77, &counter.header),
        rest: [u64::MAX; 3],
    };
    let correlation = nvtxSemanticsCorrelation_t {
        header: header::<nvtxSemanticsCorrelation_t>(
            NVTX_SEMANTIC_ID_CORRELATION_V1,
            &unknown.header,
        ),
        correlationDomainUuid: *b"0123456789abcdef",
        displayName: c"launch".as_ptr(),
        role: 0,
    };
    let schema =
        register(&schema_attr(0, &[with_semantics(&correlation.header)])).expect("a schema");
    let correlation = schema.fields()[0].correlation().expect("a correlation");
    assert_eq!(
        (correlation.domain(), correlation.name()),
        (*b"0123456789abcdef", Some("launch"))
    );
    let counter = schema.fields()[0]
        .counter_semantics()
        .expect("counter semantics");
    assert_eq!(
        (counter.unit(), counter.scale()),
        (Some("bytes"), (1024, 1))
    );
    assert_eq!(
        (counter.min(), counter.max()),
        (None, Some(Limit::F64(0.5))),
        "without its flag a limit is not read"
    );
    assert_eq!(counter.interpolation(), Some(Interpolation::UntilNext));
    assert_eq!(counter.value_type(), Some(ValueType::DeltaSinceStart));
    assert!(counter.normalize());

    // Garbage in the limits and their type, with no flag that says they are set.
    let plain = counter_semantics(0);
    let schema = register(&schema_attr(0, &[with_semantics(&plain.header)])).expect("a schema");
    let counter = schema.fields()[0]
        .counter_semantics()
        .expect("counter semantics");
    assert_eq!(
        (
            counter.min(),
            counter.max(),
            counter.interpolation(),
            counter.value_type()
        ),
        (None, None, None, None)
    );

    // An older node ends after the unit.
    let mut short = counter_semantics(0);
    short.header.structSize = 32;
    let schema = register(&schema_attr(0, &[with_semantics(&short.header)])).expect("a schema");
    let counter = schema.fields()[0]
        .counter_semantics()
        .expect("counter semantics");
    assert_eq!((counter.unit(), counter.scale()), (Some("bytes"), (1, 1)));

    // Half a pointer to the unit is none.
    short.header.structSize = 28;
    let schema = register(&schema_attr(0, &[with_semantics(&short.header)])).expect("a schema");
    let counter = schema.fields()[0].counter_semantics();
    assert_eq!(counter.expect("counter semantics").unit(), None);
}

#[test]
fn bad_semantics_are_refused() {
    let mut small = counter_semantics(0);
    small.header.structSize = 15;
    let untyped = counter_semantics(NVTX_COUNTER_FLAG_LIMIT_MIN);
    let mut cut = counter_semantics(NVTX_COUNTER_FLAG_LIMIT_MIN);
    cut.header.structSize = 56;
    let mut ring = Unknown {
        header: header::<Unknown>(77, ptr::null()),
        rest: [0; 3],
    };
    ring.header.next = &raw const ring.header;
    let scope = nvtxSemanticsScope_t {
        header: header::<nvtxSemanticsScope_t>(NVTX_SEMANTIC_ID_SCOPE_V1, ptr::null()),
        scopeId: 77,
    };
    for (node, reason) in [
        (
            &small.header,
            "semantics.structSize is 15; a node has at least 16 bytes",
        ),
        (
            &untyped.header,
            "semantics.flags promise a minimum, but limitType is 30583; the ABI defines 1 to 3",
        ),
        (
            &cut.header,
            "semantics.flags promise a minimum, but structSize 56 ends before it",
        ),
        (
            &ring.header,
            "semantics: the list has more than 64 nodes; does it lead back into itself?",
        ),
        (
            &scope.header,
            "the scope semantics name 77, which is neither predefined nor registered in the domain",
        ),
    ] {
        assert_schema_invalid(
            &schema_attr(0, &[with_semantics(node)]),
            &format!("entry 0 `x`: {reason}"),
        );
    }
    let time = nvtxSemanticsTime_t {
        header: header::<nvtxSemanticsTime_t>(NVTX_SEMANTIC_ID_TIME_V1, ptr::null()),
        timeDomainId: 9,
    };
    let begin = nvtxPayloadSchemaEntry_t {
        semantics: &time.header,
        ..entry(BEGIN_TIME, INT64, c"start")
    };
    let end = nvtxPayloadSchemaEntry_t {
        semantics: &time.header,
        ..entry(END_TIME, INT64, c"end")
    };
    assert_schema_invalid(
        &schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP, &[begin, end]),
        "entry 0 `start`: the time semantics name 9, which is neither a timestamp type nor a time domain of the domain",
    );
}
