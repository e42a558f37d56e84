//! The lines of arrows, and the flows in what an event says.

use super::encoder::{FLOW, FLOW_LEN, has_flows};
use super::flows::Point;
use crate::json;
use crate::proto::Writer;

/// The start of an arrow, and its end: at the range that is open there, not at the next one.
pub(super) const START: &[u8] = b"s";
pub(super) const END: &[u8] = b"f\",\"bp\":\"e";

/// What stands before a flow's number at the start of an arrow: of a range or its first half, and of a
/// second half.
pub(super) const FLOWS: [&[u8]; 2] = [b",\"flow\":\"", b",\"end_flow\":\""];

/// Appends what an event says, without the flows.
pub(super) fn copy(mut event: &[u8], out: &mut Writer) {
    if has_flows(event) {
        while let Some(at) = event.iter().position(|byte| *byte == FLOW) {
            out.raw(&event[..at]);
            event = &event[at + FLOW_LEN..];
        }
    }
    out.raw(event);
}

/// The flows in what an event says.
pub(super) fn flows(mut event: &[u8]) -> impl Iterator<Item = u64> {
    if !has_flows(event) {
        event = &[];
    }
    let all = std::iter::from_fn(move || {
        let at = event.iter().position(|byte| *byte == FLOW)?;
        let (flow, rest) = event[at + 1..].split_first_chunk()?;
        event = rest;
        Some(u64::from_le_bytes(*flow))
    });
    all.filter(|flow| *flow != 0)
}

/// An end of an arrow, up to what closes it.
pub(super) fn arrow(phase: &[u8], number: u64, at: Point, base: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"");
    out.raw(phase);
    out.raw(b"\",\"pid\":");
    json::digits(at.process, out);
    out.raw(b",\"tid\":");
    json::digits(at.thread, out);
    out.raw(b",\"ts\":");
    json::micros(base, at.time, out);
    out.raw(b",\"id\":");
    json::digits(number, out);
    out.raw(b",\"name\":\"correlation\",\"cat\":\"correlation\"");
}

pub(super) fn close(out: &mut Writer) {
    out.put(b"}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_taken_out_of_what_an_event_says() {
        let (a, b) = (b"\"args\":{\"a\":1", b",\"b\":2");
        let flow = |flow: u64| [&[FLOW], &flow.to_le_bytes()[..]].concat();
        // The second number has the bytes of a mark.
        let both = [flow(42), flow(0x0101_0101_0101_0101)].concat();
        let event = [&a[..], &both, b, &flow(0)].concat();
        let mut out = Writer::default();
        copy(&event, &mut out);
        assert_eq!(out.as_bytes(), b"\"args\":{\"a\":1,\"b\":2");
        let found: Vec<_> = flows(&event).collect();
        assert_eq!(found, [42, 0x0101_0101_0101_0101]);
        assert_eq!(flows(out.as_bytes()).count(), 0);
    }
}
