//! Where packets end.

use crate::sink::Framing;

/// A file of packets: what follows the last whole one is skipped, and nothing has to.
pub(super) const PACKETS: Framing = Framing { whole, tail: b"" };

/// How many bytes of the beginning of a run are whole packets.
fn whole(written: &[u8]) -> usize {
    let mut end = 0;
    while let Some(next) = after_packet(written, end).filter(|next| *next <= written.len()) {
        end = next;
    }
    end
}

/// Where the packet ends that starts at `at`: a tag of one byte, the length of the rest, and that.
fn after_packet(packets: &[u8], at: usize) -> Option<usize> {
    let mut size = 0;
    for (index, &byte) in packets.get(at + 1..)?.iter().enumerate() {
        size |= usize::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            return Some(at + 2 + index + size);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
