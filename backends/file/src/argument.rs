//! How fields are shown as arguments: their names, and which bytes are text.

use std::fmt::Write;

use nvtxw_backend::Field;

use crate::domains::scale;

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

/// The unit of a field, and what the value is multiplied by to be in it.
fn unit(field: &Field) -> Option<(&str, Option<String>)> {
    let semantics = field.counter_semantics()?;
    let unit = semantics.unit().filter(|unit| !unit.is_empty())?;
    Some((unit, scale(semantics)))
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
