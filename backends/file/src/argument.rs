//! How fields are shown as arguments: their names, which fields are a level of their own, and which bytes are text.

use std::fmt::Write;

use nvtxw_backend::{EntryType, Field, FieldKind, Schema};

use crate::domains::scale;

/// The only field of a struct that is no more than this value, as NumPy's nested scalars and arrays are: it has no name of
/// its own, or that of its type.
pub(crate) fn only_value(schema: &Schema) -> Option<&Field> {
    let [field] = schema.fields() else {
        return None;
    };
    let is_nameless = field.name() == "field 0" || is_named_like_its_type(field);
    (is_nameless && !field.is_hidden()).then_some(field)
}

/// Returns true if a field is a struct that [stands for its value](only_value), or an array of such structs.
pub(crate) fn is_only_value(field: &Field) -> bool {
    matches!(field.kind(), FieldKind::Struct(schema) if only_value(schema).is_some())
}

fn is_named_like_its_type(field: &Field) -> bool {
    // NumPy's names of text and of bytes tell how many bits there are.
    let has_bits = |name: &str, bytes: usize| {
        let bits = field.name().strip_prefix(name).map(str::parse);
        matches!(bits, Some(Ok(bits)) if bytes.checked_mul(8) == Some(bits))
    };
    match field.kind() {
        FieldKind::Scalar(EntryType::Byte) => has_bits("bytes", field.count().unwrap_or(1)),
        FieldKind::Scalar(ty) => field.name() == ty.name(),
        FieldKind::Text(_) => has_bits("str", field.size()),
        FieldKind::Enum(_) | FieldKind::Struct(_) | FieldKind::Union(_) => false,
    }
}

/// Appends the name of the argument that a field is, if its unit is to be shown; `false`, and appends nothing, if the field has
/// none.
pub(crate) fn name_with_unit(field: &Field, out: &mut String) -> bool {
    let Some((unit, scale)) = unit(field) else {
        return false;
    };
    let name = field.name();
    // Strings take all.
    let _ = match scale {
        None => write!(out, "{name} ({unit})"),
        Some(scale) => write!(out, "{name} ({scale} {unit})"),
    };
    true
}

/// The unit of a field, or of the only value that it is, and what the value is multiplied by to be in it.
fn unit(field: &Field) -> Option<(&str, Option<String>)> {
    if let Some(semantics) = field.counter_semantics()
        && let Some(unit) = semantics.unit().filter(|unit| !unit.is_empty())
    {
        return Some((unit, scale(semantics)));
    }
    match field.kind() {
        FieldKind::Struct(schema) => only_value(schema).and_then(unit),
        _ => None,
    }
}

/// The text that an array of bytes holds, filled up with nulls as NumPy does it. `None` for bytes that are no text, or have
/// control characters.
pub(crate) fn text_of<'b>(field: &Field, bytes: &'b [u8]) -> Option<&'b str> {
    field.count()?;
    padded_text(bytes)
}

fn padded_text(bytes: &[u8]) -> Option<&str> {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |at| at + 1);
    let text = str::from_utf8(&bytes[..end]).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_if_only_nulls_follow() {
        assert_eq!(padded_text(b"gemm\0\0\0\0"), Some("gemm"));
        assert_eq!(padded_text("größe 한".as_bytes()), Some("größe 한"));
        assert_eq!(padded_text(b"\0\0"), Some(""));
        for bytes in [
            &b"a\0b"[..],
            b"\0\x01",
            b"a\n",
            b"\xff",
            b"\xed\x95",
            b"\x7f",
        ] {
            assert_eq!(padded_text(bytes), None, "{bytes:?}");
        }
    }
}
