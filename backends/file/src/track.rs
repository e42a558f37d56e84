//! The tracks of a session: a tree that all of its streams share.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{Domain, PredefinedScope, ResourceType, Scope, ScopeRef, Segment, StreamInfo};

use crate::ids::IdSet;

/// Readers follow a hundred ancestors: what is deeper is one track with the rest of its path as
/// name. Leaves room for domain, counter group and counter.
const MAX_DEPTH: usize = 90;

/// A track's number in the file, from 1. 0 as a parent: none.
pub(crate) type TrackId = u64;

/// What tells a track from its siblings, whatever they are called.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// A step of a scope's path, in the form that its producer wrote.
    Scope(TrackId, Anchor, String),
    /// What holds the tracks of a process or a thread.
    Owner(OwnerId),
    /// A domain, by its index.
    Domain(TrackId, u32),
    /// A stream without scope, by its domain's index and its name.
    Stream(u32, String),
    /// A group of counters, by the counter's ID.
    Group(TrackId, u64),
    /// A counter: its ID, which of the counters of a group it is, and the number of the stream that
    /// it is for, if it is for one only.
    Counter(TrackId, u64, u32, Option<u32>),
    /// The same for one of a group whose samples differ, by its name.
    Named(TrackId, u64, Box<str>, Option<u32>),
}

/// What a path starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Anchor {
    Root,
    Machine,
    Vm,
}

impl Anchor {
    fn of(scope: &Scope) -> Self {
        match scope.anchor() {
            PredefinedScope::CurrentHwMachine => Self::Machine,
            PredefinedScope::CurrentVm => Self::Vm,
            _ => Self::Root,
        }
    }
}

/// What a track stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TrackKind {
    /// A step of a scope's path.
    Scope,
    Domain,
    /// A stream without scope.
    Stream,
    /// A group of counters.
    Group,
    Counter,
}

/// How a track is shown.
#[derive(Clone)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// Of a counter; other tracks hold ranges, instants and further tracks.
    pub(crate) counter: Option<Box<Scale>>,
    /// Of what holds the tracks of a process or a thread, and nothing else.
    pub(crate) owner: Option<Box<Owner>>,
}

impl Label {
    /// The description for formats whose readers see the sums of differences.
    pub(crate) fn description_of_sums(&self) -> Option<String> {
        let is_sum = self.counter.as_ref().is_some_and(|scale| scale.is_delta);
        let sum = is_sum.then_some("The sum of differences to the sample before.");
        let facts: Vec<_> = self.description.as_deref().into_iter().chain(sum).collect();
        Some(facts.join("\n")).filter(|facts| !facts.is_empty())
    }
}

/// A process or a thread.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) id: OwnerId,
    /// Its name, to be shown beside its number.
    pub(crate) name: String,
}

/// A process, or one of its threads, by the operating system's numbers: from 1 to 2^31-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OwnerId {
    Process(u32),
    Thread { process: u32, thread: u32 },
}

/// What a counter's numbers count.
#[derive(Clone)]
pub(crate) struct Scale {
    pub(crate) unit: Option<String>,
    pub(crate) multiplier: u64,
    /// Whether each number is the difference to the one before, so that their sum is to be shown.
    pub(crate) is_delta: bool,
}

#[derive(Clone)]
pub(crate) struct Track {
    pub(crate) parent: TrackId,
    /// Among its siblings, from 0.
    pub(crate) rank: u32,
    /// Tracks of one place are shown as one. The place's own track has its number.
    pub(crate) place: TrackId,
    pub(crate) kind: TrackKind,
    pub(crate) label: Label,
}

impl Track {
    /// Whether this holds the tracks of a process or a thread, and `track` is the one with its name.
    pub(crate) fn holds(&self, track: &Self) -> bool {
        self.label.owner.is_some() && track.label.owner.is_none()
    }
}

/// All tracks of a session.
#[derive(Default)]
pub(crate) struct Tracks(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// By number - 1.
    tracks: Vec<Track>,
    by_key: HashMap<Key, TrackId>,
    /// How many children a track has.
    children: HashMap<TrackId, u32>,
    /// The places whose own track is a stream's lane.
    taken: HashSet<TrackId>,
    /// The stream for which a place's own track is kept.
    kept_for: HashMap<TrackId, u32>,
    /// The names of streams, by their numbers.
    stream_names: HashMap<u32, String>,
    /// How many scopes of a domain have tracks, by its index.
    known_scopes: HashMap<u32, u32>,
    /// The tracks of processes that are held together, by the track that carries the name.
    processes: HashMap<TrackId, Process>,
    /// The track that carries the name of each process and thread.
    owners: HashMap<OwnerId, TrackId>,
}

#[derive(Clone, Copy)]
struct Process {
    number: u32,
    /// The track that holds all others.
    track: TrackId,
}

impl Tracks {
    /// The place of what a stream writes by default. `number` counts the streams.
    pub(crate) fn default_place(&self, stream: &StreamInfo, number: u32) -> TrackId {
        let mut inner = self.lock();
        let place = inner.place(stream, &stream.scope());
        inner.kept_for.entry(place).or_insert(number);
        inner.stream_names.insert(number, stream.name().to_owned());
        inner.tell_stream(place, place, number);
        place
    }

    /// The place of what a stream writes in `scope`.
    pub(crate) fn place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        let mut inner = self.lock();
        // Whoever comes first, the tracks are in the order of registration.
        inner.know_scopes(stream.domain());
        inner.place(stream, scope)
    }

    /// The place of what a stream writes of a process and a thread, of which one is given at least, and that
    /// is else in `scope`; and its path. Without a process, a thread is one of that in which the scope is.
    pub(crate) fn os_place(
        &self,
        stream: &StreamInfo,
        scope: &ScopeRef,
        process: Option<u64>,
        thread: Option<u64>,
    ) -> (TrackId, String) {
        let mut inner = self.lock();
        inner.know_scopes(stream.domain());
        let mut path = String::new();
        let track = inner.in_domain(stream, |inner| {
            let domain = stream.domain();
            let mut at = match (process, scope) {
                (Some(process), _) => {
                    let id = os_number(process).map(OwnerId::Process);
                    inner.os_track(0, id, format!("Process[{process}]"), domain)
                }
                (None, ScopeRef::Registered(scope)) => inner.process_of(scope, domain),
                (None, _) => 0,
            };
            inner.extend_path(&mut path, at);
            if let Some(thread) = thread {
                let id = os_number(thread).and_then(|id| inner.thread_of(at, id));
                at = inner.os_track(at, id, format!("Thread[{thread}]"), domain);
                inner.extend_path(&mut path, at);
            }
            at
        });
        (track, path)
    }

    /// The place of the counters that a stream samples in `scope`; 0 for the root.
    pub(crate) fn counter_place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        let mut inner = self.lock();
        inner.know_scopes(stream.domain());
        match scope {
            ScopeRef::Registered(scope) => {
                inner.in_domain(stream, |inner| inner.scope(scope, stream.domain()))
            }
            ScopeRef::Root => inner.in_domain(stream, |_| 0),
            ScopeRef::None | ScopeRef::Predefined(_) => inner.stream(stream),
        }
    }

    /// The parent of the counters of a group. `counter` is the group's ID.
    pub(crate) fn group(&self, parent: TrackId, counter: u64, label: Label) -> TrackId {
        let key = Key::Group(parent, counter);
        self.lock().get(key, parent, Some(rank_of(counter)), label)
    }

    /// The counter `index` of the counter or group with the ID `counter`; with a number, for that stream
    /// only.
    pub(crate) fn counter(
        &self,
        parent: TrackId,
        counter: u64,
        index: u32,
        stream: Option<u32>,
        label: Label,
    ) -> TrackId {
        let key = Key::Counter(parent, counter, index, stream);
        // Those of a group have one ID: they come in the order of their indices.
        let rank = rank_of(counter).saturating_add(index);
        self.lock().get(key, parent, Some(rank), label)
    }

    /// The same for a counter of a group whose samples differ, by its name.
    pub(crate) fn named_counter(
        &self,
        parent: TrackId,
        counter: u64,
        name: Box<str>,
        stream: Option<u32>,
        label: Label,
    ) -> TrackId {
        let key = Key::Named(parent, counter, name, stream);
        self.lock().get(key, parent, None, label)
    }

    /// A track for the ranges of a stream in `place`: the place's own for the stream that it is kept
    /// for, or the first that asks, else one that is shown together with it.
    pub(crate) fn lane(&self, place: TrackId, stream: u32) -> TrackId {
        let mut inner = self.lock();
        let kept_for = inner.kept_for.get(&place);
        if kept_for.is_none_or(|number| *number == stream) && inner.taken.insert(place) {
            return place;
        }
        let track = inner.tracks[place as usize - 1].clone();
        let lane = inner.add(track);
        inner.tell_stream(place, lane, stream);
        lane
    }

    /// Shows a track and its ancestors, outermost first, without those that are `known`, and makes
    /// them known.
    pub(crate) fn describe(
        &self,
        track: TrackId,
        known: &mut IdSet<TrackId>,
        mut show: impl FnMut(TrackId, &Track),
    ) {
        let inner = self.lock();
        let mut unknown = Vec::new();
        let mut at = track;
        while at != 0 && known.insert(at) {
            unknown.push(at);
            at = inner.tracks[at as usize - 1].parent;
        }
        for id in unknown.into_iter().rev() {
            show(id, &inner.tracks[id as usize - 1]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn place(&mut self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        match scope {
            ScopeRef::Registered(scope) if !scope.path().is_empty() => {
                self.in_domain(stream, |inner| inner.scope(scope, stream.domain()))
            }
            // Where the traced code ran can't be found out any more.
            _ => self.stream(stream),
        }
    }

    /// The track of the stream's domain under `parent`, which is that of the default domain.
    fn in_domain(
        &mut self,
        stream: &StreamInfo,
        parent: impl FnOnce(&mut Self) -> TrackId,
    ) -> TrackId {
        let parent = parent(self);
        let domain = stream.domain();
        match domain.name() {
            None => parent,
            Some(name) => {
                let key = Key::Domain(parent, domain.index());
                self.get(key, parent, None, Label::new(name.to_owned()))
            }
        }
    }

    /// Makes tracks for all scopes of a domain.
    fn know_scopes(&mut self, domain: &Domain) {
        let known = self.known_scopes.entry(domain.index()).or_default();
        let new: Vec<_> = domain.scopes_after(*known).cloned().collect();
        *known += new.len() as u32;
        for scope in new {
            self.scope(&scope, domain);
        }
    }

    fn scope(&mut self, scope: &Scope, domain: &Domain) -> TrackId {
        let anchor = Anchor::of(scope);
        let path = scope.path();
        let (shown, rest) = path.split_at(path.len().min(MAX_DEPTH));
        let mut at = 0;
        for segment in shown {
            at = self.segment(at, anchor, segment, domain);
        }
        if !rest.is_empty() {
            let join =
                |text: fn(&Segment) -> String| rest.iter().map(text).collect::<Vec<_>>().join("/");
            let key = Key::Scope(at, anchor, join(escaped));
            at = self.get(key, at, None, Label::new(join(Segment::to_string)));
        }
        at
    }

    /// The track of a step below `at`. Those of a process and of its threads are held together by
    /// tracks of their own: tracks below such a one would be shown beside it.
    fn segment(
        &mut self,
        at: TrackId,
        anchor: Anchor,
        segment: &Segment,
        domain: &Domain,
    ) -> TrackId {
        let key = Key::Scope(at, anchor, escaped(segment));
        if let Some(&track) = self.by_key.get(&key) {
            return track;
        }
        let label = Label::new(segment.to_string());
        let id = match at {
            0 => number(segment, ["process", "pid"]).map(OwnerId::Process),
            _ => number(segment, ["thread", "tid"]).and_then(|id| self.thread_of(at, id)),
        };
        // Of two places with one number the second is just a place.
        match id.filter(|id| !self.owners.contains_key(id)) {
            Some(id) => self.owner_track(at, id, key, label, domain),
            None => self.get(key, at, None, label),
        }
    }

    fn extend_path(&self, path: &mut String, track: TrackId) {
        if let Some(index) = (track as usize).checked_sub(1) {
            path.push('/');
            path.push_str(&self.tracks[index].label.name);
        }
    }

    /// The thread of this number, if `at` is a process.
    fn thread_of(&self, at: TrackId, thread: u32) -> Option<OwnerId> {
        self.processes.get(&at).map(|process| OwnerId::Thread {
            process: process.number,
            thread,
        })
    }

    /// The track of a process at the root, or of a thread below `at`, whatever its scope is called.
    fn os_track(
        &mut self,
        at: TrackId,
        id: Option<OwnerId>,
        name: String,
        domain: &Domain,
    ) -> TrackId {
        let key = Key::Scope(at, Anchor::Root, name.clone());
        let label = Label::new(name);
        match id.map(|id| (id, self.owners.get(&id))) {
            Some((_, Some(track))) => *track,
            Some((id, None)) => self.owner_track(at, id, key, label, domain),
            None => self.get(key, at, None, label),
        }
    }

    /// The track of the process in which a scope is; 0 if it is in none.
    fn process_of(&mut self, scope: &Scope, domain: &Domain) -> TrackId {
        let Some(first) = scope.path().first() else {
            return 0;
        };
        let track = self.segment(0, Anchor::of(scope), first, domain);
        match self.processes.contains_key(&track) {
            true => track,
            false => 0,
        }
    }

    /// Makes the track of a process or a thread below `at`, and what holds the tracks below that.
    fn owner_track(
        &mut self,
        at: TrackId,
        id: OwnerId,
        key: Key,
        label: Label,
        domain: &Domain,
    ) -> TrackId {
        let (parent, name) = match id {
            OwnerId::Process(_) => (0, "Process".to_owned()),
            OwnerId::Thread { thread, .. } => (
                self.processes[&at].track,
                thread_name(domain, thread).unwrap_or_else(|| "Thread".to_owned()),
            ),
        };
        let holder = Label {
            owner: Some(Box::new(Owner { id, name })),
            ..label.clone()
        };
        let holds = self.get(Key::Owner(id), parent, None, holder);
        let track = self.get(key, holds, None, label);
        self.owners.insert(id, track);
        if let OwnerId::Process(number) = id {
            let process = Process {
                number,
                track: holds,
            };
            self.processes.insert(track, process);
        }
        track
    }

    fn stream(&mut self, stream: &StreamInfo) -> TrackId {
        let domain = stream.domain();
        let mut label = Label::new(match stream.name() {
            "" => "stream".to_owned(),
            name => name.to_owned(),
        });
        label.description = domain.name().map(|domain| format!("Domain: {domain}"));
        let key = Key::Stream(domain.index(), stream.name().to_owned());
        self.get(key, 0, None, label)
    }

    /// Tells which stream a lane of a place is for, unless the place is called like the stream.
    fn tell_stream(&mut self, place: TrackId, lane: TrackId, stream: u32) {
        if self.tracks[place as usize - 1].kind == TrackKind::Stream {
            return;
        }
        let name = self
            .stream_names
            .get(&stream)
            .filter(|name| !name.is_empty());
        let description = name.map(|name| format!("Stream: {name}"));
        self.tracks[lane as usize - 1].label.description = description;
    }

    /// The track with this key; it gets parent, rank and label if it is new. Without a rank it comes
    /// behind all others.
    fn get(&mut self, key: Key, parent: TrackId, rank: Option<u32>, label: Label) -> TrackId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let rank = rank.unwrap_or_else(|| {
            let children = self.children.entry(parent).or_default();
            *children += 1;
            *children - 1
        });
        let place = self.tracks.len() as TrackId + 1;
        let kind = match key {
            Key::Scope(..) | Key::Owner(_) => TrackKind::Scope,
            Key::Domain(..) => TrackKind::Domain,
            Key::Stream(..) => TrackKind::Stream,
            Key::Group(..) => TrackKind::Group,
            Key::Counter(..) | Key::Named(..) => TrackKind::Counter,
        };
        self.by_key.insert(key, place);
        self.add(Track {
            parent,
            rank,
            place,
            kind,
            label,
        })
    }

    fn add(&mut self, track: Track) -> TrackId {
        self.tracks.push(track);
        self.tracks.len() as TrackId
    }
}

/// Counters come behind all other tracks, in the order of their IDs: those that producers pick, then
/// those that they get.
fn rank_of(counter: u64) -> u32 {
    const FIRST: u32 = 1 << 20;
    const HALF: u64 = 1 << 29;
    let rank = match counter.checked_sub(1 << 32) {
        Some(number) => HALF + number.min(HALF),
        None => counter.min(HALF),
    };
    FIRST + rank as u32
}

/// The number in the brackets of a segment with one of these names, if it may be that of a process
/// or a thread.
fn number(segment: &Segment, names: [&str; 2]) -> Option<u32> {
    let is_named = names
        .iter()
        .any(|name| segment.name().eq_ignore_ascii_case(name));
    os_number(segment.key().filter(|_| is_named)?.parse().ok()?)
}

/// A number that processes and threads may have.
fn os_number(number: u64) -> Option<u32> {
    let number = u32::try_from(number).ok()?;
    (1..=i32::MAX as u32).contains(&number).then_some(number)
}

/// The name that a domain has for a thread of the operating system.
fn thread_name(domain: &Domain, thread: u32) -> Option<String> {
    let resource = domain.resource(ResourceType::NativeThread.to_raw(), thread.into())?;
    resource.name().map(str::to_owned)
}

impl Label {
    fn new(name: String) -> Self {
        Self {
            name,
            description: None,
            counter: None,
            owner: None,
        }
    }
}

/// A segment such that different ones stay different.
fn escaped(segment: &Segment) -> String {
    fn escape(text: &str, out: &mut String) {
        for character in text.chars() {
            if matches!(character, '/' | '[' | ']' | '\\') {
                out.push('\\');
            }
            out.push(character);
        }
    }
    let mut out = String::new();
    escape(segment.name(), &mut out);
    if let Some(key) = segment.key() {
        out.push('[');
        escape(key, &mut out);
        out.push(']');
    }
    out
}
