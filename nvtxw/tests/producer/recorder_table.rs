//! The recorder's function table.

use std::ffi::{CStr, c_char, c_void};

use nvtxw::abi::raw::*;

use crate::recorder::{
    Call, Counter, Entry, Payload, ResourceName, Schema, Semantics, Stream, TimeDomain, answer_of,
    keep_flex, next, record,
};

/// The recorder's functions.
pub static TABLE: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
    SessionBegin: Some(session_begin),
    SessionEnd: Some(session_end),
    DomainRegister: Some(domain_register),
    CategoryRegister: Some(category_register),
    StringRegister: Some(string_register),
    ResourceRegister: Some(resource_register),
    ScopeRegister: Some(scope_register),
    SchemaRegister: Some(schema_register),
    EnumRegister: Some(enum_register),
    CounterRegister: Some(counter_register),
    TimeDomainRegister: Some(time_domain_register),
    StreamOpen: Some(stream_open),
    StreamClose: Some(stream_close),
    EventWrite: Some(event_write),
    EventBatchWrite: Some(event_batch_write),
    CounterWrite: Some(counter_write),
    CounterNoValueWrite: Some(counter_no_value_write),
    CounterBatchWrite: Some(counter_batch_write),
    TimeSyncPointWrite: Some(time_sync_point_write),
    TimeSyncPointTableWrite: Some(time_sync_point_table_write),
    TimestampConversionFactorWrite: Some(timestamp_conversion_factor_write),
    reserved: [None; 43],
};

fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY:
    // - The ABI says that text is null or null-terminated, and valid through the call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_str().expect("UTF-8").to_owned())
}

fn name(name: *const c_char) -> String {
    text(name).expect("a name")
}

fn bytes(data: *const c_void, size: usize) -> Vec<u8> {
    slice(data.cast::<u8>(), size).to_vec()
}

fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if data.is_null() {
        assert_eq!(len, 0, "a null pointer with a length");
        return &[];
    }
    assert!(data.is_aligned());
    // SAFETY:
    // - The ABI says that the data is there, `len` items, through the call; the result is not kept longer.
    unsafe { std::slice::from_raw_parts(data, len) }
}

fn get<'a, T>(data: *const T) -> &'a T {
    assert!(!data.is_null() && data.is_aligned());
    // SAFETY:
    // - The ABI says that the struct is there through the call; the result is not kept longer.
    unsafe { &*data }
}

fn give<T>(out: *mut T, value: T) {
    assert!(!out.is_null() && out.is_aligned());
    // SAFETY:
    // - The ABI says that the place is there through the call.
    unsafe { out.write(value) }
}

/// The static ID, or one that a backend picks.
fn given_or_next(static_id: u64) -> u64 {
    if static_id == 0 {
        next() as u64
    } else {
        static_id
    }
}

fn semantics(mut header: *const nvtxSemanticsHeader_t) -> Vec<Semantics> {
    let mut all = Vec::new();
    while !header.is_null() {
        let head = get(header);
        all.push(match head.semanticId {
            NVTX_SEMANTIC_ID_COUNTERS_V1 => {
                let counter = get(header.cast::<nvtxSemanticsCounter_t>());
                // SAFETY:
                // - All members are 8 bytes that hold any value.
                let min = unsafe { counter.min.u64 };
                // SAFETY:
                // - As above.
                let max = unsafe { counter.max.u64 };
                Semantics::Counter {
                    struct_size: head.structSize,
                    version: head.version,
                    flags: counter.flags,
                    unit: text(counter.unit),
                    scale: (counter.unitScaleNumerator, counter.unitScaleDenominator),
                    limit_type: counter.limitType,
                    min,
                    max,
                }
            }
            NVTX_SEMANTIC_ID_CORRELATION_V1 => {
                let correlation = get(header.cast::<nvtxSemanticsCorrelation_t>());
                Semantics::Correlation {
                    struct_size: head.structSize,
                    version: head.version,
                    uuid: correlation.correlationDomainUuid,
                    name: text(correlation.displayName),
                    role: correlation.role,
                }
            }
            NVTX_SEMANTIC_ID_TIME_V1 => {
                let time = get(header.cast::<nvtxSemanticsTime_t>());
                Semantics::Time {
                    struct_size: head.structSize,
                    version: head.version,
                    time_domain: time.timeDomainId,
                }
            }
            id => panic!("semantics {id}"),
        });
        header = head.next;
    }
    all
}

pub unsafe extern "C" fn session_begin(
    attr: *const nvtxwSessionAttributes_t,
    out: *mut nvtxwSessionHandle_t,
) -> i32 {
    let attr = get(attr);
    let session = next();
    record(Call::SessionBegin {
        struct_size: attr.structSize,
        name: name(attr.name),
        config: text(attr.configString),
        out: session,
    });
    give(out, std::ptr::without_provenance_mut(session));
    answer_of("SessionBegin")
}

pub unsafe extern "C" fn session_end(session: nvtxwSessionHandle_t) -> i32 {
    record(Call::SessionEnd {
        session: session.addr(),
    });
    answer_of("SessionEnd")
}

unsafe extern "C" fn domain_register(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwDomainAttributes_t,
    out: *mut nvtxDomainHandle_t,
) -> i32 {
    let attr = get(attr);
    let domain = next();
    record(Call::Domain {
        session: session.addr(),
        struct_size: attr.structSize,
        name: text(attr.name),
        out: domain,
    });
    give(out, std::ptr::without_provenance_mut(domain));
    answer_of("DomainRegister")
}

unsafe extern "C" fn category_register(
    domain: nvtxDomainHandle_t,
    id: u32,
    text: *const c_char,
) -> i32 {
    record(Call::Category {
        domain: domain.addr(),
        id,
        name: name(text),
    });
    answer_of("CategoryRegister")
}

unsafe extern "C" fn string_register(
    domain: nvtxDomainHandle_t,
    text: *const c_char,
    out: *mut nvtxStringHandle_t,
) -> i32 {
    let string = if answer_of("null string") == 0 {
        next()
    } else {
        0
    };
    record(Call::String {
        domain: domain.addr(),
        text: name(text),
        out: string,
    });
    give(out, std::ptr::without_provenance_mut(string));
    answer_of("StringRegister")
}

unsafe extern "C" fn scope_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxScopeAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let scope = given_or_next(attr.scopeId);
    record(Call::Scope {
        domain: domain.addr(),
        struct_size: attr.structSize,
        path: name(attr.path),
        parent: attr.parentScope,
        static_id: attr.scopeId,
        out: scope,
    });
    give(out, scope);
    answer_of("ScopeRegister")
}

unsafe extern "C" fn schema_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadSchemaAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let entries = slice(attr.entries, attr.numEntries)
        .iter()
        .map(|entry| {
            assert!(entry.reserved.is_null());
            Entry {
                flags: entry.flags,
                ty: entry.r#type,
                name: name(entry.name),
                description: text(entry.description),
                detail: entry.arrayOrUnionDetail,
                offset: entry.offset,
                semantics: semantics(entry.semantics),
            }
        })
        .collect();
    let schema = Schema {
        mask: attr.fieldMask,
        name: text(attr.name),
        ty: attr.r#type,
        flags: attr.flags,
        size: attr.payloadStaticSize,
        pack_align: attr.packAlign,
        static_id: attr.schemaId,
        entries,
    };
    let id = given_or_next(attr.schemaId);
    let dynamic = schema.ty == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    record(Call::Schema {
        domain: domain.addr(),
        schema,
        out: id,
    });
    give(out, id);
    if dynamic {
        answer_of("dynamic schema")
    } else {
        answer_of("SchemaRegister")
    }
}

unsafe extern "C" fn enum_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadEnumAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = given_or_next(attr.schemaId);
    record(Call::Enum {
        domain: domain.addr(),
        mask: attr.fieldMask,
        name: name(attr.name),
        size: attr.sizeOfEnum,
        values: slice(attr.entries, attr.numEntries)
            .iter()
            .map(|value| (name(value.name), value.value, value.isFlag))
            .collect(),
        static_id: attr.schemaId,
        out: id,
    });
    give(out, id);
    answer_of("EnumRegister")
}

unsafe extern "C" fn counter_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxCounterAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = given_or_next(attr.counterId);
    let counter = Counter {
        struct_size: attr.structSize,
        schema: attr.schemaId,
        name: name(attr.name),
        description: text(attr.description),
        scope: attr.scopeId,
        static_id: attr.counterId,
        semantics: semantics(attr.semantics),
    };
    record(Call::Counter {
        domain: domain.addr(),
        counter,
        out: id,
    });
    give(out, id);
    answer_of("CounterRegister")
}

unsafe extern "C" fn stream_open(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwStreamAttributes_t,
    out: *mut nvtxwStreamHandle_t,
) -> i32 {
    let attr = get(attr);
    let id = next();
    let stream = Stream {
        struct_size: attr.structSize,
        name: name(attr.name),
        domain: attr.domain.addr(),
        scope: attr.scopeId,
        time_domain: attr.timeDomainId,
        interleaving: attr.orderInterleaving,
        ordering: attr.orderingType,
        skid: attr.orderingSkid,
        skid_amount: attr.orderingSkidAmount,
    };
    record(Call::StreamOpen {
        session: session.addr(),
        stream,
        out: id,
    });
    give(out, std::ptr::without_provenance_mut(id));
    answer_of("StreamOpen")
}

unsafe extern "C" fn stream_close(stream: nvtxwStreamHandle_t) -> i32 {
    record(Call::StreamClose {
        stream: stream.addr(),
    });
    answer_of("StreamClose")
}

unsafe extern "C" fn event_write(
    stream: nvtxwStreamHandle_t,
    payloads: *const nvtxPayloadData_t,
    count: usize,
) -> i32 {
    let payloads = slice(payloads, count)
        .iter()
        .map(|payload| Payload {
            schema: payload.schemaId,
            address: payload.payload.addr(),
            bytes: bytes(payload.payload, payload.size),
        })
        .collect();
    record(Call::Event {
        stream: stream.addr(),
        payloads,
    });
    answer_of("EventWrite")
}

unsafe extern "C" fn event_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxEventBatch_t,
) -> i32 {
    let batch = get(batch);
    keep_flex(bytes(batch.flexData, batch.flexDataSize));
    record(Call::Batch {
        stream: stream.addr(),
        schema: batch.eventSchemaId,
        address: batch.events.addr(),
        bytes: bytes(batch.events, batch.size),
        scope: batch.scope,
        flags: batch.flags,
        flex: (
            batch.flexData.addr(),
            batch.flexDataSize,
            batch.flexDataOffset,
        ),
    });
    answer_of("EventBatchWrite")
}

unsafe extern "C" fn counter_write(
    stream: nvtxwStreamHandle_t,
    time: i64,
    counter: u64,
    data: *const c_void,
    size: usize,
) -> i32 {
    record(Call::Sample {
        stream: stream.addr(),
        time,
        counter,
        bytes: bytes(data, size),
    });
    answer_of("CounterWrite")
}

unsafe extern "C" fn counter_no_value_write(
    stream: nvtxwStreamHandle_t,
    time: i64,
    counter: u64,
    reason: u8,
) -> i32 {
    record(Call::NoValue {
        stream: stream.addr(),
        time,
        counter,
        reason,
    });
    answer_of("CounterNoValueWrite")
}

unsafe extern "C" fn counter_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxCounterBatch_t,
) -> i32 {
    let batch = get(batch);
    record(Call::Samples {
        stream: stream.addr(),
        counter: batch.counterId,
        address: batch.counters.addr(),
        bytes: bytes(batch.counters, batch.countersSize),
        flags: batch.flags,
        times_address: batch.timestamps.addr(),
        times: slice(batch.timestamps, batch.timestampsSize / 8).to_vec(),
    });
    assert_eq!(batch.timestampsSize % 8, 0);
    answer_of("CounterBatchWrite")
}

unsafe extern "C" fn resource_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxResourceAttributes_t,
) -> i32 {
    let attr = get(attr);
    // SAFETY:
    // - Both members are 8 bytes, and a pointer's are initialised too.
    let identifier = unsafe { attr.identifier.ullValue };
    let name = if attr.messageType == NVTX_MESSAGE_TYPE_ASCII {
        // SAFETY:
        // - The type says which member is set.
        ResourceName::Ascii(name(unsafe { attr.message.ascii }))
    } else {
        assert_eq!(attr.messageType, NVTX_MESSAGE_TYPE_REGISTERED);
        // SAFETY:
        // - The type says which member is set.
        ResourceName::Registered(unsafe { attr.message.registered }.addr())
    };
    record(Call::Resource {
        domain: domain.addr(),
        version: attr.version,
        struct_size: attr.size,
        identifier_type: attr.identifierType,
        identifier,
        name,
    });
    answer_of("ResourceRegister")
}

unsafe extern "C" fn time_domain_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxTimeDomainAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = given_or_next(attr.timeDomainId);
    record(Call::TimeDomain {
        domain: domain.addr(),
        time_domain: TimeDomain {
            scope: attr.scopeId,
            clock: attr.timestampTypeId,
            static_id: attr.timeDomainId,
            flags: attr.timerFlags,
            resolution: attr.timerResolution,
            start: attr.timerStart,
        },
        out: id,
    });
    give(out, id);
    answer_of("TimeDomainRegister")
}

unsafe extern "C" fn time_sync_point_write(
    stream: nvtxwStreamHandle_t,
    one: u64,
    two: u64,
    time_one: i64,
    time_two: i64,
) -> i32 {
    record(Call::SyncPoint {
        stream: stream.addr(),
        domains: (one, two),
        times: (time_one, time_two),
    });
    answer_of("TimeSyncPointWrite")
}

unsafe extern "C" fn time_sync_point_table_write(
    stream: nvtxwStreamHandle_t,
    source: u64,
    destination: u64,
    points: *const nvtxSyncPoint_t,
    count: usize,
) -> i32 {
    record(Call::SyncPoints {
        stream: stream.addr(),
        domains: (source, destination),
        address: points.addr(),
        times: slice(points, count)
            .iter()
            .map(|point| (point.src, point.dst))
            .collect(),
    });
    answer_of("TimeSyncPointTableWrite")
}

unsafe extern "C" fn timestamp_conversion_factor_write(
    stream: nvtxwStreamHandle_t,
    source: u64,
    destination: u64,
    slope: f64,
    time_source: i64,
    time_destination: i64,
) -> i32 {
    record(Call::Conversion {
        stream: stream.addr(),
        domains: (source, destination),
        slope,
        times: (time_source, time_destination),
    });
    answer_of("TimestampConversionFactorWrite")
}
