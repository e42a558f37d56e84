//! Columns for the fields of schemas: each with its own type.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int8Builder, Int16Builder,
    Int32Builder, Int64Builder, StringBuilder, StringDictionaryBuilder, UInt8Builder,
    UInt16Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, FixedSizeListArray, StructArray};
use arrow_schema::{DataType, FieldRef, Fields};
use nvtxw_backend::{EntryType, Field, FieldKind, Schema, Value, Visitor};

use super::builders::{flags, numbers, repeated, texts};
use super::record::{self, Reader};
use crate::attribute::lossy;
use crate::domains::scale;
use crate::flow::flow;
use crate::proto::Writer;

/// Gathers the values of a field.
pub(super) enum Column {
    Bool(BooleanBuilder),
    I8(Int8Builder),
    I16(Int16Builder),
    I32(Int32Builder),
    I64(Int64Builder),
    U8(UInt8Builder),
    U16(UInt16Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    /// Names of an enum's values.
    Words(StringDictionaryBuilder<Int32Type>),
    Bytes(BinaryBuilder),
    /// Arrays of one length.
    List {
        item: FieldRef,
        items: Box<Column>,
        len: usize,
    },
    Struct {
        fields: Fields,
        columns: Vec<Column>,
    },
}

/// The columns of those fields of a schema that are shown. All are plain.
pub(super) fn columns(schema: &Schema) -> (Vec<FieldRef>, Vec<Column>) {
    let shown = schema.fields().iter().filter(|field| !field.is_attribute());
    shown.filter_map(column).unzip()
}

/// The column of a field, unless nothing of that is shown.
fn column(field: &Field) -> Option<(FieldRef, Column)> {
    if field.is_hidden() || field.count() == Some(0) {
        return None;
    }
    let (mut ty, mut column) = element(field)?;
    if let Some(len) = field.count()
        && !matches!(column, Column::Bytes(_))
    {
        let item = Arc::new(arrow_schema::Field::new("item", ty, true));
        ty = DataType::FixedSizeList(Arc::clone(&item), len as i32);
        let items = Box::new(column);
        column = Column::List { item, items, len };
    }
    let mut facts = HashMap::new();
    facts.extend(
        field
            .description()
            .map(|text| ("description".to_owned(), text.to_owned())),
    );
    if let Some(semantics) = field.counter_semantics() {
        let unit = semantics.unit().map(str::to_owned);
        facts.extend(unit.map(|unit| ("unit".to_owned(), unit)));
        facts.extend(scale(semantics).map(|scale| ("scale".to_owned(), scale)));
    }
    let field = arrow_schema::Field::new(field.name(), ty, true).with_metadata(facts);
    Some((Arc::new(field), column))
}

fn element(field: &Field) -> Option<(DataType, Column)> {
    Some(match field.kind() {
        FieldKind::Scalar(ty) => scalar(*ty),
        FieldKind::Text(_) => (DataType::Utf8, Column::Text(texts())),
        FieldKind::Enum(meaning) if meaning.as_bool(0).is_some() => {
            (DataType::Boolean, Column::Bool(flags()))
        }
        FieldKind::Enum(_) => {
            let (number, text) = (Box::new(DataType::Int32), Box::new(DataType::Utf8));
            let ty = DataType::Dictionary(number, text);
            (ty, Column::Words(repeated()))
        }
        FieldKind::Struct(schema) => {
            let (fields, columns): (Vec<_>, Vec<_>) =
                schema.fields().iter().filter_map(column).unzip();
            if fields.is_empty() {
                return None;
            }
            let fields = Fields::from(fields);
            let ty = DataType::Struct(fields.clone());
            (ty, Column::Struct { fields, columns })
        }
        // None is plain.
        FieldKind::Union(_) => return None,
    })
}

/// Which of the values of a predefined type a column takes: as the SDK reads them.
fn scalar(ty: EntryType) -> (DataType, Column) {
    use DataType::*;
    let text = || (Utf8, Column::Text(texts()));
    match ty {
        EntryType::Char
        | EntryType::Char8
        | EntryType::Char16
        | EntryType::Char32
        | EntryType::WChar
        | EntryType::RegisteredString
        // No number of other formats has them exactly, and few readers.
        | EntryType::Int128
        | EntryType::UInt128 => return text(),
        EntryType::Float
        | EntryType::Float32
        | EntryType::Float16
        | EntryType::BFloat16
        | EntryType::TensorFloat32 => return (Float32, Column::F32(numbers())),
        EntryType::Double | EntryType::Float64 | EntryType::Float128 | EntryType::LongDouble => {
            return (Float64, Column::F64(numbers()));
        }
        EntryType::Byte
        | EntryType::CString
        | EntryType::CStringUtf8
        | EntryType::CStringUtf16
        | EntryType::CStringUtf32
        | EntryType::UnionSelector => return (Binary, Column::Bytes(BinaryBuilder::with_capacity(0, 0))),
        _ => {}
    }
    let size = ty.layout().map_or(8, |(size, _)| size);
    match (size, ty.is_signed()) {
        (1, true) => (Int8, Column::I8(numbers())),
        (2, true) => (Int16, Column::I16(numbers())),
        (4, true) => (Int32, Column::I32(numbers())),
        (_, true) => (Int64, Column::I64(numbers())),
        (1, false) => (UInt8, Column::U8(numbers())),
        (2, false) => (UInt16, Column::U16(numbers())),
        (4, false) => (UInt32, Column::U32(numbers())),
        (_, false) => (UInt64, Column::U64(numbers())),
    }
}

impl Column {
    /// Takes the next value of what [`Leaves`] wrote.
    pub(super) fn append(&mut self, from: &mut Reader<'_>) {
        match self {
            Self::Bool(builder) => builder.append_option(match from.u8() {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            }),
            Self::I8(builder) => builder.append_value(from.u64() as i8),
            Self::I16(builder) => builder.append_value(from.u64() as i16),
            Self::I32(builder) => builder.append_value(from.u64() as i32),
            Self::I64(builder) => builder.append_value(from.u64() as i64),
            Self::U8(builder) => builder.append_value(from.u64() as u8),
            Self::U16(builder) => builder.append_value(from.u64() as u16),
            Self::U32(builder) => builder.append_value(from.u64() as u32),
            Self::U64(builder) => builder.append_value(from.u64()),
            Self::F32(builder) => builder.append_value(f32::from_bits(from.u32())),
            Self::F64(builder) => builder.append_value(f64::from_bits(from.u64())),
            Self::Text(builder) => builder.append_option(from.text()),
            Self::Words(builder) => builder.append_option(from.text()),
            Self::Bytes(builder) => builder.append_value(from.bytes()),
            Self::List { items, len, .. } => (0..*len).for_each(|_| items.append(from)),
            Self::Struct { columns, .. } => {
                columns.iter_mut().for_each(|column| column.append(from));
            }
        }
    }

    /// All values so far.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::I8(builder) => Arc::new(builder.finish()),
            Self::I16(builder) => Arc::new(builder.finish()),
            Self::I32(builder) => Arc::new(builder.finish()),
            Self::I64(builder) => Arc::new(builder.finish()),
            Self::U8(builder) => Arc::new(builder.finish()),
            Self::U16(builder) => Arc::new(builder.finish()),
            Self::U32(builder) => Arc::new(builder.finish()),
            Self::U64(builder) => Arc::new(builder.finish()),
            Self::F32(builder) => Arc::new(builder.finish()),
            Self::F64(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Words(builder) => Arc::new(builder.finish()),
            Self::Bytes(builder) => Arc::new(builder.finish()),
            Self::List { item, items, len } => Arc::new(FixedSizeListArray::new(
                Arc::clone(item),
                *len as i32,
                items.finish(),
                None,
            )),
            Self::Struct { fields, columns } => Arc::new(StructArray::new(
                fields.clone(),
                columns.iter_mut().map(Self::finish).collect(),
                None,
            )),
        }
    }
}

/// Appends the values of fields as their [columns](columns) take them.
pub(super) struct Leaves<'a> {
    out: &'a mut Writer,
    /// The flows that the fields have.
    flows: &'a mut Vec<u64>,
    /// How many hidden arrays and structs are open.
    hidden: usize,
}

impl<'a> Leaves<'a> {
    pub(super) fn new(out: &'a mut Writer, flows: &'a mut Vec<u64>) -> Self {
        Self {
            out,
            flows,
            hidden: 0,
        }
    }
}

impl Visitor for Leaves<'_> {
    fn value(&mut self, field: &Field, value: Value<'_>) {
        if let Some(correlation) = field.correlation() {
            self.flows.extend(flow(correlation, value));
        }
        if self.hidden > 0 || field.is_hidden() {
            return;
        }
        let out = &mut *self.out;
        match value {
            Value::I64(value) => out.raw(&value.to_le_bytes()),
            Value::U64(value) | Value::Address(value) => out.raw(&value.to_le_bytes()),
            Value::I128(value) => record::bytes(value.to_string().as_bytes(), out),
            Value::U128(value) => record::bytes(value.to_string().as_bytes(), out),
            Value::F32(value) => out.raw(&value.to_bits().to_le_bytes()),
            Value::F64(value) => out.raw(&value.to_bits().to_le_bytes()),
            Value::Char(code) => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                record::bytes(character.encode_utf8(&mut [0; 4]).as_bytes(), out);
            }
            Value::Text(text) => record::bytes(lossy(text).as_bytes(), out),
            Value::Wide(text) => record::bytes(text.to_string().as_bytes(), out),
            Value::Registered(string) => record::optional(string.map(|string| string.text()), out),
            Value::Enum { value, meaning } if meaning.as_bool(0).is_some() => {
                out.raw(&[meaning.as_bool(value).map_or(2, u8::from)]);
            }
            Value::Enum { value, meaning } => match meaning.describe(value) {
                Some(words) => record::bytes(words.as_bytes(), out),
                None => record::bytes(value.to_string().as_bytes(), out),
            },
            Value::Bytes(bytes) => record::bytes(bytes, out),
        }
    }

    fn begin_array(&mut self, field: &Field, _len: usize) {
        self.hidden += usize::from(self.hidden > 0 || field.is_hidden());
    }

    fn end_array(&mut self, _field: &Field) {
        self.hidden = self.hidden.saturating_sub(1);
    }

    fn begin_struct(&mut self, field: &Field, _schema: &Schema) {
        self.hidden += usize::from(self.hidden > 0 || field.is_hidden());
    }

    fn end_struct(&mut self, _field: &Field) {
        self.hidden = self.hidden.saturating_sub(1);
    }
}
