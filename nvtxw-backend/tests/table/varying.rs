//! Samples that differ in what they hold: unions, arrays of varying length, data behind offsets and pointers.

use std::ffi::CStr;

use nvtxw_abi::raw::*;

use crate::program::*;

const INT64: u64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
const U8: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
const U16: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
const U32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
const F32: u64 = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT;
const GROUP: u64 = NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP;
const VALUE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_COUNTER;
const BY_INDEX: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;

fn detail(detail: u64, entry: nvtxPayloadSchemaEntry_t) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        arrayOrUnionDetail: detail,
        ..entry
    }
}

/// A program with a stream, and a counter of its schema.
struct Sampled {
    program: Program,
    domain: Domain,
    stream: Stream,
}

impl Sampled {
    fn new(program: Program) -> Self {
        let (_, domain, stream) = program.ready();
        Self {
            program,
            domain,
            stream,
        }
    }

    fn schema(&self, attr: nvtxPayloadSchemaAttr_t) -> u64 {
        let schema = self.program.schema(self.domain, &attr);
        schema.expect("a schema")
    }

    fn counter(&self, name: &'static CStr, schema: u64) -> u64 {
        let counter = self
            .program
            .counter(self.domain, &counter_attr(name, schema));
        counter.expect("a counter")
    }

    fn write(&self, counter: u64, bytes: &[u8]) -> Outcome {
        self.program.write_counter(self.stream, 1, counter, bytes)
    }

    fn write_all(&self, counter: u64, bytes: &[u8], times: Option<&[i64]>) -> Outcome {
        let batch = counter_batch(counter, bytes, times);
        self.program.write_counters(self.stream, &batch)
    }

    #[track_caller]
    fn written(&self, outcome: Outcome) -> String {
        outcome.expect("written");
        let [line] = &*self.program.journal.take() else {
            panic!("one line")
        };
        line.clone()
    }
}

#[test]
fn samples_may_hold_unions() {
    let sampled = Sampled::new(Program::new());
    let point = sampled.schema(schema_attr(0, &[entry(0, U8, c"x"), entry(0, U8, c"y")]));
    let members = [
        entry(VALUE, U32, c"whole"),
        entry(VALUE, F32, c"real"),
        entry(0, point, c"point"),
    ];
    let either = sampled.schema(union(schema_attr(0, &members)));
    let entries = [
        entry(TIMESTAMP, INT64, c"t"),
        entry(0, U32, c"which"),
        detail(1, entry(VALUE, either, c"value")),
    ];
    for role in [GROUP, 0] {
        let group = sampled.schema(schema_attr(role, &entries));
        let counter = sampled.counter(c"n", group);
        let one = |time: i64, which: u32, value: u32| bytes![time, which, value];
        assert_eq!(
            sampled.written(sampled.write(counter, &one(9, 1, 0.5_f32.to_bits()))),
            "counter n in scope 0 @1 {which: U64(1), value: {real: F32(0.5)}}"
        );
        let none = format!(
            "the selector of the union schema {either} is 3, which is none of its members: that is the index of an entry"
        );
        assert_invalid(
            sampled.write(counter, &one(9, 3, 0)),
            &format!("CounterWrite on \"gpu\": {none}"),
        );
        let all = [one(5, 0, 7), one(6, 3, 7), one(7, 2, 0x0201)].concat();
        assert_invalid(
            sampled.write_all(counter, &all, None),
            &format!("CounterBatchWrite on \"gpu\": sample 1 of 3: {none}"),
        );
        assert_eq!(
            sampled.program.journal.take(),
            [
                "counter n in scope 0 @5 {which: U64(0), value: {whole: U64(7)}} @7 {which: U64(2), value: {point: {x: U64(1), \
              y: U64(2)}}}"
            ]
        );
        assert_invalid(
            sampled.write(counter, &one(9, 0, 0)[..15]),
            "CounterWrite on \"gpu\": size is 15, but a sample of counter `n` has at least 16 bytes",
        );
        assert_invalid(
            sampled.write_all(counter, &all[..17], None),
            "CounterBatchWrite on \"gpu\": countersSize is 17, which leaves 1 bytes over: each sample has 16 bytes; nothing \
             was written",
        );
    }
}

#[test]
fn a_sample_may_be_a_union_that_selects_by_itself() {
    let sampled = Sampled::new(Program::new());
    let members = [
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, c"which"),
        at(4, entry(VALUE, U32, c"whole")),
        at(4, entry(VALUE, F32, c"real")),
    ];
    let either = sampled.schema(selecting(schema_attr(0, &members)));
    let counter = sampled.counter(c"n", either);
    let all = bytes![1_u32, 7_u32, 2_u32, 0.5_f32];
    assert_eq!(
        sampled.written(sampled.write_all(counter, &all, Some(&[10, 20]))),
        "counter n in scope 0 @10 {whole: U64(7)} @20 {real: F32(0.5)}"
    );
    // One that nothing selects from is none.
    let outer = sampled.schema(union(schema_attr(0, &members[1..])));
    assert_invalid(
        sampled
            .program
            .counter(sampled.domain, &counter_attr(c"n", outer)),
        &format!(
            "CounterRegister on \"\": attr.schemaId: schema {outer} is a union that an entry beside it selects from: put it \
             into a struct that has such an entry"
        ),
    );
}

#[test]
fn samples_may_vary_in_length() {
    let sampled = Sampled::new(Program::new());
    let scope = sampled
        .program
        .scope(sampled.domain, NVTX_SCOPE_ROOT, Some(c"here"), 0);
    let scope = scope.expect("a scope");
    let entries = [
        entry(0, U8, c"n"),
        detail(0, entry(VALUE | BY_INDEX, U16, c"loads")),
        entry(TIMESTAMP, INT64, c"t"),
        entry(0, NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, c"scope"),
    ];
    let group = sampled.schema(dynamic(schema_attr(GROUP, &entries)));
    let counter = sampled.counter(c"cpu", group);
    let one = |loads: &[u16], time: i64, scope: u64| {
        let mut bytes = vec![loads.len() as u8, 0xEE];
        loads
            .iter()
            .for_each(|load| bytes.extend(load.to_ne_bytes()));
        bytes.resize(bytes.len().next_multiple_of(8), 0xEE);
        bytes.extend(bytes![time, scope]);
        bytes
    };
    let all = [
        one(&[1, 2], 10, 0),
        one(&[], 20, scope),
        one(&[3, 4, 5, 6], 30, 0),
    ]
    .concat();
    let shown = |times: [i64; 3]| {
        let [a, b, c] = times;
        format!(
            "counter cpu in scope 0 @{a} {{n: U64(2), loads: 2[U64(1) U64(2)]}} @{b} in {scope} {{n: U64(0), loads: 0[]}} \
             @{c} {{n: U64(4), loads: 4[U64(3) U64(4) U64(5) U64(6)]}}"
        )
    };
    assert_eq!(
        sampled.written(sampled.write_all(counter, &all, None)),
        shown([10, 20, 30])
    );
    assert_eq!(
        sampled.written(sampled.write_all(counter, &all, Some(&[1, 2, 3]))),
        shown([1, 2, 3])
    );
    let pair = nvtxCounterBatch_t {
        flags: NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR,
        ..counter_batch(counter, &all, Some(&[100, 10]))
    };
    let written = sampled.program.write_counters(sampled.stream, &pair);
    assert_eq!(sampled.written(written), shown([80, 90, 100]));
    assert_invalid(
        sampled.write_all(counter, &all, Some(&[1, 2])),
        "CounterBatchWrite on \"gpu\": timestamps is 16 bytes long (timestampsSize), too short for 3 samples: it needs 24",
    );
    // The call's time counts before the sample's.
    assert_eq!(
        sampled.written(sampled.write(counter, &one(&[7], 99, 0))),
        "counter cpu in scope 0 @1 {n: U64(1), loads: 1[U64(7)]}"
    );
    for (sample, reason) in [
        (
            one(&[7], 99, 999),
            "the scope 999 is neither predefined nor registered in the stream's domain",
        ),
        (
            vec![7, 0],
            "`loads` would have 14 bytes at offset 2, but there are only 2 bytes",
        ),
        (
            vec![],
            "size is 0, but a sample of counter `cpu` has at least 2 bytes",
        ),
    ] {
        assert_invalid(
            sampled.write(counter, &sample),
            &format!("CounterWrite on \"gpu\": {reason}"),
        );
    }
    // After one whose end is not found, there is nothing more.
    let cut = [&all[..], &[9]].concat();
    assert_invalid(
        sampled.write_all(counter, &cut, None),
        &format!(
            "CounterBatchWrite on \"gpu\": sample 3 of 4: only 1 bytes are left, but a sample of schema {group} has at least \
             2; where the next sample starts can't be told, so that this and all after it are left out"
        ),
    );
    assert_eq!(sampled.program.journal.take(), [shown([10, 20, 30])]);
    assert_invalid(
        sampled.write_all(counter, &[9, 9, 9, 9], None),
        "CounterBatchWrite on \"gpu\": sample 0 of 1: `loads` would have 18 bytes at offset 2, but there are only 4 bytes; \
         where the next sample starts can't be told, so that this and all after it are left out",
    );
}

#[test]
fn samples_may_refer_to_data() {
    let sampled = Sampled::new(Program::loaded());
    let copied = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
    let entries = [
        entry(0, INT64, c"n"),
        detail(
            0,
            entry(
                NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | BY_INDEX,
                U16,
                c"behind",
            ),
        ),
        array(copied, U16, c"elsewhere", 2),
    ];
    let schema = schema_attr(GROUP | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY, &entries);
    let counter = sampled.counter(c"n", sampled.schema(schema));
    let elsewhere: Box<[u16]> = Box::new([8, 9]);
    let sample = [
        bytes![2_i64, 24_u64, elsewhere.as_ptr().expose_provenance()],
        bytes![6_u16, 7_u16],
    ]
    .concat();
    assert_eq!(
        sampled.written(sampled.write(counter, &sample)),
        "counter n in scope 0 @1 {n: I64(2), behind: 2[U64(6) U64(7)], elsewhere: 2[U64(8) U64(9)]}"
    );
    // In a batch each has just the struct.
    let none = bytes![0_i64, 24_u64, 0_u64];
    assert_eq!(
        sampled.written(sampled.write_all(counter, &[&none[..], &none].concat(), Some(&[1, 2]))),
        "counter n in scope 0 @1 {n: I64(0), behind: 0[]} @2 {n: I64(0), behind: 0[]}"
    );
}
