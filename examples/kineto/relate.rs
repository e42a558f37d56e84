//! Finds the ranges that each flow connects.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::row::Row;
use crate::trace::{Cell, Flow, Held, Names, Trace};

/// What became of the flows.
#[derive(Default)]
pub struct Flows {
    /// Connect ranges by a number of their own.
    pub numbered: usize,
    /// Connect ranges that one correlation id connects already.
    pub covered: usize,
    /// Touch fewer than two ranges.
    pub loose: usize,
}

/// Sorts the events of each thread by start, the longest first, and gives the ranges of each flow its number.
pub fn relate(trace: &mut Trace) -> Flows {
    let mut points = vec![Vec::new(); trace.threads.len()];
    for point in &trace.points {
        points[point.thread].push((point.time, point.flow));
    }
    // The ranges of each flow, by the places of their threads and their own.
    let mut flows: BTreeMap<Flow, Vec<(usize, usize)>> = BTreeMap::new();
    for (thread, points) in points.iter_mut().enumerate() {
        let events = &mut trace.threads[thread].events;
        events.sort_by_key(|event| (event.start, Reverse(event.end)));
        points.sort_unstable();
        for (flow, event) in innermost(events, points) {
            flows
                .entry(flow)
                .or_default()
                .extend(event.map(|event| (thread, event)));
        }
        for (index, event) in events.iter().enumerate() {
            if let Some(flow) = event.flow {
                flows.entry(flow).or_default().push((thread, index));
            }
        }
    }
    let mut counts = Flows::default();
    for mut ranges in flows.into_values() {
        ranges.sort_unstable();
        ranges.dedup();
        let mut correlations = ranges
            .iter()
            .map(|&(thread, event)| trace.threads[thread].events[event].correlation);
        let first = correlations.next().flatten();
        if ranges.len() < 2 {
            counts.loose += 1;
        } else if first.is_some() && correlations.all(|correlation| correlation == first) {
            counts.covered += 1;
        } else {
            counts.numbered += 1;
            for (thread, event) in ranges {
                let event = &mut trace.threads[thread].events[event];
                join(event, counts.numbered as u64, &mut trace.names);
            }
        }
    }
    counts
}

/// The innermost range around each point of a thread: of those that have begun and not ended, the last one. That is how
/// PyTorch means its points (`"bp": "e"`). Both slices are in the order of time.
fn innermost<F: Copy>(
    events: &[Held],
    points: &[(i64, F)],
) -> impl Iterator<Item = (F, Option<usize>)> {
    let (mut next, mut open) = (0, Vec::new());
    points.iter().map(move |&(time, flow)| {
        while let Some(event) = events.get(next).filter(|event| event.start <= time) {
            if !matches!(event.row, Row::Instant(_)) {
                open.push(next);
            }
            next += 1;
        }
        while open.pop_if(|event| events[*event].end < time).is_some() {}
        (flow, open.last().copied())
    })
}

/// An operator has a field for one flow; all others are columns of the event's record.
fn join(event: &mut Held, flow: u64, names: &mut Names) {
    match &mut event.row {
        Row::CpuOp(op) if op.flow == 0 => op.flow = flow,
        _ => {
            let mut free = (1..).map(|n| names.number(&format!("flow {n}")));
            let column = free
                .find(|name| event.extra.iter().all(|(used, _)| used != name))
                .expect("numbers don't end");
            event.extra.push((column, Cell::Flow(flow)));
        }
    }
}
