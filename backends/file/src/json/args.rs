//! Fields of payloads as the fields of a JSON object.

use std::mem;

use nvtxw_backend::{Event, Field, FieldRole, Schema, Value, Visitor};

use super::names::Names;
use super::{
    address, float, hexadecimal, number, signed, text, unsigned, wide_signed, wide_unsigned,
};
use crate::argument::{is_only_value, name_with_unit, text_of};
use crate::attribute::{self, lossy};
use crate::flow::flow;
use crate::plain::Loaded;
use crate::proto::Writer;

/// What is used again for the arguments of the next event.
#[derive(Default)]
pub(crate) struct ArgsState {
    names: Names,
    /// For each array and struct that is open, whether it is an array.
    levels: Vec<bool>,
    /// The flows that the event has.
    pub(crate) flows: Vec<u64>,
    /// Puts units into the names of fields.
    pub(crate) field_units: bool,
    /// Room for a name with its unit.
    name: String,
    /// True for a struct that [stands for its value](is_only_value): the value gets the name.
    is_lent: bool,
}

impl ArgsState {
    pub(crate) fn new(field_units: bool) -> Self {
        Self {
            field_units,
            ..Self::default()
        }
    }
}

/// Shows the fields of an event's payloads, and what else is known of it.
pub(crate) struct Args<'a> {
    state: &'a mut ArgsState,
    out: &'a mut Writer,
    /// Whether something stands before the next value.
    comma: bool,
    /// How many hidden arrays and structs are open.
    hidden: usize,
}

impl<'a> Args<'a> {
    /// The arguments of an event, which are appended to `out` without the braces around them. With
    /// `Some` their names are made unique, among those of the arguments that stand before them too.
    pub(crate) fn begin(
        state: &'a mut ArgsState,
        before: Option<&[u8]>,
        out: &'a mut Writer,
    ) -> Self {
        state.names.begin(before);
        state.levels.clear();
        state.flows.clear();
        state.is_lent = false;
        Self {
            state,
            out,
            comma: before.is_some_and(|before| !before.is_empty()),
            hidden: 0,
        }
    }

    /// An attribute of the event under the name that its entry has, unless that is hidden.
    pub(crate) fn attribute(
        &mut self,
        event: &Event<'_>,
        role: FieldRole,
        name: &str,
        value: &str,
    ) {
        if let Some(name) = attribute::entry(event, role, name) {
            self.key(name);
            text(value, self.out);
        }
    }

    /// A field whose name is written already, with its quotes and a colon, and differs from all others.
    #[inline]
    pub(crate) fn number(&mut self, key: &[u8], value: Loaded) {
        if self.comma {
            self.out.put(b",");
        }
        self.comma = true;
        self.out.raw(key);
        number(value, self.out);
    }

    /// What joins the halves of a range.
    pub(crate) fn range_id(&mut self, event: &Event<'_>) {
        if let Some(id) = event.range_id()
            && let Some(name) = attribute::entry(event, FieldRole::RangeId, "range_id")
        {
            self.key(name);
            unsigned(id, self.out);
        }
    }

    /// The name of the argument that a field is.
    fn field_key(&mut self, field: &Field) {
        if !self.state.is_lent {
            self.state.name.clear();
            if !self.state.field_units || !name_with_unit(field, &mut self.state.name) {
                return self.key(field.name());
            }
        }
        self.state.is_lent = false;
        let name = mem::take(&mut self.state.name);
        self.key(&name);
        self.state.name = name;
    }

    /// Gives the value of a struct the name of that; the outermost of several counts.
    fn lend(&mut self, field: &Field) {
        let state = &mut *self.state;
        if state.is_lent || state.levels.last() == Some(&true) {
            return;
        }
        state.is_lent = true;
        state.name.clear();
        if !state.field_units || !name_with_unit(field, &mut state.name) {
            state.name.push_str(field.name());
        }
    }

    fn key(&mut self, name: &str) {
        if self.comma {
            self.out.put(b",");
        }
        self.comma = true;
        if self.state.levels.is_empty() {
            self.state.names.write(name, self.out);
        } else {
            text(name, self.out);
        }
        self.out.put(b":");
    }

    /// What stands before the value of a field, or of an element of one.
    fn begin_value(&mut self, field: &Field) {
        if self.state.levels.last() != Some(&true) {
            self.field_key(field);
            return;
        }
        if self.comma {
            self.out.put(b",");
        }
        self.comma = true;
    }

    /// Opens an array or a struct, unless it is hidden.
    fn open(&mut self, field: &Field, is_array: bool) {
        if self.hidden > 0 || field.is_hidden() {
            self.hidden += 1;
            return;
        }
        self.begin_value(field);
        self.out.raw(if is_array { b"[" } else { b"{" });
        self.state.levels.push(is_array);
        self.comma = false;
    }

    fn close(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
        } else if let Some(is_array) = self.state.levels.pop() {
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
            self.state.flows.push(flow);
        }
        if self.hidden > 0 || field.is_hidden() {
            return;
        }
        if value == Value::Registered(None) && self.state.levels.last() != Some(&true) {
            return;
        }
        self.begin_value(field);
        let out = &mut *self.out;
        match value {
            Value::I64(value) => signed(value, out),
            Value::U64(value) => unsigned(value, out),
            Value::I128(value) => wide_signed(value, out),
            Value::U128(value) => wide_unsigned(value, out),
            Value::F32(value) => float(value, out),
            Value::F64(value) => float(value, out),
            Value::Char(code) => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                text(character.encode_utf8(&mut [0; 4]), out);
            }
            Value::Address(value) => address(value, out),
            Value::Text(bytes) => text(&lossy(bytes), out),
            Value::Wide(wide) => text(&wide.to_string(), out),
            Value::Registered(None) => out.put(b"null"),
            Value::Registered(Some(string)) => text(string.text(), out),
            Value::Enum { value, meaning } => {
                match (meaning.as_bool(value), meaning.describe(value)) {
                    (Some(true), _) => out.put(b"true"),
                    (Some(false), _) => out.put(b"false"),
                    (None, Some(words)) => text(&words, out),
                    (None, None) => unsigned(value, out),
                }
            }
            Value::Bytes(bytes) if let Some(shown) = text_of(field, bytes) => text(shown, out),
            Value::Bytes(bytes) => hexadecimal(bytes, out),
        }
    }

    fn begin_array(&mut self, field: &Field, _len: usize) {
        self.open(field, true);
    }

    fn end_array(&mut self, _field: &Field) {
        self.close();
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        if self.hidden == 0 && !field.is_hidden() && is_only_value(field) {
            self.lend(field);
            return;
        }
        self.open(field, false);
    }

    fn end_struct(&mut self, field: &Field) {
        if self.hidden == 0 && is_only_value(field) {
            // A field that is left out takes no name.
            self.state.is_lent = false;
            return;
        }
        self.close();
    }
}
