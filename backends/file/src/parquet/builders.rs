//! Rows of the tables, column by column.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, PrimitiveBuilder, StringBuilder,
    StringDictionaryBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::{ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use super::column::Column;
use super::record::{Reader, Record};
use super::rows::Counter;
use crate::format::Number;

fn schema(fields: impl IntoIterator<Item = FieldRef>) -> SchemaRef {
    Arc::new(Schema::new(fields.into_iter().collect::<Vec<_>>()))
}

fn field(name: &str, ty: DataType, nullable: bool) -> FieldRef {
    Arc::new(Field::new(name, ty, nullable))
}

/// Few texts that come again and again.
fn words() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

// There may be very many streams: what has no rows takes no memory.

pub(super) fn numbers<T: ArrowPrimitiveType>() -> PrimitiveBuilder<T> {
    PrimitiveBuilder::with_capacity(0)
}

pub(super) fn flags() -> BooleanBuilder {
    BooleanBuilder::with_capacity(0)
}

pub(super) fn texts() -> StringBuilder {
    StringBuilder::with_capacity(0, 0)
}

pub(super) fn repeated<K: ArrowDictionaryKeyType>() -> StringDictionaryBuilder<K> {
    StringDictionaryBuilder::with_capacity(0, 0, 0)
}

/// All events.
pub(super) struct EventRows {
    pub(super) len: usize,
    id: Int64Builder,
    kind: StringDictionaryBuilder<Int8Type>,
    name: StringBuilder,
    category: StringBuilder,
    color: UInt32Builder,
    start: Int64Builder,
    end: Int64Builder,
    domain: StringBuilder,
    scope: StringBuilder,
    correlation: ListBuilder<UInt64Builder>,
    args: StringBuilder,
}

/// What there is to say of an event besides its record.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) domain: Option<&'a str>,
    pub(super) scope: Option<&'a str>,
}

impl EventRows {
    pub(super) fn new() -> Self {
        Self {
            len: 0,
            id: numbers(),
            kind: repeated(),
            name: texts(),
            category: texts(),
            color: numbers(),
            start: numbers(),
            end: numbers(),
            domain: texts(),
            scope: texts(),
            correlation: ListBuilder::with_capacity(numbers(), 0),
            args: texts(),
        }
    }

    pub(super) fn schema() -> SchemaRef {
        let item = field("item", DataType::UInt64, true);
        schema([
            field("event_id", DataType::Int64, false),
            field("kind", words(), false),
            field("name", DataType::Utf8, false),
            field("category", DataType::Utf8, true),
            field("color", DataType::UInt32, true),
            field("start_ns", DataType::Int64, false),
            field("end_ns", DataType::Int64, true),
            field("domain", DataType::Utf8, true),
            field("scope", DataType::Utf8, true),
            field("correlation", DataType::List(item), true),
            field("args", DataType::Utf8, true),
        ])
    }

    /// The event with the number `id`, in its halves.
    pub(super) fn add(&mut self, id: i64, kind: &str, halves: [&Record<'_>; 2], spot: Spot<'_>) {
        let [first, second] = halves;
        self.id.append_value(id);
        self.len += 1;
        self.kind.append_value(kind);
        self.name.append_value(first.name);
        self.category.append_option(first.category);
        self.color.append_option(first.color);
        self.start.append_value(spot.start);
        self.end.append_option(spot.end);
        self.domain.append_option(spot.domain);
        self.scope.append_option(spot.scope);
        let mut flows = first.flows().chain(second.flows()).peekable();
        let is_joined = flows.peek().is_some();
        flows.for_each(|flow| self.correlation.values().append_value(flow));
        self.correlation.append(is_joined);
        match (first.args, second.args) {
            ("", "") => self.args.append_null(),
            (first, second) => self.args.append_value(format!("{{{first}{second}}}")),
        }
    }

    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        self.len = 0;
        vec![
            Arc::new(self.id.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.category.finish()),
            Arc::new(self.color.finish()),
            Arc::new(self.start.finish()),
            Arc::new(self.end.finish()),
            Arc::new(self.domain.finish()),
            Arc::new(self.scope.finish()),
            Arc::new(self.correlation.finish()),
            Arc::new(self.args.finish()),
        ]
    }
}

/// Events of one schema.
pub(super) struct TypedRows {
    id: Int64Builder,
    name: StringBuilder,
    category: StringBuilder,
    start: Int64Builder,
    end: Int64Builder,
    scope: StringBuilder,
    fields: Vec<Column>,
}

impl TypedRows {
    pub(super) fn new(fields: Vec<Column>) -> Self {
        Self {
            id: numbers(),
            name: texts(),
            category: texts(),
            start: numbers(),
            end: numbers(),
            scope: texts(),
            fields,
        }
    }

    /// `fields` are those of the events' schema; names that repeat get ` (2)`, ` (3)`….
    pub(super) fn schema(fields: Vec<FieldRef>) -> SchemaRef {
        let mut all = vec![
            field("event_id", DataType::Int64, false),
            field("name", DataType::Utf8, false),
            field("category", DataType::Utf8, true),
            field("start_ns", DataType::Int64, false),
            field("end_ns", DataType::Int64, true),
            field("scope", DataType::Utf8, true),
        ];
        for field in fields {
            // Readers don't tell upper case from lower case.
            let is_free = |name: &str| {
                let mut used = all.iter().map(|field: &FieldRef| field.name());
                used.all(|used| !used.eq_ignore_ascii_case(name))
            };
            let mut name = field.name().clone();
            for copy in 2.. {
                if is_free(&name) {
                    break;
                }
                name = format!("{} ({copy})", field.name());
            }
            all.push(Arc::new(Field::clone(&field).with_name(name)));
        }
        schema(all)
    }

    /// The event with the number `id`, and the fields of its schema.
    pub(super) fn add(&mut self, id: i64, record: &Record<'_>, spot: Spot<'_>, fields: &[u8]) {
        self.id.append_value(id);
        self.name.append_value(record.name);
        self.category.append_option(record.category);
        self.start.append_value(spot.start);
        self.end.append_option(spot.end);
        self.scope.append_option(spot.scope);
        let mut reader = Reader(fields);
        for column in &mut self.fields {
            column.append(&mut reader);
        }
    }

    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        let mut all: Vec<ArrayRef> = vec![
            Arc::new(self.id.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.category.finish()),
            Arc::new(self.start.finish()),
            Arc::new(self.end.finish()),
            Arc::new(self.scope.finish()),
        ];
        all.extend(self.fields.iter_mut().map(Column::finish));
        all
    }
}

/// Values of counters.
pub(super) struct ValueRows {
    pub(super) len: usize,
    time: Int64Builder,
    name: StringBuilder,
    group: StringBuilder,
    unit: StringBuilder,
    domain: StringBuilder,
    scope: StringBuilder,
    description: StringBuilder,
    is_delta: BooleanBuilder,
    value: Float64Builder,
    signed: Int64Builder,
    unsigned: UInt64Builder,
}

impl ValueRows {
    pub(super) fn new() -> Self {
        Self {
            len: 0,
            time: numbers(),
            name: texts(),
            group: texts(),
            unit: texts(),
            domain: texts(),
            scope: texts(),
            description: texts(),
            is_delta: flags(),
            value: numbers(),
            signed: numbers(),
            unsigned: numbers(),
        }
    }

    pub(super) fn schema() -> SchemaRef {
        schema([
            field("time_ns", DataType::Int64, false),
            field("name", DataType::Utf8, false),
            field("group", DataType::Utf8, true),
            field("unit", DataType::Utf8, true),
            field("domain", DataType::Utf8, true),
            field("scope", DataType::Utf8, true),
            field("description", DataType::Utf8, true),
            field("is_delta", DataType::Boolean, false),
            field("value", DataType::Float64, true),
            field("value_i64", DataType::Int64, true),
            field("value_u64", DataType::UInt64, true),
        ])
    }

    pub(super) fn add(
        &mut self,
        counter: &Counter,
        domain: Option<&str>,
        time: i64,
        value: Option<Number>,
    ) {
        self.len += 1;
        self.time.append_value(time);
        self.name.append_value(&counter.name);
        self.group.append_option(counter.group.as_deref());
        self.unit.append_option(counter.unit.as_deref());
        self.domain.append_option(domain);
        self.scope.append_option(counter.scope.as_deref());
        self.description
            .append_option(counter.description.as_deref());
        self.is_delta.append_value(counter.is_delta);
        let value = value.map(|value| multiplied(value, counter.multiplier));
        let (signed, unsigned) = match value {
            Some(Number::Int(value)) => (Some(value), u64::try_from(value).ok()),
            Some(Number::Great(value)) => (None, Some(value)),
            _ => (None, None),
        };
        self.value.append_option(value.map(Number::as_f64));
        self.signed.append_option(signed);
        self.unsigned.append_option(unsigned);
    }

    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        self.len = 0;
        vec![
            Arc::new(self.time.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.group.finish()),
            Arc::new(self.unit.finish()),
            Arc::new(self.domain.finish()),
            Arc::new(self.scope.finish()),
            Arc::new(self.description.finish()),
            Arc::new(self.is_delta.finish()),
            Arc::new(self.value.finish()),
            Arc::new(self.signed.finish()),
            Arc::new(self.unsigned.finish()),
        ]
    }
}

/// A value in the unit that its counter has; a double where it is too great for an integer.
fn multiplied(value: Number, by: u64) -> Number {
    let exact = match value {
        _ if by == 1 => Some(value),
        Number::Int(value) => {
            let product = i128::from(value) * i128::from(by);
            let small = i64::try_from(product).ok().map(Number::Int);
            small.or(u64::try_from(product).ok().map(Number::Great))
        }
        Number::Great(value) => value.checked_mul(by).map(Number::Great),
        Number::Float(_) => None,
    };
    exact.unwrap_or_else(|| Number::Float(value.as_f64() * by as f64))
}

/// What is known of a session, and of its streams.
#[derive(Default)]
pub(super) struct FactRows {
    stream: StringBuilder,
    key: StringBuilder,
    value: StringBuilder,
}

impl FactRows {
    pub(super) fn schema() -> SchemaRef {
        schema([
            field("stream", DataType::Utf8, true),
            field("key", DataType::Utf8, false),
            field("value", DataType::Utf8, false),
        ])
    }

    pub(super) fn add(&mut self, stream: Option<&str>, key: &str, value: &str) {
        self.stream.append_option(stream);
        self.key.append_value(key);
        self.value.append_value(value);
    }

    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.stream.finish()),
            Arc::new(self.key.finish()),
            Arc::new(self.value.finish()),
        ]
    }
}
