//! What pointers in events and samples lead to: through a capture, and through a layer that passes calls on.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, ptr};

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::{Library, table};
use nvtxw_backend::ResultCode;
use nvtxw_backend::call::{
    EntryAttributes, EventCall, Memory, PayloadBytes, Piece, Pointer, Registration,
    SchemaAttributes, StreamAttributes, WriteCall,
};
use nvtxw_backend::relay::{Origin, Relay};
use nvtxw_file::capture::replay::{Replay, Replayed};
use nvtxw_file::capture::{Ending, Reader, Record};

use crate::layer::Layer;

const I64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const SCOPE: u64 = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const COPIED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
const FIXED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;

/// Calls a member of the table, which takes it.
macro_rules! call {
    ($table:expr, $member:ident($($argument:expr),* $(,)?)) => {{
        let member = $table.$member.expect("a baseline member");
        // SAFETY:
        // - Pointers are null or lead to values that live until the call returns, and sizes beside them are those of the values.
        // - So do pointers in payloads, as the entries say that hold them.
        let code = unsafe { member($($argument),*) };
        assert_eq!(code, NVTXW_RESULT_SUCCESS, stringify!($member));
    }};
}

macro_rules! bytes {
    ($($value:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $( bytes.extend_from_slice(&$value.to_ne_bytes()); )*
        bytes
    }};
}

/// The table of a library with this backend: so its producer promises that its pointers hold.
macro_rules! library {
    ($backend:expr) => {{
        static LIBRARY: Library = Library::new(|| Box::new($backend));
        static TABLE: nvtxwInterface_v2_t = table(begin);

        unsafe extern "C" fn begin(
            attr: *const nvtxwSessionAttributes_t,
            out: *mut nvtxwSessionHandle_t,
        ) -> nvtxwResultCode_t {
            // SAFETY:
            // - Only `write` calls it, whose pointers hold.
            unsafe { LIBRARY.session_begin(attr, out) }
        }
        &TABLE
    }};
}

fn entry(flags: u64, ty: u64, name: &'static CStr, offset: u64) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        flags,
        r#type: ty,
        name: name.as_ptr(),
        description: ptr::null(),
        arrayOrUnionDetail: if flags & FIXED == FIXED { 2 } else { 0 },
        offset,
        semantics: ptr::null(),
        reserved: ptr::null(),
    }
}

fn schema(
    table: &nvtxwInterface_v2_t,
    domain: nvtxDomainHandle_t,
    flags: u64,
    entries: &[nvtxPayloadSchemaEntry_t],
) -> u64 {
    let attr = nvtxPayloadSchemaAttr_t {
        fieldMask: NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
        name: ptr::null(),
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        flags: flags | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY,
        entries: entries.as_ptr(),
        numEntries: entries.len(),
        payloadStaticSize: 40,
        packAlign: 0,
        schemaId: 0,
        extension: ptr::null_mut(),
    };
    let mut id = 0;
    call!(table, SchemaRegister(domain, &attr, &mut id));
    id
}

/// Bytes in a place of their own, and where that is.
fn outside(bytes: impl Into<Box<[u8]>>) -> (Box<[u8]>, u64) {
    let bytes = bytes.into();
    let address = bytes.as_ptr().expose_provenance() as u64;
    (bytes, address)
}

fn write(table: &nvtxwInterface_v2_t, config: &str) {
    write_with(table, config, 0);
}

/// Writes events and samples, one by one and in batches, whose pointers lead out of them. The last entry has this reserved pointer.
fn write_with(table: &nvtxwInterface_v2_t, config: &str, reserved: usize) {
    let config = CString::new(config).unwrap();
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: c"pointers".as_ptr(),
        configString: config.as_ptr(),
    };
    let mut session = ptr::null_mut();
    call!(table, SessionBegin(&attr, &mut session));
    let attr = nvtxwDomainAttributes_t {
        structSize: size_of::<nvtxwDomainAttributes_t>(),
        name: c"sim".as_ptr(),
    };
    let mut domain = ptr::null_mut();
    call!(table, DomainRegister(session, &attr, &mut domain));
    let string = |text: &CStr| {
        let mut string = ptr::null_mut();
        call!(table, StringRegister(domain, text.as_ptr(), &mut string));
        string.expose_provenance() as u64
    };
    let (gemm, relu) = (string(c"gemm"), string(c"relu"));

    let scope = |path: &CStr| {
        let attr = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: path.as_ptr(),
            parentScope: NVTX_SCOPE_ROOT,
            scopeId: 0,
        };
        let mut id = 0;
        call!(table, ScopeRegister(domain, &attr, &mut id));
        id
    };
    let (_cpu, gpu) = (scope(c"CPU"), scope(c"GPU"));

    let time = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK;
    let entries = [
        entry(time, I64, c"time", 0),
        entry(0, TEXT, c"text", 8),
        entry(COPIED | FIXED, U16, c"numbers", 16),
        entry(0, STRING, c"name", 24),
        entry(COPIED, STRING, c"far name", 32),
    ];
    let mark = schema(table, domain, NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    // Samples consist of numbers.
    let entries = [
        entry(0, I64, c"near", 0),
        entry(COPIED, I64, c"far", 8),
        entry(COPIED | FIXED, U16, c"numbers", 16),
        entry(0, SCOPE, c"scope", 24),
        nvtxPayloadSchemaEntry_t {
            reserved: ptr::without_provenance(reserved),
            ..entry(0, I64, c"last", 32)
        },
    ];
    let role = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
    let group = schema(table, domain, role, &entries);
    let attr = nvtxCounterAttr_t {
        structSize: size_of::<nvtxCounterAttr_t>(),
        schemaId: group,
        name: c"group".as_ptr(),
        description: ptr::null(),
        scopeId: NVTX_SCOPE_NONE,
        semantics: ptr::null(),
        counterId: 0,
    };
    let mut counter = 0;
    call!(table, CounterRegister(domain, &attr, &mut counter));
    let attr = nvtxwStreamAttributes_t {
        structSize: size_of::<nvtxwStreamAttributes_t>(),
        name: c"gpu".as_ptr(),
        domain,
        scopeId: NVTX_SCOPE_NONE,
        timeDomainId: 0,
        orderInterleaving: 0,
        orderingType: 0,
        orderingSkid: 0,
        orderingSkidAmount: 0,
    };
    let mut stream = ptr::null_mut();
    call!(table, StreamOpen(session, &attr, &mut stream));

    let (_text, text) = outside(*b"out there\0");
    let (_numbers, numbers) = outside(bytes![7_u16, 0_u16]);
    let (_far, far) = outside(bytes![relu]);
    let row = |time: i64| match time % 3 {
        0 => bytes![time, text, numbers, gemm, far],
        // An empty text is one; null is none.
        1 => bytes![time, text + 9, 0_u64, relu, 0_u64],
        _ => bytes![time, 0_u64, numbers, 0_u64, far],
    };
    let rows: Vec<u8> = (3..9).flat_map(row).collect();
    let (_number, number) = outside(bytes![-77_i64]);
    let sample = |time: i64| match time % 3 {
        0 => bytes![time, number, numbers, gpu, time],
        1 => bytes![time, 0_u64, numbers, 0_u64, time],
        _ => bytes![time, number, 0_u64, gpu, time],
    };
    let samples: Vec<u8> = (3..9).flat_map(sample).collect();
    let times: Vec<i64> = (3..9).collect();
    for time in 0..3 {
        let row = row(time);
        let payload = nvtxPayloadData_t {
            schemaId: mark,
            size: row.len(),
            payload: row.as_ptr().cast(),
        };
        // Text that ends with its null, empty at last.
        let text = nvtxPayloadData_t {
            schemaId: TEXT,
            size: usize::MAX,
            payload: c"xy".to_bytes_with_nul()[time as usize..].as_ptr().cast(),
        };
        call!(table, EventWrite(stream, [payload, text].as_ptr(), 2));
        let sample = sample(time);
        let data: *const c_void = sample.as_ptr().cast();
        call!(
            table,
            CounterWrite(stream, time, counter, data, sample.len())
        );
    }
    let batch = nvtxEventBatch_t {
        eventSchemaId: mark,
        events: rows.as_ptr().cast(),
        size: rows.len(),
        scope: NVTX_SCOPE_NONE,
        flags: 0,
        flexData: ptr::null(),
        flexDataSize: 0,
        flexDataOffset: 0,
    };
    call!(table, EventBatchWrite(stream, &batch));
    let batch = nvtxCounterBatch_t {
        counterId: counter,
        counters: samples.as_ptr().cast(),
        countersSize: samples.len(),
        flags: 0,
        timestamps: times.as_ptr(),
        timestampsSize: size_of_val(&*times),
    };
    call!(table, CounterBatchWrite(stream, &batch));
    call!(table, StreamClose(stream));
    call!(table, SessionEnd(session));
}

/// What the recorder gets, called by the producer itself.
fn direct() -> Vec<String> {
    write(&nvtxw_recorder::TABLE, "level=3");
    let lines = nvtxw_recorder::take("pointers").unwrap();
    let text = lines.join("\n");
    for (part, count) in [
        (r#""text":"out there""#, 3),
        (r#""text":"""#, 4),
        (r#""text":"xy""#, 1),
        (r#""text":null"#, 3),
        (r#""numbers":[7,0]"#, 12),
        (r#""far name":"relu""#, 6),
        (r#""name":"gemm""#, 3),
        (r#""far":-77"#, 6),
        (r#""scope":"scope 2""#, 6),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part} in\n{text}");
    }
    lines
}

fn recorder() -> Relay {
    // SAFETY:
    // - The recorder implements the ABI, takes calls from any thread and doesn't unwind. It follows pointers as the schemas say.
    unsafe { Relay::to_table(&nvtxw_recorder::TABLE) }.unwrap()
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The built-in backend as a library.
pub fn following() -> &'static nvtxwInterface_v2_t {
    library!(nvtxw_file::FileBackend::new())
}

/// What is written, as a capture.
pub fn capture(name: &str) -> PathBuf {
    capture_with(name, 0)
}

fn capture_with(name: &str, reserved: usize) -> PathBuf {
    let path = place(name);
    let config = format!(
        "format=capture|path={}|overwrite=true|level=3",
        path.display()
    );
    write_with(following(), &config, reserved);
    path
}

#[track_caller]
fn replay(path: &Path, replay: &Replay) -> Replayed {
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let replayed = replay.run(&mut reader, |_| ()).unwrap();
    assert_eq!(replayed.refused(), 0, "{:?}", replayed.refusals);
    assert!(matches!(replayed.ending, Ok(Ending::Whole)));
    replayed.end.as_ref().unwrap();
    replayed
}

#[test]
fn a_capture_replays_call_for_call() {
    let _held = crate::recorder();
    let direct = direct();
    let path = capture("pointers.nvtxw");
    let replayed = replay(&path, &Replay::new(recorder()).set("level", "3"));
    let lines = nvtxw_recorder::take("pointers").unwrap();
    assert_eq!(lines.len() as u64, replayed.calls + 2);
    for (line, direct) in lines.iter().zip(&direct).skip(1) {
        assert_eq!(line, direct);
    }
    assert_eq!(lines.len(), direct.len());
}

#[test]
fn reserved_pointers_are_kept() {
    let path = capture_with("reserved.nvtxw", 7);
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut reserved = Vec::new();
    let mut take = |record: &Record<'_>| {
        if let Record::Registration {
            registration: Registration::Schema { attributes, .. },
            ..
        } = record
        {
            let entries = attributes.entries.iter();
            reserved.push(entries.map(|entry| entry.reserved).collect::<Vec<_>>());
        }
    };
    while reader.next(&mut take).unwrap().is_some() {}
    assert_eq!(reserved, [[0; 5], [0, 0, 0, 0, 7]]);
}

#[test]
fn a_layer_passes_all_on() {
    let _held = crate::recorder();
    let direct = direct();
    write(library!(Layer(recorder())), "level=3");
    assert_eq!(nvtxw_recorder::take("pointers").unwrap(), direct);
}

#[test]
fn a_file_made_of_a_capture_is_that_of_the_program() {
    let _held = crate::recorder();
    let capture = capture("converted.nvtxw");
    let (direct, converted) = (
        place("pointers-direct.json"),
        place("pointers-converted.json"),
    );
    let config = |path: &Path| format!("format=chrome|path={}|overwrite=true", path.display());
    write(following(), &config(&direct));
    let relay = Relay::to_instance(nvtxw_file::in_process());
    let to = Replay::new(relay)
        .set("format", "chrome")
        .set("path", converted.to_str().unwrap())
        .set("overwrite", "true");
    replay(&capture, &to);
    let (direct, converted) = (fs::read_to_string(direct), fs::read_to_string(converted));
    let direct = direct.unwrap();
    assert!(direct.matches("out there").count() >= 3, "{direct}");
    assert_eq!(converted.unwrap(), direct);
}

/// Writes an event of a recording, which says what its pointers lead to, to the built-in backend as a library.
fn recorded(memory: &Memory, pointers: [u64; 2]) -> nvtxw_backend::Result<()> {
    let entries = [(COPIED, U16, 0), (COPIED, TEXT, 0)];
    recorded_as(&entries, memory, &bytes![1_i64, pointers[0], pointers[1]])
}

/// The same of other entries: flags, type and offset. One at a time, for all write the same file.
fn recorded_as(
    entries: &[(u64, u64, u64)],
    memory: &Memory,
    bytes: &[u8],
) -> nvtxw_backend::Result<()> {
    static FILE: Mutex<()> = Mutex::new(());

    let _held = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY:
    // - The table is that of the built-in backend, which follows pointers. Those that it gets, the relay has looked at.
    let relay = unsafe { Relay::to_table(following()) }.unwrap();
    let path = place("recorded.json");
    let config = format!("format=chrome|path={}|overwrite=true", path.display());
    let config = CString::new(config).unwrap();
    let session = relay.begin(Some(c"recorded"), Some(&config), Origin::Recorded)?;
    let name = Some(c"sim");
    session.register(0, &Registration::Domain { name })?;
    let entry = |(flags, ty, offset): &(u64, u64, u64)| EntryAttributes {
        flags: *flags,
        ty: *ty,
        offset: *offset,
        ..EntryAttributes::default()
    };
    let time = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK;
    let time = (time, I64, 0);
    let attributes = SchemaAttributes {
        id: 0,
        mask: u64::MAX >> 1,
        kind: NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        flags: NVTX_PAYLOAD_SCHEMA_FLAG_MARK | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY,
        size: 0,
        pack: 0,
        name: None,
        entries: [time].iter().chain(entries).map(entry).collect(),
    };
    let id = 1 << 32;
    session.register(0, &Registration::Schema { attributes, id })?;
    let mut stream = session.open_stream(&StreamAttributes {
        name: Some(c"gpu"),
        domain: 0,
        names_domain: true,
        scope: 0,
        time_domain: 0,
        interleaving: 0,
        ordering: 0,
        skid: 0,
        skid_amount: 0,
    })?;
    let payloads = [PayloadBytes {
        schema: id,
        bytes,
        is_terminated: false,
    }];
    let call = EventCall::with_memory(&payloads, memory);
    let written = stream.write(&WriteCall::Event(call));
    session.end()?;
    written
}

#[test]
fn what_a_recording_does_not_tell_of_is_not_followed() {
    let piece = |address: u64, bytes: &[u8]| Piece {
        address,
        bytes: bytes.to_vec(),
    };
    let mut memory = Memory {
        addresses: vec![0x1000],
        pieces: vec![piece(0x4000, &[7, 0]), piece(0x5000, b"text\0")],
        pointers: [8, 16].map(|offset| Pointer { part: 0, offset }).to_vec(),
    };
    recorded(&memory, [0x4000, 0x5000]).unwrap();
    let refused = |memory: &Memory, pointers: [u64; 2]| {
        let refusal = recorded(memory, pointers).unwrap_err();
        assert_eq!(refusal.code(), ResultCode::NOT_SUPPORTED);
        refusal.reason().to_owned()
    };
    let nowhere = "a pointer leads to 0x6000, and nothing says what is there";
    assert_eq!(refused(&memory, [0x6000, 0x5000]), nowhere);
    // It is a pointer, whether the recording says so or not.
    memory.pointers.remove(0);
    assert_eq!(refused(&memory, [0x6000, 0x5000]), nowhere);
    memory.pointers[0].part = 3;
    let refusal = recorded(&memory, [0, 0x5000]).unwrap_err();
    assert_eq!(
        refusal.reason(),
        "a pointer is said to be where no payload is"
    );
}

#[test]
fn what_is_translated_leads_no_pointer_astray() {
    let memory = Memory {
        addresses: vec![0x1000],
        pieces: vec![Piece {
            address: 0x4000,
            bytes: vec![7, 0],
        }],
        pointers: vec![Pointer { part: 0, offset: 8 }],
    };
    let bytes = bytes![1_i64, 0x4000_u64, 0_u64];
    // A handle takes four bytes of the pointer; it is one of no string, so that they become zeros.
    let entries = [(COPIED, U16, 8), (0, STRING, 12)];
    let refused = recorded_as(&entries, &memory, &bytes).unwrap_err();
    assert_eq!(refused.code(), ResultCode::NOT_SUPPORTED);
    assert!(
        refused.reason().starts_with("a pointer leads to 0x"),
        "{refused}"
    );
    recorded_as(&[(COPIED, U16, 8), (0, STRING, 16)], &memory, &bytes).unwrap();
}
