//! From events to what their lines say: `"name":…,"cat":…,"args":{…`, with the object still open,
//! so that the other half of a range can add to it.

use std::collections::HashMap;

use nvtxw_backend::{
    Domain, Event, EventKind, Field, FieldKind, FieldRole, Schema, Text, Value, Visitor,
};

use super::json;
use super::names::Names;
use crate::attribute::{self, lossy};
use crate::flow::flow;
use crate::format::Half;
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
    names: Names,
    /// For each array and struct that is open, whether it is an array.
    levels: Vec<bool>,
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
        // Names may repeat where several payloads meet.
        self.names.begin(match half {
            Half::Second(first) => Some(first),
            Half::First if event.payload_count() > 1 => Some(&[]),
            Half::First => None,
        });
        if let Half::First = half {
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
        }
        self.levels.clear();
        let mut args = Args {
            out,
            names: &mut self.names,
            levels: &mut self.levels,
            comma: matches!(half, Half::Second(first) if has_args(first)),
            hidden: 0,
            flows: false,
        };
        match half {
            Half::First => {
                if let Some(color) = event.color() {
                    args.attribute(event, FieldRole::Color, "color", &attribute::color(color));
                }
                if event.kind() == EventKind::RangeStart {
                    args.range_id(event);
                }
            }
            Half::Second(first) => args.changes(event, domain, first),
        }
        event.visit(&mut args);
        args.flows
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

/// Whether there are arguments in what the first half of a range says.
fn has_args(mut first: &[u8]) -> bool {
    while let Some(before) = first.len().checked_sub(1 + FLOW_DIGITS)
        && first[before] == FLOW
    {
        first = &first[..before];
    }
    !first.ends_with(b"{")
}

/// Shows the fields of an event's payloads as arguments.
struct Args<'a> {
    out: &'a mut Writer,
    names: &'a mut Names,
    levels: &'a mut Vec<bool>,
    /// Whether something stands before the next value.
    comma: bool,
    /// How many hidden arrays and structs are open.
    hidden: usize,
    flows: bool,
}

impl Args<'_> {
    /// A range has name, category and colour of its first half. What its second has instead of
    /// them is an argument.
    fn changes(&mut self, event: &Event<'_>, domain: &Domain, first: &[u8]) {
        if let Some(message) = attribute::message(event)
            && !first.starts_with(&quoted(NAME, &message, b","))
        {
            self.attribute(event, FieldRole::Message, "message", &message);
        }
        if let Some(category) = event.category() {
            let category = attribute::category(category, domain);
            if !says(first, &quoted(CATEGORY, &category, ARGS)) {
                self.attribute(event, FieldRole::Category, "category", &category);
            }
        }
        if let Some(color) = event.color() {
            let color = attribute::color(color);
            if !says(first, &quoted(b":", &color, b"")) {
                self.attribute(event, FieldRole::Color, "color", &color);
            }
        }
    }

    /// An attribute of the event under the name that its entry has, unless that is hidden.
    fn attribute(&mut self, event: &Event<'_>, role: FieldRole, name: &str, value: &str) {
        if let Some(name) = attribute::entry(event, role, name) {
            self.key(name);
            json::text(value, self.out);
        }
    }

    /// What joins the halves of a range.
    fn range_id(&mut self, event: &Event<'_>) {
        if let Some(id) = event.range_id()
            && let Some(name) = attribute::entry(event, FieldRole::RangeId, "range_id")
        {
            self.key(name);
            json::unsigned(id, self.out);
        }
    }

    fn key(&mut self, name: &str) {
        if self.comma {
            self.out.raw(b",");
        }
        self.comma = true;
        if self.levels.is_empty() {
            self.names.write(name, self.out);
        } else {
            json::text(name, self.out);
        }
        self.out.raw(b":");
    }

    /// What stands before the value of a field, or of an element of one.
    fn begin(&mut self, field: &Field) {
        if self.levels.last() != Some(&true) {
            self.key(field.name());
            return;
        }
        if self.comma {
            self.out.raw(b",");
        }
        self.comma = true;
    }

    /// Opens an array or a struct, unless it is hidden.
    fn open(&mut self, field: &Field, is_array: bool) {
        if self.hidden > 0 || field.is_hidden() {
            self.hidden += 1;
            return;
        }
        self.begin(field);
        self.out.raw(if is_array { b"[" } else { b"{" });
        self.levels.push(is_array);
        self.comma = false;
    }

    fn close(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
        } else if let Some(is_array) = self.levels.pop() {
            self.out.raw(if is_array { b"]" } else { b"}" });
            self.comma = true;
        }
    }
}

impl Visitor for Args<'_> {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        if let Some(correlation) = field.correlation()
            && let Some(flow) = flow(correlation, value)
        {
            self.out.raw(&[FLOW]);
            self.out.raw(format!("{flow:016x}").as_bytes());
            self.flows = true;
        }
        if self.hidden > 0 || field.is_hidden() {
            return;
        }
        if value == Value::Registered(None) && self.levels.last() != Some(&true) {
            return;
        }
        self.begin(field);
        let out = &mut *self.out;
        match value {
            Value::I64(value) => json::signed(value, out),
            Value::U64(value) => json::unsigned(value, out),
            Value::I128(value) => json::wide_signed(value, out),
            Value::U128(value) => json::wide_unsigned(value, out),
            Value::F32(value) => json::float(value, out),
            Value::F64(value) => json::float(value, out),
            Value::Char(code) => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                json::text(character.encode_utf8(&mut [0; 4]), out);
            }
            Value::Address(address) => json::text(&format!("{address:#x}"), out),
            Value::Text(bytes) => json::text(&lossy(bytes), out),
            Value::Wide(text) => json::text(&text.to_string(), out),
            Value::Registered(None) => out.raw(b"null"),
            Value::Registered(Some(string)) => json::text(string.text(), out),
            Value::Enum { value, meaning } => {
                match (meaning.as_bool(value), meaning.describe(value)) {
                    (Some(true), _) => out.raw(b"true"),
                    (Some(false), _) => out.raw(b"false"),
                    (None, Some(words)) => json::text(&words, out),
                    (None, None) => json::unsigned(value, out),
                }
            }
            Value::Bytes(bytes) => json::hexadecimal(bytes, out),
        }
    }

    fn begin_array(&mut self, field: &Field, _len: usize) {
        self.open(field, true);
    }

    fn end_array(&mut self, _field: &Field) {
        self.close();
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        self.open(field, false);
    }

    fn end_struct(&mut self, _field: &Field) {
        self.close();
    }
}
