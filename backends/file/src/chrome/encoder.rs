//! From events to what their lines say: `"name":…,"cat":…,"args":{…`, with the object still open,
//! so that the other half of a range can add to it.

use std::collections::HashMap;

use nvtxw_backend::{Domain, Event, EventKind, FieldKind, FieldRole, Schema, Text};

use crate::attribute;
use crate::format::Half;
use crate::json::{self, Args, ArgsState};
use crate::proto::Writer;

/// What stands before a flow's number in what an event says, where nothing else has this byte. The
/// number becomes lines of its own.
pub(super) const FLOW: u8 = 1;

/// The digits of a flow's number.
pub(super) const FLOW_DIGITS: usize = 16;

/// What stands before the name, the category and the arguments.
const NAME: &[u8] = b"\"name\":";
const CATEGORY: &[u8] = b",\"cat\":";
const ARGS: &[u8] = b",\"args\":{";

/// Encodes the events of a stream.
#[derive(Default)]
pub(super) struct Encoder {
    args: ArgsState,
    /// Whether events of a schema may be correlated.
    correlated: HashMap<u64, bool>,
    /// The same of the schema that was asked for last.
    last: Option<(u64, bool)>,
}

impl Encoder {
    /// Whether a schema has fields that join events.
    #[inline]
    pub(super) fn is_correlated(&mut self, schema: &Schema) -> bool {
        match self.last {
            Some((id, known)) if id == schema.id() => known,
            _ => {
                let known = *(self.correlated.entry(schema.id())).or_insert_with(|| joins(schema));
                self.last = Some((schema.id(), known));
                known
            }
        }
    }

    /// Appends what an event says. Returns whether flows are in it.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        domain: &Domain,
        half: Half<'_>,
        out: &mut Writer,
    ) -> bool {
        match half {
            Half::First => {
                out.raw(NAME);
                match event.message() {
                    Some(Text::Registered(string)) => json::text(string.text(), out),
                    _ => json::text(&attribute::name(event), out),
                }
                if let Some(category) = event.category() {
                    out.raw(CATEGORY);
                    json::text(&attribute::category(category, domain), out);
                }
                out.raw(ARGS);
                // Names may repeat where several payloads meet.
                let before = (event.payload_count() > 1).then_some(&[][..]);
                let mut args = Args::begin(&mut self.args, before, out);
                if let Some(color) = event.color() {
                    args.attribute(event, FieldRole::Color, "color", &attribute::color(color));
                }
                if event.kind() == EventKind::RangeStart {
                    args.range_id(event);
                }
                event.visit(&mut args);
            }
            Half::Second(first) => {
                let mut args = Args::begin(&mut self.args, Some(args_of(first)), out);
                changes(event, domain, first, &mut args);
                event.visit(&mut args);
            }
        }
        for flow in &self.args.flows {
            out.raw(&[FLOW]);
            out.raw(format!("{flow:016x}").as_bytes());
        }
        !self.args.flows.is_empty()
    }
}

/// A range has name, category and colour of its first half. What its second has instead of them is
/// an argument.
fn changes(event: &Event<'_>, domain: &Domain, first: &[u8], args: &mut Args<'_>) {
    if let Some(message) = attribute::message(event)
        && !first.starts_with(&quoted(NAME, &message, b","))
    {
        args.attribute(event, FieldRole::Message, "message", &message);
    }
    if let Some(category) = event.category() {
        let category = attribute::category(category, domain);
        if !says(first, &quoted(CATEGORY, &category, ARGS)) {
            args.attribute(event, FieldRole::Category, "category", &category);
        }
    }
    if let Some(color) = event.color() {
        let color = attribute::color(color);
        if !says(first, &quoted(b":", &color, b"")) {
            args.attribute(event, FieldRole::Color, "color", &color);
        }
    }
}

fn joins(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| match field.kind() {
        FieldKind::Struct(inner) | FieldKind::Union(inner) => joins(inner),
        _ => field.correlation().is_some(),
    })
}

/// A text and what is around it.
fn quoted(before: &[u8], text: &str, after: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(before);
    json::text(text, &mut out);
    out.raw(after);
    out.as_bytes().to_vec()
}

/// Whether an event says this. In a string there is a backslash before each quote, so that what
/// begins or ends with one is not found there.
fn says(event: &[u8], what: &[u8]) -> bool {
    event.windows(what.len()).any(|part| part == what)
}

/// The arguments in what the first half of a range says.
fn args_of(mut first: &[u8]) -> &[u8] {
    while let Some(before) = first.len().checked_sub(1 + FLOW_DIGITS)
        && first[before] == FLOW
    {
        first = &first[..before];
    }
    let at = first.windows(ARGS.len()).position(|part| part == ARGS);
    at.map_or(&[], |at| &first[at + ARGS.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_what_stands_behind_their_name() {
        let first = br#""name":"\",\"args\":{\"no\":","args":{"a":1"#;
        assert_eq!(args_of(first), br#""a":1"#);
        let flows = b"\x01000000000000002a\x01ffffffffffffffff";
        assert_eq!(args_of(&[first, &flows[..]].concat()), br#""a":1"#);
        assert_eq!(
            args_of(&[&b"\"name\":\"\",\"args\":{"[..], flows].concat()),
            b""
        );
    }
}
