//! What is said of the order of events: it saves memory, and changes no row, be it true or not.

use std::collections::HashMap;
use std::fs;

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::arrivals::{Arrival, Chains, Kind, Rows, Schemas, merged};
use crate::reader::{Arg, Trace, text};
use crate::table::{Order, entry, time, told, words};
use crate::{Run, seeds};

const TYPES: [i16; 3] = [
    NVTXW_STREAM_ORDERING_TYPE_STRICT,
    NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START,
    NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END,
];

fn orders() -> Vec<Order> {
    let skids = [
        (NVTXW_STREAM_ORDERING_SKID_NONE, 0),
        (NVTXW_STREAM_ORDERING_SKID_TIME_NS, 30),
        (NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT, 0),
        (NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT, 20),
    ];
    let mut orders = Vec::new();
    for interleaving in [0, NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE] {
        for ordering in TYPES {
            for (skid, amount) in skids {
                orders.push(Order {
                    interleaving,
                    ordering,
                    skid,
                    amount,
                });
            }
        }
    }
    orders
}

fn is_range(arrival: &Arrival) -> bool {
    matches!(arrival.kind, Kind::PushPop | Kind::StartEnd)
}

/// How many arrivals break a claim, as the ABI defines it.
fn breaks(arrivals: &[Arrival], order: Order) -> i64 {
    let mut before: HashMap<_, Vec<i64>> = HashMap::new();
    let mut count = 0;
    for arrival in arrivals {
        let by_end = order.ordering == NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END;
        let time = match by_end && is_range(arrival) {
            true => arrival.end,
            false => arrival.time,
        };
        let group = match order.interleaving {
            0 => 0,
            // The counter is in the scope of the stream.
            _ if arrival.kind == Kind::Sample => 1,
            _ => 2 + arrival.place,
        };
        let earlier = before.entry(group).or_default();
        let passed = match order.skid {
            NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT => {
                earlier.len().saturating_sub(order.amount as usize)
            }
            _ => earlier.len(),
        };
        let lag = match order.skid {
            NVTXW_STREAM_ORDERING_SKID_TIME_NS => order.amount,
            _ => 0,
        };
        let latest = earlier[..passed].iter().max();
        let is_strict = order.ordering == NVTXW_STREAM_ORDERING_TYPE_STRICT;
        count += i64::from(
            latest.is_some_and(|latest| time < latest - lag)
                || is_strict && is_range(arrival) && arrival.end != arrival.time,
        );
        earlier.push(time);
    }
    count
}

fn write(arrivals: &[Arrival], order: Order, config: &str) -> Run {
    let run = Run::with(config);
    let domain = run.session.domain("");
    let schemas = Schemas::new(domain);
    let mut stream = run.session.ordered_stream("main", domain, 0, order);
    for arrival in arrivals {
        schemas.write(&mut stream, *arrival);
    }
    stream.close().unwrap();
    run
}

fn count(trace: &Trace, key: &str) -> i64 {
    match trace.attributes.get(key) {
        None => 0,
        Some(Arg::Int(count)) => *count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_claim_changes_a_row() {
    let (mut true_ones, mut false_ones) = (0, 0);
    for seed in seeds(2) {
        let mut chains = Chains::new(seed);
        let in_order = chains.in_order();
        let disorder = chains.in_disorder();
        let want = Rows::of(&merged(write(&in_order, Order::default(), "")));
        for order in orders() {
            for (arrivals, window) in [(&in_order, 8), (&disorder, 8), (&disorder, 2)] {
                let run = write(arrivals, order, &format!("window={window}"));
                let trace = merged(run);
                assert_eq!(Rows::of(&trace), want, "seed {seed} {order:?}");
                let broken = breaks(arrivals, order);
                let found = count(&trace, "nvtxw.broken_ordering");
                assert_eq!(found, broken, "seed {seed} {order:?}");
                assert_eq!(count(&trace, "nvtxw.broken_ordering.0.events"), broken);
                let name = trace.attributes.get("nvtxw.broken_ordering.0");
                assert_eq!(name, (broken > 0).then(|| text("main")).as_ref());
                assert_eq!(told().len(), usize::from(broken > 0));
                *if broken > 0 {
                    &mut false_ones
                } else {
                    &mut true_ones
                } += 1;
            }
        }
    }
    assert!(true_ones > 5 && false_ones > 50, "{true_ones} {false_ones}");
}

/// A true claim needs no window, so that the file is in order although little is held.
#[test]
fn what_keeps_to_its_claim_goes_straight_through() {
    const STEPS: i64 = 6000;
    for order in orders() {
        if order.ordering == NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END {
            continue;
        }
        let run = Run::new();
        let domain = run.session.domain("");
        let schemas = Schemas::new(domain);
        let mut stream = run.session.ordered_stream("main", domain, 0, order);
        let is_strict = order.ordering == NVTXW_STREAM_ORDERING_TYPE_STRICT;
        for step in 0..STEPS {
            // Neighbours change places, where they may.
            let step = if order.amount > 0 { step ^ 1 } else { step };
            let arrival = Arrival {
                kind: if is_strict {
                    Kind::Mark
                } else {
                    Kind::StartEnd
                },
                time: step * 10,
                end: step * 10 + 15,
                place: (step % 2) as usize,
                number: 1,
            };
            schemas.write(&mut stream, arrival);
        }
        // Less than the window would hold back without a claim.
        let (early, _) = Trace::read_cut(&run.path);
        let there = early.ranges.len() + early.instants.len();
        assert!(there as i64 > STEPS - 4096, "{there} {order:?}");
        stream.close().unwrap();
        let before = fs::read(&run.path).unwrap();
        run.session.end().unwrap();
        let after = fs::read(&run.path).unwrap();
        assert!(after.starts_with(&before), "{order:?}");
        let trace = Trace::read(&run.path);
        assert_eq!((trace.ranges.len() + trace.instants.len()) as i64, STEPS);
        assert_eq!(trace.attributes.get("nvtxw.broken_ordering"), None);
        assert_eq!(told(), [""; 0]);
    }
}

#[test]
fn the_log_says_once_what_was_claimed_and_is_not_so() {
    let written = |order, arrivals: &[(Kind, i64, i64)]| {
        let arrivals: Vec<_> = (arrivals.iter())
            .map(|&(kind, time, end)| Arrival {
                kind,
                time,
                end,
                place: 0,
                number: 1,
            })
            .collect();
        let trace = merged(write(&arrivals, order, ""));
        (told(), count(&trace, "nvtxw.broken_ordering"))
    };
    let order = Order {
        ordering: NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START,
        ..Order::default()
    };
    let still = "the events are taken and put in order all the same, and counted";
    let marks = [50, 40, 30].map(|time| (Kind::Mark, time, time));
    assert_eq!(
        written(order, &marks),
        (
            vec![format!(
                "attr.orderingType says that events come in order, ranges by their starts, but one of 40 ns \
                 came when none before 50 ns was to come any more: say UNKNOWN, or how late they may be; \
                 {still}"
            )],
            2
        )
    );
    let late = Order {
        ordering: NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END,
        skid: NVTXW_STREAM_ORDERING_SKID_TIME_NS,
        amount: 10,
        ..order
    };
    let ranges = [(0, 50), (45, 46), (30, 39)].map(|(start, end)| (Kind::PushPop, start, end));
    assert_eq!(
        written(late, &ranges),
        (
            vec![format!(
                "attr.orderingType says that events come in order, ranges by their ends, and at most 10 ns \
                 late, but one of 39 ns came when none before 40 ns was to come any more: say UNKNOWN, or \
                 how late they may be; {still}"
            )],
            1
        )
    );
    let strict = Order {
        ordering: NVTXW_STREAM_ORDERING_TYPE_STRICT,
        ..order
    };
    assert_eq!(
        written(strict, &ranges[..2]),
        (
            vec![format!(
                "attr.orderingType says that all events are points in time, but a range came that starts at \
                 0 ns: say PACKED_RANGE_START if ranges come in the order of their starts; {still}"
            )],
            2
        )
    );
}

/// Of each batch: its flags, and the times of its ranges.
fn batches(order: Order, batches: &[(u64, &[i64])]) -> (Trace, Vec<String>) {
    let run = Run::new();
    let domain = run.session.domain("");
    let plain = crate::Plain::new(domain);
    let name = domain.string("range") as i64;
    let mut stream = run.session.ordered_stream("main", domain, 0, order);
    for (flags, times) in batches {
        let ranges: Vec<_> = (times.iter())
            .flat_map(|time| words(&[*time, time + 1, name]))
            .collect();
        stream
            .ordered_batch(plain.startend, &ranges, *flags)
            .unwrap();
    }
    let mut want: Vec<_> = batches
        .iter()
        .flat_map(|(_, times)| *times)
        .copied()
        .collect();
    want.sort();
    let trace = merged(run);
    let starts: Vec<_> = trace
        .ranges
        .iter()
        .map(|range| range.start as i64)
        .collect();
    assert_eq!(starts, want);
    (trace, told())
}

#[test]
fn what_is_said_of_a_batch_holds_for_that_alone() {
    let [sorted, partially, per_scope, unsorted] = [
        NVTX_BATCH_FLAG_TIME_SORTED,
        NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY,
        NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE,
        NVTX_BATCH_FLAG_UNSORTED,
    ];
    let none = Order::default();
    let skid = Order {
        ordering: NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START,
        skid: NVTXW_STREAM_ORDERING_SKID_TIME_NS,
        amount: 10,
        ..none
    };
    let said = |order, all: &[(u64, &[i64])]| {
        let (trace, told) = batches(order, all);
        let counts = ["nvtxw.broken_ordering", "nvtxw.broken_batch_ordering"];
        assert_eq!(
            count(&trace, counts[1]),
            count(&trace, "nvtxw.broken_ordering.0.batch_events")
        );
        (counts.map(|key| count(&trace, key)), told.len())
    };
    let (up, down): (&[i64], &[i64]) = (&[10, 20, 20, 30], &[40, 30, 20]);
    // One batch may be before another.
    assert_eq!(said(none, &[(sorted, up), (sorted, up)]), ([0, 0], 0));
    assert_eq!(said(none, &[(sorted, up), (sorted, down)]), ([0, 2], 1));
    assert_eq!(
        said(none, &[(per_scope, down), (sorted, down)]),
        ([0, 4], 1)
    );
    assert_eq!(said(none, &[(unsorted, down)]), ([0, 0], 0));
    // Without a skid it says nothing.
    assert_eq!(said(none, &[(partially, down)]), ([0, 0], 0));
    assert_eq!(said(skid, &[(partially, &[40, 30, 29])]), ([1, 1], 2));
    assert_eq!(said(skid, &[(unsorted, down)]), ([1, 0], 1));
    assert_eq!(said(skid, &[(sorted, &[40, 35])]), ([0, 1], 1));
    let (_, told) = batches(none, &[(sorted, &[5, 4])]);
    assert_eq!(
        told,
        [
            "flags say that the batch is in order, but what is of 4 ns stands where nothing before 5 ns was to \
             come any more: say NVTX_BATCH_FLAG_UNSORTED; the events are taken and put in order all the same, \
             and counted"
        ]
    );
}

#[test]
fn samples_of_a_batch_are_in_order_or_counted() {
    let run = Run::new();
    let domain = run.session.domain("");
    let value = entry(EntryType::Int64, c"value");
    let sample = domain.schema(
        "sample",
        NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
        16,
        &[time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_COUNTER), value],
    );
    let counter = domain.counter("load", sample, 0, None);
    let mut stream = run.session.stream("main", domain, 0);
    stream.samples(counter, &words(&[10, 1, 30, 3])).unwrap();
    stream.samples(counter, &words(&[20, 2, 15, 5])).unwrap();
    let trace = merged(run);
    assert_eq!(trace.values.len(), 4);
    assert_eq!(count(&trace, "nvtxw.broken_batch_ordering"), 1);
    assert_eq!(told().len(), 1);
}
