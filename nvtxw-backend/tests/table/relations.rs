//! Relations between time domains.

use std::ptr;

use nvtxw_abi::raw::*;
use nvtxw_backend::in_process;

use crate::allocation::Summing;
use crate::program::*;

fn point(program: &Program, stream: Stream, from: u64, to: u64) -> Outcome {
    member!(program, TimeSyncPointWrite(stream, from, to, 1, -2))
}

fn table(program: &Program, stream: Stream, points: &[nvtxSyncPoint_t]) -> Outcome {
    member!(
        program,
        TimeSyncPointTableWrite(stream, 10, 14, points.as_ptr(), points.len())
    )
}

fn factor(program: &Program, stream: Stream, slope: f64) -> Outcome {
    member!(
        program,
        TimestampConversionFactorWrite(stream, 10, 14, slope, 1, -2)
    )
}

const POINTS: [nvtxSyncPoint_t; 2] = [
    nvtxSyncPoint_t { src: 1, dst: -2 },
    nvtxSyncPoint_t {
        src: i64::MAX,
        dst: i64::MIN,
    },
];

#[test]
fn relations_reach_the_backend() {
    let program = Program::new();
    let (_, domain, stream) = program.ready();
    let clock = nvtxTimeDomainAttr_t {
        scopeId: 0,
        timestampTypeId: 0,
        timeDomainId: 0,
        timerFlags: 0,
        timerResolution: 0,
        timerStart: 0,
    };
    let mut registered = 0;
    member!(program, TimeDomainRegister(domain, &clock, &mut registered)).expect("a time domain");
    point(&program, stream, 10, registered).expect("written");
    table(&program, stream, &POINTS).expect("written");
    factor(&program, stream, 1.5).expect("written");
    table(&program, stream, &[]).expect("nothing to do");
    assert_eq!(
        program.journal.take(),
        [
            format!("relation 10 to {registered}: Points([(1, -2)])"),
            "relation 10 to 14: Points([(1, -2), (9223372036854775807, -9223372036854775808)])"
                .to_owned(),
            "relation 10 to 14: Linear { slope: 1.5, source: 1, destination: -2 }".to_owned(),
        ]
    );
}

#[test]
fn bad_relations_are_refused() {
    let program = Program::new();
    let (_, _, stream) = program.ready();
    let unknown =
        "is neither a timestamp type nor a time domain of the stream's domain: register it there";
    for (outcome, report) in [
        (
            point(&program, stream, 10, 999),
            format!("TimeSyncPointWrite on \"gpu\": 999 {unknown}"),
        ),
        (
            point(&program, stream, 1 << 24, 10),
            format!("TimeSyncPointWrite on \"gpu\": 16777216 {unknown}"),
        ),
        (
            member!(
                program,
                TimeSyncPointTableWrite(stream, 10, 14, ptr::null(), 1)
            ),
            "TimeSyncPointTableWrite on \"gpu\": syncPoints is null, but count is 1".to_owned(),
        ),
    ] {
        assert_invalid(outcome, &report);
    }
    for (slope, shown) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (0.0, "0"),
        (-1.0, "-1"),
    ] {
        assert_invalid(
            factor(&program, stream, slope),
            &format!(
                "TimestampConversionFactorWrite on \"gpu\": slope is {shown}; ticks of the destination for each tick of the \
                 source are a positive number"
            ),
        );
    }
    assert_eq!(program.journal.take(), [""; 0]);
}

#[test]
fn by_default_a_backend_takes_none() {
    let program = Program::of(in_process(Summing));
    let (_, _, stream) = program.ready();
    for (member, outcome) in [
        ("TimeSyncPointWrite", point(&program, stream, 10, 14)),
        ("TimeSyncPointTableWrite", table(&program, stream, &POINTS)),
        (
            "TimestampConversionFactorWrite",
            factor(&program, stream, 1.5),
        ),
    ] {
        assert_unsupported(
            outcome,
            &format!(
                "{member} on \"gpu\": this backend takes no relations between time domains: convert the timestamps to one \
                 time domain before writing them"
            ),
        );
    }
}
