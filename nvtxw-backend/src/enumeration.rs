//! Enums: names for the values of an integer.

use std::borrow::Cow;

use crate::refusal::{Refusal, Result};

/// A registered enum.
#[derive(Debug, PartialEq, Eq)]
pub struct Enum {
    id: u64,
    name: Option<Box<str>>,
    size: usize,
    entries: Box<[EnumEntry]>,
}

/// One value of an [`Enum`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumEntry {
    /// The value's name.
    pub name: Box<str>,
    /// The value; of the enum's bytes the rest is zero.
    pub value: u64,
    /// Whether it is a bit, or some, that may be combined with others.
    pub is_flag: bool,
}

impl Enum {
    pub(crate) fn check_size(size: usize) -> Result<()> {
        match size {
            1 | 2 | 4 | 8 => Ok(()),
            _ => Err(Refusal::invalid(format!(
                "attr.sizeOfEnum is {size}; an enum has 1, 2, 4 or 8 bytes"
            ))),
        }
    }

    /// `size` is checked.
    pub(crate) fn new(
        id: u64,
        name: Option<Box<str>>,
        size: usize,
        mut entries: Box<[EnumEntry]>,
    ) -> Self {
        let mask = u64::MAX >> (64 - 8 * size);
        for entry in &mut entries {
            entry.value &= mask;
        }
        Self {
            id,
            name,
            size,
            entries,
        }
    }

    /// The enum's ID, unique among the enums and schemas of its domain.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The enum's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Bytes of one value: 1, 2, 4 or 8.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The named values, in the order of their registration.
    pub fn entries(&self) -> &[EnumEntry] {
        &self.entries
    }

    /// The name of exactly this value. (A combination of flags has none of its own.)
    pub fn find(&self, value: u64) -> Option<&str> {
        self.entries
            .iter()
            .find(|entry| entry.value == value)
            .map(|entry| &*entry.name)
    }

    /// The truth value that this is, if the enum is that of a `bool`: 1 byte, and the names `false` and `true` for 0 and 1.
    pub fn as_bool(&self, value: u64) -> Option<bool> {
        let is_bool = self.size == 1
            && self.entries.len() == 2
            && self.find(0) == Some("false")
            && self.find(1) == Some("true");
        (is_bool && value <= 1).then_some(value == 1)
    }

    /// The value in words: its [name](Self::find), or the names of the flags that are set in it, and in hexadecimal what is
    /// set besides them: `pinned | async | 0x40`. `None` if nothing in it has a name.
    pub fn describe(&self, value: u64) -> Option<Cow<'_, str>> {
        if let Some(name) = self.find(value) {
            return Some(name.into());
        }
        let (mut rest, mut names) = (value, Vec::new());
        for flag in self.entries.iter().filter(|entry| entry.is_flag) {
            if flag.value != 0 && value & flag.value == flag.value {
                rest &= !flag.value;
                names.push(Cow::Borrowed(&*flag.name));
            }
        }
        if names.is_empty() {
            return None;
        }
        if rest != 0 {
            names.push(format!("{rest:#x}").into());
        }
        Some(names.join(" | ").into())
    }
}

#[cfg(test)]
mod tests {
    use super::{Enum, EnumEntry};

    fn described(entries: &[(&str, u64, bool)], value: u64) -> Option<String> {
        let entries = entries.iter().map(|&(name, value, is_flag)| EnumEntry {
            name: name.into(),
            value,
            is_flag,
        });
        let meaning = Enum::new(1, None, 4, entries.collect());
        meaning.describe(value).map(String::from)
    }

    #[test]
    fn values_are_described_by_name_and_flags_one_by_one() {
        let flags = [
            ("none", 0, true),
            ("pinned", 1, true),
            ("async", 2, true),
            ("both", 3, true),
        ];
        for (value, words) in [
            (0, Some("none")),
            (2, Some("async")),
            (3, Some("both")),
            (0x42, Some("async | 0x40")),
            (0x43, Some("pinned | async | both | 0x40")),
            (0x40, None),
        ] {
            assert_eq!(described(&flags, value).as_deref(), words, "{value:#x}");
        }
        // What is no flag does not combine.
        let plain = [("red", 1, false), ("green", 2, false)];
        assert_eq!(described(&plain, 2).as_deref(), Some("green"));
        assert_eq!(described(&plain, 3), None);
    }
}
