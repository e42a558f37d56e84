//! Processes and threads: all the places that the format has.
//!
//! The first step of a scope's path is a process, and the rest of it a thread there. What has no
//! scope is a thread, or a counter, of a process that stands for the session.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::IdSet;
use crate::json;
use crate::proto::Writer;
use crate::track::{HOLDERS, Scale, Track, TrackId, Tracks};

/// The process of what has no scope. Others have the numbers after it, and threads the number of their track plus this.
pub(super) const SESSION: u64 = 1;

/// Where a track is shown.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) process: u64,
    pub(super) thread: u64,
    process_name: Option<String>,
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// Of a counter.
    pub(super) scale: Option<Box<Scale>>,
    /// The ranks of the track and its ancestors, outermost first.
    ranks: Vec<u32>,
    place: TrackId,
}

impl Spot {
    pub(super) fn of(track: TrackId, tracks: &Tracks) -> Self {
        let mut path: Vec<Track> = Vec::new();
        tracks.describe(track, &mut IdSet::default(), |_, track| {
            path.push(track.clone())
        });
        let ranks = path.iter().map(|track| track.rank).collect();
        let (root, below) = path.split_first().expect("a track is on its own path");
        let last = path.last().unwrap_or(root).clone();
        let named = |name: &&str| !name.is_empty();
        let process_name = Some(&*root.label.name).filter(named).map(str::to_owned);
        let process = match process_name {
            Some(_) => SESSION + 1 + root.place - HOLDERS,
            None => SESSION,
        };
        let names: Vec<_> = below
            .iter()
            .map(|track| &*track.label.name)
            .filter(named)
            .collect();
        let name = match &process_name {
            Some(name) if names.is_empty() => name.clone(),
            _ => names.join("/"),
        };
        Self {
            process,
            thread: thread_of(track),
            process_name,
            name,
            ranks,
            place: last.place,
            description: last.label.description_of_sums(),
            scale: last.label.counter,
        }
    }

    /// The track that is shown there.
    pub(super) fn track(&self) -> TrackId {
        self.thread - SESSION
    }
}

/// The thread that a track is.
pub(super) fn thread_of(track: TrackId) -> u64 {
    track + SESSION
}

/// The process of the session, named: the first line of the file.
pub(super) fn name_session(name: &str, out: &mut Writer) {
    metadata(SESSION, None, "process_name", out);
    out.raw(b"\"name\":");
    json::text(name, out);
    out.raw(b"}}");
}

/// Process and thread, by ranks and by which of its place's threads it is.
type Listed = (Vec<u32>, u32, u64, u64);

/// The processes and threads of a session that have something in the file.
#[derive(Default)]
pub(super) struct Threads(Mutex<Inner>);

/// The threads that there were. They are there again when it is dropped, unless that is final.
pub(super) struct Forgotten<'t> {
    threads: &'t Threads,
    before: Vec<Listed>,
    pub(super) is_final: bool,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        if !self.is_final {
            self.threads.lock().threads = mem::take(&mut self.before);
        }
    }
}

#[derive(Default)]
struct Inner {
    /// With the least rank of what is in each.
    processes: BTreeMap<u64, u32>,
    threads: Vec<Listed>,
    /// How many threads a place has had.
    lanes: HashMap<TrackId, u32>,
    /// Which of them each thread is.
    numbers: HashMap<u64, u32>,
    /// Which track a process' counter of this name is.
    counters: HashMap<(u64, String), TrackId>,
}

impl Threads {
    /// Appends the lines that describe a thread, before it is used.
    pub(super) fn add(&self, spot: &Spot, out: &mut Writer) {
        let mut inner = self.lock();
        inner.add_process(spot, out);
        let lane = inner.number(spot);
        let mut name = spot.name.clone();
        if lane > 1 {
            name = format!("{name} ({lane})");
        }
        (inner.threads).push((spot.ranks.clone(), lane, spot.process, spot.thread));
        drop(inner);
        out.raw(b",\n");
        metadata(spot.process, Some(spot.thread), "thread_name", out);
        name_and_description(&name, spot.description.as_deref(), out);
    }

    /// Forgets the threads that are `gone`: they are added again where they are still used.
    pub(super) fn forget(&self, gone: impl Fn(u64) -> bool) -> Forgotten<'_> {
        let mut inner = self.lock();
        let before = inner.threads.clone();
        inner.threads.retain(|(_, _, _, thread)| !gone(*thread));
        Forgotten {
            threads: self,
            before,
            is_final: false,
        }
    }

    /// Appends the lines that describe a counter, before it is used.
    pub(super) fn add_counter(&self, spot: &Spot, out: &mut Writer) {
        self.lock().add_process(spot, out);
        if spot.description.is_some() {
            out.raw(b",\n");
            metadata(spot.process, None, "counter", out);
            name_and_description(&spot.name, spot.description.as_deref(), out);
        }
    }

    /// Whether a counter needs an ID beside its name, because another one of the process has that
    /// too.
    pub(super) fn is_namesake(&self, spot: &Spot) -> bool {
        let mut inner = self.lock();
        let key = (spot.process, spot.name.clone());
        *inner.counters.entry(key).or_insert(spot.place) != spot.place
    }

    /// Appends the lines that tell the order of processes and threads, which is that of their paths.
    pub(super) fn sort(&self, out: &mut Writer) {
        let mut inner = self.lock();
        inner.threads.sort();
        let mut index = |process, thread, name, index: u64| {
            out.raw(b",\n");
            metadata(process, thread, name, out);
            out.raw(b"\"sort_index\":");
            json::digits(index, out);
            out.raw(b"}}");
        };
        for (&process, &rank) in &inner.processes {
            index(process, None, "process_sort_index", rank.into());
        }
        for ((_, _, process, thread), at) in inner.threads.iter().zip(0..) {
            index(*process, Some(*thread), "thread_sort_index", at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Which of its place's threads a thread is, also when it comes again.
    fn number(&mut self, spot: &Spot) -> u32 {
        *self.numbers.entry(spot.thread).or_insert_with(|| {
            let lanes = self.lanes.entry(spot.place).or_default();
            *lanes += 1;
            *lanes
        })
    }

    fn add_process(&mut self, spot: &Spot, out: &mut Writer) {
        let rank = spot.ranks.first().copied().unwrap_or_default();
        if let Some(least) = self.processes.get_mut(&spot.process) {
            *least = rank.min(*least);
            return;
        }
        self.processes.insert(spot.process, rank);
        if let Some(name) = &spot.process_name {
            out.raw(b",\n");
            metadata(spot.process, None, "process_name", out);
            name_and_description(name, None, out);
        }
    }
}

/// An event that is about a process or a thread, up to its arguments.
pub(super) fn metadata(process: u64, thread: Option<u64>, name: &str, out: &mut Writer) {
    out.raw(b"{\"ph\":\"M\",\"pid\":");
    json::digits(process, out);
    if let Some(thread) = thread {
        out.raw(b",\"tid\":");
        json::digits(thread, out);
    }
    out.raw(b",\"name\":\"");
    out.raw(name.as_bytes());
    out.raw(b"\",\"args\":{");
}

fn name_and_description(name: &str, description: Option<&str>, out: &mut Writer) {
    out.raw(b"\"name\":");
    json::text(name, out);
    if let Some(description) = description {
        out.raw(b",\"description\":");
        json::text(description, out);
    }
    out.raw(b"}}");
}
