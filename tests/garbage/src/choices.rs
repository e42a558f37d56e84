//! Choices, made by the bytes of an input.

use arbitrary::Unstructured;

/// Makes choices by the bytes of an input. When those are used up, each choice is the first one: the plainest.
pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    pub fn is_used_up(&self) -> bool {
        self.0.is_empty()
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.int_in_range(0..=bound - 1).unwrap_or_default()
    }

    /// Whether to do what is to be done once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// One of `from`, or `other` if that is empty.
    pub fn pick_or<T: Copy>(&mut self, from: &[T], other: T) -> T {
        match from {
            [] => other,
            from => self.pick(from),
        }
    }

    /// Some bytes: as many as asked for, with zeros for those that are not there any more.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        // Fills what is left up with zeros.
        let _ = self.0.fill_buffer(&mut bytes);
        bytes
    }

    /// Any number, and rather one at which something changes.
    pub fn number(&mut self) -> u64 {
        let edge = match self.below(8) {
            0..3 => return self.below(12),
            3 => 1 << 24,
            4 => 1 << 32,
            5 => 1 << 63,
            6 => 0,
            _ => return self.0.arbitrary().unwrap_or_default(),
        };
        let step = self.below(5);
        u64::wrapping_add(edge, step).wrapping_sub(2)
    }

    /// Any timestamp, and rather one of a few close ones.
    pub fn time(&mut self) -> i64 {
        match self.below(8) {
            0..6 => self.below(200) as i64 - 20,
            _ => self.number() as i64,
        }
    }
}
