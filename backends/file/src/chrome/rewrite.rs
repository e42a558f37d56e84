//! Reads a file of lines back, to write the events of some of its streams again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use super::arrow::{copy, flows};
use super::counter::{DELTA, value_of};
use super::encoder::{FLOW, args_of, has_flows};
use super::lines::{CLOSE, Left, Lines, MARK, MOVED_END};
use super::text::Text;
use super::threads::{Forgotten, thread_of};
use super::{BEGIN, Chrome};
use crate::merge::{ArrowEnd, Events, Lane, Rewrite, unknown};
use crate::outlet::RUN;
use crate::proto::Writer;
use crate::scratch::about;
use crate::sink::Draft;
use crate::timeline::On;

/// A file of lines in the making.
pub(super) struct LineRewrite<'s> {
    chrome: &'s Arc<Chrome>,
    draft: Draft,
    source: BufReader<Take<File>>,
    streams: Vec<Left>,
    /// The lines of the stream that goes to the file now, and its number.
    present: Option<(u32, Lines)>,
    /// The threads of the session's file, until this one takes its place.
    threads: Forgotten<'s>,
}

impl<'s> LineRewrite<'s> {
    pub(super) fn begin(chrome: &'s Arc<Chrome>, streams: Vec<Left>) -> io::Result<Self> {
        let (draft, file) = Draft::of(&chrome.sink)?;
        let lanes = lanes(&streams);
        let threads = chrome.threads.forget(|thread| lanes.contains_key(&thread));
        Ok(Self {
            chrome,
            source: BufReader::with_capacity(RUN, file.take(draft.len())),
            draft,
            streams,
            present: None,
            threads,
        })
    }
}

impl Rewrite for LineRewrite<'_> {
    type Emitter = Lines;

    fn path(&self) -> &Path {
        self.draft.target()
    }

    fn times(&self) -> RangeInclusive<i64> {
        i64::MIN..=i64::MAX
    }

    fn read(&mut self, events: &mut Events) -> io::Result<()> {
        let mut reader = Reader::new(self.chrome.base, &self.streams);
        let failed = |error| about("reading", self.draft.target(), &error);
        // Errors of other files tell where they come from.
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => failed(error),
            _ => error,
        };
        let (mut line, mut copy) = (Vec::new(), Vec::with_capacity(RUN * 2));
        // Two lines begin the file: what is before the events, and the name of the session's process.
        for _ in 0..2 {
            self.source.read_until(b'\n', &mut copy).map_err(failed)?;
        }
        if !copy.starts_with(BEGIN) {
            return Err(failed(unknown()));
        }
        let mut left = self.draft.len() - copy.len() as u64;
        // Each line but the last one ends with a comma, which stands before the next one here.
        if copy.ends_with(b",\n") {
            copy.truncate(copy.len() - 2);
        }
        loop {
            line.clear();
            line.extend_from_slice(b",\n");
            let read = self.source.read_until(b'\n', &mut line).map_err(failed)?;
            left -= read as u64;
            if read == 0 {
                break;
            }
            match line.strip_suffix(b",\n") {
                Some(line) => reader.read(line, events, &mut copy).map_err(taken)?,
                None if left == 0 => reader.read(&line, events, &mut copy).map_err(taken)?,
                None if line.ends_with(b"\n") => return Err(failed(unknown())),
                None => break,
            }
            if copy.len() >= RUN {
                self.draft.append(&copy)?;
                copy.clear();
            }
        }
        if left > 0 {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        self.draft.append(&copy)
    }

    fn has_arrows(&self) -> bool {
        self.chrome.flows.has_any()
    }

    fn flows(fields: &[u8]) -> impl Iterator<Item = u64> {
        flows(fields)
    }

    fn join(fields: &[u8], ends: &[ArrowEnd], out: &mut Writer) {
        copy(fields, out);
        for end in ends {
            out.put(&[FLOW]);
            out.put(&end.mark().to_le_bytes());
        }
    }

    fn places(&self, stream: u32) -> usize {
        self.streams[stream as usize].places.len()
    }

    fn emitter(&mut self, stream: u32) -> &mut Lines {
        let lines = match self.present.take() {
            Some(present) if present.0 == stream => present,
            _ => {
                let left = &self.streams[stream as usize];
                (stream, Lines::again(left, self.chrome, self.draft.sink()))
            }
        };
        &mut self.present.insert(lines).1
    }

    fn complete(&mut self, stream: u32) -> io::Result<()> {
        // The draft keeps an error.
        let _ = self.emitter(stream).send();
        // Others need the memory.
        self.present = None;
        self.draft.check()
    }

    fn replace(mut self) -> io::Result<()> {
        self.draft.place(&self.chrome.sink)?;
        self.threads.is_final = true;
        Ok(())
    }
}

/// The lanes of streams by their threads.
fn lanes(streams: &[Left]) -> HashMap<u64, Lane> {
    let mut all = HashMap::new();
    for (left, stream) in streams.iter().zip(0..) {
        for ((_, tracks), place) in left.places.iter().zip(0..) {
            let lanes = tracks.iter().zip(0..).map(|(track, lane)| {
                let lane = Lane {
                    stream,
                    place,
                    lane,
                };
                (thread_of(*track), lane)
            });
            all.extend(lanes);
        }
    }
    all
}

/// Tells events of streams that are written again from the rest of a file.
struct Reader {
    base: i64,
    lanes: HashMap<u64, Lane>,
    /// The stream of each counter's source, and its number there.
    counters: HashMap<u64, (u32, u32)>,
    /// By their numbers in the session.
    streams: HashMap<u64, u32>,
    /// What an event says, with its flows behind.
    fields: Vec<u8>,
}

impl Reader {
    fn new(base: i64, streams: &[Left]) -> Self {
        let (mut counters, mut numbers) = (HashMap::new(), HashMap::new());
        for (left, stream) in streams.iter().zip(0..) {
            numbers.insert(left.number.into(), stream);
            let sources = left.counters.iter().zip(0..);
            counters.extend(sources.map(|((_, source), counter)| (*source, (stream, counter))));
        }
        Self {
            base,
            lanes: lanes(streams),
            counters,
            streams: numbers,
            fields: Vec::new(),
        }
    }

    /// Takes the event that a line is, or copies it if it belongs to the rest of the file. The line
    /// begins with what is between lines.
    fn read(&mut self, line: &[u8], events: &mut Events, copy: &mut Vec<u8>) -> io::Result<()> {
        match self.take(line, events) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(error),
            None => {
                copy.extend_from_slice(line);
                Ok(())
            }
        }
    }

    /// `None` if it is none of an event that is written again.
    fn take(&mut self, line: &[u8], events: &mut Events) -> Option<io::Result<()>> {
        let Some((phase, mut rest)) = Text(line).phase() else {
            return Some(Err(unknown()));
        };
        match phase {
            // All arrows are written again.
            b's' | b'f' => return Some(Ok(())),
            b'M' => return self.metadata(rest, events),
            b'C' => {
                let counter = rest.skip(b",\"source\":").and_then(|()| rest.number());
                let Some(source) = counter else {
                    return Some(Err(unknown()));
                };
                let &(stream, counter) = self.counters.get(&source)?;
                return Some(self.value(stream, counter, rest, events));
            }
            _ => {}
        }
        let _ = rest.skip(b",\"s\":\"t\"");
        let Some((thread, is_turned)) = rest.thread() else {
            return Some(Err(unknown()));
        };
        let &lane = self.lanes.get(&thread)?;
        Some(self.event(phase, lane, is_turned, rest, events))
    }

    fn event(
        &mut self,
        phase: u8,
        lane: Lane,
        is_turned: bool,
        mut rest: Text<'_>,
        events: &mut Events,
    ) -> io::Result<()> {
        let start = rest.time(b",\"ts\":", self.base).ok_or_else(unknown)?;
        let end = match phase {
            b'X' => Some(rest.time(b",\"dur\":", start).ok_or_else(unknown)?),
            _ => None,
        };
        rest.skip(b",").ok_or_else(unknown)?;
        let mut all = Vec::new();
        while let Some(flow) = rest.flow() {
            add_flow(flow, &mut all);
        }
        let fields = rest.0.strip_suffix(CLOSE).ok_or_else(unknown)?;
        match phase {
            b'X' | b'B' => {
                self.fields.clear();
                self.fields.extend_from_slice(fields);
                self.fields.append(&mut all);
                events.begin(lane, start, !is_turned, &self.fields);
                match end {
                    Some(end) => events.end(lane, end, b""),
                    None => Ok(()),
                }
            }
            b'E' => self.end(lane, start, is_turned, (fields, all), events),
            b'i' => events.point(lane.stream, On::Place(lane.place), start, fields),
            _ => Err(unknown()),
        }
    }

    /// The second half of a range, which tells its own end if it is moved.
    fn end(
        &mut self,
        lane: Lane,
        mut end: i64,
        is_moved: bool,
        (fields, mut flows): (&[u8], Vec<u8>),
        events: &mut Events,
    ) -> io::Result<()> {
        let mut rest = Text(fields);
        rest.skip(b"\"args\":{").ok_or_else(unknown)?;
        if is_moved {
            end = rest.time(MOVED_END, self.base).ok_or_else(unknown)?;
            let _ = rest.skip(b",");
        }
        let first = events.innermost(lane).unwrap_or_default();
        self.fields.clear();
        if !rest.0.is_empty() && !args_of(first).is_empty() {
            self.fields.push(b',');
        }
        self.fields.extend_from_slice(rest.0);
        if has_flows(first) && flows.is_empty() {
            // Whether there are any must be seen at the end.
            add_flow(0, &mut flows);
        }
        self.fields.append(&mut flows);
        events.end(lane, end, &self.fields)
    }

    fn value(
        &mut self,
        stream: u32,
        counter: u32,
        mut rest: Text<'_>,
        events: &mut Events,
    ) -> io::Result<()> {
        rest.skip(b",\"pid\":").ok_or_else(unknown)?;
        rest.number().ok_or_else(unknown)?;
        let time = rest.time(b",\"ts\":", self.base).ok_or_else(unknown)?;
        let line = rest.0.strip_suffix(CLOSE).ok_or_else(unknown)?;
        let value = match rest.skip(DELTA) {
            // In none there is a comma.
            Some(()) => rest.0.split(|byte| *byte == b',').next(),
            None => Some(value_of(line)),
        };
        let value = value.ok_or_else(unknown)?;
        events.point(stream, On::Counter(counter), time, value)
    }

    fn metadata(&mut self, mut rest: Text<'_>, events: &mut Events) -> Option<io::Result<()>> {
        rest.skip(b",\"pid\":")?;
        rest.number()?;
        if rest.skip(b",\"tid\":").is_some() {
            // Threads are named again if they are used.
            let thread = rest.number()?;
            return self.lanes.contains_key(&thread).then_some(Ok(()));
        }
        rest.skip(b",\"name\":\"")?;
        rest.skip(MARK.as_bytes())?;
        rest.skip(b"\",\"args\":{\"stream\":")?;
        let stream = *self.streams.get(&rest.number()?)?;
        rest.skip(b",\"number\":")?;
        let number = u32::try_from(rest.number()?).ok()?;
        events.mark(stream, number);
        Some(Ok(()))
    }
}

fn add_flow(flow: u64, out: &mut Vec<u8>) {
    out.push(FLOW);
    out.extend_from_slice(&flow.to_le_bytes());
}
