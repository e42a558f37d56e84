//! The tracks of a session: a tree that all of its streams share.
//!
//! The first step of a scope's path is a process, the second one a thread of it, and further ones are tracks below that.

mod numbers;
mod tree;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::call::Registration;
use nvtxw_backend::{Domain, ScopeRef, StreamInfo};

pub(crate) use self::numbers::OwnerId;
use self::tree::{Key, Tree, rank_of};
use crate::ids::IdSet;

/// Readers follow a hundred ancestors: what is deeper is one track with the rest of its path as
/// name. Leaves room for thread, domain, counter group and counter.
const MAX_DEPTH: usize = 90;

/// A track's number in the file, from 1. 0 as a parent: none.
pub(crate) type TrackId = u64;

/// From here on are the numbers of tracks that no event names, so that the others have short ones.
pub(crate) const HOLDERS: TrackId = 1 << 32;

/// The use of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TrackKind {
    /// A step of a scope's path, or a domain.
    Scope,
    /// A stream without scope.
    Stream,
    /// A group of counters.
    Group,
    Counter,
}

/// The names and properties of a track.
#[derive(Clone)]
pub(crate) struct Label {
    /// Its step of the path; empty where the step of its parent stands for both.
    pub(crate) name: String,
    /// The name in viewers of tracks, where it differs.
    pub(crate) shown: Option<String>,
    pub(crate) description: Option<String>,
    /// Of a counter; other tracks hold ranges, instants and further tracks.
    pub(crate) counter: Option<Box<Scale>>,
    /// Of the track that holds those of a process or a thread, and no events.
    pub(crate) owner: Option<Box<Owner>>,
    /// The operating system's thread whose resource names this.
    pub(crate) os_number: Option<u32>,
}

impl Label {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            shown: None,
            description: None,
            counter: None,
            owner: None,
            os_number: None,
        }
    }

    /// The name in viewers of tracks; empty if it has none.
    pub(crate) fn shown(&self) -> &str {
        self.shown.as_ref().unwrap_or(&self.name)
    }

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
    /// The number stands for nothing outside of the file.
    is_made_up: bool,
}

/// The unit of a counter's numbers, and what they are relative to.
#[derive(Clone)]
pub(crate) struct Scale {
    pub(crate) unit: Option<String>,
    pub(crate) multiplier: u64,
    /// Each number is the difference to the one before, so that their sum is to be shown.
    pub(crate) is_delta: bool,
    /// The track of its group: those of one unit there are drawn to one scale.
    pub(crate) group: Option<TrackId>,
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
pub(crate) struct Tracks(Mutex<Tree>);

impl Tracks {
    /// Makes the tracks of a session with this name.
    pub(crate) fn of_session(name: Option<&str>) -> Self {
        let name = name.filter(|name| !name.is_empty()).unwrap_or("nvtxw");
        Self(Mutex::new(Tree::of_session(name)))
    }

    /// Takes what a registration says of tracks. As registrations come one by one, the order of tracks and the made-up
    /// numbers don't depend on which stream is written first.
    pub(crate) fn note(&self, domain: &Arc<Domain>, registration: &Registration<'_>) {
        match registration {
            Registration::Scope { .. } => self.lock().add_scopes(domain),
            Registration::Resource(resource) => self.lock().note_resource(domain, resource),
            _ => {}
        }
    }

    /// The place of what a stream writes by default. `number` counts the streams.
    pub(crate) fn default_place(&self, stream: &StreamInfo, number: u32) -> TrackId {
        let mut tree = self.lock();
        tree.open_stream(stream, number);
        let place = tree.place(stream, &stream.scope());
        tree.kept_for.entry(place).or_insert(number);
        tree.describe_stream(place, place, number);
        place
    }

    /// The place of what a stream writes in `scope`.
    pub(crate) fn place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        self.lock().place(stream, scope)
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
        self.lock().os_place(stream, scope, process, thread)
    }

    /// The place of the counters that a stream samples in `scope`.
    pub(crate) fn counter_place(&self, stream: &StreamInfo, scope: &ScopeRef) -> TrackId {
        self.lock().counter_place(stream, scope)
    }

    /// The parent of the counters of a group. `counter` is the group's ID in its domain.
    pub(crate) fn group(
        &self,
        parent: TrackId,
        domain: u32,
        counter: u64,
        label: Label,
    ) -> TrackId {
        let key = Key::Group(parent, domain, counter);
        self.lock().get(key, parent, Some(rank_of(counter)), label)
    }

    /// The counter `index` of the counter or group with the ID `counter` in its domain; with a number, for that stream
    /// only.
    pub(crate) fn counter(
        &self,
        parent: TrackId,
        (domain, counter): (u32, u64),
        index: u32,
        stream: Option<u32>,
        label: Label,
    ) -> TrackId {
        let key = Key::Counter(parent, domain, counter, index, stream);
        // Those of a group have one ID: they come in the order of their indices.
        let rank = rank_of(counter).saturating_add(index);
        self.lock().get(key, parent, Some(rank), label)
    }

    /// The same for a counter of a group whose samples differ, by its name.
    pub(crate) fn named_counter(
        &self,
        parent: TrackId,
        (domain, counter): (u32, u64),
        name: Box<str>,
        stream: Option<u32>,
        label: Label,
    ) -> TrackId {
        let key = Key::Named(parent, domain, counter, name, stream);
        self.lock().get(key, parent, None, label)
    }

    /// The name of a counter, after that of the group that it is in.
    pub(crate) fn counter_name(&self, counter: TrackId) -> String {
        let tree = self.lock();
        let track = tree.track(counter);
        let name = &track.label.name;
        if track.parent == 0 || tree.track(track.parent).kind != TrackKind::Group {
            return name.clone();
        }
        format!("{}/{name}", tree.track(track.parent).label.name)
    }

    /// A track for the ranges of a stream in `place`: the place's own for the stream that it is kept
    /// for, or the first that asks, else one that is shown together with it.
    pub(crate) fn lane(&self, place: TrackId, stream: u32) -> TrackId {
        self.lock().lane(place, stream)
    }

    /// Shows a track and its ancestors, outermost first, without those that are `known`, and makes
    /// them known.
    pub(crate) fn describe(
        &self,
        track: TrackId,
        known: &mut IdSet<TrackId>,
        mut show: impl FnMut(TrackId, &Track),
    ) {
        let mut tree = self.lock();
        tree.read_resources();
        let mut unknown = Vec::new();
        let mut at = track;
        while at != 0 && known.insert(at) {
            unknown.push(at);
            at = tree.track(at).parent;
        }
        for id in unknown.into_iter().rev() {
            let track = tree.track(id);
            show(id, tree.named(track).as_ref().unwrap_or(track));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
