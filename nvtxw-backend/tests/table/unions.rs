//! Unions: of the fields in one place, one is stored.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const I32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
const F64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
const MARK: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_MARK;

impl Scene {
    fn register(&self, attr: nvtxPayloadSchemaAttr_t) -> u64 {
        self.program.schema(self.domain, &attr).expect("a schema")
    }
}

/// A member that is selected by the entry of this index.
fn selected_by(selector: u64, ty: u64, name: &'static std::ffi::CStr) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: selector,
        ..entry(0, ty, name)
    }
}

#[test]
fn an_entry_beside_the_union_selects() {
    let scene = Scene::new();
    let point = scene.schema(0, &[entry(0, U8, c"x"), entry(0, U8, c"y")]);
    let members = [
        entry(0, F64, c"real"),
        entry(0, I32, c"integer"),
        entry(0, point, c"point"),
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"text", 8),
    ];
    let value = scene.register(union(schema_attr(0, &members)));
    let mark = scene.schema(
        MARK,
        &[
            mark_entries()[0],
            entry(0, I32, c"which"),
            selected_by(1, value, c"value"),
            entry(0, U8, c"after"),
        ],
    );
    let event = |which: i32, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.resize(8, 0);
        [bytes![1_i64, which, 0_i32], bytes, vec![9; 8]].concat()
    };
    for (which, bytes, shown) in [
        (0, bytes![2.5_f64], "real: F64(2.5)"),
        (1, bytes![-7_i32], "integer: I64(-7)"),
        (2, vec![3, 4], "point: {x: U64(3), y: U64(4)}"),
        (3, b"text".to_vec(), "text: \"text\""),
    ] {
        assert_eq!(
            scene.written(&[payload(mark, &event(which, &bytes))]),
            format!("mark @1 {{which: I64({which}), value: {{{shown}}}, after: U64(9)}}")
        );
    }
    for (which, shown) in [(4, "4"), (-1, "4294967295")] {
        scene.refused(
            &[payload(mark, &event(which, &[]))],
            &format!(
                "the selector of the union schema {value} is {shown}, which is none of its members: that is the index of an \
                 entry"
            ),
        );
    }
    // In a batch the others are taken.
    let events = [event(1, &[1]), event(9, &[]), event(1, &[2])].concat();
    assert_invalid(
        scene
            .program
            .write_batch(scene.stream, &batch(mark, &events)),
        &format!(
            "EventBatchWrite on \"gpu\": event 1 of 3: the selector of the union schema {value} is 9, which is none of its \
             members: that is the index of an entry"
        ),
    );
    assert_eq!(scene.program.journal.take().len(), 3);
    // By itself it has nothing that selects.
    let plain = scene.schema(MARK, &mark_entries());
    scene.refused(
        &[payload(plain, &bytes![1_i64]), payload(value, &[0; 8])],
        &format!(
            "schema {value} is a union that an entry beside it selects from: put it into a struct that has such an entry"
        ),
    );
}

#[test]
fn an_enum_may_select_and_unions_nest() {
    let scene = Scene::new();
    let names = [enum_entry(c"Small", 0), enum_entry(c"Large", 1)];
    let size = scene
        .program
        .enumeration(scene.domain, &enum_attr(&names, 1))
        .expect("an enum");
    let inner = scene.register(union(schema_attr(
        0,
        &[entry(0, U8, c"small"), entry(0, I32, c"large")],
    )));
    let holder = scene.schema(
        0,
        &[entry(0, size, c"size"), selected_by(0, inner, c"value")],
    );
    let outer = scene.register(union(schema_attr(
        0,
        &[entry(0, holder, c"held"), entry(0, F64, c"real")],
    )));
    let mark = scene.schema(
        MARK,
        &[
            mark_entries()[0],
            entry(0, size, c"which"),
            selected_by(1, outer, c"value"),
        ],
    );
    assert_eq!(
        scene.written(&[payload(
            mark,
            &[bytes![1_i64], vec![0; 8], vec![1, 0, 0, 0], bytes![-5_i32]].concat()
        )]),
        "mark @1 {which: Small, value: {held: {size: Large, value: {large: I64(-5)}}}}"
    );
}

#[test]
fn a_union_may_select_by_itself() {
    let scene = Scene::new();
    for (size, detail) in [(4, 0), (1, 1), (2, 2), (4, 4), (8, 8)] {
        let selector = nvtxPayloadSchemaEntry_t {
            arrayOrUnionDetail: detail,
            ..entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, c"which")
        };
        let members = [
            selector,
            at(8, entry(0, F64, c"real")),
            at(8, entry(0, I32, c"integer")),
        ];
        let value = scene.register(selecting(schema_attr(0, &members)));
        let mark = scene.schema(MARK, &[mark_entries()[0], array(0, value, c"values", 2)]);
        let one = |which: u64, bytes: Vec<u8>| {
            let mut one = which.to_ne_bytes()[..size].to_vec();
            // What is not the selector's may hold anything.
            one.resize(8, 0xEE);
            one.extend(bytes);
            one.resize(16, 0xEE);
            one
        };
        let (real, integer) = (one(1, bytes![0.5_f64]), one(2, bytes![-1_i32]));
        let event = [bytes![1_i64], real.clone(), integer].concat();
        assert_eq!(
            scene.written(&[payload(mark, &event)]),
            "mark @1 {values: 2[{real: F64(0.5)} {integer: I64(-1)}]}",
            "selector of {size} bytes"
        );
        for bad in [0, 3] {
            let event = [bytes![1_i64], real.clone(), one(bad, vec![])].concat();
            scene.refused(
                &[payload(mark, &event)],
                &format!(
                    "the selector of the union schema {value} is {bad}, which is none of its members: that is the index of an \
                     entry"
                ),
            );
        }
        // As a payload.
        let plain = scene.schema(MARK, &mark_entries());
        assert_eq!(
            scene.written(&[payload(plain, &bytes![1_i64]), payload(value, &real)]),
            "mark @1 of 2 payloads {real: F64(0.5)}"
        );
    }
}
