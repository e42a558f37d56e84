//! Ranges that were started and have not ended: any stream of the session may end them.
//!
//! A range stays with the stream that it was started in, which alone knows what was written of it.
//! The end from another stream is left in that stream's mailbox.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{Schema, StreamInfo};

use crate::ids::IdMap;
use crate::sync::atomic::{AtomicBool, Ordering};

/// So many locks, for many threads.
const SHARDS: usize = 16;

/// The ranges of a session that have not ended, by their IDs.
#[derive(Default)]
pub(crate) struct OpenRanges([Mutex<IdMap<u64, Vec<Open>>>; SHARDS]);

struct Open {
    /// The number of its stream.
    stream: u32,
    start: i64,
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

impl Mailbox {
    pub(crate) fn new(info: &Arc<StreamInfo>) -> Self {
        Self {
            info: Arc::clone(info),
            has_mail: AtomicBool::new(false),
            ends: Mutex::default(),
        }
    }

    /// Takes what there is.
    #[inline]
    pub(crate) fn take(&self) -> Vec<ForeignEnd> {
        match self.has_mail.load(Ordering::Acquire) {
            false => Vec::new(),
            true => {
                let mut ends = self.ends();
                self.has_mail.store(false, Ordering::Relaxed);
                std::mem::take(&mut ends)
            }
        }
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
    pub(crate) fn start(&self, id: u64, stream: u32, start: i64, mailbox: &Arc<Mailbox>) {
        let mailbox = Arc::clone(mailbox);
        self.shard(id).entry(id).or_default().push(Open {
            stream,
            start,
            mailbox,
        });
    }

    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.shard(id).contains_key(&id)
    }

    /// The stream that started a range ends it; `false` if another one was faster.
    pub(crate) fn end(&self, id: u64, stream: u32) -> bool {
        let mut shard = self.shard(id);
        let Some(open) = shard.get_mut(&id) else {
            return false;
        };
        let Some(index) = open.iter().position(|open| open.stream == stream) else {
            return false;
        };
        open.swap_remove(index);
        if open.is_empty() {
            shard.remove(&id);
        }
        true
    }

    /// Another stream than the one that started it ends a range at `time`: that which was started in
    /// its domain, else the one that was started at all.
    pub(crate) fn end_elsewhere(&self, end: ForeignEnd, time: i64) -> Result<(), NoRange> {
        let mut shard = self.shard(end.id);
        let open = shard.get_mut(&end.id).ok_or(NoRange::Unknown)?;
        let domain = end.info.domain().index();
        let in_domain = |open: &Open| open.mailbox.info.domain().index() == domain;
        let has_near = open.iter().any(in_domain);
        let meant = (0..open.len()).filter(|index| in_domain(&open[*index]) == has_near);
        let meant: Vec<_> = meant.collect();
        let [index] = meant[..] else {
            return Err(NoRange::Ambiguous(meant.len()));
        };
        if time < open[index].start {
            return Err(NoRange::Later(open[index].start));
        }
        let Open { mailbox, .. } = open.swap_remove(index);
        if open.is_empty() {
            shard.remove(&end.id);
        }
        mailbox.put(end);
        Ok(())
    }

    fn shard(&self, id: u64) -> MutexGuard<'_, IdMap<u64, Vec<Open>>> {
        // Many producers count their IDs.
        let shard = &self.0[id as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
