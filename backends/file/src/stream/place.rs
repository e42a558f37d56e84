//! Where a stream's events stand: the places of its timeline, by what events name.

use std::fmt::Display;

use nvtxw_backend::{Event, ScopeRef};

use super::StreamIn;
use crate::format::{Format, FormatStream};
use crate::track::TrackId;

/// The process and the thread that an event names.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct OsId {
    process: Option<u64>,
    thread: Option<u64>,
    scope: u64,
}

impl<F: Format> StreamIn<F> {
    /// The timeline's number of the place that a scope is.
    #[inline]
    pub(super) fn place(&mut self, id: u64, scope: impl FnOnce() -> ScopeRef) -> u32 {
        match self.last_place {
            Some((last, place)) if last == id => place,
            _ => self.find_place(id, scope),
        }
    }

    fn find_place(&mut self, id: u64, scope: impl FnOnce() -> ScopeRef) -> u32 {
        let place = match self.places.get(&id) {
            Some(&place) => place,
            None => {
                let scope = scope();
                let track = self.shared.tracks.place(&self.info, &scope);
                let place = match scope {
                    ScopeRef::Registered(_) => self.place_on(track, &scope),
                    _ => self.add_place(track, &scope),
                };
                self.places.insert(scope.id(), place);
                place
            }
        };
        self.last_place = Some((id, place));
        place
    }

    /// The same for an event that names a process or a thread.
    #[cold]
    pub(super) fn os_place(&mut self, event: &Event<'_>) -> u32 {
        let id = OsId {
            process: event.process_id(),
            thread: event.thread_id(),
            // That of a thread may say of which process it is.
            scope: event.process_id().map_or(event.scope_id(), |_| 0),
        };
        if let Some(&place) = self.os_places.get(&id) {
            return place;
        }
        let (tracks, scope) = (&self.shared.tracks, event.scope());
        let (track, path) = tracks.os_place(&self.info, &scope, id.process, id.thread);
        let place = self.place_on(track, &path);
        self.os_places.insert(id, place);
        place
    }

    /// The place on a track, which may have several names.
    fn place_on(&mut self, track: TrackId, scope: &impl Display) -> u32 {
        match self.track_places.get(&track) {
            Some(&place) => place,
            None => self.add_place(track, scope),
        }
    }

    pub(super) fn add_place(&mut self, track: TrackId, scope: &impl Display) -> u32 {
        self.out.add_place(track, scope);
        let place = self.timeline.add_place();
        self.track_places.entry(track).or_insert(place);
        place
    }
}
