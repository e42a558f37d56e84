//! How the payloads of a schema become annotations, worked out once.

use std::collections::HashMap;
use std::hint::cold_path;

use nvtxw_backend::{Event, Field, Schema};

use super::annotation::{Annotator, known};
use super::encoder::Tables;
use super::field::{annotation, event};
use super::quick::Quick;
use crate::plain::{Load, Loaded, Near, Payload, is_near};
use crate::proto::{Room, SMALL, Slot, Writer, small_varint, varint};

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
        let quick = numbers.and_then(|numbers| Quick::new(schema, &numbers));
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
    fn value(&self, payload: &(impl Payload + ?Sized)) -> Value {
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

/// A number that is near in its payload.
pub(super) struct QuickNumber {
    number: Number,
    is_integer: bool,
    /// Whether it is a double, if it is no integer.
    is_double: bool,
    /// The bits of an integer.
    mask: u64,
    /// Those that are set in none that is small, and not negative.
    wide: u64,
}

impl QuickNumber {
    pub(super) fn of(number: &Number) -> Option<Self> {
        let (bits, is_signed) = match number.load {
            Load::I8 => (8, true),
            Load::I16 => (16, true),
            Load::I32 => (32, true),
            Load::I64 => (64, true),
            Load::U8 => (8, false),
            Load::U16 => (16, false),
            Load::U32 | Load::F32 => (32, false),
            Load::U64 | Load::Address | Load::F64 => (64, false),
        };
        let mask = u64::MAX >> (64 - bits);
        let sign = u64::from(is_signed) << (bits - 1);
        is_near(number.offset).then(|| Self {
            number: *number,
            is_integer: !matches!(number.load, Load::F32 | Load::F64),
            is_double: number.load == Load::F64,
            mask,
            wide: mask & !(SMALL - 1) | sign,
        })
    }

    #[inline(always)]
    pub(super) fn write(&self, payload: &Near, out: &mut Slot<'_>) {
        let Number {
            offset,
            head,
            head_len,
            ..
        } = self.number;
        if self.is_integer {
            let word = u64::from_le_bytes(payload.bytes(offset));
            let value = word & self.mask;
            // Neither what is wide nor what is negative, nor the order of bytes of rare machines.
            if cfg!(target_endian = "little") && value & self.wide == 0 {
                let (word, len) = small_varint(value);
                out.word(head + ((len as u64) << 8), head_len);
                out.word(word, len);
            } else {
                cold_path();
                out.with(|room, at| self.write_wide(payload, room, at));
            }
            return;
        }
        let value = match self.is_double {
            true => f64::from_ne_bytes(payload.bytes(offset)),
            false => f32::from_ne_bytes(payload.bytes(offset)).into(),
        };
        out.word(head + (8 << 8), head_len);
        out.word(value.to_bits(), 8);
    }

    /// Takes the parts of a slot, which stay in registers so.
    #[inline(never)]
    fn write_wide(&self, payload: &Near, room: &mut Room, len: usize) -> usize {
        let Number { head, head_len, .. } = self.number;
        Slot::at(room, len, |out| {
            if let Value::Varint(value) = self.number.value(payload) {
                out.word(head + ((varint_len(value) as u64) << 8), head_len);
                out.varint(value);
            }
        })
    }
}

fn varint_len(value: u64) -> usize {
    match value >> 56 {
        0 => varint(value).1,
        high => 8 + varint(high).1,
    }
}
