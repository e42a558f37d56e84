//! The function table: each member writes down its call.

mod writes;

use std::ffi::c_char;

use nvtxw_abi::raw::*;
use serde_json::{Value, json};

use crate::read::{get, give, slice, text};
use crate::recording::{self, Counter, Domain, Entry, Object, Schema};
use crate::semantics::semantics;
use crate::symbol;

/// The recorder's functions: they never unwind, never follow a handle, and take calls from any thread.
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
    EventWrite: Some(writes::event_write),
    EventBatchWrite: Some(writes::event_batch_write),
    CounterWrite: Some(writes::counter_write),
    CounterNoValueWrite: Some(writes::counter_no_value_write),
    CounterBatchWrite: Some(writes::counter_batch_write),
    TimeSyncPointWrite: Some(writes::time_sync_point_write),
    TimeSyncPointTableWrite: Some(writes::time_sync_point_table_write),
    TimestampConversionFactorWrite: Some(writes::timestamp_conversion_factor_write),
    reserved: [None; 43],
};

/// The bits of an entry's flags that are numbers: array style, role, purpose.
const ENTRY_FIELDS: [u64; 3] = [7 << 4, 3 << 10, 7 << 12];
/// Those of a schema's: the role.
const SCHEMA_FIELDS: [u64; 1] = [15 << 3];

unsafe extern "C" fn session_begin(
    attr: *const nvtxwSessionAttributes_t,
    out: *mut nvtxwSessionHandle_t,
) -> i32 {
    let attr = get(attr);
    let name = text(attr.name).expect("SessionBegin: a null name");
    let line = json!({"call": "SessionBegin", "struct_size": attr.structSize, "name": name, "config": text(attr.configString)});
    give(
        out,
        std::ptr::without_provenance_mut(recording::begin(&name, line)),
    );
    NVTXW_RESULT_SUCCESS
}

unsafe extern "C" fn session_end(session: nvtxwSessionHandle_t) -> i32 {
    recording::end(session.addr())
}

unsafe extern "C" fn domain_register(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwDomainAttributes_t,
    out: *mut nvtxDomainHandle_t,
) -> i32 {
    let attr = get(attr);
    let domain = recording::session(session.addr(), |found| {
        let name = text(attr.name);
        found.line(json!({"call": "DomainRegister", "struct_size": attr.structSize, "name": name}));
        found.enter_domain(session.addr(), &name.unwrap_or_default())
    });
    give(out, std::ptr::without_provenance_mut(domain));
    NVTXW_RESULT_SUCCESS
}

unsafe extern "C" fn category_register(
    domain: nvtxDomainHandle_t,
    category: u32,
    name: *const c_char,
) -> i32 {
    recording::domain(domain.addr(), |_| {
        (
            json!({"call": "CategoryRegister", "category": category, "name": text(name)}),
            NVTXW_RESULT_SUCCESS,
        )
    })
}

unsafe extern "C" fn string_register(
    domain: nvtxDomainHandle_t,
    string: *const c_char,
    out: *mut nvtxStringHandle_t,
) -> i32 {
    let handle = recording::domain(domain.addr(), |found| {
        let string = text(string).expect("StringRegister: a null string");
        let handle = found.enter_string(string.clone());
        (
            json!({"call": "StringRegister", "string": string, "handle": format!("{handle:#x}")}),
            handle,
        )
    });
    give(out, std::ptr::without_provenance_mut(handle));
    NVTXW_RESULT_SUCCESS
}

unsafe extern "C" fn resource_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxResourceAttributes_t,
) -> i32 {
    let attr = get(attr);
    recording::domain(domain.addr(), |domain| {
        // SAFETY:
        // - Both members are 8 bytes, and a number is any of them.
        let identifier = unsafe { attr.identifier.ullValue };
        let message = match attr.messageType {
            NVTX_MESSAGE_TYPE_ASCII => {
                // SAFETY:
                // - The type says that this member is set.
                json!(text(unsafe { attr.message.ascii }))
            }
            NVTX_MESSAGE_TYPE_REGISTERED => {
                // SAFETY:
                // - The type says that this member is set.
                domain.string(unsafe { attr.message.registered }.addr())
            }
            other => panic!("ResourceRegister: a message of type {other}"),
        };
        let line = json!({
            "call": "ResourceRegister",
            "version": attr.version,
            "struct_size": attr.size,
            "identifier_type": symbol::name("NVTX_RESOURCE_TYPE_", attr.identifierType),
            "identifier": identifier,
            "message_type": symbol::name("NVTX_MESSAGE_TYPE_", attr.messageType),
            "message": message,
        });
        (line, NVTXW_RESULT_SUCCESS)
    })
}

unsafe extern "C" fn scope_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxScopeAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = recording::domain(domain.addr(), |domain| {
        let (id, label) = recording::id(
            "scope",
            attr.scopeId,
            NVTX_SCOPE_ID_DYNAMIC_START,
            &domain.scopes,
        );
        let line = json!({
            "call": "ScopeRegister",
            "struct_size": attr.structSize,
            "path": text(attr.path),
            "parent": domain.scope(attr.parentScope),
            "id": label,
        });
        domain.scopes.insert(id, Object { label });
        (line, id)
    });
    give_id(out, id, attr.scopeId)
}

/// Gives an ID. Who picked it need not ask for it.
fn give_id(out: *mut u64, id: u64, own: u64) -> i32 {
    if own == 0 || !out.is_null() {
        give(out, id);
    }
    NVTXW_RESULT_SUCCESS
}

unsafe extern "C" fn schema_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadSchemaAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let has = |field| attr.fieldMask & field != 0;
    let own = if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) {
        attr.schemaId
    } else {
        0
    };
    assert!(
        has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE),
        "SchemaRegister: no type"
    );
    assert!(
        has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES),
        "SchemaRegister: no entries"
    );
    assert!(
        has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES),
        "SchemaRegister: no number of entries"
    );
    let entries = slice(attr.entries, attr.numEntries);
    let id = recording::domain(domain.addr(), |domain| {
        let (id, label) = recording::id(
            "schema",
            own,
            NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
            &domain.schemas,
        );
        let mut line = json!({
            "call": "SchemaRegister",
            "id": label,
            "mask": symbol::flags("NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_", &[], attr.fieldMask),
            "type": symbol::name("NVTX_PAYLOAD_SCHEMA_TYPE_", attr.r#type),
            "entries": entries.iter().map(|entry| entry_line(domain, entry)).collect::<Vec<_>>(),
        });
        if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) {
            line["name"] = json!(text(attr.name));
        }
        if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS) {
            line["flags"] = symbol::flags("NVTX_PAYLOAD_SCHEMA_FLAG_", &SCHEMA_FIELDS, attr.flags);
        }
        if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) {
            line["size"] = json!(attr.payloadStaticSize);
        }
        if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) {
            line["pack_align"] = json!(attr.packAlign);
        }
        let kept = entries.iter().map(|entry| Entry {
            flags: entry.flags,
            ty: entry.r#type,
            name: text(entry.name).unwrap_or_default(),
            detail: entry.arrayOrUnionDetail,
            offset: entry.offset,
        });
        let schema = Schema {
            label,
            is_static: attr.r#type == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC
                && has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE),
            size: if has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) {
                attr.payloadStaticSize
            } else {
                0
            },
            entries: Some(kept.collect()),
        };
        domain.schemas.insert(id, schema);
        (line, id)
    });
    give_id(out, id, own)
}

fn entry_line(domain: &Domain, entry: &nvtxPayloadSchemaEntry_t) -> Value {
    assert!(
        entry.reserved.is_null(),
        "SchemaRegister: a reserved field is set"
    );
    json!({
        "flags": symbol::flags("NVTX_PAYLOAD_ENTRY_FLAG_", &ENTRY_FIELDS, entry.flags),
        "type": domain.type_name(entry.r#type),
        "name": text(entry.name),
        "description": text(entry.description),
        "detail": entry.arrayOrUnionDetail,
        "offset": entry.offset,
        "semantics": semantics(domain, entry.semantics),
    })
}

unsafe extern "C" fn enum_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadEnumAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let has = |field| attr.fieldMask & field != 0;
    let own = if has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) {
        attr.schemaId
    } else {
        0
    };
    assert!(
        has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES),
        "EnumRegister: no entries"
    );
    assert!(
        has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES),
        "EnumRegister: no number of entries"
    );
    assert!(
        has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE),
        "EnumRegister: no size"
    );
    let id = recording::domain(domain.addr(), |domain| {
        let (id, label) = recording::id(
            "schema",
            own,
            NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START,
            &domain.schemas,
        );
        let values = slice(attr.entries, attr.numEntries);
        let values = values.iter().map(|value| json!({"name": text(value.name), "value": value.value, "is_flag": value.isFlag != 0}));
        let mut line = json!({
            "call": "EnumRegister",
            "id": label,
            "mask": symbol::flags("NVTX_PAYLOAD_ENUM_ATTR_FIELD_", &[], attr.fieldMask),
            "size": attr.sizeOfEnum,
            "values": values.collect::<Vec<_>>(),
        });
        if has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) {
            line["name"] = json!(text(attr.name));
        }
        domain.schemas.insert(
            id,
            Schema {
                label,
                is_static: true,
                size: attr.sizeOfEnum,
                entries: None,
            },
        );
        (line, id)
    });
    give_id(out, id, own)
}

unsafe extern "C" fn counter_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxCounterAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = recording::domain(domain.addr(), |domain| {
        let (id, label) = recording::id(
            "counter",
            attr.counterId,
            NVTX_COUNTER_ID_DYNAMIC_START,
            &domain.counters,
        );
        let line = json!({
            "call": "CounterRegister",
            "struct_size": attr.structSize,
            "id": label,
            "schema": domain.type_name(attr.schemaId),
            "name": text(attr.name),
            "description": text(attr.description),
            "scope": domain.scope(attr.scopeId),
            "semantics": semantics(domain, attr.semantics),
        });
        domain.counters.insert(
            id,
            Counter {
                label,
                schema: attr.schemaId,
            },
        );
        (line, id)
    });
    give_id(out, id, attr.counterId)
}

unsafe extern "C" fn time_domain_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxTimeDomainAttr_t,
    out: *mut u64,
) -> i32 {
    let attr = get(attr);
    let id = recording::domain(domain.addr(), |domain| {
        let (id, label) = recording::id(
            "time domain",
            attr.timeDomainId,
            NVTX_TIME_DOMAIN_ID_DYNAMIC_START,
            &domain.time_domains,
        );
        let line = json!({
            "call": "TimeDomainRegister",
            "id": label,
            "scope": domain.scope(attr.scopeId),
            "type": symbol::name("NVTX_TIMESTAMP_TYPE_", attr.timestampTypeId),
            "flags": symbol::flags("NVTX_TIMER_FLAG_", &[], attr.timerFlags),
            "resolution": attr.timerResolution,
            "start": symbol::name("NVTX_TIMER_START_", attr.timerStart),
        });
        domain.time_domains.insert(id, Object { label });
        (line, id)
    });
    give_id(out, id, attr.timeDomainId)
}

unsafe extern "C" fn stream_open(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwStreamAttributes_t,
    out: *mut nvtxwStreamHandle_t,
) -> i32 {
    let attr = get(attr);
    let stream = recording::session(session.addr(), |found| {
        let name = text(attr.name).expect("StreamOpen: a null name");
        // A null domain is the default one.
        let domain = if attr.domain.is_null() {
            found.enter_domain(session.addr(), "")
        } else {
            attr.domain.addr()
        };
        let known = found.domain(domain);
        let line = json!({
            "call": "StreamOpen",
            "struct_size": attr.structSize,
            "name": name,
            "domain": known.name,
            "scope": known.scope(attr.scopeId),
            "time_domain": known.time_domain(attr.timeDomainId),
            "interleaving": symbol::name("NVTXW_STREAM_ORDER_INTERLEAVING_", attr.orderInterleaving),
            "ordering": symbol::name("NVTXW_STREAM_ORDERING_TYPE_", attr.orderingType),
            "skid": symbol::name("NVTXW_STREAM_ORDERING_SKID_", attr.orderingSkid),
            "skid_amount": attr.orderingSkidAmount,
        });
        found.line(line);
        found.enter_stream(session.addr(), &name, domain)
    });
    give(out, std::ptr::without_provenance_mut(stream));
    NVTXW_RESULT_SUCCESS
}

unsafe extern "C" fn stream_close(stream: nvtxwStreamHandle_t) -> i32 {
    recording::close(stream.addr())
}
