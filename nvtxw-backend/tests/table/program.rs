//! A program that uses the table, in the manner of C.

use std::cell::RefCell;
use std::ffi::CStr;
use std::ptr;
use std::sync::Once;

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::{Library, table};
use nvtxw_backend::{InProcess, ResultCode, in_process, log};

use crate::recorder::{Journal, Recorder};

thread_local! {
    static REPORTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A refusal as the program sees it: the code, and what the log said: `member on "object": reason`.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    pub code: ResultCode,
    pub report: String,
}

pub type Outcome<T = ()> = Result<T, Refused>;

/// Whether the outcome is a refusal with this code and this whole report.
#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(outcome: Outcome<T>, code: ResultCode, report: &str) {
    assert_eq!(
        outcome.expect_err("a refusal"),
        Refused {
            code,
            report: report.to_owned()
        }
    );
}

#[track_caller]
pub fn assert_invalid<T: std::fmt::Debug>(outcome: Outcome<T>, report: &str) {
    assert_refused(outcome, ResultCode::INVALID_ARGUMENT, report);
}

#[track_caller]
pub fn assert_failed<T: std::fmt::Debug>(outcome: Outcome<T>, report: &str) {
    assert_refused(outcome, ResultCode::FAILED, report);
}

#[track_caller]
pub fn assert_unsupported<T: std::fmt::Debug>(outcome: Outcome<T>, report: &str) {
    assert_refused(outcome, ResultCode::NOT_SUPPORTED, report);
}

/// The code and the report of one call.
pub fn call(call: impl FnOnce() -> nvtxwResultCode_t) -> Outcome {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        log::set_hook(Some(|report| {
            let line = format!(
                "{} on {:?}: {}",
                report.member,
                report.object,
                report.refusal.reason()
            );
            REPORTS.with_borrow_mut(|reports| reports.push(line));
        }));
    });

    REPORTS.take();
    let code = ResultCode::new(call());
    let reports = REPORTS.take();
    match (code.is_success(), &*reports) {
        (true, []) => Ok(()),
        (false, [report]) => Err(Refused {
            code,
            report: report.clone(),
        }),
        // A layer tells what the backend behind it has told.
        (false, [behind, report]) if behind == report => Err(Refused {
            code,
            report: report.clone(),
        }),
        _ => panic!("{code} with the reports {reports:?}"),
    }
}

pub type Session = nvtxwSessionHandle_t;
pub type Domain = nvtxDomainHandle_t;
pub type Stream = nvtxwStreamHandle_t;

/// A program with a backend of its own.
pub struct Program {
    pub journal: Journal,
    backend: Backend,
}

enum Backend {
    InProcess(InProcess),
    Library(Library),
}

thread_local! {
    /// That of the next recorder in a library.
    static JOURNAL: RefCell<Journal> = RefCell::default();
}

/// Calls a member of the table.
macro_rules! member {
    ($program:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        let member = $program.table().$member.expect("a baseline member");
        // SAFETY:
        // - The tests give pointers that are null or valid, as the member wants them.
        $crate::program::call(|| unsafe { member($($argument),*) })
    }};
}
pub(crate) use member;

/// A text argument: null for `None`.
pub fn text(text: Option<&CStr>) -> *const std::ffi::c_char {
    text.map_or(ptr::null(), CStr::as_ptr)
}

impl Program {
    /// With the recorder as its backend.
    pub fn new() -> Self {
        let journal = Journal::default();
        Self {
            backend: Backend::InProcess(in_process(Recorder(journal.clone()))),
            journal,
        }
    }

    /// With the recorder in a library, so that the program promises that its pointers hold.
    pub fn loaded() -> Self {
        let journal = Journal::default();
        JOURNAL.set(journal.clone());
        Self {
            journal,
            ..Self::of_library(Library::new(|| Box::new(Recorder(JOURNAL.take()))))
        }
    }

    /// With another library; the journal stays empty.
    pub fn of_library(library: Library) -> Self {
        Self {
            backend: Backend::Library(library),
            journal: Journal::default(),
        }
    }

    /// With another backend; the journal stays empty.
    pub fn of(backend: InProcess) -> Self {
        Self {
            backend: Backend::InProcess(backend),
            journal: Journal::default(),
        }
    }

    pub fn table(&self) -> &'static nvtxwInterface_v2_t {
        static TABLE: nvtxwInterface_v2_t = table(no_session);

        /// A library's own would know which library it is.
        unsafe extern "C" fn no_session(
            _: *const nvtxwSessionAttributes_t,
            _: *mut nvtxwSessionHandle_t,
        ) -> nvtxwResultCode_t {
            NVTXW_RESULT_NOT_SUPPORTED
        }

        match &self.backend {
            Backend::InProcess(backend) => backend.table(),
            Backend::Library(_) => &TABLE,
        }
    }

    pub fn begin_with(&self, attr: &nvtxwSessionAttributes_t) -> Outcome<Session> {
        let mut session = ptr::null_mut();
        call(|| match &self.backend {
            Backend::InProcess(backend) => {
                // SAFETY:
                // - The tests give texts that are null or null-terminated.
                unsafe { backend.begin(attr, &mut session) }.get()
            }
            Backend::Library(library) => {
                // SAFETY:
                // - The tests give texts that are null or null-terminated, and then pointers that hold.
                unsafe { library.session_begin(attr, &mut session) }
            }
        })?;
        assert!(!session.is_null());
        Ok(session)
    }

    pub fn begin(&self, name: &CStr) -> Session {
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: name.as_ptr(),
            configString: ptr::null(),
        };
        self.begin_with(&attr).expect("a session")
    }

    pub fn end(&self, session: Session) -> Outcome {
        member!(self, SessionEnd(session))
    }

    /// `None` is the null attribute.
    pub fn domain(&self, session: Session, name: Option<&CStr>) -> Outcome<Domain> {
        let attr = name.map(|name| nvtxwDomainAttributes_t {
            structSize: size_of::<nvtxwDomainAttributes_t>(),
            name: name.as_ptr(),
        });
        let mut domain = ptr::null_mut();
        let attr = attr.as_ref().map_or(ptr::null(), ptr::from_ref);
        member!(self, DomainRegister(session, attr, &mut domain))?;
        assert!(!domain.is_null());
        Ok(domain)
    }

    pub fn string(&self, domain: Domain, text: &CStr) -> Outcome<nvtxStringHandle_t> {
        let mut string = ptr::null_mut();
        member!(self, StringRegister(domain, text.as_ptr(), &mut string))?;
        Ok(string)
    }

    pub fn scope(&self, domain: Domain, parent: u64, path: Option<&CStr>, id: u64) -> Outcome<u64> {
        let attr = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: text(path),
            parentScope: parent,
            scopeId: id,
        };
        let mut out = 0;
        member!(self, ScopeRegister(domain, &attr, &mut out))?;
        Ok(out)
    }

    pub fn schema(&self, domain: Domain, attr: &nvtxPayloadSchemaAttr_t) -> Outcome<u64> {
        let mut out = 0;
        member!(self, SchemaRegister(domain, attr, &mut out))?;
        Ok(out)
    }

    /// A schema of marks with nothing but their times.
    pub fn mark(&self, domain: Domain) -> u64 {
        let entries = mark_entries();
        let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
        self.schema(domain, &attr).expect("a schema")
    }

    pub fn enumeration(&self, domain: Domain, attr: &nvtxPayloadEnumAttr_t) -> Outcome<u64> {
        let mut out = 0;
        member!(self, EnumRegister(domain, attr, &mut out))?;
        Ok(out)
    }

    pub fn counter(&self, domain: Domain, attr: &nvtxCounterAttr_t) -> Outcome<u64> {
        let mut out = 0;
        member!(self, CounterRegister(domain, attr, &mut out))?;
        Ok(out)
    }

    pub fn open_with(&self, session: Session, attr: &nvtxwStreamAttributes_t) -> Outcome<Stream> {
        let mut stream = ptr::null_mut();
        member!(self, StreamOpen(session, attr, &mut stream))?;
        assert!(!stream.is_null());
        Ok(stream)
    }

    pub fn open(&self, session: Session, name: &CStr, domain: Domain) -> Stream {
        self.open_with(session, &stream_attr(name, domain))
            .expect("a stream")
    }

    pub fn close(&self, stream: Stream) -> Outcome {
        member!(self, StreamClose(stream))
    }

    pub fn write(&self, stream: Stream, payloads: &[nvtxPayloadData_t]) -> Outcome {
        member!(self, EventWrite(stream, payloads.as_ptr(), payloads.len()))
    }

    pub fn write_batch(&self, stream: Stream, batch: &nvtxEventBatch_t) -> Outcome {
        member!(self, EventBatchWrite(stream, batch))
    }

    pub fn write_counter(&self, stream: Stream, time: i64, counter: u64, data: &[u8]) -> Outcome {
        member!(
            self,
            CounterWrite(stream, time, counter, data.as_ptr().cast(), data.len())
        )
    }

    pub fn write_counters(&self, stream: Stream, batch: &nvtxCounterBatch_t) -> Outcome {
        member!(self, CounterBatchWrite(stream, batch))
    }

    /// A session, its default domain and a stream in that; the journal starts after them.
    pub fn ready(&self) -> (Session, Domain, Stream) {
        let session = self.begin(c"run");
        let domain = self.domain(session, None).expect("a domain");
        let stream = self.open(session, c"gpu", domain);
        self.journal.take();
        (session, domain, stream)
    }
}

pub fn stream_attr(name: &CStr, domain: Domain) -> nvtxwStreamAttributes_t {
    nvtxwStreamAttributes_t {
        structSize: size_of::<nvtxwStreamAttributes_t>(),
        name: name.as_ptr(),
        domain,
        scopeId: NVTX_SCOPE_NONE,
        timeDomainId: 0,
        orderInterleaving: 0,
        orderingType: 0,
        orderingSkid: 0,
        orderingSkidAmount: 0,
    }
}

/// An address that nothing is at, for what must not be read.
pub fn garbage<T>() -> *mut T {
    ptr::without_provenance_mut(0xDEAD_BEEF_0BAD)
}

pub const TIMESTAMP: u64 = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
pub const MARK_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK;
pub const BEGIN_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
pub const END_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
pub const MESSAGE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
pub const FIXED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;

/// An entry whose offset is computed.
pub fn entry(flags: u64, ty: u64, name: &'static CStr) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        flags,
        r#type: ty,
        name: name.as_ptr(),
        description: ptr::null(),
        arrayOrUnionDetail: 0,
        offset: 0,
        semantics: ptr::null(),
        reserved: ptr::null(),
    }
}

/// A fixed array, or a fixed string.
pub fn array(flags: u64, ty: u64, name: &'static CStr, count: u64) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: count,
        ..entry(flags | FIXED, ty, name)
    }
}

pub fn at(offset: u64, entry: nvtxPayloadSchemaEntry_t) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t { offset, ..entry }
}

/// A static schema, with garbage in every field that its mask doesn't name.
pub fn schema_attr(flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
        name: garbage(),
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        flags,
        entries: entries.as_ptr(),
        numEntries: entries.len(),
        payloadStaticSize: 0xDEAD,
        packAlign: 0xDEAD,
        schemaId: 0xDEAD,
        extension: garbage(),
    }
}

pub fn named(name: &'static CStr, attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: attr.fieldMask | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME,
        name: name.as_ptr(),
        ..attr
    }
}

pub fn sized(size: usize, attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: attr.fieldMask | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
        payloadStaticSize: size,
        ..attr
    }
}

pub fn packed(pack: usize, attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: attr.fieldMask | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT,
        packAlign: pack,
        ..attr
    }
}

pub fn with_id(id: u64, attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: attr.fieldMask | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
        schemaId: id,
        ..attr
    }
}

pub fn dynamic(attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
        ..attr
    }
}

/// A union with external selector.
pub fn union(attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
        ..attr
    }
}

/// A union with internal selector.
pub fn selecting(attr: nvtxPayloadSchemaAttr_t) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
        ..attr
    }
}

/// The message schema of the C helpers.
pub fn message_attr(entries: &[nvtxPayloadSchemaEntry_t; 1]) -> nvtxPayloadSchemaAttr_t {
    dynamic(schema_attr(0, entries))
}

pub fn message_entry() -> nvtxPayloadSchemaEntry_t {
    entry(
        MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
        NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8,
        c"message",
    )
}

/// A mark with nothing but its time.
pub fn mark_entries() -> [nvtxPayloadSchemaEntry_t; 1] {
    [entry(MARK_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"time")]
}

pub fn pushpop_entries() -> [nvtxPayloadSchemaEntry_t; 2] {
    [
        entry(BEGIN_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"start"),
        entry(END_TIME, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"end"),
    ]
}

pub fn enum_attr(entries: &[nvtxPayloadEnum_t], size: usize) -> nvtxPayloadEnumAttr_t {
    nvtxPayloadEnumAttr_t {
        fieldMask: NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME
            | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
            | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
        name: c"Color".as_ptr(),
        entries: entries.as_ptr(),
        numEntries: entries.len(),
        sizeOfEnum: size,
        schemaId: 0xDEAD,
        extension: garbage(),
    }
}

pub fn enum_entry(name: &'static CStr, value: u64) -> nvtxPayloadEnum_t {
    nvtxPayloadEnum_t {
        name: name.as_ptr(),
        value,
        isFlag: 0,
    }
}

pub fn counter_attr(name: &'static CStr, schema: u64) -> nvtxCounterAttr_t {
    nvtxCounterAttr_t {
        structSize: size_of::<nvtxCounterAttr_t>(),
        schemaId: schema,
        name: name.as_ptr(),
        description: ptr::null(),
        scopeId: NVTX_SCOPE_NONE,
        semantics: ptr::null(),
        counterId: NVTX_COUNTER_ID_NONE,
    }
}

pub fn payload(schema: u64, bytes: &[u8]) -> nvtxPayloadData_t {
    nvtxPayloadData_t {
        schemaId: schema,
        size: bytes.len(),
        payload: bytes.as_ptr().cast(),
    }
}

pub fn batch(schema: u64, bytes: &[u8]) -> nvtxEventBatch_t {
    nvtxEventBatch_t {
        eventSchemaId: schema,
        size: bytes.len(),
        events: bytes.as_ptr().cast(),
        scope: NVTX_SCOPE_NONE,
        flags: NVTX_BATCH_FLAG_TIME_SORTED,
        flexData: ptr::null(),
        flexDataSize: 0,
        flexDataOffset: 0,
    }
}

pub fn counter_batch(counter: u64, bytes: &[u8], timestamps: Option<&[i64]>) -> nvtxCounterBatch_t {
    nvtxCounterBatch_t {
        counterId: counter,
        counters: bytes.as_ptr().cast(),
        countersSize: bytes.len(),
        flags: NVTX_BATCH_FLAG_TIME_SORTED,
        timestamps: timestamps.map_or(ptr::null(), <[i64]>::as_ptr),
        timestampsSize: timestamps.map_or(0, size_of_val),
    }
}

/// The bytes of values, one after the other.
macro_rules! bytes {
    ($($value:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $( bytes.extend_from_slice(&$value.to_ne_bytes()); )*
        bytes
    }};
}
pub(crate) use bytes;

/// The number of a handle.
pub fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

pub fn handle<T>(number: u64) -> *mut T {
    ptr::without_provenance_mut(number as usize)
}
