//! What the children write: streams of numbered events, and which of them a file holds.

use std::collections::BTreeMap;
use std::path::Path;

use nvtxw::{
    Backend, Config, Counter, DomainId, NvtxEvent, RangeId, Schema, Session, Stream, StreamOptions,
    StringHandle,
};

use crate::format::Format;
use crate::reader::{Arg, Number, Trace};

/// Event `n` of a stream is at this time, but for those of shuffled streams.
const STEP: i64 = 10;
/// Shuffled streams write so many events in reverse order.
const BLOCK: u64 = 16;

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_pushpop)]
struct Step {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message)]
    name: StringHandle,
    number: u64,
}

/// How a stream's events come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Typed ranges in batches.
    Batches,
    /// Plain events one by one: a mark, a push and its pop, a start and its end in turn.
    Plain,
    /// A counter's samples.
    Samples,
    /// Typed ranges, of which each few come in reverse order.
    Shuffled,
    /// Typed ranges, some of which come much later than the window.
    Late,
}

pub const KINDS: [Kind; 5] = [
    Kind::Batches,
    Kind::Plain,
    Kind::Samples,
    Kind::Shuffled,
    Kind::Late,
];

#[cfg(feature = "parquet")]
impl Kind {
    /// Whether events have fields.
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Batches | Self::Shuffled | Self::Late)
    }
}

/// Start and end of an event that is a range.
fn times(kind: Kind, number: u64) -> (i64, i64) {
    let at = |number: u64| number as i64 * STEP;
    match kind {
        Kind::Shuffled => (
            at(number ^ (BLOCK - 1)),
            at(number ^ (BLOCK - 1)) + STEP / 2,
        ),
        // Inside of an earlier one.
        Kind::Late if number % BLOCK == BLOCK - 1 && number >= 1024 => {
            (at(number - 1000) + 1, at(number - 1000) + 4)
        }
        _ => (at(number), at(number) + STEP / 2),
    }
}

/// A session with one stream of each kind.
pub struct Load {
    pub session: Session,
    pub streams: Vec<Numbered>,
}

/// A stream whose events are numbered.
pub struct Numbered {
    pub kind: Kind,
    pub stream: Stream,
    step: Schema<Step>,
    name: StringHandle,
    samples: Counter<i64>,
    /// The number of the next event.
    pub next: u64,
}

impl Load {
    /// In the format that the path is of.
    pub fn begin(path: &Path, config: &[(&str, &str)]) -> nvtxw::Result<Self> {
        Self::begin_in(Format::of(path), path, config)
    }

    pub fn begin_in(format: Format, path: &Path, config: &[(&str, &str)]) -> nvtxw::Result<Self> {
        let mut settings =
            Config::new().set("path", path.to_str().expect("test folders are UTF-8"))?;
        for (key, value) in format.config().iter().chain(config) {
            settings = settings.set(key, value)?;
        }
        let mut session = Session::begin(&Backend::embedded(), "crash", &settings)?;
        let mut domain = session.default_domain()?;
        let (step, name) = (domain.schema()?, domain.string("step")?.handle());
        let (samples, domain): (_, DomainId) = (domain.counter("samples")?, domain.id());
        let mut streams = Vec::new();
        for kind in KINDS {
            let stream = session.open_stream(&format!("{kind:?}"), StreamOptions::new(domain))?;
            streams.push(Numbered {
                kind,
                stream,
                step,
                name,
                samples,
                next: 0,
            });
        }
        Ok(Self { session, streams })
    }
}

impl Numbered {
    /// Writes `count` more events, a multiple of 16. On an error it goes on, and gives the first one in the end.
    pub fn write(&mut self, session: &Session, count: u64) -> nvtxw::Result<()> {
        let numbers = self.next..self.next + count;
        self.next = numbers.end;
        let out = session.writer(&mut self.stream)?;
        let step = |number: u64| {
            let (start, end) = times(self.kind, number);
            Step {
                start,
                end,
                name: self.name,
                number,
            }
        };
        match self.kind {
            Kind::Batches | Kind::Shuffled | Kind::Late => {
                let batch: Vec<_> = numbers.map(step).collect();
                let steps = out.events(self.step)?;
                steps.write_batch(&batch).map_err(|error| error.at(&out))
            }
            Kind::Samples => {
                let samples = out.counter(self.samples)?;
                let mut result = Ok(());
                for number in numbers {
                    result = result.and(samples.sample(number as i64 * STEP, number as i64));
                }
                result.map_err(|error| error.at(&out))
            }
            Kind::Plain => {
                let mut result = Ok(());
                for number in numbers {
                    let (time, text) = (number as i64 * STEP, number.to_string());
                    let id = RangeId::new(number + 1).expect("not 0");
                    result = result.and(match number % 3 {
                        0 => out.mark(time).message(&text).write(),
                        1 => {
                            let pushed = out.push(time).message(&text).write();
                            pushed.and(out.pop(time + STEP / 2))
                        }
                        _ => {
                            let started = out.start(time, id).message(&text).write();
                            started.and(out.end(time + STEP / 2, id))
                        }
                    });
                }
                result.map_err(|error| error.at(&out))
            }
        }
    }
}

/// The numbers of a stream's events that a file holds, each checked to be as it was written.
pub fn found(trace: &Trace, kind: Kind) -> Vec<u64> {
    let track = [format!("{kind:?}")];
    let mut numbers: BTreeMap<u64, u32> = BTreeMap::new();
    let mut add = |number| *numbers.entry(number).or_default() += 1;
    for range in trace.ranges.iter().filter(|range| range.track == track) {
        let number = match kind {
            Kind::Plain => range.name.parse().expect("a number"),
            _ => {
                assert_eq!(range.name, "step");
                match *range.arg("number") {
                    Arg::Uint(number) => number,
                    Arg::Int(number) => number as u64,
                    _ => panic!("{range:?}"),
                }
            }
        };
        let (start, end) = times(kind, number);
        assert_eq!(range.start, start as u64, "{range:?}");
        assert!(kind != Kind::Plain || number % 3 != 0, "{range:?}");
        // Where the file is cut, the packet with the end may be missing.
        assert!(
            range.end.is_none_or(|found| found == end as u64),
            "{range:?}"
        );
        add(number);
    }
    for mark in trace.instants.iter().filter(|mark| mark.track == track) {
        let number: u64 = mark.name.parse().expect("a number");
        assert_eq!((mark.start, number % 3), (number * STEP as u64, 0));
        add(number);
    }
    if kind == Kind::Samples {
        for (time, value) in trace.counter(&["Samples", "samples"]) {
            let number = time / STEP as u64;
            assert_eq!((time % STEP as u64, value), (0, Number::Int(number as i64)));
            add(number);
        }
    }
    assert!(
        numbers.values().all(|times| *times == 1),
        "{kind:?}: an event is there twice"
    );
    numbers.into_keys().collect()
}

/// Fails if an event is missing before one that is there, in the order in which the file gets them. Returns how many
/// there are.
pub fn gapless(numbers: &[u64], kind: Kind) -> u64 {
    let count = numbers.len() as u64;
    let gap = (0..)
        .zip(numbers)
        .find(|(expected, number)| expected != *number);
    match kind {
        // Of the last block the first in time may be alone there.
        Kind::Shuffled => assert!(
            gap.is_none_or(|(at, _)| at + BLOCK >= count),
            "{kind:?}: {gap:?}"
        ),
        // Those that come late are there before what they followed.
        Kind::Late => assert!(
            gap.is_none_or(|(at, _)| at + 64 >= count),
            "{kind:?}: {gap:?}"
        ),
        _ => assert_eq!(gap, None, "{kind:?}"),
    }
    count
}
