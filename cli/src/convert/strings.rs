//! The strings of a trace that are met again and again, as small numbers.

use std::rc::Rc;

use hashbrown::HashMap;

/// A string of [`Strings`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(u32);

impl StringId {
    pub fn to_u32(self) -> u32 {
        self.0
    }

    pub fn from_u32(number: u32) -> Self {
        Self(number)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a string is in an event. It may be more than that, such as the name of an argument.
#[derive(Clone, Copy)]
pub enum Use {
    Name = 1,
    Category = 2,
}

/// Names of events take this much memory, about: a trace whose names are all different must not fill it.
const NAME_BUDGET: usize = 24 << 20;

/// What all strings take: where names have filled their part, there is room for categories and names of arguments.
const BUDGET: usize = NAME_BUDGET + (8 << 20);

/// What a string takes beside its bytes.
const OVERHEAD: usize = 64;

#[derive(Default)]
pub struct Strings {
    ids: HashMap<Rc<str>, StringId>,
    texts: Vec<Rc<str>>,
    /// What each was used as.
    uses: Vec<u8>,
    used: usize,
    /// What was asked for after each, the last time.
    next: Vec<StringId>,
    last: StringId,
}

impl Strings {
    /// The number of a string that mostly follows the one before, as an argument's name does.
    pub fn next(&mut self, text: &str) -> Option<StringId> {
        let next = self.next.get(self.last.index()).copied();
        let id = match next {
            Some(next) if self.text(next) == text => next,
            _ => {
                let id = self.number(text, BUDGET)?;
                if let Some(next) = self.next.get_mut(self.last.index()) {
                    *next = id;
                }
                id
            }
        };
        self.last = id;
        Some(id)
    }

    /// The number of a string; `None` if it isn't known, and there is no room for it in `budget`.
    fn number(&mut self, text: &str, budget: usize) -> Option<StringId> {
        if let Some(&id) = self.ids.get(text) {
            return Some(id);
        }
        if self.used + text.len() + OVERHEAD > budget {
            return None;
        }
        Some(self.add(text))
    }

    /// The number of a string that is used so, if it has one.
    pub fn number_as(&mut self, r#use: Use, text: &str) -> Option<StringId> {
        let budget = match r#use {
            Use::Name => NAME_BUDGET,
            Use::Category => BUDGET,
        };
        let id = self.number(text, budget)?;
        self.uses[id.index()] |= r#use as u8;
        Some(id)
    }

    pub fn is(&self, id: StringId, r#use: Use) -> bool {
        self.uses[id.index()] & r#use as u8 != 0
    }

    /// The number of a string that must have one, such as a thread's id.
    pub fn keep(&mut self, text: &str) -> StringId {
        match self.ids.get(text) {
            Some(&id) => id,
            None => self.add(text),
        }
    }

    fn add(&mut self, text: &str) -> StringId {
        let (id, text) = (StringId(self.texts.len() as u32), Rc::<str>::from(text));
        self.used += text.len() + OVERHEAD;
        self.texts.push(Rc::clone(&text));
        self.uses.push(0);
        self.next.push(id);
        self.ids.insert(text, id);
        id
    }

    pub fn text(&self, id: StringId) -> &str {
        &self.texts[id.index()]
    }

    pub fn all(&self) -> impl Iterator<Item = (StringId, &str)> {
        let ids = (0..).map(StringId);
        ids.zip(self.texts.iter().map(|text| &**text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stays_known_when_there_is_no_room() {
        let mut strings = Strings::default();
        let first = strings.number_as(Use::Name, "first").unwrap();
        let large = "x".repeat(NAME_BUDGET);
        assert_eq!(strings.number_as(Use::Name, &large), None);
        assert_eq!(strings.number_as(Use::Name, "first"), Some(first));
        let large_id = strings.keep(&large);
        assert_eq!(strings.text(large_id), large);
        assert_eq!(strings.number_as(Use::Name, "second"), None);
        // Others have room of their own.
        assert!(strings.number_as(Use::Category, "second").is_some());
        assert!(strings.next("third").is_some());
        strings.keep(&large);
        strings.keep(&format!("{large}x"));
        assert_eq!(strings.number_as(Use::Category, "fourth"), None);
        assert_eq!(strings.next("fourth"), None);
    }
}
