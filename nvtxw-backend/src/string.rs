//! Registered strings.

use std::fmt;

use crate::handle::{self, Kind};
use crate::list::List;
use crate::refusal::{Refusal, Result};

/// A registered string, as an event refers to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registered<'a> {
    handle: u64,
    text: &'a str,
}

impl<'a> Registered<'a> {
    /// A key that stays the same as long as the session lives, and that no other string of it has.
    pub fn handle(self) -> u64 {
        self.handle
    }

    /// The string's number in its domain, counted from 0 in the order of registration: an index for caches.
    pub fn index(self) -> usize {
        self.handle as u32 as usize
    }

    /// The text. What was not UTF-8 is U+FFFD.
    pub fn text(self) -> &'a str {
        self.text
    }
}

impl fmt::Debug for Registered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({:#x})", self.text, self.handle)
    }
}

/// The registered strings of a domain; read without a lock.
pub(crate) struct Strings {
    /// Which domain of the process: part of the handles, so that another domain's are told apart.
    tag: u32,
    texts: List<Box<str>>,
}

impl Strings {
    pub(crate) fn new(tag: u32) -> Self {
        Self {
            tag: tag & handle::GENERATION_MASK,
            texts: List::new(),
        }
    }

    /// Returns the new string's handle.
    pub(crate) fn register(&self, text: &str) -> Result<u64> {
        let mut handle = 0;
        self.texts
            .push_with(|index| {
                handle = handle::encode(Kind::String, self.tag, index);
                text.into()
            })
            .ok_or_else(|| Refusal::failed("the domain is full: it can't hold one more string"))?;
        Ok(handle)
    }

    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<Registered<'_>> {
        let (tag, index) = handle::decode(Kind::String, handle)?;
        let text = self.texts.get(index).filter(|_| tag == self.tag)?;
        Some(Registered { handle, text })
    }
}
