//! Events that arrive in any order, and what a reader must find of them whatever that is.

use std::collections::BTreeMap;
use std::fs;

use nvtxw_abi::raw::*;
use nvtxw_abi::{EntryType, EventKind};

use crate::Run;
use crate::reader::{Arg, Slice, Trace};
use crate::replay::Random;
use crate::table::{Domain, Entry, Session, Stream, entry, time, words};

/// The formats that are put in order when the session ends.
pub const FORMATS: [&str; 2] = ["format=perfetto", "format=chrome"];

/// What arrives in a stream.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub kind: Kind,
    pub time: i64,
    /// Of a whole range.
    pub end: i64,
    /// Index of its scope.
    pub place: usize,
    /// Of a range or an instant; the halves of a range share it.
    pub number: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    PushPop,
    StartEnd,
    Push,
    Pop,
    Start,
    End,
    Mark,
    Sample,
}

/// Makes chains of arrivals: those of one chain come in its order.
pub struct Chains {
    random: Random,
    chains: Vec<Vec<Arrival>>,
    pub number: i64,
}

impl Chains {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let span = 5 + random.below(300);
        let mut all = Self {
            random,
            chains: Vec::new(),
            number: 0,
        };
        for place in 0..2 {
            let mut chain = Vec::new();
            let mut at = 0;
            while at < span as i64 && chain.len() < 60 {
                let end = at + 1 + all.below(span) as i64;
                all.nest((at, end), place, 0, &mut chain);
                at = end + all.below(3) as i64;
            }
            // The last pushes of some stay open.
            if all.below(3) == 0 {
                let pops = chain.iter().rev().take_while(|a| a.kind == Kind::Pop);
                let open = pops.count().min(2);
                chain.truncate(chain.len() - open);
            }
            all.chains.push(chain);
        }
        for _ in 0..all.below(80) {
            let kinds = [
                Kind::PushPop,
                Kind::StartEnd,
                Kind::Start,
                Kind::Mark,
                Kind::Sample,
            ];
            let kind = kinds[all.below(5) as usize];
            let start = all.below(span) as i64;
            let end = start + all.below(span / 2) as i64;
            let place = all.below(2) as usize;
            let first = all.arrival(kind, start, end, place);
            let mut chain = vec![first];
            if kind == Kind::Start && all.below(8) != 0 {
                chain.push(Arrival {
                    kind: Kind::End,
                    time: end,
                    ..first
                });
            }
            all.chains.push(chain);
        }
        all
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn arrival(&mut self, kind: Kind, time: i64, end: i64, place: usize) -> Arrival {
        self.number += 1;
        Arrival {
            kind,
            time,
            end,
            place,
            number: self.number,
        }
    }

    /// A push from `start` to `end`, with others in it.
    fn nest(
        &mut self,
        (start, end): (i64, i64),
        place: usize,
        depth: usize,
        chain: &mut Vec<Arrival>,
    ) {
        let push = self.arrival(Kind::Push, start, end, place);
        chain.push(push);
        let mut at = start;
        while depth < 5 && self.below(3) != 0 {
            let from = at + self.below((end - at) as u64 / 2 + 1) as i64;
            let to = from + self.below((end - from) as u64 + 1) as i64;
            self.nest((from, to), place, depth + 1, chain);
            at = to;
        }
        chain.push(Arrival {
            kind: Kind::Pop,
            time: end,
            ..push
        });
    }

    /// All in the order of their times.
    pub fn in_order(&self) -> Vec<Arrival> {
        let mut all: Vec<_> = self.chains.iter().flatten().copied().collect();
        all.sort_by_key(|arrival| arrival.time);
        all
    }

    /// All in any order.
    pub fn in_disorder(&mut self) -> Vec<Arrival> {
        let mut rest: Vec<_> = self.chains.clone();
        rest.iter_mut().for_each(|chain| chain.reverse());
        let mut all = Vec::new();
        while !rest.is_empty() {
            let index = self.below(rest.len() as u64) as usize;
            // Long chains would be all that is left in the end.
            for _ in 0..=rest[index].len() / 8 {
                all.extend(rest[index].pop());
            }
            if rest[index].is_empty() {
                rest.swap_remove(index);
            }
        }
        all
    }
}

/// The schemas of events that have a name, a scope and a value.
pub struct Schemas {
    domain: Domain,
    scopes: [u64; 2],
    pushpop: u64,
    startend: u64,
    push: u64,
    pop: u64,
    start: u64,
    end: u64,
    mark: u64,
    counter: u64,
}

impl Schemas {
    pub fn new(domain: Domain) -> Self {
        let begin = time(c"start", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
        let end = time(c"end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
        let mark = time(c"time", NVTX_PAYLOAD_ENTRY_FLAG_MARK);
        let id = entry(EntryType::RangeId, c"range_id");
        let name = Entry {
            flags: NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            ..entry(EntryType::RegisteredString, c"name")
        };
        let scope = entry(EntryType::ScopeId, c"scope");
        let value = entry(EntryType::Int64, c"value");
        let schema = |kind: EventKind, entries: &[Entry<'_>]| {
            let entries = [entries, &[scope, value]].concat();
            domain.schema(kind.name(), kind.to_raw(), entries.len() * 8, &entries)
        };
        Self {
            scopes: ["one", "two"].map(|path| domain.scope(NVTX_SCOPE_ROOT, path)),
            pushpop: schema(EventKind::RangePushPop, &[begin, end, name]),
            startend: schema(EventKind::RangeStartEnd, &[begin, end, name]),
            push: schema(EventKind::RangePush, &[begin, name]),
            pop: schema(EventKind::RangePop, &[end]),
            start: schema(EventKind::RangeStart, &[id, begin, name]),
            end: schema(EventKind::RangeEnd, &[id, end]),
            mark: schema(EventKind::Mark, &[mark, name]),
            counter: domain.counter("load", EntryType::Int64.to_raw(), 0, None),
            domain,
        }
    }

    pub fn write(&self, stream: &mut Stream, arrival: Arrival) {
        let Arrival {
            time, end, number, ..
        } = arrival;
        let name = self.domain.string(&format!("event {number}")) as i64;
        let scope = self.scopes[arrival.place] as i64;
        let (schema, payload): (_, &[i64]) = match arrival.kind {
            Kind::PushPop => (self.pushpop, &[time, end, name, scope, number]),
            Kind::StartEnd => (self.startend, &[time, end, name, scope, number]),
            Kind::Push => (self.push, &[time, name, scope, number]),
            Kind::Pop => (self.pop, &[time, scope, -number]),
            Kind::Start => (self.start, &[number, time, name, scope, number]),
            Kind::End => (self.end, &[number, time, scope, -number]),
            Kind::Mark => (self.mark, &[time, name, scope, number]),
            Kind::Sample => {
                let sample = number.to_ne_bytes();
                stream.sample(time, self.counter, &sample).unwrap();
                return;
            }
        };
        stream.event(&[(schema, &words(payload))]).unwrap();
    }
}

/// Track, lane, start, end, depth.
pub type Spot = (Vec<String>, usize, u64, Option<u64>, usize);
/// Track, start, end, name, args.
pub type Content = (Vec<String>, u64, Option<u64>, String, String);

/// What a reader finds, apart from which one is which of ranges with the same times in one place: the
/// one that came first is the outer one.
#[derive(Debug, PartialEq)]
pub struct Rows {
    pub spots: Vec<Spot>,
    pub contents: Vec<Content>,
    /// Each with its depth.
    pub instants: Vec<(Content, usize)>,
    /// Track, time, value.
    pub values: Vec<(Vec<String>, u64, String)>,
    pub left_open: Option<Arg>,
}

impl Rows {
    pub fn of(trace: &Trace) -> Self {
        let mut lanes: BTreeMap<&[String], Vec<u64>> = BTreeMap::new();
        for range in &trace.ranges {
            let lanes = lanes.entry(&range.track).or_default();
            if let Err(at) = lanes.binary_search(&range.uuid) {
                lanes.insert(at, range.uuid);
            }
        }
        let lane = |range: &Slice| lanes[&range.track[..]].binary_search(&range.uuid).unwrap();
        let content = |slice: &Slice| {
            let args = format!("{:?}", slice.args);
            let track = slice.track.clone();
            (track, slice.start, slice.end, slice.name.clone(), args)
        };
        let mut rows = Self {
            spots: (trace.ranges.iter())
                .map(|r| (r.track.clone(), lane(r), r.start, r.end, r.depth))
                .collect(),
            contents: trace.ranges.iter().map(content).collect(),
            instants: (trace.instants.iter())
                .map(|instant| (content(instant), instant.depth))
                .collect(),
            values: (trace.values.iter())
                .map(|(track, time, value, _)| (track.clone(), *time, format!("{value:?}")))
                .collect(),
            left_open: trace.attributes.get("nvtxw.left_open").cloned(),
        };
        rows.spots.sort();
        rows.contents.sort();
        rows.instants.sort();
        rows.values.sort();
        rows
    }
}

pub fn write(arrivals: &[Arrival], config: &str) -> Run {
    let run = Run::with(config);
    write_to(&run.session, arrivals);
    run
}

pub fn write_to(session: &Session, arrivals: &[Arrival]) {
    write_apart(session, arrivals, &[]);
}

/// The ends that are `late` come from another stream, after the first one was closed.
pub fn write_apart(session: &Session, arrivals: &[Arrival], late: &[Arrival]) {
    let domain = session.domain("");
    let schemas = Schemas::new(domain);
    let mut stream = session.stream("main", domain, 0);
    for arrival in arrivals {
        schemas.write(&mut stream, *arrival);
    }
    // One in order, and one that had nothing to write, stay as they are.
    let mut other = session.stream("other", domain, 0);
    session.stream("idle", domain, 0).close().unwrap();
    for number in 0..20 {
        let mark = Arrival {
            kind: Kind::Mark,
            time: number,
            end: number,
            place: 0,
            number,
        };
        schemas.write(&mut other, mark);
    }
    stream.close().unwrap();
    for arrival in late {
        schemas.write(&mut other, *arrival);
    }
    other.close().unwrap();
}

/// What was written, without what stands at the end of Chrome's JSON until more comes.
pub fn written(file: &[u8]) -> &[u8] {
    file.strip_suffix(b"\n]}\n").unwrap_or(file)
}

pub fn merged(run: Run) -> Trace {
    let folder = run.path.parent().unwrap().to_owned();
    run.session.end().unwrap();
    let files = fs::read_dir(folder).unwrap().count();
    assert_eq!(files, 1, "something is left");
    let trace = Trace::read(&run.path);
    assert_eq!(trace.attributes.get("nvtxw.unmerged"), None);
    trace
}
