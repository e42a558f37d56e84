//! Reads a trace as Perfetto's trace processor does: by time, then by place in the file.

#[path = "json.rs"]
mod json;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::replay::{Field, fields};

/// A value of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    None,
    Bool(bool),
    Uint(u64),
    Int(i64),
    Double(f64),
    Text(String),
    Pointer(u64),
    List(Vec<Arg>),
    Dict(Vec<(String, Arg)>),
}

pub fn text(text: &str) -> Arg {
    Arg::Text(text.to_owned())
}

/// A range or an instant.
#[derive(Clone, Debug)]
pub struct Slice {
    pub track: Vec<String>,
    pub uuid: u64,
    pub name: String,
    pub start: u64,
    /// `None`: open.
    pub end: Option<u64>,
    pub depth: usize,
    pub categories: Vec<String>,
    pub args: Vec<(String, Arg)>,
    pub flows: Vec<u64>,
    pub correlation: Option<String>,
}

impl Slice {
    pub fn arg(&self, name: &str) -> &Arg {
        let mut found = self.args.iter().filter(|(known, _)| known == name);
        let (_, arg) = found
            .next()
            .unwrap_or_else(|| panic!("no arg {name}: {self:?}"));
        assert!(found.next().is_none(), "arg {name} twice");
        arg
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    Double(f64),
}

#[derive(Clone, Debug, Default)]
pub struct Track {
    pub name: String,
    pub parent: u64,
    pub rank: i64,
    pub description: String,
    pub merge: u64,
    pub merge_key: u64,
    pub ordering: u64,
    /// Of a process or a thread: its number, that of its thread or 0, and its name.
    pub owner: Option<(u64, u64, String)>,
    /// Of such a track, among its siblings.
    pub sort_index: i64,
    pub is_counter: bool,
    pub unit: u64,
    pub unit_name: String,
    pub multiplier: i64,
    pub is_incremental: bool,
    /// Key of the counters that share its scale.
    pub y_axis: String,
}

#[derive(Debug, Default)]
pub struct Trace {
    pub attributes: BTreeMap<String, Arg>,
    /// The file's clock at some date, in nanoseconds since 1970.
    pub date: Option<(u64, u64)>,
    pub tracks: BTreeMap<u64, Track>,
    pub ranges: Vec<Slice>,
    pub instants: Vec<Slice>,
    /// Times of values, with their tracks, as they stand in the file: increments are summed up so.
    pub value_times: Vec<(u64, u64)>,
    /// Path, time, value and track.
    pub values: Vec<(Vec<String>, u64, Number, u64)>,
    events: Vec<Event>,
}

#[derive(Debug, Default)]
struct Event {
    time: u64,
    kind: u64,
    uuid: u64,
    name: Option<String>,
    categories: Vec<String>,
    args: Vec<(String, Arg)>,
    flows: Vec<u64>,
    correlation: Option<String>,
    value: Option<Number>,
}

/// What a sequence of packets has told.
#[derive(Default)]
struct Sequence {
    cleared: bool,
    track: u64,
    /// Its own clock, once it has told of it: what that shows, and whether packets are by it now.
    own_clock: Option<u64>,
    is_own: bool,
    /// By field of the interned data, and number.
    texts: HashMap<(u32, u64), String>,
}

impl Track {
    pub fn is_thread(&self) -> bool {
        matches!(self.owner, Some((_, 1.., _)))
    }

    /// The step that a track of this name directly below this thread is.
    fn step_below<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (_, _, shown) = self.owner.as_ref()?;
        match &*self.name {
            "" => Some(name).filter(|name| name != shown),
            thread => name.strip_prefix(thread)?.strip_prefix(' '),
        }
    }
}

fn int(field: Field<'_>) -> u64 {
    match field {
        Field::Int(value) | Field::Fixed(value) => value,
        Field::Bytes(bytes) => panic!("bytes where a number belongs: {bytes:?}"),
    }
}

fn bytes(field: Field<'_>) -> &[u8] {
    match field {
        Field::Bytes(bytes) => bytes,
        other => panic!("{other:?} where bytes belong"),
    }
}

fn string(field: Field<'_>) -> String {
    String::from_utf8(bytes(field).to_vec()).expect("text is UTF-8")
}

impl Trace {
    pub fn read(path: &Path) -> Self {
        Self::of(&std::fs::read(path).unwrap())
    }

    /// The same for a file that is being written, or whose writer was killed: a packet or a line at its end may be
    /// cut. Tells whether one is.
    pub fn read_cut(path: &Path) -> (Self, bool) {
        let file = std::fs::read(path).unwrap();
        if file.starts_with(b"{") {
            return json::read_cut(str::from_utf8(&file).unwrap());
        }
        let mut end = 0;
        while let Some(next) = after_packet(&file, end) {
            end = next;
        }
        (Self::of(&file[..end]), end < file.len())
    }

    /// What is in a file that has these bytes: packets, or Chrome's JSON.
    pub fn of(file: &[u8]) -> Self {
        if file.starts_with(b"{") {
            return json::read(str::from_utf8(file).unwrap());
        }
        let mut trace = Self::default();
        let mut sequences: HashMap<u64, Sequence> = HashMap::new();
        for (number, packet) in fields(file) {
            assert_eq!(number, 1);
            trace.packet(bytes(packet), &mut sequences);
        }
        trace.replay();
        trace
    }

    fn packet(&mut self, packet: &[u8], sequences: &mut HashMap<u64, Sequence>) {
        if let Some((50, bundle)) = fields(packet).next() {
            let mut packets = Vec::new();
            let mut bundle = ZlibDecoder::new(bytes(bundle));
            bundle.read_to_end(&mut packets).expect("a whole bundle");
            for (_, packet) in fields(&packets) {
                self.packet(bytes(packet), sequences);
            }
            return;
        }
        let all: Vec<_> = fields(packet).collect();
        let get = |number| {
            all.iter()
                .find(|(n, _)| *n == number)
                .map(|(_, field)| *field)
        };
        let id = get(10).map_or(0, int);
        assert_ne!(id, 0, "a packet without a sequence");
        let sequence = sequences.entry(id).or_default();
        let flags = get(13).map_or(0, int);
        if flags & 1 != 0 {
            *sequence = Sequence {
                cleared: true,
                ..Sequence::default()
            };
        }
        assert!(flags & 2 == 0 || sequence.cleared, "NEEDS before CLEARED");
        let mut event = None;
        for &(number, field) in &all {
            match number {
                6 if id == 1 => {
                    let all: Vec<_> = fields(bytes(field)).collect();
                    let [(1, own), (1, date), (2, Field::Int(6))] = all[..] else {
                        panic!("{all:?}")
                    };
                    let shown = |clock, shown| {
                        let all: Vec<_> = fields(bytes(shown)).collect();
                        let [(1, found), (2, time)] = all[..] else {
                            panic!("{all:?}")
                        };
                        assert_eq!(int(found), clock);
                        int(time)
                    };
                    let date = self.date.replace((shown(6, own), shown(1, date)));
                    assert_eq!(date, None, "told twice");
                }
                6 => {
                    let clocks = fields(bytes(field)).map(|(_, clock)| bytes(clock).to_vec());
                    // Both at 0, and the first one counts on.
                    assert!(clocks.eq([&b"\x08\x40\x10\0\x18\x01"[..], b"\x08\x06\x10\0"]));
                    assert_eq!(sequence.own_clock.replace(0), None, "told twice");
                }
                8 | 10 | 13 => {}
                11 => {
                    assert_ne!(flags & 2, 0, "an event without NEEDS");
                    event = Some(bytes(field));
                }
                12 => {
                    for (table, entry) in fields(bytes(field)) {
                        let entry: Vec<_> = fields(bytes(entry)).collect();
                        let [(1, iid), (2, text)] = entry[..] else {
                            panic!("{entry:?}")
                        };
                        let old = sequence.texts.insert((table, int(iid)), string(text));
                        assert_eq!(old, None, "a number is redefined");
                    }
                }
                59 => {
                    let all: Vec<_> = fields(bytes(field)).collect();
                    let (11, events) = all[0] else {
                        panic!("defaults")
                    };
                    sequence.track = int(fields(bytes(events)).next().unwrap().1);
                    sequence.is_own = match all[1..] {
                        [] | [(58, Field::Int(6))] => false,
                        [(58, Field::Int(64))] => true,
                        _ => panic!("{all:?}"),
                    };
                }
                60 => self.track(bytes(field)),
                126 => {
                    for (_, attribute) in fields(bytes(field)) {
                        let all: Vec<_> = fields(bytes(attribute)).collect();
                        let value = match all[1] {
                            (2, value) => Arg::Int(int(value) as i64),
                            (_, value) => Arg::Text(string(value)),
                        };
                        self.attributes.insert(string(all[0].1), value);
                    }
                }
                other => panic!("packet field {other}"),
            }
        }
        if let Some(message) = event {
            let timestamp = int(get(8).expect("an event has a time"));
            let time = match (sequence.is_own, &mut sequence.own_clock) {
                (false, _) => timestamp,
                (true, clock) => {
                    let clock = clock.as_mut().expect("the clock is told of");
                    *clock += timestamp;
                    *clock
                }
            };
            let mut event = Event {
                time,
                uuid: sequence.track,
                ..Event::default()
            };
            assert!(event.time < 1 << 63);
            event.read(message, sequence);
            if event.kind == 4 {
                let track = self.tracks.get(&event.uuid);
                assert!(track.is_some_and(|track| track.is_counter));
            }
            self.events.push(event);
        }
    }

    fn track(&mut self, descriptor: &[u8]) {
        let mut track = Track::default();
        let mut uuid = 0;
        for (number, field) in fields(descriptor) {
            match number {
                1 => uuid = int(field),
                2 => track.name = string(field),
                3 => {
                    let all: Vec<_> = fields(bytes(field)).collect();
                    let [(1, pid), (3, index), (6, name)] = all[..] else {
                        panic!("{all:?}")
                    };
                    track.owner = Some((int(pid), 0, string(name)));
                    track.sort_index = int(index) as i64;
                }
                4 => {
                    let all: Vec<_> = fields(bytes(field)).collect();
                    let [(1, pid), (2, tid), (3, index), (5, name)] = all[..] else {
                        panic!("{all:?}")
                    };
                    track.owner = Some((int(pid), int(tid), string(name)));
                    track.sort_index = int(index) as i64;
                }
                5 => track.parent = int(field),
                8 => {
                    track.is_counter = true;
                    track.multiplier = 1;
                    for (number, field) in fields(bytes(field)) {
                        match number {
                            3 => track.unit = int(field),
                            4 => track.multiplier = int(field) as i64,
                            5 => track.is_incremental = int(field) == 1,
                            6 => track.unit_name = string(field),
                            7 => track.y_axis = string(field),
                            other => panic!("counter field {other}"),
                        }
                    }
                }
                11 => track.ordering = int(field),
                12 => track.rank = int(field) as i64,
                14 => track.description = string(field),
                15 => track.merge = int(field),
                17 => track.merge_key = int(field),
                19 | 20 => assert_eq!(int(field), 1),
                other => panic!("track field {other}"),
            }
        }
        assert_ne!(uuid, 0);
        assert!(track.parent == 0 || self.tracks.contains_key(&track.parent));
        self.tracks.insert(uuid, track);
    }

    /// The number of tracks from the root to this one.
    pub fn depth(&self, uuid: u64) -> usize {
        match uuid {
            0 => 0,
            _ => 1 + self.depth(self.tracks[&uuid].parent),
        }
    }

    /// The steps of a track's path, outermost first.
    ///
    /// A track directly below a thread is that thread's rows, or is shown beside them and has the thread's name before
    /// its own. A main thread has no name, and its rows are those of the process, and those that have another name.
    pub fn path(&self, uuid: u64) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = uuid;
        for depth in 0.. {
            assert!(depth <= 100);
            let get = |uuid| (self.tracks.get(&uuid)).unwrap_or_else(|| panic!("no track {uuid}"));
            let track = get(at);
            at = track.parent;
            let thread = (at != 0)
                .then(|| get(at))
                .filter(|parent| parent.is_thread());
            let step = match thread {
                Some(thread) => thread.step_below(&track.name),
                None => Some(&*track.name),
            };
            path.extend(step.filter(|step| !step.is_empty()).map(str::to_owned));
            if at == 0 {
                break;
            }
        }
        path.reverse();
        path
    }

    fn replay(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        let values = events.iter().filter(|event| event.kind == 4);
        self.value_times = values.map(|event| (event.uuid, event.time)).collect();
        events.sort_by_key(|event| event.time);
        let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
        for event in events {
            let stack = open.entry(event.uuid).or_default();
            match event.kind {
                2 => {
                    assert_eq!(event.name, None);
                    let range = &mut self.ranges[stack.pop().expect("nothing is open")];
                    range.end = Some(event.time);
                    range.args.extend(event.args);
                    range.flows.extend(event.flows);
                }
                4 => {
                    let value = event.value.expect("a counter without a value");
                    let path = self.path(event.uuid);
                    self.values.push((path, event.time, value, event.uuid));
                }
                kind => {
                    let depth = stack.len();
                    assert!(!self.tracks[&event.uuid].is_counter);
                    assert!(depth < 512);
                    let names: Vec<_> = event.args.iter().map(|(name, _)| name).collect();
                    for (index, name) in names.iter().enumerate() {
                        assert!(!names[..index].contains(name), "{name} twice");
                    }
                    let slice = Slice {
                        track: self.path(event.uuid),
                        uuid: event.uuid,
                        name: event.name.expect("an event without a name"),
                        start: event.time,
                        end: None,
                        depth,
                        categories: event.categories,
                        args: event.args,
                        flows: event.flows,
                        correlation: event.correlation,
                    };
                    if kind == 1 {
                        stack.push(self.ranges.len());
                        self.ranges.push(slice);
                    } else {
                        assert_eq!(kind, 3);
                        self.instants.push(slice);
                    }
                }
            }
        }
    }

    /// The only range with this name.
    pub fn range(&self, name: &str) -> &Slice {
        only(&self.ranges, name)
    }

    /// The only instant with this name.
    pub fn instant(&self, name: &str) -> &Slice {
        only(&self.instants, name)
    }

    /// The values of the counter with this path, with their times.
    pub fn counter(&self, path: &[&str]) -> Vec<(u64, Number)> {
        let mine = self.values.iter().filter(|(track, ..)| track == path);
        mine.map(|(_, time, value, _)| (*time, *value)).collect()
    }
}

/// Where the packet ends that starts at `at`, if it is all there.
fn after_packet(file: &[u8], at: usize) -> Option<usize> {
    assert!(
        file.get(at).is_none_or(|tag| *tag == 0x0A),
        "no packet at {at}"
    );
    let mut size = 0;
    for (index, byte) in file.get(at + 1..)?.iter().enumerate() {
        size |= usize::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return Some(at + 2 + index + size).filter(|end| *end <= file.len());
        }
    }
    None
}

fn only<'a>(slices: &'a [Slice], name: &str) -> &'a Slice {
    let mut found = slices.iter().filter(|slice| slice.name == name);
    let slice = found
        .next()
        .unwrap_or_else(|| panic!("no {name}: {slices:?}"));
    assert!(found.next().is_none(), "{name} is there twice");
    slice
}

impl Event {
    fn read(&mut self, message: &[u8], sequence: &Sequence) {
        let text = |table, iid: Field<'_>| {
            let key = (table, int(iid));
            let known = sequence.texts.get(&key);
            known
                .unwrap_or_else(|| panic!("{key:?} is not interned"))
                .clone()
        };
        for (number, field) in fields(message) {
            match number {
                3 => self.categories.push(text(1, field)),
                4 => self.args.push(arg(bytes(field), sequence)),
                9 => self.kind = int(field),
                10 => self.name = Some(text(2, field)),
                11 => self.uuid = int(field),
                22 => self.categories.push(string(field)),
                23 => self.name = Some(string(field)),
                30 => self.value = Some(Number::Int(int(field) as i64)),
                44 => self.value = Some(Number::Double(f64::from_bits(int(field)))),
                47 => self.flows.push(int(field)),
                53 => self.correlation = Some(string(field)),
                54 => self.correlation = Some(text(43, field)),
                other => panic!("event field {other}"),
            }
        }
    }
}

fn arg(message: &[u8], sequence: &Sequence) -> (String, Arg) {
    let mut name = String::new();
    let mut value = Arg::None;
    for (number, field) in fields(message) {
        let text = |table, iid| sequence.texts[&(table, iid)].clone();
        match number {
            1 => name = text(3, int(field)),
            10 => name = string(field),
            2 => value = Arg::Bool(int(field) != 0),
            3 => value = Arg::Uint(int(field)),
            4 => value = Arg::Int(int(field) as i64),
            5 => value = Arg::Double(f64::from_bits(int(field))),
            6 => value = Arg::Text(string(field)),
            7 => value = Arg::Pointer(int(field)),
            17 => value = Arg::Text(text(29, int(field))),
            11 => {
                let entry = arg(bytes(field), sequence);
                match &mut value {
                    Arg::Dict(entries) => entries.push(entry),
                    _ => value = Arg::Dict(vec![entry]),
                }
            }
            12 => {
                let (_, element) = arg(bytes(field), sequence);
                match &mut value {
                    Arg::List(elements) => elements.push(element),
                    _ => value = Arg::List(vec![element]),
                }
            }
            other => panic!("annotation field {other}"),
        }
    }
    (name, value)
}
