//! Which track a range may stand on.
//!
//! A reader of the file pairs each end with the innermost range that is open on its track, so the
//! ranges of one track must nest. Those of one place that don't are spread over several lanes,
//! which the reader shows as one track.

mod floors;

use std::collections::{BTreeSet, HashMap};

use self::floors::{Floors, Gate};

/// Readers leave out what 512 ranges are around: an instant too, which has no lane of its own.
const DEPTH_LIMIT: usize = 511;

/// A range that stands on a lane and may not have ended where the next one starts.
struct Slice {
    /// `None`: not known yet.
    end: Option<i64>,
    /// Whether the producer declared that it nests.
    nests: bool,
    /// The first half that it came from, while its end is not written.
    half: Option<u64>,
    /// The end that was asked for while an inner one was still open, and the fields for it.
    asked: Option<Box<(Asked, Vec<u8>)>>,
    /// Of a half whose end was not known when it came: where it starts, and the bounds between which
    /// its end changes nothing about where anything stands.
    start: i64,
    settled: (i64, i64),
}

/// The end that a range has itself, and the clock that it is by.
type Asked = (i64, u8);

/// The bounds of ends that change nothing, as long as all do.
const ANY: (i64, i64) = (i64::MIN, i64::MAX);

/// One track: its ranges nest, and come in the order of their starts.
struct Lane {
    /// No range may start before.
    from: i64,
    /// The latest end of all ranges that have one.
    latest_end: i64,
    /// The ranges that may not have ended at `from`, outermost first. Below one whose end was not
    /// known when it came there are only such.
    slices: Vec<Slice>,
}

/// A range that looks for its lane.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) start: i64,
    /// `None`: not known yet.
    pub(crate) end: Option<i64>,
    /// Whether the producer declared that it nests in others.
    pub(crate) nests: bool,
    /// What arrives later has a greater number.
    pub(crate) order: u64,
}

impl Candidate {
    fn rank(&self) -> Rank {
        (self.start, !self.end.unwrap_or(i64::MAX), self.order)
    }

    /// Its number, if its end is not known.
    fn half(&self) -> Option<u64> {
        self.end.is_none().then_some(self.order)
    }
}

/// Where something belongs in its place: by start; outer ones first; then as it arrived.
type Rank = (i64, i64, u64);

enum Fit {
    /// So many of the lane's slices stay open around it.
    Inside(usize),
    /// It overlaps a range by part that is declared to nest, as it is itself.
    Crosses,
    /// It can't stand here, as its end is not known: it could with one up to this.
    Under(i64),
    /// It can't stand here, and nobody is to blame.
    No,
}

impl Lane {
    fn fit(&mut self, new: Candidate) -> Fit {
        if new.start < self.from {
            return Fit::No;
        }
        let ended =
            |slice: &&Slice| slice.half.is_none() && slice.end.is_some_and(|end| end <= new.start);
        let around = self.slices.len() - self.slices.iter().rev().take_while(ended).count();
        if around >= DEPTH_LIMIT {
            return Fit::No;
        }
        let Some(parent) = around.checked_sub(1).map(|i| &mut self.slices[i]) else {
            return Fit::Inside(around);
        };
        match (parent.end, new.end) {
            (Some(outer), Some(inner)) if inner <= outer => Fit::Inside(around),
            (Some(_), Some(_)) if parent.nests && new.nests => Fit::Crosses,
            // What is declared to nest ends before its parent, wherever that will be; a push does
            // if it came after that.
            (None, Some(_)) if parent.nests && new.nests => Fit::Inside(around),
            (None, None) if parent.nests && new.nests && new.half() > parent.half => {
                Fit::Inside(around)
            }
            (Some(outer), None) => Fit::Under(outer),
            (None, None) => Fit::Under(i64::MAX),
            (None, Some(inner)) => {
                parent.settled.1 = parent.settled.1.min(inner);
                Fit::No
            }
            _ => Fit::No,
        }
    }

    /// Puts a whole range where the only one that may still be open has ended, as most do; `false`
    /// if that is not so.
    #[inline]
    fn succeed(&mut self, new: Candidate) -> bool {
        let [last] = &mut self.slices[..] else {
            return false;
        };
        let (Some(before), Some(end), None) = (last.end, new.end, last.half) else {
            return false;
        };
        if before > new.start || self.from > new.start {
            return false;
        }
        last.end = new.end;
        last.nests = new.nests;
        self.from = new.start;
        self.latest_end = self.latest_end.max(end);
        true
    }

    /// What may stand here. While it may turn out that all `is_settled`, halves must not be passed by
    /// unseen.
    fn gate(&self, is_settled: bool) -> Gate {
        let Self {
            from, latest_end, ..
        } = *self;
        let (from, behind, inside) = match &self.slices[..] {
            [start] if start.half.is_some() && !start.nests && !is_settled => match start.end {
                None => (i64::MAX, i64::MAX, i64::MIN),
                Some(end) => (from, i64::MAX, end),
            },
            [slice, ..] if slice.half.is_some() => (from, i64::MIN, i64::MAX),
            _ => (from, latest_end, latest_end),
        };
        Gate {
            from,
            behind,
            inside,
        }
    }

    /// Which of the slices an open half is.
    fn find(&self, half: u64) -> Option<usize> {
        self.slices.iter().rposition(|s| s.half == Some(half))
    }

    fn place(&mut self, around: usize, new: Candidate, settled: (i64, i64)) {
        self.slices.truncate(around);
        self.slices.push(Slice {
            end: new.end,
            nests: new.nests,
            half: new.half(),
            asked: None,
            start: new.start,
            settled,
        });
        self.from = new.start;
        self.latest_end = self.latest_end.max(new.end.unwrap_or(i64::MIN));
    }
}

/// The lanes of one place.
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    floors: Floors,
    /// The lanes of the halves whose ends are not written, and where they start.
    open: HashMap<u64, (u32, i64)>,
    /// The same halves, by where they start.
    starts: BTreeSet<(i64, u64)>,
    /// The last of what was put here, in the order of ranks.
    last: Rank,
    /// Where the last half starts whose end was not known.
    halved: Option<i64>,
    unsettled: bool,
    /// How many lanes were looked at.
    #[cfg(test)]
    pub(crate) looks: u64,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            lanes: Vec::new(),
            floors: Floors::default(),
            open: HashMap::new(),
            starts: BTreeSet::new(),
            last: (i64::MIN, i64::MIN, 0),
            halved: None,
            unsettled: false,
            #[cfg(test)]
            looks: 0,
        }
    }
}

/// Where a range stands.
pub(crate) struct Spot {
    pub(crate) lane: u32,
    /// Whether it overlaps a range by part although both are declared to nest.
    pub(crate) crosses: bool,
}

impl Lanes {
    /// Whether anything would stand elsewhere, or end at another time, if all had been known from
    /// the start.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.unsettled
    }

    /// Notes that something would stand elsewhere.
    pub(crate) fn unsettle(&mut self) {
        self.unsettled = true;
    }

    /// Notes an instant: ranges that are put here later belong behind it.
    #[inline]
    pub(crate) fn note(&mut self, time: i64, order: u64) {
        self.last = self.last.max((time, !time, order));
    }

    /// Whether whole ranges that follow one another from `start` on all stand on the first lane, with no
    /// other one around them.
    pub(crate) fn is_free(&self, start: i64) -> bool {
        let is_over = |lane: &Lane| {
            matches!(&lane.slices[..], [last] if last.half.is_none() && last.end.is_some_and(|end| end <= start))
                && lane.from <= start
        };
        start > self.last.0 && self.lanes.first().is_none_or(is_over)
    }

    /// Puts a range on the first lane where it can't disturb any other.
    #[inline]
    pub(crate) fn place(&mut self, new: Candidate) -> Spot {
        if new.start > self.last.0 {
            self.last = new.rank();
        } else {
            self.look_back(new);
        }
        if let Some(first) = self.lanes.first_mut()
            && first.succeed(new)
        {
            return Spot {
                lane: 0,
                crosses: false,
            };
        }
        self.search(new)
    }

    fn search(&mut self, new: Candidate) -> Spot {
        let mut crosses = false;
        let mut settled = ANY;
        // Who is declared to nest may cross others, and a half may have to know what it was put under.
        let sees_all = new.nests || new.end.is_none() && !self.unsettled;
        let end = new.end.unwrap_or(i64::MAX);
        let lets = |gate: &Gate| {
            gate.from <= new.start && (sees_all || gate.behind <= new.start || gate.inside >= end)
        };
        // The first lane's gate is not kept up.
        let mut next = (!self.lanes.is_empty()).then_some(0);
        while let Some(index) = next {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            let lane = &mut self.lanes[index];
            match lane.fit(new) {
                Fit::Inside(around) => {
                    lane.place(around, new, settled);
                    return self.placed(new, index as u32, settled, crosses);
                }
                Fit::Crosses => crosses = true,
                Fit::Under(outer) => settled.0 = settled.0.max(outer),
                Fit::No => {}
            }
            next = self.floors.find(index + 1, lets);
        }
        let lane = self.add(new, settled);
        self.placed(new, lane, settled, crosses)
    }

    fn placed(&mut self, new: Candidate, lane: u32, settled: (i64, i64), crosses: bool) -> Spot {
        if let Some(half) = new.half() {
            self.halved = Some(new.start);
            self.open.insert(half, (lane, new.start));
            self.starts.insert((new.start, half));
            // Any end would tell a better place, and a start that stays open has a lane of its own.
            self.unsettled |= !new.nests && settled.0 == i64::MAX;
        }
        self.set_gate(lane);
        Spot { lane, crosses }
    }

    fn set_gate(&mut self, lane: u32) {
        let index = lane as usize;
        let gate = self.lanes[index].gate(!self.unsettled);
        self.floors.set(index, gate);
    }

    /// What starts no later than something that was put here before.
    fn look_back(&mut self, new: Candidate) {
        let rank = new.rank();
        if rank < self.last {
            self.unsettled = true;
        } else {
            self.last = rank;
        }
        if self.halved == Some(new.start) {
            self.compare(new.start, new.end, new.order);
        }
    }

    /// Open halves that start where this range does stand before it, whichever is longer.
    fn compare(&mut self, start: i64, end: Option<i64>, order: u64) {
        if self.unsettled {
            return;
        }
        for &(_, half) in self.starts.range((start, 0)..=(start, u64::MAX)) {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            let Some(&(lane, _)) = self.open.get(&half) else {
                continue;
            };
            let lane = &mut self.lanes[lane as usize];
            if let Some(at) = lane.find(half)
                && let slice = &mut lane.slices[at]
            {
                let outer = match (slice.end, end) {
                    // Of ranges that are as long the one that arrived first is the outer one.
                    (_, Some(end)) => end.saturating_sub(i64::from(order > half)),
                    // A half after the other's end.
                    (Some(_), None) => i64::MAX,
                    // Pushes that are open together nest; others are compared when they end.
                    (None, None) => continue,
                };
                slice.settled.0 = slice.settled.0.max(outer);
            }
        }
    }

    /// Gives the ends that wait times that are known by now; `moved` has them for clock and time.
    pub(crate) fn retime(&mut self, mut moved: impl FnMut(u8, i64) -> Option<i64>) {
        let slices = self.lanes.iter_mut().flat_map(|lane| &mut lane.slices);
        for ((end, clock), _) in slices.filter_map(|slice| slice.asked.as_deref_mut()) {
            *end = moved(*clock, *end).unwrap_or(*end);
        }
    }

    /// Puts a range that was started on a lane of its own, as it may stay open. Any end would have told
    /// a better one.
    pub(crate) fn place_alone(&mut self, new: Candidate) -> u32 {
        let lane = self.add(new, (i64::MAX, i64::MAX));
        self.placed(new, lane, ANY, false).lane
    }

    fn add(&mut self, new: Candidate, settled: (i64, i64)) -> u32 {
        let mut lane = Lane {
            from: new.start,
            latest_end: i64::MIN,
            slices: Vec::new(),
        };
        lane.place(0, new, settled);
        self.lanes.push(lane);
        (self.lanes.len() - 1) as u32
    }

    /// Tells where a half will be [closed](Self::close).
    pub(crate) fn announce(&mut self, half: u64, end: i64) {
        if let Some(&(index, _)) = self.open.get(&half)
            && let lane = &mut self.lanes[index as usize]
            && let Some(at) = lane.find(half)
        {
            lane.slices[at].end = Some(end);
            self.set_gate(index);
        }
    }

    /// Ends an open half at `end`, or at the latest end of what was already put inside of it: an
    /// earlier end would close that instead. While an inner one is open, the end waits for it.
    ///
    /// Calls `emit` with lane, end, the end that was asked for, and fields, for this and for each end
    /// that waited for it; returns how many of these ends are later than asked for.
    pub(crate) fn close(
        &mut self,
        half: u64,
        end: i64,
        clock: u8,
        fields: &[u8],
        mut emit: impl FnMut(u32, i64, Asked, &[u8]),
    ) -> u64 {
        let Some((index, start)) = self.open.remove(&half) else {
            return 0;
        };
        self.starts.remove(&(start, half));
        let lane = &mut self.lanes[index as usize];
        let Some(at) = lane.find(half) else {
            return 0;
        };
        let (above, below) = lane.slices[at].settled;
        // What starts no earlier than the end belongs behind it, and what starts earlier before.
        let behind = (end, i64::MIN, 1);
        self.unsettled |= self.last >= behind || end <= above || end >= below;
        self.last = self.last.max((end, i64::MIN, 0));
        if lane.slices[at + 1..]
            .iter()
            .any(|inner| inner.half.is_some())
        {
            lane.slices[at].asked = Some(Box::new(((end, clock), fields.to_vec())));
            return 0;
        }
        let mut moved = 0;
        let mut close = |lane: &mut Lane, start: i64, asked: Asked, fields: &[u8]| {
            let end = asked.0.max(lane.latest_end).max(start);
            moved += u64::from(end > asked.0);
            lane.latest_end = end;
            // What starts earlier would have to end inside of the range that is closed here.
            lane.from = lane.from.max(end);
            emit(index, end, asked, fields);
        };
        close(lane, start, (end, clock), fields);
        lane.slices.truncate(at);
        while let Some(outer) = lane.slices.last_mut()
            && let Some(asked) = outer.asked.take()
        {
            let start = outer.start;
            close(lane, start, asked.0, &asked.1);
            lane.slices.pop();
        }
        self.unsettled |= moved > 0;
        self.set_gate(index);
        self.compare(start, Some(end), half);
        moved
    }
}

#[cfg(test)]
mod tests;
