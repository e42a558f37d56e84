//! From events to records.

use std::ptr;

use nvtxw_backend::{Event, EventKind, Field, FieldRole, Schema, Value, Visitor};

use super::column::Leaves;
use super::record::{Reader, Record};
use crate::attribute;
use crate::format::Half;
use crate::json::{Args, ArgsState};
use crate::proto::Writer;

/// Encodes the events of a stream.
#[derive(Default)]
pub(super) struct Encoder {
    state: ArgsState,
    /// What the last event has: fields of its schema's table, other fields, flows.
    typed: Writer,
    args: Writer,
    flows: Vec<u64>,
}

impl Encoder {
    /// Appends an event's record. `table` is the number of its schema's table, if it has one.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        half: Half<'_>,
        table: Option<u32>,
        out: &mut Writer,
    ) {
        self.typed.clear();
        self.args.clear();
        self.flows.clear();
        let name = attribute::name(event);
        let category = event.category();
        let category = category.map(|category| attribute::category(category, event.domain()));
        let mut record = Record::default();
        match half {
            Half::First => {
                record.name = &name;
                record.category = category.as_deref();
                record.color = event.color();
                // Names may repeat where several payloads meet.
                let before = (event.payload_count() > 1).then_some(&[][..]);
                let mut args = Args::begin(&mut self.state, before, &mut self.args);
                if event.kind() == EventKind::RangeStart {
                    args.range_id(event);
                }
                if table.is_some() {
                    let leaves = Leaves::new(&mut self.typed, &mut self.flows);
                    event.visit(&mut Split::new(event.schema(), leaves, args));
                } else {
                    event.visit(&mut args);
                }
            }
            Half::Second(first) => {
                let first = Record::read(&mut Reader(first));
                let before = Some(first.args.as_bytes());
                let mut args = Args::begin(&mut self.state, before, &mut self.args);
                changes(event, category.as_deref(), &first, &mut args);
                event.visit(&mut args);
            }
        }
        record.typed = table.map(|table| (table, self.typed.as_bytes()));
        record.args = str::from_utf8(self.args.as_bytes()).unwrap_or_default();
        self.flows.extend(&self.state.flows);
        record.write(&self.flows, out);
    }
}

/// A range has name, category and colour of its first half. What its second has instead of them is
/// an argument.
fn changes(event: &Event<'_>, category: Option<&str>, first: &Record<'_>, args: &mut Args<'_>) {
    if let Some(message) = attribute::message(event)
        && message != first.name
    {
        args.attribute(event, FieldRole::Message, "message", &message);
    }
    if let Some(category) = category
        && first.category != Some(category)
    {
        args.attribute(event, FieldRole::Category, "category", category);
    }
    if let Some(color) = event.color()
        && first.color != Some(color)
    {
        args.attribute(event, FieldRole::Color, "color", &attribute::color(color));
    }
}

/// Shows the fields of one schema as such, and all others as arguments.
struct Split<'s, 'a> {
    schema: &'s Schema,
    leaves: Leaves<'a>,
    args: Args<'a>,
    /// How many arrays and structs are open.
    depth: usize,
    /// Whether the field that is shown is one of the schema.
    is_typed: bool,
}

impl<'s, 'a> Split<'s, 'a> {
    fn new(schema: &'s Schema, leaves: Leaves<'a>, args: Args<'a>) -> Self {
        Self {
            schema,
            leaves,
            args,
            depth: 0,
            is_typed: false,
        }
    }

    fn taker(&mut self, field: &Field) -> &mut dyn Visitor {
        if self.depth == 0 {
            let fields = self.schema.fields().as_ptr_range();
            self.is_typed = fields.contains(&ptr::from_ref(field));
        }
        match self.is_typed {
            true => &mut self.leaves,
            false => &mut self.args,
        }
    }
}

impl Visitor for Split<'_, '_> {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        self.taker(field).value(field, value);
    }

    fn begin_array(&mut self, field: &Field, len: usize) {
        self.taker(field).begin_array(field, len);
        self.depth += 1;
    }

    fn end_array(&mut self, field: &Field) {
        self.taker(field).end_array(field);
        self.depth -= 1;
    }

    fn begin_struct(&mut self, field: &Field, schema: &Schema) {
        self.taker(field).begin_struct(field, schema);
        self.depth += 1;
    }

    fn end_struct(&mut self, field: &Field) {
        self.taker(field).end_struct(field);
        self.depth -= 1;
    }
}
