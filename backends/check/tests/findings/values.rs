//! What events and samples hold.

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

fn categories(scene: &Scene) -> u64 {
    let entries = [
        mark_entries()[0],
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, c"category"),
    ];
    scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries)
}

#[test]
fn a_category_has_a_name_and_has_it_first() {
    let scene = Scene::new();
    let marks = categories(&scene);
    let name = |category| {
        member!(
            scene.program,
            CategoryRegister(scene.domain, category, c"io".as_ptr())
        )
    };
    name(7).expect("named");
    for (time, category) in [(10_i64, 7_u32), (20, 0), (30, 8), (40, 9), (50, 9), (60, 8)] {
        scene
            .write(marks, &bytes![time, category, 0_u32])
            .expect("written");
    }
    member!(
        scene.program,
        CategoryRegister(scene.domain, 8, c"net".as_ptr())
    )
    .expect("named");
    assert_eq!(
        scene.found(),
        [
            "late-registration: stream \"gpu\", event 2, at 30: is in the category 8, which gets its name later",
            "unnamed-category: stream \"gpu\", event 3, at 40: is in the category 9, which has no name",
        ]
    );
}

#[test]
fn text_in_events_is_utf8() {
    let scene = Scene::new();
    let marks = scene.marks();
    let entries = [message_entry()];
    let attr = message_attr(&entries);
    let message = scene.program.schema(scene.domain, &attr).expect("a schema");
    let entries = [
        mark_entries()[0],
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, c"file", 4),
        // In the encoding of its system, which may be another.
        array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"local", 4),
    ];
    let files = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    for text in ["größe".as_bytes(), b"gr\xF6\xDFe"] {
        let time = bytes![10_i64];
        let event = [payload(marks, &time), payload(message, text)];
        scene.program.write(scene.stream, &event).expect("written");
    }
    for text in [*b"a.rs", *b"a\xC3\0\0"] {
        let event = [&bytes![20_i64][..], &text, b"\xFF\0\0\0"].concat();
        scene.write(files, &event).expect("written");
    }
    assert_eq!(
        scene.found(),
        [
            "not-utf8: stream \"gpu\", event 1, at 10: the message is `gr\\xf6\\xdfe`, from byte 2 on",
            "not-utf8: stream \"gpu\", event 3, at 20: the text of `file` is `a\\xc3`, from byte 1 on",
        ]
    );
}

fn limits(flags: u64, limit_type: i64, min: u64, max: u64) -> nvtxSemanticsCounter_t {
    nvtxSemanticsCounter_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsCounter_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_COUNTERS_V1,
            version: 1,
            next: std::ptr::null(),
        },
        flags,
        unit: std::ptr::null(),
        unitScaleNumerator: 1,
        unitScaleDenominator: 1,
        limitType: limit_type,
        min: nvtxCounterLimit_t { u64: min },
        max: nvtxCounterLimit_t { u64: max },
    }
}

const BOTH: u64 = NVTX_COUNTER_FLAG_LIMIT_MIN | NVTX_COUNTER_FLAG_LIMIT_MAX;

#[test]
fn values_are_within_the_limits_of_their_counter() {
    let scene = Scene::new();
    let counter = |name, ty, semantics: &nvtxSemanticsCounter_t| {
        let attr = nvtxCounterAttr_t {
            semantics: &raw const semantics.header,
            ..counter_attr(name, ty)
        };
        scene
            .program
            .counter(scene.domain, &attr)
            .expect("a counter")
    };
    let depth = limits(BOTH, NVTX_COUNTER_LIMIT_I64, -5_i64 as u64, 10);
    let depth = counter(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64, &depth);
    let load = limits(
        NVTX_COUNTER_FLAG_LIMIT_MAX,
        NVTX_COUNTER_LIMIT_F64,
        0,
        1.5_f64.to_bits(),
    );
    let load = counter(c"load", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &load);
    let deltas = limits(
        BOTH | NVTX_COUNTER_FLAG_VALUETYPE_DELTA,
        NVTX_COUNTER_LIMIT_I64,
        0,
        10,
    );
    let deltas = counter(c"deltas", NVTX_PAYLOAD_ENTRY_TYPE_INT64, &deltas);
    let write = |time, counter, bytes: &[u8]| {
        let outcome = scene
            .program
            .write_counter(scene.stream, time, counter, bytes);
        outcome.expect("written");
    };
    for (time, value) in [(0, -5_i64), (1, 10), (2, -6), (3, 11)] {
        write(time, depth, &bytes![value]);
        // Limits are of what is graphed, which the differences add up to.
        write(time, deltas, &bytes![value]);
    }
    for (time, value) in [(4, 1.5_f64), (5, -1e300), (6, f64::NAN), (7, 1.75)] {
        write(time, load, &bytes![value]);
    }
    assert_eq!(
        scene.found(),
        [
            "counter-limit: stream \"gpu\", event 4, at 2: counter `depth`: `depth` is -6, below the minimum -5",
            "counter-limit: stream \"gpu\", event 6, at 3: counter `depth`: `depth` is 11, above the maximum 10",
            "counter-limit: stream \"gpu\", event 11, at 7: counter `load`: `load` is 1.75, above the maximum 1.5",
        ]
    );
}

#[test]
fn fields_of_groups_and_events_have_limits_too() {
    let scene = Scene::new();
    let percent = limits(BOTH, NVTX_COUNTER_LIMIT_U64, 0, 100);
    let used = nvtxPayloadSchemaEntry_t {
        semantics: &raw const percent.header,
        ..entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, c"used")
    };
    let group = [used, entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, c"pages")];
    let group = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP, &group);
    let attr = counter_attr(c"memory", group);
    let memory = scene
        .program
        .counter(scene.domain, &attr)
        .expect("a counter");
    let marks = scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &[mark_entries()[0], used]);
    for used in [100_u64, 101] {
        let sample = bytes![used, 1_000_000_u64];
        let written = scene
            .program
            .write_counter(scene.stream, 5, memory, &sample);
        written.expect("written");
        scene.write(marks, &bytes![6_i64, used]).expect("written");
    }
    assert_eq!(
        scene.found(),
        [
            "counter-limit: stream \"gpu\", event 2, at 5: counter `memory`: `used` is 101, above the maximum 100",
            "counter-limit: stream \"gpu\", event 3, at 6: `used` is 101, above the maximum 100",
        ]
    );
}
