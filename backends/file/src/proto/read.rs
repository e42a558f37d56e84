//! Reads protobuf messages.

use super::{BYTES, FIXED64, VARINT};

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Int(u64),
    Fixed(u64),
    /// A nested message, or a text.
    Bytes(&'a [u8]),
}

/// The fields of a message, with their numbers: all up to the first that is not as it should be.
#[derive(Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// What comes after the field that was read last; what is left at the end is no field.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.rest;
        let tag = varint(&mut rest)?;
        let value = match tag as u32 & 7 {
            VARINT => Value::Int(varint(&mut rest)?),
            FIXED64 => {
                let (number, after) = rest.split_first_chunk()?;
                rest = after;
                Value::Fixed(u64::from_le_bytes(*number))
            }
            BYTES => {
                let len = varint(&mut rest)?;
                let (content, after) = rest.split_at_checked(len.try_into().ok()?)?;
                rest = after;
                Value::Bytes(content)
            }
            _ => return None,
        };
        self.rest = rest;
        Some(((tag >> 3) as u32, value))
    }
}

/// The nested messages and texts of a message, with their field numbers.
pub(crate) fn nested(message: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    Fields::of(message).filter_map(|(number, value)| match value {
        Value::Bytes(content) => Some((number, content)),
        _ => None,
    })
}

/// The first field of a message, if it is a number, and what comes after it.
pub(crate) fn first_uint(message: &[u8]) -> Option<(u32, u64, &[u8])> {
    let mut fields = Fields::of(message);
    match fields.next()? {
        (number, Value::Int(value)) => Some((number, value, fields.rest())),
        _ => None,
    }
}

/// A number from the start of `bytes`, which moves behind it.
#[inline]
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    #[test]
    fn nested_messages_are_found_between_other_fields() {
        let mut writer = Writer::default();
        writer.uint(9, u64::MAX);
        let open = writer.open(4, 500);
        writer.uint(1, 300);
        writer.close(open);
        writer.fixed64(47, u64::MAX);
        writer.text(4, "");
        let all: Vec<_> = nested(writer.as_bytes()).collect();
        assert_eq!(all, [(4, &[0x08, 0xAC, 0x02][..]), (4, &[])]);
        assert_eq!(first_uint(all[0].1), Some((1, 300, &[][..])));
        assert_eq!(first_uint(all[1].1), None);
        let all: Vec<_> = Fields::of(writer.as_bytes()).collect();
        assert_eq!(all[0], (9, Value::Int(u64::MAX)));
        assert_eq!(all[2], (47, Value::Fixed(u64::MAX)));
    }

    #[test]
    fn what_is_cut_ends_at_the_last_whole_field() {
        let mut writer = Writer::default();
        let mut ends = vec![0];
        writer.uint(9, 1 << 40);
        ends.push(writer.len());
        writer.fixed64(47, 5);
        ends.push(writer.len());
        writer.text(4, "text");
        ends.push(writer.len());
        for len in 0..=writer.len() {
            let mut fields = Fields::of(&writer.as_bytes()[..len]);
            let count = fields.by_ref().count();
            assert_eq!(count, ends.iter().filter(|end| **end <= len).count() - 1);
            assert_eq!(fields.rest().len(), len - ends[count]);
        }
        // A group, a length that nothing has, a number without an end.
        for bad in [
            &[0x0B][..],
            &[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
            &[0x80; 11],
        ] {
            assert_eq!(Fields::of(bad).next(), None);
        }
    }
}
