//! Texts that a stream writes once and refers to by number.

use std::mem;

use crate::proto::varint;

/// How many texts a table holds, and how many bytes of them: what comes later is written inline.
const MAX_TEXTS: usize = 1 << 16;
const MAX_BYTES: usize = 8 << 20;
/// Longer texts hardly repeat.
const MAX_LEN: usize = 1 << 14;

/// Places of the table of recent keys.
const RECENT: usize = 256;

/// The numbers of texts, from 1.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    ends: Vec<u32>,
    /// By hash with open addressing. A power of two, at most a quarter full, so that most texts are in the
    /// first slot that is looked at.
    slots: Vec<Slot>,
    /// What keys stood for, by the key's low bits.
    recent: Option<Box<[Recent; RECENT]>>,
}

/// A text's place in the table.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// 0 is free.
    number: u32,
    varint: ShortVarint,
    /// Where the text is in the bytes of all.
    start: u32,
    len: u32,
}

/// What a key stands for; 0 is no key.
#[derive(Clone, Copy, Default)]
struct Recent {
    key: u64,
    number: u32,
    varint: ShortVarint,
}

/// A number's varint of up to three bytes, and how many these are in the fourth.
#[derive(Clone, Copy, Default)]
struct ShortVarint(u32);

impl ShortVarint {
    fn of(number: u32) -> Self {
        let (word, len) = varint(number.into());
        Self(word as u32 | (len as u32) << 24)
    }

    /// Its bytes, lowest first, and how many there are.
    #[inline(always)]
    fn word(self) -> (u64, usize) {
        (u64::from(self.0 & 0x00FF_FFFF), (self.0 >> 24) as usize)
    }
}

/// Where a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// It was there.
    Known(u32),
    /// It is there now: its number must be written before it is used.
    New(u32),
    /// It is not taken: it is written inline.
    Inline,
}

impl Texts {
    /// Whether it takes a new text of so many bytes.
    pub(crate) fn takes(&self, len: usize) -> bool {
        len <= MAX_LEN && self.ends.len() < MAX_TEXTS && self.bytes.len() + len <= MAX_BYTES
    }

    pub(crate) fn number(&mut self, text: &str) -> Number {
        if text.len() > MAX_LEN {
            return Number::Inline;
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); 16];
        }
        let at = match self.find(text.as_bytes()) {
            Ok(slot) => return Number::Known(slot.number),
            Err(free) => free,
        };
        if !self.takes(text.len()) {
            return Number::Inline;
        }
        let number = self.ends.len() as u32 + 1;
        self.slots[at] = Slot {
            number,
            varint: ShortVarint::of(number),
            start: self.bytes.len() as u32,
            len: text.len() as u32,
        };
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as u32);
        if self.ends.len() * 4 > self.slots.len() {
            self.grow();
        }
        Number::New(number)
    }

    /// The number of a text that is there, as the bytes of a varint, and how many there are.
    #[inline(always)]
    pub(crate) fn known_varint(&self, text: &[u8]) -> Option<(u64, usize)> {
        self.find(text).ok().map(|slot| slot.varint.word())
    }

    /// The slot of a text, or the free one for it.
    #[inline(always)]
    fn find(&self, text: &[u8]) -> Result<&Slot, usize> {
        let mut at = self.place(spread(text));
        loop {
            // Without slots there is none.
            let Some(slot) = self.slots.get(at).filter(|slot| slot.number != 0) else {
                return Err(at);
            };
            let (start, len) = (slot.start as usize, slot.len as usize);
            if len == text.len() && is_same(&self.bytes[start..start + len], text) {
                return Ok(slot);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The number that `key` (never 0) was last [remembered](Self::remember) with, unless it was
    /// forgotten since.
    #[inline]
    pub(crate) fn recent(&self, key: u64) -> Option<u32> {
        let recent = &self.recent.as_ref()?[key as usize % RECENT];
        (recent.key == key).then_some(recent.number)
    }

    /// The same as the bytes of a varint, and how many there are.
    #[inline(always)]
    pub(crate) fn recent_varint(&self, key: u64) -> Option<(u64, usize)> {
        let recent = &self.recent.as_ref()?[key as usize % RECENT];
        (recent.key == key).then_some(recent.varint.word())
    }

    pub(crate) fn remember(&mut self, key: u64, number: u32) {
        let recent = self
            .recent
            .get_or_insert_with(|| Box::new([Recent::default(); RECENT]));
        recent[key as usize % RECENT] = Recent {
            key,
            number,
            varint: ShortVarint::of(number),
        };
    }

    /// Whether this is the text of a number.
    #[inline]
    pub(crate) fn is(&self, number: u32, text: &str) -> bool {
        self.text(number) == text.as_bytes()
    }

    #[inline]
    fn text(&self, number: u32) -> &[u8] {
        let index = number as usize - 1;
        let start = index.checked_sub(1).map_or(0, |i| self.ends[i] as usize);
        &self.bytes[start..self.ends[index] as usize]
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }

    fn grow(&mut self) {
        let more = vec![Slot::default(); self.slots.len() * 2];
        let slots = mem::replace(&mut self.slots, more);
        for slot in slots.into_iter().filter(|slot| slot.number != 0) {
            let mut at = self.place(spread(self.text(slot.number)));
            while self.slots[at].number != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }
}

/// Whether two texts are the same. Most are short.
#[inline(always)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    match one.len() {
        len if len != other.len() => false,
        8..=16 => ends::<8>(one) == ends::<8>(other),
        17..=32 => ends::<16>(one) == ends::<16>(other),
        _ => one == other,
    }
}

/// The first and the last bytes, which overlap in the middle.
#[inline(always)]
fn ends<const N: usize>(text: &[u8]) -> (Option<&[u8; N]>, Option<&[u8; N]>) {
    (text.first_chunk(), text.last_chunk())
}

/// A hash of text that is short, mostly.
#[inline(always)]
fn spread(text: &[u8]) -> u64 {
    let (len, mut seed) = (text.len(), text.len() as u64);
    // Both may have some bytes in common.
    let (first, last) = if let (Some(first), Some(last)) = ends::<8>(text) {
        if len > 16 {
            for word in text[8..len - 1].as_chunks::<8>().0 {
                seed = (seed.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
            }
        }
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = ends::<4>(text) {
        let [first, last] = [first, last].map(|word| u32::from_le_bytes(*word));
        (first.into(), last.into())
    } else {
        let all = text.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        (all, 0)
    };
    let product = u128::from(first ^ seed ^ FACTOR) * u128::from(last ^ OTHER_FACTOR);
    product as u64 ^ (product >> 64) as u64
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const OTHER_FACTOR: u64 = 0xD1B5_4A32_D192_ED03;

/// Spreads a number over 64 bits; different numbers stay different.
#[inline]
pub(crate) fn mix(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash.rotate_left(23) ^ u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut texts = Texts::default();
        for i in 0..5000 {
            assert_eq!(texts.number(&format!("text {i}")), Number::New(i + 1));
        }
        for i in 0..5000 {
            assert_eq!(texts.number(&format!("text {i}")), Number::Known(i + 1));
            assert!(texts.is(i + 1, &format!("text {i}")));
        }
        assert_eq!(texts.number(""), Number::New(5001));
        assert_eq!(texts.number(""), Number::Known(5001));
        assert_eq!(texts.number("\0"), Number::New(5002));
    }

    #[test]
    fn texts_that_differ_in_one_byte_are_two() {
        let mut texts = Texts::default();
        assert_eq!(texts.known_varint(b"b"), None);
        let mut count = 0;
        for len in 1..70 {
            for at in 0..len {
                let mut text = vec![b'a'; len];
                text[at] = b'b';
                let text = str::from_utf8(&text).unwrap();
                assert_eq!(texts.known_varint(text.as_bytes()), None);
                count += 1;
                assert_eq!(texts.number(text), Number::New(count));
                let known = texts.known_varint(text.as_bytes());
                assert_eq!(known, Some(varint(count.into())));
            }
        }
    }

    #[test]
    fn a_full_table_knows_what_it_has() {
        let mut texts = Texts::default();
        assert_eq!(texts.number(&"x".repeat(MAX_LEN + 1)), Number::Inline);
        for i in 0..MAX_TEXTS {
            assert_ne!(texts.number(&i.to_string()), Number::Inline);
        }
        assert_eq!(texts.number("one more"), Number::Inline);
        assert_eq!(texts.number("7"), Number::Known(8));

        let mut texts = Texts::default();
        for i in 0..MAX_BYTES / MAX_LEN {
            let text = format!("{i:0width$}", width = MAX_LEN);
            assert_eq!(texts.number(&text), Number::New(i as u32 + 1));
        }
        assert_eq!(texts.number("a"), Number::Inline);
    }

    #[test]
    fn recent_keys_are_remembered_until_others_take_their_place() {
        let mut texts = Texts::default();
        assert_eq!(texts.recent(5), None);
        texts.remember(5, 1);
        assert_eq!(texts.recent(5), Some(1));
        assert_eq!(texts.recent_varint(5), Some((1, 1)));
        texts.remember(5 + RECENT as u64, MAX_TEXTS as u32);
        assert_eq!(texts.recent(5), None);
        assert_eq!(texts.recent_varint(5), None);
        assert_eq!(texts.recent(5 + RECENT as u64), Some(MAX_TEXTS as u32));
        let varint = texts.recent_varint(5 + RECENT as u64);
        assert_eq!(varint, Some((0x04_80_80, 3)));
    }
}
