//! A thread of the file: a lane of a stream's place.

use super::Chrome;
use super::lines::{CLOSE, close};
use super::text::Text;
use super::threads::Spot;
use crate::json;
use crate::proto::Writer;

/// A thread of a stream.
///
/// Viewers sort a file by time, and at one time put ends first, then whole ranges by their lengths, then all else. So what
/// starts together with a range that has only begun can't be a whole one: it would stand around that. Two halves keep their
/// order, and so do ranges without length.
pub(super) struct Thread {
    pub(super) spot: Spot,
    /// What its events begin with: process, thread, and the name of the time. In the second one the
    /// thread stands first: readers take fields in any order, and who puts the file in order has to
    /// know which ranges were not declared to nest, and which ends were moved.
    heads: [Vec<u8>; 2],
    /// Whether the file has its name.
    described: bool,
    /// Where the ranges start that have begun here and not ended, outermost first.
    begun: Vec<i64>,
    /// Whether what comes next may start together with the innermost of them.
    is_fresh: bool,
}

/// An instant of a thread.
pub(super) const INSTANT: &[u8] = b"i\",\"s\":\"t";

impl Thread {
    pub(super) fn new(spot: Spot) -> Self {
        let numbers = [("pid", spot.process), ("tid", spot.thread)];
        let heads = [numbers, [numbers[1], numbers[0]]].map(|numbers| {
            let [(first, one), (second, other)] = numbers;
            format!("\",\"{first}\":{one},\"{second}\":{other},\"ts\":").into_bytes()
        });
        Self {
            spot,
            heads,
            described: false,
            begun: Vec::new(),
            is_fresh: false,
        }
    }

    /// What the events of ranges begin with that were declared to nest, or were not.
    #[inline]
    pub(super) fn head(&self, nests: bool) -> &[u8] {
        &self.heads[usize::from(!nests)]
    }

    /// Describes the thread if the file does not know it yet.
    pub(super) fn describe(&mut self, session: &Chrome, out: &mut Writer) {
        if !self.described {
            self.described = true;
            session.threads.add(&self.spot, out);
        }
    }

    /// Notes that a range has begun here.
    pub(super) fn begin(&mut self, time: i64) {
        self.begun.push(time);
        self.is_fresh = true;
    }

    /// Notes that the innermost range that has begun here ends. Returns when it began, and whether viewers can tell that: not
    /// if it ends when it begins.
    pub(super) fn end(&mut self, time: i64) -> (i64, bool) {
        let start = self.begun.pop().unwrap_or(time);
        (start, start != time)
    }

    /// Whether a range must be two halves.
    pub(super) fn splits(&mut self, start: i64, end: i64) -> bool {
        if start == end {
            return false;
        }
        self.is_fresh &= self.begun.last() == Some(&start);
        self.is_fresh
    }

    /// Appends whole lines of those at the beginning of `ready` that start together with what has begun here, as two halves.
    /// Returns how many bytes and events that were.
    pub(super) fn split(&mut self, base: i64, ready: &[u8], out: &mut Writer) -> (usize, u64) {
        let (mut taken, mut events) = (0, 0);
        while self.is_fresh && taken < ready.len() {
            let line = &ready[taken..];
            let next = line[2..].windows(2).position(|pair| pair == b",\n");
            let line = &line[..next.map_or(line.len(), |at| at + 2)];
            if self.split_line(base, line, out).is_none() {
                self.is_fresh = false;
                break;
            }
            taken += line.len();
            events += 1;
        }
        (taken, events)
    }

    /// Appends a line, as two halves if it must be; `None` if it stands behind all that must.
    fn split_line(&mut self, base: i64, line: &[u8], out: &mut Writer) -> Option<()> {
        let (phase, mut rest) = Text(line).phase()?;
        let begun = *self.begun.last()?;
        if phase != b'X' {
            let _ = rest.skip(b",\"s\":\"t\"");
            rest.thread()?;
            // Instants may come late.
            let is_before = rest.time(b",\"ts\":", base)? <= begun;
            return is_before.then(|| out.raw(line));
        }
        let (_, is_turned) = rest.thread()?;
        let start = rest.time(b",\"ts\":", base)?;
        let end = rest.time(b",\"dur\":", start)?;
        if end == start {
            return (start == begun).then(|| out.raw(line));
        }
        let says = rest.0.strip_prefix(b",")?.strip_suffix(CLOSE)?;
        self.splits(start, end).then(|| {
            open_point(b"B", self.head(!is_turned), base, start, out);
            out.raw(says);
            close(out);
            self.close_half(base, end, out);
        })
    }

    /// Appends the second half of a range that was whole.
    pub(super) fn close_half(&self, base: i64, end: i64, out: &mut Writer) {
        open_point(b"E", self.head(true), base, end, out);
        out.raw(b"\"args\":{");
        close(out);
    }
}

/// Appends what stands before what a range says.
#[inline]
pub(super) fn open_range(head: &[u8], base: i64, start: i64, end: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"X");
    out.raw(head);
    json::micros(base, start, out);
    out.put(b",\"dur\":");
    json::micros(start, end, out);
    out.put(b",");
}

/// The same for what has one time.
pub(super) fn open_point(phase: &[u8], head: &[u8], base: i64, time: i64, out: &mut Writer) {
    out.put(b",\n{\"ph\":\"");
    out.raw(phase);
    out.raw(head);
    json::micros(base, time, out);
    out.put(b",");
}
