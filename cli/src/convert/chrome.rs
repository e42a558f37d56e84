//! Reads the Chrome trace-event format: what is in memory is one event's text and a window around it, never the document.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::{mem, panic, thread};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::event::{Event, Events};
use super::json::KnownNames;
use super::text::{CHUNK, Place, Text};
use super::warnings::Warnings;
use crate::error::{Error, Result};

/// A warning.
pub const NOT_UTF8: &str = "bytes that are not UTF-8 are U+FFFD in the trace";

/// What takes a document.
pub trait Sink {
    /// An event; `place` tells where it stands.
    fn event(&mut self, event: &Event<'_>, place: &dyn Fn() -> Place) -> Result<()>;

    /// All else, when all events have been taken.
    fn rest(&mut self, rest: Rest);
}

/// What a document has beside events.
#[derive(Default)]
pub struct Rest {
    /// The members of the outer object; the values of `otherData` and `metadata`.
    pub members: Vec<(String, Option<Box<RawValue>>)>,
    pub warnings: Warnings,
}

/// Reads all events into `sink`. The document is `{"traceEvents": [...], ...}` or the bare array, either of which may lack its
/// closing brackets. After an error `sink` has what stands before.
///
/// One thread reads and finds the members of events, and this one makes something of them.
pub fn read(input: impl Read + Send, path: &Path, sink: &mut impl Sink) -> Result<()> {
    thread::scope(|scope| {
        let (batches, incoming) = mpsc::sync_channel(2);
        let (taken, used) = mpsc::channel();
        let reader = scope.spawn(|| {
            let mut reader = Reader {
                text: Text::new(input),
                path,
                rest: Rest::default(),
                events: Events::default(),
                names: KnownNames::default(),
                batches,
                used,
            };
            let result = reader.document();
            reader.send();
            let (replaced, first) = reader.text.replaced();
            if replaced > 0 {
                reader.rest.warnings.add_many(NOT_UTF8, first, replaced);
            }
            (result, reader.rest)
        });
        let result = incoming.into_iter().try_for_each(|batch: Batch| {
            batch.events.all.iter().try_for_each(|spans| {
                let place = || batch.start.behind(&batch.text, spans.start);
                sink.event(&batch.events.event(spans, &batch.text), &place)
            })?;
            // The reader may have ended.
            let _ = taken.send(batch);
            Ok(())
        });
        let (read, rest) = reader
            .join()
            .unwrap_or_else(|panic| panic::resume_unwind(panic));
        sink.rest(rest);
        result.and(read)
    })
}

/// The text of a huge event isn't kept.
const MAX_SPARE: usize = 4 * CHUNK;

/// Events, and the text that they are in.
#[derive(Default)]
struct Batch {
    text: String,
    start: Place,
    events: Events,
}

struct Reader<'p, R> {
    text: Text<R>,
    path: &'p Path,
    rest: Rest,
    /// Those in the window that were read.
    events: Events,
    names: KnownNames,
    batches: SyncSender<Batch>,
    /// What was made something of, whose memory is used again.
    used: Receiver<Batch>,
}

impl<R: Read> Reader<'_, R> {
    fn document(&mut self) -> Result<()> {
        match self.peek()? {
            Some(b'[') => {
                self.text.take(1);
                self.events()?;
            }
            Some(b'{') => {
                self.text.take(1);
                self.members()?;
            }
            Some(_) => return Err(self.bad("expected `{` or `[`, as a trace begins")),
            None => return Err(self.bad("the file is empty")),
        }
        match self.peek()? {
            // Some writers end an array that they appended to with a comma, or not at all.
            None => Ok(()),
            Some(_) => Err(self.bad("nothing is expected behind the trace")),
        }
    }

    /// The members of the outer object.
    fn members(&mut self) -> Result<()> {
        let mut is_found = false;
        loop {
            match self.peek()? {
                Some(b'}') => {
                    self.text.take(1);
                    break;
                }
                Some(b',') => self.text.take(1),
                Some(b'"') => {
                    let name: String = self.value()?;
                    if self.peek()? != Some(b':') {
                        return Err(self.bad("expected `:`"));
                    }
                    self.text.take(1);
                    if name == "traceEvents" && self.peek()? == Some(b'[') {
                        is_found = true;
                        self.text.take(1);
                        self.events()?;
                    } else {
                        let value = match &*name {
                            "otherData" | "metadata" => Some(self.value()?),
                            _ => {
                                self.value::<IgnoredAny>()?;
                                None
                            }
                        };
                        self.rest.members.push((name, value));
                    }
                }
                Some(_) => return Err(self.bad("expected a name in quotes")),
                None if is_found => break,
                None => return Err(self.bad("the file ends before any events")),
            }
        }
        if is_found {
            Ok(())
        } else {
            Err(Error::Input {
                path: self.path.to_owned(),
                problem:
                    "there is no array `traceEvents` in it, so it is no trace of Chrome's format"
                        .to_owned(),
            })
        }
    }

    /// What follows the opening bracket, to the closing one.
    fn events(&mut self) -> Result<()> {
        loop {
            match self.peek()? {
                Some(b']') => {
                    self.text.take(1);
                    return Ok(());
                }
                Some(b',') => self.text.take(1),
                Some(b'{') => {
                    if !self.event()? {
                        return Err(self.bad("the file ends inside an event"));
                    }
                }
                Some(first) => {
                    let kind = "an event that is no object is left out";
                    let place = self.text.place(0);
                    self.rest.warnings.add(kind, Some(place));
                    if matches!(first, b'-' | b'0'..=b'9' | b'a'..=b'z') {
                        self.word()?;
                    } else {
                        self.value::<IgnoredAny>()?;
                    }
                }
                None => return Ok(()),
            }
        }
    }

    /// Skips a number, or `true` and the like.
    fn word(&mut self) -> Result<()> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        loop {
            let rest = self.text.rest();
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            self.text.take(end);
            if !self.text.rest().is_empty() || !self.more()? {
                return Ok(());
            }
        }
    }

    /// The next byte that isn't white.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let rest = self.text.rest().as_bytes();
            let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let white = rest.iter().take_while(|&byte| is_white(byte)).count();
            let next = rest.get(white).copied();
            self.text.take(white);
            if next.is_some() {
                return Ok(next);
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }
}

impl<R: Read> Reader<'_, R> {
    /// Reads an event. `false`: the file ends in it.
    fn event(&mut self) -> Result<bool> {
        loop {
            let (window, start) = self.text.window();
            if let Some(end) = self.events.add(window, start, &mut self.names) {
                self.text.take(end - start);
                return Ok(true);
            }
            match parse::<IgnoredAny>(self.text.rest()) {
                Ok(_) => unreachable!("a whole object is found"),
                Err(error) if is_cut(&error, self.text.rest()) => {
                    if !self.more()? {
                        return Ok(false);
                    }
                }
                Err(error) => {
                    let at = offset(&error, self.text.rest());
                    let refused = self.refused(&error);
                    if !self.quote(at) {
                        return Err(refused);
                    }
                }
            }
        }
    }

    /// Puts a float that JSON has no word for into quotes, if one stands there: some writers write them all the same.
    fn quote(&mut self, at: usize) -> bool {
        let Some(before) = self.text.rest().get(..at) else {
            return false;
        };
        let start = before.strip_suffix('-').map_or(at, str::len);
        let rest = &self.text.rest()[start..];
        let words = ["NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-nan"];
        let Some(word) = words.into_iter().find(|word| rest.starts_with(word)) else {
            return false;
        };
        let kind = format_args!("`{word}` is no number of JSON, and text in the trace");
        let place = self.text.place(start);
        self.rest.warnings.add(kind, Some(place));
        self.text
            .replace(start..start + word.len(), &format!("\"{word}\""));
        true
    }

    /// Hands on what was read. `false`: the thread that takes it has met an error, which it tells.
    fn send(&mut self) -> bool {
        if self.events.all.is_empty() {
            return true;
        }
        let mut spare = self.used.try_recv().unwrap_or_default();
        spare.events.clear();
        if spare.text.capacity() > MAX_SPARE {
            spare.text = String::new();
        }
        let (text, start) = self.text.split(spare.text);
        let batch = Batch {
            text,
            start,
            events: mem::replace(&mut self.events, spare.events),
        };
        self.batches.send(batch).is_ok()
    }

    /// Reads a value that needs nothing of the text any more.
    fn value<T: DeserializeOwned>(&mut self) -> Result<T> {
        if self.peek()?.is_none() {
            return Err(self.bad("the file ends inside a value"));
        }
        loop {
            match parse(self.text.rest()) {
                Ok((value, len)) => {
                    self.text.take(len);
                    return Ok(value);
                }
                Err(error) if is_cut(&error, self.text.rest()) => {
                    if !self.more()? {
                        return Err(self.bad("the file ends inside a value"));
                    }
                }
                Err(error) => return Err(self.refused(&error)),
            }
        }
    }

    fn more(&mut self) -> Result<bool> {
        if !self.send() {
            return Ok(false);
        }
        let path = self.path;
        self.text
            .more()
            .map_err(|error| Error::io("read", path, error))
    }

    fn bad(&self, problem: &str) -> Error {
        self.bad_at(self.text.place(0), problem)
    }

    /// What the parser says of the rest.
    #[cold]
    fn refused(&self, error: &serde_json::Error) -> Error {
        let place = self.text.place(offset(error, self.text.rest()));
        // The place in the message would be the one inside this event.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or(&reason);
        self.bad_at(place, reason)
    }

    fn bad_at(&self, Place { byte, line }: Place, problem: &str) -> Error {
        Error::Input {
            path: self.path.to_owned(),
            problem: format!("line {line}, byte {byte}: {problem}"),
        }
    }
}

/// Where in `text` the parser met something that it refuses.
fn offset(error: &serde_json::Error, text: &str) -> usize {
    let before = error.line() - 1;
    let mut breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let line = before.checked_sub(1).and_then(|last| breaks.nth(last));
    line.map_or(0, |at| at + 1) + error.column().saturating_sub(1)
}

/// Whether more text may help: a number that ends behind its point, its `e` or its sign is refused, and not called cut.
fn is_cut(error: &serde_json::Error, text: &str) -> bool {
    error.is_eof() || offset(error, text) + 1 >= text.len()
}

/// The value that `text` begins with, and its length.
fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<(T, usize), serde_json::Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next().expect("the text begins with no blank")?;
    Ok((value, values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use super::*;

    #[test]
    fn an_event_may_be_cut_anywhere() {
        let event = r#"{"ph":"X","ts":-1.5e-1,"dur":2.5,"name":"\u00e4\n","args":{"a":[true,null,-0.5E+2]}}"#;
        // The blanks move the event across the end of the first window.
        let window = CHUNK;
        for blanks in window - event.len() - 2..window {
            let text = format!("[{}{event},{event}]", " ".repeat(blanks));
            let mut trace = Trace::new(&std::env::temp_dir());
            read(text.as_bytes(), Path::new("cut"), &mut trace).unwrap();
            assert_eq!(trace.warnings.lines().next(), None);
            assert_eq!(trace.number, 2);
        }
    }
}
