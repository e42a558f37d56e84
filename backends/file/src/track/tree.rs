//! The tree of tracks: places of scopes, streams and counters.
//!
//! A process and a thread are tracks without events, which hold others. A thread's events are on a track below its own, as
//! Perfetto shows the children of a thread's own track beside that.

mod owners;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nvtxw_backend::call::ResourceAttributes;
use nvtxw_backend::{Domain, PredefinedScope, ResourceType, Scope, ScopeRef, Segment, StreamInfo};

use super::numbers::{Numbers, OwnerId};
use super::{HOLDERS, Label, MAX_DEPTH, Track, TrackId, TrackKind};

/// Ranks of what has no place in the order of registration. Counters come last: [`rank_of`].
const FIRST_DOMAIN: u32 = 1 << 19;
const FIRST_COUNTER: u32 = 1 << 30;

/// Tells a track from its siblings, whatever they are called.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A step of a scope's path, in the form that its producer wrote.
    Scope(TrackId, Anchor, String),
    /// Holds the tracks of a thread.
    Thread(OwnerId),
    /// The rows of a process' main thread.
    Main(TrackId),
    /// The process of streams and counters without scope.
    Session,
    /// A domain, by its index.
    Domain(TrackId, u32),
    /// A stream without scope, by its domain's index and its name.
    Stream(u32, String),
    /// A group of counters, by its domain's index and its ID.
    Group(TrackId, u32, u64),
    /// A counter: its domain's index, its ID, which of the counters of a group it is, and the number of
    /// the stream that it is for, if it is for one only.
    Counter(TrackId, u32, u64, u32, Option<u32>),
    /// A counter of a group whose samples differ, by its name.
    Named(TrackId, u32, u64, Box<str>, Option<u32>),
}

/// The start of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
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

/// A scope, or a stream without one, is the track of a process, or else the track that has its rows.
type Node = TrackId;

#[derive(Default)]
pub(super) struct Tree {
    /// Tracks that events name, and what is between them, by number - 1.
    tracks: Vec<Track>,
    /// Tracks that no event names, by number - [`HOLDERS`].
    holders: Vec<Track>,
    by_key: HashMap<Key, TrackId>,
    /// The number of children that a track has.
    children: HashMap<TrackId, u32>,
    /// The places whose own track is a stream's lane.
    taken: HashSet<TrackId>,
    /// The stream for which a place's own track is kept.
    pub(super) kept_for: HashMap<TrackId, u32>,
    /// The names of streams, by their numbers.
    stream_names: HashMap<u32, String>,
    /// The session's name.
    session: String,
    /// The number of scopes of a domain that have tracks, by its index.
    known_scopes: HashMap<u32, u32>,
    /// The domain whose tracks stand directly in a scope, by its index.
    first_domains: HashMap<Node, u32>,
    /// That of the first stream: it is the first one wherever no scope is registered.
    main_domain: Option<u32>,
    numbers: Numbers,
    /// Processes by the operating system's numbers, and threads by their processes and these.
    os_nodes: HashMap<(Option<Node>, u64), Node>,
    /// The operating system's threads that have names.
    thread_names: HashMap<u64, String>,
    /// Threads that were named since names were read, with the domain that has the name.
    unread_names: Vec<(Arc<Domain>, u64)>,
}

impl Tree {
    pub(super) fn of_session(name: &str) -> Self {
        Self {
            session: name.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn track(&self, id: TrackId) -> &Track {
        match id.checked_sub(HOLDERS) {
            Some(index) => &self.holders[index as usize],
            None => &self.tracks[id as usize - 1],
        }
    }

    /// The track as it is shown if a resource names its thread, or its process by the main thread.
    pub(super) fn named(&self, track: &Track) -> Option<Track> {
        let name = self.thread_names.get(&track.label.os_number?.into())?;
        let mut track = track.clone();
        match &mut track.label.owner {
            Some(owner) => owner.name.clone_from(name),
            None => track.label.shown = Some(name.clone()),
        }
        Some(track)
    }

    /// Makes nodes for the scopes of a domain that have none.
    pub(super) fn add_scopes(&mut self, domain: &Domain) {
        let known = self.known_scopes.entry(domain.index()).or_default();
        let new: Vec<_> = domain.scopes_after(*known).cloned().collect();
        *known += new.len() as u32;
        for scope in new {
            if let Some(node) = self.scope(&scope) {
                self.first_domains.entry(node).or_insert(domain.index());
            }
        }
    }

    pub(super) fn note_resource(
        &mut self,
        domain: &Arc<Domain>,
        resource: &ResourceAttributes<'_>,
    ) {
        if resource.kind == ResourceType::NativeThread.to_raw() {
            (self.unread_names).push((Arc::clone(domain), resource.identifier));
        }
    }

    /// Reads the names of threads, when they are needed: the domain has them only after the registration was accepted.
    pub(super) fn read_resources(&mut self) {
        for (domain, thread) in self.unread_names.drain(..) {
            let resource = domain.resource(ResourceType::NativeThread.to_raw(), thread);
            if let Some(name) = resource.and_then(|resource| resource.name().map(str::to_owned)) {
                self.thread_names.insert(thread, name);
            }
        }
    }

    pub(super) fn open_stream(&mut self, stream: &StreamInfo, number: u32) {
        self.main_domain.get_or_insert(stream.domain().index());
        (self.stream_names).insert(number, stream.name().to_owned());
    }

    /// The track of what a stream writes in a scope.
    pub(super) fn place(&mut self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        match scope {
            ScopeRef::Registered(scope) if let Some(node) = self.scope(scope) => {
                self.rows(node, stream.domain())
            }
            // A predefined scope depends on where the traced code ran, which is not known any more.
            _ => self.stream(stream),
        }
    }

    /// The parent of the counters that a stream samples in a scope.
    pub(super) fn counter_place(&mut self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        let node = match scope {
            ScopeRef::Registered(scope) => self.scope(scope),
            ScopeRef::Root => None,
            ScopeRef::None | ScopeRef::Predefined(_) => {
                let rows = self.stream(stream);
                return self.beside(rows);
            }
        };
        let node = node.unwrap_or_else(|| self.session());
        let parent = self.beside(node);
        self.level(node, parent, stream.domain())
    }

    /// The track of what a stream writes of a process and a thread, and its path. Without a process, the thread is one
    /// of that in which the scope is.
    pub(super) fn os_place(
        &mut self,
        stream: &StreamInfo,
        scope: &ScopeRef,
        process: Option<u64>,
        thread: Option<u64>,
    ) -> (TrackId, String) {
        let mut path = String::new();
        let mut extend = |step: &str| path.extend(["/", step]);
        let mut node = match (process, scope) {
            (Some(number), _) => {
                let node = self.os_process(number);
                extend(&self.track(node).label.name);
                node
            }
            (None, ScopeRef::Registered(scope)) if let Some(first) = scope.path().first() => {
                extend(&first.to_string());
                self.process_of(Anchor::of(scope), first)
            }
            _ => self.session(),
        };
        if let Some(number) = thread {
            node = self.os_thread(node, number);
            extend(self.step(node));
        }
        (self.rows(node, stream.domain()), path)
    }

    /// The step of a path that a node is.
    fn step(&self, node: Node) -> &str {
        let track = self.track(node);
        match track.label.name.is_empty() {
            true => &self.track(track.parent).label.name,
            false => &track.label.name,
        }
    }

    /// The node of a scope; `None` if it has no path.
    fn scope(&mut self, scope: &Scope) -> Option<Node> {
        let anchor = Anchor::of(scope);
        let path = scope.path();
        let (shown, rest) = path.split_at(path.len().min(MAX_DEPTH));
        let (first, further) = shown.split_first()?;
        let process = self.process_of(anchor, first);
        let mut node = process;
        for segment in further {
            node = match node == process {
                true => self.thread_in(process, anchor, segment),
                false => {
                    let key = Key::Scope(node, anchor, escaped(segment));
                    self.get(key, node, None, Label::new(segment.to_string()))
                }
            };
        }
        if !rest.is_empty() {
            let join =
                |text: fn(&Segment) -> String| rest.iter().map(text).collect::<Vec<_>>().join("/");
            let key = Key::Scope(node, anchor, join(escaped));
            node = self.get(key, node, None, Label::new(join(Segment::to_string)));
        }
        Some(node)
    }

    /// The track of the rows that a domain has in a node.
    fn rows(&mut self, node: Node, domain: &Domain) -> TrackId {
        let rows = match self.track(node).label.owner {
            Some(_) => self.main_rows(node),
            None => node,
        };
        self.level(node, rows, domain)
    }

    /// The parent of a node's counters: beside the rows of a process or a thread, else below them.
    fn beside(&self, node: Node) -> TrackId {
        let track = self.track(node);
        if track.label.owner.is_some() {
            return node;
        }
        let parent = &self.track(track.parent).label;
        match parent.owner.is_some() && !parent.name.is_empty() {
            true => track.parent,
            false => node,
        }
    }

    /// The track for a domain below `parent`: that itself for the first domain of the node.
    fn level(&mut self, node: Node, parent: TrackId, domain: &Domain) -> TrackId {
        let main = self.main_domain.unwrap_or(domain.index());
        let first = *self.first_domains.entry(node).or_insert(main);
        match domain.name() {
            Some(name) if first != domain.index() => {
                let key = Key::Domain(parent, domain.index());
                let rank = FIRST_DOMAIN.saturating_add(domain.index());
                self.get(key, parent, Some(rank), Label::new(name.to_owned()))
            }
            _ => parent,
        }
    }

    /// Says in a lane's description which stream it is for, unless the place is called like the stream.
    pub(super) fn describe_stream(&mut self, place: TrackId, lane: TrackId, stream: u32) {
        if self.track(place).kind == TrackKind::Stream {
            return;
        }
        let name = self.stream_names.get(&stream);
        let description = name.filter(|name| !name.is_empty());
        let description = description.map(|name| format!("Stream: {name}"));
        self.tracks[lane as usize - 1].label.description = description;
    }

    /// A track for the ranges of a stream in `place`: the place's own for the stream that it is kept
    /// for, or the first that asks, else one that is shown together with it.
    pub(super) fn lane(&mut self, place: TrackId, stream: u32) -> TrackId {
        let kept_for = self.kept_for.get(&place);
        if kept_for.is_none_or(|number| *number == stream) && self.taken.insert(place) {
            return place;
        }
        let track = self.track(place).clone();
        self.tracks.push(track);
        let lane = self.tracks.len() as TrackId;
        self.describe_stream(place, lane, stream);
        lane
    }

    /// The track with this key; it gets parent, rank and label if it is new. Without a rank it comes
    /// after all others that had none.
    pub(super) fn get(
        &mut self,
        key: Key,
        parent: TrackId,
        rank: Option<u32>,
        mut label: Label,
    ) -> TrackId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let rank = rank.unwrap_or_else(|| {
            // A main thread has rank 0.
            let first = u32::from(parent >= HOLDERS);
            let next = self.children.entry(parent).or_insert(first);
            *next += 1;
            *next - 1
        });
        let kind = match key {
            Key::Stream(..) => TrackKind::Stream,
            Key::Group(..) => TrackKind::Group,
            Key::Counter(..) | Key::Named(..) => TrackKind::Counter,
            _ => TrackKind::Scope,
        };
        if matches!(kind, TrackKind::Group | TrackKind::Counter) || matches!(key, Key::Domain(..)) {
            label.shown = self.shown_beside(parent, &label.name);
        }
        if kind == TrackKind::Counter && parent != 0 {
            let is_member = self.track(parent).kind == TrackKind::Group;
            let scale = label.counter.as_mut().filter(|_| is_member);
            if let Some(scale) = scale {
                scale.group = Some(parent);
            }
        }
        let is_holder = label.owner.is_some() || kind == TrackKind::Group;
        let (all, first) = match is_holder {
            true => (&mut self.holders, HOLDERS),
            false => (&mut self.tracks, 1),
        };
        let place = all.len() as TrackId + first;
        all.push(Track {
            parent,
            rank,
            place,
            kind,
            label,
        });
        self.by_key.insert(key, place);
        place
    }

    /// The name of a track that is shown beside a thread's rows: the thread's name is before it.
    fn shown_beside(&self, parent: TrackId, name: &str) -> Option<String> {
        let label = &self.track(parent).label;
        let owner = label.owner.as_ref()?;
        matches!(owner.id, OwnerId::Thread { .. }).then(|| format!("{} {name}", label.shown()))
    }
}

/// Counters come after all other tracks, in the order of their IDs: those that producers pick, then
/// those that they get.
pub(super) fn rank_of(counter: u64) -> u32 {
    const HALF: u64 = 1 << 28;
    let rank = match counter.checked_sub(1 << 32) {
        Some(number) => HALF + number.min(HALF),
        None => counter.min(HALF),
    };
    FIRST_COUNTER + rank as u32
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
