//! The fields of payloads, as annotations.

use std::fmt::Write;
use std::mem;

use nvtxw_backend::{Enum, Field, Schema, Value, Visitor};

use super::encoder::{Tables, intern, intern_key};
use super::field::{annotation, event, interned};
use crate::argument::{is_only_value, name_with_unit, text_of};
use crate::attribute::lossy;
use crate::flow::flow;
use crate::intern::hash;
use crate::proto::{self, Open, Writer};

/// Shows the fields of an event's payloads as annotations, and joins what is correlated.
pub(super) struct Annotator<'a> {
    out: &'a mut Writer,
    texts: &'a mut Tables,
    names: &'a mut Names,
    flows: &'a mut Vec<u64>,
    /// How many hidden arrays and structs are open.
    hidden: usize,
}

impl<'a> Annotator<'a> {
    #[inline]
    pub(super) fn new(
        out: &'a mut Writer,
        texts: &'a mut Tables,
        names: &'a mut Names,
        flows: &'a mut Vec<u64>,
    ) -> Self {
        Self {
            out,
            texts,
            names,
            flows,
            hidden: 0,
        }
    }

    /// Where annotations are appended that need no more than their bytes.
    #[inline]
    pub(super) fn out(&mut self) -> &mut Writer {
        self.out
    }

    fn open(&mut self, field: &Field) -> Open {
        let (number, named) = match self.names.levels.last() {
            None => (event::ANNOTATIONS, true),
            Some(Level::Struct(..)) => (annotation::DICT_ENTRIES, true),
            Some(Level::Array(_)) => (annotation::ARRAY_VALUES, false),
        };
        let open = self.out.open(number, 0);
        if named {
            self.names.write_field(field, self.texts, self.out);
        }
        open
    }

    fn enumerated(&mut self, value: u64, meaning: &Enum) {
        match (meaning.as_bool(value), meaning.describe(value)) {
            (Some(value), _) => self.out.bool(annotation::BOOL, value),
            (None, Some(words)) => self.text(&words),
            (None, None) => self.out.uint(annotation::UINT, value),
        }
    }

    fn text(&mut self, text: &str) {
        self.texts.value(text, self.out);
    }
}

impl Visitor for Annotator<'_> {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        if let Some(correlation) = field.correlation() {
            self.flows.extend(flow(correlation, value));
        }
        if self.hidden > 0 || field.is_hidden() {
            return;
        }
        let is_element = matches!(self.names.levels.last(), Some(Level::Array(_)));
        if value == Value::Registered(None) && !is_element {
            return;
        }
        let open = self.open(field);
        match value {
            Value::I64(value) => self.out.int(annotation::INT, value),
            Value::U64(value) => self.out.uint(annotation::UINT, value),
            Value::I128(value) => self.text(&value.to_string()),
            Value::U128(value) => self.text(&value.to_string()),
            Value::F32(value) => self.out.double(annotation::DOUBLE, value.into()),
            Value::F64(value) => self.out.double(annotation::DOUBLE, value),
            Value::Char(code) => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text(character.encode_utf8(&mut [0; 4]));
            }
            Value::Address(address) => self.out.uint(annotation::POINTER, address),
            Value::Text(bytes) => self.text(&lossy(bytes)),
            Value::Wide(text) => self.text(&text.to_string()),
            // What is left out of an array moves all that follow.
            Value::Registered(None) => self.text("null"),
            Value::Registered(Some(string)) => {
                let Tables { values, new, .. } = self.texts;
                let (key, text) = (string.handle(), string.text());
                match intern_key(values, new, interned::STRING_VALUES, key, text) {
                    Some(number) => self.out.uint(annotation::STRING_IID, number),
                    None => self.out.text(annotation::STRING, text),
                }
            }
            Value::Enum { value, meaning } => self.enumerated(value, meaning),
            Value::Bytes(bytes) if let Some(text) = text_of(field, bytes) => self.text(text),
            Value::Bytes(bytes) => {
                let mut text = String::with_capacity(2 + bytes.len() * 2);
                text.push_str("0x");
                for byte in bytes {
                    let _ = write!(text, "{byte:02x}");
                }
                self.text(&text);
            }
        }
        self.out.close(open);
    }

    fn begin_array(&mut self, field: &Field, len: usize) {
        if self.hidden > 0 || field.is_hidden() {
            self.hidden += 1;
            return;
        }
        let open = self.open(field);
        if len == 0 {
            // The format can't tell an empty array from nothing.
            self.text("[]");
        }
        self.names.levels.push(Level::Array(open));
    }

    fn end_array(&mut self, _field: &Field) {
        self.end();
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        if self.hidden > 0 || field.is_hidden() {
            self.hidden += 1;
            return;
        }
        if is_only_value(field) {
            let is_element = matches!(self.names.levels.last(), Some(Level::Array(_)));
            if !is_element {
                self.names.lend(field, self.texts.field_units);
            }
            return;
        }
        let open = self.open(field);
        let first = self.out.len();
        self.names.levels.push(Level::Struct(open, first));
    }

    fn end_struct(&mut self, field: &Field) {
        if self.hidden == 0 && is_only_value(field) {
            // A field that is left out takes no name.
            self.names.is_lent = false;
            return;
        }
        self.end();
    }
}

impl Annotator<'_> {
    fn end(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
            return;
        }
        let open = match self.names.levels.pop() {
            None => return,
            Some(Level::Array(open)) => open,
            Some(Level::Struct(open, first)) => {
                if self.out.len() == first {
                    // The format can't tell it from nothing, which in an array would move all that follow.
                    self.text("{}");
                }
                open
            }
        };
        self.out.close(open);
    }
}

/// An array or a struct that is open.
enum Level {
    Array(Open),
    /// With where its first field is.
    Struct(Open, usize),
}

/// The names of an event's annotations, and where in them an annotator is.
#[derive(Default)]
pub(super) struct Names {
    levels: Vec<Level>,
    /// Whether names may repeat.
    check: bool,
    /// The names that were used, by [`identity`].
    used: Vec<u64>,
    /// Room for a name with its unit.
    name: String,
    /// True for a struct that [stands for its value](is_only_value): the value gets the name.
    is_lent: bool,
}

impl Names {
    /// Begins an event; with `Some` its names are made unique, among those of `first` too.
    #[inline]
    pub(super) fn begin(&mut self, first: Option<Option<&[u8]>>) {
        self.levels.clear();
        self.is_lent = false;
        self.check = first.is_some();
        if let Some(first) = first {
            self.begin_checked(first);
        }
    }

    fn begin_checked(&mut self, first: Option<&[u8]>) {
        self.used.clear();
        for (number, content) in proto::nested(first.unwrap_or_default()) {
            if number != event::ANNOTATIONS {
                continue;
            }
            self.used.extend(match proto::first_uint(content) {
                Some((annotation::NAME_IID, number, _)) => Some(number),
                _ => proto::nested(content)
                    .next()
                    .map(|(_, name)| identity(name)),
            });
        }
    }

    /// Gives the value of a struct the name of that; the outermost of several counts.
    fn lend(&mut self, field: &Field, with_unit: bool) {
        if self.is_lent {
            return;
        }
        self.is_lent = true;
        self.name.clear();
        if !with_unit || !name_with_unit(field, &mut self.name) {
            self.name.push_str(field.name());
        }
    }

    /// Writes the name of the annotation that a field is.
    fn write_field(&mut self, field: &Field, texts: &mut Tables, out: &mut Writer) {
        if !self.is_lent {
            if !texts.field_units {
                return self.write(field.name(), texts, out);
            }
            self.name.clear();
            if !name_with_unit(field, &mut self.name) {
                return self.write(field.name(), texts, out);
            }
        }
        self.is_lent = false;
        let name = mem::take(&mut self.name);
        self.write(&name, texts, out);
        self.name = name;
    }

    /// Writes an annotation's name, changed if it would repeat.
    pub(super) fn write(&mut self, name: &str, texts: &mut Tables, out: &mut Writer) {
        let number = known(name, texts);
        if !self.check || !self.levels.is_empty() || self.take(name, number) {
            write_name(name, number, out);
            return;
        }
        for copy in 2.. {
            let name = format!("{name} ({copy})");
            let number = known(&name, texts);
            if self.take(&name, number) {
                write_name(&name, number, out);
                return;
            }
        }
    }

    /// Notes that a name is used; `false` if it was already.
    fn take(&mut self, name: &str, number: Option<u64>) -> bool {
        let identity = number.unwrap_or_else(|| identity(name.as_bytes()));
        let new = !self.used.contains(&identity);
        if new {
            self.used.push(identity);
        }
        new
    }
}

/// What stands for a name without a number: none of the numbers that others have.
fn identity(name: &[u8]) -> u64 {
    hash(name) | 1 << 63
}

fn write_name(name: &str, number: Option<u64>, out: &mut Writer) {
    match number {
        Some(number) => out.uint(annotation::NAME_IID, number),
        None => out.text(annotation::NAME, name),
    }
}

/// The number of the name of the annotation that a field is.
pub(super) fn known_field(field: &Field, texts: &mut Tables) -> Option<u64> {
    let mut name = String::new();
    match texts.field_units && name_with_unit(field, &mut name) {
        true => known(&name, texts),
        false => known(field.name(), texts),
    }
}

/// The number of an annotation's name. Names of fields stay where they are, so that the address
/// mostly tells.
pub(super) fn known(name: &str, texts: &mut Tables) -> Option<u64> {
    let Tables {
        annotation_names,
        new,
        ..
    } = texts;
    let key = (name.as_ptr() as u64).rotate_right(4);
    if let Some(number) = annotation_names.recent(key)
        && annotation_names.is(number, name)
    {
        return Some(number.into());
    }
    let number = intern(annotation_names, new, interned::ANNOTATION_NAMES, name)?;
    annotation_names.remember(key, number as u32);
    Some(number)
}
