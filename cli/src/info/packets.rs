//! Packets of a Perfetto file, and the fields of protobuf messages.

use std::io::{self, Read};

/// How much is read at once.
const PIECE: usize = 1 << 18;

/// The longest packet that is read: readers of the format take no longer ones either.
const LONGEST: usize = (1 << 28) + 16;

/// The field of a file that is a packet.
const PACKET: u32 = 1;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Int(u64),
    Fixed(u64),
    Fixed32(u32),
    /// A nested message, or a text.
    Bytes(&'a [u8]),
}

/// The fields of a message, with their numbers: all up to the first that is not as it should be.
#[derive(Clone)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self(message)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.0;
        let tag = varint(&mut rest)?;
        let value = match tag & 7 {
            VARINT => Value::Int(varint(&mut rest)?),
            FIXED64 => {
                let (number, after) = rest.split_first_chunk()?;
                rest = after;
                Value::Fixed(u64::from_le_bytes(*number))
            }
            FIXED32 => {
                let (number, after) = rest.split_first_chunk()?;
                rest = after;
                Value::Fixed32(u32::from_le_bytes(*number))
            }
            BYTES => {
                let len = varint(&mut rest)?;
                let (content, after) = rest.split_at_checked(len.try_into().ok()?)?;
                rest = after;
                Value::Bytes(content)
            }
            _ => return None,
        };
        self.0 = rest;
        Some(((tag >> 3) as u32, value))
    }
}

/// A number from the start of `bytes`, which moves behind it.
#[inline]
fn varint(bytes: &mut &[u8]) -> Option<u64> {
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

/// Why there are no more packets, though the file goes on.
#[derive(Debug)]
pub(super) enum Stop {
    /// It ends inside a packet.
    Cut {
        at: u64,
        left: u64,
    },
    /// What stands there is no packet.
    NoPacket {
        at: u64,
    },
    Io {
        at: u64,
        error: io::Error,
    },
}

/// Reads packets one after the other.
pub(super) struct Packets<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not given yet.
    from: usize,
    until: usize,
    /// Where in the file the buffer starts.
    start: u64,
}

impl<R: Read> Packets<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            from: 0,
            until: 0,
            start: 0,
        }
    }

    /// The content of the next packet; `None` at the end. Other fields are passed over.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        loop {
            let there = &self.buffer[self.from..self.until];
            let at = self.start + self.from as u64;
            let mut fields = Fields(there);
            if let Some((number, value)) = fields.next() {
                let content = match value {
                    Value::Bytes(content) if number == PACKET => Some(content.len()),
                    _ => None,
                };
                let end = self.until - fields.0.len();
                self.from = end;
                match content {
                    Some(len) => return Ok(Some(&self.buffer[end - len..end])),
                    None => continue,
                }
            }
            let size = match whole(there) {
                Some(size) if size <= LONGEST => size,
                _ => return Err(Stop::NoPacket { at }),
            };
            match self.fill(size) {
                Ok(true) => {}
                Ok(false) if self.from == self.until => return Ok(None),
                Ok(false) => {
                    let left = (self.until - self.from) as u64;
                    return Err(Stop::Cut { at, left });
                }
                // What a decompressor says of a file that was cut.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let left = (self.until - self.from) as u64;
                    return Err(Stop::Cut { at, left });
                }
                Err(error) => return Err(Stop::Io { at, error }),
            }
        }
    }

    /// Reads more, with room for a packet of `size` bytes; `false` at the end.
    fn fill(&mut self, size: usize) -> io::Result<bool> {
        self.buffer.copy_within(self.from..self.until, 0);
        self.start += self.from as u64;
        self.until -= self.from;
        self.from = 0;
        let room = size.max(self.until + 1).next_multiple_of(PIECE);
        // What a huge length asks for is there only when as much was read.
        let room = room.min((self.until * 2).max(PIECE));
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.until..]) {
                Ok(count) => {
                    self.until += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// How long the field is that starts here and is not all there: 0 if that is not known yet, `None`
/// if there is no such field.
fn whole(there: &[u8]) -> Option<usize> {
    let mut rest = there;
    let Some(tag) = varint(&mut rest) else {
        return (there.len() < 10).then_some(0);
    };
    match tag & 7 {
        VARINT | FIXED64 | FIXED32 if rest.len() < 10 => Some(0),
        BYTES => {
            let before = rest.len();
            match varint(&mut rest) {
                Some(len) => Some(
                    usize::try_from(len)
                        .ok()?
                        .checked_add(there.len() - rest.len())?,
                ),
                None => (before < 10).then_some(0),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces<'b>(&'b [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len());
            self.0.read(&mut buffer[..len])
        }
    }

    fn packet(len: usize) -> Vec<u8> {
        let mut packet = vec![0x0A];
        let mut rest = len;
        while rest >= 0x80 {
            packet.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        packet.push(rest as u8);
        packet.resize(packet.len() + len, b'x');
        packet
    }

    #[test]
    fn packets_of_any_size_are_read_in_any_pieces() {
        let sizes = [0, 1, 127, 128, 70_000, PIECE + 5, 3 * PIECE, 2];
        // Fields that are no packets: a number, eight bytes, four, and a text.
        let others = [
            &b"\x10\xff\x01"[..],
            b"\x1912345678",
            b"\x251234",
            b"\x22\x02ab",
        ]
        .concat();
        let file: Vec<u8> = sizes
            .iter()
            .flat_map(|&size| [others.clone(), packet(size)].concat())
            .collect();
        for piece in [1, 1000, PIECE, usize::MAX] {
            let mut packets = Packets::new(Pieces(&file, piece));
            for size in sizes {
                let packet = packets.next().unwrap().unwrap();
                assert_eq!(packet.len(), size);
                assert!(packet.iter().all(|byte| *byte == b'x'));
            }
            assert!(packets.next().unwrap().is_none());
        }
    }

    #[test]
    fn where_a_file_was_cut_is_told() {
        let file = [packet(300), packet(5)].concat();
        for cut in 304..file.len() {
            let mut packets = Packets::new(&file[..cut]);
            packets.next().unwrap().unwrap();
            let Err(Stop::Cut { at: 303, left }) = packets.next() else {
                panic!("cut at {cut}");
            };
            assert_eq!(left, cut as u64 - 303);
        }
    }

    #[test]
    fn what_is_no_packet_takes_no_memory() {
        for bad in [
            &[0xFF; 20][..],
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x0b",
            b"\x0a\xff\xff\xff\xff\x7f",
        ] {
            let file = [&packet(1), bad].concat();
            let mut packets = Packets::new(&file[..]);
            packets.next().unwrap().unwrap();
            assert!(
                matches!(packets.next(), Err(Stop::NoPacket { at: 3 })),
                "{bad:?}"
            );
        }
        let mut packets = Packets::new(&b"\x0a\xff\xff\xff\x7f12"[..]);
        assert!(matches!(packets.next(), Err(Stop::Cut { at: 0, left: 7 })));
        assert_eq!(packets.buffer.len(), PIECE);
    }
}
