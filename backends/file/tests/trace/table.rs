//! A small producer: makes the calls of the table that the tests need.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind, InProcess, ResultCode};
use nvtxw_backend::log::{Report, set_hook};

thread_local! {
    static REASONS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What was reported in calls that succeeded, since this was asked last.
pub fn told() -> Vec<String> {
    TOLD.take()
}

/// Why a call failed: its code, and the reason that was reported.
#[derive(Debug)]
pub struct Failure {
    pub code: ResultCode,
    pub reason: String,
}

pub type Result<T> = std::result::Result<T, Failure>;

fn check(code: nvtxwResultCode_t) -> Result<()> {
    let code = ResultCode::new(code);
    let reasons = REASONS.take();
    if code.is_success() {
        TOLD.with_borrow_mut(|told| told.extend(reasons));
        return Ok(());
    }
    Err(Failure {
        code,
        reason: reasons.join("; "),
    })
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// Calls a member of the table; every pointer among the arguments comes from a live value.
macro_rules! call {
    ($table:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        let member = $table.$member.unwrap();
        // SAFETY:
        // - Pointers are null or come from values that live until the call returns, and sizes
        //   beside them are those of the values.
        // - The SDK takes any handle.
        check(unsafe { member($($argument),*) })
    }};
}

pub struct Session {
    table: &'static nvtxwInterface_v2_t,
    handle: nvtxwSessionHandle_t,
    _backend: InProcess,
}

#[derive(Clone, Copy)]
pub struct Domain {
    table: &'static nvtxwInterface_v2_t,
    handle: nvtxDomainHandle_t,
}

pub struct Stream {
    table: &'static nvtxwInterface_v2_t,
    handle: nvtxwStreamHandle_t,
}

// SAFETY:
// - The handle is a number that any thread may use; no two threads use a stream at once, for it is
//   borrowed mutably.
unsafe impl Send for Stream {}

impl Session {
    pub fn begin(name: &str, config: &str) -> Result<Self> {
        Self::begin_with(name, &c(config))
    }

    pub fn begin_with(name: &str, config: &CStr) -> Result<Self> {
        set_hook(Some(|report: &Report<'_>| {
            REASONS.with_borrow_mut(|all| all.push(report.refusal.reason().to_owned()));
        }));
        let backend = nvtxw_file::in_process();
        let name = c(name);
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: name.as_ptr(),
            configString: config.as_ptr(),
        };
        let mut handle = ptr::null_mut();
        // SAFETY:
        // - Both texts are null-terminated and live until the call returns; the size is right.
        let code = unsafe { backend.begin(&attr, &mut handle) };
        check(code.get())?;
        Ok(Self {
            table: backend.table(),
            handle,
            _backend: backend,
        })
    }

    pub fn domain(&self, name: &str) -> Domain {
        let name = c(name);
        let attr = nvtxwDomainAttributes_t {
            structSize: size_of::<nvtxwDomainAttributes_t>(),
            name: name.as_ptr(),
        };
        let mut handle = ptr::null_mut();
        call!(self.table, DomainRegister(self.handle, &attr, &mut handle)).unwrap();
        Domain {
            table: self.table,
            handle,
        }
    }

    pub fn stream(&self, name: &str, domain: Domain, scope: u64) -> Stream {
        self.ordered_stream(name, domain, scope, Order::default())
    }

    /// A stream of which this is said.
    pub fn ordered_stream(&self, name: &str, domain: Domain, scope: u64, order: Order) -> Stream {
        let name = c(name);
        let attr = nvtxwStreamAttributes_t {
            structSize: size_of::<nvtxwStreamAttributes_t>(),
            name: name.as_ptr(),
            domain: domain.handle,
            scopeId: scope,
            timeDomainId: 0,
            orderInterleaving: order.interleaving,
            orderingType: order.ordering,
            orderingSkid: order.skid,
            orderingSkidAmount: order.amount,
        };
        let mut handle = ptr::null_mut();
        call!(self.table, StreamOpen(self.handle, &attr, &mut handle)).unwrap();
        Stream {
            table: self.table,
            handle,
        }
    }

    pub fn end(self) -> Result<()> {
        call!(self.table, SessionEnd(self.handle))
    }
}

/// What is said of a stream's order, in the ABI's numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    pub interleaving: i16,
    pub ordering: i16,
    pub skid: i32,
    pub amount: i64,
}

/// An entry of a schema.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub ty: u64,
    pub name: &'a CStr,
    pub flags: u64,
    /// Of an array or a fixed string.
    pub count: u64,
    pub correlation: Option<[u8; 16]>,
    pub unit: Option<&'a CStr>,
    /// The clock of a timestamp.
    pub clock: Option<u64>,
}

pub fn entry(ty: EntryType, name: &CStr) -> Entry<'_> {
    Entry {
        ty: ty.to_raw(),
        name,
        flags: 0,
        count: 0,
        correlation: None,
        unit: None,
        clock: None,
    }
}

/// A 64-bit timestamp with these further roles.
pub fn time(name: &CStr, roles: u64) -> Entry<'_> {
    Entry {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | roles,
        ..entry(EntryType::Int64, name)
    }
}

impl Domain {
    pub fn string(self, text: &str) -> u64 {
        let text = c(text);
        let mut handle = ptr::null_mut();
        call!(
            self.table,
            StringRegister(self.handle, text.as_ptr(), &mut handle)
        )
        .unwrap();
        handle as u64
    }

    pub fn category(self, category: u32, name: &str) {
        let name = c(name);
        call!(
            self.table,
            CategoryRegister(self.handle, category, name.as_ptr())
        )
        .unwrap();
    }

    /// Names a thread of the operating system.
    pub fn name_thread(self, number: u64, name: &CStr) {
        let attr = nvtxResourceAttributes_t {
            version: NVTX_VERSION,
            size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
            identifierType: NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE,
            identifier: nvtxResourceIdentifier_t { ullValue: number },
            messageType: NVTX_MESSAGE_TYPE_ASCII,
            message: nvtxMessageValue_t {
                ascii: name.as_ptr(),
            },
        };
        call!(self.table, ResourceRegister(self.handle, &attr)).unwrap();
    }

    pub fn scope(self, parent: u64, path: &str) -> u64 {
        let path = c(path);
        let attr = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: path.as_ptr(),
            parentScope: parent,
            scopeId: 0,
        };
        let mut id = 0;
        call!(self.table, ScopeRegister(self.handle, &attr, &mut id)).unwrap();
        id
    }

    /// A static schema without padding at the end.
    pub fn schema(self, name: &str, flags: u64, size: usize, entries: &[Entry<'_>]) -> u64 {
        self.register(name, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, flags, size, entries)
    }

    /// A schema of any type, of the size that follows from its entries.
    pub fn schema_of(self, name: &str, ty: u64, flags: u64, entries: &[Entry<'_>]) -> u64 {
        self.register(name, ty, flags, 0, entries)
    }

    /// The schema of whole ranges with a registered name and a number: four words.
    pub fn numbered(self, kind: EventKind) -> u64 {
        let entries = [
            time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
            time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
            Entry {
                flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
                ..entry(EntryType::RegisteredString, c"name")
            },
            entry(EntryType::UInt64, c"number"),
        ];
        self.schema("step", kind.to_raw(), 32, &entries)
    }

    /// The schema of a message in a payload of its own.
    pub fn message_schema(self) -> u64 {
        let message = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE
                | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
            ..entry(EntryType::CStringUtf8, c"message")
        };
        self.register(
            "message",
            NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
            0,
            0,
            &[message],
        )
    }

    fn register(
        self,
        name: &str,
        kind: u64,
        flags: u64,
        size: usize,
        entries: &[Entry<'_>],
    ) -> u64 {
        let correlations: Vec<_> = entries
            .iter()
            .map(|entry| nvtxSemanticsCorrelation_t {
                header: header::<nvtxSemanticsCorrelation_t>(
                    NVTX_SEMANTIC_ID_CORRELATION_V1,
                    NVTX_CORRELATION_SEMANTIC_VERSION,
                ),
                correlationDomainUuid: entry.correlation.unwrap_or_default(),
                displayName: ptr::null(),
                role: 0,
            })
            .collect();
        let clocks: Vec<_> = (entries.iter())
            .map(|entry| nvtxSemanticsTime_t {
                header: header::<nvtxSemanticsTime_t>(
                    NVTX_SEMANTIC_ID_TIME_V1,
                    NVTX_TIME_SEMANTIC_VERSION,
                ),
                timeDomainId: entry.clock.unwrap_or_default(),
            })
            .collect();
        let counters: Vec<_> = (entries.iter())
            .map(|entry| counter_semantics(entry.unit))
            .collect();
        let entries: Vec<_> = entries
            .iter()
            .zip(correlations.iter().zip(counters.iter().zip(&clocks)))
            .map(
                |(entry, (correlation, (counter, clock)))| nvtxPayloadSchemaEntry_t {
                    flags: entry.flags,
                    r#type: entry.ty,
                    name: entry.name.as_ptr(),
                    description: ptr::null(),
                    arrayOrUnionDetail: entry.count,
                    offset: 0,
                    semantics: if entry.correlation.is_some() {
                        &raw const correlation.header
                    } else if entry.unit.is_some() {
                        &raw const counter.header
                    } else if entry.clock.is_some() {
                        &raw const clock.header
                    } else {
                        ptr::null()
                    },
                    reserved: ptr::null(),
                },
            )
            .collect();
        let name = c(name);
        let attr = nvtxPayloadSchemaAttr_t {
            fieldMask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
                | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
            name: name.as_ptr(),
            r#type: kind,
            flags,
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            payloadStaticSize: size,
            packAlign: 0,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        call!(self.table, SchemaRegister(self.handle, &attr, &mut id)).unwrap();
        id
    }

    pub fn enumeration(self, size: usize, values: &[(&CStr, u64)]) -> u64 {
        self.register_enum(size, values, false)
    }

    /// The same for bits that may be combined.
    pub fn flags(self, size: usize, values: &[(&CStr, u64)]) -> u64 {
        self.register_enum(size, values, true)
    }

    fn register_enum(self, size: usize, values: &[(&CStr, u64)], are_flags: bool) -> u64 {
        let entries: Vec<_> = values
            .iter()
            .map(|(name, value)| nvtxPayloadEnum_t {
                name: name.as_ptr(),
                value: *value,
                isFlag: are_flags.into(),
            })
            .collect();
        let attr = nvtxPayloadEnumAttr_t {
            fieldMask: NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
            name: ptr::null(),
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            sizeOfEnum: size,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        call!(self.table, EnumRegister(self.handle, &attr, &mut id)).unwrap();
        id
    }

    pub fn counter(self, name: &str, schema: u64, scope: u64, unit: Option<&CStr>) -> u64 {
        let semantics = unit.map(|unit| counter_semantics(Some(unit)));
        self.register_counter(name, schema, scope, semantics)
    }

    /// A counter of integers, each the difference to the one before.
    pub fn delta_counter(self, name: &str) -> u64 {
        let semantics = nvtxSemanticsCounter_t {
            flags: NVTX_COUNTER_FLAG_VALUETYPE_DELTA,
            ..counter_semantics(None)
        };
        self.register_counter(name, EntryType::Int64.to_raw(), 0, Some(semantics))
    }

    fn register_counter(
        self,
        name: &str,
        schema: u64,
        scope: u64,
        semantics: Option<nvtxSemanticsCounter_t>,
    ) -> u64 {
        let name = c(name);
        let attr = nvtxCounterAttr_t {
            structSize: size_of::<nvtxCounterAttr_t>(),
            schemaId: schema,
            name: name.as_ptr(),
            description: ptr::null(),
            scopeId: scope,
            semantics: match &semantics {
                Some(semantics) => &raw const semantics.header,
                None => ptr::null(),
            },
            counterId: 0,
        };
        let mut id = 0;
        call!(self.table, CounterRegister(self.handle, &attr, &mut id)).unwrap();
        id
    }
}

fn header<T>(id: u16, version: u16) -> nvtxSemanticsHeader_t {
    nvtxSemanticsHeader_t {
        structSize: size_of::<T>() as u32,
        semanticId: id,
        version,
        next: ptr::null(),
    }
}

fn counter_semantics(unit: Option<&CStr>) -> nvtxSemanticsCounter_t {
    nvtxSemanticsCounter_t {
        header: header::<nvtxSemanticsCounter_t>(
            NVTX_SEMANTIC_ID_COUNTERS_V1,
            NVTX_COUNTER_SEMANTIC_VERSION,
        ),
        flags: 0,
        unit: unit.map_or(ptr::null::<c_char>(), CStr::as_ptr),
        unitScaleNumerator: 1,
        unitScaleDenominator: 1,
        limitType: 0,
        min: nvtxCounterLimit_t { u64: 0 },
        max: nvtxCounterLimit_t { u64: 0 },
    }
}

impl Stream {
    /// One event of several payloads: schema and bytes of each.
    pub fn event(&mut self, payloads: &[(u64, &[u8])]) -> Result<()> {
        let payloads: Vec<_> = payloads
            .iter()
            .map(|(schema, bytes)| nvtxPayloadData_t {
                schemaId: *schema,
                size: bytes.len(),
                payload: bytes.as_ptr().cast(),
            })
            .collect();
        call!(
            self.table,
            EventWrite(self.handle, payloads.as_ptr(), payloads.len())
        )
    }

    pub fn batch(&mut self, schema: u64, bytes: &[u8]) -> Result<()> {
        self.ordered_batch(schema, bytes, NVTX_BATCH_FLAG_UNSORTED)
    }

    /// A batch with these flags.
    pub fn ordered_batch(&mut self, schema: u64, bytes: &[u8], flags: u64) -> Result<()> {
        self.scoped_batch(schema, 0, bytes, flags, &[])
    }

    /// The same in a scope, with flexible data if there is some.
    pub fn scoped_batch(
        &mut self,
        schema: u64,
        scope: u64,
        bytes: &[u8],
        flags: u64,
        flex: &[u8],
    ) -> Result<()> {
        let batch = nvtxEventBatch_t {
            eventSchemaId: schema,
            size: bytes.len(),
            events: bytes.as_ptr().cast(),
            scope,
            flags,
            flexData: match flex {
                [] => ptr::null(),
                flex => flex.as_ptr().cast(),
            },
            flexDataSize: flex.len(),
            flexDataOffset: 0,
        };
        call!(self.table, EventBatchWrite(self.handle, &batch))
    }

    pub fn sample(&mut self, time: i64, counter: u64, bytes: &[u8]) -> Result<()> {
        call!(
            self.table,
            CounterWrite(
                self.handle,
                time,
                counter,
                bytes.as_ptr().cast(),
                bytes.len()
            )
        )
    }

    /// Samples with embedded timestamps.
    pub fn samples(&mut self, counter: u64, bytes: &[u8]) -> Result<()> {
        let batch = nvtxCounterBatch_t {
            counterId: counter,
            counters: bytes.as_ptr().cast(),
            countersSize: bytes.len(),
            flags: 0,
            timestamps: ptr::null(),
            timestampsSize: 0,
        };
        call!(self.table, CounterBatchWrite(self.handle, &batch))
    }

    pub fn no_value(&mut self, time: i64, counter: u64, reason: u8) -> Result<()> {
        call!(
            self.table,
            CounterNoValueWrite(self.handle, time, counter, reason)
        )
    }

    /// The same instant on two clocks.
    pub fn sync(&mut self, clocks: [u64; 2], times: [i64; 2]) -> Result<()> {
        let ([source, destination], [at, other]) = (clocks, times);
        call!(
            self.table,
            TimeSyncPointWrite(self.handle, source, destination, at, other)
        )
    }

    pub fn close(self) -> Result<()> {
        call!(self.table, StreamClose(self.handle))
    }
}

/// The schemas of plain events with a registered message.
#[derive(Clone, Copy)]
pub struct Plain {
    pub mark: u64,
    pub pushpop: u64,
    pub startend: u64,
    pub push: u64,
    pub pop: u64,
    pub start: u64,
    pub end: u64,
}

impl Plain {
    pub fn new(domain: Domain) -> Self {
        const BEGIN: u64 = NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
        const END: u64 = NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
        let message = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"message")
        };
        let id = entry(EntryType::RangeId, c"range_id");
        let schema = |kind: EventKind, entries: &[Entry<'_>]| {
            domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, entries)
        };
        Self {
            mark: schema(
                EventKind::Mark,
                &[time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK), message],
            ),
            pushpop: schema(
                EventKind::RangePushPop,
                &[time(c"start", BEGIN), time(c"end", END), message],
            ),
            startend: schema(
                EventKind::RangeStartEnd,
                &[time(c"start", BEGIN), time(c"end", END), message],
            ),
            push: schema(EventKind::RangePush, &[time(c"start", BEGIN), message]),
            pop: schema(EventKind::RangePop, &[time(c"end", END)]),
            start: schema(EventKind::RangeStart, &[id, time(c"start", BEGIN), message]),
            end: schema(EventKind::RangeEnd, &[id, time(c"end", END)]),
        }
    }
}

/// 64-bit fields.
pub fn words(words: &[i64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
