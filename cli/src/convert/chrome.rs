//! Reads the Chrome trace-event format: what is in memory is one event's text and a window around it, never the document.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::{mem, panic, thread};

use super::columns::string;
use super::event::{Event, Events};
use super::json::{self, KnownNames, Oddity};
use super::text::{CHUNK, Place, Text};
use super::warnings::Warnings;
use crate::error::{Error, Result};

/// A warning.
pub const NOT_UTF8: &str = "bytes that are not UTF-8 are U+FFFD in the trace";

/// Larger members of the outer object are data, and no metadata.
const MAX_METADATA: usize = 1 << 20;

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
    /// The members of the outer object, as JSON; `None` for large ones.
    pub members: Vec<(String, Option<String>)>,
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
                    let name = self.value()?;
                    let name = string(&name).unwrap_or_default().into_owned();
                    if self.peek()? != Some(b':') {
                        return Err(self.bad("expected `:`"));
                    }
                    self.text.take(1);
                    if name == "traceEvents" && self.peek()? == Some(b'[') {
                        is_found = true;
                        self.text.take(1);
                        self.events()?;
                    } else {
                        let value = self.value()?;
                        let is_kept = value.len() <= MAX_METADATA;
                        self.rest.members.push((name, is_kept.then_some(value)));
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
                Some(_) => {
                    let kind = "an event that is no object is left out";
                    let place = self.text.place(0);
                    self.rest.warnings.add(kind, Some(place));
                    self.value()?;
                }
                None => return Ok(()),
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
            match self.events.add(window, start, &mut self.names) {
                Ok(end) => {
                    if !self.names.odd.is_empty() {
                        let odd = mem::take(&mut self.names.odd);
                        self.warn(&odd, start);
                    }
                    self.text.take(end - start);
                    return Ok(true);
                }
                Err(at) if at < window.len() => return Err(self.no_json(at - start)),
                Err(_) => {
                    if !self.more()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Warns of oddities, whose places are in a window that begins `start` before the rest.
    #[cold]
    fn warn(&mut self, odd: &[(Oddity, usize)], start: usize) {
        for (oddity, at) in odd {
            let place = self.text.place(at - start);
            self.rest.warnings.add(oddity.warning(), Some(place));
        }
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

    /// Reads a value, and gives its JSON.
    fn value(&mut self) -> Result<String> {
        if self.peek()?.is_none() {
            return Err(self.bad("the file ends inside a value"));
        }
        loop {
            let (rest, mut odd) = (self.text.rest(), Vec::new());
            let (found, len) = (json::value(rest, 0, &mut odd), rest.len());
            match found {
                Err(at) if at < len => return Err(self.no_json(at)),
                // A number may go on.
                Ok(end) if end < len => return Ok(self.taken(end, &odd)),
                found => match (self.more()?, found) {
                    (true, _) => {}
                    (false, Ok(end)) => return Ok(self.taken(end, &odd)),
                    (false, Err(_)) => return Err(self.bad("the file ends inside a value")),
                },
            }
        }
    }

    /// Takes a value of that length.
    fn taken(&mut self, len: usize, odd: &[(Oddity, usize)]) -> String {
        self.warn(odd, 0);
        let value = self.text.rest()[..len].to_owned();
        self.text.take(len);
        value
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

    /// The error of text that is no JSON, so far behind the rest's beginning.
    #[cold]
    fn no_json(&self, at: usize) -> Error {
        self.bad_at(self.text.place(at), "this is no JSON")
    }

    fn bad_at(&self, Place { byte, line }: Place, problem: &str) -> Error {
        Error::Input {
            path: self.path.to_owned(),
            problem: format!("line {line}, byte {byte}: {problem}"),
        }
    }
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
