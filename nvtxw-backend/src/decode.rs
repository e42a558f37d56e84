//! The decoder: from the bytes of a payload to typed values.

use bytemuck::AnyBitPattern;
use nvtxw_abi::EntryType;

use crate::domain::Domain;
use crate::refusal::{Refusal, Result};
use crate::schema::{Field, FieldKind, Schema};
use crate::value::{Value, Visitor};

/// The value of type `T` at `offset`, aligned or not.
#[inline]
pub(crate) fn read<T: AnyBitPattern>(bytes: &[u8], offset: usize) -> T {
    bytemuck::pod_read_unaligned(&bytes[offset..offset + size_of::<T>()])
}

/// What comes before the first null.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Shows the fields of `schema` that `shown` lets through. `bytes` are at least `schema.size()`; for a payload of a predefined
/// type, a whole number of elements.
pub(crate) fn visit_fields<V: Visitor>(
    schema: &Schema,
    bytes: &[u8],
    domain: &Domain,
    shown: impl Fn(&Field) -> bool,
    visitor: &mut V,
) {
    for field in schema.fields().iter().filter(|field| shown(field)) {
        visit_field(field, field.count, bytes, domain, visitor);
    }
}

/// Shows `field`; an array of `count` elements, if that is something.
#[inline]
pub(crate) fn visit_field<V: Visitor>(
    field: &Field,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
    visitor: &mut V,
) {
    let bytes = &bytes[field.offset..];
    match (&field.kind, count) {
        (FieldKind::Scalar(ty), None) => visitor.value(field, scalar(*ty, bytes, domain)),
        _ => visit_compound(field, count, bytes, domain, visitor),
    }
}

/// Shows a field that is not just a scalar; `bytes` start with it.
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
        FieldKind::FixedString(..) => visitor.value(field, Value::Text(text(&bytes[..field.size]))),
        FieldKind::Text => visitor.value(field, Value::Text(text(bytes))),
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
    }
}

/// The value of a predefined type. Of a type that is not decoded (none such is registered) its bytes.
#[inline]
fn scalar<'a>(ty: EntryType, bytes: &'a [u8], domain: &'a Domain) -> Value<'a> {
    match ty {
        EntryType::Int8 => Value::I64(read::<i8>(bytes, 0).into()),
        EntryType::Int16 => Value::I64(read::<i16>(bytes, 0).into()),
        EntryType::Int32 => Value::I64(read::<i32>(bytes, 0).into()),
        EntryType::Int64 => Value::I64(read(bytes, 0)),
        EntryType::UInt64 => Value::U64(read(bytes, 0)),
        EntryType::Int128 => Value::I128(read(bytes, 0)),
        EntryType::UInt128 => Value::U128(read(bytes, 0)),
        EntryType::Float | EntryType::Float32 => Value::F32(read(bytes, 0)),
        EntryType::Double | EntryType::Float64 => Value::F64(read(bytes, 0)),
        EntryType::Float16 => Value::F32(from_f16(read(bytes, 0))),
        EntryType::BFloat16 => Value::F32(f32::from_bits(u32::from(read::<u16>(bytes, 0)) << 16)),
        EntryType::Short | EntryType::Int | EntryType::Long | EntryType::LongLong => {
            let size = width(ty);
            let shift = 64 - 8 * size as u32;
            Value::I64(((unsigned(bytes, size) << shift) as i64) >> shift)
        }
        EntryType::Char
        | EntryType::Char8
        | EntryType::Char16
        | EntryType::Char32
        | EntryType::WChar => Value::Char(unsigned(bytes, width(ty)) as u32),
        EntryType::Address => Value::Address(read(bytes, 0)),
        EntryType::RegisteredString => Value::Registered(domain.registered(read(bytes, 0))),
        EntryType::UChar
        | EntryType::UShort
        | EntryType::UInt
        | EntryType::ULong
        | EntryType::ULongLong
        | EntryType::UInt8
        | EntryType::UInt16
        | EntryType::UInt32
        | EntryType::Size
        | EntryType::RangeId
        | EntryType::Category
        | EntryType::ColorArgb
        | EntryType::ScopeId
        | EntryType::PidUInt32
        | EntryType::PidUInt64
        | EntryType::TidUInt32
        | EntryType::TidUInt64 => Value::U64(unsigned(bytes, width(ty))),
        EntryType::Byte
        | EntryType::LongDouble
        | EntryType::Float128
        | EntryType::TensorFloat32
        | EntryType::CString
        | EntryType::CStringUtf8
        | EntryType::CStringUtf16
        | EntryType::CStringUtf32
        | EntryType::UnionSelector => Value::Bytes(&bytes[..width(ty)]),
    }
}

#[inline]
fn width(ty: EntryType) -> usize {
    ty.layout().map_or(0, |(size, _)| size)
}

/// An unsigned integer of 1, 2, 4 or 8 bytes.
#[inline]
fn unsigned(bytes: &[u8], size: usize) -> u64 {
    match size {
        1 => read::<u8>(bytes, 0).into(),
        2 => read::<u16>(bytes, 0).into(),
        4 => read::<u32>(bytes, 0).into(),
        _ => read(bytes, 0),
    }
}

/// IEEE 754 binary16, exactly.
fn from_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1F), u32::from(bits & 0x3FF));
    let magnitude = match exponent {
        // Subnormal: the fraction counts steps of 2^-24.
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        0x1F => f32::from_bits(0xFF << 23 | fraction << 13),
        _ => f32::from_bits((exponent + 127 - 15) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | u32::from(bits >> 15) << 31)
}

/// Inside a struct all fields are shown.
fn all(_: &Field) -> bool {
    true
}

/// Refuses bytes in which a registered string that would be shown is none of this domain's.
pub(crate) fn check_handles(
    schema: &Schema,
    count: Option<usize>,
    bytes: &[u8],
    domain: &Domain,
    shown: impl Fn(&Field) -> bool,
) -> Result<()> {
    for field in schema
        .fields()
        .iter()
        .filter(|field| field.has_handles && shown(field))
    {
        let elements = bytes[field.offset..].chunks_exact(field.size);
        for element in elements.take(count.or(field.count).unwrap_or(1)) {
            match &field.kind {
                FieldKind::Struct(inner) => check_handles(inner, None, element, domain, all)?,
                _ => check_handle(read(element, 0), field.name(), domain)?,
            }
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

#[cfg(test)]
mod tests {
    use super::{from_f16, text};

    #[test]
    fn half_floats_are_exact() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 2f32.powi(-24)),
            (0x03FF, 1023.0 * 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x7C00, f32::INFINITY),
            (0xFC00, f32::NEG_INFINITY),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(from_f16(bits), value, "{bits:#x}");
        }
        assert!(from_f16(0x7E00).is_nan());
        assert!(from_f16(0x8000).is_sign_negative());
    }

    #[test]
    fn text_ends_before_the_first_null() {
        assert_eq!(text(b"ab\0cd"), b"ab");
        assert_eq!(text(b"abc"), b"abc");
        assert_eq!(text(b"\0abc"), b"");
        assert_eq!(text(b""), b"");
    }
}
