//! Reading captures.

use std::io::{self, Read};

use super::decoder::decode;
use super::error::CaptureError;
use super::frame::{FILE_HEADER, HEADER, Header, MAGIC, ORDER, VERSION, padding};
use super::record::Record;

/// So much of a record is read at once: what its header says of its size may be wrong.
const PIECE: u64 = 1 << 20;

/// Reads the records of a capture, one by one. Memory is bounded by the longest record that is there.
///
/// Whatever the bytes, it reads no more than these, and doesn't panic.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// How many bytes were read.
    offset: u64,
    body: Vec<u8>,
    ending: Option<Ending>,
    /// Whether the last record was the session's end.
    has_ended: bool,
}

/// How a capture ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the session's end.
    Whole,
    /// The session was not ended: the program was killed, for example. What its streams had not written yet is missing.
    Open,
    /// The last record is cut.
    Cut {
        /// Where it starts, and all before it is good.
        offset: u64,
        /// How many bytes of it there are.
        bytes: u64,
    },
}

impl<R: Read> Reader<R> {
    /// Reads the file's header. `input` is best buffered, or is asked for many short pieces.
    ///
    /// # Errors
    /// If it is none of this version or an earlier one, and of this byte order, or can't be read.
    pub fn new(mut input: R) -> Result<Self, CaptureError> {
        let mut header = [0; FILE_HEADER];
        let read = fill(&mut input, &mut header)
            .map_err(|error| CaptureError::Read { offset: 0, error })?;
        let number = |at| u16::from_ne_bytes([header[at], header[at + 1]]);
        if read < FILE_HEADER || header[..MAGIC.len()] != MAGIC {
            return Err(CaptureError::NotACapture);
        }
        match number(8) {
            ORDER => {}
            order if order == ORDER.swap_bytes() => return Err(CaptureError::ByteOrder),
            _ => return Err(CaptureError::NotACapture),
        }
        if !(1..=VERSION).contains(&number(10)) {
            return Err(CaptureError::Version { found: number(10) });
        }
        Ok(Self {
            input,
            offset: FILE_HEADER as u64,
            body: Vec::new(),
            ending: None,
            has_ended: false,
        })
    }

    /// Gives `take` the next record, and returns what it makes of it; `None` at the end, of which [`ending`](Self::ending) tells
    /// more.
    ///
    /// # Errors
    /// If the record is damaged, or can't be read. There is nothing to be had after that.
    pub fn next<T>(
        &mut self,
        take: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<Option<T>, CaptureError> {
        if self.ending.is_some() {
            return Ok(None);
        }
        let start = self.offset;
        let next = self.read_record(start, take);
        if next.is_err() {
            self.ending = Some(Ending::Cut {
                offset: start,
                bytes: self.offset - start,
            });
        }
        next
    }

    /// Reads the record that is at `start`.
    fn read_record<T>(
        &mut self,
        start: u64,
        take: impl FnOnce(&Record<'_>) -> T,
    ) -> Result<Option<T>, CaptureError> {
        let damaged = |what| CaptureError::Damaged {
            offset: start,
            what,
        };
        let mut header = [0; HEADER];
        let read = fill(&mut self.input, &mut header).map_err(|error| self.failed(error))?;
        self.offset += read as u64;
        if read < HEADER {
            self.ending = Some(match read {
                0 if self.has_ended => Ending::Whole,
                0 => Ending::Open,
                _ => Ending::Cut {
                    offset: start,
                    bytes: read as u64,
                },
            });
            return Ok(None);
        }
        let header = Header::from_bytes(header).ok_or_else(|| damaged("has no header"))?;
        if self.has_ended {
            return Err(damaged("comes after the session's end"));
        }
        let whole = header
            .size
            .checked_add(padding(header.size) as u64)
            .ok_or_else(|| damaged("has a size out of range"))?;
        if self.read_body(whole)? < whole {
            self.ending = Some(Ending::Cut {
                offset: start,
                bytes: self.offset - start,
            });
            return Ok(None);
        }
        let body = &self.body[..header.size as usize];
        let (taken, is_end) = decode(header, body, |record| {
            (take(record), matches!(record, Record::End))
        })
        .map_err(damaged)?;
        self.has_ended = is_end;
        Ok(Some(taken))
    }

    /// How the file ends, once [`next`](Self::next) has come there.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// How many bytes of the file were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the body of a record; returns how much of it there is.
    fn read_body(&mut self, size: u64) -> Result<u64, CaptureError> {
        self.body.clear();
        let mut left = size;
        while left > 0 {
            let piece = left.min(PIECE);
            let read = self.input.by_ref().take(piece).read_to_end(&mut self.body);
            let read = read.map_err(|error| self.failed(error))? as u64;
            self.offset += read;
            left -= read;
            if read < piece {
                break;
            }
        }
        Ok(size - left)
    }

    fn failed(&self, error: io::Error) -> CaptureError {
        CaptureError::Read {
            offset: self.offset,
            error,
        }
    }
}

/// Reads until `bytes` are full, or there are no more; returns how many there were.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match input.read(&mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
