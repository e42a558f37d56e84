//! What went wrong, counted.

use std::ops::AddAssign;

/// How often each irregularity was met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Complete ranges that arrived after later ones had been written.
    pub(crate) late: u64,
    /// Events that come earlier than the order which their stream claims allows.
    pub(crate) broken_ordering: u64,
    /// The same of batches.
    pub(crate) broken_batch_ordering: u64,
    /// Nesting ranges that overlap another one by part.
    pub(crate) overlapping_pushpop: u64,
    /// Pops with no open push.
    pub(crate) pop_without_push: u64,
    /// Ends of a range that was not started.
    pub(crate) end_without_start: u64,
    /// Sync points and conversion factors that contradict earlier ones.
    pub(crate) contradicting_relations: u64,
    /// Events that keep another time than the one that is known of their clocks in the end.
    pub(crate) before_sync: u64,
    /// All events and samples that were refused.
    pub(crate) refused: u64,
    /// Events that were taken before the time base was decided and don't fit it.
    pub(crate) outside_base: u64,
    /// Ranges that were still open at the end.
    pub(crate) left_open: u64,
}

/// What an error cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Events that were not written.
    pub(crate) events: u64,
    /// Events whose fields were not, where these are in a table of their own. Of some the rest may be there.
    pub(crate) fields: u64,
}

impl Cost {
    pub(crate) fn of(events: u64) -> Self {
        Self { events, fields: 0 }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.events += more.events;
        self.fields += more.fields;
    }
}

impl Tally {
    /// The counts, by the attributes of the file that tell them.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("nvtxw.late", self.late),
            ("nvtxw.broken_ordering", self.broken_ordering),
            ("nvtxw.broken_batch_ordering", self.broken_batch_ordering),
            ("nvtxw.overlapping_pushpop", self.overlapping_pushpop),
            ("nvtxw.pop_without_push", self.pop_without_push),
            ("nvtxw.end_without_start", self.end_without_start),
            (
                "nvtxw.contradicting_relations",
                self.contradicting_relations,
            ),
            ("nvtxw.before_sync", self.before_sync),
            ("nvtxw.refused", self.refused),
            ("nvtxw.outside_base", self.outside_base),
            ("nvtxw.left_open", self.left_open),
        ]
        .into_iter()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Self) {
        self.late += more.late;
        self.broken_ordering += more.broken_ordering;
        self.broken_batch_ordering += more.broken_batch_ordering;
        self.overlapping_pushpop += more.overlapping_pushpop;
        self.pop_without_push += more.pop_without_push;
        self.end_without_start += more.end_without_start;
        self.contradicting_relations += more.contradicting_relations;
        self.before_sync += more.before_sync;
        self.refused += more.refused;
        self.outside_base += more.outside_base;
        self.left_open += more.left_open;
    }
}
