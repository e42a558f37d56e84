//! What is registered.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;
use crate::scene::Scene;

const STATIC_ID: u64 = 0x0123_4567;

#[test]
fn what_is_used_is_registered_before() {
    let scene = Scene::new();
    let marks = scene.marks();
    let mark = bytes![10_i64];
    scene.write(STATIC_ID, &mark).expect_err("refused");
    let other = scene
        .program
        .domain(scene.session, Some(c"other"))
        .expect("a domain");
    let entries = mark_entries();
    let attr = with_id(
        STATIC_ID,
        schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries),
    );
    scene
        .program
        .schema(other, &attr)
        .expect("a schema of another domain");
    assert_eq!(scene.so_far().len(), 1, "{:?}", scene.so_far());

    scene.program.schema(scene.domain, &attr).expect("a schema");
    // An entry's type, in the domain that is registered in.
    let nested = [mark_entries()[0], entry(0, STATIC_ID + 1, c"nested")];
    let nested = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &nested);
    scene.program.schema(other, &nested).expect_err("refused");
    let values = [enum_entry(c"red", 1)];
    let colors = nvtxPayloadEnumAttr_t {
        fieldMask: enum_attr(&values, 4).fieldMask | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
        schemaId: STATIC_ID + 1,
        ..enum_attr(&values, 4)
    };
    scene.program.enumeration(other, &colors).expect("an enum");
    scene.write_marks(marks, &[20]);
    let found = scene.found();
    assert_eq!(
        found[2..],
        [
            "late-registration: stream \"gpu\": uses the ID 19088743, under which SchemaRegister registers something later",
            "late-registration: uses the ID 19088744, under which EnumRegister registers something later",
        ],
        "{found:?}"
    );
    assert!(
        found[..2]
            .iter()
            .all(|found| found.starts_with("unknown-id: "))
    );
}

#[test]
fn only_the_first_entry_is_at_offset_0() {
    const I64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;

    let scene = Scene::new();
    let register = |size, entries: &[nvtxPayloadSchemaEntry_t]| {
        let attr = named(c"row", schema_attr(0, entries));
        let attr = nvtxPayloadSchemaAttr_t {
            fieldMask: attr.fieldMask | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
            payloadStaticSize: size,
            ..attr
        };
        scene.program.schema(scene.domain, &attr)
    };
    let [a, b] = [c"a", c"b"].map(|name| entry(0, I64, name));
    // As C does, or as NumPy does with the fields in order.
    register(16, &[a, b]).expect("a schema");
    register(24, &[a, at(16, b)]).expect("a schema");
    assert_eq!(scene.so_far(), [""; 0]);
    register(24, &[at(8, b), a]).expect("a schema");
    assert_eq!(
        scene.found(),
        [
            "implicit-offset: SchemaRegister of `row`: entry 1 `a` has the offset 0, and is placed after entry 0"
        ]
    );
}

#[test]
fn ids_that_the_backend_picks_may_be_used_too_early() {
    let scene = Scene::new();
    let marks = scene.marks();
    scene
        .write(marks + 1, &bytes![10_i64])
        .expect_err("refused");
    // IDs of another kind are others.
    let counter = scene.program.counter(
        scene.domain,
        &counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64),
    );
    counter.expect("a counter");
    let scope = |path| {
        let scope = (scene.program).scope(scene.domain, NVTX_SCOPE_ROOT, Some(path), 0);
        scope.expect("a scope")
    };
    assert_eq!([scope(c"a"), scope(c"b")], [1 << 32, marks + 1]);
    assert_eq!(scene.report.total(), 1);
    assert_eq!(scene.marks(), marks + 1);
    assert_eq!(
        scene.found(),
        [
            "unknown-id: stream \"gpu\": EventWrite: payload 0: 4294967297 is no schema of the stream's domain: register it \
             there, and use the ID it gets",
            "late-registration: stream \"gpu\": uses the ID 4294967297, under which SchemaRegister registers something later",
        ]
    );
}

#[test]
fn ids_of_another_domain_are_told_as_such() {
    let scene = Scene::new();
    let (program, session) = (&scene.program, scene.session);
    let other = program.domain(session, Some(c"other")).expect("a domain");
    let attr = counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = program.counter(other, &attr).expect("a counter");
    (program.write_counter(scene.stream, 1, counter, &bytes![7_i64])).expect_err("refused");
    let entries = mark_entries();
    let attr = with_id(
        STATIC_ID,
        schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries),
    );
    program.schema(scene.domain, &attr).expect("a schema");
    let nested = [mark_entries()[0], entry(0, STATIC_ID, c"nested")];
    let nested = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &nested);
    program.schema(other, &nested).expect_err("refused");
    // What gets the same number in this domain is not what was meant.
    let attr = counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let own = program.counter(scene.domain, &attr).expect("a counter");
    assert_eq!(own, counter);
    assert_eq!(
        scene.found(),
        [
            "unknown-id: stream \"gpu\": CounterWrite: counterId 4294967296 is no counter of the stream's domain: register it \
             there, and use the ID it gets; it is registered in the domain \"other\"",
            "unknown-id: SchemaRegister: entry 1 `nested`: the type 19088743 is no schema or enum of the domain: register it \
             first; it is registered in the domain \"\"",
        ]
    );
}

#[test]
fn the_category_0_has_no_name() {
    let scene = Scene::new();
    member!(
        scene.program,
        CategoryRegister(scene.domain, 0, c"io".as_ptr())
    )
    .expect_err("refused");
    assert_eq!(
        scene.found(),
        [
            "category-zero: CategoryRegister: category is 0, which means no category and can't be named; choose another number"
        ]
    );
}

#[test]
fn flags_that_are_reserved_are_not_set() {
    let scene = Scene::new();
    let (program, domain) = (&scene.program, scene.domain);
    let mark = mark_entries()[0];
    let entries = [mark];
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK | 1 << 9, &entries);
    program
        .schema(domain, &named(c"a", attr))
        .expect("a schema");
    let flagged = nvtxPayloadSchemaEntry_t {
        flags: 1 << 20,
        ..entry(0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"n")
    };
    let entries = [mark, flagged];
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    program.schema(domain, &attr).expect("a schema");
    let entries = [mark];
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let masked = nvtxPayloadSchemaAttr_t {
        fieldMask: attr.fieldMask | 1 | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_EXTENSION,
        ..attr
    };
    program.schema(domain, &masked).expect("a schema");
    let clock = nvtxTimeDomainAttr_t {
        scopeId: NVTX_SCOPE_NONE,
        timestampTypeId: NVTX_TIMESTAMP_TYPE_NONE,
        timeDomainId: 0,
        timerFlags: 1,
        timerResolution: 0,
        timerStart: 0,
    };
    member!(program, TimeDomainRegister(domain, &clock, &mut 0)).expect("a time domain");
    let semantics = nvtxSemanticsCounter_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsCounter_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_COUNTERS_V1,
            version: 1,
            next: ptr::null(),
        },
        flags: 5 << 8,
        unit: ptr::null(),
        unitScaleNumerator: 1,
        unitScaleDenominator: 1,
        limitType: 0,
        min: nvtxCounterLimit_t { u64: 0 },
        max: nvtxCounterLimit_t { u64: 0 },
    };
    let counter = nvtxCounterAttr_t {
        semantics: &raw const semantics.header,
        ..counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
    };
    program.counter(domain, &counter).expect("a counter");
    let mut found = scene.so_far();
    // The fourth and fifth are counted, and not told.
    assert_eq!(scene.report.total(), 5);
    found.truncate(3);
    assert_eq!(
        found,
        [
            "reserved-flags: SchemaRegister of `a`: flags is 0x220, in which 0x200 is reserved",
            "reserved-flags: SchemaRegister: the flags of entry 1 is 0x100000, in which 0x100000 is reserved",
            "reserved-flags: SchemaRegister: fieldMask is 0x23d, in which 0x201 is reserved",
        ]
    );
}

#[test]
fn reserved_pointers_are_null() {
    let scene = Scene::new();
    let pointing = nvtxPayloadSchemaEntry_t {
        reserved: ptr::without_provenance(0xABC),
        ..entry(0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, c"n")
    };
    let entries = [mark_entries()[0], pointing];
    let attr = schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries);
    let attr = named(c"Kernel", attr);
    scene.program.schema(scene.domain, &attr).expect("a schema");
    let values = [enum_entry(c"red", 1)];
    let extended = nvtxPayloadEnumAttr_t {
        fieldMask: enum_attr(&values, 4).fieldMask | NVTX_PAYLOAD_ENUM_ATTR_FIELD_EXTENSION,
        ..enum_attr(&values, 4)
    };
    (scene.program.enumeration(scene.domain, &extended)).expect("an enum");
    assert_eq!(
        scene.found(),
        [
            "reserved-flags: SchemaRegister of `Kernel`: the reserved pointer of entry 1 is 0xabc, not null",
            "reserved-flags: EnumRegister of `Color`: fieldMask is 0x5e, in which 0x40 is reserved",
        ]
    );
}

#[test]
fn flags_of_batches_that_are_reserved_are_not_set() {
    let scene = Scene::new();
    let marks = scene.marks();
    let attr = counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64);
    let counter = scene
        .program
        .counter(scene.domain, &attr)
        .expect("a counter");
    let (times, none) = (bytes![1_i64], []);
    for bytes in [&times[..], &none] {
        let batch = nvtxEventBatch_t {
            flags: 1,
            ..batch(marks, bytes)
        };
        scene
            .program
            .write_batch(scene.stream, &batch)
            .expect("written");
    }
    let samples = counter_batch(counter, &times, Some(&[7]));
    let samples = nvtxCounterBatch_t {
        flags: 1 << 40,
        ..samples
    };
    scene
        .program
        .write_counters(scene.stream, &samples)
        .expect("written");
    assert_eq!(
        scene.found(),
        [
            "reserved-flags: stream \"gpu\": EventBatchWrite: flags is 0x1, in which 0x1 is reserved",
            "reserved-flags: stream \"gpu\": EventBatchWrite: flags is 0x1, in which 0x1 is reserved",
            "reserved-flags: stream \"gpu\": CounterBatchWrite: flags is 0x10000000000, in which 0x10000000000 is reserved",
        ]
    );
}

#[test]
fn names_are_utf8() {
    let bad: &CStr = c"\xFF";
    let found = |call: &dyn Fn(&Scene)| {
        let scene = Scene::new();
        call(&scene);
        scene.found()
    };
    let of = |what: &str| [format!("not-utf8: {what} is `\\xff`, from byte 0 on")];
    assert_eq!(
        found(&|scene| {
            scene
                .program
                .domain(scene.session, Some(bad))
                .expect("a domain");
        }),
        of("DomainRegister: the name")
    );
    assert_eq!(
        found(&|scene| {
            scene.program.string(scene.domain, bad).expect("a string");
        }),
        of("StringRegister: the string")
    );
    assert_eq!(
        found(&|scene| member!(
            scene.program,
            CategoryRegister(scene.domain, 7, bad.as_ptr())
        )
        .expect("named")),
        of("CategoryRegister: the name")
    );
    assert_eq!(
        found(&|scene| {
            let scope = scene
                .program
                .scope(scene.domain, NVTX_SCOPE_ROOT, Some(bad), 0);
            scope.expect("a scope");
        }),
        of("ScopeRegister: the path")
    );
    assert_eq!(
        found(&|scene| {
            let described = nvtxPayloadSchemaEntry_t {
                description: bad.as_ptr(),
                ..mark_entries()[0]
            };
            scene.schema(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &[described]);
        }),
        of("SchemaRegister: the description of entry 0")
    );
    assert_eq!(
        found(&|scene| {
            let values = [nvtxPayloadEnum_t {
                name: bad.as_ptr(),
                ..enum_entry(c"", 1)
            }];
            let attr = enum_attr(&values, 4);
            scene
                .program
                .enumeration(scene.domain, &attr)
                .expect("an enum");
        }),
        of("EnumRegister: the name of value 0")
    );
    assert_eq!(
        found(&|scene| {
            let attr = nvtxCounterAttr_t {
                description: bad.as_ptr(),
                ..counter_attr(c"n", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
            };
            scene
                .program
                .counter(scene.domain, &attr)
                .expect("a counter");
        }),
        of("CounterRegister: the description")
    );
    assert_eq!(
        found(&|scene| {
            scene.program.open(scene.session, bad, scene.domain);
        }),
        ["not-utf8: stream \"\u{FFFD}\": StreamOpen: the name is `\\xff`, from byte 0 on"]
    );
    let scene = Scene::with(c"check.output=off|x=\xFF", |_| {});
    assert_eq!(
        scene.found(),
        ["not-utf8: SessionBegin: the config is `check.output=off|x=\\xff`, from byte 19 on"]
    );
}

#[test]
fn names_and_ids_are_given_once() {
    let scene = Scene::new();
    let (program, domain) = (&scene.program, scene.domain);
    let category = |category, name: &CStr| {
        member!(program, CategoryRegister(domain, category, name.as_ptr())).expect("named");
    };
    category(1, c"io");
    category(1, c"io");
    category(1, c"net");
    category(2, c"io");
    let counter = |scope| {
        let attr = nvtxCounterAttr_t {
            scopeId: scope,
            ..counter_attr(c"depth", NVTX_PAYLOAD_ENTRY_TYPE_INT64)
        };
        program.counter(domain, &attr).expect("a counter");
    };
    let scope = |path| {
        program
            .scope(domain, NVTX_SCOPE_ROOT, Some(path), 0)
            .expect("a scope")
    };
    counter(NVTX_SCOPE_NONE);
    // Elsewhere it is another.
    counter(scope(c"GPU[0]"));
    assert_eq!(
        scene.so_far(),
        [
            "name-twice: CategoryRegister: the category 1 is `io` already, and now `net`",
            "name-twice: CategoryRegister: the category 1 is `io` already, and now 2 is too",
        ]
    );
    counter(NVTX_SCOPE_NONE);
    assert_eq!(scene.report.total(), 3);
    scope(c"GPU[0]");
    assert_eq!(scene.report.total(), 4);
    // In another domain all is new.
    let other = program
        .domain(scene.session, Some(c"other"))
        .expect("a domain");
    program
        .scope(other, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 0)
        .expect("a scope");
    let entries = mark_entries();
    let attr = with_id(
        STATIC_ID,
        schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &entries),
    );
    let attr = named(c"Kernel", attr);
    program.schema(other, &attr).expect("a schema");
    assert_eq!(scene.report.total(), 4);
    program.schema(other, &attr).expect_err("taken");
    assert_eq!(scene.report.total(), 5);
    let again = with_id(STATIC_ID + 1, attr);
    program.schema(other, &again).expect("another schema");
    assert_eq!(scene.report.total(), 6);
    assert_eq!(scene.report.kinds(), [nvtxw_check::FindingKind::NameTwice]);
}
