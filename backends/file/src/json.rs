//! JSON text.

mod args;
mod names;

pub(crate) use self::args::{Args, ArgsState};
use crate::plain::Loaded;
use crate::proto::Writer;

/// The greatest integer up to which readers that take numbers for doubles tell all apart.
const SAFE: u64 = 1 << 53;

/// A string, in quotes.
pub(crate) fn text(text: &str, out: &mut Writer) {
    out.put(b"\"");
    let bytes = text.as_bytes();
    // Without a way out the loop takes many bytes at once.
    if bytes
        .iter()
        .fold(false, |any, byte| any | is_special(*byte))
    {
        escaped(bytes, out);
    } else {
        out.raw(bytes);
    }
    out.put(b"\"");
}

/// JSON allows a plain DEL; some readers of traces don't.
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7F
}

fn escaped(bytes: &[u8], out: &mut Writer) {
    let mut plain = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if !is_special(byte) {
            continue;
        }
        out.raw(&bytes[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.raw(b"\\\""),
            b'\\' => out.raw(b"\\\\"),
            b'\n' => out.raw(b"\\n"),
            b'\r' => out.raw(b"\\r"),
            b'\t' => out.raw(b"\\t"),
            _ => {
                out.raw(b"\\u00");
                out.raw(&hexadecimal_digits(byte));
            }
        }
    }
    out.raw(&bytes[plain..]);
}

/// Bytes, as a string `0x…`.
pub(crate) fn hexadecimal(bytes: &[u8], out: &mut Writer) {
    out.put(b"\"0x");
    for &byte in bytes {
        out.raw(&hexadecimal_digits(byte));
    }
    out.put(b"\"");
}

fn hexadecimal_digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 0xF].map(|digit| b"0123456789abcdef"[usize::from(digit)])
}

/// A number without quotes, however great.
pub(crate) fn digits(value: impl itoa::Integer, out: &mut Writer) {
    out.raw(itoa::Buffer::new().format(value).as_bytes());
}

/// An integer: a number, or a string of its digits if a double can't hold it.
pub(crate) fn signed(value: i64, out: &mut Writer) {
    integer(value, value.unsigned_abs() <= SAFE, out);
}

/// The same without a sign.
pub(crate) fn unsigned(value: u64, out: &mut Writer) {
    integer(value, value <= SAFE, out);
}

/// The same for 128 bits.
pub(crate) fn wide_signed(value: i128, out: &mut Writer) {
    integer(value, value.unsigned_abs() <= SAFE.into(), out);
}

/// The same for 128 bits without a sign.
pub(crate) fn wide_unsigned(value: u128, out: &mut Writer) {
    integer(value, value <= SAFE.into(), out);
}

fn integer(value: impl itoa::Integer, is_safe: bool, out: &mut Writer) {
    if is_safe {
        digits(value, out);
    } else {
        out.put(b"\"");
        digits(value, out);
        out.put(b"\"");
    }
}

/// The shortest number that is read back as this one; a string for what is no number in JSON.
pub(crate) fn float(value: impl Float, out: &mut Writer) {
    match value.unusual() {
        None => out.raw(zmij::Buffer::new().format_finite(value).as_bytes()),
        Some(text) => out.raw(text),
    }
}

/// Floating-point numbers: of 32 bits the shortest text is shorter.
pub(crate) trait Float: zmij::Float + Into<f64> + Copy {
    fn unusual(self) -> Option<&'static [u8]> {
        let value: f64 = self.into();
        match value {
            _ if value.is_finite() => None,
            f64::INFINITY => Some(b"\"Infinity\""),
            f64::NEG_INFINITY => Some(b"\"-Infinity\""),
            _ => Some(b"\"NaN\""),
        }
    }
}

impl Float for f32 {}
impl Float for f64 {}

/// An address: a string `0x…`.
pub(crate) fn address(value: u64, out: &mut Writer) {
    text(&format!("{value:#x}"), out);
}

/// A number of any kind.
#[inline]
pub(crate) fn number(value: Loaded, out: &mut Writer) {
    match value {
        Loaded::Signed(value) => signed(value, out),
        Loaded::Unsigned(value) => unsigned(value, out),
        Loaded::Address(value) => address(value, out),
        Loaded::Single(value) => float(value, out),
        Loaded::Double(value) => float(value, out),
    }
}

/// The nanoseconds from `start` to `end` as microseconds, exactly.
pub(crate) fn micros(start: i64, end: i64, out: &mut Writer) {
    if end < start {
        out.put(b"-");
    }
    let span = end.abs_diff(start);
    digits(span / 1000, out);
    let rest = span % 1000;
    let digit = |value: u64| (value % 10 + u64::from(b'0')) as u8;
    out.put(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer)) -> String {
        let mut out = Writer::default();
        write(&mut out);
        String::from_utf8(out.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn strings_are_escaped_strictly() {
        for (plain, want) in [
            ("", r#""""#),
            ("한강 kernel_0", r#""한강 kernel_0""#),
            ("\"\\\n\r\t", r#""\"\\\n\r\t""#),
            ("a\u{1}b\u{1f}\u{7f}c", r#""a\u0001b\u001f\u007fc""#),
            ("\0", r#""\u0000""#),
            ("/\u{2028}\u{fffd}", "\"/\u{2028}\u{fffd}\""),
        ] {
            assert_eq!(written(|out| text(plain, out)), want);
        }
    }

    #[test]
    fn bytes_are_hexadecimal() {
        let bytes = |out: &mut Writer| hexadecimal(&[0, 0xAB, 0xFF], out);
        assert_eq!(written(bytes), "\"0x00abff\"");
    }

    #[test]
    fn integers_that_doubles_do_not_hold_are_strings() {
        for (value, want) in [
            (0, "0"),
            (-1, "-1"),
            (1 << 53, "9007199254740992"),
            (-(1 << 53), "-9007199254740992"),
            ((1 << 53) + 1, "\"9007199254740993\""),
            (i64::MIN, "\"-9223372036854775808\""),
        ] {
            assert_eq!(written(|out| signed(value, out)), want);
            assert_eq!(written(|out| wide_signed(value.into(), out)), want);
        }
        let most = |out: &mut Writer| unsigned(u64::MAX, out);
        assert_eq!(written(most), "\"18446744073709551615\"");
        let most = |out: &mut Writer| wide_unsigned(u128::MAX, out);
        assert_eq!(written(most), "\"340282366920938463463374607431768211455\"");
    }

    #[test]
    fn floats_read_back_and_what_is_no_number_is_a_string() {
        for value in [
            0.0,
            -0.0,
            0.1,
            1.0,
            1e300,
            -5e-324,
            f64::MAX,
            1e16,
            123456789.125,
        ] {
            let text = written(|out| float(value, out));
            assert_eq!(
                text.parse::<f64>().unwrap().to_bits(),
                f64::to_bits(value),
                "{text}"
            );
            // A fraction or an exponent, no sign or point at an end: as JSON has it.
            assert!(text.contains(['.', 'e']), "{text}");
            assert!(text.ends_with(|last: char| last.is_ascii_digit()), "{text}");
        }
        assert_eq!(written(|out| float(0.1f32, out)), "0.1");
        assert_eq!(written(|out| float(f32::NAN, out)), "\"NaN\"");
        assert_eq!(written(|out| float(f64::INFINITY, out)), "\"Infinity\"");
        assert_eq!(
            written(|out| float(f64::NEG_INFINITY, out)),
            "\"-Infinity\""
        );
    }

    #[test]
    fn times_are_exact() {
        for (start, end, want) in [
            (0, 0, "0.000"),
            (0, 7, "0.007"),
            (0, -7, "-0.007"),
            (0, 1_700_000_000_123_456_789, "1700000000123456.789"),
            (0, i64::MIN, "-9223372036854775.808"),
            (i64::MIN, i64::MAX, "18446744073709551.615"),
            (i64::MAX, i64::MIN, "-18446744073709551.615"),
        ] {
            assert_eq!(written(|out| micros(start, end, out)), want);
        }
    }
}
