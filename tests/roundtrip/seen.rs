//! A backend that keeps all that it is told, as trees of values.

use std::sync::{Arc, Mutex, PoisonError};

use nvtxw::{EventKind, NoValueReason};
use nvtxw_backend::{
    Backend, Counter, CounterBatch, Event, Field, FieldKind, Result, Schema, Session,
    SessionRequest, Stream, StreamInfo, Time, Value, Visitor,
};

/// A value with all that is in it. Floats are their bits, so that each NaN is itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    F32(u32),
    F64(u64),
    Char(u32),
    Address(u64),
    Text(Vec<u8>),
    Registered(Option<String>),
    /// A value of an enum, and its name if it has one.
    Enum(u64, Option<String>),
    Bytes(Vec<u8>),
    List(Vec<Tree>),
    Struct(Vec<Shown>),
}

/// The type of a field's value, or of its elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A predefined one, by its number in the ABI.
    Number(u64),
    /// An enum: its name, bytes, and values, with whether they are flags.
    Enum(String, usize, Vec<(String, u64, bool)>),
    /// The schema's name.
    Struct(String),
}

/// A field with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub name: String,
    pub ty: Type,
    /// Elements of an array, as the schema says.
    pub count: Option<usize>,
    pub is_hidden: bool,
    pub description: Option<String>,
    pub value: Tree,
}

/// One event, or one sample of a counter.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Event(SeenEvent),
    Sample {
        counter: String,
        time: i64,
        fields: Vec<Shown>,
    },
    NoValue {
        counter: String,
        time: i64,
        reason: NoValueReason,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenEvent {
    /// The name of the schema that makes it an event.
    pub schema: String,
    pub kind: EventKind,
    pub start: i64,
    /// The end of a range that is whole.
    pub end: Option<i64>,
    pub message: Option<String>,
    pub color: Option<u32>,
    pub category: Option<u32>,
    pub range_id: Option<u64>,
    pub scope: u64,
    pub fields: Vec<Shown>,
}

/// What was seen since the last time. Clones share it.
#[derive(Clone, Default)]
pub struct Eyes(Arc<Mutex<Vec<Seen>>>);

impl Eyes {
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn see(&self, seen: Seen) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(seen);
        Ok(())
    }
}

impl Backend for Eyes {
    type Session = Self;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<Self> {
        Ok(self.clone())
    }
}

impl Session for Eyes {
    type Stream = Self;

    fn open_stream(&self, _: &Arc<StreamInfo>) -> Result<Self> {
        Ok(self.clone())
    }

    fn end(&self) -> Result<()> {
        Ok(())
    }
}

impl Stream for Eyes {
    fn write_event(&mut self, event: &Event<'_>) -> Result<()> {
        let (start, end) = match event.time() {
            Time::Point(time) => (time, None),
            Time::Range { start, end } => (start, Some(end)),
        };
        let mut trees = Trees::default();
        event.visit(&mut trees);
        self.see(Seen::Event(SeenEvent {
            schema: event.schema().name().unwrap_or_default().to_owned(),
            kind: event.kind(),
            start,
            end,
            message: event
                .message()
                .map(|message| message.to_string_lossy().into_owned()),
            color: event.color(),
            category: event.category(),
            range_id: event.range_id(),
            scope: event.scope_id(),
            fields: trees.shown(),
        }))
    }

    fn write_counters(&mut self, samples: &CounterBatch<'_>) -> Result<()> {
        for sample in samples.samples() {
            let mut trees = Trees::default();
            sample.visit(&mut trees);
            self.see(Seen::Sample {
                counter: samples.counter().name().to_owned(),
                time: sample.time(),
                fields: trees.shown(),
            })?;
        }
        Ok(())
    }

    fn write_no_value(
        &mut self,
        counter: &Arc<Counter>,
        time: i64,
        reason: NoValueReason,
    ) -> Result<()> {
        let counter = counter.name().to_owned();
        self.see(Seen::NoValue {
            counter,
            time,
            reason,
        })
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Puts the values of a visit into trees.
struct Trees {
    /// Structs and arrays that have begun, the outermost first.
    open: Vec<Open>,
}

enum Open {
    Struct(Vec<Shown>),
    List(Vec<Tree>),
}

impl Default for Trees {
    fn default() -> Self {
        Self {
            open: vec![Open::Struct(Vec::new())],
        }
    }
}

impl Trees {
    fn shown(mut self) -> Vec<Shown> {
        match (self.open.pop(), self.open.pop()) {
            (Some(Open::Struct(shown)), None) => shown,
            _ => panic!("something has begun and not ended"),
        }
    }

    fn put(&mut self, field: &Field, value: Tree) {
        match self.open.last_mut().expect("there is an outermost") {
            Open::List(list) => list.push(value),
            Open::Struct(fields) => fields.push(Shown {
                name: field.name().to_owned(),
                ty: ty(field),
                count: field.count(),
                is_hidden: field.is_hidden(),
                description: field.description().map(str::to_owned),
                value,
            }),
        }
    }
}

fn ty(field: &Field) -> Type {
    match field.kind() {
        FieldKind::Scalar(ty) | FieldKind::Text(ty) => Type::Number(ty.to_raw()),
        FieldKind::Enum(known) => {
            let entries = known.entries().iter();
            let entries = entries.map(|entry| (entry.name.to_string(), entry.value, entry.is_flag));
            let name = known.name().unwrap_or_default().to_owned();
            Type::Enum(name, known.size(), entries.collect())
        }
        FieldKind::Struct(schema) | FieldKind::Union(schema) => {
            Type::Struct(schema.name().unwrap_or_default().to_owned())
        }
    }
}

impl Visitor for Trees {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        let tree = match value {
            Value::I64(value) => Tree::I64(value),
            Value::U64(value) => Tree::U64(value),
            Value::I128(value) => Tree::I128(value),
            Value::U128(value) => Tree::U128(value),
            Value::F32(value) => Tree::F32(value.to_bits()),
            Value::F64(value) => Tree::F64(value.to_bits()),
            Value::Char(value) => Tree::Char(value),
            Value::Address(value) => Tree::Address(value),
            Value::Text(text) => Tree::Text(text.to_vec()),
            Value::Wide(text) => panic!("the producer writes no wide text: {text:?}"),
            Value::Registered(string) => {
                Tree::Registered(string.map(|string| string.text().to_owned()))
            }
            Value::Enum { value, meaning } => {
                Tree::Enum(value, meaning.find(value).map(str::to_owned))
            }
            Value::Bytes(bytes) => Tree::Bytes(bytes.to_vec()),
        };
        self.put(field, tree);
    }

    fn begin_array(&mut self, _: &Field, len: usize) {
        self.open.push(Open::List(Vec::with_capacity(len)));
    }

    fn end_array(&mut self, field: &Field) {
        match self.open.pop() {
            Some(Open::List(list)) => self.put(field, Tree::List(list)),
            _ => panic!("an array ends that has not begun"),
        }
    }

    fn begin_struct(&mut self, _: &Field, _: &Schema) {
        self.open.push(Open::Struct(Vec::new()));
    }

    fn end_struct(&mut self, field: &Field) {
        match self.open.pop() {
            Some(Open::Struct(fields)) => self.put(field, Tree::Struct(fields)),
            _ => panic!("a struct ends that has not begun"),
        }
    }
}
