//! A layer that passes all on to another backend: what is translated, and where.

use std::cell::RefCell;
use std::ffi::CStr;

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::Library;
use nvtxw_backend::call::{
    EntryAttributes, EventCall, Memory, PayloadBytes, Piece, Pointer, Registration,
    SchemaAttributes, StreamAttributes, WriteCall,
};
use nvtxw_backend::in_process;
use nvtxw_backend::relay::{Origin, Relay};

use crate::layer::Layer;
use crate::program::*;
use crate::recorder::{Journal, Recorder};
use crate::scene::Scene;

const STRING: u64 = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
const SCOPE: u64 = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;
const TEXT: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const I64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
const BASE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE;
const POINTER: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
const GROUP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
/// A pointer to what is to be copied, in a schema that holds such.
const COPIED: u64 = POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
const COPIES: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY;
const TIME: u64 = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;
const TO_ZERO: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;

fn detail(detail: u64, entry: nvtxPayloadSchemaEntry_t) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: detail,
        ..entry
    }
}

/// A scene whose scopes and schemas have other IDs behind the layer: the layer knows of more.
fn scene() -> Scene {
    let scene = Scene::relayed();
    // Not in the domain of the stream, so that handles differ too.
    let other = (scene.program.domain(scene.session, Some(c"other"))).expect("a domain");
    scene.program.string(other, c"elsewhere").expect("a string");
    scene
}

thread_local! {
    /// That of the next recorder behind a layer.
    static JOURNAL: RefCell<Journal> = RefCell::default();
}

impl Scene {
    /// With a layer in a library, which passes all on to the recorder in the same program.
    pub fn relayed() -> Self {
        let journal = Journal::default();
        JOURNAL.set(journal.clone());
        let mut program = Program::of_library(Library::new(|| {
            let recorder = in_process(Recorder(JOURNAL.take()));
            Box::new(Layer(Relay::to_instance(recorder)))
        }));
        program.journal = journal;
        Self::of(program)
    }

    fn string(&self, text: &'static CStr) -> u64 {
        number(self.program.string(self.domain, text).expect("a string"))
    }

    fn scope(&self, path: &'static CStr) -> u64 {
        let scope = self
            .program
            .scope(self.domain, NVTX_SCOPE_ROOT, Some(path), 0);
        scope.expect("a scope")
    }

    #[track_caller]
    fn batched(&self, batch: &nvtxEventBatch_t) -> Vec<String> {
        self.program
            .write_batch(self.stream, batch)
            .expect("written");
        self.program.journal.take()
    }
}

#[test]
fn strings_and_scopes_are_found_wherever_they_are() {
    let scene = scene();
    let (gemm, relu) = (scene.string(c"gemm"), scene.string(c"relu"));
    let gpu = scene.scope(c"GPU[0]");
    // In nested structs, arrays, behind varying fields, in a union's member.
    let pair = scene.schema(0, &[entry(0, STRING, c"a"), entry(0, SCOPE, c"b")]);
    let either = (scene.program)
        .schema(
            scene.domain,
            &union(schema_attr(
                0,
                &[entry(0, I64, c"number"), entry(0, STRING, c"text")],
            )),
        )
        .expect("a schema");
    let entries = [
        entry(MARK_TIME, I64, c"time"),
        entry(MESSAGE, STRING, c"message"),
        array(FIXED, pair, c"pairs", 2),
        entry(0, U8, c"which"),
        entry(TO_ZERO, TEXT, c"text"),
        detail(3, entry(0, either, c"either")),
        entry(0, STRING, c"last"),
    ];
    let mark = (scene.program)
        .schema(scene.domain, &dynamic(schema_attr(MARK, &entries)))
        .expect("a schema");
    let event = |time: i64, which: u8, either: u64| {
        [
            bytes![time, gemm, relu, gpu, 0_u64, 1_u64],
            vec![which],
            b"text\0".to_vec(),
            vec![0; 2],
            bytes![either, relu],
        ]
        .concat()
    };
    let one = scene.written(&[payload(mark, &event(1, 1, gemm))]);
    assert!(
        one.starts_with("mark @1 #0 \"gemm\" {pairs: 2[{a: #1 \"relu\""),
        "{one}"
    );
    assert!(
        one.ends_with("either: {text: #0 \"gemm\"}, last: #1 \"relu\"}"),
        "{one}"
    );
    // The other member is a number, whatever it looks like.
    let two = scene.written(&[payload(mark, &event(2, 0, gemm))]);
    assert!(
        two.contains(&format!("either: {{number: I64({gemm})}}")),
        "{two}"
    );
    let both = [event(3, 1, relu), event(4, 0, 7)].concat();
    let lines = scene.batched(&batch(mark, &both));
    assert!(
        lines[1].contains("either: {text: #1 \"relu\"}"),
        "{lines:?}"
    );
    assert!(lines[2].contains("either: {number: I64(7)}"), "{lines:?}");
}

#[test]
fn strings_in_flexible_data_and_in_payloads_of_nothing_else() {
    let scene = scene();
    let (gemm, relu) = (scene.string(c"gemm"), scene.string(c"relu"));
    let entries = [
        entry(MARK_TIME, I64, c"time"),
        array(BASE, STRING, c"strings", 2),
    ];
    let mark = scene.schema(MARK, &entries);
    let flex = bytes![gemm, relu];
    let events = bytes![1_i64, 0_u64, 2_i64, 0_u64];
    let batch = nvtxEventBatch_t {
        flexData: flex.as_ptr().cast(),
        flexDataSize: flex.len(),
        ..batch(mark, &events)
    };
    let lines = scene.batched(&batch);
    assert_eq!(
        lines[1..],
        [
            "mark @1 {strings: 2[#0 \"gemm\" #1 \"relu\"]}",
            "mark @2 {strings: 2[#0 \"gemm\" #1 \"relu\"]}"
        ]
    );
    let plain = scene.schema(MARK, &mark_entries());
    assert_eq!(
        scene.written(&[
            payload(plain, &bytes![1_i64]),
            payload(STRING, &bytes![relu, gemm])
        ]),
        "mark @1 of 2 payloads {value: 2[#1 \"relu\" #0 \"gemm\"]}"
    );
}

#[test]
fn pointers_lead_to_the_same() {
    let scene = scene();
    let gemm = scene.string(c"gemm");
    let entries = [
        entry(MARK_TIME, I64, c"time"),
        entry(MESSAGE, STRING, c"message"),
        entry(POINTER, STRING, c"inside"),
        entry(0, TEXT, c"outside"),
    ];
    let mark = scene.schema(MARK, &entries);
    let inside = bytes![gemm];
    let text: Box<[u8]> = Box::from(*b"out there\0");
    let event = bytes![
        1_i64,
        gemm,
        inside.as_ptr().addr(),
        text.as_ptr().expose_provenance()
    ];
    let shown = scene.written(&[
        payload(mark, &event),
        payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, &inside),
    ]);
    assert_eq!(
        shown,
        "mark @1 #0 \"gemm\" {inside: #0 \"gemm\", outside: \"out there\"}"
    );
    // An empty text is one, a null pointer is none.
    let event = bytes![2_i64, gemm, 0_u64, text[9..].as_ptr().expose_provenance()];
    assert_eq!(
        scene.written(&[payload(mark, &event)]),
        "mark @2 #0 \"gemm\" {outside: \"\"}"
    );
}

#[test]
fn what_the_other_backend_refuses_comes_back() {
    let scene = scene();
    assert_failed(
        scene
            .program
            .open_with(scene.session, &stream_attr(c"refuse open", scene.domain)),
        "StreamOpen on \"run\": the recorder refuses open",
    );
    assert_failed(
        scene.write(&[
            payload(scene.schema(MARK, &mark_entries()), &bytes![1_i64]),
            payload(scene.message, b"refuse write"),
        ]),
        "EventWrite on \"gpu\": the recorder refuses write",
    );
}

/// Bytes in a place of their own, and where that is.
fn outside(bytes: impl Into<Box<[u8]>>) -> (Box<[u8]>, u64) {
    let bytes = bytes.into();
    let address = bytes.as_ptr().expose_provenance() as u64;
    (bytes, address)
}

#[test]
fn batches_take_along_what_they_point_to() {
    let scene = scene();
    let (gemm, relu) = (scene.string(c"gemm"), scene.string(c"relu"));
    let (_text, text) = outside(*b"out there\0");
    let (_far, far) = outside(bytes![relu]);
    let entries = [
        entry(MARK_TIME, I64, c"time"),
        entry(MESSAGE, STRING, c"message"),
        entry(0, TEXT, c"text"),
        entry(COPIED, STRING, c"far"),
    ];
    let attr = schema_attr(MARK | COPIES, &entries);
    let mark = scene.program.schema(scene.domain, &attr).expect("a schema");
    let events = bytes![1_i64, gemm, text, 0_u64, 2_i64, 0_u64, text + 9, far];
    assert_eq!(
        scene.batched(&batch(mark, &events))[1..],
        [
            "mark @1 #0 \"gemm\" {text: \"out there\"}",
            "mark @2 {text: \"\", far: #1 \"relu\"}"
        ]
    );
    // Beside what is in flexible data.
    let entries = [&entries[..], &[array(BASE, STRING, c"near", 1)]].concat();
    let attr = schema_attr(MARK | COPIES, &entries);
    let mark = scene.program.schema(scene.domain, &attr).expect("a schema");
    let flex = [vec![0xEE; 8], bytes![gemm]].concat();
    let events = bytes![
        1_i64, gemm, text, far, 8_u64, 2_i64, 0_u64, text, far, 8_u64
    ];
    let with_flex = nvtxEventBatch_t {
        flexData: flex.as_ptr().cast(),
        flexDataSize: 8,
        flexDataOffset: 8,
        ..batch(mark, &events)
    };
    assert_eq!(
        scene.batched(&with_flex)[1..],
        [
            "mark @1 #0 \"gemm\" {text: \"out there\", far: #1 \"relu\", near: 1[#0 \"gemm\"]}",
            "mark @2 {text: \"out there\", far: #1 \"relu\", near: 1[#0 \"gemm\"]}"
        ]
    );
    // Without, offsets lead into the event, for which there is no place beside what pointers lead to.
    assert_unsupported(
        scene
            .program
            .write_batch(scene.stream, &batch(mark, &events)),
        &format!(
            "EventBatchWrite on \"gpu\": a batch of schema {mark} points out of itself and has offsets too, but no flexible data: \
             a backend in the same program looks for both in that"
        ),
    );
}

#[test]
fn samples_take_along_what_they_point_to() {
    let scene = scene();
    let gpu = scene.scope(c"GPU[0]");
    let point = scene.schema(0, &[entry(0, U8, c"x"), array(BASE, U8, c"y", 2)]);
    let entries = [
        entry(TIME, I64, c"time"),
        entry(COPIED, I64, c"far"),
        entry(0, SCOPE, c"scope"),
        entry(COPIED, point, c"point"),
    ];
    let attr = schema_attr(GROUP | COPIES, &entries);
    let group = scene.program.schema(scene.domain, &attr).expect("a schema");
    let counter = scene
        .program
        .counter(scene.domain, &counter_attr(c"group", group));
    let counter = counter.expect("a counter");
    let (_far, far) = outside(bytes![-7_i64]);
    // From where the struct starts.
    let point = [
        vec![3, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE],
        bytes![17_u64],
        vec![0xEE, 4, 5],
    ];
    let (_point, point) = outside(point.concat());
    let (program, stream) = (&scene.program, scene.stream);
    let samples = bytes![
        1_i64, far, gpu, point, 2_i64, 0_u64, 0_u64, point, 3_i64, far, gpu, 0_u64
    ];
    (program.write_counter(stream, 9, counter, &samples[..32])).expect("written");
    (program.write_counters(stream, &counter_batch(counter, &samples, None))).expect("written");
    let lines = program.journal.take();
    let place = lines[0].split(" @").next().expect("a line").to_owned();
    let scope = lines[0]
        .split(" in ")
        .nth(2)
        .expect("a scope")
        .split(' ')
        .next()
        .expect("a number");
    let all = "{far: I64(-7), point: {x: U64(3), y: 2[U64(4) U64(5)]}}";
    assert_eq!(
        lines,
        [
            format!("{place} @9 in {scope} {all}"),
            format!("{place} @1 in {scope} {all}"),
            format!("{place} @2 {{point: {{x: U64(3), y: 2[U64(4) U64(5)]}}}}"),
            format!("{place} @3 in {scope} {{far: I64(-7)}}"),
        ]
    );
    // Where nothing leads out, a batch is one.
    let samples = bytes![1_i64, 0_u64, gpu, 0_u64, 2_i64, 0_u64, 0_u64, 0_u64];
    let pair = nvtxCounterBatch_t {
        flags: NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR,
        ..counter_batch(counter, &samples, Some(&[100, 10]))
    };
    program.write_counters(stream, &pair).expect("written");
    assert_eq!(
        program.journal.take(),
        [format!("{place} @90 in {scope} {{}} @100 {{}}")]
    );
    // The times of a pair are those of the samples one by one.
    let samples = bytes![1_i64, far, 0_u64, 0_u64, 2_i64, far, 0_u64, 0_u64];
    let pair = nvtxCounterBatch_t {
        counters: samples.as_ptr().cast(),
        countersSize: samples.len(),
        ..pair
    };
    program.write_counters(stream, &pair).expect("written");
    assert_eq!(
        program.journal.take(),
        [
            format!("{place} @90 {{far: I64(-7)}}"),
            format!("{place} @100 {{far: I64(-7)}}")
        ]
    );
}

#[test]
fn where_nothing_is_followed_addresses_stay() {
    let journal = Journal::default();
    let recorder = in_process(Recorder(journal.clone()));
    let mut program = Program::of(in_process(Layer(Relay::to_instance(recorder))));
    program.journal = journal;
    let scene = Scene::of(program);
    let gemm = scene.string(c"gemm");
    let entries = [
        entry(MARK_TIME, I64, c"time"),
        entry(0, STRING, c"name"),
        entry(COPIED, U8, c"byte"),
        entry(POINTER, STRING, c"inside"),
    ];
    let mark = scene.schema(MARK, &entries);
    let inside = bytes![gemm];
    let event = bytes![1_i64, gemm, 0xABC_u64, inside.as_ptr().addr()];
    assert_eq!(
        scene.written(&[
            payload(mark, &event),
            payload(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, &inside)
        ]),
        "mark @1 {name: #0 \"gemm\", byte: Address(2748), inside: #0 \"gemm\"}"
    );
    let events = bytes![
        1_i64, gemm, 0xABC_u64, 0_u64, 2_i64, 0_u64, 0xDEF_u64, 0_u64
    ];
    assert_eq!(
        scene.batched(&batch(mark, &events))[1..],
        [
            "mark @1 {name: #0 \"gemm\", byte: Address(2748)}",
            "mark @2 {name: Registered(None), byte: Address(3567)}"
        ]
    );
}

#[test]
fn a_recording_may_lack_nulls_and_order() {
    let journal = Journal::default();
    let relay = Relay::to_instance(in_process(Recorder(journal.clone())));
    let session = (relay.begin(Some(c"run"), None, Origin::Recorded)).expect("a session");
    let register = |registration: &Registration<'_>| {
        session.register(0, registration).expect("registered");
    };
    register(&Registration::Domain { name: Some(c"sim") });
    let entry = |flags: u64, ty: u64, name: &'static CStr| EntryAttributes {
        flags,
        ty,
        name: Some(name),
        description: None,
        detail: 0,
        offset: 0,
        semantics: Vec::new(),
        reserved: 0,
    };
    let attributes = SchemaAttributes {
        id: 0,
        mask: u64::MAX >> 1,
        kind: NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        flags: MARK,
        size: 0,
        pack: 0,
        name: None,
        entries: vec![
            entry(MARK_TIME, I64, c"time"),
            entry(0, TEXT, c"one"),
            entry(0, TEXT, c"two"),
            entry(0, TEXT, c"three"),
        ],
    };
    let id = 1 << 32;
    register(&Registration::Schema { attributes, id });
    let mut stream = session
        .open_stream(&StreamAttributes {
            name: Some(c"gpu"),
            domain: 0,
            names_domain: true,
            scope: 0,
            time_domain: 0,
            interleaving: 0,
            ordering: 0,
            skid: 0,
            skid_amount: 0,
        })
        .expect("a stream");
    let piece = |address: u64, bytes: &[u8]| Piece {
        address,
        bytes: bytes.to_vec(),
    };
    let memory = Memory {
        addresses: vec![0x1000],
        pieces: vec![
            piece(0x5003, b"later"),
            piece(0x4000, b"ab\0cd"),
            piece(0x3000, b""),
        ],
        pointers: [8, 16, 24]
            .map(|offset| Pointer { part: 0, offset })
            .to_vec(),
    };
    let mut write = |bytes: &[u8]| {
        let payloads = [PayloadBytes {
            schema: id,
            bytes,
            is_terminated: false,
        }];
        let call = EventCall::with_memory(&payloads, &memory);
        stream.write(&WriteCall::Event(call))
    };
    write(&bytes![1_i64, 0x5003_u64, 0x4003_u64, 0x3000_u64]).expect("written");
    assert_eq!(
        journal.take(),
        [
            "begin run",
            "open gpu",
            "mark @1 {one: \"later\", two: \"cd\", three: \"\"}"
        ]
    );
    let refused = write(&bytes![1_i64, 0x6000_u64, 0_u64, 0_u64]).expect_err("it leads nowhere");
    assert!(
        refused
            .reason()
            .contains("`one` points to 0x6000, which is in no payload of the event"),
        "{refused}"
    );
}

#[test]
fn text_without_a_size_may_be_empty() {
    let text = |scene: &Scene, text: &[u8]| {
        let mark = scene.schema(MARK, &mark_entries());
        let terminated = nvtxPayloadData_t {
            size: usize::MAX,
            ..payload(scene.message, text)
        };
        scene.written(&[payload(mark, &bytes![1_i64]), terminated])
    };
    for (bytes, shown) in [(b"\0".as_slice(), ""), (b"abc\0", "abc")] {
        let expected = format!("mark @1 \"{shown}\" of 2 payloads");
        assert_eq!(text(&Scene::loaded(), bytes), expected);
        assert_eq!(text(&Scene::relayed(), bytes), expected);
    }
}
