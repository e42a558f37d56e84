//! How the payloads of a schema become arguments, worked out once.

use nvtxw_backend::{Event, FieldKind, Schema};

use crate::argument::name_with_unit;
use crate::json::{self, Args};
use crate::plain::{Load, Usual};
use crate::proto::Writer;

/// The arguments of a schema's events, in order.
pub(super) struct Plan {
    steps: Vec<Step>,
    /// Whether there are only numbers, and where the attributes of usual ranges are then.
    usual: Option<Usual>,
    /// Whether fields join events.
    pub(super) is_correlated: bool,
}

enum Step {
    Number(Number),
    /// A field of any kind, by its index.
    Field(usize),
}

struct Number {
    /// The name with its quotes and a colon.
    key: Box<[u8]>,
    offset: usize,
    load: Load,
}

impl Plan {
    /// With `field_units`, names of fields have their units.
    pub(super) fn new(schema: &Schema, field_units: bool) -> Self {
        let shown = schema
            .fields()
            .iter()
            .filter(|field| !field.is_attribute() && !field.is_hidden());
        let steps: Vec<_> = shown
            .map(|field| match Load::of(field) {
                Some(load) => {
                    let (mut key, mut name) = (Writer::default(), String::new());
                    match field_units && name_with_unit(field, &mut name) {
                        true => json::text(&name, &mut key),
                        false => json::text(field.name(), &mut key),
                    }
                    key.raw(b":");
                    Step::Number(Number {
                        key: key.as_bytes().into(),
                        offset: field.offset(),
                        load,
                    })
                }
                None => Step::Field(field.index()),
            })
            .collect();
        let is_correlated = joins(schema);
        let is_simple = !is_correlated
            && schema.is_plain()
            && steps.iter().all(|step| matches!(step, Step::Number(_)));
        Self {
            steps,
            usual: Usual::of(schema).filter(|usual| is_simple && !usual.is_mark),
            is_correlated,
        }
    }

    /// Where the usual ranges have their attributes, if all else they have is numbers.
    #[inline]
    pub(super) fn usual(&self) -> Option<Usual> {
        self.usual
    }

    /// Appends the arguments of a plain event of the schema that is not correlated.
    pub(super) fn write(&self, event: &Event<'_>, payload: &[u8], args: &mut Args<'_>) {
        for step in &self.steps {
            match step {
                Step::Number(number) => {
                    let value = number.load.read(payload, number.offset);
                    args.number(&number.key, value);
                }
                Step::Field(index) => event.visit_field(*index, args),
            }
        }
    }

    /// The same where there are only numbers.
    #[inline]
    pub(super) fn write_numbers(&self, payload: &[u8], out: &mut Writer) {
        let mut comma = false;
        for step in &self.steps {
            if let Step::Number(number) = step {
                if comma {
                    out.put(b",");
                }
                comma = true;
                out.raw(&number.key);
                json::number(number.load.read(payload, number.offset), out);
            }
        }
    }
}

fn joins(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| match field.kind() {
        FieldKind::Struct(inner) | FieldKind::Union(inner) => joins(inner),
        _ => field.correlation().is_some(),
    })
}
