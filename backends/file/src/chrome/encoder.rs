//! From events to what their lines say: `"name":…,"cat":…,"args":{…`, with the object still open,
//! so that the other half of a range can add to it.

use nvtxw_backend::{Domain, Event, EventKind, FieldRole, Schema, Text};

use super::plan::Plan;
use super::recent::Recent;
use crate::attribute;
use crate::format::Half;
use crate::json::{self, Args, ArgsState};
use crate::plain::Usual;
use crate::plans::Plans;
use crate::proto::Writer;

/// What stands before the eight bytes of a flow's number at the end of what an event says, where
/// nothing else has this byte. The number becomes lines of its own; 0 is none.
pub(super) const FLOW: u8 = 1;

/// The length of a flow with its mark.
pub(super) const FLOW_LEN: usize = 1 + size_of::<u64>();

/// What stands before the name, the category and the arguments.
const NAME: &[u8; 7] = b"\"name\":";
const CATEGORY: &[u8; 7] = b",\"cat\":";
const ARGS: &[u8; 9] = b",\"args\":{";

/// Encodes the events of a stream.
#[derive(Default)]
pub(super) struct Encoder {
    plans: Plans<Plan>,
    args: ArgsState,
    /// Registered names, and categories that have one, with what stands before them.
    names: Recent,
    categories: Recent,
}

/// What the usual ranges of a schema are made of.
pub(super) struct Quick<'e> {
    usual: Usual,
    plan: &'e Plan,
    names: &'e Recent,
    categories: &'e Recent,
}

impl Quick<'_> {
    /// Where a range starts and ends, its name, and its category, as they are written; `None` if the
    /// range is not usual, or its texts have not come before.
    #[inline]
    pub(super) fn read(&self, payload: &[u8]) -> Option<(i64, i64, &[u8], &[u8])> {
        let range = self.usual.read(payload)?;
        let name = (range.name != 0).then(|| self.names.get(range.name))??;
        let category = match range.category {
            0 => &[],
            category => self.categories.get(category.into())?,
        };
        Some((range.start, range.end, name, category))
    }

    #[inline]
    pub(super) fn write_args(&self, payload: &[u8], out: &mut Writer) {
        out.put(ARGS);
        self.plan.write_numbers(payload, out);
    }
}

impl Encoder {
    pub(super) fn new(field_units: bool) -> Self {
        Self {
            args: ArgsState::new(field_units),
            ..Self::default()
        }
    }

    /// For the usual ranges of a schema, if it is simple.
    #[inline]
    pub(super) fn quick(&mut self, schema: &Schema) -> Option<Quick<'_>> {
        let field_units = self.args.field_units;
        let plan = self.plans.get(schema, || Plan::new(schema, field_units));
        Some(Quick {
            usual: plan.usual()?,
            plan,
            names: &self.names,
            categories: &self.categories,
        })
    }

    /// Whether a schema has fields that join events.
    #[inline]
    pub(super) fn is_correlated(&mut self, schema: &Schema) -> bool {
        let field_units = self.args.field_units;
        let plan = self.plans.get(schema, || Plan::new(schema, field_units));
        plan.is_correlated
    }

    /// Appends what an event says. Returns whether flows are in it.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        domain: &Domain,
        half: Half<'_>,
        out: &mut Writer,
    ) -> bool {
        let field_units = self.args.field_units;
        match half {
            Half::First => {
                self.name(event, out);
                if let Some(category) = event.category() {
                    self.category(category, domain, out);
                }
                out.put(ARGS);
                // Names may repeat where several payloads meet.
                let plain = event.plain_but_texts();
                let is_alone = plain.is_some() || event.payload_count() <= 1;
                let before = (!is_alone).then_some(&[][..]);
                let mut args = Args::begin(&mut self.args, before, out);
                if let Some(color) = event.color() {
                    args.attribute(event, FieldRole::Color, "color", &attribute::color(color));
                }
                if event.kind() == EventKind::RangeStart {
                    args.range_id(event);
                }
                let schema = event.schema();
                let plan = self.plans.get(schema, || Plan::new(schema, field_units));
                match plain {
                    Some(payload) if !plan.is_correlated => plan.write(event, payload, &mut args),
                    _ => event.visit(&mut args),
                }
            }
            Half::Second(first) => {
                let mut args = Args::begin(&mut self.args, Some(args_of(first)), out);
                changes(event, domain, first, &mut args);
                event.visit(&mut args);
                if has_flows(first) && self.args.flows.is_empty() {
                    // Whether there are any must be seen at the end.
                    self.args.flows.push(0);
                }
            }
        }
        for flow in &self.args.flows {
            out.put(&[FLOW]);
            out.put(&flow.to_le_bytes());
        }
        !self.args.flows.is_empty()
    }

    /// Appends what an event says that has nothing but a name.
    pub(super) fn named(&self, name: &str, out: &mut Writer) {
        out.put(NAME);
        json::text(name, out);
        out.put(ARGS);
    }

    fn name(&mut self, event: &Event<'_>, out: &mut Writer) {
        let Some(Text::Registered(string)) = event.message() else {
            out.put(NAME);
            json::text(&attribute::name(event), out);
            return;
        };
        match self.names.get(string.handle()) {
            Some(name) => out.raw(name),
            None => {
                let name = quoted(NAME, string.text(), b"");
                out.raw(&name);
                self.names.put(string.handle(), &name);
            }
        }
    }

    fn category(&mut self, category: u32, domain: &Domain, out: &mut Writer) {
        match self.categories.get(category.into()) {
            Some(known) => out.raw(known),
            None => {
                let text = quoted(CATEGORY, &attribute::category(category, domain), b"");
                out.raw(&text);
                // One without a name may get it later.
                if domain.category(category).is_some() {
                    self.categories.put(category.into(), &text);
                }
            }
        }
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

/// Whether an event has flows.
pub(super) fn has_flows(event: &[u8]) -> bool {
    let mark = event.len().checked_sub(FLOW_LEN).map(|at| event[at]);
    mark == Some(FLOW)
}

/// The arguments in what the first half of a range says.
pub(super) fn args_of(mut first: &[u8]) -> &[u8] {
    while has_flows(first) {
        first = &first[..first.len() - FLOW_LEN];
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
        let flows = b"\x01\x2a\0\0\0\0\0\0\0\x01\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(args_of(&[first, &flows[..]].concat()), br#""a":1"#);
        assert_eq!(
            args_of(&[&b"\"name\":\"\",\"args\":{"[..], flows].concat()),
            b""
        );
    }
}
