//! From the fields of a schema to their annotations.

use nvtxw_backend::{
    Correlation, EntryType, EventKind, Field, FieldKind, FieldRole, Schema, SchemaRole,
};

use super::{Arg, Choice, Head, Other, load_tag};
use crate::argument::only_value;
use crate::flow::domain;
use crate::perfetto::annotation::known_field;
use crate::perfetto::encoder::Tables;
use crate::perfetto::field::{annotation, event};
use crate::plain::{FARTHEST, Load};
use crate::proto::{VARINT, tag};

/// The annotations of a schema's events, and behind them what joins events. `None` if some field is not of the common kinds.
pub(super) fn args_of(schema: &Schema, texts: &mut Tables) -> Option<Vec<Arg>> {
    let mut builder = Builder {
        texts,
        flows: Vec::new(),
    };
    let mut args = Vec::new();
    if schema.role() == SchemaRole::Event(EventKind::RangeStart) {
        let mut fields = schema.fields().iter();
        let id = fields.rfind(|field| field.role() == FieldRole::RangeId)?;
        if !id.is_hidden() {
            args.push(Arg::attribute(id, Load::U64, builder.texts)?);
        }
    }
    for field in schema.fields().iter().filter(|field| !field.is_attribute()) {
        builder.field(field, 0, Level::EVENT, &mut args)?;
    }
    // What joins events comes behind all annotations.
    args.append(&mut builder.flows);
    Some(args)
}

/// What an annotation is in.
#[derive(Clone, Copy)]
struct Level {
    /// The field that it is there.
    number: u32,
    is_named: bool,
    is_hidden: bool,
}

impl Level {
    const EVENT: Self = Self {
        number: event::ANNOTATIONS,
        is_named: true,
        is_hidden: false,
    };
    const STRUCT: Self = Self {
        number: annotation::DICT_ENTRIES,
        ..Self::EVENT
    };
    const ARRAY: Self = Self {
        number: annotation::ARRAY_VALUES,
        is_named: false,
        is_hidden: false,
    };

    fn hidden(self, is_hidden: bool) -> Self {
        Self { is_hidden, ..self }
    }
}

struct Builder<'t> {
    texts: &'t mut Tables,
    flows: Vec<Arg>,
}

impl Builder<'_> {
    /// Adds a field of a payload, or of the struct there that begins at `base`. `None` if it is not of these kinds.
    fn field(
        &mut self,
        field: &Field,
        base: usize,
        level: Level,
        args: &mut Vec<Arg>,
    ) -> Option<()> {
        let offset = base + field.offset();
        let is_hidden = level.is_hidden || field.is_hidden();
        let name = match level.is_named && !is_hidden {
            // A name that has no number is written as it is.
            true => Some(known_field(field, self.texts)?),
            false => None,
        };
        self.value(field, offset, level.hidden(is_hidden), name, args)
    }

    /// Adds a field that begins at `offset`, with the number of its name if it has one there.
    fn value(
        &mut self,
        field: &Field,
        offset: usize,
        level: Level,
        name: Option<u64>,
        args: &mut Vec<Arg>,
    ) -> Option<()> {
        let is_struct = matches!(field.kind(), FieldKind::Struct(_));
        if level.is_hidden && field.correlation().is_none() && !is_struct {
            return Some(());
        }
        let Some(count) = field.count() else {
            return self.element(field, offset, level, name, args);
        };
        // The format can't tell an empty array from nothing.
        let mut elements = Vec::new();
        for index in 0..(count > 0).then_some(count)? {
            let (at, level) = (
                offset + index * field.size(),
                Level::ARRAY.hidden(level.is_hidden),
            );
            self.element(field, at, level, None, &mut elements)?;
        }
        group(level, name, elements, args);
        Some(())
    }

    /// Adds an element of a field.
    fn element(
        &mut self,
        field: &Field,
        offset: usize,
        level: Level,
        name: Option<u64>,
        args: &mut Vec<Arg>,
    ) -> Option<()> {
        // There may be very many elements.
        if offset >= FARTHEST {
            return None;
        }
        let head = |tag| Head::new(level.number, name, tag);
        let text_head = head(tag(annotation::STRING_IID, VARINT));
        let arg = match field.kind() {
            FieldKind::Struct(schema) if let Some(only) = only_value(schema) => {
                return self.value(only, offset + only.offset(), level, name, args);
            }
            FieldKind::Struct(schema) => {
                let mut fields = Vec::new();
                for field in schema.fields() {
                    let level = Level::STRUCT.hidden(level.is_hidden);
                    self.field(field, offset, level, &mut fields)?;
                }
                group(level, name, fields, args);
                return Some(());
            }
            FieldKind::Scalar(EntryType::RegisteredString) => {
                let is_element = field.count().is_some();
                Arg::other(text_head, offset, Other::Handle { is_element })
            }
            FieldKind::Scalar(ty) => {
                let load = Load::of_type(*ty)?;
                self.flow(field.correlation(), offset, load);
                Arg::number(head(load_tag(load)), offset, load)
            }
            FieldKind::Enum(meaning) => {
                let load = Load::unsigned(meaning.size());
                self.flow(field.correlation(), offset, load);
                match meaning.as_bool(0) {
                    Some(_) => Arg::truth(head(tag(annotation::BOOL, VARINT)), offset),
                    None => {
                        let choice = Choice::new(load, meaning);
                        Arg::other(head((0, 0)), offset, Other::Choice(choice))
                    }
                }
            }
            FieldKind::Text(_) if let Some(index) = field.text_index() => {
                Arg::other(text_head, offset, Other::Elsewhere(index, None))
            }
            FieldKind::Text(EntryType::CString | EntryType::CStringUtf8) if !field.varies() => {
                Arg::other(text_head, offset, Other::Text(field.size()))
            }
            FieldKind::Text(_) | FieldKind::Union(_) => return None,
        };
        if !level.is_hidden {
            args.push(arg);
        }
        Some(())
    }

    fn flow(&mut self, correlation: Option<&Correlation>, offset: usize, load: Load) {
        if let Some(correlation) = correlation
            && !matches!(load, Load::F32 | Load::F64)
        {
            let none = Head { word: 0, len: 0 };
            let flow = Other::Flow(load, domain(correlation));
            self.flows.push(Arg::other(none, offset, flow));
        }
    }
}

/// Adds an array or a struct, unless that is hidden.
fn group(level: Level, name: Option<u64>, inner: Vec<Arg>, args: &mut Vec<Arg>) {
    if !level.is_hidden {
        let head = Head::new(level.number, name, (0, 0));
        args.push(Arg::other(head, 0, Other::Group(inner)));
    }
}
