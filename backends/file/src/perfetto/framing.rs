//! Where packets end.

use std::io::{self, Read};

use super::bundle::{bundle, unpack};
use super::field::{event, packet, trace};
use crate::merge::unknown;
use crate::proto::{FIELD_LIMIT, Fields, Value, nested};
use crate::sink::Framing;

/// The most bytes that a packet's length takes.
const MAX_LENGTH: usize = 4;

/// How much is read at once.
const PIECE: usize = 1 << 18;

/// A file of packets: what follows the last whole one is skipped, and nothing has to.
pub(super) const PACKETS: Framing = Framing {
    whole,
    events,
    tail: b"",
};

/// How many events whole packets tell: the end of a range belongs to what began before.
fn events(packets: &[u8]) -> u64 {
    let mut count = 0;
    let mut unpacked = Vec::new();
    for (number, content) in nested(packets) {
        match bundle(content) {
            _ if number != trace::PACKET => {}
            Some(bundle) => {
                if unpack(bundle, &mut unpacked).is_ok() {
                    count += events(&unpacked);
                }
            }
            None => {
                let mut told = nested(content).filter(|(field, _)| *field == packet::TRACK_EVENT);
                count += u64::from(told.any(|(_, told)| is_begin(told)));
            }
        }
    }
    count
}

fn is_begin(told: &[u8]) -> bool {
    let kind = Fields::of(told).find(|(field, _)| *field == event::TYPE);
    matches!(kind, Some((_, Value::Int(kind))) if kind != event::END)
}

/// How many bytes of the beginning of a run are whole packets.
fn whole(written: &[u8]) -> usize {
    let mut end = 0;
    while let Some(next) = after_packet(written, end).filter(|next| *next <= written.len()) {
        end = next;
    }
    end
}

/// Where the packet ends that starts at `at`: a tag of one byte, the length of the rest, and that.
/// `None` if not all of the length is there; far away for what is none.
pub(super) fn after_packet(packets: &[u8], at: usize) -> Option<usize> {
    let mut size = 0;
    for (index, &byte) in packets.get(at + 1..)?.iter().enumerate() {
        if index == MAX_LENGTH {
            return Some(usize::MAX);
        }
        size |= usize::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            return Some(at + 2 + index + size);
        }
    }
    None
}

/// Reads packets.
pub(super) struct Source<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not given yet.
    from: usize,
    until: usize,
}

impl<R: Read> Source<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            from: 0,
            until: 0,
        }
    }

    /// The next packet, with tag and length; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            let there = &self.buffer[self.from..self.until];
            let size = match after_packet(there, 0) {
                Some(size) if size <= there.len() => {
                    let from = self.from;
                    self.from += size;
                    return Ok(Some(&self.buffer[from..][..size]));
                }
                // What is around the packet's content is short.
                Some(size) if size > FIELD_LIMIT + 16 => return Err(unknown()),
                size => size.unwrap_or(0),
            };
            if !self.fill(size)? {
                return match self.from == self.until {
                    true => Ok(None),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Reads more, with room for a packet of `size` bytes; `false` at the end.
    fn fill(&mut self, size: usize) -> io::Result<bool> {
        self.buffer.copy_within(self.from..self.until, 0);
        self.until -= self.from;
        self.from = 0;
        let room = size.max(self.until + 1).next_multiple_of(PIECE);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perfetto::bundle::Bundler;
    use crate::proto::Writer;
    use crate::sink::Pack;

    #[test]
    fn what_was_written_ends_at_a_packet() {
        let long = [&[0x0A, 0x81, 0x01][..], &[7; 129]].concat();
        let packets = [&[0x0A, 2, 1, 2][..], &long, &[0x0A, 0]].concat();
        for (written, want) in [
            (0, 0),
            (3, 0),
            (4, 4),
            (5, 4),
            (135, 4),
            (136, 136),
            (137, 136),
            (138, 138),
        ] {
            assert_eq!(whole(&packets[..written]), want, "{written}");
        }
        assert_eq!(whole(&[0x0A, 0x80]), 0);
    }

    #[test]
    fn events_are_counted_where_they_begin_in_bundles_too() {
        let mut out = Writer::default();
        let mut add = |kind| {
            let open = out.open(trace::PACKET, 0);
            out.uint(packet::TIMESTAMP, 7);
            let told = out.open(packet::TRACK_EVENT, 0);
            out.text(event::ANNOTATIONS, "moved");
            out.uint(event::TYPE, kind);
            out.close(told);
            out.close(open);
        };
        for kind in [event::BEGIN, event::END, event::INSTANT, event::COUNTER] {
            (0..100).for_each(|_| add(kind));
        }
        let open = out.open(trace::PACKET, 0);
        out.text(packet::TRACK_DESCRIPTOR, "track");
        out.close(open);
        assert_eq!(events(out.as_bytes()), 300);
        let packed = Bundler::new(1).pack(out.as_bytes());
        assert!(packed.len() < out.len());
        let both = [packed.as_bytes(), out.as_bytes(), packed.as_bytes()].concat();
        assert_eq!(events(&both), 900);
    }

    #[test]
    fn packets_of_any_size_are_read_in_any_pieces() {
        struct Pieces<'b>(&'b [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let len = self.1.min(buffer.len());
                self.0.read(&mut buffer[..len])
            }
        }
        let mut file = Vec::new();
        let sizes = [0, 1, 126, 127, 128, 300, 70_000, PIECE + 5, 3 * PIECE, 2];
        for size in sizes {
            let mut packet = Writer::default();
            packet.text(1, &"x".repeat(size));
            file.extend_from_slice(packet.as_bytes());
        }
        for piece in [7, 1000, PIECE, usize::MAX] {
            let mut source = Source::new(Pieces(&file, piece));
            let mut rest = &file[..];
            for _ in sizes {
                let packet = source.next().unwrap().unwrap();
                assert!(rest.starts_with(packet));
                rest = &rest[packet.len()..];
            }
            assert!(source.next().unwrap().is_none());
        }
        let mut cut = Source::new(&file[..file.len() - 1]);
        for _ in &sizes[1..] {
            cut.next().unwrap().unwrap();
        }
        assert_eq!(cut.next().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        for bad in [&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F][..], &[0xFF; 20]] {
            let error = Source::new(bad).next().map(drop).unwrap_err();
            assert_eq!(error.to_string(), "it has other content than was written");
        }
    }
}
