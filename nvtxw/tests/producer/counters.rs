//! Counters: samples.

use nvtxw::abi::raw;
use nvtxw::{
    BatchOrdering, CounterOptions, CounterSemantics, CounterType, DefaultScope, Interval,
    NoValueReason, NvtxCounterGroup, StaticId, StreamOptions, TimeDomainOptions, TimestampType,
};

use crate::recorder::{self, Call, Counter, Semantics, answer, call, calls};

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
pub(crate) struct Channel {
    #[nvtx(unit = "bytes")]
    read: u64,
    busy: f32,
    queue: u32,
}

#[derive(NvtxCounterGroup, Clone, Copy)]
#[repr(C)]
struct Timed {
    #[nvtx(timestamp)]
    time: i64,
    value: f64,
}

pub(crate) fn counter(call: Call) -> Counter {
    let Call::Counter { counter, .. } = call else {
        panic!("{call:?}")
    };
    counter
}

#[test]
fn samples_of_numbers() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let signed = domain.counter::<i64>("i").unwrap();
    let Some(Call::Counter { out: id, .. }) = calls().pop() else {
        panic!()
    };
    let (unsigned, float) = (
        domain.counter::<u64>("u").unwrap(),
        domain.counter::<f64>("f").unwrap(),
    );
    let domain = domain.id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    let Some(Call::StreamOpen { out: handle, .. }) = calls().pop() else {
        panic!()
    };
    let out = session.writer(&mut stream).unwrap();
    let depth = out.counter(signed).unwrap();

    depth.sample(500, -12).unwrap();
    assert_eq!(
        call(),
        Call::Sample {
            stream: handle,
            time: 500,
            counter: id,
            bytes: (-12_i64).to_ne_bytes().into()
        }
    );
    out.counter(unsigned)
        .unwrap()
        .sample(501, u64::MAX)
        .unwrap();
    assert!(matches!(call(), Call::Sample { time: 501, bytes, .. } if bytes == [0xFF; 8]));
    out.counter(float).unwrap().sample(502, f64::NAN).unwrap();
    assert!(matches!(call(), Call::Sample { bytes, .. } if bytes == f64::NAN.to_ne_bytes()));

    for (reason, number) in [
        (NoValueReason::Zero, 0),
        (NoValueReason::Unchanged, 1),
        (NoValueReason::Unavailable, 2),
    ] {
        depth.no_value(-7, reason).unwrap();
        assert_eq!(
            call(),
            Call::NoValue {
                stream: handle,
                time: -7,
                counter: id,
                reason: number
            }
        );
    }

    let (times, values) = ([1, 2, 3], [10, 20, -30]);
    depth.write_batch(&times, &values).unwrap();
    let expected = |flags| Call::Samples {
        stream: handle,
        counter: id,
        address: values.as_ptr().addr(),
        bytes: values
            .iter()
            .flat_map(|value: &i64| value.to_ne_bytes())
            .collect(),
        flags,
        times_address: times.as_ptr().addr(),
        times: times.to_vec(),
    };
    assert_eq!(call(), expected(raw::NVTX_BATCH_FLAG_UNSORTED));
    let sorted = out.counter(signed).unwrap().ordering(BatchOrdering::Sorted);
    sorted.write_batch(&times, &values).unwrap();
    assert_eq!(call(), expected(0));
    depth.write_batch(&[], &[]).unwrap();
    assert_eq!(calls(), []);

    let error = depth
        .write_batch(&times, &values[..2])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "a batch of counter `i` has 3 times and 2 values: give one time per value; nothing was written"
    );
    assert_eq!(calls(), []);

    answer("CounterWrite", 1);
    answer("CounterNoValueWrite", 2);
    answer("CounterBatchWrite", 7);
    let error = depth.sample(1, 1).unwrap_err();
    assert_eq!(error.code().get(), 1);
    let text = error.at(&depth).to_string();
    assert!(
        text.starts_with(
            "can't write samples of counter `i` to stream `s` of domain `sim` of session `run`: "
        ),
        "{text}"
    );
    assert_eq!(
        depth
            .no_value(1, NoValueReason::Zero)
            .unwrap_err()
            .code()
            .get(),
        2
    );
    let nvtxw::Error::Write { error, what, .. } = depth.write_batch(&times, &values).unwrap_err()
    else {
        panic!()
    };
    assert!(error.is_not_supported());
    assert_eq!(
        what,
        "samples of counter `i` to stream `s` of domain `sim` of session `run`"
    );
}

#[test]
fn samples_of_groups() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let channel = domain.counter_group::<Channel>("channel").unwrap();
    let made = calls();
    let [
        Call::Schema {
            ref schema,
            out: schema_id,
            ..
        },
        Call::Counter {
            counter: ref registered,
            out: id,
            ..
        },
    ] = made[..]
    else {
        panic!("{made:#?}")
    };
    assert_eq!(schema.flags, raw::NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP);
    assert_eq!((schema.size, schema.entries.len()), (16, 3));
    assert_eq!(
        (registered.schema, registered.semantics.len()),
        (schema_id, 0)
    );
    let timed = domain.counter_group::<Timed>("timed").unwrap();
    let domain = domain.id();
    let mut stream = session
        .open_stream("s", StreamOptions::new(domain).plain_events(false))
        .unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let channels = out.counter(channel).unwrap();

    let sample = Channel {
        read: 7,
        busy: 0.5,
        queue: 3,
    };
    let bytes = |sample: &Channel| {
        let mut bytes = sample.read.to_ne_bytes().to_vec();
        bytes.extend(sample.busy.to_ne_bytes());
        bytes.extend(sample.queue.to_ne_bytes());
        bytes
    };
    channels.sample(9, &sample).unwrap();
    assert!(
        matches!(call(), Call::Sample { time: 9, counter, bytes: found, .. } if counter == id && found == bytes(&sample))
    );
    let samples = [sample, Channel { read: 8, ..sample }];
    channels.write_batch(&[1, 2], &samples).unwrap();
    let Call::Samples {
        address,
        bytes: found,
        times,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!(address, samples.as_ptr().addr());
    assert_eq!(found, samples.iter().flat_map(bytes).collect::<Vec<_>>());
    assert_eq!(times, [1, 2]);

    let timed = out.counter(timed).unwrap();
    let samples = [
        Timed {
            time: 1,
            value: 0.5,
        },
        Timed {
            time: 2,
            value: 0.25,
        },
    ];
    timed.write_batch_embedded(&samples).unwrap();
    timed.sample_embedded(&samples[1]).unwrap();
    timed.write_batch_embedded(&[]).unwrap();
    let made = calls();
    assert_eq!(made.len(), 2);
    for (call, expected) in made.into_iter().zip([&samples[..], &samples[1..]]) {
        let Call::Samples {
            address,
            bytes,
            times_address,
            times,
            ..
        } = call
        else {
            panic!()
        };
        assert_eq!(
            (address, bytes.len()),
            (expected.as_ptr().addr(), size_of_val(expected))
        );
        assert_eq!((times_address, times.len()), (0, 0));
    }
    timed.no_value(3, NoValueReason::Unavailable).unwrap();
    assert!(matches!(call(), Call::NoValue { time: 3, .. }));
}

#[test]
fn a_counter_may_have_any_number_type() {
    fn check<C: CounterType + for<'a> nvtxw::TimedSample<Value<'a> = C>>(
        ty: u64,
        value: C,
        bytes: &[u8],
    ) {
        let mut session = recorder::session("run");
        let mut domain = session.domain("sim").unwrap();
        calls();
        let queue = domain.counter::<C>("queue").unwrap();
        assert_eq!(counter(call()).schema, ty);
        let options = StreamOptions::new(domain.id()).plain_events(false);
        let mut stream = session.open_stream("s", options).unwrap();
        calls();
        let out = session.writer(&mut stream).unwrap();
        let queue = out.counter(queue).unwrap();
        queue.sample(1, value).unwrap();
        assert!(matches!(call(), Call::Sample { bytes: found, .. } if found == bytes));
        queue.write_batch(&[1, 2], &[value, value]).unwrap();
        assert!(matches!(call(), Call::Samples { bytes: found, .. } if found == bytes.repeat(2)));
    }
    check(raw::NVTX_PAYLOAD_ENTRY_TYPE_INT8, -1_i8, &[0xFF]);
    check(raw::NVTX_PAYLOAD_ENTRY_TYPE_INT16, -1_i16, &[0xFF; 2]);
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_INT32,
        7_i32,
        &7_i32.to_ne_bytes(),
    );
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64,
        7_i64,
        &7_i64.to_ne_bytes(),
    );
    check(raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT8, 7_u8, &[7]);
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT16,
        7_u16,
        &7_u16.to_ne_bytes(),
    );
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT32,
        7_u32,
        &7_u32.to_ne_bytes(),
    );
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64,
        7_u64,
        &7_u64.to_ne_bytes(),
    );
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT,
        0.5_f32,
        &0.5_f32.to_ne_bytes(),
    );
    check(
        raw::NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
        0.5_f64,
        &0.5_f64.to_ne_bytes(),
    );
}

#[test]
fn a_counter_has_a_default_scope_a_static_id_and_normal_values() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    calls();
    let id = StaticId::new(0x00FF_FFFF);
    assert_eq!(id, None);
    let id = StaticId::new(0x0100_0000).unwrap();
    let semantics = CounterSemantics::new().unit("V").normalize();
    let options = CounterOptions::new()
        .scope(DefaultScope::Root)
        .static_id(id)
        .semantics(semantics);
    let volts = domain
        .counter_with::<i16>("volts", options.clone())
        .unwrap();
    assert_eq!(volts.id(), 0x0100_0000);
    let arrived = counter(call());
    assert_eq!((arrived.scope, arrived.static_id), (1, 0x0100_0000));
    assert!(matches!(
        arrived.semantics[..],
        [Semantics::Counter {
            flags: raw::NVTX_COUNTER_FLAG_NORMALIZE,
            ..
        }]
    ));
    assert_eq!(domain.counter_with::<i16>("volts", options).unwrap(), volts);
    assert_eq!(calls(), []);
    let root = CounterOptions::new().scope(DefaultScope::Root);
    assert_eq!(
        domain
            .counter_with::<i16>("volts", root)
            .unwrap_err()
            .to_string(),
        "counter `volts` is registered in that scope as int16, number 16777216, unit `V`, normalized, and asked for as int16: \
         use one definition, or another name"
    );
    assert_eq!(
        domain
            .counter_with::<f32>("x", CounterOptions::new().normalize())
            .unwrap_err()
            .to_string(),
        "can't register counter `x`: `normalize` is for integers; floats are what they are"
    );
    assert_eq!(calls(), []);
}

#[test]
fn samples_may_be_equally_far_apart() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let load = domain.counter::<f32>("load").unwrap();
    let timed = domain.counter_group::<Timed>("timed").unwrap();
    let options = StreamOptions::new(domain.id()).plain_events(false);
    let mut stream = session.open_stream("s", options).unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let writer = out.counter(load).unwrap().ordering(BatchOrdering::Sorted);
    let values = [0.5_f32, 0.25, 1.0];
    for (interval, placement, pair) in [
        (
            Interval::from_begin(1000, 10),
            raw::NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR,
            [1000, 10],
        ),
        (
            Interval::from_end(-7, 3),
            raw::NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR,
            [-7, 3],
        ),
    ] {
        writer.write_batch_interval(interval, &values).unwrap();
        let Call::Samples {
            counter,
            address,
            bytes,
            flags,
            times,
            ..
        } = call()
        else {
            panic!()
        };
        assert_eq!((counter, address), (load.id(), values.as_ptr().addr()));
        assert_eq!((bytes.len(), flags, times), (12, placement, pair.to_vec()));
    }
    writer
        .write_batch_interval(Interval::from_begin(0, 1), &[])
        .unwrap();
    assert_eq!(calls(), []);

    let writer = out.counter(timed).unwrap();
    let sample = Timed {
        time: 1,
        value: 0.5,
    };
    writer
        .write_batch_interval(Interval::from_begin(5, 1), &[sample])
        .unwrap();
    let Call::Samples { flags, times, .. } = call() else {
        panic!()
    };
    let unsorted = raw::NVTX_BATCH_FLAG_UNSORTED;
    assert_eq!((flags, times), (1 << 32 | unsorted, vec![5, 1]));
}

#[test]
fn explicit_times_go_before_those_inside_samples() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("sim").unwrap();
    let timed = domain.counter_group::<Timed>("timed").unwrap();
    let options = StreamOptions::new(domain.id()).plain_events(false);
    let mut stream = session.open_stream("s", options).unwrap();
    calls();
    let out = session.writer(&mut stream).unwrap();
    let writer = out.counter(timed).unwrap();
    let samples = [1, 2].map(|time| Timed { time, value: 0.5 });
    writer.sample_at(77, &samples[0]).unwrap();
    assert!(matches!(
        call(),
        Call::Sample { time: 77, counter, bytes, .. } if counter == timed.id() && bytes.len() == 16
    ));
    writer.write_batch_at(&[8, 9], &samples).unwrap();
    let Call::Samples {
        address,
        flags,
        times,
        ..
    } = call()
    else {
        panic!()
    };
    assert_eq!(address, samples.as_ptr().addr());
    assert_eq!((flags, times), (raw::NVTX_BATCH_FLAG_UNSORTED, vec![8, 9]));
    assert_eq!(
        writer
            .write_batch_at(&[8], &samples)
            .unwrap_err()
            .to_string(),
        "a batch of counter `timed` has 1 times and 2 values: give one time per value; nothing was written"
    );
    writer.write_batch_at(&[], &[]).unwrap();
    assert_eq!(calls(), []);
}

#[test]
fn a_counter_may_have_a_clock_of_its_own() {
    let mut session = recorder::session("run");
    let mut domain = session.domain("other").unwrap();
    let foreign = domain.time_domain(TimeDomainOptions::new()).unwrap();
    let mut domain = session.domain("sim").unwrap();
    let clock = domain.time_domain(TimeDomainOptions::new()).unwrap();
    calls();
    let time = |time_domain| Semantics::Time {
        struct_size: 24,
        version: raw::NVTX_TIME_SEMANTIC_VERSION,
        time_domain,
    };
    let options = CounterOptions::new().time_domain(TimestampType::CpuTsc);
    domain.counter_with::<i64>("a", options.clone()).unwrap();
    let tsc = raw::NVTX_TIMESTAMP_TYPE_CPU_TSC;
    assert_eq!(counter(call()).semantics, [time(tsc)]);
    let both = CounterOptions::new().unit("V").time_domain(clock);
    domain.counter_with::<i64>("b", both).unwrap();
    let found = counter(call()).semantics;
    assert!(
        matches!(found[..], [Semantics::Counter { .. }, _]),
        "{found:?}"
    );
    assert_eq!(found[1], time(clock.id()));

    assert_eq!(
        domain.counter::<i64>("a").unwrap_err().to_string(),
        "counter `a` is registered in that scope as int64, clock CpuTsc, and asked for as int64: use one definition, or \
         another name"
    );
    assert_eq!(
        domain
            .counter_with::<i64>("c", CounterOptions::new().time_domain(foreign))
            .unwrap_err()
            .to_string(),
        "a time domain that was passed belongs to domain `other` of session `run`; counter `c` is for domain `sim` of session \
         `run`: use it where it belongs, or register it there too"
    );
    assert_eq!(calls(), []);
}
