//! What is registered in one domain is unknown in all others, and gone with its session.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;

/// A domain in which everything is registered, under static IDs.
struct Registered {
    domain: Domain,
    string: u64,
}

const SCHEMA: u64 = 1 << 24;
const ENUM: u64 = SCHEMA + 1;
const SCOPE: u64 = 1 << 25;
const COUNTER: u64 = 1 << 26;
const CLOCK: u64 = 1 << 27;

fn fill(program: &Program, domain: Domain) -> Registered {
    let mark = [
        mark_entries()[0],
        entry(0, STRING, c"string"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
    ];
    let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark);
    (program.schema(domain, &with_id(SCHEMA, mark))).expect("a schema");
    let attr = enum_attr(&[], 4);
    let attr = nvtxPayloadEnumAttr_t {
        fieldMask: attr.fieldMask | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
        schemaId: ENUM,
        ..attr
    };
    program.enumeration(domain, &attr).expect("an enum");
    (program.scope(domain, NVTX_SCOPE_ROOT, Some(c"here"), SCOPE)).expect("a scope");
    let attr = nvtxCounterAttr_t {
        counterId: COUNTER,
        ..counter_attr(c"n", INT64)
    };
    program.counter(domain, &attr).expect("a counter");
    let attr = nvtxTimeDomainAttr_t {
        scopeId: NVTX_SCOPE_NONE,
        timestampTypeId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
        timeDomainId: CLOCK,
        timerFlags: 0,
        timerResolution: 0,
        timerStart: 0,
    };
    member!(program, TimeDomainRegister(domain, &attr, ptr::null_mut())).expect("a time domain");
    let string = program.string(domain, c"gemm").expect("a string");
    Registered {
        domain,
        string: number(string),
    }
}

#[test]
fn another_domain_knows_nothing_of_it() {
    let program = Program::new();
    let session = program.begin(c"run");
    let full = program.domain(session, Some(c"full")).expect("a domain");
    let full = fill(&program, full);
    let empty = program.domain(session, Some(c"empty")).expect("a domain");
    let stream = program.open(session, c"gpu", empty);
    let event = bytes![1_i64, 0_u64, 0_u64];
    let schema = format!(
        "{SCHEMA} is no schema of the stream's domain: register it there, and use the ID it gets"
    );
    assert_invalid(
        program.write(stream, &[payload(SCHEMA, &event)]),
        &format!("EventWrite on \"gpu\": payload 0: {schema}"),
    );
    assert_invalid(
        program.write_batch(stream, &batch(SCHEMA, &event)),
        &format!("EventBatchWrite on \"gpu\": eventSchemaId: {schema}"),
    );
    assert_invalid(
        program.write_counter(stream, 1, COUNTER, &bytes![1_i64]),
        &format!(
            "CounterWrite on \"gpu\": counterId {COUNTER} is no counter of the stream's domain: register it there, and use the \
             ID it gets"
        ),
    );
    assert_invalid(
        member!(program, TimeSyncPointWrite(stream, CLOCK, 10, 1, 2)),
        &format!(
            "TimeSyncPointWrite on \"gpu\": {CLOCK} is neither a timestamp type nor a time domain of the stream's domain: \
             register it there"
        ),
    );
    for ty in [SCHEMA, ENUM] {
        assert_invalid(
            program.schema(empty, &schema_attr(0, &[entry(0, ty, c"x")])),
            &format!(
                "SchemaRegister on \"empty\": entry 0 `x`: the type {ty} is no schema or enum of the domain: register it first"
            ),
        );
    }
    assert_invalid(
        program.scope(empty, SCOPE, Some(c"x"), 0),
        &format!(
            "ScopeRegister on \"empty\": attr.parentScope {SCOPE} is not registered in the domain: register it first"
        ),
    );
    for attr in [
        nvtxwStreamAttributes_t {
            scopeId: SCOPE,
            ..stream_attr(c"other", empty)
        },
        nvtxwStreamAttributes_t {
            timeDomainId: CLOCK,
            ..stream_attr(c"other", empty)
        },
    ] {
        program
            .open_with(session, &attr)
            .expect_err("unknown there");
    }
    // The same IDs in that domain are others; of strings there is no second.
    let other = fill(&program, empty);
    assert_ne!(other.string, full.string);
    program
        .write(
            stream,
            &[payload(SCHEMA, &bytes![1_i64, other.string, SCOPE])],
        )
        .expect("written");
    assert_invalid(
        program.write(
            stream,
            &[payload(SCHEMA, &bytes![1_i64, full.string, SCOPE])],
        ),
        &format!(
            "EventWrite on \"gpu\": `string` is {:#x}, which is no string of the stream's domain: register it there",
            full.string
        ),
    );
    assert_ne!(full.domain, other.domain);
}

#[test]
fn the_end_of_a_session_is_that_of_its_handles() {
    let program = Program::new();
    let (session, domain, _) = program.ready();
    let old = fill(&program, domain);
    program.end(session).expect("ended");

    let (_, domain, stream) = program.ready();
    let new = fill(&program, domain);
    assert_ne!(old.string, new.string);
    assert_ne!(old.domain, new.domain);
    assert_invalid(
        program.write(
            stream,
            &[payload(SCHEMA, &bytes![1_i64, old.string, 0_u64])],
        ),
        &format!(
            "EventWrite on \"gpu\": `string` is {:#x}, which is no string of the stream's domain: register it there",
            old.string
        ),
    );
    program
        .string(old.domain, c"late")
        .expect_err("its session has ended");
}
