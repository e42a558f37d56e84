//! What a conversion couldn't keep: counted by kind, with the first case as an example.

use std::collections::BTreeMap;
use std::fmt;

use super::text::Place;
use crate::notice;

/// Kinds that are told apart; further ones are counted together.
const MAX_KINDS: usize = 100;

#[derive(Default)]
pub struct Warnings {
    kinds: BTreeMap<String, Cases>,
}

struct Cases {
    count: u64,
    example: Option<Example>,
}

/// Where a case is.
#[derive(Clone, Copy)]
enum Example {
    Place(Place),
    /// The event of that number, from 1 on, and its nanosecond.
    Event {
        number: u64,
        time: i64,
    },
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Place(Place { byte, line }) => write!(f, "line {line}, byte {byte}"),
            Self::Event { number, time } => {
                let sign = if time < 0 { "-" } else { "" };
                let (whole, part) = (time.unsigned_abs() / 1000, time.unsigned_abs() % 1000);
                write!(f, "event {number}, at ts {sign}{whole}.{part:03}")
            }
        }
    }
}

impl Warnings {
    /// Counts a case that is met at `place`, if it has one.
    pub fn add(&mut self, kind: impl fmt::Display, place: Option<Place>) {
        self.add_many(kind, place, 1);
    }

    /// Counts a case that only the order of time has told.
    pub fn add_event(&mut self, kind: impl fmt::Display, number: u64, time: i64) {
        self.count_cases(kind, Some(Example::Event { number, time }), 1);
    }

    /// Counts cases of which the first is at `place`.
    pub fn add_many(&mut self, kind: impl fmt::Display, place: Option<Place>, count: u64) {
        self.count_cases(kind, place.map(Example::Place), count);
    }

    fn count_cases(&mut self, kind: impl fmt::Display, example: Option<Example>, count: u64) {
        let mut kind = kind.to_string();
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&kind) {
            "warnings of further kinds".clone_into(&mut kind);
        }
        let cases = self
            .kinds
            .entry(kind)
            .or_insert(Cases { count: 0, example });
        cases.count += count;
    }

    /// Adds those that were counted elsewhere, which are of other kinds.
    pub fn append(&mut self, mut others: Self) {
        self.kinds.append(&mut others.kinds);
    }

    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How many cases there are of all kinds.
    pub fn count(&self) -> u64 {
        self.kinds.values().map(|cases| cases.count).sum()
    }

    /// Prints a line for each kind.
    pub fn print(&self) {
        for line in self.lines() {
            notice::print(format_args!("warning: {line}"));
        }
    }

    /// A line for each kind.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        (self.kinds.iter()).map(|(kind, Cases { count, example })| {
            let cases = match (count, example) {
                (1, None) => String::new(),
                (1, Some(example)) => format!(" ({example})"),
                (_, None) => format!(" ({count} times)"),
                (_, Some(example)) => {
                    let first = match example {
                        Example::Place(_) => "first in",
                        // Tracks come one after the other.
                        Example::Event { .. } => "such as",
                    };
                    format!(" ({count} times, {first} {example})")
                }
            };
            format!("{kind}{cases}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_once() {
        let mut warnings = Warnings::default();
        let place = |byte, line| Some(Place { byte, line });
        warnings.add("b", place(5, 1));
        warnings.add("a", place(17, 2));
        warnings.add("a", place(23, 3));
        warnings.add_many("c", None, 3);
        warnings.add("d", None);
        warnings.add_event("e", 7, -1_002_003);
        warnings.add_event("e", 8, 4);
        warnings.add_event("f", 9, 10);
        assert_eq!(
            warnings.lines().collect::<Vec<_>>(),
            [
                "a (2 times, first in line 2, byte 17)",
                "b (line 1, byte 5)",
                "c (3 times)",
                "d",
                "e (2 times, such as event 7, at ts -1002.003)",
                "f (event 9, at ts 0.010)",
            ]
        );
        assert_eq!(warnings.count(), 10);
    }

    #[test]
    fn very_many_kinds_are_one() {
        let mut warnings = Warnings::default();
        for kind in 0..MAX_KINDS + 10 {
            warnings.add(kind, None);
        }
        assert_eq!(warnings.kinds.len(), MAX_KINDS + 1);
        assert_eq!(warnings.count() as usize, MAX_KINDS + 10);
    }
}
