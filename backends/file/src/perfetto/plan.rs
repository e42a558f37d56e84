//! How the payloads of a schema become annotations, worked out once.

use std::collections::HashMap;

use nvtxw_backend::{EntryType, Event, Field, FieldKind, Schema};

use super::annotation::{Annotator, known};
use super::encoder::Tables;
use super::field::{annotation, event};
use super::quick::Quick;
use crate::proto::{Slot, Writer, varint};

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

#[derive(Clone, Copy)]
enum Load {
    I8,
    I16,
    I32,
    U8,
    U16,
    U32,
    /// Signed or not: the bytes are the same.
    Word,
    F32,
    F64,
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
    let FieldKind::Scalar(ty) = field.kind() else {
        return Some(other);
    };
    let (Some((load, value)), None) = (load(*ty), field.count()) else {
        return Some(other);
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

/// How a type is read, and which of an annotation's values it is.
fn load(ty: EntryType) -> Option<(Load, u32)> {
    use EntryType::*;
    let signed = match ty {
        Int8 | Int16 | Int32 | Int64 | Short | Int | Long | LongLong => true,
        UInt8 | UInt16 | UInt32 | UInt64 | UChar | UShort | UInt | ULong | ULongLong | Size => {
            false
        }
        Float | Float32 => return Some((Load::F32, annotation::DOUBLE)),
        Double | Float64 => return Some((Load::F64, annotation::DOUBLE)),
        Address => return Some((Load::Word, annotation::POINTER)),
        _ => return None,
    };
    let (size, _) = ty.layout()?;
    let load = match (size, signed) {
        (1, true) => Load::I8,
        (2, true) => Load::I16,
        (4, true) => Load::I32,
        (1, false) => Load::U8,
        (2, false) => Load::U16,
        (4, false) => Load::U32,
        _ => Load::Word,
    };
    Some((
        load,
        if signed {
            annotation::INT
        } else {
            annotation::UINT
        },
    ))
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
            Value::Varint(value) if value < 1 << 56 => {
                let (word, len) = varint(value);
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
        let at = self.offset;
        Value::Varint(match self.load {
            Load::I8 => i64::from(i8::from_ne_bytes(bytes(payload, at))) as u64,
            Load::I16 => i64::from(i16::from_ne_bytes(bytes(payload, at))) as u64,
            Load::I32 => i64::from(i32::from_ne_bytes(bytes(payload, at))) as u64,
            Load::U8 => u8::from_ne_bytes(bytes(payload, at)).into(),
            Load::U16 => u16::from_ne_bytes(bytes(payload, at)).into(),
            Load::U32 => u32::from_ne_bytes(bytes(payload, at)).into(),
            Load::Word => u64::from_ne_bytes(bytes(payload, at)),
            Load::F32 => return Value::Double(f32::from_ne_bytes(bytes(payload, at)).into()),
            Load::F64 => return Value::Double(f64::from_ne_bytes(bytes(payload, at))),
        })
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

/// The bytes of a payload's field; a payload has all of its schema's.
#[inline(always)]
pub(super) fn bytes<const N: usize>(payload: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&payload[offset..offset + N]);
    bytes
}
