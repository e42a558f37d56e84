//! Processes and threads, and the tracks that hold theirs.

use nvtxw_backend::{Segment, StreamInfo};

use super::{Anchor, Key, Node, Tree, escaped};
use crate::track::numbers::{OwnerId, Step};
use crate::track::{Label, Owner, TrackId};

/// Rank of the first process or thread that only events name.
const FIRST_OS_NUMBER: u32 = 1 << 20;

impl Tree {
    /// The process that the first step of a path is.
    pub(super) fn process_of(&mut self, anchor: Anchor, segment: &Segment) -> Node {
        let key = Key::Scope(0, anchor, escaped(segment));
        match self.by_key.get(&key) {
            Some(&node) => node,
            None => self.add_process(key, Step::process(segment), None),
        }
    }

    /// The thread that the second step of a path is.
    pub(super) fn thread_in(&mut self, process: Node, anchor: Anchor, segment: &Segment) -> Node {
        let key = Key::Scope(process, anchor, escaped(segment));
        match self.by_key.get(&key) {
            Some(&node) => node,
            None => self.add_thread(process, key, Step::thread(segment), None),
        }
    }

    /// The process of the operating system's number, whatever its scope is called.
    pub(super) fn os_process(&mut self, number: u64) -> Node {
        let step = Step::os(number, "Process");
        let key = Key::Scope(0, Anchor::Root, step.name.clone());
        match (self.os_nodes.get(&(None, number))).or_else(|| self.by_key.get(&key)) {
            Some(&node) => node,
            None => self.add_process(key, step, Some(rank_of_os(number))),
        }
    }

    /// The thread of the operating system's number in a process, whatever its scope is called.
    pub(super) fn os_thread(&mut self, process: Node, number: u64) -> Node {
        let step = Step::os(number, "Thread");
        let key = Key::Scope(process, Anchor::Root, step.name.clone());
        match (self.os_nodes.get(&(Some(process), number))).or_else(|| self.by_key.get(&key)) {
            Some(&node) => node,
            None => self.add_thread(process, key, step, Some(rank_of_os(number))),
        }
    }

    /// The process of streams and counters without scope.
    pub(super) fn session(&mut self) -> Node {
        match self.by_key.get(&Key::Session) {
            Some(&node) => node,
            None => {
                let step = Step::named(&self.session, "Process");
                self.add_process(Key::Session, step, None)
            }
        }
    }

    /// The track of the rows of a stream without scope.
    pub(super) fn stream(&mut self, stream: &StreamInfo) -> TrackId {
        let domain = stream.domain();
        let key = Key::Stream(domain.index(), stream.name().to_owned());
        if let Some(&track) = self.by_key.get(&key) {
            return track;
        }
        let step = match stream.name() {
            "" => Step::named("stream", "Thread"),
            name => Step::named(name, "Thread"),
        };
        let process = self.session();
        let rows = self.add_thread(process, key, step, None);
        let label = &mut self.tracks[rows as usize - 1].label;
        label.description = domain.name().map(|domain| format!("Domain: {domain}"));
        rows
    }

    fn add_process(&mut self, key: Key, step: Step, rank: Option<u32>) -> Node {
        let number = self.numbers.process(step.wanted);
        let owner = Owner::new(OwnerId::Process(number), &step, number, "Process");
        let os_number = self.new_os_number(None, &step);
        let label = match key {
            // It is no step of any path.
            Key::Session => Label::new(String::new()),
            _ => Label {
                shown: Some(step.shown),
                ..Label::new(step.name)
            },
        };
        let label = Label {
            owner: Some(Box::new(owner)),
            os_number,
            ..label
        };
        let node = self.get(key, 0, rank, label);
        if let Some(number) = os_number {
            self.os_nodes.insert((None, number.into()), node);
        }
        node
    }

    /// Adds a thread to a process. Returns the track of its rows.
    fn add_thread(&mut self, process: Node, key: Key, step: Step, rank: Option<u32>) -> TrackId {
        let (number, is_made_up) = self.number_of(process);
        let os_number = self.new_os_number(Some(process), &step);
        let rows = if step.wanted == Some(number) && !is_made_up {
            // The main thread has the rows of the process, too.
            let holder = self.main_thread(process);
            let label = Label {
                shown: Some(step.shown),
                ..Label::new(step.name)
            };
            self.get(key, holder, Some(1), label)
        } else {
            let thread = self.numbers.thread(number, step.wanted);
            let id = OwnerId::Thread {
                process: number,
                thread,
            };
            let label = Label {
                shown: Some(step.shown.clone()),
                owner: Some(Box::new(Owner::new(id, &step, thread, "Thread"))),
                os_number,
                ..Label::new(step.name)
            };
            let holder = self.get(Key::Thread(id), process, rank, label);
            let label = Label {
                shown: Some(step.shown),
                os_number,
                ..Label::new(String::new())
            };
            self.get(key, holder, Some(0), label)
        };
        if let Some(number) = os_number {
            (self.os_nodes).insert((Some(process), number.into()), rows);
        }
        rows
    }

    /// The operating system's number in a step, unless it is that of another node already.
    fn new_os_number(&self, process: Option<Node>, step: &Step) -> Option<u32> {
        let number = step.wanted.filter(|_| step.is_os)?;
        let is_known = self.os_nodes.contains_key(&(process, number.into()));
        (!is_known).then_some(number)
    }

    /// A process' number in the file, and whether it is made up.
    fn number_of(&self, process: Node) -> (u32, bool) {
        match self.track(process).label.owner.as_deref() {
            Some(&Owner {
                id: OwnerId::Process(number),
                is_made_up,
                ..
            }) => (number, is_made_up),
            _ => unreachable!("threads are in processes"),
        }
    }

    /// The track of what is in a process itself.
    pub(super) fn main_rows(&mut self, process: Node) -> TrackId {
        let holder = self.main_thread(process);
        let label = &self.track(process).label;
        let label = Label {
            shown: Some(label.shown().to_owned()),
            os_number: label.os_number,
            ..Label::new(String::new())
        };
        self.get(Key::Main(process), holder, Some(0), label)
    }

    /// The track that holds those of a process' main thread. It has no name: it is no step of any path.
    fn main_thread(&mut self, process: Node) -> TrackId {
        let (number, is_made_up) = self.number_of(process);
        let label = &self.track(process).label;
        let id = OwnerId::Thread {
            process: number,
            thread: number,
        };
        let label = Label {
            owner: Some(Box::new(Owner {
                id,
                name: label.shown().to_owned(),
                is_made_up,
            })),
            os_number: label.os_number,
            ..Label::new(String::new())
        };
        self.get(Key::Thread(id), process, Some(0), label)
    }
}

impl Owner {
    /// Of a step that got `number`. Viewers show a number after the name.
    fn new(id: OwnerId, step: &Step, number: u32, what: &str) -> Self {
        let is_made_up = step.wanted != Some(number);
        Self {
            id,
            name: match is_made_up {
                true => step.shown.clone(),
                false => what.to_owned(),
            },
            is_made_up,
        }
    }
}

/// Processes that only events name are ordered by number, whichever event comes first.
fn rank_of_os(number: u64) -> u32 {
    FIRST_OS_NUMBER + number.min(1 << 29) as u32
}
