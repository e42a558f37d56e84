//! Arguments: structs of any size, sizes that can't be, null, and memory that is gone after the call.

use std::ffi::CString;
use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;

/// A struct that a later version of the ABI made longer.
#[repr(C)]
struct Longer<T> {
    attr: T,
    more: [u64; 4],
}

fn longer<T>(attr: T) -> Longer<T> {
    Longer {
        attr,
        more: [u64::MAX; 4],
    }
}

#[test]
fn sized_structs_may_be_longer_than_ours() {
    let program = Program::new();
    // What the size says beyond our struct is not looked at, nor must it be there.
    for size in [size_of::<Longer<nvtxCounterAttr_t>>(), usize::MAX] {
        let attr = longer(nvtxwSessionAttributes_t {
            structSize: size,
            name: c"run".as_ptr(),
            configString: c"a=1".as_ptr(),
        });
        let session = program.begin_with(&attr.attr).expect("a session");
        assert_eq!(program.journal.take(), ["begin run a=1"]);

        let attr = longer(nvtxwDomainAttributes_t {
            structSize: size,
            name: c"sim".as_ptr(),
        });
        let mut domain = ptr::null_mut();
        member!(program, DomainRegister(session, &attr.attr, &mut domain)).expect("a domain");
        assert_eq!(program.domain(session, Some(c"sim")), Ok(domain));

        let attr = longer(nvtxScopeAttr_t {
            structSize: size,
            path: c"GPU[0]".as_ptr(),
            parentScope: NVTX_SCOPE_ROOT,
            scopeId: 0,
        });
        let mut scope = 0;
        member!(program, ScopeRegister(domain, &attr.attr, &mut scope)).expect("a scope");

        let attr = longer(nvtxCounterAttr_t {
            structSize: size,
            description: c"long".as_ptr(),
            scopeId: scope,
            ..counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
        });
        let counter = program.counter(domain, &attr.attr).expect("a counter");

        let attr = longer(nvtxwStreamAttributes_t {
            structSize: size,
            scopeId: scope,
            ..stream_attr(c"gpu", domain)
        });
        program.open_with(session, &attr.attr).expect("a stream");
        assert_eq!(program.journal.stream().scope().id(), scope);
        let counter = program.journal.domain().counter(counter);
        let counter = counter.expect("it is registered");
        assert_eq!(
            (counter.description(), counter.scope().id()),
            (Some("long"), scope)
        );

        let attr = longer(nvtxResourceAttributes_t {
            version: NVTX_VERSION,
            size: u16::try_from(size).unwrap_or(u16::MAX),
            identifierType: NVTX_RESOURCE_TYPE_GENERIC_HANDLE,
            identifier: nvtxResourceIdentifier_t { ullValue: 42 },
            messageType: NVTX_MESSAGE_TYPE_ASCII,
            message: nvtxMessageValue_t {
                ascii: c"mutex".as_ptr(),
            },
        });
        member!(program, ResourceRegister(domain, &attr.attr)).expect("registered");
        let resources = program.journal.domain().resources();
        assert_eq!(resources[0].name(), Some("mutex"));
        program.end(session).expect("ended");
        program.journal.take();
    }
}

#[test]
fn sized_structs_may_be_shorter_than_ours() {
    let program = Program::new();
    let (_, domain, _) = program.ready();
    // Up to the path: no parent, and no ID of its own.
    let attr = nvtxScopeAttr_t {
        structSize: 16,
        path: c"here".as_ptr(),
        parentScope: 0xDEAD,
        scopeId: 0xDEAD,
    };
    let mut scope = 0;
    member!(program, ScopeRegister(domain, &attr, &mut scope)).expect("a scope");
    let scope = program.journal.domain().scope(scope).expect("registered");
    assert_eq!(scope.path()[0].name(), "here");
    assert!(scope.id() >= 1 << 32);
    for size in [0, 7] {
        let attr = nvtxScopeAttr_t {
            structSize: size,
            ..attr
        };
        assert_invalid(
            member!(program, ScopeRegister(domain, &attr, &mut 0)),
            &format!(
                "ScopeRegister on \"\": attr.structSize is {size}; at least 8 bytes are needed: set it to the size of the struct"
            ),
        );
    }
}

#[test]
fn sizes_and_counts_that_can_not_be() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mark = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()).flags;
    let mark = program
        .schema(domain, &schema_attr(mark, &mark_entries()))
        .expect("a schema");
    let counter = program
        .counter(domain, &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64))
        .expect("a counter");
    let bytes = bytes![1_i64];
    let too_large = |member: &str, argument: &str, size: usize| {
        format!("{member} on \"gpu\": {argument} is {size}, more than the address space holds")
    };
    let too_many = |call: &str, argument: &str| {
        format!(
            "{call}: {argument} is {}; at most 1048576 are taken",
            usize::MAX
        )
    };
    for size in [usize::MAX, isize::MAX as usize + 1] {
        let data = bytes.as_ptr().cast();
        assert_invalid(
            member!(program, CounterWrite(stream, 0, counter, data, size)),
            &too_large("CounterWrite", "size", size),
        );
        let attr = nvtxCounterBatch_t {
            countersSize: size,
            ..counter_batch(counter, &bytes, Some(&[1]))
        };
        assert_invalid(
            program.write_counters(stream, &attr),
            &too_large("CounterBatchWrite", "countersSize", size),
        );
        let attr = nvtxCounterBatch_t {
            timestampsSize: size,
            ..counter_batch(counter, &bytes, Some(&[1]))
        };
        assert_invalid(
            program.write_counters(stream, &attr),
            &too_large("CounterBatchWrite", "timestampsSize", size),
        );
        let attr = nvtxEventBatch_t {
            size,
            ..batch(mark, &bytes)
        };
        assert_invalid(
            program.write_batch(stream, &attr),
            &too_large("EventBatchWrite", "size", size),
        );
    }
    let entries = mark_entries();
    let attr = nvtxPayloadSchemaAttr_t {
        numEntries: usize::MAX,
        ..schema_attr(0, &entries)
    };
    assert_invalid(
        program.schema(domain, &attr),
        &too_many("SchemaRegister on \"\"", "attr.numEntries"),
    );
    let entries = [enum_entry(c"x", 1)];
    let attr = nvtxPayloadEnumAttr_t {
        numEntries: usize::MAX,
        ..enum_attr(&entries, 4)
    };
    assert_invalid(
        program.enumeration(domain, &attr),
        &too_many("EnumRegister on \"\"", "attr.numEntries"),
    );
    let points = [nvtxSyncPoint_t { src: 0, dst: 0 }];
    let points = points.as_ptr();
    assert_invalid(
        member!(
            program,
            TimeSyncPointTableWrite(stream, 10, 14, points, usize::MAX)
        ),
        &too_many("TimeSyncPointTableWrite on \"gpu\"", "count"),
    );
    let one = payload(mark, &bytes);
    assert_invalid(
        member!(program, EventWrite(stream, &one, usize::MAX)),
        &too_many("EventWrite on \"gpu\"", "payloadCount"),
    );
    assert_eq!(program.journal.take(), [""; 0]);
}

#[test]
fn null_is_fine_where_there_is_nothing() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mark = program.mark(domain);
    let counter = program
        .counter(domain, &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64))
        .expect("a counter");
    let no_events = nvtxEventBatch_t {
        events: ptr::null(),
        ..batch(mark, &[])
    };
    program
        .write_batch(stream, &no_events)
        .expect("nothing to do");
    let no_samples = nvtxCounterBatch_t {
        counters: ptr::null(),
        ..counter_batch(counter, &[], Some(&[]))
    };
    program
        .write_counters(stream, &no_samples)
        .expect("nothing to do");
    member!(
        program,
        TimeSyncPointTableWrite(stream, 10, 14, ptr::null(), 0)
    )
    .expect("nothing to do");
    let no_values = nvtxPayloadEnumAttr_t {
        entries: ptr::null(),
        ..enum_attr(&[], 4)
    };
    program.enumeration(domain, &no_values).expect("an enum");
    // An event without payloads and a schema without entries are none, null or not.
    let no_entries = nvtxPayloadSchemaAttr_t {
        entries: ptr::null(),
        ..schema_attr(0, &[])
    };
    assert_invalid(
        program.schema(domain, &no_entries),
        "SchemaRegister on \"\": attr.numEntries is 0; a schema has at least one entry",
    );
    assert_invalid(
        member!(program, EventWrite(stream, ptr::null(), 0)),
        "EventWrite on \"gpu\": no payload has an event role: there is none; an event has exactly one",
    );
    // A payload of no bytes may be anywhere.
    let nothing = nvtxPayloadData_t {
        payload: ptr::null(),
        ..payload(mark, &[])
    };
    program
        .write(stream, &[nothing, payload(mark, &bytes![1_i64])])
        .expect("written");
    assert_eq!(program.journal.take(), ["mark @1"]);
}

/// All of the arguments is in memory of its own, which is freed after the call.
#[test]
fn nothing_of_the_arguments_is_needed_after_the_call() {
    fn text(text: &str) -> CString {
        CString::new(text).expect("no null")
    }

    let program = Program::new();
    let session = {
        let (name, config) = (text("run"), text("path=x"));
        let attr = Box::new(nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: name.as_ptr(),
            configString: config.as_ptr(),
        });
        program.begin_with(&attr).expect("a session")
    };
    let domain = program
        .domain(session, Some(&text("sim")))
        .expect("a domain");
    let string = number(program.string(domain, &text("gemm")).expect("a string"));
    member!(program, CategoryRegister(domain, 7, text("io").as_ptr())).expect("named");
    let scope = program
        .scope(domain, NVTX_SCOPE_ROOT, Some(&text("GPU[0]")), 0)
        .expect("a scope");
    let enumeration = {
        let name = text("red");
        let entries = vec![nvtxPayloadEnum_t {
            name: name.as_ptr(),
            value: 1,
            isFlag: 0,
        }];
        let enum_name = text("Color");
        let attr = Box::new(nvtxPayloadEnumAttr_t {
            name: enum_name.as_ptr(),
            ..enum_attr(&entries, 4)
        });
        program.enumeration(domain, &attr).expect("an enum")
    };
    let schema = {
        let (unit, name, description) = (text("bytes"), text("color"), text("what colour"));
        let semantics = Box::new(nvtxSemanticsCorrelation_t {
            header: nvtxSemanticsHeader_t {
                structSize: size_of::<nvtxSemanticsCorrelation_t>() as u32,
                semanticId: NVTX_SEMANTIC_ID_CORRELATION_V1,
                version: 1,
                next: ptr::null(),
            },
            correlationDomainUuid: [7; 16],
            displayName: unit.as_ptr(),
            role: 0,
        });
        let color = nvtxPayloadSchemaEntry_t {
            name: name.as_ptr(),
            description: description.as_ptr(),
            semantics: &raw const semantics.header,
            ..entry(0, enumeration, c"")
        };
        let entries = vec![mark_entries()[0], color];
        let schema_name = text("Mark");
        let attr = Box::new(nvtxPayloadSchemaAttr_t {
            fieldMask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | schema_attr(0, &[]).fieldMask,
            name: schema_name.as_ptr(),
            ..schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries)
        });
        program.schema(domain, &attr).expect("a schema")
    };
    let counter = {
        let (name, description) = (text("memory"), text("in use"));
        let attr = Box::new(nvtxCounterAttr_t {
            name: name.as_ptr(),
            description: description.as_ptr(),
            ..counter_attr(c"", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
        });
        program.counter(domain, &attr).expect("a counter")
    };
    let stream = {
        let name = text("gpu");
        let attr = Box::new(nvtxwStreamAttributes_t {
            name: name.as_ptr(),
            ..stream_attr(c"", domain)
        });
        program.open_with(session, &attr).expect("a stream")
    };

    let seen = program.journal.domain();
    assert_eq!(seen.name(), Some("sim"));
    assert_eq!(seen.string(string), Some("gemm"));
    assert_eq!(seen.category(7).as_deref(), Some("io"));
    let scope = seen.scope(scope).expect("registered");
    assert_eq!(scope.path()[0].to_string(), "GPU[0]");
    let schema_seen = seen.schema(schema).expect("registered");
    assert_eq!(schema_seen.name(), Some("Mark"));
    let color = &schema_seen.fields()[1];
    assert_eq!(
        (color.name(), color.description()),
        ("color", Some("what colour"))
    );
    let correlation = color.correlation().expect("a correlation");
    assert_eq!(correlation.name(), Some("bytes"));
    let counter = seen.counter(counter).expect("registered");
    assert_eq!(
        (counter.name(), counter.description()),
        ("memory", Some("in use"))
    );
    program
        .write(stream, &[payload(schema, &bytes![1_i64, 1_u32, 0_u32])])
        .expect("written");
    program.close(stream).expect("closed");
    assert_eq!(
        program.journal.take()[..3],
        ["begin run path=x", "open gpu", "mark @1 {color: red}"]
    );
}
