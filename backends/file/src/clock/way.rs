//! The way from each clock over its relations to its time line.
//!
//! The time line of related clocks is the one with the least rank. A way has the fewest hops, and of as many it goes over the
//! clocks with the least ranks. Each clock knows the first hop; a new relation updates only those whose way gets another one.

use std::collections::VecDeque;

use super::{Clock, Rank, State};

/// A relation, from one of its clocks to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// The number of the relation.
    pub(super) relation: usize,
    /// Which of its clocks the hop starts from.
    pub(super) from: usize,
    to: usize,
}

/// Where the way of a clock leads.
#[derive(Debug)]
pub(super) struct Way {
    /// All relations of the clock.
    hops: Vec<Hop>,
    /// The time line.
    root: usize,
    /// Hops to the root.
    distance: usize,
    /// The first one; `None` for the root itself.
    first: Option<Hop>,
}

impl Way {
    /// That of a clock without relations: it is its own time line.
    pub(super) fn new(clock: usize) -> Self {
        Self {
            hops: Vec::new(),
            root: clock,
            distance: 0,
            first: None,
        }
    }
}

impl Clock {
    pub(super) fn is_related(&self) -> bool {
        !self.way.hops.is_empty()
    }
}

impl State {
    /// Takes a new relation into account.
    pub(super) fn join(&mut self, relation: usize) {
        let clocks = self.relations[relation].clocks;
        let hops = [0, 1].map(|from| Hop {
            relation,
            from,
            to: clocks[1 - from],
        });
        let mut changed = VecDeque::new();
        for (clock, hop) in clocks.into_iter().zip(hops) {
            self.clocks[clock].way.hops.push(hop);
        }
        for (clock, hop) in clocks.into_iter().zip(hops) {
            self.offer(clock, hop, &mut changed);
        }
        // In the order of their distances: none changes twice.
        while let Some(near) = changed.pop_front() {
            for index in 0..self.clocks[near].way.hops.len() {
                let Hop {
                    relation,
                    from,
                    to: clock,
                } = self.clocks[near].way.hops[index];
                let hop = Hop {
                    relation,
                    from: 1 - from,
                    to: near,
                };
                self.offer(clock, hop, &mut changed);
            }
        }
    }

    /// Makes `hop` the first one of the way of `clock` if that is better so.
    fn offer(&mut self, clock: usize, hop: Hop, changed: &mut VecDeque<usize>) {
        let Way { root, distance, .. } = self.clocks[hop.to].way;
        let distance = distance + 1;
        let length = |root: usize, distance| (self.clocks[root].rank, distance);
        let way = &self.clocks[clock].way;
        let (old, new) = (length(way.root, way.distance), length(root, distance));
        let over = |hop: Hop| -> Rank { self.clocks[hop.to].rank };
        let is_shorter = new < old;
        let is_as_long = new == old && way.first.is_some_and(|first| over(hop) < over(first));
        if is_shorter || is_as_long {
            let way = &mut self.clocks[clock].way;
            (way.root, way.distance, way.first) = (root, distance, Some(hop));
        }
        if is_shorter {
            changed.push_back(clock);
        }
    }

    /// The time line of a clock.
    pub(super) fn root(&self, clock: usize) -> usize {
        self.clocks[clock].way.root
    }

    /// The hops from a clock to its time line.
    pub(super) fn hops(&self, clock: usize) -> Vec<(usize, usize)> {
        let mut hops = Vec::with_capacity(self.clocks[clock].way.distance);
        let mut at = clock;
        while let Some(hop) = self.clocks[at].way.first {
            hops.push((hop.relation, hop.from));
            at = hop.to;
        }
        hops
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{BTreeSet, HashMap};
    use std::sync::Mutex;

    use nvtxw_backend::TimerStart;

    use super::super::known::Known;
    use super::super::relation::Relation;
    use super::*;
    use crate::replay::Random;

    const KNOWN: Known = Known {
        rate: None,
        start: TimerStart::Unknown,
    };

    /// Clocks of these ranks that nothing relates.
    fn clocks(ranks: &[u64]) -> State {
        let clock = |(number, rank): (usize, &u64)| Clock {
            number,
            name: number.to_string(),
            known: KNOWN,
            rank: Rank(0, 0, *rank),
            registered: None,
            stands_for: None,
            way: Way::new(number),
            route: Mutex::default(),
        };
        State {
            clocks: ranks.iter().enumerate().map(clock).collect(),
            ..State::default()
        }
    }

    fn relate(state: &mut State, clocks: [usize; 2]) {
        state.relations.push(Relation::new(clocks, [KNOWN; 2]));
        state.join(state.relations.len() - 1);
    }

    /// The time line of a clock and the hops to it, found by a search of all related clocks, nearest first.
    fn searched(state: &State, start: usize) -> (usize, Vec<(usize, usize)>) {
        let mut came_from = HashMap::from([(start, None)]);
        let mut next = VecDeque::from([start]);
        while let Some(clock) = next.pop_front() {
            let hops = (state.relations.iter().enumerate()).flat_map(|(relation, known)| {
                let ends = known.clocks.into_iter().enumerate();
                let starts = ends.filter(|(_, end)| *end == clock);
                starts.map(move |(from, _)| (relation, from))
            });
            let neighbours = hops.map(|(relation, from)| {
                let to = state.relations[relation].clocks[1 - from];
                (state.clocks[to].rank, to, relation, from)
            });
            for (_, to, relation, from) in neighbours.collect::<BTreeSet<_>>() {
                came_from.entry(to).or_insert_with(|| {
                    next.push_back(to);
                    Some((clock, relation, from))
                });
            }
        }
        let ranks = came_from
            .keys()
            .map(|clock| (state.clocks[*clock].rank, *clock));
        let (_, root) = ranks.min().expect("the clock itself");
        let (mut at, mut hops) = (root, Vec::new());
        while let Some((clock, relation, from)) = came_from[&at] {
            hops.push((relation, from));
            at = clock;
        }
        hops.reverse();
        (root, hops)
    }

    #[test]
    fn ways_equal_those_of_a_search_after_each_relation() {
        let mut random = Random::new(7);
        for round in 0..300 {
            let count = 2 + random.below(12) as usize;
            let mut ranks: Vec<_> = (0..count as u64).collect();
            for at in (1..count).rev() {
                ranks.swap(at, random.below(at as u64 + 1) as usize);
            }
            let mut state = clocks(&ranks);
            let mut known = BTreeSet::new();
            for _ in 0..random.below(30) {
                let [one, other] = [0, 1].map(|_| random.below(count as u64) as usize);
                let pair = [one.min(other), one.max(other)];
                if one == other || !known.insert(pair) {
                    continue;
                }
                relate(&mut state, pair);
                for clock in 0..count {
                    let way = (state.root(clock), state.hops(clock));
                    assert_eq!(way, searched(&state, clock), "round {round}, clock {clock}");
                }
            }
        }
    }
}
