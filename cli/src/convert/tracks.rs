//! The places of a trace: processes, their threads, and what else has a row of its own.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::strings::{StringId, Strings};

/// What is told of a process or a thread by its own events.
#[derive(Default)]
pub struct Facts {
    pub name: Option<String>,
    pub labels: Option<String>,
    pub sort_index: Option<i64>,
}

pub struct Process {
    /// `None`: of events that name no process.
    pub id: Option<StringId>,
    pub facts: Facts,
    /// That of instants of the whole trace.
    pub is_whole_trace: bool,
}

/// What a track is in its process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Events that name no thread.
    Whole,
    /// By its id.
    Thread(StringId),
    /// Asynchronous ranges of one category (or an object's name) and id.
    Async(Option<StringId>, StringId),
    Counters,
}

pub struct Track {
    pub process: usize,
    pub part: Part,
    pub facts: Facts,
    /// Has an event.
    pub is_used: bool,
    /// Its ranges nest.
    pub nests: bool,
}

/// A thread's track, and how the file says which process and thread it is.
struct Last {
    process: Option<Box<str>>,
    thread: Option<Box<str>>,
    track: u32,
}

#[derive(Default)]
pub struct Tracks {
    pub processes: Vec<Process>,
    pub all: Vec<Track>,
    process_by_id: HashMap<Option<StringId>, usize>,
    by_part: HashMap<(usize, Part), u32>,
    /// Of the event before, whose place most events share.
    last: Option<Last>,
}

impl Tracks {
    pub fn process(&mut self, id: Option<&str>, strings: &mut Strings) -> usize {
        let id = id.map(|id| strings.keep(id));
        *self.process_by_id.entry(id).or_insert_with(|| {
            self.processes.push(Process {
                id,
                facts: Facts::default(),
                is_whole_trace: false,
            });
            self.processes.len() - 1
        })
    }

    pub fn track(&mut self, process: usize, part: Part) -> u32 {
        *self.by_part.entry((process, part)).or_insert_with(|| {
            self.all.push(Track {
                process,
                part,
                facts: Facts::default(),
                is_used: false,
                nests: !matches!(part, Part::Async(..)),
            });
            (self.all.len() - 1) as u32
        })
    }

    /// The track of instants of the whole trace.
    pub fn whole_trace(&mut self) -> u32 {
        let found = self
            .processes
            .iter()
            .position(|process| process.is_whole_trace);
        let process = found.unwrap_or_else(|| {
            let facts = Facts {
                name: Some("whole trace".to_owned()),
                ..Facts::default()
            };
            self.processes.push(Process {
                id: None,
                facts,
                is_whole_trace: true,
            });
            self.processes.len() - 1
        });
        self.track(process, Part::Whole)
    }

    /// Forgets the last thread, whose ids are to be read once more.
    pub fn forget_last(&mut self) {
        self.last = None;
    }

    /// The track of a thread. `as_written` is how the file says which process and thread it is, and `ids` makes their ids of that.
    pub fn thread<'t>(
        &mut self,
        as_written: (Option<&str>, Option<&str>),
        ids: impl FnOnce() -> (Option<Cow<'t, str>>, Option<Cow<'t, str>>),
        strings: &mut Strings,
    ) -> u32 {
        if let Some(last) = &self.last
            && (last.process.as_deref(), last.thread.as_deref()) == as_written
        {
            return last.track;
        }
        let (process, thread) = ids();
        let number = self.process(process.as_deref(), strings);
        let part = thread.map_or(Part::Whole, |id| Part::Thread(strings.keep(&id)));
        let track = self.track(number, part);
        let (process, thread) = as_written;
        self.last = Some(Last {
            process: process.map(Into::into),
            thread: thread.map(Into::into),
            track,
        });
        track
    }
}
