//! Calls on another backend's table.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Arc;

use nvtxw_abi::raw::{
    NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_REGISTERED, NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME,
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, NVTX_RESOURCE_ATTRIB_STRUCT_SIZE, nvtxCounterAttr_t,
    nvtxCounterBatch_t, nvtxDomainHandle_t, nvtxDomainRegistration_st, nvtxEventBatch_t,
    nvtxMessageValue_t, nvtxPayloadData_t, nvtxPayloadEnum_t, nvtxPayloadEnumAttr_t,
    nvtxPayloadSchemaAttr_t, nvtxPayloadSchemaEntry_t, nvtxResourceAttributes_t,
    nvtxResourceIdentifier_t, nvtxScopeAttr_t, nvtxSyncPoint_t, nvtxTimeDomainAttr_t,
    nvtxwDomainAttributes_t, nvtxwInterface_v2_t, nvtxwResultCode_t, nvtxwSession_st,
    nvtxwSessionAttributes_t, nvtxwStream_st, nvtxwStreamAttributes_t, wchar_t,
};
use nvtxw_abi::{InProcess, ResultCode};

use crate::call::{
    CounterAttributes, CounterBatchCall, EnumAttributes, EventBatchCall, Message, PayloadBytes,
    ResourceAttributes, SchemaAttributes, ScopeAttributes, StreamAttributes, TimeDomainAttributes,
};
use crate::log;
use crate::raw::nodes::Nodes;
use crate::refusal::{Refusal, Result};
use crate::relay::Relay;

/// What a schema's mask may say: what there is.
const SCHEMA_FIELDS: u64 = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
/// The same for an enum's.
const ENUM_FIELDS: u64 = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME
    | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
    | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
    | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE
    | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;

/// Another backend: the functions of its table.
pub(crate) enum Onward {
    Instance(Arc<InProcess>),
    Table(&'static nvtxwInterface_v2_t),
}

/// A handle of another backend: an address that is only ever given back.
pub(crate) struct Handle<T>(*mut T);

// SAFETY:
// - Nothing follows the pointer here; the functions that take it may be called from any thread.
unsafe impl<T> Send for Handle<T> {}

// SAFETY:
// - As above.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

pub(crate) type SessionHandle = Handle<nvtxwSession_st>;
pub(crate) type DomainHandle = Handle<nvtxDomainRegistration_st>;
pub(crate) type StreamHandle = Handle<nvtxwStream_st>;

/// Calls a member; what it refuses becomes a refusal.
macro_rules! ask {
    ($onward:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        let member = $onward.table().$member.expect("a table without gaps");
        // SAFETY:
        // - Who made this vouched for the table.
        // - Handles are those that it gave out, or null where it takes that.
        // - Pointers lead to what the call says, until it returns.
        let code = $onward.call(|| unsafe { member($($argument),*) });
        $onward.answer(stringify!($member), code)
    }};
}

impl Onward {
    /// A table that is complete.
    ///
    /// # Safety
    /// - Each member does what the ABI says, and doesn't unwind.
    /// - All may be called from any thread; calls on different streams and sessions may overlap, as the producer's do.
    /// - They are memory-safe as long as a call has the handles that they gave out, pointers to what it says, and payloads with
    ///   as many bytes as their schemas describe, in which registered strings are such handles.
    pub(crate) unsafe fn table_of(table: &'static nvtxwInterface_v2_t) -> Result<Self> {
        let missing: Vec<_> = table.missing().collect();
        match missing.is_empty() {
            true => Ok(Self::Table(table)),
            false => Err(Refusal::failed(format!(
                "the table of the other backend lacks {}: the backend is malformed",
                missing.join(", ")
            ))),
        }
    }

    fn table(&self) -> &'static nvtxwInterface_v2_t {
        match self {
            Self::Instance(instance) => instance.table(),
            Self::Table(table) => table,
        }
    }

    /// Whether the backend is in this program and made to be safe whatever payloads hold. It looks for no nulls.
    pub(crate) fn is_instance(&self) -> bool {
        matches!(self, Self::Instance(_))
    }

    /// Makes a call. Who gets its answer reports it: a backend in this program need not log it too, in its own handles and IDs.
    fn call<R>(&self, call: impl FnOnce() -> R) -> R {
        match self {
            Self::Instance(_) => log::without_rejections(call),
            Self::Table(_) => call(),
        }
    }

    fn answer(&self, member: &str, code: nvtxwResultCode_t) -> Result<()> {
        let code = ResultCode::new(code);
        match code.is_success() {
            true => Ok(()),
            false => Err(self.refusal(member, code)),
        }
    }

    #[cold]
    fn refusal(&self, member: &str, code: ResultCode) -> Refusal {
        let mut text = None;
        if let Self::Instance(instance) = self
            && let Some(reason) = instance.reason()
        {
            reason(&mut |told, reason| {
                if told == code {
                    text = Some(reason.to_owned());
                }
            });
        }
        match text {
            Some(text) => Refusal::of(code, text.into()),
            None => Refusal::of(
                code,
                format!("the other backend's {member} says {code}").into(),
            ),
        }
    }

    /// The handle that a call gave.
    fn handle<T>(member: &str, handle: *mut T) -> Result<Handle<T>> {
        match handle.is_null() {
            false => Ok(Handle(handle)),
            true => Err(Refusal::failed(format!(
                "the other backend's {member} succeeds and gives no handle: the backend is malformed"
            ))),
        }
    }

    pub(crate) fn begin(
        &self,
        name: Option<&CStr>,
        config: Option<&CStr>,
    ) -> Result<SessionHandle> {
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: pointer(name),
            configString: pointer(config),
        };
        let mut out = ptr::null_mut();
        match self {
            Self::Instance(instance) => {
                // SAFETY:
                // - The texts are null or null-terminated, and the size is that of the struct.
                let code = self.call(|| unsafe { instance.begin(&attr, &mut out) });
                self.answer("SessionBegin", code.get())?;
            }
            Self::Table(_) => ask!(self, SessionBegin(&attr, &mut out))?,
        }
        Self::handle("SessionBegin", out)
    }

    pub(crate) fn end(&self, session: SessionHandle) -> Result<()> {
        ask!(self, SessionEnd(session.0))
    }

    pub(crate) fn domain(
        &self,
        session: SessionHandle,
        name: Option<&CStr>,
    ) -> Result<DomainHandle> {
        let attr = nvtxwDomainAttributes_t {
            structSize: size_of::<nvtxwDomainAttributes_t>(),
            name: pointer(name),
        };
        let mut out = ptr::null_mut();
        ask!(self, DomainRegister(session.0, &attr, &mut out))?;
        Self::handle("DomainRegister", out)
    }

    pub(crate) fn category(&self, domain: DomainHandle, category: u32, name: &CStr) -> Result<()> {
        ask!(self, CategoryRegister(domain.0, category, name.as_ptr()))
    }

    /// Returns the string's handle, as it is to be in payloads.
    pub(crate) fn string(&self, domain: DomainHandle, text: &CStr) -> Result<u64> {
        let mut out = ptr::null_mut();
        ask!(self, StringRegister(domain.0, text.as_ptr(), &mut out))?;
        let handle = Self::handle("StringRegister", out)?;
        Ok(handle.0.expose_provenance() as u64)
    }

    /// A registered message is one of the other backend.
    pub(crate) fn resource(
        &self,
        domain: DomainHandle,
        attributes: &ResourceAttributes<'_>,
    ) -> Result<()> {
        let wide: Vec<wchar_t>;
        let (message_type, message) = match &attributes.message {
            Message::None { kind } => (*kind, nvtxMessageValue_t { ascii: ptr::null() }),
            Message::Text(text) => (
                NVTX_MESSAGE_TYPE_ASCII,
                nvtxMessageValue_t {
                    ascii: text.as_ptr(),
                },
            ),
            Message::Wide(units) => {
                wide = units.iter().map(|unit| *unit as _).chain([0]).collect();
                (
                    NVTX_MESSAGE_TYPE_UNICODE,
                    nvtxMessageValue_t {
                        unicode: wide.as_ptr(),
                    },
                )
            }
            Message::Registered(handle) => (
                NVTX_MESSAGE_TYPE_REGISTERED,
                nvtxMessageValue_t {
                    registered: ptr::with_exposed_provenance_mut(*handle as usize),
                },
            ),
        };
        let attr = nvtxResourceAttributes_t {
            version: attributes.version,
            size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
            identifierType: attributes.kind,
            identifier: nvtxResourceIdentifier_t {
                ullValue: attributes.identifier,
            },
            messageType: message_type,
            message,
        };
        ask!(self, ResourceRegister(domain.0, &attr))
    }

    pub(crate) fn scope(
        &self,
        domain: DomainHandle,
        attributes: &ScopeAttributes<'_>,
    ) -> Result<u64> {
        let attr = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: pointer(attributes.path),
            parentScope: attributes.parent,
            scopeId: attributes.id,
        };
        let mut out = 0;
        ask!(self, ScopeRegister(domain.0, &attr, &mut out))?;
        Ok(out)
    }

    pub(crate) fn schema(
        &self,
        domain: DomainHandle,
        attributes: &SchemaAttributes<'_>,
    ) -> Result<u64> {
        let mut lists: Vec<_> = attributes
            .entries
            .iter()
            .map(|entry| Nodes::new(&entry.semantics))
            .collect();
        let entries = attributes.entries.iter().zip(&mut lists);
        let entries: Vec<_> = entries
            .map(|(entry, nodes)| nvtxPayloadSchemaEntry_t {
                flags: entry.flags,
                r#type: entry.ty,
                name: pointer(entry.name),
                description: pointer(entry.description),
                arrayOrUnionDetail: entry.detail,
                offset: entry.offset,
                semantics: nodes.first(),
                reserved: ptr::null(),
            })
            .collect();
        let attr = nvtxPayloadSchemaAttr_t {
            fieldMask: attributes.mask & SCHEMA_FIELDS,
            name: pointer(attributes.name),
            r#type: attributes.kind,
            flags: attributes.flags,
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            payloadStaticSize: attributes.size,
            packAlign: attributes.pack,
            schemaId: attributes.id,
            extension: ptr::null_mut(),
        };
        let mut out = 0;
        ask!(self, SchemaRegister(domain.0, &attr, &mut out))?;
        Ok(out)
    }

    pub(crate) fn enumeration(
        &self,
        domain: DomainHandle,
        attributes: &EnumAttributes<'_>,
    ) -> Result<u64> {
        let entries: Vec<_> = attributes
            .entries
            .iter()
            .map(|entry| nvtxPayloadEnum_t {
                name: entry.name.as_ptr(),
                value: entry.value,
                isFlag: entry.is_flag.into(),
            })
            .collect();
        let attr = nvtxPayloadEnumAttr_t {
            fieldMask: attributes.mask & ENUM_FIELDS,
            name: pointer(attributes.name),
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            sizeOfEnum: attributes.size,
            schemaId: attributes.id,
            extension: ptr::null_mut(),
        };
        let mut out = 0;
        ask!(self, EnumRegister(domain.0, &attr, &mut out))?;
        Ok(out)
    }

    pub(crate) fn counter(
        &self,
        domain: DomainHandle,
        attributes: &CounterAttributes<'_>,
    ) -> Result<u64> {
        let mut nodes = Nodes::new(&attributes.semantics);
        let attr = nvtxCounterAttr_t {
            structSize: size_of::<nvtxCounterAttr_t>(),
            schemaId: attributes.schema,
            name: pointer(attributes.name),
            description: pointer(attributes.description),
            scopeId: attributes.scope,
            semantics: nodes.first(),
            counterId: attributes.id,
        };
        let mut out = 0;
        ask!(self, CounterRegister(domain.0, &attr, &mut out))?;
        Ok(out)
    }

    pub(crate) fn time_domain(
        &self,
        domain: DomainHandle,
        attributes: &TimeDomainAttributes,
    ) -> Result<u64> {
        let attr = nvtxTimeDomainAttr_t {
            scopeId: attributes.scope,
            timestampTypeId: attributes.timestamp_type,
            timeDomainId: attributes.id,
            timerFlags: attributes.flags,
            timerResolution: attributes.resolution,
            timerStart: attributes.start,
        };
        let mut out = 0;
        ask!(self, TimeDomainRegister(domain.0, &attr, &mut out))?;
        Ok(out)
    }

    /// A stream of the default domain if `domain` is `None`.
    pub(crate) fn open(
        &self,
        session: SessionHandle,
        domain: Option<DomainHandle>,
        attributes: &StreamAttributes<'_>,
    ) -> Result<StreamHandle> {
        let domain: nvtxDomainHandle_t = domain.map_or(ptr::null_mut(), |domain| domain.0);
        let attr = nvtxwStreamAttributes_t {
            structSize: size_of::<nvtxwStreamAttributes_t>(),
            name: pointer(attributes.name),
            domain,
            scopeId: attributes.scope,
            timeDomainId: attributes.time_domain,
            orderInterleaving: attributes.interleaving,
            orderingType: attributes.ordering,
            orderingSkid: attributes.skid,
            orderingSkidAmount: attributes.skid_amount,
        };
        let mut out = ptr::null_mut();
        ask!(self, StreamOpen(session.0, &attr, &mut out))?;
        Self::handle("StreamOpen", out)
    }

    pub(crate) fn close(&self, stream: StreamHandle) -> Result<()> {
        ask!(self, StreamClose(stream.0))
    }

    /// Bytes of payloads without a size end with a null each of the widest characters.
    pub(crate) fn event(&self, stream: StreamHandle, payloads: &[PayloadBytes<'_>]) -> Result<()> {
        let data = |payload: &PayloadBytes<'_>| nvtxPayloadData_t {
            schemaId: payload.schema,
            size: match payload.is_terminated {
                true => usize::MAX,
                false => payload.bytes.len(),
            },
            payload: match payload.is_terminated {
                // An empty text is its null.
                true => payload.bytes.as_ptr().cast(),
                false => start(payload.bytes),
            },
        };
        match payloads {
            [one] => ask!(self, EventWrite(stream.0, &data(one), 1)),
            [one, two] => ask!(
                self,
                EventWrite(stream.0, [data(one), data(two)].as_ptr(), 2)
            ),
            _ => {
                let payloads: Vec<_> = payloads.iter().map(data).collect();
                ask!(
                    self,
                    EventWrite(stream.0, payloads.as_ptr(), payloads.len())
                )
            }
        }
    }

    pub(crate) fn event_batch(
        &self,
        stream: StreamHandle,
        batch: &EventBatchCall<'_>,
    ) -> Result<()> {
        let (data, size, offset) = match batch.flex {
            None => (ptr::null(), 0, 0),
            Some(flex) => {
                let start: *const c_void = flex.bytes.as_ptr().cast();
                let start = start.wrapping_byte_sub(flex.offset);
                (start, flex.bytes.len(), flex.offset)
            }
        };
        let batch = nvtxEventBatch_t {
            eventSchemaId: batch.schema,
            events: start(batch.bytes),
            size: batch.bytes.len(),
            scope: batch.scope,
            flags: batch.flags,
            flexData: data,
            flexDataSize: size,
            flexDataOffset: offset,
        };
        ask!(self, EventBatchWrite(stream.0, &batch))
    }

    pub(crate) fn sample(
        &self,
        stream: StreamHandle,
        time: i64,
        counter: u64,
        bytes: &[u8],
    ) -> Result<()> {
        ask!(
            self,
            CounterWrite(stream.0, time, counter, start(bytes), bytes.len())
        )
    }

    pub(crate) fn no_value(
        &self,
        stream: StreamHandle,
        time: i64,
        counter: u64,
        reason: u8,
    ) -> Result<()> {
        ask!(self, CounterNoValueWrite(stream.0, time, counter, reason))
    }

    /// The timestamps are aligned to 8 bytes.
    pub(crate) fn counter_batch(
        &self,
        stream: StreamHandle,
        batch: &CounterBatchCall<'_>,
    ) -> Result<()> {
        let batch = nvtxCounterBatch_t {
            counterId: batch.counter,
            counters: start(batch.bytes),
            countersSize: batch.bytes.len(),
            flags: batch.flags,
            timestamps: batch
                .timestamps
                .map_or(ptr::null(), |times| times.as_ptr().cast()),
            timestampsSize: batch.timestamps.map_or(0, <[u8]>::len),
        };
        ask!(self, CounterBatchWrite(stream.0, &batch))
    }

    pub(crate) fn sync_point(
        &self,
        stream: StreamHandle,
        time_domains: (u64, u64),
        times: (i64, i64),
    ) -> Result<()> {
        ask!(
            self,
            TimeSyncPointWrite(stream.0, time_domains.0, time_domains.1, times.0, times.1)
        )
    }

    pub(crate) fn sync_points(
        &self,
        stream: StreamHandle,
        time_domains: (u64, u64),
        points: impl Iterator<Item = (i64, i64)>,
    ) -> Result<()> {
        let points: Vec<_> = points
            .map(|(src, dst)| nvtxSyncPoint_t { src, dst })
            .collect();
        let (source, destination) = time_domains;
        ask!(
            self,
            TimeSyncPointTableWrite(stream.0, source, destination, points.as_ptr(), points.len())
        )
    }

    pub(crate) fn conversion(
        &self,
        stream: StreamHandle,
        time_domains: (u64, u64),
        slope: f64,
        times: (i64, i64),
    ) -> Result<()> {
        let (source, destination) = time_domains;
        ask!(
            self,
            TimestampConversionFactorWrite(stream.0, source, destination, slope, times.0, times.1)
        )
    }
}

/// Null where there is no text.
pub(super) fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(ptr::null(), CStr::as_ptr)
}

/// Null where there are no bytes.
fn start(bytes: &[u8]) -> *const c_void {
    match bytes.is_empty() {
        true => ptr::null(),
        false => bytes.as_ptr().cast(),
    }
}

impl Relay {
    /// To the backend of a table.
    ///
    /// # Errors
    /// `FAILED` if a baseline member of the table is null.
    ///
    /// # Safety
    /// - Each member does what the ABI says, and doesn't unwind. The library that it is in stays loaded.
    /// - All may be called from any thread; calls on different sessions may overlap, and those on different streams.
    /// - They are memory-safe as long as a call has the handles that they gave out, pointers to what it says, and payloads with
    ///   as many bytes as their schemas describe, in which registered strings are such handles.
    /// - Who writes to a [live](crate::relay::Origin::Live) relay keeps what the other backend asks of pointers in payloads.
    pub unsafe fn to_table(table: &'static nvtxwInterface_v2_t) -> Result<Self> {
        // SAFETY:
        // - The caller vouches for the table.
        let onward = unsafe { Onward::table_of(table) }?;
        Ok(Self {
            onward: Arc::new(onward),
        })
    }
}
