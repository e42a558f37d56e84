//! The decoder of what lies in a payload at a fixed place with a fixed size.

use nvtxw_abi::EntryType;

use crate::domain::Domain;
use crate::refusal::{Refusal, Result};
use crate::scalar::{read, scalar, unsigned};
use crate::schema::{Extent, Field, FieldKind, Schema};
use crate::text;
use crate::value::{Value, Visitor};

/// Shows the fields of `schema` that `shown` lets through. All of them are plain, and `bytes` are at least `schema.size()`; for
/// a payload of a predefined type, a whole number of elements.
pub(crate) fn visit_fields<V: Visitor>(
    schema: &Schema,
    bytes: &[u8],
    domain: &Domain,
    shown: impl Fn(&Field) -> bool,
    visitor: &mut V,
) {
    for field in schema.fields().iter().filter(|field| shown(field)) {
        visit_field(field, field.count, &bytes[field.offset..], domain, visitor);
    }
}

/// Shows a plain `field`, with which `bytes` start; an array of `count` elements, if that is something.
#[inline]
pub(crate) fn visit_field<V: Visitor>(
    field: &Field,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
    visitor: &mut V,
) {
    match (&field.kind, count) {
        (FieldKind::Scalar(ty), None) => visitor.value(field, scalar(*ty, bytes, domain)),
        _ => visit_compound(field, count, bytes, domain, visitor),
    }
}

/// Shows a field that is not just a scalar.
fn visit_compound<V: Visitor>(
    field: &Field,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
    visitor: &mut V,
) {
    match (&field.kind, count) {
        (_, None) => visit_element(field, bytes, domain, visitor),
        (FieldKind::Scalar(EntryType::Byte), Some(count)) => {
            visitor.value(field, Value::Bytes(&bytes[..count]));
        }
        (_, Some(count)) => {
            visitor.begin_array(field, count);
            for element in bytes.chunks_exact(field.size).take(count) {
                visit_element(field, element, domain, visitor);
            }
            visitor.end_array(field);
        }
    }
}

fn visit_element<V: Visitor>(field: &Field, bytes: &[u8], domain: &Domain, visitor: &mut V) {
    match &field.kind {
        FieldKind::Scalar(ty) => visitor.value(field, scalar(*ty, bytes, domain)),
        FieldKind::Text(ty) => visitor.value(field, text::value(*ty, text_of(field, *ty, bytes))),
        FieldKind::Enum(meaning) => {
            visitor.value(
                field,
                Value::Enum {
                    value: unsigned(bytes, meaning.size()),
                    meaning,
                },
            );
        }
        FieldKind::Struct(schema) => {
            visitor.begin_struct(field, schema);
            visit_fields(schema, &bytes[..schema.size], domain, all, visitor);
            visitor.end_struct(field);
        }
        // Its member is found by the walk.
        FieldKind::Union(_) => {}
    }
}

/// The text of a field with which `bytes` start: of fixed length, or up to the end of `bytes`.
pub(crate) fn text_of<'a>(field: &Field, ty: EntryType, bytes: &'a [u8]) -> &'a [u8] {
    let bytes = match field.extent {
        Extent::Schema => &bytes[..field.size],
        _ => bytes,
    };
    text::before_null(ty, bytes)
}

/// Inside a struct all fields are shown.
fn all(_: &Field) -> bool {
    true
}

/// Refuses bytes of plain fields in which a registered string that would be shown is none of this domain's.
pub(crate) fn check_handles(
    schema: &Schema,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
    shown: impl Fn(&Field) -> bool,
) -> Result<()> {
    schema
        .fields()
        .iter()
        .filter(|field| field.has_handles && shown(field))
        .try_for_each(|field| {
            check_field(field, count.or(field.count), &bytes[field.offset..], domain)
        })
}

/// The same for one field, with which `bytes` start.
pub(crate) fn check_field(
    field: &Field,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
) -> Result<()> {
    if !field.has_handles {
        return Ok(());
    }
    for element in bytes.chunks_exact(field.size).take(count.unwrap_or(1)) {
        match &field.kind {
            FieldKind::Struct(inner) => check_handles(inner, None, element, domain, all)?,
            _ => check_handle(read(element, 0), field.name(), domain)?,
        }
    }
    Ok(())
}

/// Refuses a registered string that is none of this domain's. 0 means none.
pub(crate) fn check_handle(handle: u64, what: &str, domain: &Domain) -> Result<()> {
    if handle == 0 || domain.registered(handle).is_some() {
        return Ok(());
    }
    Err(unknown_handle(handle, what))
}

#[cold]
fn unknown_handle(handle: u64, what: &str) -> Refusal {
    Refusal::invalid(format!(
        "`{what}` is {handle:#x}, which is no string of the stream's domain: register it there"
    ))
}
