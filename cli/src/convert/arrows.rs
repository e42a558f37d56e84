//! Resolves flow points and correlation numbers to arrows, each from one event to another.
//!
//! Correlations of NVTXW have no direction: each arrow gets a number of its own, so that no event at its end is joined with one
//! at the end of another arrow.

use std::io;

use super::record::{Head, u32_at};
use super::sorter::{Key, Sorted, Sorter};
use super::trace::{TIE_BYTES, Trace};
use super::tracks::Part;

/// A flow point: which flow it is of, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub id: u64,
    pub order: Order,
}

/// The role of a flow point. Points of one time count in this order, whatever their order in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Begins the flow anew.
    Start,
    /// Ends an arrow and starts the next one.
    Step,
    /// Ends an arrow. Further ends make further arrows of the same start.
    End,
}

impl Order {
    pub fn from_u8(order: u8) -> Self {
        [Self::Start, Self::Step, Self::End][usize::from(order)]
    }
}

/// Flow points with the events that they bind to.
pub struct Points(Sorter);

impl Points {
    pub fn new(sorter: Sorter) -> Self {
        Self(sorter)
    }

    /// Adds the point of that time and event number, which binds to the event of this key.
    pub fn add(&mut self, flow: Flow, time: i64, number: u64, event: Key) -> io::Result<()> {
        self.push(flow, time, number, event, FLOW)
    }

    fn push(
        &mut self,
        flow: Flow,
        time: i64,
        number: u64,
        event: Key,
        rank: u32,
    ) -> io::Result<()> {
        let key = Key {
            group: flow.id,
            time,
            rank: flow.order as u64,
            number,
        };
        let mut record = [0; Key::SIZE + 4];
        record[..Key::SIZE].copy_from_slice(&event.to_bytes());
        record[Key::SIZE..].copy_from_slice(&rank.to_le_bytes());
        self.0.push(key, &record)
    }
}

/// In place of a rank: a point of a flow of the file, and a correlation of a process without a rank.
const FLOW: u32 = 0;
const NO_RANK: u32 = 1;

/// The argument `correlation`, which joins a call of a profiled runtime with what it started on a device.
pub struct Correlations {
    /// By category: which side of a correlation its events are on.
    sides: Vec<Option<Order>>,
    /// By track: the rank in its process's id.
    ranks: Vec<u32>,
}

impl Correlations {
    pub fn of(trace: &Trace) -> Self {
        let sides = trace.strings.all().map(|(_, text)| side(text)).collect();
        let (mut known, mut ranks) = (Vec::new(), Vec::new());
        for track in &trace.tracks.all {
            let id = trace.tracks.processes[track.process].id;
            let rank = id.and_then(|id| rank_of(trace.strings.text(id)));
            ranks.push(match rank {
                Some(rank) if matches!(track.part, Part::Thread(_) | Part::Whole) => {
                    let index = known.iter().position(|known| *known == rank);
                    let index = index.unwrap_or_else(|| {
                        known.push(rank);
                        known.len() - 1
                    });
                    NO_RANK + 1 + index as u32
                }
                _ => NO_RANK,
            });
        }
        Self { sides, ranks }
    }

    /// Adds a range, if it is on a side of a correlation.
    pub fn add(&self, points: &mut Points, range: Key, head: &Head) -> io::Result<()> {
        if head.correlation == 0 {
            return Ok(());
        }
        let side = head.category.and_then(|id| self.sides[id.index()]);
        let Some(order) = side else {
            return Ok(());
        };
        let flow = Flow {
            id: head.correlation,
            order,
        };
        let rank = self.ranks[range.group as usize];
        points.push(flow, range.time, range.number, range, rank)
    }
}

/// The side of a category, as Kineto and its forerunners write them.
fn side(category: &str) -> Option<Order> {
    match category {
        "kernel" | "concurrent_kernel" | "gpu_memcpy" | "gpu_memset" | "cuda_sync" | "Kernel"
        | "Memcpy" | "Memset" => Some(Order::End),
        "Runtime" => Some(Order::Start),
        _ => {
            let is_call = category.ends_with("_runtime") || category.ends_with("_driver");
            is_call.then_some(Order::Start)
        }
    }
}

/// The rank that the id of a process in a merged trace begins with: `rank0 100`.
fn rank_of(process: &str) -> Option<&str> {
    let mut words = process.split_whitespace();
    words.next().filter(|_| words.next().is_some())
}

/// The event that an arrow starts at.
struct Source {
    event: Key,
    rank: u32,
    is_paired: bool,
}

/// Numbers the arrows: records of eight bytes, an arrow's number, that have the keys of the events at its ends.
pub fn resolve(points: Points, trace: &mut Trace) -> io::Result<Sorted> {
    let mut arrows = arrows(points, trace)?.sorted()?;
    let mut numbered = Sorter::new(TIE_BYTES, &trace.folder);
    let (mut number, mut last) = (0_u64, None);
    while let Some((key, record)) = arrows.next()? {
        // A correlation and a flow, or two flows, may join the same events.
        if last.replace((key.group, key.rank)) == Some((key.group, key.rank)) {
            continue;
        }
        number += 1;
        for end in record.chunks_exact(Key::SIZE) {
            numbered.push(event_at(end), &number.to_le_bytes())?;
        }
    }
    numbered.sorted()
}

/// The arrows by the numbers of the events at their ends.
fn arrows(points: Points, trace: &mut Trace) -> io::Result<Sorter> {
    let mut points = points.0.sorted()?;
    let mut arrows = Sorter::new(TIE_BYTES, &trace.folder);
    let (mut sources, mut flow) = (Vec::<Source>::new(), None);
    let is_alone = |source: &Source| source.rank == FLOW && !source.is_paired;
    while let Some((key, record)) = points.next()? {
        if flow != Some(key.group) {
            trace.unpaired += sources.drain(..).filter(is_alone).count() as u64;
            flow = Some(key.group);
        }
        let (event, rank) = (event_at(record), u32_at(record, Key::SIZE));
        let order = Order::from_u8(key.rank as u8);
        let mut is_paired = false;
        if order != Order::Start {
            let is_its = |source: &&mut Source| match (source.rank, rank) {
                (FLOW, _) | (_, FLOW) => source.rank == rank,
                (NO_RANK, _) | (_, NO_RANK) => true,
                (one, other) => one == other,
            };
            if let Some(source) = sources.iter_mut().rfind(is_its) {
                source.is_paired = true;
                is_paired = true;
                if event.time < source.event.time {
                    let kind = "an arrow that would end before it starts is left out";
                    trace.warnings.add_event(kind, key.number, key.time);
                } else if event != source.event {
                    let key = Key {
                        group: event.number,
                        time: 0,
                        rank: source.event.number,
                        number: 0,
                    };
                    let ends = [source.event.to_bytes(), event.to_bytes()];
                    arrows.push(key, ends.as_flattened())?;
                }
            } else if rank == FLOW {
                trace.unpaired += 1;
            }
        }
        if order != Order::End {
            if let Some(before) = sources.iter().position(|source| source.rank == rank) {
                trace.unpaired += u64::from(is_alone(&sources.remove(before)));
            }
            sources.push(Source {
                event,
                rank,
                is_paired,
            });
        }
    }
    trace.unpaired += sources.into_iter().filter(is_alone).count() as u64;
    Ok(arrows)
}

fn event_at(bytes: &[u8]) -> Key {
    let key = bytes.first_chunk().expect("a record begins with a key");
    Key::from_bytes(*key)
}
