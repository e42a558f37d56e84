//! Times as steps from one packet to the next, which take fewer bytes: of ranges that follow one another.
//!
//! A sequence has a clock of its own for them, which counts on. Its defaults say whether packets are by that
//! clock, or by the file's. The first range of a run leads: its step is made when it is written, as it depends on what is in
//! front of it. The steps of the others hold wherever the run goes, so that their bytes are ready before.

use super::field::{clock_snapshot, packet};
use crate::proto::Writer;

/// What a sequence has told of its clock for steps.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) have_clock: bool,
    /// Whether times are told as steps now.
    pub(super) are_told: bool,
    /// What the clock shows: the time that was told so last.
    pub(super) last: u64,
}

impl Steps {
    /// The time of the next packet, which has this timestamp.
    pub(super) fn time(&mut self, timestamp: u64) -> u64 {
        if !self.are_told {
            return timestamp;
        }
        self.last = self.last.wrapping_add(timestamp);
        self.last
    }
}

/// Says how the clock begins.
pub(super) fn put_clock(out: &mut Writer) {
    let snapshot = out.open(packet::CLOCK_SNAPSHOT, 0);
    for clock in [clock_snapshot::OWN, clock_snapshot::BOOTTIME] {
        let open = out.open(clock_snapshot::CLOCKS, 0);
        out.uint(clock_snapshot::CLOCK_ID, clock);
        out.uint(clock_snapshot::TIMESTAMP, 0);
        if clock == clock_snapshot::OWN {
            out.bool(clock_snapshot::INCREMENTAL, true);
        }
        out.close(open);
    }
    out.close(snapshot);
}
