//! The decoder of what is settled: it lies in a payload at a fixed place with a fixed size.

use crate::check::selected;
use crate::domain::Domain;
use crate::locate::{Found, LOOSE};
use crate::scalar::{Read, read};
use crate::schema::{Extent, Field, FieldKind, Schema};
use crate::text;
use crate::value::{Value, Visitor};

/// What fields may need besides their bytes.
#[derive(Debug)]
pub(crate) struct Context<'c> {
    pub(crate) domain: &'c Domain,
    /// Where an event has its loose fields.
    pub(crate) found: Found<'c>,
}

impl<'c> Context<'c> {
    /// Without loose fields.
    #[inline]
    pub(crate) fn new(domain: &'c Domain) -> Self {
        Self {
            domain,
            found: [None; LOOSE],
        }
    }
}

/// Shows the fields of an event's payload, settled or regular, without the event's attributes.
#[inline(always)]
pub(crate) fn visit_event<V: Visitor>(
    schema: &Schema,
    bytes: &[u8],
    context: &Context<'_>,
    visitor: &mut V,
) {
    for field in schema.fields() {
        visit(field, field.shown, bytes, field.at, context, visitor);
    }
}

/// The same where it is one of several.
#[inline(never)]
pub(crate) fn visit_payload<V: Visitor>(
    schema: &Schema,
    bytes: &[u8],
    context: &Context<'_>,
    visitor: &mut V,
) {
    visit_event(schema, bytes, context, visitor);
}

/// Shows the fields of a struct that `shown` lets through. All of them are settled, and `bytes` start with the struct.
#[inline]
pub(crate) fn visit_fields<V: Visitor>(
    schema: &Schema,
    bytes: &[u8],
    context: &Context<'_>,
    shown: impl Fn(&Field) -> bool,
    visitor: &mut V,
) {
    for field in schema.fields().iter().filter(|field| shown(field)) {
        visit(field, field.whole, bytes, field.at, context, visitor);
    }
}

/// Shows what is at `at` of a settled field, read in this way. `bytes` start with the struct that the field is in, if it has one.
#[inline(always)]
pub(crate) fn visit<V: Visitor>(
    field: &Field,
    reading: Read,
    bytes: &[u8],
    at: u32,
    context: &Context<'_>,
    visitor: &mut V,
) {
    let at = at as usize;
    macro_rules! show {
        ($value:ident, $ty:ty) => {
            visitor.value(field, Value::$value(read::<$ty>(bytes, at).into()))
        };
    }
    // Each calls the visitor by itself, so that no value is put together only to be taken apart again.
    match reading {
        Read::I8 => show!(I64, i8),
        Read::I16 => show!(I64, i16),
        Read::I32 => show!(I64, i32),
        Read::I64 => show!(I64, i64),
        Read::U8 => show!(U64, u8),
        Read::U16 => show!(U64, u16),
        Read::U32 => show!(U64, u32),
        Read::U64 => show!(U64, u64),
        Read::F32 => show!(F32, f32),
        Read::F64 => show!(F64, f64),
        Read::Enum1 => visit_enum(field, read::<u8>(bytes, at).into(), visitor),
        Read::Enum2 => visit_enum(field, read::<u16>(bytes, at).into(), visitor),
        Read::Enum4 => visit_enum(field, read::<u32>(bytes, at).into(), visitor),
        Read::Nothing => {}
        Read::String => visit_string(field, read(bytes, at), context, visitor),
        Read::Text => visit_text(field, &bytes[at..], visitor),
        Read::LooseText => {
            if let Some(Some(text)) = context.found.get(at) {
                visitor.value(field, Value::Text(text));
            }
        }
        Read::LooseOne => visit_one(field, at, context, visitor),
        Read::Loose => visit_loose(field, at, context, visitor),
        Read::Union => visit_union(field, bytes, at, context, visitor),
        Read::Struct => visit_struct(field, &bytes[at..], context, visitor),
        // Each by its name, so that no range is checked before the jump.
        Read::I128
        | Read::U128
        | Read::F16
        | Read::BFloat16
        | Read::TensorFloat32
        | Read::F128
        | Read::LongDouble
        | Read::Char8
        | Read::Char16
        | Read::Char32
        | Read::Address
        | Read::Byte
        | Read::Enum8
        | Read::Array => visit_other(field, reading, bytes, at, context, visitor),
    }
}

#[inline(always)]
fn visit_enum<V: Visitor>(field: &Field, value: u64, visitor: &mut V) {
    if let FieldKind::Enum(meaning) = &field.kind {
        visitor.value(field, Value::Enum { value, meaning });
    }
}

#[inline(never)]
fn visit_string<V: Visitor>(field: &Field, handle: u64, context: &Context<'_>, visitor: &mut V) {
    visitor.value(field, Value::Registered(context.domain.registered(handle)));
}

#[inline(never)]
fn visit_text<V: Visitor>(field: &Field, bytes: &[u8], visitor: &mut V) {
    if let FieldKind::Text(ty) = field.kind {
        visitor.value(field, text::value(ty, text_of(field, bytes)));
    }
}

#[inline(never)]
fn visit_union<V: Visitor>(
    field: &Field,
    bytes: &[u8],
    at: usize,
    context: &Context<'_>,
    visitor: &mut V,
) {
    if let FieldKind::Union(union) = &field.kind {
        visitor.begin_struct(field, union);
        let selected = selected(field, union, bytes, at);
        if let Some(member) = selected.and_then(|selected| union.member(selected)) {
            let (reading, bytes) = (member.whole, &bytes[at..]);
            visit(member, reading, bytes, member.at, context, visitor);
        }
        visitor.end_struct(field);
    }
}

#[inline(never)]
fn visit_struct<V: Visitor>(field: &Field, bytes: &[u8], context: &Context<'_>, visitor: &mut V) {
    if let FieldKind::Struct(schema) = &field.kind {
        visitor.begin_struct(field, schema);
        visit_fields(schema, bytes, context, |_| true, visitor);
        visitor.end_struct(field);
    }
}

/// The same for what takes more.
#[inline(never)]
fn visit_other<V: Visitor>(
    field: &Field,
    reading: Read,
    bytes: &[u8],
    at: usize,
    context: &Context<'_>,
    visitor: &mut V,
) {
    match (reading, &field.kind) {
        (Read::Array, _) => {
            let count = field.count.unwrap_or_default();
            visit_array(field, count, &bytes[at..], context, visitor);
        }
        (Read::Enum8, _) => visit_enum(field, read(bytes, at), visitor),
        _ => {
            if let Some(value) = reading.scalar(bytes, at, context.domain) {
                visitor.value(field, value);
            }
        }
    }
}

/// Shows a loose field that is one element.
#[inline(never)]
fn visit_one<V: Visitor>(field: &Field, slot: usize, context: &Context<'_>, visitor: &mut V) {
    if let Some(Some(bytes)) = context.found.get(slot) {
        visit(field, field.element, bytes, 0, context, visitor);
    }
}

/// Shows a loose field that is wide text, or several elements.
#[inline(never)]
fn visit_loose<V: Visitor>(field: &Field, slot: usize, context: &Context<'_>, visitor: &mut V) {
    if let Some(Some(bytes)) = context.found.get(slot) {
        match field.kind {
            FieldKind::Text(ty) => visitor.value(field, text::value(ty, bytes)),
            _ => visit_array(field, bytes.len() / field.size, bytes, context, visitor),
        }
    }
}

/// Shows an array of `count` elements of a settled field, with which `bytes` start.
pub(crate) fn visit_array<V: Visitor>(
    field: &Field,
    count: usize,
    bytes: &[u8],
    context: &Context<'_>,
    visitor: &mut V,
) {
    let bytes = &bytes[..count * field.size];
    if field.element == Read::Byte {
        visitor.value(field, Value::Bytes(bytes));
        return;
    }
    visitor.begin_array(field, count);
    macro_rules! show {
        ($value:ident, $ty:ty) => {
            for element in bytes.as_chunks().0 {
                visitor.value(field, Value::$value(<$ty>::from_ne_bytes(*element).into()));
            }
        };
    }
    match field.element {
        Read::I32 => show!(I64, i32),
        Read::I64 => show!(I64, i64),
        Read::U16 => show!(U64, u16),
        Read::U32 => show!(U64, u32),
        Read::U64 => show!(U64, u64),
        Read::F32 => show!(F32, f32),
        Read::F64 => show!(F64, f64),
        reading => {
            for element in bytes.chunks_exact(field.size) {
                visit(field, reading, element, 0, context, visitor);
            }
        }
    }
    visitor.end_array(field);
}

/// The text of a field with which `bytes` start: of fixed length, or up to the end of `bytes`.
#[inline]
pub(crate) fn text_of<'a>(field: &Field, bytes: &'a [u8]) -> &'a [u8] {
    let bytes = match field.extent {
        Extent::Schema => &bytes[..field.size],
        _ => bytes,
    };
    match field.kind {
        FieldKind::Text(ty) if field.has_texts => text::before_last_nulls(ty, bytes),
        FieldKind::Text(ty) => text::before_null(ty, bytes),
        _ => &[],
    }
}
