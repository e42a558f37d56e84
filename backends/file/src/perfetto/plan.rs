//! How the payloads of a schema become annotations, worked out once.

use std::collections::HashMap;

use nvtxw_backend::{Event, Field, Schema};

use super::annotation::{Annotator, known};
use super::encoder::Tables;
use super::field::{annotation, event};
use super::quick::Quick;
use crate::plain::{Load, Loaded};
use crate::proto::{SMALL, Slot, Writer, small_varint, varint};

/// The plans of the schemas that a stream has met.
#[derive(Default)]
pub(super) struct Plans {
    all: Vec<Plan>,
    /// Indices of `all`, by schema.
    indices: HashMap<u64, usize>,
    /// The schema that was asked for last, and its index.
    last: Option<(u64, usize)>,
}

impl Plans {
    #[inline]
    pub(super) fn get(&mut self, schema: &Schema, texts: &mut Tables) -> &Plan {
        let index = match self.last {
            Some((id, index)) if id == schema.id() => index,
            _ => self.find(schema, texts),
        };
        &self.all[index]
    }

    fn find(&mut self, schema: &Schema, texts: &mut Tables) -> usize {
        let index = *self.indices.entry(schema.id()).or_insert_with(|| {
            self.all.push(Plan::new(schema, texts));
            self.all.len() - 1
        });
        self.last = Some((schema.id(), index));
        index
    }
}

/// The annotations of a schema's events, in order.
pub(super) struct Plan {
    steps: Vec<Step>,
    /// How most events of the schema can be written, if they are simple.
    quick: Option<Quick>,
}

enum Step {
    /// A number in a fixed place.
    Number(Number),
    /// A field of any kind, by its index.
    Field(usize),
}

#[derive(Clone, Copy)]
pub(super) struct Number {
    offset: usize,
    load: Load,
    /// The annotation up to its value, lowest byte first. The second byte is the length without the
    /// value.
    head: u64,
    head_len: usize,
}

impl Plan {
    fn new(schema: &Schema, texts: &mut Tables) -> Self {
        let fields = schema.fields().iter();
        let steps: Vec<_> = fields.filter_map(|field| step(field, texts)).collect();
        let number = |step: &Step| match step {
            Step::Number(number) => Some(*number),
            Step::Field(_) => None,
        };
        let numbers = steps.iter().map(number).collect::<Option<Vec<_>>>();
        let quick = numbers.and_then(|numbers| Quick::new(schema, numbers));
        Self { steps, quick }
    }

    pub(super) fn quick(&self) -> Option<&Quick> {
        self.quick.as_ref()
    }

    /// Appends the annotations of a plain event of the schema.
    pub(super) fn write(&self, event: &Event<'_>, payload: &[u8], annotator: &mut Annotator<'_>) {
        for step in &self.steps {
            match step {
                Step::Number(number) => number.write(payload, annotator.out()),
                Step::Field(index) => event.visit_field(*index, annotator),
            }
        }
    }
}

fn step(field: &Field, texts: &mut Tables) -> Option<Step> {
    let other = Step::Field(field.index());
    if field.is_attribute() {
        return None;
    }
    if field.correlation().is_some() {
        return Some(other);
    }
    if field.is_hidden() {
        return None;
    }
    let Some(load) = Load::of(field) else {
        return Some(other);
    };
    let value = match load {
        Load::I8 | Load::I16 | Load::I32 | Load::I64 => annotation::INT,
        Load::U8 | Load::U16 | Load::U32 | Load::U64 => annotation::UINT,
        Load::Address => annotation::POINTER,
        Load::F32 | Load::F64 => annotation::DOUBLE,
    };
    // A name that has no number is written as it is.
    let Some(name) = known(field.name(), texts) else {
        return Some(other);
    };
    let mut head = Writer::default();
    let open = head.open(event::ANNOTATIONS, 0);
    head.uint(annotation::NAME_IID, name);
    match value {
        annotation::DOUBLE => head.double(value, 0.0),
        _ => head.uint(value, 0),
    }
    head.close(open);
    let value_len = match value {
        annotation::DOUBLE => 8,
        _ => 1,
    };
    let head_len = head.len() - value_len;
    let mut word = [0; 8];
    word[..head_len].copy_from_slice(&head.as_bytes()[..head_len]);
    word[1] -= value_len as u8;
    Some(Step::Number(Number {
        offset: field.offset(),
        load,
        head: u64::from_le_bytes(word),
        head_len,
    }))
}

impl Number {
    fn write(&self, payload: &[u8], out: &mut Writer) {
        match self.value(payload) {
            Value::Varint(value) => {
                out.word(self.head + ((varint_len(value) as u64) << 8), self.head_len);
                out.varint(value);
            }
            Value::Double(value) => {
                out.word(self.head + (8 << 8), self.head_len);
                out.word(value.to_bits(), 8);
            }
        }
    }

    #[inline(always)]
    pub(super) fn write_quickly(&self, payload: &[u8], out: &mut Slot<'_>) {
        match self.value(payload) {
            Value::Varint(value) if value < SMALL => {
                let (word, len) = small_varint(value);
                out.word(self.head + ((len as u64) << 8), self.head_len);
                out.word(word, len);
            }
            Value::Varint(value) => {
                out.word(self.head + ((varint_len(value) as u64) << 8), self.head_len);
                out.varint(value);
            }
            Value::Double(value) => {
                out.word(self.head + (8 << 8), self.head_len);
                out.word(value.to_bits(), 8);
            }
        }
    }

    #[inline(always)]
    fn value(&self, payload: &[u8]) -> Value {
        match self.load.read(payload, self.offset) {
            Loaded::Signed(value) => Value::Varint(value as u64),
            Loaded::Unsigned(value) | Loaded::Address(value) => Value::Varint(value),
            Loaded::Single(value) => Value::Double(value.into()),
            Loaded::Double(value) => Value::Double(value),
        }
    }
}

enum Value {
    Varint(u64),
    Double(f64),
}

fn varint_len(value: u64) -> usize {
    match value >> 56 {
        0 => varint(value).1,
        high => 8 + varint(high).1,
    }
}
