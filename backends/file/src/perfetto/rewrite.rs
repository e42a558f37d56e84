//! Reads a file of packets back, to write the events of some of its streams again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Take};
use std::ops::RangeInclusive;
use std::path::Path;

use super::bundle::{bundle, unpack};
use super::field::{annotation, clock_snapshot, defaults, event, packet, trace};
use super::framing::{Source, after_packet};
use super::packet::{Left, Packets, mark_of};
use super::steps::Steps;
use crate::merge::{Events, Lane, Rewrite, unknown};
use crate::outlet::RUN;
use crate::proto::{Fields, Value};
use crate::scratch::about;
use crate::sink::{Draft, Sink};
use crate::timeline::On;
use crate::track::TrackId;

/// A file of packets in the making.
pub(super) struct PacketRewrite<'s> {
    sink: &'s Sink,
    draft: Draft,
    source: Source<Take<File>>,
    /// The timestamp that is 0 in the file.
    base: i64,
    streams: Vec<Left>,
    /// The packets of the stream that goes to the file now, and its number.
    present: Option<(u32, Packets)>,
}

impl<'s> PacketRewrite<'s> {
    pub(super) fn begin(sink: &'s Sink, base: i64, streams: Vec<Left>) -> io::Result<Self> {
        let (draft, file) = Draft::of(sink)?;
        Ok(Self {
            sink,
            source: Source::new(file.take(draft.len())),
            draft,
            base,
            streams,
            present: None,
        })
    }
}

impl Rewrite for PacketRewrite<'_> {
    type Emitter = Packets;

    fn path(&self) -> &Path {
        self.draft.target()
    }

    fn times(&self) -> RangeInclusive<i64> {
        self.base..=self.base.saturating_add(i64::MAX)
    }

    fn read(&mut self, events: &mut Events) -> io::Result<()> {
        let mut reader = Reader::new(self.base, &self.streams);
        let mut copy = Vec::with_capacity(RUN * 2);
        let mut unpacked = Vec::new();
        let failed = |error| about("reading", self.draft.target(), &error);
        // Errors of other files tell where they come from.
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => failed(error),
            _ => error,
        };
        while let Some(packet) = self.source.next().map_err(failed)? {
            match bundle(content(packet).map_err(failed)?) {
                None => reader.read(packet, events, &mut copy).map_err(taken)?,
                Some(bundle) => {
                    unpack(bundle, &mut unpacked).map_err(failed)?;
                    let mut rest = &unpacked[..];
                    while !rest.is_empty() {
                        let end = after_packet(rest, 0).filter(|end| *end <= rest.len());
                        let (packet, after) =
                            rest.split_at(end.ok_or_else(unknown).map_err(failed)?);
                        reader.read(packet, events, &mut copy).map_err(taken)?;
                        rest = after;
                    }
                }
            }
            if copy.len() >= RUN {
                self.draft.append(&copy)?;
                copy.clear();
            }
        }
        self.draft.append(&copy)
    }

    fn places(&self, stream: u32) -> usize {
        self.streams[stream as usize].places.len()
    }

    fn emitter(&mut self, stream: u32) -> &mut Packets {
        let packets = match self.present.take() {
            Some(present) if present.0 == stream => present,
            _ => {
                let left = &self.streams[stream as usize];
                let packets = Packets::again(left, self.draft.sink(), self.base);
                (stream, packets)
            }
        };
        &mut self.present.insert(packets).1
    }

    fn complete(&mut self, stream: u32) -> io::Result<()> {
        // The draft keeps an error.
        let _ = self.emitter(stream).send();
        // Others need the memory.
        self.present = None;
        self.draft.check()
    }

    fn replace(self) -> io::Result<()> {
        self.draft.place(self.sink)
    }
}

/// Tells events of streams that are written again from the rest of a file.
struct Reader {
    base: i64,
    /// The streams by their sequences.
    streams: HashMap<u64, u32>,
    /// What each stream's tracks are.
    tracks: HashMap<(u32, TrackId), Spot>,
    steps: Vec<Steps>,
}

#[derive(Clone, Copy)]
enum Spot {
    Lane { place: u32, lane: u32 },
    Counter(u32),
}

impl Reader {
    fn new(base: i64, streams: &[Left]) -> Self {
        let mut reader = Self {
            base,
            streams: HashMap::new(),
            tracks: HashMap::new(),
            steps: streams.iter().map(|_| Steps::default()).collect(),
        };
        for (stream, number) in streams.iter().zip(0..) {
            reader.streams.insert(stream.sequence().into(), number);
            for ((_, lanes), place) in stream.places.iter().zip(0..) {
                for (&track, lane) in lanes.iter().zip(0..) {
                    let spot = Spot::Lane { place, lane };
                    reader.tracks.insert((number, track), spot);
                }
            }
            for (&track, counter) in stream.counters.iter().zip(0..) {
                let spot = Spot::Counter(counter);
                reader.tracks.insert((number, track), spot);
            }
        }
        reader
    }

    /// Takes the event that a packet is, or copies it if it belongs to the rest of the file.
    fn read(&mut self, packet: &[u8], events: &mut Events, copy: &mut Vec<u8>) -> io::Result<()> {
        let (mut stream, mut nests, mut time, mut event) = (None, false, 0, None);
        let (mut flags, mut has_more, mut clock) = (0, false, None);
        for (index, field) in Fields::of(content(packet)?).enumerate() {
            match field {
                (packet::SEQUENCE, Value::Int(sequence)) => {
                    nests = index > 0;
                    stream = self.streams.get(&sequence).copied();
                    if stream.is_none() {
                        break;
                    }
                    continue;
                }
                (packet::SEQUENCE_FLAGS, Value::Int(value)) => {
                    flags = value;
                    continue;
                }
                (packet::TIMESTAMP, Value::Int(value)) => time = value,
                (packet::TRACK_EVENT, Value::Bytes(content)) => event = Some(content),
                // They come again for what they are still needed for.
                (packet::TRACK_DESCRIPTOR, _) => return Ok(()),
                (packet::DEFAULTS, Value::Bytes(told)) => clock = clock_of(told),
                _ => {}
            }
            has_more = true;
        }
        let mark = mark_of(flags).filter(|_| !has_more);
        match (stream, event, mark) {
            (Some(stream), Some(event), _) => {
                let time = self.steps[stream as usize].time(time);
                let time = self.base.wrapping_add(time as i64);
                self.event(stream, event, time, nests, events)?;
            }
            (Some(stream), None, Some(number)) => events.mark(stream, number),
            // The events that come again have no steps.
            (Some(stream), None, None) if clock.is_some() => {
                self.steps[stream as usize].are_told = clock == Some(clock_snapshot::OWN);
            }
            _ => copy.extend_from_slice(packet),
        }
        Ok(())
    }

    fn event(
        &mut self,
        stream: u32,
        event: &[u8],
        time: i64,
        nests: bool,
        events: &mut Events,
    ) -> io::Result<()> {
        let mut fields = Fields::of(event);
        let (mut first, mut end) = (fields.next(), time);
        if let Some((event::ANNOTATIONS, Value::Bytes(moved))) = first {
            end = moved_end(moved)
                .ok_or_else(unknown)?
                .wrapping_add(self.base);
            first = fields.next();
        }
        let Some((event::TYPE, Value::Int(kind))) = first else {
            return Err(unknown());
        };
        let mut rest = fields.rest();
        let spot = match fields.next() {
            Some((event::TRACK_UUID, Value::Int(track))) => {
                rest = fields.rest();
                *self.tracks.get(&(stream, track)).ok_or_else(unknown)?
            }
            _ => Spot::Lane { place: 0, lane: 0 },
        };
        match (kind, spot) {
            (event::BEGIN, Spot::Lane { place, lane }) => {
                let lane = Lane {
                    stream,
                    place,
                    lane,
                };
                events.begin(lane, time, nests, rest);
                Ok(())
            }
            (event::END, Spot::Lane { place, lane }) => {
                let lane = Lane {
                    stream,
                    place,
                    lane,
                };
                events.end(lane, end, rest)
            }
            (event::INSTANT, Spot::Lane { place, .. }) => {
                events.point(stream, On::Place(place), time, rest)
            }
            (event::COUNTER, Spot::Counter(counter)) => {
                events.point(stream, On::Counter(counter), time, rest)
            }
            _ => Err(unknown()),
        }
    }
}

fn content(packet: &[u8]) -> io::Result<&[u8]> {
    match Fields::of(packet).next() {
        Some((trace::PACKET, Value::Bytes(content))) => Ok(content),
        _ => Err(unknown()),
    }
}

/// The clock that defaults name.
fn clock_of(told: &[u8]) -> Option<u64> {
    Fields::of(told).find_map(|field| match field {
        (defaults::CLOCK_ID, Value::Int(clock)) => Some(clock),
        _ => None,
    })
}

/// The end that a range has itself, from the annotation that tells it.
fn moved_end(annotation: &[u8]) -> Option<i64> {
    Fields::of(annotation).find_map(|field| match field {
        (annotation::INT, Value::Int(end)) => Some(end as i64),
        _ => None,
    })
}
