//! Counters: registration, and samples in batches.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::{CounterKind, EntryType, ScopeRef};

use crate::program::*;

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const GROUP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
const VALUE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;

fn of_unit(unit: &'static CStr) -> nvtxSemanticsCounter_t {
    nvtxSemanticsCounter_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsCounter_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_COUNTERS_V1,
            version: 2,
            next: ptr::null(),
        },
        flags: 0,
        unit: unit.as_ptr(),
        unitScaleNumerator: 1,
        unitScaleDenominator: 1,
        limitType: 0,
        min: nvtxCounterLimit_t { u64: 0 },
        max: nvtxCounterLimit_t { u64: 0 },
    }
}

#[test]
fn counters_are_kept_as_registered() {
    let program = Program::new();
    let (_, domain, _) = program.ready();
    let scope = program
        .scope(domain, NVTX_SCOPE_ROOT, Some(c"GPU[0]"), 0)
        .expect("a scope");
    let mut semantics = of_unit(c"bytes");
    let time = nvtxSemanticsTime_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsTime_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_TIME_V1,
            version: 1,
            next: ptr::null(),
        },
        timeDomainId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
    };
    semantics.header.next = &time.header;
    let attr = nvtxCounterAttr_t {
        description: c"what is used".as_ptr(),
        scopeId: scope,
        semantics: &semantics.header,
        ..counter_attr(c"memory\xFF", U64)
    };
    let id = program.counter(domain, &attr).expect("a counter");
    let counter = program.journal.domain().counter(id).expect("registered");
    assert_eq!(
        (counter.id(), counter.name(), counter.description()),
        (id, "memory\u{FFFD}", Some("what is used"))
    );
    assert_eq!(counter.scope().id(), scope);
    assert!(matches!(
        counter.kind(),
        CounterKind::Scalar(EntryType::UInt64)
    ));
    assert_eq!(counter.sample_size(), 8);
    assert_eq!(
        counter.semantics().and_then(|semantics| semantics.unit()),
        Some("bytes")
    );

    // An older struct ends after the name.
    let short = nvtxCounterAttr_t {
        structSize: 24,
        description: garbage(),
        scopeId: 0xDEAD,
        semantics: garbage(),
        counterId: 0xDEAD,
        ..counter_attr(c"short", INT64)
    };
    let id = program.counter(domain, &short).expect("a counter");
    let counter = program.journal.domain().counter(id).expect("registered");
    assert_eq!(
        (counter.description(), counter.scope(), counter.semantics()),
        (None, ScopeRef::None, None)
    );
}

#[test]
fn a_schema_that_is_one_number_is_no_group() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let (of_entry, of_counter) = (of_unit(c"bytes"), of_unit(c"pages"));
    let number = entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, c"uint16");
    let meant = nvtxPayloadSchemaEntry_t {
        semantics: &of_entry.header,
        ..number
    };
    let hidden = nvtxPayloadSchemaEntry_t {
        flags: NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
        ..number
    };
    let list = array(0, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, c"list", 1);
    for (flags, entry, size, is_group, unit, shown) in [
        (0, number, 2, false, "pages", "used: U64(7)"),
        // As in a group, what the entry says counts before what the counter does.
        (0, meant, 2, false, "bytes", "used: U64(7)"),
        (GROUP, number, 2, true, "pages", "uint16: U64(7)"),
        (0, number, 4, true, "pages", "uint16: U64(7)"),
        (0, hidden, 2, true, "pages", "(hidden) uint16: U64(7)"),
        (0, list, 2, true, "pages", "list: 1[U64(7)]"),
    ] {
        let entries = [entry];
        let attr = sized(size, schema_attr(flags, &entries));
        let schema = program.schema(domain, &attr).expect("a schema");
        let attr = nvtxCounterAttr_t {
            semantics: &of_counter.header,
            ..counter_attr(c"used", schema)
        };
        let id = program.counter(domain, &attr).expect("a counter");
        let counter = program.journal.domain().counter(id).expect("registered");
        let kind = counter.kind();
        assert_eq!(matches!(kind, CounterKind::Group(_)), is_group, "{shown}");
        let semantics = counter.semantics().expect("they were given");
        assert_eq!(semantics.unit(), Some(unit));
        let sample = [bytes![7_u16], vec![0; size - 2]].concat();
        program
            .write_counter(stream, 1, id, &sample)
            .expect("written");
        assert_eq!(
            program.journal.take(),
            [format!("counter used in scope 0 @1 {{{shown}}}")]
        );
    }
}

#[test]
fn bad_counters_are_refused() {
    let program = Program::new();
    let (session, domain, _) = program.ready();
    let mark = program
        .schema(
            domain,
            &named(
                c"Mark",
                schema_attr(NVTX_PAYLOAD_SCHEMA_FLAG_MARK, &mark_entries()),
            ),
        )
        .expect("a schema");
    let text = program
        .schema(
            domain,
            &schema_attr(GROUP, &[array(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, c"x", 4)]),
        )
        .expect("a schema");
    let two = program
        .schema(
            domain,
            &schema_attr(
                0,
                &[
                    entry(TIMESTAMP, INT64, c"one"),
                    entry(TIMESTAMP, INT64, c"two"),
                ],
            ),
        )
        .expect("a schema");
    let none = program
        .schema(
            domain,
            &schema_attr(GROUP, &[entry(TIMESTAMP, INT64, c"t")]),
        )
        .expect("a schema");
    let enumeration = program
        .enumeration(domain, &enum_attr(&[], 4))
        .expect("an enum");
    let other = program.domain(session, Some(c"other")).expect("a domain");
    let foreign = program
        .scope(other, NVTX_SCOPE_ROOT, Some(c"x"), 0)
        .expect("a scope");
    let good = counter_attr(c"n", INT64);
    for (attr, reason) in [
        (nvtxCounterAttr_t { name: ptr::null(), ..good }, "attr.name is null or empty; a counter needs a name".to_owned()),
        (nvtxCounterAttr_t { name: c"".as_ptr(), ..good }, "attr.name is null or empty; a counter needs a name".to_owned()),
        (
            nvtxCounterAttr_t { structSize: 23, ..good },
            "attr.structSize is 23; at least 24 bytes are needed: set it to the size of the struct".to_owned(),
        ),
        (
            nvtxCounterAttr_t { schemaId: NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, ..good },
            "attr.schemaId 75 is no number: use a predefined numeric type, or register a schema".to_owned(),
        ),
        (
            nvtxCounterAttr_t { schemaId: 0, ..good },
            "attr.schemaId 0 is no number: use a predefined numeric type, or register a schema".to_owned(),
        ),
        (
            nvtxCounterAttr_t { schemaId: enumeration, ..good },
            format!("attr.schemaId {enumeration} is no schema of the domain: register it first, and use the ID it gets"),
        ),
        (
            nvtxCounterAttr_t { schemaId: mark, ..good },
            format!(
                "attr.schemaId: schema {mark} `Mark` describes events (mark); a counter needs a counter group or a plain schema"
            ),
        ),
        (
            nvtxCounterAttr_t { schemaId: text, ..good },
            format!("attr.schemaId: schema {text} has entries that are no numbers; a sample consists of numbers"),
        ),
        (
            nvtxCounterAttr_t { schemaId: two, ..good },
            format!("attr.schemaId: `one` and `two` of schema {two} are both timestamps; a sample has at most one"),
        ),
        (
            nvtxCounterAttr_t { schemaId: none, ..good },
            format!("attr.schemaId: schema {none} has no entry but a timestamp or a scope; a sample has values"),
        ),
        (
            nvtxCounterAttr_t { scopeId: NVTX_SCOPE_CURRENT_HW_MACHINE, ..good },
            "attr.scopeId 2 depends on where code runs; use NVTX_SCOPE_NONE, NVTX_SCOPE_ROOT or a scope of the domain"
                .to_owned(),
        ),
        (
            nvtxCounterAttr_t { scopeId: foreign, ..good },
            format!("attr.scopeId {foreign} is not registered in the domain: register it first"),
        ),
    ] {
        assert_invalid(program.counter(domain, &attr), &format!("CounterRegister on \"\": {reason}"));
    }
    assert_invalid(
        member!(program, CounterRegister(domain, ptr::null(), &mut 0)),
        "CounterRegister on \"\": attr is null",
    );
}

#[test]
fn a_counter_belongs_to_its_scope_and_clock_or_to_those_of_the_stream() {
    let program = Program::new();
    let (session, domain, _) = program.ready();
    let (one, two) = (
        program
            .scope(domain, NVTX_SCOPE_ROOT, Some(c"one"), 0)
            .expect("a scope"),
        program
            .scope(domain, NVTX_SCOPE_ROOT, Some(c"two"), 0)
            .expect("a scope"),
    );
    let attr = nvtxwStreamAttributes_t {
        scopeId: one,
        timeDomainId: NVTX_TIMESTAMP_TYPE_CPU_TSC,
        ..stream_attr(c"scoped", domain)
    };
    let stream = program.open_with(session, &attr).expect("a stream");
    program.journal.take();
    let time = nvtxSemanticsTime_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsTime_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_TIME_V1,
            version: 1,
            next: ptr::null(),
        },
        timeDomainId: NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
    };
    let plain = program
        .counter(domain, &counter_attr(c"plain", INT64))
        .expect("a counter");
    let own = nvtxCounterAttr_t {
        scopeId: two,
        semantics: &time.header,
        ..counter_attr(c"own", INT64)
    };
    let own = program.counter(domain, &own).expect("a counter");
    for counter in [plain, own] {
        program
            .write_counter(stream, 1, counter, &bytes![5_i64])
            .expect("written");
    }
    assert_eq!(
        program.journal.take(),
        [
            format!("counter plain in scope {one} time domain 10 @1 {{plain: I64(5)}}"),
            format!("counter own in scope {two} time domain 80 @1 {{own: I64(5)}}"),
        ]
    );
}

#[test]
fn bad_batches_of_samples_are_refused_as_a_whole() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let counter = program
        .counter(domain, &counter_attr(c"depth", INT64))
        .expect("a counter");
    let bytes = bytes![5_i64, 6_i64];
    let times = [1, 2];
    let good = counter_batch(counter, &bytes, Some(&times));
    for (attr, reason) in [
        (
            counter_batch(counter, &bytes[..12], Some(&times)),
            "countersSize is 12, which leaves 4 bytes over: each sample has 8 bytes; nothing was written",
        ),
        (
            counter_batch(counter, &bytes, None),
            "timestamps is null, and a sample of counter `depth` holds no timestamp either: give one of them",
        ),
        (
            counter_batch(counter, &bytes, Some(&[1])),
            "timestamps is 8 bytes long (timestampsSize), too short for 2 samples: it needs 16",
        ),
        (
            // A count instead of bytes.
            nvtxCounterBatch_t {
                timestampsSize: 2,
                ..good
            },
            "timestamps is 2 bytes long (timestampsSize), too short for 2 samples: it needs 16",
        ),
        (
            nvtxCounterBatch_t {
                counters: ptr::null(),
                ..good
            },
            "counters is null, but countersSize is 16",
        ),
    ] {
        assert_invalid(
            program.write_counters(stream, &attr),
            &format!("CounterBatchWrite on \"gpu\": {reason}"),
        );
    }
    assert_invalid(
        member!(program, CounterBatchWrite(stream, ptr::null())),
        "CounterBatchWrite on \"gpu\": counterBatch is null",
    );
    program
        .write_counters(stream, &counter_batch(counter, &[], Some(&[])))
        .expect("nothing to do");
    let null = nvtxCounterBatch_t {
        counters: ptr::null(),
        ..counter_batch(counter, &[], None)
    };
    program
        .write_counters(stream, &null)
        .expect("nothing to do");
    assert_eq!(program.journal.take(), [""; 0], "the backend is not asked");
    // More timestamps than samples are no harm.
    program
        .write_counters(stream, &counter_batch(counter, &bytes, Some(&[1, 2, 3])))
        .expect("written");
    assert_eq!(
        program.journal.take(),
        ["counter depth in scope 0 @1 {depth: I64(5)} @2 {depth: I64(6)}"]
    );
}

#[test]
fn one_pair_gives_the_times_of_all_samples() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let embedded = [entry(TIMESTAMP, INT64, c"t"), entry(VALUE, INT64, c"depth")];
    let embedded = program
        .schema(domain, &schema_attr(GROUP, &embedded))
        .expect("a schema");
    let begin = NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR;
    let end = NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR;
    for (schema, bytes) in [
        (INT64, bytes![5_i64, 6_i64, 7_i64]),
        // The pair goes before what is in the samples.
        (
            embedded,
            bytes![-9_i64, 5_i64, -9_i64, 6_i64, -9_i64, 7_i64],
        ),
    ] {
        let counter = program
            .counter(domain, &counter_attr(c"depth", schema))
            .expect("a counter");
        let write = |flags, pair: Option<&[i64]>| {
            let attr = nvtxCounterBatch_t {
                flags,
                ..counter_batch(counter, &bytes, pair)
            };
            program.write_counters(stream, &attr)
        };
        for (flags, pair, times) in [
            (begin, [100, 10], [100, 110, 120]),
            (end, [100, 10], [80, 90, 100]),
            (end | NVTX_BATCH_FLAG_UNSORTED, [0, -1], [2, 1, 0]),
            (begin, [i64::MIN, i64::MAX], [i64::MIN, -1, i64::MAX - 1]),
        ] {
            write(flags, Some(&pair)).expect("written");
            let [a, b, c] = times;
            assert_eq!(
                program.journal.take(),
                [format!(
                    "counter depth in scope 0 @{a} {{depth: I64(5)}} @{b} {{depth: I64(6)}} @{c} {{depth: I64(7)}}"
                )]
            );
        }
        let refused = |flags, pair, reason: &str| {
            assert_invalid(
                write(flags, pair),
                &format!("CounterBatchWrite on \"gpu\": {reason}"),
            );
        };
        refused(
            begin,
            Some(&[100]),
            "timestamps is 8 bytes long (timestampsSize), too short for a pair of time and interval: it needs 16",
        );
        refused(
            end,
            None,
            "timestamps is null, but flags promise a pair of time and interval there",
        );
        refused(
            begin | end,
            Some(&[100, 10]),
            "flags say both that the time of the pair is the first sample's and that it is the last one's",
        );
        assert_eq!(program.journal.take(), [""; 0]);
        refused(
            end,
            Some(&[0, i64::MAX]),
            "sample 0 of 3: the timestamp 0 and -2 intervals of 9223372036854775807 lead to -18446744073709551614, which is \
             no 64-bit timestamp",
        );
        assert_eq!(program.journal.take().len(), 1, "the others are written");
    }
}

#[test]
fn semantics_name_the_scope_of_a_counter() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let scope = |path| {
        program
            .scope(domain, NVTX_SCOPE_ROOT, Some(path), 0)
            .expect("a scope")
    };
    let scopes = [scope(c"a"), scope(c"b"), scope(c"c")];
    let node = |scope: u64| nvtxSemanticsScope_t {
        header: nvtxSemanticsHeader_t {
            structSize: size_of::<nvtxSemanticsScope_t>() as u32,
            semanticId: NVTX_SEMANTIC_ID_SCOPE_V1,
            version: 1,
            next: ptr::null(),
        },
        scopeId: scope,
    };
    let (of_entry, of_counter) = (node(scopes[0]), node(scopes[1]));
    let with = nvtxPayloadSchemaEntry_t {
        semantics: (&raw const of_entry).cast(),
        ..entry(VALUE, INT64, c"n")
    };
    let with = program
        .schema(domain, &schema_attr(GROUP, &[with]))
        .expect("a schema");
    for (schema, semantics, registered, scope) in [
        (INT64, ptr::null(), scopes[2], scopes[2]),
        (INT64, &raw const of_counter, scopes[2], scopes[1]),
        (with, &raw const of_counter, scopes[2], scopes[0]),
        (with, ptr::null(), 0, scopes[0]),
    ] {
        let attr = nvtxCounterAttr_t {
            scopeId: registered,
            semantics: semantics.cast(),
            ..counter_attr(c"n", schema)
        };
        let counter = program.counter(domain, &attr).expect("a counter");
        program
            .write_counter(stream, 1, counter, &bytes![5_i64])
            .expect("written");
        assert_eq!(
            program.journal.take(),
            [format!("counter n in scope {scope} @1 {{n: I64(5)}}")]
        );
    }
    let bad = node(0xDEAD_BEEF);
    let attr = nvtxCounterAttr_t {
        semantics: (&raw const bad).cast(),
        ..counter_attr(c"n", INT64)
    };
    assert_invalid(
        program.counter(domain, &attr),
        "CounterRegister on \"\": scope semantics: attr.scopeId 3735928559 is not registered in the domain: register it first",
    );
}
