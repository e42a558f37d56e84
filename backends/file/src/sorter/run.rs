//! Runs: records in order, each with its key and its length before it.

use std::io;
use std::ops::Range;

use super::Key;
use super::spill::Spill;

/// How many bytes stand before a record: its key and its length.
pub(super) const HEADER: usize = 32;

/// Records are appended in pieces of this size.
const PIECE: usize = 1 << 16;

/// Appends a run to a file.
pub(super) struct RunWriter<'s> {
    spill: &'s mut Spill,
    buffer: Vec<u8>,
}

impl<'s> RunWriter<'s> {
    pub(super) fn new(spill: &'s mut Spill) -> Self {
        Self {
            spill,
            buffer: Vec::with_capacity(PIECE),
        }
    }

    pub(super) fn write(&mut self, key: Key, record: &[u8]) -> io::Result<()> {
        if self.buffer.len() + HEADER > PIECE {
            self.flush()?;
        }
        self.buffer.extend(key.group.to_le_bytes());
        self.buffer.extend(key.start.to_le_bytes());
        self.buffer.extend(key.rank.to_le_bytes());
        self.buffer.extend(key.number.to_le_bytes());
        self.buffer.extend((record.len() as u32).to_le_bytes());
        if self.buffer.len() + record.len() > PIECE {
            self.flush()?;
            if record.len() > PIECE {
                return self.spill.append(record);
            }
        }
        self.buffer.extend_from_slice(record);
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.spill.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// A run that is read.
pub(super) struct Run {
    /// Where what was not read from the file yet stands.
    rest: Range<u64>,
    /// How much is read at once, unless less is left.
    piece: usize,
    buffer: Vec<u8>,
    /// How much of the buffer is done with.
    done: usize,
    /// The length of the record whose key was read last.
    len: usize,
}

impl Run {
    pub(super) fn new(extent: Range<u64>, piece: usize) -> Self {
        Self {
            rest: extent,
            piece,
            buffer: Vec::new(),
            done: 0,
            len: 0,
        }
    }

    /// The key of the next record; `None` at the end.
    pub(super) fn next_key(&mut self, spill: &Spill) -> io::Result<Option<Key>> {
        if self.done == self.buffer.len() && self.rest.is_empty() {
            return Ok(None);
        }
        let mut header = [0; HEADER];
        self.fill(spill, &mut header)?;
        let mut rest = &header[..];
        let key = Key {
            group: u32::from_le_bytes(take(&mut rest)),
            start: i64::from_le_bytes(take(&mut rest)),
            rank: i64::from_le_bytes(take(&mut rest)),
            number: u64::from_le_bytes(take(&mut rest)),
        };
        self.len = u32::from_le_bytes(take(&mut rest)) as usize;
        Ok(Some(key))
    }

    /// The record whose key was read last.
    pub(super) fn record(&mut self, spill: &Spill, record: &mut Vec<u8>) -> io::Result<()> {
        record.resize(self.len, 0);
        self.fill(spill, record)
    }

    /// Takes the next bytes of the run.
    fn fill(&mut self, spill: &Spill, mut bytes: &mut [u8]) -> io::Result<()> {
        loop {
            let there = &self.buffer[self.done..];
            let len = there.len().min(bytes.len());
            let (filled, missing) = bytes.split_at_mut(len);
            filled.copy_from_slice(&there[..len]);
            self.done += len;
            if missing.is_empty() {
                return Ok(());
            }
            if missing.len() >= self.piece {
                spill.read(self.rest.start, missing)?;
                self.rest.start += missing.len() as u64;
                return Ok(());
            }
            let left = self.rest.end - self.rest.start;
            if left == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.buffer.resize(self.piece.min(left as usize), 0);
            self.done = 0;
            spill.read(self.rest.start, &mut self.buffer)?;
            self.rest.start += self.buffer.len() as u64;
            bytes = missing;
        }
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (taken, rest) = bytes.split_first_chunk().expect("a header has all parts");
    *bytes = rest;
    *taken
}
