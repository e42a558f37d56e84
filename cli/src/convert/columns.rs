//! The values that go beside an event: which columns there are, and their bytes.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::decimal::float_word;
use super::strings::{StringId, Strings};

/// The argument that joins a call with what it started on a device.
const CORRELATION: &str = "correlation";
/// The hidden column of an event with that argument.
const FLOW: &str = "flow";

/// Longer arrays are text: each length is a layout of its own.
const MAX_ARRAY: usize = 64;

/// So many layouts are registered; what has further ones is text.
const MAX_LAYOUTS: usize = 4096;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    I64,
    U64,
    F64,
    Bool,
    /// The number of an arrow, or 0. It isn't shown, and filled in when the event is written.
    Flow,
    I64s(u32),
    F64s(u32),
    /// Text of any length.
    Text,
    /// Text that is the event's name.
    Name,
}

impl ColumnType {
    fn code(self) -> (u8, u32) {
        match self {
            Self::I64 => (0, 0),
            Self::U64 => (1, 0),
            Self::F64 => (2, 0),
            Self::Bool => (3, 0),
            Self::Flow => (4, 0),
            Self::I64s(count) => (6, count),
            Self::F64s(count) => (7, count),
            Self::Text => (8, 0),
            Self::Name => (9, 0),
        }
    }

    /// The bytes of a value; `None` for text, which a NUL ends.
    pub fn size(self) -> Option<usize> {
        match self {
            Self::I64 | Self::U64 | Self::F64 | Self::Flow => Some(8),
            Self::Bool => Some(1),
            Self::I64s(count) | Self::F64s(count) => Some(8 * count as usize),
            Self::Text | Self::Name => None,
        }
    }
}

/// A column of a layout; `None` is the one that holds all arguments as JSON.
pub type Column = (Option<StringId>, ColumnType);

/// The layouts that were met.
pub struct Layouts {
    ids: HashMap<Box<[u8]>, u32>,
    columns: Vec<Vec<Column>>,
    /// Whether any values have it.
    is_used: Vec<bool>,
    /// That of the values before, which many have.
    last: u32,
}

impl Layouts {
    /// The layout of an event's name that is no string of the trace.
    pub const NAME: u32 = 0;
    /// The layout of arguments as one JSON text.
    pub const JSON: u32 = 1;

    pub fn new() -> Self {
        Self {
            ids: HashMap::new(),
            columns: vec![
                vec![(None, ColumnType::Name)],
                vec![(None, ColumnType::Text)],
            ],
            is_used: vec![false; 2],
            last: Self::NAME,
        }
    }

    /// Notes that values have that layout.
    pub fn r#use(&mut self, id: u32) {
        self.is_used[id as usize] = true;
    }

    /// Those that any values have, and `None` for others.
    pub fn used(&self) -> impl Iterator<Item = Option<&[Column]>> {
        let all = self.columns.iter().zip(&self.is_used);
        all.map(|(columns, is_used)| is_used.then_some(&columns[..]))
    }
}

/// The values of one event, which are collected here, column by column.
#[derive(Default)]
pub struct Values {
    /// The columns of fixed size, and their bytes.
    columns: Vec<Column>,
    bytes: Vec<u8>,
    /// The texts, which stand behind them.
    text_columns: Vec<Column>,
    texts: Vec<u8>,
    key: Vec<u8>,
    /// The integer in the event's argument `correlation`; 0: none.
    correlation: u64,
    /// A name that isn't in the trace's strings, and can't be.
    is_odd: bool,
}

impl Values {
    pub fn clear(&mut self) {
        self.columns.clear();
        self.bytes.clear();
        self.text_columns.clear();
        self.texts.clear();
        self.correlation = 0;
        self.is_odd = false;
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.text_columns.is_empty() && !self.is_odd
    }

    /// The integer in the argument `correlation`; 0: none.
    pub fn correlation(&self) -> u64 {
        self.correlation
    }

    /// The layout of the values, and their bytes. `json` is all of them in JSON, for when they have no layout.
    pub fn row<'a>(
        &'a mut self,
        layouts: &mut Layouts,
        json: impl FnOnce() -> String,
    ) -> (u32, &'a [u8]) {
        let id = if self.is_odd {
            None
        } else {
            self.layout(layouts)
        };
        match id {
            Some(_) => self.bytes.extend_from_slice(&self.texts),
            None => {
                self.bytes.clear();
                self.bytes.extend_from_slice(visible(&json()).as_bytes());
                self.bytes.push(0);
            }
        }
        let id = id.unwrap_or(Layouts::JSON);
        layouts.r#use(id);
        (id, &self.bytes)
    }

    fn layout(&mut self, layouts: &mut Layouts) -> Option<u32> {
        let last = &layouts.columns[layouts.last as usize];
        if let Some((fixed, texts)) = last.split_at_checked(self.columns.len())
            && *fixed == *self.columns
            && *texts == *self.text_columns
        {
            return Some(layouts.last);
        }
        layouts.last = self.other_layout(layouts)?;
        Some(layouts.last)
    }

    fn other_layout(&mut self, layouts: &mut Layouts) -> Option<u32> {
        self.key.clear();
        let columns = self.columns.iter().chain(&self.text_columns);
        for (name, ty) in columns.clone() {
            let (code, count) = ty.code();
            let name = name.expect("only odd values have no names").to_u32();
            let column = u64::from(name) << 32 | u64::from(count) << 8 | u64::from(code);
            self.key.extend_from_slice(&column.to_ne_bytes());
        }
        if let Some(&id) = layouts.ids.get(&*self.key) {
            return Some(id);
        }
        if layouts.columns.len() == MAX_LAYOUTS {
            return None;
        }
        let id = layouts.columns.len() as u32;
        layouts.columns.push(columns.copied().collect());
        layouts.is_used.push(false);
        layouts.ids.insert(self.key.as_slice().into(), id);
        Some(id)
    }

    fn column(&mut self, name: Option<StringId>, ty: ColumnType) {
        self.is_odd |= name.is_none();
        self.columns.push((name, ty));
    }

    pub fn text(&mut self, name: &str, text: &str, strings: &mut Strings) {
        let name = strings.next(name);
        self.is_odd |= name.is_none();
        self.text_columns.push((name, ColumnType::Text));
        self.texts.extend_from_slice(visible(text).as_bytes());
        self.texts.push(0);
    }

    /// Adds a value as JSON writes it.
    pub fn json(&mut self, name: &str, json: &str, strings: &mut Strings) {
        if name == CORRELATION
            && let Some(number) = correlation(json)
        {
            self.correlation = number;
            self.column(strings.next(FLOW), ColumnType::Flow);
            self.bytes.extend_from_slice(&[0; 8]);
        }
        match json.as_bytes()[0] {
            b'"' => match string(json) {
                Some(text) => self.text(name, &text, strings),
                None => self.text(name, json, strings),
            },
            b'[' => self.array(name, json, strings),
            b't' | b'f' => {
                self.column(strings.next(name), ColumnType::Bool);
                self.bytes.push(u8::from(json == "true"));
            }
            b'-' | b'0'..=b'9' => self.number(name, json, strings),
            b'{' => self.text(name, json, strings),
            // `null`, and what is no JSON, is no value.
            _ => {
                if let Some(number) = float_word(json) {
                    self.float(name, number, strings);
                }
            }
        }
    }

    /// Joins the rows of a `B` event and its `E` event, whose values count where both have one; `None` where they have no
    /// argument in common.
    pub fn joined(
        &mut self,
        layouts: &mut Layouts,
        begin: (u32, &[u8]),
        end: (u32, &[u8]),
    ) -> Option<(u32, &[u8])> {
        let [columns, others] = [begin, end].map(|(layout, _)| &layouts.columns[layout as usize]);
        let is_common = |column: &Column| column.0.is_some() && is_in(column, others);
        if !columns.iter().any(is_common) {
            return None;
        }
        self.clear();
        self.add_row(columns, begin.1, others);
        self.add_row(others, end.1, &[]);
        let layout = self.layout(layouts)?;
        self.bytes.extend_from_slice(&self.texts);
        layouts.r#use(layout);
        Some((layout, &self.bytes))
    }

    /// Adds the values of a row, without those of columns that are in `others`.
    fn add_row(&mut self, columns: &[Column], mut row: &[u8], others: &[Column]) {
        for column in columns {
            let end = || memchr::memchr(0, row).map_or(row.len(), |end| end + 1);
            let (value, rest) = row.split_at(column.1.size().unwrap_or_else(end));
            row = rest;
            if is_in(column, others) {
                continue;
            }
            let (columns, bytes) = match column.1.size() {
                Some(_) => (&mut self.columns, &mut self.bytes),
                None => (&mut self.text_columns, &mut self.texts),
            };
            columns.push(*column);
            bytes.extend_from_slice(value);
        }
    }

    /// Adds the cell of a table, as what it looks like.
    pub fn cell(&mut self, name: &str, cell: &str, strings: &mut Strings) {
        match cell {
            "true" | "false" => {
                self.column(strings.next(name), ColumnType::Bool);
                self.bytes.push(u8::from(cell == "true"));
            }
            _ => self.number(name, cell, strings),
        }
    }

    /// Adds a number; one that no 64 bits hold is text, with all its digits.
    pub fn number(&mut self, name: &str, text: &str, strings: &mut Strings) {
        let (ty, bytes) = if let Ok(number) = text.parse::<i64>() {
            (ColumnType::I64, number.to_ne_bytes())
        } else if let Ok(number) = text.parse::<u64>() {
            (ColumnType::U64, number.to_ne_bytes())
        } else {
            match text.parse::<f64>() {
                Ok(number) if number.is_finite() && text.contains(['.', 'e', 'E']) => {
                    return self.float(name, number, strings);
                }
                _ => match float_word(text) {
                    Some(number) => return self.float(name, number, strings),
                    None => return self.text(name, text, strings),
                },
            }
        };
        self.column(strings.next(name), ty);
        self.bytes.extend_from_slice(&bytes);
    }

    fn float(&mut self, name: &str, number: f64, strings: &mut Strings) {
        self.column(strings.next(name), ColumnType::F64);
        self.bytes.extend_from_slice(&number.to_ne_bytes());
    }

    fn array(&mut self, name: &str, json: &str, strings: &mut Strings) {
        let start = self.bytes.len();
        let inner = json[1..json.len() - 1].trim();
        // Of numbers only, if there is no other bracket and no quote: none of them parses.
        let parts = || inner.split(',').map(str::trim);
        let count = parts().count();
        if count > MAX_ARRAY {
            return self.text(name, json, strings);
        }
        let integers = parts().try_for_each(|part| {
            let number: i64 = part.parse().ok()?;
            self.bytes.extend_from_slice(&number.to_ne_bytes());
            Some(())
        });
        let ty = if integers.is_some() {
            ColumnType::I64s(count as u32)
        } else {
            self.bytes.truncate(start);
            let floats = parts().try_for_each(|part| {
                let number: Option<f64> = part.parse().ok().filter(|f: &f64| f.is_finite());
                let number = number.filter(|_| part.contains(['.', 'e', 'E']));
                let number = number.or_else(|| float_word(part))?;
                self.bytes.extend_from_slice(&number.to_ne_bytes());
                Some(())
            });
            if floats.is_none() {
                self.bytes.truncate(start);
                return self.text(name, json, strings);
            }
            ColumnType::F64s(count as u32)
        };
        self.column(strings.next(name), ty);
    }
}

/// Returns true if another column of its name is among `columns`.
pub fn is_in(column: &Column, columns: &[Column]) -> bool {
    let is_flow = |column: &Column| column.1 == ColumnType::Flow;
    columns
        .iter()
        .any(|other| other.0 == column.0 && is_flow(other) == is_flow(column))
}

/// The number that joins events. Profilers write 0, -1 and 2^32-1 for none; other JSON is a statistic, or the like.
fn correlation(json: &str) -> Option<u64> {
    let number = json.parse().ok();
    number.filter(|number| !matches!(number, 0 | 0xffff_ffff))
}

/// The string that `json` spells, without its escapes.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_some() {
        Some(Cow::Owned(unescaped(inner)))
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// The text of a string with escapes. Half of a character becomes U+FFFD, as some writers cut texts; other escapes that are none
/// stay as they are.
fn unescaped(inner: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let (mut text, mut rest) = (String::with_capacity(inner.len()), inner);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (c, len) = match escape.as_bytes().get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(&same @ (b'"' | b'\\' | b'/')) => (char::from(same), 2),
            _ => match (unit(escape), escape.get(6..).and_then(unit)) {
                (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                    let mut pair = char::decode_utf16([high, low]);
                    let pair = pair.next().and_then(Result::ok);
                    (pair.unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                (Some(unit), _) => {
                    let c = char::from_u32(unit.into());
                    (c.unwrap_or(char::REPLACEMENT_CHARACTER), 6)
                }
                (None, _) => ('\\', 1),
            },
        };
        text.push(c);
        rest = &escape[len..];
    }
    text.push_str(rest);
    text
}

/// A NUL would end the string in a reader.
pub fn visible(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        Cow::Owned(text.replace('\0', "\u{2400}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A number that stands for texts: that of others is another, as good as surely.
pub fn hash(texts: &[&str]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    // One write costs less than many. No text has the byte that ends each.
    let mut all = Vec::with_capacity(64);
    for text in texts {
        all.extend_from_slice(text.as_bytes());
        all.push(0xff);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&all);
    hasher.finish()
}

#[cfg(test)]
mod tests;
