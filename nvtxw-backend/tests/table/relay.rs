//! A layer that passes all on to another backend: what is translated, and where.

use std::cell::RefCell;

use nvtxw_abi::raw::*;
use nvtxw_backend::__private::Library;
use nvtxw_backend::in_process;
use nvtxw_backend::relay::Relay;

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

    fn string(&self, text: &'static std::ffi::CStr) -> u64 {
        number(self.program.string(self.domain, text).expect("a string"))
    }

    fn scope(&self, path: &'static std::ffi::CStr) -> u64 {
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
