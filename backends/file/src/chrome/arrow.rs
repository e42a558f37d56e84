//! The lines of arrows, and the flows in what an event says.

use super::encoder::{FLOW, FLOW_LEN, has_flows};
use super::flows::Point;
use crate::json;
use crate::proto::Writer;

/// The start of an arrow, and its end: at the range that is open there, not at the next one.
pub(super) const START: &[u8] = b"s";
pub(super) const END: &[u8] = b"f\",\"bp\":\"e";

/// Precedes the number that joins events: readers join those with one number, in the order of time.
pub(super) const BOUND: &[u8] = b"\"bind_id\":\"0x";
/// The least of these numbers in a file that is put in order: readers may number arrows as they come, from 0.
pub(super) const BOUND_FROM: u64 = 1 << 62;
/// The directions that follow it: an arrow ends at the event, an arrow starts there.
pub(super) const FOLLOWS: &[u8] = b"\"flow_in\":true,";
pub(super) const LEADS: &[u8] = b"\"flow_out\":true,";
/// What stands before a flow that is told by arrows, for who puts the file in order.
pub(super) const FLOW_NAME: &[u8] = b"\"flow\":\"";
/// What ends both.
pub(super) const NAME_END: &[u8] = b"\",";

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

/// Joins the event of a line with others of this number: with one before it, with one after it, or with both.
pub(super) fn bind(number: u64, follows: bool, leads: bool, out: &mut Writer) {
    out.raw(BOUND);
    out.raw(format!("{number:x}").as_bytes());
    out.raw(NAME_END);
    if follows {
        out.raw(FOLLOWS);
    }
    if leads {
        out.raw(LEADS);
    }
}

/// In the line of an event: it has this flow.
pub(super) fn name(flow: u64, out: &mut Writer) {
    out.raw(FLOW_NAME);
    json::digits(flow, out);
    out.raw(NAME_END);
}

/// An end of an arrow, as a line of its own.
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
    out.raw(b",\"name\":\"correlation\",\"cat\":\"correlation\"}");
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
