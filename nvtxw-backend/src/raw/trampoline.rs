//! The functions of the table. Each reads its arguments, does its work where nothing can unwind, and answers with a code.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use nvtxw_abi::ResultCode;
use nvtxw_abi::raw::{
    NVTXW_INTERFACE_VERSION, NVTXW_RESULT_SUCCESS, nvtxCounterAttr_t, nvtxCounterBatch_t,
    nvtxDomainHandle_t, nvtxEventBatch_t, nvtxPayloadData_t, nvtxPayloadEnumAttr_t,
    nvtxPayloadSchemaAttr_t, nvtxResourceAttributes_t, nvtxScopeAttr_t, nvtxStringHandle_t,
    nvtxSyncPoint_t, nvtxTimeDomainAttr_t, nvtxwDomainAttributes_t, nvtxwInterface_v2_t,
    nvtxwInterfaceVersion_t, nvtxwResultCode_t, nvtxwSessionAttributes_t, nvtxwSessionHandle_t,
    nvtxwStreamAttributes_t, nvtxwStreamHandle_t,
};

use crate::call::Registration;
use crate::handle::Known;
use crate::last_refusal;
use crate::log::{self, Account};
use crate::panic::catch;
use crate::raw::payload::{CounterBatchArg, EventBatchArg, PayloadArg, bytes};
use crate::raw::views::{self, items, text};
use crate::refusal::{Refusal, Result};
use crate::relation::{SyncPoints, TimeRelation};
use crate::session::{self, DOMAINS, DomainEntry, SESSIONS};
use crate::spec::{CounterSpec, EnumSpec, ResourceSpec, SchemaSpec, ScopeSpec};
use crate::stream::{self, STREAMS};
use crate::text::lossy;
use crate::{register, write};

/// The type of [`nvtxwInterface_v2_t::SessionBegin`].
pub type SessionBegin = unsafe extern "C" fn(
    *const nvtxwSessionAttributes_t,
    *mut nvtxwSessionHandle_t,
) -> nvtxwResultCode_t;

/// The table, with a function that begins sessions of some instance. All the others find out by the handles which instance
/// they are about.
pub const fn table(session_begin: SessionBegin) -> nvtxwInterface_v2_t {
    nvtxwInterface_v2_t {
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
    }
}

/// Gives out `table`, if it is of the version that is asked for.
///
/// # Safety
/// `out` is null or may be written to.
pub unsafe fn get_interface(
    table: &'static nvtxwInterface_v2_t,
    version: nvtxwInterfaceVersion_t,
    out: *mut *const c_void,
) -> nvtxwResultCode_t {
    if version != NVTXW_INTERFACE_VERSION {
        return ResultCode::INTERFACE_VERSION_NOT_SUPPORTED.get();
    }
    call("nvtxwGetInterface", On::Nothing, || {
        // SAFETY:
        // - The caller vouches for the pointer.
        unsafe { put(out, "ifaceOut", || Ok((&raw const *table).cast())) }
    })
}

/// What a call is on, by its handle.
#[derive(Clone, Copy)]
pub(super) enum On<'a> {
    Nothing,
    /// A session that is to begin, by its name.
    New(Option<&'a CStr>),
    Session(u64),
    Domain(u64),
    Stream(u64),
    /// What the call ends, so that another may have its place before the call is through.
    Ended(Option<&'a Known>),
}

/// Runs the work of one call. A panic ends here, and a refusal is reported and becomes its code.
pub(super) fn call(
    member: &'static str,
    on: On<'_>,
    work: impl FnOnce() -> Result<()>,
) -> nvtxwResultCode_t {
    match catch(work) {
        Ok(Ok(())) => NVTXW_RESULT_SUCCESS,
        Ok(Err(refusal)) | Err(refusal) => refuse(member, on, refusal),
    }
}

#[cold]
fn refuse(member: &'static str, on: On<'_>, refusal: Refusal) -> nvtxwResultCode_t {
    let known = match on {
        On::Nothing => None,
        On::New(name) => {
            let name: Arc<str> = lossy(name).unwrap_or_default().into();
            let account = Arc::new(Account::new(Arc::clone(&name)));
            Some(Known { name, account })
        }
        On::Session(handle) => SESSIONS.known(handle),
        On::Domain(handle) => DOMAINS.known(handle),
        On::Stream(handle) => STREAMS.known(handle),
        On::Ended(known) => known.cloned(),
    };
    let account = known.as_ref().map(|known| &*known.account);
    if let Some(account) = account {
        account.tally.note(&refusal);
    }
    let object = known.as_ref().map_or("", |known| &*known.name);
    log::report(member, object, &refusal, account);
    let code = refusal.code().get();
    last_refusal::set(refusal);
    code
}

/// Stores what `make` returns in `out`; a null `out` is refused before anything is made.
///
/// # Safety
/// `out` is null or may be written to.
pub(super) unsafe fn put<T>(
    out: *mut T,
    name: &str,
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    if out.is_null() {
        return Err(Refusal::invalid(format!(
            "{name} is null, so that the result has no place"
        )));
    }
    let value = make()?;
    // SAFETY:
    // - The pointer is not null, and the caller vouches that it may be written to.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// The same for an ID, which needs no place if the producer picked it itself: `wanted` is 0 if it did not.
///
/// # Safety
/// `out` is null or may be written to.
unsafe fn put_id(
    out: *mut u64,
    name: &str,
    wanted: u64,
    make: impl FnOnce() -> Result<u64>,
) -> Result<()> {
    if out.is_null() && wanted != 0 {
        return make().map(|_| ());
    }
    // SAFETY:
    // - The caller vouches for the pointer.
    unsafe { put(out, name, make) }
}

fn pointer<T>(handle: u64) -> *mut T {
    std::ptr::without_provenance_mut(handle as usize)
}

fn domain_call(
    member: &'static str,
    domain: nvtxDomainHandle_t,
    work: impl FnOnce(&DomainEntry) -> Result<()>,
) -> i32 {
    let handle = domain.addr() as u64;
    call(member, On::Domain(handle), || {
        let entry = DOMAINS.get(handle)?;
        entry.session.check()?;
        work(&entry)
    })
}

unsafe extern "C" fn session_end(session: nvtxwSessionHandle_t) -> nvtxwResultCode_t {
    let handle = session.addr() as u64;
    let known = SESSIONS.known(handle);
    call("SessionEnd", On::Ended(known.as_ref()), || {
        session::end(handle)
    })
}

unsafe extern "C" fn domain_register(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwDomainAttributes_t,
    out: *mut nvtxDomainHandle_t,
) -> nvtxwResultCode_t {
    let handle = session.addr() as u64;
    call("DomainRegister", On::Session(handle), || {
        let session = SESSIONS.get(handle)?;
        // SAFETY:
        // - The producer vouches for its arguments.
        let name = unsafe { views::domain(attr) }?;
        let register = || {
            let domain = lossy(name).unwrap_or_default();
            let (handle, domain) = session.domain(&domain)?;
            session.note_registration(&domain, &Registration::Domain { name })?;
            Ok(pointer(handle))
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put(out, "domainOut", register) }
    })
}

unsafe extern "C" fn category_register(
    domain: nvtxDomainHandle_t,
    category: u32,
    name: *const c_char,
) -> nvtxwResultCode_t {
    domain_call("CategoryRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let name = unsafe { text(name) };
        register::category(&entry.domain, category, lossy(name).as_deref())?;
        let name = name.unwrap_or_default();
        entry.note(&Registration::Category { category, name })
    })
}

unsafe extern "C" fn string_register(
    domain: nvtxDomainHandle_t,
    string: *const c_char,
    out: *mut nvtxStringHandle_t,
) -> nvtxwResultCode_t {
    domain_call("StringRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let string = unsafe { text(string) };
        let register = || {
            let handle = register::string(&entry.domain, lossy(string).as_deref())?;
            let text = string.unwrap_or_default();
            entry.note(&Registration::String { text, handle })?;
            Ok(pointer(handle))
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put(out, "stringHandleOut", register) }
    })
}

unsafe extern "C" fn resource_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxResourceAttributes_t,
) -> nvtxwResultCode_t {
    domain_call("ResourceRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::resource(attr) }?;
        register::resource(&entry.domain, &ResourceSpec::of(&attributes))?;
        entry.note(&Registration::Resource(attributes))
    })
}

unsafe extern "C" fn scope_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxScopeAttr_t,
    out: *mut u64,
) -> nvtxwResultCode_t {
    domain_call("ScopeRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::scope(attr) }?;
        let wanted = attributes.id;
        let register = || {
            let id = register::scope(&entry.domain, &ScopeSpec::of(&attributes))?;
            entry.note(&Registration::Scope { attributes, id })?;
            Ok(id)
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put_id(out, "scopeIdOut", wanted, register) }
    })
}

unsafe extern "C" fn schema_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadSchemaAttr_t,
    out: *mut u64,
) -> nvtxwResultCode_t {
    domain_call("SchemaRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::schema(attr) }?;
        let wanted = attributes.id;
        let register = || {
            let id = register::schema(&entry.domain, &SchemaSpec::of(&attributes)?)?;
            entry.note(&Registration::Schema { attributes, id })?;
            Ok(id)
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put_id(out, "schemaIdOut", wanted, register) }
    })
}

unsafe extern "C" fn enum_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxPayloadEnumAttr_t,
    out: *mut u64,
) -> nvtxwResultCode_t {
    domain_call("EnumRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::enumeration(attr) }?;
        let wanted = attributes.id;
        let register = || {
            let id = register::enumeration(&entry.domain, EnumSpec::of(&attributes))?;
            entry.note(&Registration::Enum { attributes, id })?;
            Ok(id)
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put_id(out, "enumIdOut", wanted, register) }
    })
}

unsafe extern "C" fn counter_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxCounterAttr_t,
    out: *mut u64,
) -> nvtxwResultCode_t {
    domain_call("CounterRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::counter(attr) }?;
        let wanted = attributes.id;
        let register = || {
            let id = register::counter(&entry.domain, CounterSpec::of(&attributes)?)?;
            entry.note(&Registration::Counter { attributes, id })?;
            Ok(id)
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put_id(out, "counterIdOut", wanted, register) }
    })
}

unsafe extern "C" fn time_domain_register(
    domain: nvtxDomainHandle_t,
    attr: *const nvtxTimeDomainAttr_t,
    out: *mut u64,
) -> nvtxwResultCode_t {
    domain_call("TimeDomainRegister", domain, |entry| {
        // SAFETY:
        // - The producer vouches for its arguments.
        let attributes = unsafe { views::time_domain(attr) }?;
        let register = || {
            let id = register::time_domain(&entry.domain, &attributes)?;
            entry.note(&Registration::TimeDomain { attributes, id })?;
            Ok(id)
        };
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe { put_id(out, "timeDomainIdOut", attributes.id, register) }
    })
}

unsafe extern "C" fn stream_open(
    session: nvtxwSessionHandle_t,
    attr: *const nvtxwStreamAttributes_t,
    out: *mut nvtxwStreamHandle_t,
) -> nvtxwResultCode_t {
    let handle = session.addr() as u64;
    call("StreamOpen", On::Session(handle), || {
        let session = SESSIONS.get(handle)?;
        // SAFETY:
        // - The producer vouches for its arguments.
        let spec = unsafe { views::stream(attr) }?;
        // SAFETY:
        // - The producer vouches for its arguments.
        unsafe {
            put(out, "streamOut", || {
                Ok(pointer(session.open_stream(&spec)?))
            })
        }
    })
}

unsafe extern "C" fn stream_close(stream: nvtxwStreamHandle_t) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    let known = STREAMS.known(handle);
    call("StreamClose", On::Ended(known.as_ref()), || {
        stream::close(handle)
    })
}

unsafe extern "C" fn event_write(
    stream: nvtxwStreamHandle_t,
    payloads: *const nvtxPayloadData_t,
    count: usize,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("EventWrite", On::Stream(handle), move || {
        // SAFETY:
        // - The producer vouches for its arguments.
        write::event(handle, unsafe { PayloadArg::all(payloads, count) }?)
    })
}

unsafe extern "C" fn event_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxEventBatch_t,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("EventBatchWrite", On::Stream(handle), move || {
        // SAFETY:
        // - The producer vouches for its arguments.
        write::event_batch(handle, &unsafe { EventBatchArg::new(batch) }?)
    })
}

unsafe extern "C" fn counter_write(
    stream: nvtxwStreamHandle_t,
    timestamp: i64,
    counter: u64,
    data: *const c_void,
    size: usize,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("CounterWrite", On::Stream(handle), move || {
        // SAFETY:
        // - The producer vouches for its arguments.
        write::counter(handle, timestamp, counter, unsafe {
            bytes("data", "size", data, size)
        }?)
    })
}

unsafe extern "C" fn counter_no_value_write(
    stream: nvtxwStreamHandle_t,
    timestamp: i64,
    counter: u64,
    reason: u8,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("CounterNoValueWrite", On::Stream(handle), move || {
        write::no_value(handle, timestamp, counter, reason)
    })
}

unsafe extern "C" fn counter_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxCounterBatch_t,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("CounterBatchWrite", On::Stream(handle), move || {
        // SAFETY:
        // - The producer vouches for its arguments.
        write::counter_batch(handle, &unsafe { CounterBatchArg::new(batch) }?)
    })
}

unsafe extern "C" fn time_sync_point_write(
    stream: nvtxwStreamHandle_t,
    domain1: u64,
    domain2: u64,
    timestamp1: i64,
    timestamp2: i64,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("TimeSyncPointWrite", On::Stream(handle), || {
        let point = [timestamp1, timestamp2];
        let point = SyncPoints::from_bytes(bytemuck::bytes_of(&point));
        write::relation(handle, &TimeRelation::point(domain1, domain2, point))
    })
}

unsafe extern "C" fn time_sync_point_table_write(
    stream: nvtxwStreamHandle_t,
    source: u64,
    destination: u64,
    points: *const nvtxSyncPoint_t,
    count: usize,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("TimeSyncPointTableWrite", On::Stream(handle), || {
        // SAFETY:
        // - The producer vouches for its arguments.
        let points: &[[i64; 2]] = unsafe { items("syncPoints", "count", points.cast(), count) }?;
        let points = SyncPoints::from_bytes(bytemuck::cast_slice(points));
        write::relation(handle, &TimeRelation::points(source, destination, points))
    })
}

unsafe extern "C" fn timestamp_conversion_factor_write(
    stream: nvtxwStreamHandle_t,
    source: u64,
    destination: u64,
    slope: f64,
    timestamp_source: i64,
    timestamp_destination: i64,
) -> nvtxwResultCode_t {
    let handle = stream.addr() as u64;
    call("TimestampConversionFactorWrite", On::Stream(handle), || {
        let at = (timestamp_source, timestamp_destination);
        write::relation(
            handle,
            &TimeRelation::linear(source, destination, slope, at),
        )
    })
}
