//! Numbers that are much like those before them.

use std::hint::cold_path;

use super::{SMALL, SMALL_BITS, small_varint, spread_small, varint};

/// Two numbers as varints, lowest byte first, and how many bytes each takes.
pub(crate) type Pair = [(u64, usize); 2];

/// Encodes pairs of numbers whose upper bits hardly change from one to the next, such as times.
pub(crate) struct Steady {
    /// What is left of the numbers without the bits of a small one; greater than that of any if nothing is known.
    high: u64,
    /// The bytes of that, behind four others.
    word: u64,
    /// How many bytes each number takes, but for the tail.
    len: usize,
    /// What a word has no room for.
    tail: Tail,
}

/// What follows the first eight bytes of each number of a [`Steady`]: the bits of a greater number
/// above [`WORD_BITS`], as a byte.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Tail(u64);

/// A number of so many bits takes a word at most.
const WORD_BITS: u32 = 56;

impl Tail {
    fn of(number: u64) -> Self {
        Self(number >> WORD_BITS)
    }

    /// How many bytes it has.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        usize::from(self.0 != 0)
    }

    /// The tail, and behind it these bytes, lowest first.
    #[inline(always)]
    pub(crate) fn before(self, word: u64) -> u64 {
        word << (8 * self.len()) | self.0
    }
}

impl Default for Steady {
    fn default() -> Self {
        Self {
            high: u64::MAX,
            word: 0,
            len: 0,
            tail: Tail::default(),
        }
    }
}

impl Steady {
    /// What stands behind each number. Only a pair that is `None` changes it.
    #[inline(always)]
    pub(crate) fn tail(&self) -> Tail {
        self.tail
    }

    /// `None` if one of them has another [tail](Self::tail).
    #[inline(always)]
    pub(crate) fn pair(&mut self, numbers: [u64; 2]) -> Option<Pair> {
        let [one, other] = numbers;
        // No method of arrays: these are not always inlined.
        let highs = (one >> SMALL_BITS, other >> SMALL_BITS);
        if highs != (self.high, self.high) {
            cold_path();
            return self.any_pair(numbers);
        }
        let word = |number| (spread_small(number) | 0x8080_8080 | self.word, self.len);
        Some([word(one), word(other)])
    }

    #[inline(never)]
    fn any_pair(&mut self, numbers: [u64; 2]) -> Option<Pair> {
        let [one, other] = numbers;
        if one | other < SMALL && self.tail.len() == 0 {
            return Some([small_varint(one), small_varint(other)]);
        }
        let [tail, other_tail] = numbers.map(Tail::of);
        if tail != self.tail || other_tail != tail {
            // Those that have the top bit have no tail of a byte.
            if tail == other_tail && tail.0 < 0x80 {
                self.tail = tail;
                self.high = u64::MAX;
            }
            return None;
        }
        let pair = numbers.map(|number| {
            let (word, len) = varint(number & ((1 << WORD_BITS) - 1));
            match tail.len() {
                0 => (word, len),
                _ => (word | 0x8080_8080_8080_8080, 8),
            }
        });
        let [high, other] = numbers.map(|number| number >> SMALL_BITS);
        if high == other && high > 0 {
            // The bytes of both are the same from the fifth on.
            let [(word, len), _] = pair;
            *self = Self {
                high,
                word: word & !u64::from(u32::MAX),
                len,
                tail,
            };
        }
        Some(pair)
    }
}

/// A pair of numbers that most often are small, and below 2^56.
#[inline(always)]
pub(crate) fn small_pair([one, other]: [u64; 2]) -> Pair {
    if one | other < SMALL {
        return [small_varint(one), small_varint(other)];
    }
    cold_path();
    [varint(one), varint(other)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    #[test]
    fn numbers_are_the_same_in_pairs() {
        let edges = (0..64).map(|bit| 1_u64 << bit);
        let numbers: Vec<_> = edges
            .flat_map(|edge| [edge - 1, edge, edge + 1, edge | edge >> 30])
            .chain([5, u64::MAX, u64::MAX - 7])
            .collect();
        let mut steady = Steady::default();
        let mut misses = 0;
        for (index, &one) in numbers.iter().enumerate() {
            for other in [one, one ^ 77, numbers[index / 2]] {
                let tail = steady.tail();
                let is_known = [one, other].map(Tail::of) == [tail; 2];
                let mut pair = steady.pair([one, other]);
                assert_eq!(pair.is_some(), is_known);
                if pair.is_none() && steady.tail() != tail {
                    // From the second one on these are known.
                    pair = steady.pair([one, other]);
                    assert!(pair.is_some());
                }
                misses += usize::from(pair.is_none());
                for (number, (word, len)) in
                    [one, other].into_iter().zip(pair.into_iter().flatten())
                {
                    let mut writer = Writer::default();
                    writer.varint(number);
                    let mut bytes = word.to_le_bytes()[..len].to_vec();
                    let tail = steady.tail();
                    bytes.extend(&tail.before(0).to_le_bytes()[..tail.len()]);
                    assert_eq!(bytes, writer.as_bytes(), "{number}");
                }
            }
        }
        // Two of different tails, or with the top bit.
        assert!((10..100).contains(&misses), "{misses}");
    }
}
