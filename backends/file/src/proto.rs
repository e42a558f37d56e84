//! Writes protobuf messages into a buffer, and reads them.

mod read;
mod steady;

pub(crate) use read::{Fields, Value, first_uint, nested};
pub(crate) use steady::{Steady, Tail, small_pair};

/// The wire types that we use.
pub(crate) const VARINT: u32 = 0;
pub(crate) const FIXED64: u32 = 1;
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

/// The fewest bytes that a writer grows by.
const GROWTH: usize = 1 << 10;

/// Writers of so many bytes get memory in few steps: what they leave behind each time was used.
const LARGE: usize = 1 << 16;

/// A growing run of protobuf fields.
#[derive(Default)]
pub(crate) struct Writer {
    /// All of them are initialised, so that a short run is written as one word whatever its length.
    bytes: Vec<u8>,
    /// How many of them are written.
    len: usize,
}

impl Writer {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps room for so many bytes, or for what there is if that is more.
    pub(crate) fn shrink_to(&mut self, len: usize) {
        self.bytes.truncate(len.max(self.len));
        self.bytes.shrink_to_fit();
    }

    /// Takes back what was written from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// A slot for a message. `None` if there is no room yet: the next one finds it.
    #[inline(always)]
    pub(crate) fn slot<const N: usize>(&mut self) -> Option<Slot<'_, N>> {
        let (len, size) = (self.len, self.bytes.len());
        if size < len || size - len < N {
            self.grow(N);
            return None;
        }
        let room = self.bytes[len..].first_chunk_mut()?;
        let kept = &mut self.len;
        Some(Slot { room, len: 0, kept })
    }

    /// Fields that are already encoded.
    pub(crate) fn raw(&mut self, fields: &[u8]) {
        self.reserve(fields.len());
        self.bytes[self.len..][..fields.len()].copy_from_slice(fields);
        self.len += fields.len();
    }

    /// A few bytes: how many is known when this is compiled.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.reserve(N);
        self.bytes[self.len..][..N].copy_from_slice(bytes);
        self.len += N;
    }

    /// The first `len` of the eight bytes of `word`, lowest first.
    #[inline(always)]
    pub(crate) fn word(&mut self, word: u64, len: usize) {
        let at = self.len;
        match self.bytes.get_mut(at..at + 8) {
            Some(room) => {
                room.copy_from_slice(&word.to_le_bytes());
                self.len = at + len;
            }
            None => {
                self.grow(8);
                self.raw(&word.to_le_bytes()[..len]);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn uint(&mut self, field: u32, value: u64) {
        let (tag, tag_len) = tag(field, VARINT);
        // Most tags are one byte, which leaves seven for the number.
        if tag_len == 1 && value < 1 << 49 {
            let (word, len) = varint(value);
            self.word(tag | word << 8, 1 + len);
        } else {
            self.long_uint(field, value);
        }
    }

    #[inline(never)]
    fn long_uint(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// A negative value takes ten bytes, as `int64` has it.
    #[inline]
    pub(crate) fn int(&mut self, field: u32, value: i64) {
        self.uint(field, value as u64);
    }

    pub(crate) fn bool(&mut self, field: u32, value: bool) {
        self.uint(field, value.into());
    }

    #[inline]
    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.word(value, 8);
    }

    #[inline]
    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(crate) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(crate) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, BYTES);
        self.varint(value.len() as u64);
        self.raw(value);
    }

    /// Begins a nested message of about `expected` bytes. A wrong guess only costs a move.
    #[inline]
    pub(crate) fn open(&mut self, field: u32, expected: usize) -> Open {
        let (tag, len) = tag(field, BYTES);
        let width = width(expected);
        // The bytes that are kept free are null for now.
        if len + width <= 8 {
            self.word(tag, len + width);
        } else {
            self.word(tag, len);
            self.word(0, width);
        }
        Open {
            start: self.len,
            width,
        }
    }

    /// Ends the nested message that was begun last.
    #[inline]
    pub(crate) fn close(&mut self, open: Open) {
        let Open { start, width: kept } = open;
        let len = self.len - start;
        if kept == 1 && len < 0x80 {
            self.bytes[start - 1] = len as u8;
        } else {
            self.close_long(open, len);
        }
    }

    fn close_long(&mut self, open: Open, len: usize) {
        let Open { start, width: kept } = open;
        let needed = width(len);
        if needed > kept {
            let more = needed - kept;
            self.reserve(more);
            self.bytes.copy_within(start..start + len, start + more);
            self.len += more;
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

    #[inline]
    fn tag(&mut self, field: u32, wire: u32) {
        let (word, len) = tag(field, wire);
        self.word(word, len);
    }

    #[inline]
    pub(crate) fn varint(&mut self, value: u64) {
        if value < 1 << 56 {
            let (word, len) = varint(value);
            self.word(word, len);
        } else {
            self.long_varint(value);
        }
    }

    #[inline(never)]
    fn long_varint(&mut self, value: u64) {
        let (low, high) = long_varint(value);
        self.word(low, 8);
        self.word(high.0, high.1);
    }

    /// Makes room for `more` bytes.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() - self.len < more {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let needed = self.len + more + GROWTH;
        let capacity = self.bytes.capacity();
        if needed > capacity {
            let factor = if needed < LARGE { 2 } else { 8 };
            self.bytes.truncate(self.len);
            let room = (capacity * factor).max(needed) - self.len;
            self.bytes.reserve_exact(room);
        }
        // What is not used is not touched, so that it is not there.
        let soon = needed + self.len.min(LARGE);
        let size = soon.min(self.bytes.capacity());
        self.bytes.resize(size.max(self.bytes.len()), 0);
    }
}

/// The tag of a field with a number up to 15: of bytes, or of a number.
pub(crate) const fn tag_byte(field: u32, is_bytes: bool) -> u64 {
    assert!(field < 16);
    (field << 3 | if is_bytes { BYTES } else { VARINT }) as u64
}

/// The bytes of a [`Slot`] for messages of up to 256 bytes: places in it take fewer instructions than in a long one.
pub(crate) const SHORT_SLOT: usize = 256 + 8;

/// The same for messages of up to 1,024 bytes.
pub(crate) const LONG_SLOT: usize = 1024 + 8;

/// Room at the end of a writer for a message of at most `N - 8` bytes, a power of two, which is written once it
/// is [kept](Slot::keep). What would go beyond does harm to that message only.
pub(crate) struct Slot<'w, const N: usize> {
    room: &'w mut [u8; N],
    len: usize,
    /// The writer's length.
    kept: &'w mut usize,
}

impl<const N: usize> Slot<'_, N> {
    /// The most bytes of a message.
    pub(crate) const MOST: usize = N - 8;

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first `len` of the eight bytes of `word`, lowest first.
    #[inline(always)]
    pub(crate) fn word(&mut self, word: u64, len: usize) {
        // The remainder spares a check.
        let at = self.len % Self::MOST;
        self.room[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self.len += len;
    }

    #[inline(always)]
    pub(crate) fn varint(&mut self, value: u64) {
        if value < 1 << 56 {
            let (word, len) = varint(value);
            self.word(word, len);
        } else {
            let (low, high) = long_varint(value);
            self.word(low, 8);
            self.word(high.0, high.1);
        }
    }

    /// Writes what takes the room and what is written of it, and returns how much that is then.
    #[inline(always)]
    pub(crate) fn with(&mut self, write: impl FnOnce(&mut [u8; N], usize) -> usize) {
        self.len = write(self.room, self.len);
    }

    /// The same for what may not write all; then the slot is not to be kept.
    #[inline(always)]
    pub(crate) fn try_with(
        &mut self,
        write: impl FnOnce(&mut [u8; N], usize) -> Option<usize>,
    ) -> Option<()> {
        self.len = write(self.room, self.len)?;
        Some(())
    }

    /// What is written where `len` bytes of a room are.
    #[inline]
    pub(crate) fn at(
        room: &mut [u8; N],
        len: usize,
        write: impl FnOnce(&mut Slot<'_, N>),
    ) -> usize {
        let mut kept = 0;
        let mut slot = Slot {
            room,
            len,
            kept: &mut kept,
        };
        write(&mut slot);
        slot.len
    }

    #[inline(always)]
    pub(crate) fn keep(self) {
        *self.kept += self.len;
    }

    /// Sets a byte that was written.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, byte: u8) {
        self.room[at % Self::MOST] = byte;
    }
}

/// The first eight bytes of a number of more than 56 bits, and the others.
fn long_varint(value: u64) -> (u64, (u64, usize)) {
    let (low, _) = varint(value & ((1 << 56) - 1));
    (low | 0x8080_8080_8080_8080, varint(value >> 56))
}

/// The bytes of any number, in two words.
#[inline(always)]
pub(crate) fn any_varint(value: u64) -> ((u64, usize), (u64, usize)) {
    match value < 1 << 56 {
        true => (varint(value), (0, 0)),
        false => {
            let (low, high) = long_varint(value);
            ((low, 8), high)
        }
    }
}

/// The bytes of a number of up to 56 bits, lowest first, and how many there are. Without branches:
/// the sizes of numbers can't be foreseen.
#[inline(always)]
pub(crate) const fn varint(value: u64) -> (u64, usize) {
    let len = ((value | 1).ilog2() as usize * 9 + 73) / 64;
    // Spreads groups of 28, then 14, then 7 bits.
    let wide = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4;
    let wide = wide & 0x0000_3FFF_0000_3FFF | (wide & 0x0FFF_C000_0FFF_C000) << 2;
    let wide = wide & 0x007F_007F_007F_007F | (wide & 0x3F80_3F80_3F80_3F80) << 1;
    // All bytes but the last have their top bit set.
    let more = 0x0080_8080_8080_8080 >> (64 - 8 * len);
    (wide | more, len)
}

/// How many bytes a number takes.
pub(crate) fn varint_len(value: u64) -> usize {
    match value >> 56 {
        0 => varint(value).1,
        high => 8 + varint(high).1,
    }
}

/// Numbers below take four bytes at most.
pub(crate) const SMALL: u64 = 1 << SMALL_BITS;
const SMALL_BITS: u32 = 28;

/// The same for a [small](SMALL) number.
#[inline(always)]
pub(crate) fn small_varint(value: u64) -> (u64, usize) {
    let shape = SMALL_SHAPES[(value | 1).ilog2() as usize];
    (
        spread_small(value) | shape & u64::from(u32::MAX),
        (shape >> 32) as usize,
    )
}

/// By the highest bit of a small number: how many bytes its varint takes, and below these 32 bits the top bits of all
/// its bytes but the last.
const SMALL_SHAPES: [u64; 64] = {
    let (mut shapes, mut bit) = ([0; 64], 0);
    while bit < SMALL_BITS {
        let len = bit / 7 + 1;
        shapes[bit as usize] = (len as u64) << 32 | 0x0080_8080 >> (32 - 8 * len);
        bit += 1;
    }
    shapes
};

/// The groups of seven bits of a small number, each in a byte.
#[inline(always)]
fn spread_small(value: u64) -> u64 {
    let wide = value & 0x3FFF | (value & 0x0FFF_C000) << 2;
    wide & 0x007F_007F | (wide & 0x3F80_3F80) << 1
}

/// A field's tag of up to four bytes.
#[inline]
pub(crate) const fn tag(field: u32, wire: u32) -> (u64, usize) {
    varint((field << 3 | wire) as u64)
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
    fn numbers_of_every_width_read_back() {
        let edges = (0..64).map(|bit| 1_u64 << bit);
        for value in edges
            .flat_map(|edge| [edge - 1, edge, edge + 1])
            .chain([u64::MAX])
        {
            let mut writer = Writer::default();
            writer.uint(9, value);
            assert_eq!(
                writer.len(),
                1 + (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
            );
            assert_eq!(
                fields(writer.as_bytes()).collect::<Vec<_>>(),
                [(9, Field::Int(value))]
            );
        }
    }

    #[test]
    fn numbers_are_the_same_in_a_slot() {
        let edges = (0..64).map(|bit| 1_u64 << bit);
        for value in edges
            .flat_map(|edge| [edge - 1, edge, edge + 1, edge | edge >> 30])
            .chain([u64::MAX, 5, u64::MAX - 7])
        {
            let mut writer = Writer::default();
            writer.varint(value);
            let mut slotted = Writer::default();
            assert!(
                slotted.slot::<SHORT_SLOT>().is_none(),
                "there is no room yet"
            );
            let mut slot = slotted.slot::<SHORT_SLOT>().unwrap();
            slot.varint(value);
            slot.keep();
            assert_eq!(slotted.as_bytes(), writer.as_bytes(), "{value}");
        }
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
