//! An event on its way through the sorters, as bytes.

use super::strings::StringId;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From the key's time on, as long as its rank says.
    Range,
    /// A range whose end never comes.
    Open,
    Instant,
    /// A value of a counter: a row of eight bytes whose layout is the counter's number.
    Sample,
}

/// What is known of an event besides its key and its rows.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub kind: Kind,
    pub name: Option<StringId>,
    pub category: Option<StringId>,
    /// The integer in the argument `correlation`; 0: none.
    pub correlation: u64,
}

const NONE: u32 = u32::MAX;

/// A record begins with its head; rows follow: the number of a layout, a length, bytes.
pub fn begin(record: &mut Vec<u8>, head: Head) {
    record.clear();
    record.push(match head.kind {
        Kind::Range => 0,
        Kind::Open => 1,
        Kind::Instant => 2,
        Kind::Sample => 3,
    });
    for string in [head.name, head.category] {
        record.extend_from_slice(&string.map_or(NONE, StringId::to_u32).to_le_bytes());
    }
    record.extend_from_slice(&head.correlation.to_le_bytes());
}

pub fn add_row(record: &mut Vec<u8>, layout: u32, row: &[u8]) {
    record.extend_from_slice(&layout.to_le_bytes());
    record.extend_from_slice(&(row.len() as u32).to_le_bytes());
    record.extend_from_slice(row);
}

/// The head, and the bytes of the rows.
pub fn split(record: &[u8]) -> (Head, &[u8]) {
    let string = |at| {
        let number = u32_at(record, at);
        (number != NONE).then(|| StringId::from_u32(number))
    };
    let head = Head {
        kind: match record[0] {
            0 => Kind::Range,
            1 => Kind::Open,
            2 => Kind::Instant,
            _ => Kind::Sample,
        },
        name: string(1),
        category: string(5),
        correlation: u64_at(record, 9),
    };
    (head, &record[17..])
}

/// The rows, each with the number of its layout.
pub fn rows(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (layout, len) = (u32_at(bytes, 0), u32_at(bytes, 4) as usize);
        let (row, rest) = bytes[8..].split_at(len);
        bytes = rest;
        Some((layout, row))
    })
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
