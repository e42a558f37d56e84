//! The tracks of a session: a tree that all of its streams share.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{PredefinedScope, Scope, ScopeRef, Segment, StreamInfo};

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
    pub(crate) counter: Option<Scale>,
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
}

impl Tracks {
    /// The place of what a stream writes in `scope`.
    pub(crate) fn place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        let mut inner = self.lock();
        match scope {
            ScopeRef::Registered(scope) if !scope.path().is_empty() => {
                inner.in_domain(stream, |inner| inner.scope(scope))
            }
            // Where the traced code ran can't be found out any more.
            _ => inner.stream(stream),
        }
    }

    /// The place of the counters that a stream samples in `scope`; 0 for the root.
    pub(crate) fn counter_place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        let mut inner = self.lock();
        match scope {
            ScopeRef::Registered(scope) => inner.in_domain(stream, |inner| inner.scope(scope)),
            ScopeRef::Root => inner.in_domain(stream, |_| 0),
            ScopeRef::None | ScopeRef::Predefined(_) => inner.stream(stream),
        }
    }

    /// The parent of the counters of a group. `counter` is the group's ID.
    pub(crate) fn group(&self, parent: TrackId, counter: u64, label: Label) -> TrackId {
        self.lock().get(Key::Group(parent, counter), label)
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
        self.lock()
            .get(Key::Counter(parent, counter, index, stream), label)
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
        self.lock()
            .get(Key::Named(parent, counter, name, stream), label)
    }

    /// A track for the ranges of one stream in `place`: the place's own for the first that asks,
    /// else one that is shown together with it.
    pub(crate) fn lane(&self, place: TrackId) -> TrackId {
        let mut inner = self.lock();
        if inner.taken.insert(place) {
            return place;
        }
        let track = inner.tracks[place as usize - 1].clone();
        inner.add(track)
    }

    /// Shows a track and its ancestors, outermost first, without those that are `known`, and makes
    /// them known.
    pub(crate) fn describe(
        &self,
        track: TrackId,
        known: &mut HashSet<TrackId>,
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
            Some(name) => self.get(
                Key::Domain(parent, domain.index()),
                Label::new(name.to_owned()),
            ),
        }
    }

    fn scope(&mut self, scope: &Scope) -> TrackId {
        let anchor = match scope.anchor() {
            PredefinedScope::CurrentHwMachine => Anchor::Machine,
            PredefinedScope::CurrentVm => Anchor::Vm,
            _ => Anchor::Root,
        };
        let path = scope.path();
        let (shown, rest) = path.split_at(path.len().min(MAX_DEPTH));
        let mut at = 0;
        for segment in shown {
            let key = Key::Scope(at, anchor, escaped(segment));
            at = self.get(key, Label::new(segment.to_string()));
        }
        if !rest.is_empty() {
            let join =
                |text: fn(&Segment) -> String| rest.iter().map(text).collect::<Vec<_>>().join("/");
            let key = Key::Scope(at, anchor, join(escaped));
            at = self.get(key, Label::new(join(Segment::to_string)));
        }
        at
    }

    fn stream(&mut self, stream: &StreamInfo) -> TrackId {
        let domain = stream.domain();
        let mut label = Label::new(match stream.name() {
            "" => "stream".to_owned(),
            name => name.to_owned(),
        });
        label.description = domain.name().map(|domain| format!("Domain: {domain}"));
        self.get(Key::Stream(domain.index(), stream.name().to_owned()), label)
    }

    /// The track with this key; it gets the label if it is new.
    fn get(&mut self, key: Key, label: Label) -> TrackId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let parent = match key {
            Key::Stream(..) => 0,
            Key::Scope(parent, ..)
            | Key::Domain(parent, _)
            | Key::Group(parent, _)
            | Key::Counter(parent, ..)
            | Key::Named(parent, ..) => parent,
        };
        let children = self.children.entry(parent).or_default();
        let rank = *children;
        *children += 1;
        let place = self.tracks.len() as TrackId + 1;
        let kind = match key {
            Key::Scope(..) => TrackKind::Scope,
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

impl Label {
    fn new(name: String) -> Self {
        Self {
            name,
            description: None,
            counter: None,
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
