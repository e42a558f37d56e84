//! Finds where the values of JSON are, also of text that is not quite JSON.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::columns::string;
use super::decimal::float_word;

/// Where something is in a text, so that it goes to another thread with it.
#[derive(Clone, Copy, Default)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    #[inline]
    fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            len: (end - start) as u32,
        }
    }

    #[inline]
    pub fn of(self, text: &str) -> &str {
        let start = self.start as usize;
        &text[start..start + self.len as usize]
    }
}

/// A member of an object.
#[derive(Clone, Copy)]
pub struct Member {
    name: Name,
    pub value: Span,
}

/// What stands between the quotes of a name.
#[derive(Clone, Copy)]
struct Name {
    span: Span,
    is_escaped: bool,
}

impl Name {
    #[inline]
    fn bytes(self, text: &str) -> &[u8] {
        let Span { start, len } = self.span;
        &text.as_bytes()[start as usize..][..len as usize]
    }
}

impl Member {
    /// Its name, unless that has escapes.
    #[inline]
    pub fn plain_name<'t>(&self, text: &'t str) -> Option<&'t [u8]> {
        (!self.name.is_escaped).then(|| self.name.bytes(text))
    }

    #[inline]
    pub fn name<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let name = self.name.span.of(text);
        match self.name.is_escaped {
            false => Cow::Borrowed(name),
            true => unescaped(name),
        }
    }
}

#[cold]
fn unescaped(name: &str) -> Cow<'_, str> {
    let quoted = format!("\"{name}\"");
    let name = string(&quoted);
    Cow::Owned(name.expect("it was scanned as a string").into_owned())
}

/// Text that is no JSON, but whose meaning is clear enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    Comma,
    Control,
    Escape,
    Float,
    NoValue,
}

impl Oddity {
    /// The warning.
    pub fn warning(self) -> &'static str {
        match self {
            Self::Comma => "a comma before a closing bracket is passed over",
            Self::Control => {
                "control characters in strings, for which JSON has escapes, are taken as they are"
            }
            Self::Escape => "escapes that JSON doesn't have are taken as they are",
            Self::Float => {
                "`NaN`, `Infinity` and the like, for which JSON has no words, are taken as floats"
            }
            Self::NoValue => "a value that is no JSON is left out",
        }
    }
}

/// Hands each member of the object that `text` begins with to `each`. Gives the object's length, or where in `text` it is no
/// object; if that is at its end, more text may help.
pub fn members(text: &str, mut each: impl FnMut(Member)) -> Result<usize, usize> {
    let mut scan = Scan::new(text, 0);
    let found = scan.object(|scan| {
        let name = scan.name()?;
        each(scan.member(name, |scan| scan.value(0))?);
        Some(())
    });
    found.map(|()| scan.at).ok_or(scan.at)
}

/// The end of the value that begins at `start`, or where it is none, as [`members`] tells them.
pub fn value(text: &str, start: usize, odd: &mut Vec<(Oddity, usize)>) -> Result<usize, usize> {
    let mut scan = Scan::new(text, start);
    let found = scan.value(0);
    odd.append(&mut scan.odd);
    found.map(|()| scan.at).ok_or(scan.at)
}

/// The same as [`members`] of the object that begins at `start`, whose end it gives. Before an object of the name `outer` come its
/// own members.
pub fn members_and_inner(
    text: &str,
    start: usize,
    known: &mut KnownNames,
    outer: &[u8],
    mut each: impl FnMut(Level, Member),
) -> Result<usize, usize> {
    let mut scan = Scan::new(text, start);
    let found = scan.object(|scan| {
        let name = scan.known_name(known)?;
        let member = scan.member(name, |scan| {
            if scan.peek() != b'{' || name.bytes(text) != outer {
                return scan.value(0);
            }
            scan.object(|scan| {
                let name = scan.known_name(known)?;
                each(Level::Inner, scan.member(name, |scan| scan.value(1))?);
                Some(())
            })
        })?;
        each(Level::Outer, member);
        Some(())
    });
    if found.is_none() {
        return Err(scan.at);
    }
    if !scan.odd.is_empty() {
        known.odd.append(&mut scan.odd);
    }
    Ok(scan.at)
}

/// Which object a member is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Outer,
    Inner,
}

/// Names that were met, each at a place that its first bytes tell. Most names are among them, and then they are compared at once
/// and not scanned.
pub struct KnownNames {
    names: [KnownName; 256],
    /// Oddities of the objects that were scanned, with their places.
    pub odd: Vec<(Oddity, usize)>,
}

#[derive(Clone, Copy)]
struct KnownName {
    /// What stands from the quote before the name to its value, and which bits that is.
    text: u128,
    mask: u128,
    len: u8,
    name_len: u8,
}

impl Default for KnownNames {
    fn default() -> Self {
        // No text is like this one.
        let unlike = KnownName {
            text: 1,
            mask: 0,
            len: 0,
            name_len: 0,
        };
        Self {
            names: [unlike; 256],
            odd: Vec::new(),
        }
    }
}

impl KnownNames {
    /// By the quote and four bytes.
    #[inline]
    fn place(text: u128) -> usize {
        let first = (text as u64) << 24;
        (first.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as usize
    }

    #[inline]
    fn find(&self, text: u128) -> Option<KnownName> {
        let known = self.names[Self::place(text)];
        (text & known.mask == known.text).then_some(known)
    }

    fn add(&mut self, text: u128, len: usize, name: Name) {
        if len > 16 || name.is_escaped {
            return;
        }
        let mask = u128::MAX >> (128 - 8 * len);
        self.names[Self::place(text)] = KnownName {
            text: text & mask,
            mask,
            len: len as u8,
            name_len: name.span.len as u8,
        };
    }
}

/// What nests deeper is found without a stack.
const MAX_DEPTH: usize = 64;

/// Where it finds no JSON, it stops there; at the end of the text, if more of that may help.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    odd: Vec<(Oddity, usize)>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            odd: Vec::new(),
        }
    }

    /// Goes to the value of a member, whose name it gives.
    #[inline]
    fn name(&mut self) -> Option<Name> {
        let start = self.at + 1;
        let is_escaped = self.string()?;
        let span = Span::new(start, self.at - 1);
        self.colon()?;
        Some(Name { span, is_escaped })
    }

    #[inline(always)]
    fn known_name(&mut self, known: &mut KnownNames) -> Option<Name> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..)?;
        if let Some(sixteen) = rest.first_chunk()
            && let Some(found) = known.find(u128::from_le_bytes(*sixteen))
        {
            self.at += usize::from(found.len);
            self.blanks();
            let (start, len) = (start as u32 + 1, found.name_len.into());
            return Some(Name {
                span: Span { start, len },
                is_escaped: false,
            });
        }
        self.new_name(known)
    }

    #[inline(never)]
    fn new_name(&mut self, known: &mut KnownNames) -> Option<Name> {
        let start = self.at;
        let name = self.name()?;
        let text = &self.text.as_bytes()[start..];
        if let Some(sixteen) = text.first_chunk() {
            known.add(u128::from_le_bytes(*sixteen), self.at - start, name);
        }
        Some(name)
    }

    /// The member of that name, whose value `value` finds.
    #[inline]
    fn member(
        &mut self,
        name: Name,
        value: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<Member> {
        let start = self.at;
        value(self)?;
        let value = Span::new(start, self.at);
        Some(Member { name, value })
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

    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.skip(b':')?;
        self.blanks();
        Some(())
    }

    #[inline(always)]
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.rare(depth),
        }
    }

    /// A value that is no string and no number.
    fn rare(&mut self, depth: usize) -> Option<()> {
        match self.peek() {
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
            _ => self.odd_value(self.at),
        }
    }

    /// A word that JSON doesn't have, from `start` on.
    #[cold]
    fn odd_value(&mut self, start: usize) -> Option<()> {
        let rest = &self.text[start..];
        let is_end = |c: char| matches!(c, ',' | '}' | ']' | '{' | '[' | ':' | '"') || c < ' ';
        let Some(end) = rest.find(is_end) else {
            self.at = self.text.len();
            return None;
        };
        let word = rest[..end].trim_end();
        self.at = start + word.len();
        if word.is_empty() {
            return None;
        }
        let oddity = match float_word(word) {
            Some(_) => Oddity::Float,
            None => Oddity::NoValue,
        };
        self.odd.push((oddity, start));
        Some(())
    }

    #[cold]
    fn deep(&mut self) -> Option<()> {
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter();
        let value: Result<&RawValue, _> = values.next()?;
        match &value {
            Ok(_) => self.at += values.byte_offset(),
            Err(error) if error.is_eof() => self.at = self.text.len(),
            Err(_) => {}
        }
        value.ok().map(drop)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.odd_value(self.at);
        }
        self.at += word.len();
        Some(())
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
            if next != b',' && next != close {
                return None;
            }
            self.at += 1;
            if next == close {
                return Some(());
            }
            self.blanks();
            if self.peek() == close {
                self.odd.push((Oddity::Comma, self.at));
                self.at += 1;
                return Some(());
            }
        }
    }

    /// Whether there is an escape in it.
    #[inline(always)]
    fn string(&mut self) -> Option<bool> {
        self.skip(b'"')?;
        let bytes = self.text.as_bytes();
        // Most strings are that short: a branch for each eight bytes would be guessed wrong more often.
        if let Some(sixteen) = bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            self.at += plain(sixteen);
            if self.peek() == b'"' {
                self.at += 1;
                return Some(false);
            }
        }
        self.string_on()
    }

    /// The rest of a string.
    fn string_on(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        let mut is_escaped = false;
        loop {
            while let Some(sixteen) = bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
                let len = plain(sixteen);
                self.at += len;
                if len < sixteen.len() {
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
                    let rest = &bytes[self.at + 1..];
                    let needed = if rest.first() == Some(&b'u') { 5 } else { 1 };
                    if rest.len() < needed {
                        self.at = bytes.len();
                        return None;
                    }
                    let is_good = match rest[0] {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => true,
                        b'u' => rest[1..5].iter().all(u8::is_ascii_hexdigit),
                        _ => false,
                    };
                    if !is_good {
                        self.odd.push((Oddity::Escape, self.at));
                    }
                    // The character after a bad escape may be no ASCII, or a quote.
                    self.at += match is_good {
                        true => 1 + needed,
                        false => 1,
                    };
                }
                0..b' ' => {
                    self.odd.push((Oddity::Control, self.at));
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }

    #[inline(always)]
    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.decimal().is_some() && !is_of_word(self.peek()) {
            return Some(());
        }
        match self.at < self.text.len() {
            true => self.odd_value(start),
            false => None,
        }
    }

    #[inline(always)]
    fn decimal(&mut self) -> Option<()> {
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
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&eight) = bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
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

/// Returns true if a number that JSON does not have continues there: `01`, `0x1f`, `1.#INF`, `nan(ind)`.
#[inline(always)]
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'#' | b'+' | b'-' | b'(')
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// How many bytes stand before the first that is a quote, a backslash or a control character.
#[inline]
fn plain(sixteen: &[u8; 16]) -> usize {
    let all = u128::from_le_bytes(*sixteen);
    let [first, second] = [all as u64, (all >> 64) as u64].map(special);
    let bits = match first {
        0 => 64 + second.trailing_zeros(),
        _ => first.trailing_zeros(),
    };
    (bits / 8) as usize
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
    let is_below = |bytes: u64, limit: u8| bytes.wrapping_sub(ONES * u64::from(limit)) & !bytes;
    let other = |byte: u8| eight ^ (ONES * u64::from(byte));
    // A quote is 0x20 then, and what was below that still is.
    (is_below(other(b'"' ^ b' '), b' ' + 1) | is_below(other(b'\\'), 1)) & (ONES << 7)
}

#[cfg(test)]
mod tests;
