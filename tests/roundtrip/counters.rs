//! Counters and groups of counters.

use nvtxw::{
    Counter, CounterType, Interval, NoValueReason, NvtxCounterGroup, NvtxField, TimedSample,
};
use proptest::prelude::*;

use crate::data::{Data, Values, described, field, hidden, values};
use crate::seen::{Seen, Shown, Type};
use crate::stage::{Stage, for_all};

/// Times and values of a few samples.
fn samples<C: Values>() -> impl Strategy<Value = Vec<(i64, C)>> {
    proptest::collection::vec((i64::values(), C::values()), 1..5)
}

fn seen(counter: &str, time: i64, fields: Vec<Shown>) -> Seen {
    Seen::Sample {
        counter: counter.to_owned(),
        time,
        fields,
    }
}

/// The times of so many samples at equal distances, if there are such.
fn spread(first: i64, interval: i64, count: usize) -> Option<Vec<i64>> {
    let time = |index: usize| {
        let distance = i128::from(interval) * index as i128;
        i64::try_from(i128::from(first) + distance).ok()
    };
    (0..count).map(time).collect()
}

/// Any values of a counter of one number come back. `number` is that of its type in the ABI.
fn scalar<C>(number: u64)
where
    C: for<'a> TimedSample<Value<'a> = C> + CounterType + Values + Data,
{
    let (mut stage, counter): (_, Counter<C>) = Stage::with(|domain| domain.counter::<C>("depth"));
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.counter(counter).expect("a counter");
    let expected = |time: i64, value: C| {
        let ty = Type::Number(number);
        seen(
            "depth",
            time,
            vec![Shown {
                ty,
                ..field("depth", value)
            }],
        )
    };
    for_all((samples::<C>(), i64::values()), |(samples, interval)| {
        let (times, values): (Vec<i64>, Vec<C>) = samples.iter().copied().unzip();
        for (time, value) in &samples {
            out.sample(*time, *value).expect("written");
        }
        out.write_batch(&times, &values).expect("written");
        let once: Vec<_> = samples
            .iter()
            .map(|(time, value)| expected(*time, *value))
            .collect();
        assert_eq!(stage.eyes.take(), [once.clone(), once].concat());

        // Where the times can be told, all come; else those whose time can.
        let written = out.write_batch_interval(Interval::from_begin(times[0], interval), &values);
        let all = spread(times[0], interval, values.len());
        assert_eq!(written.is_ok(), all.is_some());
        if let Some(all) = all {
            let all = all.into_iter().zip(&values);
            let all: Vec<_> = all.map(|(time, value)| expected(time, *value)).collect();
            assert_eq!(stage.eyes.take(), all);
        }
        stage.eyes.take();
    });
}

#[test]
fn counters_of_all_types() {
    scalar::<i8>(11);
    scalar::<u8>(12);
    scalar::<i16>(13);
    scalar::<u16>(14);
    scalar::<i32>(15);
    scalar::<u32>(16);
    scalar::<i64>(17);
    scalar::<u64>(18);
    // As C's helpers have them: `float` and `double`.
    scalar::<f32>(19);
    scalar::<f64>(20);
}

#[derive(NvtxCounterGroup, Clone, Copy, Debug)]
#[repr(C)]
struct Channel {
    wide: i128,
    #[nvtx(
        unit = "bytes",
        description = "since the start",
        value_type = "delta_since_start"
    )]
    read: u64,
    #[nvtx(hide)]
    secret: i32,
    busy: f32,
    #[nvtx(skip)]
    gap: u64,
    #[nvtx(name = "in flight")]
    open: u16,
    a: i16,
    b: i8,
    c: u8,
    d: i16,
}

values!(Channel: wide, read, secret, busy, gap, open, a, b, c, d);

impl Channel {
    fn fields(&self) -> Vec<Shown> {
        vec![
            field("wide", self.wide),
            described("read", "since the start", self.read),
            hidden("secret", self.secret),
            field("busy", self.busy),
            field("in flight", self.open),
            field("a", self.a),
            field("b", self.b),
            field("c", self.c),
            field("d", self.d),
        ]
    }
}

#[test]
fn groups_with_times_beside_them() {
    let (mut stage, group) = Stage::with(|domain| domain.counter_group::<Channel>("channel"));
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.counter(group).expect("a counter");
    for_all(samples::<Channel>(), |samples| {
        let (times, values): (Vec<i64>, Vec<Channel>) = samples.iter().copied().unzip();
        for (time, value) in &samples {
            out.sample(*time, value).expect("written");
        }
        out.write_batch(&times, &values).expect("written");
        let once = samples
            .iter()
            .map(|(time, value)| seen("channel", *time, value.fields()));
        let once: Vec<_> = once.collect();
        assert_eq!(stage.eyes.take(), [once.clone(), once].concat());
    });
}

#[derive(NvtxCounterGroup, Clone, Copy, Debug)]
#[repr(C, packed)]
struct Timed<T> {
    small: u8,
    #[nvtx(timestamp)]
    time: i64,
    value: T,
}

impl<T: Values + Copy> Values for Timed<T> {
    fn values() -> BoxedStrategy<Self> {
        (u8::values(), i64::values(), T::values())
            .prop_map(|(small, time, value)| Self { small, time, value })
            .boxed()
    }
}

impl<T: Data + NvtxField> Timed<T> {
    fn fields(&self) -> Vec<Shown> {
        vec![field("small", self.small), field("value", self.value)]
    }
}

#[test]
fn groups_that_hold_their_times() {
    let (mut stage, group) = Stage::with(|domain| domain.counter_group::<Timed<f64>>("timed"));
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.counter(group).expect("a counter");
    for_all(samples::<Timed<f64>>(), |samples| {
        let (times, values): (Vec<i64>, Vec<Timed<f64>>) = samples.iter().copied().unzip();
        out.write_batch_embedded(&values).expect("written");
        for value in &values {
            out.sample_embedded(value).expect("written");
        }
        let own: Vec<_> = values
            .iter()
            .map(|value| seen("timed", value.time, value.fields()))
            .collect();
        assert_eq!(
            stage.eyes.take(),
            [own.clone(), own].concat(),
            "their own times"
        );

        out.write_batch_at(&times, &values).expect("written");
        for (time, value) in &samples {
            out.sample_at(*time, value).expect("written");
        }
        let given = samples
            .iter()
            .map(|(time, value)| seen("timed", *time, value.fields()));
        let given: Vec<_> = given.collect();
        assert_eq!(
            stage.eyes.take(),
            [given.clone(), given].concat(),
            "other times"
        );
    });
}

#[test]
fn samples_without_a_value() {
    let (mut stage, counter) = Stage::with(|domain| domain.counter::<u64>("depth"));
    let out = stage.session.writer(&mut stage.stream).expect("a writer");
    let out = out.counter(counter).expect("a counter");
    let reasons = [
        NoValueReason::Zero,
        NoValueReason::Unchanged,
        NoValueReason::Unavailable,
    ];
    for_all(
        (i64::values(), proptest::sample::select(reasons.to_vec())),
        |(time, reason)| {
            out.no_value(time, reason).expect("written");
            let counter = "depth".to_owned();
            assert_eq!(
                stage.eyes.take(),
                [Seen::NoValue {
                    counter,
                    time,
                    reason
                }]
            );
        },
    );
}
