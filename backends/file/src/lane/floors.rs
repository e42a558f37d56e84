//! Finds among many lanes those where something may stand.

/// What may stand on a lane. Ends are of the ranges that are there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gate {
    /// Nothing may start before.
    pub(super) from: i64,
    /// What starts no earlier than this is behind all of them.
    pub(super) behind: i64,
    /// What ends no later than this may be in one of them.
    pub(super) inside: i64,
}

impl Gate {
    /// Lets nothing in.
    const CLOSED: Self = Self {
        from: i64::MAX,
        behind: i64::MAX,
        inside: i64::MIN,
    };

    fn or(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            behind: self.behind.min(other.behind),
            inside: self.inside.max(other.inside),
        }
    }
}

/// The gates of all lanes. Lanes only move on, so that an old `from` or `behind` still keeps nothing
/// out: they are made better when they turn out to be too low.
#[derive(Default)]
pub(super) struct Floors {
    /// A tree: the second half are the lanes' gates, and each other place lets in what one of the two
    /// places at twice its number does.
    tree: Vec<Gate>,
    lanes: usize,
}

impl Floors {
    /// Of the lane with this number; of all before it gates are known.
    pub(super) fn set(&mut self, lane: usize, gate: Gate) {
        if lane >= self.tree.len() / 2 {
            self.grow();
        }
        self.lanes = self.lanes.max(lane + 1);
        let mut at = self.tree.len() / 2 + lane;
        self.tree[at] = gate;
        while at > 1 {
            at /= 2;
            self.tree[at] = self.tree[2 * at].or(self.tree[2 * at + 1]);
        }
    }

    /// The first lane from `lane` on whose gate lets something in; `lets` tells it for several gates
    /// together, too.
    #[inline]
    pub(super) fn find(&self, lane: usize, lets: impl Fn(&Gate) -> bool) -> Option<usize> {
        let half = self.tree.len() / 2;
        if lane >= self.lanes {
            return None;
        }
        let mut at = half + lane;
        loop {
            if lets(&self.tree[at]) {
                if at >= half {
                    return Some(at - half).filter(|lane| *lane < self.lanes);
                }
                at *= 2;
                continue;
            }
            // What is left of a right place was left out already.
            while at % 2 == 1 {
                at /= 2;
            }
            // The root has no neighbour.
            if at == 0 {
                return None;
            }
            at += 1;
        }
    }

    fn grow(&mut self) {
        let half = self.tree.len() / 2;
        let mut tree = vec![Gate::CLOSED; (half * 4).max(4)];
        let new_half = tree.len() / 2;
        tree[new_half..][..half].copy_from_slice(&self.tree[half..]);
        for at in (1..new_half).rev() {
            tree[at] = tree[2 * at].or(tree[2 * at + 1]);
        }
        self.tree = tree;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    #[test]
    fn the_first_lane_is_found_from_any_on() {
        let mut random = Random::new(1);
        let mut floors = Floors::default();
        let mut gates: Vec<Gate> = Vec::new();
        assert_eq!(floors.find(0, |_| true), None);
        for _ in 0..70 {
            let mut number = || random.below(100) as i64;
            let gate = Gate {
                from: number(),
                behind: number(),
                inside: number(),
            };
            floors.set(gates.len(), gate);
            gates.push(gate);
            for _ in 0..50 {
                let lane = random.below(gates.len() as u64) as usize;
                gates[lane].from += random.below(10) as i64;
                gates[lane].inside -= random.below(10) as i64;
                floors.set(lane, gates[lane]);
                let from = random.below(gates.len() as u64 + 2) as usize;
                let start = random.below(150) as i64;
                let end = start + random.below(100) as i64;
                let lets = |gate: &Gate| {
                    gate.from <= start && (gate.behind <= start || gate.inside >= end)
                };
                let want = (gates.iter().enumerate().skip(from))
                    .find_map(|(lane, gate)| lets(gate).then_some(lane));
                assert_eq!(floors.find(from, lets), want);
            }
        }
        assert_eq!(floors.find(gates.len() - 1, |_| false), None);
        let last = Some(gates.len() - 1);
        assert_eq!(floors.find(gates.len() - 1, |_| true), last);
    }
}
