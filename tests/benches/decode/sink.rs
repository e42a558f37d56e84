//! What values are shown to.

use std::hint::black_box;

/// A tape is started anew when it is so long: it is to stay in a cache, as a buffer does that is written to a file.
const LENGTH: usize = 1 << 16;

/// Takes values one by one. Decoders have it behind a pointer: what it does with them is not theirs to know.
pub trait Sink: Send {
    fn number(&mut self, field: usize, value: u64);
    fn text(&mut self, field: usize, text: &[u8]);
    /// An array of so many elements, or a struct (of 1), begins.
    fn open(&mut self, field: usize, len: usize);
    fn close(&mut self, field: usize);
    /// All that was shown since the sink was made, or since the tape was full.
    fn tape(&self) -> &[u8];
}

/// Keeps the values, one after the other.
struct Tape(Vec<u8>);

/// A new sink, of which no caller knows the type.
pub fn sink() -> Box<dyn Sink> {
    black_box(Box::new(Tape(Vec::with_capacity(LENGTH))))
}

impl Tape {
    #[inline]
    fn put(&mut self, what: u8, field: usize, value: u64) {
        if self.0.len() > LENGTH - 16 {
            self.0.clear();
        }
        let head = (field as u64) << 8 | u64::from(what);
        let record = u128::from(value) << 64 | u128::from(head);
        self.0.extend_from_slice(&record.to_le_bytes());
    }
}

impl Sink for Tape {
    fn number(&mut self, field: usize, value: u64) {
        self.put(0, field, value);
    }

    fn text(&mut self, field: usize, text: &[u8]) {
        self.put(1, field, text.len() as u64);
        if self.0.len() + text.len() <= LENGTH {
            self.0.extend_from_slice(text);
        }
    }

    fn open(&mut self, field: usize, len: usize) {
        self.put(2, field, len as u64);
    }

    fn close(&mut self, field: usize) {
        self.put(3, field, 0);
    }

    fn tape(&self) -> &[u8] {
        &self.0
    }
}
