//! Finds where the values of JSON are. It doesn't tell what is wrong with other text: `serde_json` does.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::columns::string;

/// A member of an object.
pub struct Member<'t> {
    /// As it stands between the quotes.
    raw_name: &'t str,
    is_escaped: bool,
    pub value: &'t str,
}

impl<'t> Member<'t> {
    /// What stands between the quotes of its name, and whether there are escapes in it.
    #[inline]
    pub fn raw_name(&self) -> (&'t str, bool) {
        (self.raw_name, self.is_escaped)
    }

    /// Made of that again.
    #[inline]
    pub fn new((raw_name, is_escaped): (&'t str, bool), value: &'t str) -> Self {
        Self {
            raw_name,
            is_escaped,
            value,
        }
    }

    #[inline]
    pub fn name(&self) -> Cow<'t, str> {
        match self.is_escaped {
            false => Cow::Borrowed(self.raw_name),
            true => self.unescaped(),
        }
    }

    #[cold]
    fn unescaped(&self) -> Cow<'t, str> {
        let quoted = format!("\"{}\"", self.raw_name);
        let name = string(&quoted);
        Cow::Owned(name.expect("it was scanned as a string").into_owned())
    }
}

/// Hands each member of the object that `text` begins with to `each`, and gives the object's length. `None`: it is no JSON, or
/// ends behind `text`.
pub fn members<'t>(text: &'t str, mut each: impl FnMut(Member<'t>)) -> Option<usize> {
    let mut scan = Scan { text, at: 0 };
    scan.object(|scan| {
        each(scan.member(|scan, _| scan.value(0))?);
        Some(())
    })?;
    Some(scan.at)
}

/// The same, and before an object of the name `outer` come its own members.
pub fn members_and_inner<'t>(
    text: &'t str,
    outer: &str,
    mut each: impl FnMut(Level, Member<'t>),
) -> Option<usize> {
    let mut scan = Scan { text, at: 0 };
    scan.object(|scan| {
        let member = scan.member(|scan, name| {
            if name != outer || scan.peek() != b'{' {
                return scan.value(0);
            }
            scan.object(|scan| {
                each(Level::Inner, scan.member(|scan, _| scan.value(1))?);
                Some(())
            })
        })?;
        each(Level::Outer, member);
        Some(())
    })?;
    Some(scan.at)
}

/// Which object a member is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Outer,
    Inner,
}

/// What nests deeper is found without a stack.
const MAX_DEPTH: usize = 64;

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    /// A member, whose value `value` finds by its name as it stands.
    #[inline]
    fn member(
        &mut self,
        value: impl FnOnce(&mut Self, &'t str) -> Option<()>,
    ) -> Option<Member<'t>> {
        let text = self.text;
        let start = self.at;
        let is_escaped = self.string()?;
        let raw_name = text.get(start + 1..self.at - 1)?;
        self.colon()?;
        let start = self.at;
        value(self, raw_name)?;
        Some(Member {
            raw_name,
            is_escaped,
            value: text.get(start..self.at)?,
        })
    }

    /// The next byte; NUL, which is nowhere in JSON, at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip(&mut self, byte: u8) -> Option<()> {
        if self.peek() == byte {
            self.at += 1;
            return Some(());
        }
        None
    }

    #[inline]
    fn blanks(&mut self) {
        // Mostly there is none, or one.
        while self.peek() <= b' ' && matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.skip(b':')?;
        self.blanks();
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number(),
            b'{' | b'[' if depth == MAX_DEPTH => self.deep(),
            b'{' => self.object(|scan| {
                scan.string()?;
                scan.colon()?;
                scan.value(depth + 1)
            }),
            b'[' => self.items(b'[', b']', |scan| scan.value(depth + 1)),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => None,
        }
    }

    #[cold]
    fn deep(&mut self) -> Option<()> {
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter();
        let _: &RawValue = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_here = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_here.then_some(())
    }

    #[inline]
    fn object(&mut self, member: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.items(b'{', b'}', member)
    }

    /// What stands between two brackets, with commas.
    #[inline]
    fn items(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.skip(open)?;
        self.blanks();
        if self.peek() == close {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            self.blanks();
            let next = self.peek();
            self.at += 1;
            match next {
                b',' => self.blanks(),
                _ if next == close => return Some(()),
                _ => return None,
            }
        }
    }

    /// Whether there is an escape in it.
    fn string(&mut self) -> Option<bool> {
        self.skip(b'"')?;
        let bytes = self.text.as_bytes();
        let mut is_escaped = false;
        loop {
            // Most strings are that short: a branch for each eight bytes would be guessed wrong more often.
            while let Some(sixteen) = bytes[self.at..].first_chunk() {
                let [first, second] = halves(sixteen).map(special);
                let len = match first {
                    0 => 64 + second.trailing_zeros(),
                    _ => first.trailing_zeros(),
                };
                self.at += (len / 8) as usize;
                if first | second != 0 {
                    break;
                }
            }
            let &byte = bytes.get(self.at)?;
            if byte == b'"' {
                self.at += 1;
                return Some(is_escaped);
            }
            match byte {
                b'\\' => {
                    is_escaped = true;
                    self.at += match bytes.get(self.at + 1)? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                        b'u' => {
                            let digits = bytes.get(self.at + 2..self.at + 6)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
                        }
                        _ => return None,
                    };
                }
                0..b' ' => return None,
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// One or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&eight) = bytes[self.at..].first_chunk() {
            let others = no_digit(u64::from_le_bytes(eight));
            self.at += (others.trailing_zeros() / 8) as usize;
            if others != 0 {
                return (self.at > start).then_some(());
            }
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

fn halves(sixteen: &[u8; 16]) -> [u64; 2] {
    let all = u128::from_le_bytes(*sixteen);
    [all as u64, (all >> 64) as u64]
}

/// Has the highest bit of each byte that is no digit.
fn no_digit(eight: u64) -> u64 {
    let digits = eight ^ (ONES * u64::from(b'0'));
    let from_ten = (digits & (ONES * 0x7f)) + ONES * (0x80 - 10);
    (from_ten | digits) & (ONES << 7)
}

/// Has the highest bit of the first byte that is a quote, a backslash or a control character; bytes behind that one may have it
/// too. 0: there is none.
fn special(eight: u64) -> u64 {
    let is_below = |bytes: u64, limit: u64| bytes.wrapping_sub(ONES * limit) & !bytes;
    let is = |byte: u8| is_below(eight ^ (ONES * u64::from(byte)), 1);
    (is_below(eight, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    fn len(text: &str) -> Option<usize> {
        members(text, drop)
    }

    #[test]
    fn members_are_found_as_they_stand() {
        let text = r#"{ "a" : -0.5E+2 ,"b\t\u00e4":"x\"{\ud800" , "\ud800":[ ], "c":{"d":[1,{}], "e":null},
            "long enough for sixteen bytes":"äääääää" } behind"#;
        let mut found = Vec::new();
        let len = members(text, |member| {
            found.push((member.name().into_owned(), member.value));
        });
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (&**name, *value))
            .collect();
        assert_eq!(
            found,
            [
                ("a", "-0.5E+2"),
                ("b\tä", r#""x\"{\ud800""#),
                ("\u{FFFD}", "[ ]"),
                ("c", r#"{"d":[1,{}], "e":null}"#),
                ("long enough for sixteen bytes", r#""äääääää""#),
            ]
        );
        assert_eq!(&text[len.unwrap()..], " behind");
        assert_eq!(members("{}", drop), Some(2));
    }

    /// Beginnings of texts, with some byte near the end changed.
    #[test]
    fn what_serde_json_refuses_is_refused() {
        let texts = [
            r#"{"a":[true,false,null,-0.5e-2,01,1.,.5,1e,+1],"b":{"c":"d\n\u12fg","e":{}},}"#,
            r#"{"a":[1,2,[3,[]]],"b":{"c":"d\n\u12f0","e":{}},"f":-10.25E+3,"g":true}"#,
            r#"{"seven b":"exactly8","":"0123456789abcdef01234567","x":[{},[{"y":0}]]}"#,
        ];
        let mut accepted = 0;
        for text in texts {
            for end in 1..=text.len() {
                for at in end.saturating_sub(9).max(1)..end {
                    for byte in *b"\"\\{}[],:-0e. \x1f\x00\x7ftu" {
                        let mut changed = text.as_bytes()[..end].to_vec();
                        changed[at] = byte;
                        let changed = str::from_utf8(&changed).unwrap();
                        let mut values = serde_json::Deserializer::from_str(changed).into_iter();
                        let value: Option<Result<IgnoredAny, _>> = values.next();
                        let want = value.unwrap().is_ok().then(|| values.byte_offset());
                        assert_eq!(len(changed), want, "{changed}");
                        accepted += usize::from(want.is_some());
                    }
                }
            }
        }
        assert!(accepted > 20, "{accepted}");
    }

    #[test]
    fn nesting_has_no_limit() {
        for depth in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 100_000] {
            let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let text = format!(r#"{{"a":{value}}}"#);
            assert_eq!(len(&text), Some(text.len()));
            assert_eq!(len(&text[..text.len() - 2]), None);
        }
    }
}
