//! Reads Perfetto files: those of the built-in backend as a whole, of others what they have in common with these.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::clocks::Clocks;
use super::declared;
use super::packets::{Fields, Packets, Stop, Value};
use super::summary::{
    Counter, Counts, Fact, Layouts, Names, Number, RangeKind, Span, Stream, Summary, Type, Values,
};
use super::track::{Track, Tracks};

mod packet {
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const COMPRESSED_PACKETS: u32 = 50;
    pub(super) const CLOCK: u32 = 58;
    pub(super) const DEFAULTS: u32 = 59;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const TRACE_ATTRIBUTES: u32 = 126;

    /// In `SEQUENCE_FLAGS`: what was interned before is void.
    pub(super) const CLEARED: u64 = 1;
}

mod defaults {
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const CLOCK: u32 = 58;
    /// Of the message in `TRACK_EVENT`.
    pub(super) const TRACK_UUID: u32 = 11;
}

mod interned {
    pub(super) const NAMES: u32 = 2;
    pub(super) const ANNOTATION_NAMES: u32 = 3;
    pub(super) const IID: u32 = 1;
    pub(super) const TEXT: u32 = 2;
}

mod event {
    pub(super) const ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_IID: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const NAME: u32 = 23;
    pub(super) const COUNTER_VALUE: u32 = 30;
    pub(super) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(super) const FLOW_IDS: u32 = 47;
    pub(super) const TERMINATING_FLOW_IDS: u32 = 48;

    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

mod annotation {
    pub(super) const NAME_IID: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const UINT: u32 = 3;
    pub(super) const INT: u32 = 4;
    pub(super) const DOUBLE: u32 = 5;
    pub(super) const STRING: u32 = 6;
    pub(super) const POINTER: u32 = 7;
    pub(super) const NAME: u32 = 10;
    pub(super) const DICT_ENTRIES: u32 = 11;
    pub(super) const ARRAY_VALUES: u32 = 12;
    pub(super) const STRING_IID: u32 = 17;
}

mod attributes {
    pub(super) const ATTRIBUTE: u32 = 1;
    pub(super) const KEY: u32 = 1;
    pub(super) const LONG: u32 = 2;
    pub(super) const STRING: u32 = 3;
}

/// The built-in backend's annotation of a range whose end is not where the file has it.
const MOVED_END: &str = "nvtxw.end";

/// What is in a file of packets.
pub(super) fn read(source: impl Read) -> Summary {
    let mut reader = Reader::default();
    let mut packets = Packets::new(source);
    let damage = loop {
        match packets.next() {
            Ok(Some(packet)) => {
                if let Err(problem) = reader.packet(packet) {
                    break Some(problem);
                }
            }
            Ok(None) => break None,
            Err(stop) => break Some(told(&stop)),
        }
    };
    reader.finish(damage)
}

/// What a file's end means to who reads it.
fn told(stop: &Stop) -> String {
    match stop {
        Stop::Cut { at, left } => format!(
            "the file ends inside a packet: the last {left} bytes, from byte {at} on, are left out"
        ),
        Stop::NoPacket { at } => {
            format!("what stands at byte {at} is no packet: it and all that follows is left out")
        }
        Stop::Io { at, error } => {
            format!("reading on from byte {at} failed ({error}): what follows is left out")
        }
    }
}

#[derive(Default)]
struct Reader {
    sequences: HashMap<u64, Sequence>,
    tracks: Tracks,
    clocks: Clocks,
    names: Names,
    layouts: Layouts,
    summary: Summary,
    /// By sequence and track.
    cells: HashMap<(u64, u64), Cell>,
    values: HashMap<u64, Values>,
    /// Ranges that are open, by track.
    open: HashMap<u64, Vec<Open>>,
}

/// What a sequence of packets has told.
#[derive(Default)]
struct Sequence {
    names: HashMap<u64, u32>,
    annotation_names: HashMap<u64, u32>,
    track: u64,
    clock: Option<u64>,
}

/// What one sequence wrote to one track.
#[derive(Default)]
struct Cell {
    counts: Counts,
    span: Span,
}

#[derive(Clone, Copy)]
struct Open {
    name: u32,
    start: u64,
    /// Which sequence began it.
    sequence: u64,
}

impl Reader {
    /// # Errors
    /// Why the packet's content can't be read.
    fn packet(&mut self, message: &[u8]) -> Result<(), String> {
        if let Some((packet::COMPRESSED_PACKETS, Value::Bytes(bundle))) = Fields::of(message).next()
        {
            return self.bundle(bundle);
        }
        let (mut sequence, mut is_first, mut flags) = (0, false, 0);
        let (mut timestamp, mut clock, mut event) = (0, None, None);
        for (index, field) in Fields::of(message).enumerate() {
            match field {
                (packet::SEQUENCE, Value::Int(value)) => {
                    sequence = value;
                    is_first = index == 0;
                }
                (packet::SEQUENCE_FLAGS, Value::Int(value)) => flags = value,
                (packet::TIMESTAMP, Value::Int(value)) => timestamp = value,
                (packet::CLOCK, Value::Int(value)) => clock = Some(value),
                (packet::TRACK_EVENT, Value::Bytes(content)) => event = Some(content),
                (packet::TRACK_DESCRIPTOR, Value::Bytes(content)) => self.tracks.add(content),
                (packet::TRACE_ATTRIBUTES, Value::Bytes(content)) => self.attributes(content),
                _ => {}
            }
        }
        if flags & packet::CLEARED != 0 {
            self.sequences.insert(sequence, Sequence::default());
        }
        let Some(event) = event else {
            self.sequence_data(sequence, message);
            return Ok(());
        };
        // Others may send both in one packet.
        if Fields::of(message).any(|(number, _)| {
            matches!(
                number,
                packet::INTERNED_DATA | packet::DEFAULTS | packet::CLOCK_SNAPSHOT
            )
        }) {
            self.sequence_data(sequence, message);
        }
        let clock = clock.or_else(|| self.sequences.get(&sequence)?.clock);
        let time = self.clocks.time(sequence, clock, timestamp);
        // The built-in backend tells so that a range was declared to nest.
        let kind = match (self.is_ours(), is_first) {
            (false, _) => RangeKind::Any,
            (true, true) => RangeKind::StartEnd,
            (true, false) => RangeKind::PushPop,
        };
        self.event(sequence, event, time, kind);
        Ok(())
    }

    fn is_ours(&self) -> bool {
        self.summary.facts.0.contains_key("nvtxw.producer")
    }

    /// The packets of a bundle.
    fn bundle(&mut self, bundle: &[u8]) -> Result<(), String> {
        let mut packets = Packets::new(ZlibDecoder::new(bundle));
        loop {
            match packets.next() {
                Ok(None) => return Ok(()),
                // A bundle holds no bundles.
                Ok(Some(packet)) if is_bundle(packet) => {}
                Ok(Some(packet)) => self.packet(packet)?,
                Err(stop) => {
                    return Err(format!(
                        "a packet of compressed packets is damaged ({}); what follows is left out too",
                        told(&stop)
                    ));
                }
            }
        }
    }

    /// What later packets of a sequence refer to.
    fn sequence_data(&mut self, number: u64, message: &[u8]) {
        let sequence = self.sequences.entry(number).or_default();
        for field in Fields::of(message) {
            match field {
                (packet::INTERNED_DATA, Value::Bytes(data)) => {
                    for (table, entry) in Fields::of(data) {
                        let (Value::Bytes(entry), interned::NAMES | interned::ANNOTATION_NAMES) =
                            (entry, table)
                        else {
                            continue;
                        };
                        let Some((iid, text)) = interned(entry) else {
                            continue;
                        };
                        match table {
                            interned::NAMES => sequence.names.insert(iid, self.names.number(&text)),
                            _ => {
                                let name = self.layouts.names.number(&text);
                                sequence.annotation_names.insert(iid, name)
                            }
                        };
                    }
                }
                (packet::DEFAULTS, Value::Bytes(data)) => {
                    for field in Fields::of(data) {
                        match field {
                            (defaults::CLOCK, Value::Int(clock)) => sequence.clock = Some(clock),
                            (defaults::TRACK_EVENT, Value::Bytes(events)) => {
                                for field in Fields::of(events) {
                                    if let (defaults::TRACK_UUID, Value::Int(track)) = field {
                                        sequence.track = track;
                                    }
                                }
                            }
                            _ => {}
                        }
                    }
                }
                (packet::CLOCK_SNAPSHOT, Value::Bytes(content)) => {
                    self.clocks.snapshot(number, content);
                }
                _ => {}
            }
        }
    }

    fn attributes(&mut self, message: &[u8]) {
        for field in Fields::of(message) {
            let (attributes::ATTRIBUTE, Value::Bytes(attribute)) = field else {
                continue;
            };
            let (mut key, mut fact) = (None, None);
            for field in Fields::of(attribute) {
                match field {
                    (attributes::KEY, Value::Bytes(text)) => key = Some(lossy(text)),
                    (attributes::LONG, Value::Int(value)) => {
                        fact = Some(Fact::Number(value as i64))
                    }
                    (attributes::STRING, Value::Bytes(text)) => {
                        fact = Some(Fact::Text(lossy(text).into_owned()));
                    }
                    _ => {}
                }
            }
            if let (Some(key), Some(fact)) = (key, fact) {
                self.summary.facts.0.insert(key.into_owned(), fact);
            }
        }
    }

    fn event(&mut self, number: u64, message: &[u8], time: u64, kind: RangeKind) {
        let sequence = self.sequences.entry(number).or_default();
        let (mut ty, mut track, mut flows) = (0, sequence.track, 0);
        let (mut name, mut value, mut end) = (None, None, time);
        for field in Fields::of(message) {
            match field {
                (event::TYPE, Value::Int(value)) => ty = value,
                (event::TRACK_UUID, Value::Int(value)) => track = value,
                (event::NAME_IID, Value::Int(iid)) => name = sequence.names.get(&iid).copied(),
                (event::NAME, Value::Bytes(text)) => name = Some(self.names.number(&lossy(text))),
                (event::COUNTER_VALUE, Value::Int(number)) => {
                    value = Some(Number::Int((number as i64).into()));
                }
                (event::DOUBLE_COUNTER_VALUE, Value::Fixed(bits)) => {
                    value = Some(Number::Float(f64::from_bits(bits)));
                }
                (event::FLOW_IDS | event::TERMINATING_FLOW_IDS, _) => flows += 1,
                (event::ANNOTATIONS, Value::Bytes(content)) => {
                    match annotation(content, sequence, &mut self.layouts) {
                        Annotation::Field(name, ty) => self.layouts.field(name, ty),
                        Annotation::MovedEnd(moved) => end = moved,
                        Annotation::Nothing => {}
                    }
                }
                _ => {}
            }
        }
        let cell = self.cells.entry((number, track)).or_default();
        cell.counts.flows += flows;
        // What a damaged file may have is taken as it is.
        let at = time as i64;
        match ty {
            event::BEGIN => {
                cell.counts.range(kind);
                cell.span.meet(at);
                let name = name.unwrap_or_else(|| self.names.number(""));
                self.names.begin(name);
                self.layouts.event(name);
                let open = Open {
                    name,
                    start: time,
                    sequence: number,
                };
                self.open.entry(track).or_default().push(open);
            }
            event::END => {
                let open = self.open.get_mut(&track).and_then(Vec::pop);
                cell.span.meet(end as i64);
                match open {
                    Some(open) => {
                        let duration = (end as i64).saturating_sub(open.start as i64);
                        self.names.end(open.name, duration.max(0) as u64);
                        self.layouts.event(open.name);
                    }
                    None => {
                        cell.counts.unmatched += 1;
                        self.layouts.discard();
                    }
                }
            }
            event::INSTANT => {
                cell.counts.marks += 1;
                cell.span.meet(at);
                let name = name.unwrap_or_else(|| self.names.number(""));
                self.names.mark(name);
                self.layouts.event(name);
            }
            event::COUNTER => {
                cell.counts.samples += 1;
                cell.span.meet(at);
                self.layouts.discard();
                let values = self.values.entry(track).or_default();
                let value = value.unwrap_or(Number::Float(f64::NAN));
                match self.tracks.is_delta(track) {
                    true => values.add_difference(value),
                    false => values.add(value),
                }
            }
            _ => self.layouts.discard(),
        }
    }

    fn finish(mut self, damage: Option<String>) -> Summary {
        for (track, open) in &self.open {
            for open in open {
                if let Some(cell) = self.cells.get_mut(&(open.sequence, *track)) {
                    cell.counts.open += 1;
                }
            }
        }
        let is_ours = self.is_ours();
        let mut summary = self.summary;
        summary.format = "perfetto";
        summary.damage = damage;
        let base = summary.facts.number("nvtxw.time_base").unwrap_or(0);
        let mut keys: Vec<_> = self.cells.keys().copied().collect();
        keys.sort_unstable();
        for sequence in keys.chunk_by(|one, other| one.0 == other.0) {
            let number = sequence[0].0;
            let main = self.sequences.get(&number).map_or(0, |it| it.track);
            let mut stream = Stream {
                name: self.tracks.stream_name(main),
                ..Stream::default()
            };
            for key in sequence {
                let cell = &self.cells[key];
                let span = cell.span.moved(base);
                let track = self.tracks.get(key.1);
                if track.is_some_and(Track::is_counter) {
                    stream.counts.add(&cell.counts);
                    stream.span.add(span);
                } else {
                    stream.add(self.tracks.path(key.1, is_ours), &cell.counts, span);
                }
            }
            summary.counts.add(&stream.counts);
            summary.span.add(stream.span);
            summary.streams.push(stream);
        }
        let mut values: Vec<_> = self.values.into_iter().collect();
        values.sort_unstable_by_key(|(track, _)| *track);
        for (track, values) in values {
            let known = self.tracks.get(track);
            summary.counters.push(Counter {
                path: self.tracks.path(track, is_ours),
                unit: known.and_then(Track::unit),
                description: known.and_then(|track| track.description.clone()),
                is_delta: self.tracks.is_delta(track),
                values,
            });
        }
        summary
            .counters
            .sort_by(|one, other| one.path.cmp(&other.path));
        let declared = declared::take(&mut summary.facts);
        summary.schemas = declared::join(&declared, self.layouts.schemas(&self.names));
        summary.other_fields = self.layouts.others;
        summary.names = self.names;
        summary
    }
}

fn is_bundle(message: &[u8]) -> bool {
    let first = Fields::of(message).next();
    matches!(first, Some((packet::COMPRESSED_PACKETS, _)))
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

fn interned(entry: &[u8]) -> Option<(u64, Cow<'_, str>)> {
    let (mut iid, mut text) = (None, None);
    for field in Fields::of(entry) {
        match field {
            (interned::IID, Value::Int(value)) => iid = Some(value),
            (interned::TEXT, Value::Bytes(value)) => text = Some(lossy(value)),
            _ => {}
        }
    }
    Some((iid?, text?))
}

enum Annotation {
    Field(u32, Type),
    MovedEnd(u64),
    Nothing,
}

fn annotation(message: &[u8], sequence: &Sequence, layouts: &mut Layouts) -> Annotation {
    let (mut name, mut ty) = (None, Type::Null);
    for field in Fields::of(message) {
        ty = match field {
            (annotation::NAME_IID, Value::Int(iid)) => {
                name = sequence.annotation_names.get(&iid).copied();
                continue;
            }
            (annotation::NAME, Value::Bytes(text)) => {
                if text == MOVED_END.as_bytes() {
                    let mut rest = Fields::of(message);
                    let end = rest.find_map(|field| match field {
                        (annotation::INT, Value::Int(end)) => Some(end),
                        _ => None,
                    });
                    return end.map_or(Annotation::Nothing, Annotation::MovedEnd);
                }
                name = Some(layouts.names.number(&lossy(text)));
                continue;
            }
            (annotation::BOOL, _) => Type::Bool,
            (annotation::UINT, _) => Type::Unsigned,
            (annotation::INT, _) => Type::Int,
            (annotation::DOUBLE, _) => Type::Float,
            (annotation::STRING | annotation::STRING_IID, _) => Type::Text,
            (annotation::POINTER, _) => Type::Address,
            (annotation::DICT_ENTRIES, _) => Type::Struct,
            (annotation::ARRAY_VALUES, _) => Type::List,
            _ => continue,
        };
        // All that follows is of the same kind; a list may have thousands of values.
        if matches!(ty, Type::Struct | Type::List) {
            break;
        }
    }
    name.map_or(Annotation::Nothing, |name| Annotation::Field(name, ty))
}
