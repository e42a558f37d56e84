//! Enums: names for the values of an integer.

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
}
