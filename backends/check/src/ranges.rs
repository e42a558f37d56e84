//! Ranges whose halves are written one by one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::finding::Place;

/// The first half of a range that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    pub(crate) place: Place,
    pub(crate) time: i64,
    pub(crate) time_domain: u64,
}

/// The ranges of a stream that were pushed and not popped, by scope.
#[derive(Debug, Default)]
pub(crate) struct Pushed(HashMap<u64, Vec<Half>>);

impl Pushed {
    pub(crate) fn push(&mut self, scope: u64, half: Half) {
        self.0.entry(scope).or_default().push(half);
    }

    /// The half that a pop ends.
    pub(crate) fn pop(&mut self, scope: u64) -> Option<Half> {
        self.0.get_mut(&scope)?.pop()
    }

    /// Those that are left, in the order of their pushes.
    pub(crate) fn take(&mut self) -> Vec<Half> {
        let mut left: Vec<_> = self.0.drain().flat_map(|(_, halves)| halves).collect();
        left.sort_by_key(|half| half.place.event);
        left
    }
}

/// The ranges of a session that were started and have not ended, by ID: any stream may end them.
#[derive(Debug, Default)]
pub(crate) struct Started(Mutex<HashMap<u64, Vec<(u32, Half)>>>);

impl Started {
    /// A range starts in this stream. The half that is open there under the same ID, if there is one.
    pub(crate) fn start(&self, id: u64, stream: u32, half: Half) -> Option<Half> {
        let mut started = self.lock();
        let open = started.entry(id).or_default();
        let same = open.iter().find(|(other, _)| *other == stream);
        let same = same.map(|(_, half)| half.clone());
        open.push((stream, half));
        same
    }

    /// The half that an end in this stream ends: the last one of this stream, else of any other.
    pub(crate) fn end(&self, id: u64, stream: u32) -> Option<Half> {
        let mut started = self.lock();
        let open = started.get_mut(&id)?;
        let own = open.iter().rposition(|(other, _)| *other == stream);
        let index = own.unwrap_or(open.len().saturating_sub(1));
        let (_, half) = open.remove(index);
        if open.is_empty() {
            started.remove(&id);
        }
        Some(half)
    }

    /// Those that are left, with their IDs, by stream and in the order of their starts.
    pub(crate) fn take(&self) -> Vec<(u64, Half)> {
        let started = std::mem::take(&mut *self.lock());
        let halves = |(id, open): (u64, Vec<(u32, Half)>)| {
            open.into_iter()
                .map(move |(stream, half)| (stream, id, half))
        };
        let mut left: Vec<_> = started.into_iter().flat_map(halves).collect();
        left.sort_by_key(|(stream, _, half)| (*stream, half.place.event));
        left.into_iter().map(|(_, id, half)| (id, half)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<(u32, Half)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
