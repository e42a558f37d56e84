//! Text that is read piece by piece.

use std::io::{self, Read};
use std::string::FromUtf8Error;

/// What is read at least at once.
pub const CHUNK: usize = 1 << 17;

/// A window on the text of a file, which moves on as it is read. Bytes that aren't UTF-8 are U+FFFD in it.
pub struct Text<R> {
    input: R,
    window: String,
    /// What of the window has been taken.
    taken: usize,
    /// Bytes and lines before the window.
    bytes: u64,
    lines: u64,
    /// The start of a character whose end hasn't been read.
    cut: Vec<u8>,
    /// How many bad sequences of bytes were replaced, and where the first was.
    replaced: u64,
    first_replaced: Option<Place>,
    /// What ended the reading, to be told behind what came before.
    error: Option<io::Error>,
}

/// A place in a file. Both count from 1, as editors do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub byte: u64,
    pub line: u64,
}

impl<R: Read> Text<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            window: String::new(),
            taken: 0,
            bytes: 0,
            lines: 0,
            cut: Vec::new(),
            replaced: 0,
            first_replaced: None,
            error: None,
        }
    }

    /// All that is in the window, and where the rest begins in it.
    pub fn window(&self) -> (&str, usize) {
        (&self.window, self.taken)
    }

    /// Gives what has been taken since the last time, and where it begins. What is left goes into `spare`.
    pub fn split(&mut self, spare: String) -> (String, Place) {
        let start = Place {
            byte: self.bytes + 1,
            line: self.lines + 1,
        };
        let mut rest = spare;
        rest.clear();
        rest.reserve(self.window.len() - self.taken + CHUNK);
        rest.push_str(&self.window[self.taken..]);
        let mut taken = std::mem::replace(&mut self.window, rest);
        taken.truncate(self.taken);
        self.bytes += self.taken as u64;
        self.lines += lines(taken.as_bytes());
        self.taken = 0;
        (taken, start)
    }

    /// What has been read and not taken.
    pub fn rest(&self) -> &str {
        &self.window[self.taken..]
    }

    /// Goes on behind the next `bytes` of the rest.
    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Where the rest begins, or what is `bytes` behind that. (Behind bad bytes, which are longer here, it is the place in
    /// the text with U+FFFD.)
    pub fn place(&self, bytes: usize) -> Place {
        let end = self.taken + bytes;
        let before = &self.window.as_bytes()[..end.min(self.window.len())];
        Place {
            byte: self.bytes + end as u64 + 1,
            line: self.lines + lines(before) + 1,
        }
    }

    /// How many bad sequences of bytes were replaced, and where the first was.
    pub fn replaced(&self) -> (u64, Option<Place>) {
        (self.replaced, self.first_replaced)
    }

    /// Reads at least as much again as the rest is long. `false`: there is no more.
    pub fn more(&mut self) -> io::Result<bool> {
        self.lines += lines(&self.window.as_bytes()[..self.taken]);
        self.bytes += self.taken as u64;
        self.window.drain(..self.taken);
        self.taken = 0;

        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let is_start = self.bytes == 0 && self.window.is_empty();
        let want = CHUNK.max(self.window.len());
        let mut bytes = std::mem::take(&mut self.window).into_bytes();
        let start = bytes.len();
        bytes.append(&mut self.cut);
        let cut = bytes.len();
        bytes.reserve(want);
        let read = self
            .input
            .by_ref()
            .take(want as u64)
            .read_to_end(&mut bytes);
        let is_end = bytes.len() == cut;
        self.window =
            String::from_utf8(bytes).unwrap_or_else(|error| self.replace_bad(error, is_end));
        match read {
            Err(error) if is_end => return Err(error),
            Err(error) => self.error = Some(error),
            Ok(_) if is_end && cut == start => return Ok(false),
            Ok(_) => {}
        }
        if is_start && self.window.starts_with('\u{FEFF}') {
            self.taken = '\u{FEFF}'.len_utf8();
        }
        Ok(true)
    }
}

impl<R> Text<R> {
    /// Text of bytes that are none: what may begin a character waits for more bytes if there are, all else is replaced.
    #[cold]
    fn replace_bad(&mut self, error: FromUtf8Error, is_end: bool) -> String {
        let good = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        let rest = bytes.split_off(good);
        let mut text = String::from_utf8(bytes).expect("it was looked at");
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let bad = chunk.invalid();
            if bad.is_empty() {
                continue;
            }
            // At most three bytes begin a character.
            if chunks.peek().is_none() && !is_end && may_go_on(bad) {
                self.cut = bad.to_vec();
            } else {
                if self.replaced == 0 {
                    self.first_replaced = Some(Place {
                        byte: self.bytes + text.len() as u64 + 1,
                        line: self.lines + lines(text.as_bytes()) + 1,
                    });
                }
                text.push(char::REPLACEMENT_CHARACTER);
                self.replaced += 1;
            }
        }
        text
    }
}

/// Whether more bytes may make a character of these.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl Place {
    /// What is `bytes` behind this in `text`, which begins here.
    pub fn behind(self, text: &str, bytes: usize) -> Self {
        Self {
            byte: self.byte + bytes as u64,
            line: self.line + lines(&text.as_bytes()[..bytes]),
        }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, so that every character is cut.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let len = buf.len().min(self.0.len()).min(1);
            buf[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    #[test]
    fn bad_bytes_are_replaced_and_counted() {
        let mut text = Text::new(Slow(b"\xEF\xBB\xBFa\xFFb\xE2\x82"));
        while text.more().unwrap() {}
        assert_eq!(text.rest(), "a\u{FFFD}b\u{FFFD}");
        let first = Place { byte: 5, line: 1 };
        assert_eq!(text.replaced(), (2, Some(first)));
    }

    #[test]
    fn a_character_may_be_cut_by_a_chunk() {
        let all = format!("{}\u{D55C}", "x".repeat(CHUNK - 1));
        let mut text = Text::new(all.as_bytes());
        while text.more().unwrap() {}
        assert_eq!((text.rest() == all, text.replaced()), (true, (0, None)));
    }

    #[test]
    fn places_count_from_one() {
        let mut text = Text::new(&b"ab\ncd\n\nef"[..]);
        text.more().unwrap();
        assert_eq!(text.place(0), Place { byte: 1, line: 1 });
        text.take(3);
        assert!(!text.more().unwrap());
        assert_eq!(text.rest(), "cd\n\nef");
        assert_eq!(text.place(5), Place { byte: 9, line: 4 });
    }
}
