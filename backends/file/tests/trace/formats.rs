//! Any mix of events and values in each format: a reader of its files finds what was written.

mod rows;
#[cfg(feature = "parquet")]
mod tables;

use std::collections::BTreeMap;
use std::ffi::CStr;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind, SchemaRole};

use self::rows::{Event, Rows, dict, list, shown};
use crate::Run;
use crate::content::{array, pack};
use crate::replay::Random;
use crate::table::{Domain, Entry, Stream, entry, time, words};

/// A clock and the time line, whose ticks both are nanoseconds as long as nothing else is known.
const CLOCKS: [u64; 2] = [
    NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER,
    NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC,
];

const STREAMS: [&str; 3] = ["one", "two", "device"];

/// The one whose events are by a clock.
const DEVICE: usize = 2;

const NAMES: [&str; 4] = ["gemm", "", "q\"\\\n", "한강"];

const KINDS: [EventKind; 3] = [
    EventKind::Mark,
    EventKind::RangePushPop,
    EventKind::RangeStartEnd,
];

/// What is registered in a session.
struct Model {
    domain: Domain,
    names: [i64; NAMES.len()],
    message: u64,
    scopes: [u64; 2],
    /// By kind, and whether it is by a clock: with little, and with much.
    plain: [[u64; 2]; KINDS.len()],
    rich: [[u64; 2]; KINDS.len()],
    push: u64,
    pop: u64,
    start: u64,
    end: u64,
    load: u64,
    group: u64,
}

/// The scopes' paths.
const SCOPES: [&str; 2] = ["GPU[0]/Stream[7]", "host/io"];

fn of(ty: u64, name: &CStr) -> Entry<'_> {
    Entry {
        ty,
        ..entry(EntryType::Int8, name)
    }
}

impl Model {
    fn new(domain: Domain) -> Self {
        domain.category(3, "kernels");
        let kind = domain.enumeration(1, &[(c"host", 1), (c"peer", 200)]);
        let truth = domain.enumeration(1, &[(c"false", 0), (c"true", 1)]);
        let point = [
            entry(EntryType::Int32, c"x"),
            entry(EntryType::Float32, c"y"),
        ];
        let point = domain.schema("point", 0, 8, &point);
        let begin = |clock| Entry {
            clock,
            ..time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN)
        };
        let end = |clock| Entry {
            clock,
            ..time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END)
        };
        let number = entry(EntryType::UInt64, c"number");
        let message = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"message")
        };
        let times = |kind, clock: Option<u64>| match kind {
            EventKind::Mark => vec![Entry {
                clock,
                ..time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK)
            }],
            _ => vec![begin(clock), end(clock)],
        };
        let of_each = |name: &str, fields: &[Entry<'_>], size: usize| {
            KINDS.map(|kind| {
                [None, Some(CLOCKS[0])].map(|clock| {
                    let mut entries = times(kind, clock);
                    entries.extend(fields);
                    let size = size + 8 * usize::from(kind != EventKind::Mark);
                    domain.schema(name, kind.to_raw(), size, &entries)
                })
            })
        };
        let rich = [
            number,
            entry(EntryType::Category, c"category"),
            entry(EntryType::ColorArgb, c"color"),
            message,
            Entry {
                correlation: Some([7; 16]),
                ..entry(EntryType::UInt64, c"bytes")
            },
            of(kind, c"kind"),
            of(truth, c"is_async"),
            array(EntryType::CStringUtf8, 6, c"label"),
            of(point, c"point"),
            array(EntryType::Int16, 3, c"grid"),
            entry(EntryType::UInt16, c"depth"),
        ];
        let half = |kind: EventKind, entries: &[Entry<'_>]| {
            domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, entries)
        };
        let id = entry(EntryType::RangeId, c"range_id");
        let scope = entry(EntryType::ScopeId, c"scope");
        let result = entry(EntryType::Int64, c"result");
        let group = [
            entry(EntryType::Int64, c"used"),
            entry(EntryType::Float32, c"share"),
            entry(EntryType::UInt32, c"count"),
        ];
        let group = domain.schema("memory", SchemaRole::CounterGroup.flags(), 16, &group);
        Self {
            domain,
            names: NAMES.map(|name| domain.string(name) as i64),
            message: domain.message_schema(),
            scopes: SCOPES.map(|path| domain.scope(NVTX_SCOPE_ROOT, path)),
            plain: of_each("step", &[number], 16),
            rich: of_each("copy", &rich, 64),
            push: half(EventKind::RangePush, &[begin(None), number, scope, message]),
            pop: half(EventKind::RangePop, &[end(None), result, scope]),
            start: half(EventKind::RangeStart, &[id, begin(None), number, scope]),
            end: half(EventKind::RangeEnd, &[id, end(None), result]),
            load: domain.counter("load", EntryType::Int64.to_raw(), 0, None),
            group: domain.counter("memory", group, 0, None),
        }
    }
}

/// Ticks of the clock, and the times that these are.
fn knots(random: &mut Random, origin: i64) -> Vec<[i64; 2]> {
    let (mut ticks, mut at) = (origin - 10, origin + 500);
    (0..12)
        .map(|_| {
            // No tick is shorter than a nanosecond: others can't be told from what was written.
            let more = 1 + random.below(2000) as i64;
            ticks += more;
            at += more + random.below(2) as i64 * random.below(3000) as i64;
            [ticks, at]
        })
        .collect()
}

/// What a tick is when all is known.
fn nanoseconds(knots: &[[i64; 2]], tick: i64) -> i64 {
    match knots.partition_point(|knot| knot[0] <= tick) {
        0 => knots[0][1] + tick - knots[0][0],
        index if index == knots.len() => knots[index - 1][1] + tick - knots[index - 1][0],
        index => {
            let [[t0, a0], [t1, a1]] = [knots[index - 1], knots[index]];
            a0 + (tick - t0) * (a1 - a0) / (t1 - t0)
        }
    }
}

/// Writes a mix, and returns what there has to be.
struct Mix {
    random: Random,
    model: Model,
    streams: Vec<Option<Stream>>,
    /// Whether it comes in order, and nothing turns out to be otherwise later.
    is_calm: bool,
    /// Where each stream is in time.
    now: [i64; STREAMS.len()],
    rows: Rows,
    number: i64,
    /// Open ones, by stream and place: 0 is no scope.
    pushes: BTreeMap<(usize, usize), Vec<i64>>,
    starts: Vec<Vec<i64>>,
    /// The events whose times are ticks.
    ticks: Vec<i64>,
}

impl Mix {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn event(&mut self, stream: usize, place: usize, start: i64) -> (i64, Event) {
        self.number += 1;
        let track = match place.checked_sub(1) {
            None => STREAMS[stream],
            Some(scope) => SCOPES[scope],
        };
        let event = Event {
            track: track.to_owned(),
            start,
            fields: BTreeMap::from([("number".to_owned(), self.number.to_string())]),
            ..Event::default()
        };
        (self.number, event)
    }

    /// Payload and row of one that is whole.
    fn whole(&mut self, stream: usize, place: usize, kind: EventKind, is_rich: bool) -> Vec<u8> {
        let late = match self.below(40) {
            0 if !self.is_calm => self.below(400) as i64,
            _ => 0,
        };
        let start = self.now[stream] - late;
        let len = self.pick(&[0, 1, 7, 90, 1500][usize::from(self.is_calm)..]);
        // Ranges that follow one another are told by how they differ.
        self.now[stream] += match self.is_calm {
            true => len + self.pick(&[0, 1, 3]),
            false => self.pick(&[0, 1, 3, len]),
        };
        let (number, mut event) = self.event(stream, place, start);
        event.is_mark = kind == EventKind::Mark;
        event.end = (!event.is_mark).then_some(start + len);
        let mut payload = start.to_ne_bytes().to_vec();
        payload.extend(event.end.iter().flat_map(|end| end.to_ne_bytes()));
        payload.extend(number.to_ne_bytes());
        match is_rich {
            true => self.fill(&mut payload, &mut event),
            false => "step".clone_into(&mut event.name),
        }
        self.rows.events.insert(number, event);
        self.ticks.extend((stream == DEVICE).then_some(number));
        payload
    }

    /// The fields of a rich one.
    fn fill(&mut self, payload: &mut Vec<u8>, event: &mut Event) {
        let (category, color) = (
            self.pick(&[0, 3, 77_u32]),
            self.pick(&[0, 0, 0xFF00_FF00_u32]),
        );
        let name = self.below(NAMES.len() as u64) as usize;
        let bytes = self.pick(&[0, 0, 1, 2, 3, u64::MAX, 1 << 53 | 1]);
        let (kind, is_async) = (self.pick(&[1, 200, 9]), self.pick(&[0, 1]));
        let label = self.pick(&["", "a", "sgemm\u{1}", "é\"\\"]);
        let (x, y) = (
            self.pick(&[0, -5, i32::MIN]),
            self.pick(&[0.5, -3.0, 0.375, f32::INFINITY]),
        );
        let grid = [0; 3].map(|_| self.pick(&[-1, 0, 300_i16]));
        let depth = self.pick(&[0, u16::MAX]);
        payload.extend(pack![category, color, self.model.names[name], bytes]);
        payload.extend([kind, is_async]);
        let mut text = [0; 6];
        text[..label.len()].copy_from_slice(label.as_bytes());
        payload.extend(text);
        payload.extend(pack![x, y, grid[0], grid[1], grid[2], depth]);
        NAMES[name].clone_into(&mut event.name);
        event.category = match category {
            0 => None,
            3 => Some("kernels".to_owned()),
            other => Some(other.to_string()),
        };
        event.color = Some(color).filter(|color| *color != 0);
        // Chrome's format joins no marks.
        if bytes > 0 && !event.is_mark {
            let number = event.fields["number"].parse().unwrap();
            self.rows.joined.entry(bytes).or_default().insert(number);
        }
        let kind = match kind {
            1 => "host".to_owned(),
            200 => "peer".to_owned(),
            other => other.to_string(),
        };
        let point = [("x", x.to_string()), ("y", shown(y.into()))];
        let point = point.map(|(name, value)| (name.to_owned(), value));
        let fields = [
            ("bytes", bytes.to_string()),
            ("kind", kind),
            ("is_async", (is_async == 1).to_string()),
            ("label", label.to_owned()),
            ("point", dict(point.into_iter())),
            ("grid", list(grid.iter().map(i16::to_string))),
            ("depth", depth.to_string()),
        ];
        (event.fields).extend(fields.map(|(name, value)| (name.to_owned(), value)));
    }

    fn wholes(&mut self, stream: usize) {
        let kind = self.below(KINDS.len() as u64) as usize;
        let is_rich = self.below(2) == 0;
        let schemas = match is_rich {
            true => &self.model.rich,
            false => &self.model.plain,
        };
        let schema = schemas[kind][usize::from(stream == DEVICE)];
        let out = |mix: &mut Self| mix.streams[stream].take().unwrap();
        match self.below(4) {
            // With a message of its own.
            0 if !is_rich => {
                let payload = self.whole(stream, 0, KINDS[kind], is_rich);
                let name = self.pick(&["inline", "größe", "q\"\n"]);
                let event = self.rows.events.get_mut(&self.number).unwrap();
                name.clone_into(&mut event.name);
                let text = [name.as_bytes(), &[0]].concat();
                let mut out = out(self);
                let payloads = [(schema, &payload[..]), (self.model.message, &text)];
                out.event(&payloads).unwrap();
                self.streams[stream] = Some(out);
            }
            0 | 1 => {
                let payload = self.whole(stream, 0, KINDS[kind], is_rich);
                let mut out = out(self);
                out.event(&[(schema, &payload)]).unwrap();
                self.streams[stream] = Some(out);
            }
            _ => {
                let place = self.below(1 + SCOPES.len() as u64) as usize;
                let scope = place.checked_sub(1).map_or(0, |at| self.model.scopes[at]);
                let count = self.pick(&[1, 5, 40]);
                let whole = |_| self.whole(stream, place, KINDS[kind], is_rich);
                let payloads: Vec<u8> = (0..count).flat_map(whole).collect();
                let mut out = out(self);
                let flags = NVTX_BATCH_FLAG_UNSORTED;
                out.scoped_batch(schema, scope, &payloads, flags, &[])
                    .unwrap();
                self.streams[stream] = Some(out);
            }
        }
    }

    fn one(&mut self, stream: usize, schema: u64, payload: &[i64]) {
        let out = self.streams[stream].as_mut().unwrap();
        out.event(&[(schema, &words(payload))]).unwrap();
    }

    /// The start or the end of a range. These come in the order of time.
    fn half(&mut self, stream: usize) {
        let place = self.below(1 + SCOPES.len() as u64) as usize;
        let scope = place.checked_sub(1).map_or(0, |at| self.model.scopes[at]) as i64;
        self.now[stream] += self.below(2) as i64;
        let now = self.now[stream];
        let open = self.pushes.entry((stream, place)).or_default();
        match self.random.below(4) {
            0 => {
                let name = self.below(NAMES.len() as u64) as usize;
                let (number, mut event) = self.event(stream, place, now);
                NAMES[name].clone_into(&mut event.name);
                self.rows.events.insert(number, event);
                self.pushes.get_mut(&(stream, place)).unwrap().push(number);
                let payload = [now, number, scope, self.model.names[name]];
                self.one(stream, self.model.push, &payload);
            }
            1 => {
                if let Some(number) = open.pop() {
                    self.ends(number, now);
                    self.one(stream, self.model.pop, &[now, -number, scope]);
                }
            }
            2 => {
                let (number, mut event) = self.event(stream, place, now);
                EventKind::RangeStart.name().clone_into(&mut event.name);
                (event.fields).insert("range_id".to_owned(), number.to_string());
                self.rows.events.insert(number, event);
                self.starts[stream].push(number);
                self.one(stream, self.model.start, &[number, now, number, scope]);
            }
            _ => {
                let count = self.starts[stream].len() as u64;
                if count > 0 {
                    let at = self.random.below(count) as usize;
                    let number = self.starts[stream].swap_remove(at);
                    self.ends(number, now);
                    self.one(stream, self.model.end, &[number, now, -number]);
                }
            }
        }
    }

    fn ends(&mut self, number: i64, end: i64) {
        let event = self.rows.events.get_mut(&number).unwrap();
        event.end = Some(end);
        (event.fields).insert("result".to_owned(), (-number).to_string());
    }

    fn sample(&mut self, stream: usize) {
        let time = self.now[stream];
        let mut values = Vec::new();
        let (counter, bytes) = match self.below(2) {
            0 => {
                let load = self.pick(&[0, -7, 1_i64 << 40]);
                values.push(("load", load.to_string()));
                (self.model.load, pack![load])
            }
            _ => {
                let (used, share) = (self.pick(&[5, -9]), self.pick(&[0.25_f32, 3.0]));
                let count = self.pick(&[0, u32::MAX]);
                values.push(("memory/used", used.to_string()));
                values.push(("memory/share", shown(share.into())));
                values.push(("memory/count", count.to_string()));
                (self.model.group, pack![used as i64, share, count])
            }
        };
        let out = self.streams[stream].as_mut().unwrap();
        out.sample(time, counter, &bytes).unwrap();
        for (path, value) in values {
            let row = (STREAMS[stream].to_owned(), path.to_owned(), time, value);
            self.rows.values.push(row);
        }
    }
}

/// Writes the mix that a seed stands for.
fn write(run: &Run, seed: u64, origin: i64) -> Rows {
    let mut random = Random::new(seed);
    let domain = run.session.domain("");
    let knots = knots(&mut random, origin);
    let mut syncs = knots.clone();
    let mut mix = Mix {
        random,
        model: Model::new(domain),
        streams: STREAMS
            .map(|name| Some(run.session.stream(name, domain, 0)))
            .into(),
        is_calm: seed.is_multiple_of(2),
        now: [origin; STREAMS.len()],
        rows: Rows::default(),
        number: 0,
        pushes: BTreeMap::new(),
        starts: vec![Vec::new(); STREAMS.len()],
        ticks: Vec::new(),
    };
    for at in syncs.extract_if(.., |_| mix.is_calm) {
        let out = mix.streams[0].as_mut().unwrap();
        out.sync(CLOCKS, at).unwrap();
    }
    for _ in 0..20 + mix.below(150) {
        let stream = mix.below(STREAMS.len() as u64) as usize;
        match mix.below(12) {
            0 => {
                // A stream is closed, and opened again.
                let mut pushes = mix.pushes.iter();
                if pushes.all(|((of, _), open)| *of != stream || open.is_empty()) {
                    mix.starts[stream].clear();
                    mix.streams[stream].take().unwrap().close().unwrap();
                    let again = run.session.stream(STREAMS[stream], mix.model.domain, 0);
                    mix.streams[stream] = Some(again);
                }
            }
            1 if !syncs.is_empty() => {
                let at = mix.below(syncs.len() as u64) as usize;
                let out = mix.streams[stream].as_mut().unwrap();
                out.sync(CLOCKS, syncs.swap_remove(at)).unwrap();
            }
            2 if stream != DEVICE => mix.sample(stream),
            3..6 if stream != DEVICE => mix.half(stream),
            _ => mix.wholes(stream),
        }
    }
    for at in syncs {
        let out = mix.streams[0].as_mut().unwrap();
        out.sync(CLOCKS, at).unwrap();
    }
    for number in mix.ticks {
        let event = mix.rows.events.get_mut(&number).unwrap();
        event.start = nanoseconds(&knots, event.start);
        event.end = event.end.map(|end| nanoseconds(&knots, end));
    }
    mix.rows
}

/// Whether a format has what it should have.
fn check(seed: u64, format: &str) {
    let mut random = Random::new(seed ^ 77);
    let origin = [0, 1_700_000_000_123_456_789, -4000][random.below(3) as usize];
    let base = origin - 10_000;
    let window = [2, 7, 50, 300, 1 << 16][random.below(5) as usize];
    let more = ["", "memory=1|", "flush_interval=1|"][random.below(3) as usize];
    let config = format!("format={format}|base={base}|window={window}|{more}part=50|row_group=7");
    let what = format!("seed {seed}: {config}");
    let run = Run::with(&config);
    let mut want = write(&run, seed, origin);
    let mut found = match format {
        #[cfg(feature = "parquet")]
        "parquet" => {
            run.session.end().unwrap();
            Rows::in_tables(&run.path)
        }
        _ => Rows::of(&run.read(), base),
    };
    for (number, event) in &want.events {
        assert_eq!(found.events.get(number), Some(event), "{number} of {what}");
    }
    assert_eq!(found.events.len(), want.events.len(), "{what}");
    assert_eq!(found.groups(), want.groups(), "{what}");
    for rows in [&mut found, &mut want] {
        rows.values.sort();
    }
    assert_eq!(found.values, want.values, "{what}");
}

#[test]
fn a_file_of_packets_has_what_was_written() {
    (0..12).for_each(|seed| check(seed, "perfetto"));
}

#[test]
fn a_file_of_json_has_what_was_written() {
    (0..12).for_each(|seed| check(seed, "chrome"));
}

#[cfg(feature = "parquet")]
#[test]
fn tables_have_what_was_written() {
    (0..6).for_each(|seed| check(seed, "parquet"));
}
