//! Ranges that were started and have not ended: any stream of the session may end them.
//!
//! A range stays with the stream that it was started in, which alone knows what was written of it.
//! The end from another stream is left in that stream's mailbox.

use std::collections::hash_map::{Entry, OccupiedEntry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{iter, mem};

use nvtxw_backend::{Schema, StreamInfo};

use crate::clock::Tick;
use crate::ids::IdMap;
use crate::sync::atomic::{AtomicBool, Ordering};

/// So many locks, for many threads.
const SHARDS: usize = 16;

/// The ranges of a session that have not ended, by their IDs.
#[derive(Default)]
pub(crate) struct OpenRanges([Mutex<IdMap<u64, Same>>; SHARDS]);

/// The ranges with one ID: mostly there is one.
struct Same {
    first: Open,
    others: Vec<Open>,
}

struct Open {
    /// The number of its stream.
    stream: u32,
    start: Tick,
    mailbox: Arc<Mailbox>,
}

/// What other streams have for a stream.
pub(crate) struct Mailbox {
    /// The stream that gets it.
    info: Arc<StreamInfo>,
    has_mail: AtomicBool,
    ends: Mutex<Vec<ForeignEnd>>,
}

/// The end of a range, from another stream than its start.
pub(crate) struct ForeignEnd {
    pub(crate) id: u64,
    /// The stream that it is from.
    pub(crate) info: Arc<StreamInfo>,
    pub(crate) schema: Arc<Schema>,
    /// Of a plain event.
    pub(crate) bytes: Vec<u8>,
}

/// Why a range can't be ended.
#[derive(Debug, PartialEq)]
pub(crate) enum NoRange {
    /// None with its ID is open.
    Unknown,
    /// It started later, at this time.
    Later(i64),
    /// So many other streams have one with its ID, and none of them is meant more than the others.
    Ambiguous(usize),
}

impl Same {
    fn all(&self) -> impl Iterator<Item = &Open> {
        iter::once(&self.first).chain(&self.others)
    }
}

/// Takes the range at `index` of those with an ID.
fn take(mut same: OccupiedEntry<'_, u64, Same>, index: usize) -> Open {
    let Same { first, others } = same.get_mut();
    match (index.checked_sub(1), others.is_empty()) {
        (Some(index), _) => others.swap_remove(index),
        (None, false) => mem::replace(first, others.swap_remove(0)),
        (None, true) => same.remove().first,
    }
}

impl Mailbox {
    pub(crate) fn new(info: &Arc<StreamInfo>) -> Self {
        Self {
            info: Arc::clone(info),
            has_mail: AtomicBool::new(false),
            ends: Mutex::default(),
        }
    }

    /// Takes what there is, if there is something.
    #[inline]
    pub(crate) fn take(&self) -> Option<Vec<ForeignEnd>> {
        self.has_mail.load(Ordering::Acquire).then(|| {
            let mut ends = self.ends();
            self.has_mail.store(false, Ordering::Relaxed);
            mem::take(&mut *ends)
        })
    }

    fn put(&self, end: ForeignEnd) {
        let mut ends = self.ends();
        ends.push(end);
        self.has_mail.store(true, Ordering::Release);
    }

    fn ends(&self) -> MutexGuard<'_, Vec<ForeignEnd>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRanges {
    /// A stream has started a range. None with its ID is open there.
    pub(crate) fn start(&self, id: u64, stream: u32, start: Tick, mailbox: &Arc<Mailbox>) {
        let mailbox = Arc::clone(mailbox);
        let open = Open {
            stream,
            start,
            mailbox,
        };
        match self.shard(id).entry(id) {
            Entry::Occupied(mut same) => same.get_mut().others.push(open),
            Entry::Vacant(free) => {
                free.insert(Same {
                    first: open,
                    others: Vec::new(),
                });
            }
        }
    }

    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.shard(id).contains_key(&id)
    }

    /// The stream that started a range ends it; `false` if another one was faster.
    pub(crate) fn end(&self, id: u64, stream: u32) -> bool {
        let mut shard = self.shard(id);
        let Entry::Occupied(same) = shard.entry(id) else {
            return false;
        };
        let mut all = same.get().all();
        match all.position(|open| open.stream == stream) {
            Some(index) => {
                drop(all);
                take(same, index);
                true
            }
            None => false,
        }
    }

    /// Another stream than the one that started it ends a range at `time`: that which was started in
    /// its domain, else the one that was started at all. `time_of` tells when that was by what is known now.
    pub(crate) fn end_elsewhere(
        &self,
        end: ForeignEnd,
        time: i64,
        time_of: impl FnOnce(Tick) -> Option<i64>,
    ) -> Result<(), NoRange> {
        let mut shard = self.shard(end.id);
        let Entry::Occupied(same) = shard.entry(end.id) else {
            return Err(NoRange::Unknown);
        };
        let domain = end.info.domain().index();
        let in_domain = |open: &Open| open.mailbox.info.domain().index() == domain;
        let has_near = same.get().all().any(in_domain);
        let all = same.get().all().enumerate();
        let meant: Vec<_> = all
            .filter(|(_, open)| in_domain(open) == has_near)
            .map(|(index, open)| (index, open.start))
            .collect();
        let [(index, start)] = meant[..] else {
            return Err(NoRange::Ambiguous(meant.len()));
        };
        if let Some(start) = time_of(start).filter(|start| time < *start) {
            return Err(NoRange::Later(start));
        }
        take(same, index).mailbox.put(end);
        Ok(())
    }

    fn shard(&self, id: u64) -> MutexGuard<'_, IdMap<u64, Same>> {
        // Many producers count their IDs.
        let shard = &self.0[id as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
