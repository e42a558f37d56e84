//! Samples of counters.

use std::ptr;

use nvtxw_abi::raw::*;

use crate::program::*;

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
const U32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
const F64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64;
const GROUP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
const VALUE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;

#[test]
fn scalar_samples_are_exact() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    for (schema, bytes, shown) in [
        (INT64, bytes![i64::MIN], "I64(-9223372036854775808)"),
        (U64, bytes![1_u64 << 63], "U64(9223372036854775808)"),
        (U64, bytes![u64::MAX], "U64(18446744073709551615)"),
        (F64, bytes![f64::NAN], "F64(NaN)"),
        (F64, bytes![f64::INFINITY], "F64(inf)"),
        (F64, bytes![f64::NEG_INFINITY], "F64(-inf)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_UINT8, bytes![7_u8], "U64(7)"),
        (NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, bytes![0.5_f32], "F32(0.5)"),
    ] {
        let counter = program
            .counter(domain, &counter_attr(c"depth", schema))
            .expect("a counter");
        program
            .write_counter(stream, -3, counter, &bytes)
            .expect("written");
        assert_eq!(
            program.journal.take(),
            [format!("counter depth in scope 0 @-3 {{depth: {shown}}}")]
        );
        let two = [&bytes[..], &bytes[..]].concat();
        program
            .write_counters(stream, &counter_batch(counter, &two, Some(&[1, 2])))
            .expect("written");
        assert_eq!(
            program.journal.take(),
            [format!(
                "counter depth in scope 0 @1 {{depth: {shown}}} @2 {{depth: {shown}}}"
            )]
        );
    }
}

#[test]
fn every_number_may_be_a_counter() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let mut numbers = 0;
    for ty in 1..=101 {
        let Ok(counter) = program.counter(domain, &counter_attr(c"n", ty)) else {
            continue;
        };
        let size = program.journal.domain().counter(counter);
        let size = size.expect("it is registered").sample_size();
        let one = vec![0; size];
        program
            .write_counter(stream, 1, counter, &one)
            .expect("written");
        let two = vec![0; 2 * size];
        program
            .write_counters(stream, &counter_batch(counter, &two, Some(&[2, 3])))
            .expect("written");
        let lines = program.journal.take();
        assert_eq!((lines.len(), lines[1].matches("{n: ").count()), (2, 2));
        numbers += 1;
    }
    // Integers: 10 of C's, 8 of a given size, 2 of 128 bits, and `size_t`. Floats: 3 of C's, 4 of a given size, and 2 others.
    assert_eq!(numbers, 10 + 8 + 2 + 1 + 3 + 4 + 2);
}

#[test]
fn groups_show_their_fields_without_the_timestamp() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let entries = [
        entry(TIMESTAMP, INT64, c"t"),
        entry(VALUE, U64, c"read"),
        array(VALUE, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, c"load", 2),
    ];
    let bytes = |time: i64, read: u64| [bytes![time, read], bytes![0.5_f32, 1.5_f32]].concat();
    // As a counter group, and as a plain schema, as Python registers one-field layouts.
    for flags in [GROUP, 0] {
        let schema = program
            .schema(domain, &schema_attr(flags, &entries))
            .expect("a schema");
        let counter = program
            .counter(domain, &counter_attr(c"dram", schema))
            .expect("a counter");
        let two = [bytes(10, 1), bytes(20, 2)].concat();
        // Embedded timestamps; explicit ones override them.
        program
            .write_counters(stream, &counter_batch(counter, &two, None))
            .expect("written");
        program
            .write_counters(stream, &counter_batch(counter, &two, Some(&[7, 8])))
            .expect("written");
        program
            .write_counter(stream, 9, counter, &bytes(10, 3))
            .expect("written");
        let fields = |read: u64| format!("{{read: U64({read}), load: 2[F32(0.5) F32(1.5)]}}");
        assert_eq!(
            program.journal.take(),
            [
                format!(
                    "counter dram in scope 0 @10 {} @20 {}",
                    fields(1),
                    fields(2)
                ),
                format!("counter dram in scope 0 @7 {} @8 {}", fields(1), fields(2)),
                format!("counter dram in scope 0 @9 {}", fields(3)),
            ]
        );
    }
}

#[test]
fn bad_samples_are_refused() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let counter = program
        .counter(domain, &counter_attr(c"depth", INT64))
        .expect("a counter");
    let one = bytes![5_i64];
    for (data, reason) in [
        (
            &one[..7],
            "size is 7, but a sample of counter `depth` has 8 bytes",
        ),
        (
            &[0; 16],
            "size is 16, but a sample of counter `depth` has 8 bytes",
        ),
        (
            &[],
            "size is 0, but a sample of counter `depth` has 8 bytes",
        ),
    ] {
        assert_invalid(
            program.write_counter(stream, 0, counter, data),
            &format!("CounterWrite on \"gpu\": {reason}"),
        );
    }
    assert_invalid(
        member!(program, CounterWrite(stream, 0, counter, ptr::null(), 8)),
        "CounterWrite on \"gpu\": data is null, but size is 8",
    );
    let unknown = |id: u64| {
        format!(
            "counterId {id} is no counter of the stream's domain: register it there, and use the ID it gets"
        )
    };
    for id in [0, 17, 1 << 24, counter + 1] {
        assert_invalid(
            program.write_counter(stream, 0, id, &one),
            &format!("CounterWrite on \"gpu\": {}", unknown(id)),
        );
        assert_invalid(
            member!(program, CounterNoValueWrite(stream, 0, id, 0)),
            &format!("CounterNoValueWrite on \"gpu\": {}", unknown(id)),
        );
        assert_invalid(
            program.write_counters(stream, &counter_batch(id, &one, Some(&[1]))),
            &format!("CounterBatchWrite on \"gpu\": {}", unknown(id)),
        );
    }
    assert_eq!(program.journal.take(), [""; 0]);
}

#[test]
fn timestamps_need_no_alignment() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let counter = program
        .counter(domain, &counter_attr(c"depth", INT64))
        .expect("a counter");
    let moved = [vec![0xAA], bytes![5_i64, 6_i64]].concat();
    let attr = nvtxCounterBatch_t {
        timestamps: moved[1..].as_ptr().cast(),
        timestampsSize: 16,
        ..counter_batch(counter, &moved[1..], None)
    };
    program.write_counters(stream, &attr).expect("written");
    assert_eq!(
        program.journal.take(),
        ["counter depth in scope 0 @5 {depth: I64(5)} @6 {depth: I64(6)}"]
    );
}

#[test]
fn samples_without_a_value_tell_why() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let counter = program
        .counter(domain, &counter_attr(c"depth", INT64))
        .expect("a counter");
    for reason in 0..3 {
        member!(
            program,
            CounterNoValueWrite(stream, i64::from(reason) - 1, counter, reason)
        )
        .expect("written");
    }
    assert_eq!(
        program.journal.take(),
        [
            "no value depth @-1 Zero",
            "no value depth @0 Unchanged",
            "no value depth @1 Unavailable"
        ]
    );
    assert_invalid(
        member!(program, CounterNoValueWrite(stream, 0, counter, 3)),
        "CounterNoValueWrite on \"gpu\": reason is 3; the ABI defines 0 to 2",
    );
}

#[test]
fn the_good_samples_of_a_batch_are_written() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let schema = program
        .schema(
            domain,
            &schema_attr(
                GROUP,
                &[entry(TIMESTAMP, U64, c"t"), entry(VALUE, U32, c"n")],
            ),
        )
        .expect("a schema");
    let counter = program
        .counter(domain, &counter_attr(c"group", schema))
        .expect("a counter");
    let bytes = bytes![
        1_u64,
        5_u32,
        0_u32,
        u64::MAX,
        6_u32,
        0_u32,
        2_u64,
        7_u32,
        0_u32
    ];
    assert_invalid(
        program.write_counters(stream, &counter_batch(counter, &bytes, None)),
        "CounterBatchWrite on \"gpu\": sample 1 of 3: the unsigned timestamp 18446744073709551615 is greater than the \
         greatest possible, 2^63 - 1",
    );
    assert_eq!(
        program.journal.take(),
        ["counter group in scope 0 @1 {n: U64(5)} @2 {n: U64(7)}"]
    );
}

#[test]
fn samples_may_name_their_scope() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let scope = |path| {
        program
            .scope(domain, NVTX_SCOPE_ROOT, Some(path), 0)
            .expect("a scope")
    };
    let [a, b, registered] = [scope(c"a"), scope(c"b"), scope(c"c")];
    let id = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID;
    for role in [GROUP, 0] {
        let entries = [
            entry(VALUE, U64, c"n"),
            entry(0, id, c"where"),
            entry(NVTX_PAYLOAD_ENTRY_FLAG_COUNTER, id, c"precisely"),
        ];
        let schema = program
            .schema(domain, &schema_attr(role, &entries))
            .expect("a schema");
        let attr = nvtxCounterAttr_t {
            scopeId: registered,
            ..counter_attr(c"n", schema)
        };
        let counter = program.counter(domain, &attr).expect("a counter");
        let samples = bytes![
            1_u64, a, b, 2_u64, a, 0_u64, 3_u64, 0_u64, 0_u64, 4_u64, a, 999_u64
        ];
        assert_invalid(
            program.write_counters(
                stream,
                &counter_batch(counter, &samples, Some(&[1, 2, 3, 4])),
            ),
            "CounterBatchWrite on \"gpu\": sample 3 of 4: the scope 999 is neither predefined nor registered in the stream's \
             domain",
        );
        assert_eq!(
            program.journal.take(),
            [format!(
                "counter n in scope {registered} @1 in {b} {{n: U64(1)}} @2 in {a} {{n: U64(2)}} @3 {{n: U64(3)}}"
            )]
        );
        // A single sample is no different.
        assert_invalid(
            program.write_counter(stream, 1, counter, &bytes![4_u64, 999_u64, 0_u64]),
            "CounterWrite on \"gpu\": the scope 999 is neither predefined nor registered in the stream's domain",
        );
        assert_eq!(program.journal.take(), [""; 0]);
    }
}
