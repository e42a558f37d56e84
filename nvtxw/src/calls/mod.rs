//! The calls into a backend: the only code here that is unsafe, but for the trait of fields.
//!
//! Everything that the backend gets a pointer to is built here, from references that live through the call. What the
//! rest of the crate vouches for, and where it does:
//!
//! - A domain or stream handle is used only with the session that made it. A domain's handle stays in that session's
//!   list of domains; a stream is compared with the session when a writer is bound, and when it is closed.
//! - The schema ID that goes with a value is that of the value's type (`Schema<E>` and `Counter<C>` are made only by the
//!   registration of `E` and `C`; a row of a record carries its record's ID; the rows of a `RowLayout`, whose fields refer
//!   to nothing outside, are a whole number of the size that was registered), in the stream's own domain (compared when a
//!   writer is bound, and for what goes beside an event at each write).
//! - There is one time for each sample, or the pair that the flags say, or none: the writers of counters compare lengths.
//! - Lifecycle calls and registrations don't overlap with anything in the session: they take `&mut Session`, and writers
//!   hold `&Session`. Two writers of one stream don't overlap: a `Writer` holds `&mut Stream`, what is bound from it holds
//!   `&Stream`, and `Stream` isn't `Sync`.

mod handle;
mod lifecycle;
mod loading;
#[cfg(all(test, loom))]
mod loom;
mod register;
mod schema;
mod thread;
mod time;
mod write;

use nvtxw_abi::raw::{
    self, nvtxDomainHandle_t, nvtxStringHandle_t, nvtxwInterface_v2_t, nvtxwResultCode_t,
    nvtxwSessionHandle_t, nvtxwStreamHandle_t,
};

pub use handle::StringHandle;
pub(crate) use handle::{DomainHandle, StreamHandle};
pub(crate) use lifecycle::{Begin, Finalize, LiveSession, StreamAttributes, last_reason};
pub(crate) use register::{
    CounterDefinition, CounterSemantics, EnumDefinition, Refusal, ScopeDefinition,
};
pub(crate) use schema::{EntryDefinition, EntrySemantics, SchemaDefinition};
pub(crate) use thread::{OneThreadAtATime, Unshared};
pub use time::SyncPoint;
pub(crate) use time::{ResourceName, TimeDomainDefinition};
pub(crate) use write::{CounterPort, EventPort};
pub use write::{Payload, SampleBytes};

/// The members of a backend's table that this crate calls, none of them null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    session_begin: unsafe extern "C" fn(
        *const raw::nvtxwSessionAttributes_t,
        *mut nvtxwSessionHandle_t,
    ) -> nvtxwResultCode_t,
    session_end: unsafe extern "C" fn(nvtxwSessionHandle_t) -> nvtxwResultCode_t,
    domain_register: unsafe extern "C" fn(
        nvtxwSessionHandle_t,
        *const raw::nvtxwDomainAttributes_t,
        *mut nvtxDomainHandle_t,
    ) -> nvtxwResultCode_t,
    category_register:
        unsafe extern "C" fn(nvtxDomainHandle_t, u32, *const std::ffi::c_char) -> nvtxwResultCode_t,
    string_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const std::ffi::c_char,
        *mut nvtxStringHandle_t,
    ) -> nvtxwResultCode_t,
    resource_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxResourceAttributes_t,
    ) -> nvtxwResultCode_t,
    scope_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxScopeAttr_t,
        *mut u64,
    ) -> nvtxwResultCode_t,
    schema_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxPayloadSchemaAttr_t,
        *mut u64,
    ) -> nvtxwResultCode_t,
    enum_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxPayloadEnumAttr_t,
        *mut u64,
    ) -> nvtxwResultCode_t,
    counter_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxCounterAttr_t,
        *mut u64,
    ) -> nvtxwResultCode_t,
    time_domain_register: unsafe extern "C" fn(
        nvtxDomainHandle_t,
        *const raw::nvtxTimeDomainAttr_t,
        *mut u64,
    ) -> nvtxwResultCode_t,
    stream_open: unsafe extern "C" fn(
        nvtxwSessionHandle_t,
        *const raw::nvtxwStreamAttributes_t,
        *mut nvtxwStreamHandle_t,
    ) -> nvtxwResultCode_t,
    stream_close: unsafe extern "C" fn(nvtxwStreamHandle_t) -> nvtxwResultCode_t,
    event_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        *const raw::nvtxPayloadData_t,
        usize,
    ) -> nvtxwResultCode_t,
    event_batch_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        *const raw::nvtxEventBatch_t,
    ) -> nvtxwResultCode_t,
    counter_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        i64,
        u64,
        *const std::ffi::c_void,
        usize,
    ) -> nvtxwResultCode_t,
    counter_no_value_write:
        unsafe extern "C" fn(nvtxwStreamHandle_t, i64, u64, u8) -> nvtxwResultCode_t,
    counter_batch_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        *const raw::nvtxCounterBatch_t,
    ) -> nvtxwResultCode_t,
    time_sync_point_write:
        unsafe extern "C" fn(nvtxwStreamHandle_t, u64, u64, i64, i64) -> nvtxwResultCode_t,
    time_sync_point_table_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        u64,
        u64,
        *const raw::nvtxSyncPoint_t,
        usize,
    ) -> nvtxwResultCode_t,
    timestamp_conversion_factor_write:
        unsafe extern "C" fn(nvtxwStreamHandle_t, u64, u64, f64, i64, i64) -> nvtxwResultCode_t,
}

impl Functions {
    /// The functions of `table`, or the names of its null baseline members.
    pub(crate) fn of(table: &nvtxwInterface_v2_t) -> Result<Self, Vec<&'static str>> {
        Self::all_of(table).ok_or_else(|| table.missing().collect())
    }

    fn all_of(table: &nvtxwInterface_v2_t) -> Option<Self> {
        macro_rules! member {
            ($name:ident) => {
                table.$name?
            };
        }
        Some(Self {
            session_begin: member!(SessionBegin),
            session_end: member!(SessionEnd),
            domain_register: member!(DomainRegister),
            category_register: member!(CategoryRegister),
            string_register: member!(StringRegister),
            resource_register: member!(ResourceRegister),
            scope_register: member!(ScopeRegister),
            schema_register: member!(SchemaRegister),
            enum_register: member!(EnumRegister),
            counter_register: member!(CounterRegister),
            time_domain_register: member!(TimeDomainRegister),
            stream_open: member!(StreamOpen),
            stream_close: member!(StreamClose),
            event_write: member!(EventWrite),
            event_batch_write: member!(EventBatchWrite),
            counter_write: member!(CounterWrite),
            counter_no_value_write: member!(CounterNoValueWrite),
            counter_batch_write: member!(CounterBatchWrite),
            time_sync_point_write: member!(TimeSyncPointWrite),
            time_sync_point_table_write: member!(TimeSyncPointTableWrite),
            timestamp_conversion_factor_write: member!(TimestampConversionFactorWrite),
        })
    }
}
