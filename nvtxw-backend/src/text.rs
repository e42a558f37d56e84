//! Text in payloads, in all encodings.

use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt;

use nvtxw_abi::EntryType;

use crate::value::Value;

/// Text of 16-bit or 32-bit code units, where the producer has it. Displays as the text; what is no character is U+FFFD.
///
/// An array of texts of fixed length, such as NumPy's arrays of `U4`, is one text with nulls between those that are shorter;
/// each run of nulls displays as a comma.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WideText<'a> {
    /// Bytes of a unit: 2 or 4.
    unit: usize,
    bytes: &'a [u8],
}

impl<'a> WideText<'a> {
    /// Bytes of one code unit: 2 for UTF-16, 4 for UTF-32.
    pub fn unit_size(self) -> usize {
        self.unit
    }

    /// The code units. They are meant to be UTF-16 or UTF-32; they may not be.
    pub fn units(self) -> impl Iterator<Item = u32> + use<'a> {
        self.bytes.chunks_exact(self.unit).map(|unit| match *unit {
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]),
            _ => 0,
        })
    }

    /// The characters, with U+FFFD for what is none.
    pub fn chars(self) -> impl Iterator<Item = char> + use<'a> {
        let mut units = self.units().peekable();
        std::iter::from_fn(move || {
            let unit = units.next()?;
            let low = |unit: &u32| (0xDC00..0xE000).contains(unit);
            let code = match unit {
                0xD800..0xDC00 if self.unit == 2 => match units.next_if(low) {
                    Some(low) => 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                    None => unit,
                },
                unit => unit,
            };
            Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
        })
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether there is no code unit.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }
}

impl fmt::Display for WideText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;

        let mut chars = self.chars().peekable();
        while let Some(character) = chars.next() {
            match character {
                '\0' if chars.peek() == Some(&'\0') => {}
                '\0' => f.write_str(", ")?,
                character => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for WideText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.chars() {
            character
                .escape_debug()
                .try_for_each(|part| fmt::Write::write_char(f, part))?;
        }
        f.write_str("\"")
    }
}

/// Text from C, with U+FFFD for what is not UTF-8.
pub(crate) fn lossy(text: Option<&CStr>) -> Option<Cow<'_, str>> {
    text.map(CStr::to_string_lossy)
}

/// Bytes of one code unit of text of this type.
#[inline]
pub(crate) fn unit_size(ty: EntryType) -> usize {
    match ty {
        EntryType::CStringUtf16 => 2,
        EntryType::CStringUtf32 => 4,
        _ => 1,
    }
}

/// How many bytes come before the first unit of all zero bytes; units that are cut off at the end don't count.
#[inline]
pub(crate) fn find_null(bytes: &[u8], unit: usize) -> Option<usize> {
    if unit != 1 {
        return find_wide_null(bytes, unit);
    }
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().position(|byte| *byte == 0);
    };
    // Eight at a time.
    let null = |word: &[u8; 8]| {
        let nulls = nulls(word);
        (nulls != 0).then(|| nulls.trailing_zeros() as usize / 8)
    };
    let (words, _) = bytes.as_chunks();
    for (index, word) in words.iter().enumerate() {
        if let Some(at) = null(word) {
            return Some(index * 8 + at);
        }
    }
    // Those that are looked at once more are none.
    null(last).map(|at| bytes.len() - 8 + at)
}

#[inline(never)]
fn find_wide_null(bytes: &[u8], unit: usize) -> Option<usize> {
    let is_null = |unit: &[u8]| unit.iter().all(|byte| *byte == 0);
    let units = bytes.chunks_exact(unit).position(is_null)?;
    Some(units * unit)
}

/// What comes before the first null, in whole units.
#[inline]
pub(crate) fn before_null(ty: EntryType, bytes: &[u8]) -> &[u8] {
    units_before_null(unit_size(ty), bytes)
}

/// Returns what comes before the nulls at the end, in whole units.
pub(crate) fn before_last_nulls(ty: EntryType, bytes: &[u8]) -> &[u8] {
    let unit = unit_size(ty);
    let mut units = bytes.chunks_exact(unit);
    let last = units.rposition(|unit| unit.iter().any(|byte| *byte != 0));
    &bytes[..last.map_or(0, |last| (last + 1) * unit)]
}

/// The same by the bytes of a unit.
#[inline(always)]
pub(crate) fn units_before_null(unit: usize, bytes: &[u8]) -> &[u8] {
    match unit == 1 && is_short_without_null(bytes) {
        true => bytes,
        false => up_to_null(unit, bytes),
    }
}

/// Whether it is as short as most texts are, and has no null: few have one.
#[inline(always)]
fn is_short_without_null(bytes: &[u8]) -> bool {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => nulls(first) | nulls(last) == 0,
        _ => false,
    }
}

#[inline(never)]
fn up_to_null(unit: usize, bytes: &[u8]) -> &[u8] {
    let len = find_null(bytes, unit).unwrap_or(bytes.len() / unit * unit);
    &bytes[..len]
}

/// 0 if there is no null; else the top bit of the first one is the lowest bit that is set.
#[inline(always)]
fn nulls(word: &[u8; 8]) -> u64 {
    let word = u64::from_le_bytes(*word);
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

/// Text of this type.
#[inline]
pub(crate) fn value(ty: EntryType, bytes: &[u8]) -> Value<'_> {
    of_units(unit_size(ty), bytes)
}

/// Text of units of so many bytes.
#[inline]
pub(crate) fn of_units(unit: usize, bytes: &[u8]) -> Value<'_> {
    match unit {
        1 => Value::Text(bytes),
        unit => Value::Wide(WideText { unit, bytes }),
    }
}

#[cfg(test)]
mod tests {
    use nvtxw_abi::EntryType;

    use super::{WideText, before_last_nulls, before_null, find_null};

    #[test]
    fn text_ends_before_the_first_null() {
        for len in 0..40 {
            for at in 0..=len {
                let mut bytes = vec![b'a'; len];
                bytes[at..].fill(0);
                assert_eq!(before_null(EntryType::CString, &bytes), &bytes[..at]);
            }
        }
        let narrow = |bytes| before_null(EntryType::CStringUtf8, bytes);
        assert_eq!(narrow(b"ab\0cd"), b"ab");
        assert_eq!(narrow(b"abc"), b"abc");
        assert_eq!(narrow(b"\0abc"), b"");
        assert_eq!(narrow(b""), b"");
        // Two nulls are a unit only where one may be.
        assert_eq!(
            before_null(EntryType::CStringUtf16, b"a\0\0b\0\0c\0"),
            b"a\0\0b"
        );
        assert_eq!(before_null(EntryType::CStringUtf16, b"a\0b"), b"a\0");
        assert_eq!(
            before_null(EntryType::CStringUtf32, b"a\0\0\0b\0\0\0\0\0\0\0"),
            b"a\0\0\0b\0\0\0"
        );
    }

    #[test]
    fn the_first_null_is_found_wherever_it_is() {
        for len in 0..40 {
            let mut bytes = vec![0x80; len];
            assert_eq!(find_null(&bytes, 1), None);
            for at in (0..len).rev() {
                bytes[at] = 0;
                assert_eq!(find_null(&bytes, 1), Some(at));
                // What is one more than zero is not taken for it.
                bytes[..at].fill(1);
                assert_eq!(find_null(&bytes, 1), Some(at));
            }
        }
    }

    #[test]
    fn nulls_between_texts_display_as_commas() {
        let utf32 = |text: &str| -> String {
            let units = text.chars().map(u32::from);
            let bytes: Vec<u8> = units.flat_map(u32::to_ne_bytes).collect();
            let bytes = before_last_nulls(EntryType::CStringUtf32, &bytes);
            WideText { unit: 4, bytes }.to_string()
        };
        assert_eq!(utf32("ab\0\0cde\0wxyz"), "ab, cde, wxyz");
        assert_eq!(utf32("\0b\0\0"), ", b");
        assert_eq!(utf32("\0\0"), "");
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        let utf16 = |units: &[u16]| {
            let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_ne_bytes()).collect();
            WideText {
                unit: 2,
                bytes: &bytes,
            }
            .to_string()
        };
        assert_eq!(utf16(&[0x61, 0xD83E, 0xDD80, 0xD55C]), "a🦀한");
        assert_eq!(utf16(&[0xD83E, 0x61]), "\u{FFFD}a");
        assert_eq!(utf16(&[0xDD80, 0xD83E]), "\u{FFFD}\u{FFFD}");
        let utf32: Vec<u8> = [0x1F980_u32, 0xD800, 0x11_0000, 0x61]
            .iter()
            .flat_map(|unit| unit.to_ne_bytes())
            .collect();
        let utf32 = WideText {
            unit: 4,
            bytes: &utf32,
        };
        assert_eq!(utf32.to_string(), "🦀\u{FFFD}\u{FFFD}a");
        assert_eq!(format!("{utf32:?}"), "\"🦀\u{FFFD}\u{FFFD}a\"");
    }
}
