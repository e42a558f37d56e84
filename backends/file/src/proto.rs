//! Writes protobuf messages into a buffer.

/// The wire types that we use.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

/// The longest run of bytes that one field may hold: readers skip longer ones.
pub(crate) const FIELD_LIMIT: usize = (1 << 28) - 1;

/// A nested message whose length is written when it is complete.
#[must_use]
pub(crate) struct Open {
    /// Where the content starts.
    start: usize,
    /// The bytes that were kept free for the length, just before.
    width: usize,
}

/// A growing run of protobuf fields.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Fields that are already encoded.
    pub(crate) fn raw(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(fields);
    }

    pub(crate) fn uint(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// A negative value takes ten bytes, as `int64` has it.
    pub(crate) fn int(&mut self, field: u32, value: i64) {
        self.uint(field, value as u64);
    }

    pub(crate) fn bool(&mut self, field: u32, value: bool) {
        self.uint(field, value.into());
    }

    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(crate) fn text(&mut self, field: u32, value: &str) {
        self.tag(field, BYTES);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value.as_bytes());
    }

    /// Begins a nested message of about `expected` bytes. A wrong guess only costs a move.
    pub(crate) fn open(&mut self, field: u32, expected: usize) -> Open {
        self.tag(field, BYTES);
        let width = width(expected);
        self.bytes.extend_from_slice(&[0; 5][..width]);
        Open {
            start: self.bytes.len(),
            width,
        }
    }

    /// Ends the nested message that was begun last.
    pub(crate) fn close(&mut self, open: Open) {
        let Open { start, width: kept } = open;
        let len = self.bytes.len() - start;
        let needed = width(len);
        if needed > kept {
            let more = needed - kept;
            self.bytes.extend_from_slice(&[0; 5][..more]);
            self.bytes.copy_within(start..start + len, start + more);
        }
        // A length may take more bytes than it needs: all but the last have their top bit set.
        let width = needed.max(kept);
        let at = start - kept;
        let mut rest = len;
        for byte in &mut self.bytes[at..at + width - 1] {
            *byte = rest as u8 | 0x80;
            rest >>= 7;
        }
        self.bytes[at + width - 1] = rest as u8;
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint((field << 3 | wire).into());
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// The nested messages and texts of a message that [`Writer`] wrote, with their field numbers.
pub(crate) fn nested(mut message: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        while !message.is_empty() {
            let tag = read_varint(&mut message) as u32;
            match tag & 7 {
                VARINT => {
                    read_varint(&mut message);
                }
                FIXED64 => message = &message[8..],
                _ => {
                    let len = read_varint(&mut message) as usize;
                    let (content, rest) = message.split_at(len);
                    message = rest;
                    return Some((tag >> 3, content));
                }
            }
        }
        None
    })
}

/// The first field of a message that [`Writer`] wrote, if it is a number.
pub(crate) fn first_uint(mut message: &[u8]) -> Option<(u32, u64)> {
    let tag = read_varint(&mut message) as u32;
    (tag & 7 == VARINT).then(|| (tag >> 3, read_varint(&mut message)))
}

fn read_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    value
}

/// The bytes that `len` takes as a varint.
fn width(len: usize) -> usize {
    match len {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Field, fields};

    #[test]
    fn fields_have_the_bytes_of_the_specification() {
        let mut writer = Writer::default();
        writer.uint(1, 300);
        writer.int(2, -1);
        writer.bool(3, true);
        writer.fixed64(4, 0x0102_0304_0506_0708);
        writer.text(16, "é");
        assert_eq!(
            writer.as_bytes(),
            [
                0x08, 0xAC, 0x02, // 1: 300
                0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, // 2: -1
                0x18, 0x01, // 3: true
                0x21, 8, 7, 6, 5, 4, 3, 2, 1, // 4
                0x82, 0x01, 0x02, 0xC3, 0xA9, // 16: "é"
            ]
        );
    }

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
        assert_eq!(first_uint(all[0].1), Some((1, 300)));
        assert_eq!(first_uint(all[1].1), Some((0, 0)));
    }

    #[test]
    fn nested_messages_of_any_size_and_guess_read_back() {
        for size in [0, 1, 126, 127, 128, 129, 16383, 16384, 300_000] {
            for guess in [0, 200, 20_000, 3_000_000] {
                let mut writer = Writer::default();
                writer.uint(9, 7);
                let outer = writer.open(1, guess);
                let inner = writer.open(2, 0);
                writer.raw(&vec![0; size]);
                writer.close(inner);
                writer.uint(3, 5);
                writer.close(outer);
                writer.uint(9, 8);

                let all: Vec<_> = fields(writer.as_bytes()).collect();
                assert_eq!(all[0], (9, Field::Int(7)));
                assert_eq!(all[2], (9, Field::Int(8)));
                let (1, Field::Bytes(outer)) = all[1] else {
                    panic!("{size} {guess}: {:?}", all[1].0);
                };
                let outer: Vec<_> = fields(outer).collect();
                assert_eq!(outer[0], (2, Field::Bytes(&vec![0; size])));
                assert_eq!(outer[1], (3, Field::Int(5)));
            }
        }
    }
}
