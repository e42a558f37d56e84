//! How the payloads of a schema become annotations, worked out once.

use nvtxw_backend::{Event, Field, FieldKind, Schema};

use super::annotation::{Annotator, known_field};
use super::arg::{Args, Head, load_tag};
use super::encoder::Tables;
use super::field::event;
use super::quick::Quick;
use crate::plain::{Copied, Load, Loaded};
use crate::proto::{Writer, varint_len};

/// The annotations of a schema's events, in order.
pub(super) struct Plan {
    steps: Vec<Step>,
    /// All of them, if they are of the kinds that most are of.
    args: Option<Args>,
    /// How most ranges of the schema can be written with these.
    quick: Option<Quick>,
}

enum Step {
    /// A number in a fixed place.
    Number(Number),
    /// A field of any kind, by its index.
    Field(usize),
}

/// A number in a fixed place.
struct Number {
    offset: usize,
    load: Load,
    head: Head,
}

impl Plan {
    pub(super) fn new(schema: &Schema, texts: &mut Tables) -> Self {
        let fields = schema.fields().iter();
        let steps: Vec<_> = fields.filter_map(|field| step(field, texts)).collect();
        let quick = Quick::new(schema, texts);
        let args = Args::of(schema, texts);
        Self {
            steps,
            quick: quick
                .zip(args.as_ref())
                .and_then(|(quick, args)| quick.with(args)),
            args,
        }
    }

    /// Whether events of the schema have no fields besides their attributes.
    pub(super) fn is_bare(&self) -> bool {
        self.steps.is_empty()
    }

    /// How usual ranges of the schema are written, if there is such a thing.
    #[inline]
    pub(super) fn quick(&mut self) -> Option<(&mut Quick, &mut Args)> {
        self.quick.as_mut().zip(self.args.as_mut())
    }

    /// Appends the annotations of a plain event of the schema, with these [texts](Event::texts), and what joins it with others,
    /// if that is all as usual; `false` if it is not.
    pub(super) fn write_usual(
        &mut self,
        payload: &[u8],
        texts: &[Option<&[u8]>],
        copied: &mut Copied,
        tables: &mut Tables,
        out: &mut Writer,
    ) -> bool {
        let args = self.args.as_mut();
        args.is_some_and(|args| args.write_all(payload, texts, copied, tables, out))
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
        // What is in it may join events.
        let has_fields = matches!(field.kind(), FieldKind::Struct(_) | FieldKind::Union(_));
        return has_fields.then_some(other);
    }
    let Some(load) = Load::of(field) else {
        return Some(other);
    };
    // A name that has no number is written as it is.
    let Some(name) = known_field(field, texts) else {
        return Some(other);
    };
    Some(Step::Number(Number {
        offset: field.offset(),
        load,
        head: Head::new(event::ANNOTATIONS, Some(name), load_tag(load)),
    }))
}

impl Number {
    fn write(&self, payload: &[u8], out: &mut Writer) {
        match self.value(payload) {
            Value::Varint(value) => {
                let (word, len) = self.head.before(varint_len(value));
                out.word(word, len);
                out.varint(value);
            }
            Value::Double(value) => {
                let (word, len) = self.head.before(8);
                out.word(word, len);
                out.word(value.to_bits(), 8);
            }
        }
    }

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
