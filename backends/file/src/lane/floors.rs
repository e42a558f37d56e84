//! Finds among many lanes those where something may start.

/// A lower bound of each lane's earliest start. Lanes only move on, so that an old bound still is one:
/// it is made better when it turns out to be too low.
#[derive(Default)]
pub(super) struct Floors {
    /// A tree of minima: the second half are the lanes' bounds, and each other place has the lesser
    /// of the two places at twice its number. Places without a lane have the greatest number.
    tree: Vec<i64>,
}

impl Floors {
    /// Of the lane with this number; of all before it bounds are known.
    pub(super) fn set(&mut self, lane: usize, bound: i64) {
        if lane >= self.tree.len() / 2 {
            self.grow();
        }
        let mut at = self.tree.len() / 2 + lane;
        self.tree[at] = bound;
        while at > 1 {
            at /= 2;
            self.tree[at] = self.tree[2 * at].min(self.tree[2 * at + 1]);
        }
    }

    /// The first lane from `lane` on whose bound is no later than `start`.
    #[inline]
    pub(super) fn find(&self, lane: usize, start: i64) -> Option<usize> {
        let half = self.tree.len() / 2;
        if lane >= half {
            return None;
        }
        let mut at = half + lane;
        while self.tree[at] > start {
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
        while at < half {
            at *= 2;
            at += usize::from(self.tree[at] > start);
        }
        Some(at - half)
    }

    fn grow(&mut self) {
        let half = self.tree.len() / 2;
        let mut tree = vec![i64::MAX; (half * 4).max(4)];
        let new_half = tree.len() / 2;
        tree[new_half..][..half].copy_from_slice(&self.tree[half..]);
        for at in (1..new_half).rev() {
            tree[at] = tree[2 * at].min(tree[2 * at + 1]);
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
        let mut bounds = Vec::new();
        assert_eq!(floors.find(0, i64::MAX - 1), None);
        for _ in 0..70 {
            let bound = random.below(100) as i64;
            floors.set(bounds.len(), bound);
            bounds.push(bound);
            for _ in 0..50 {
                let lane = random.below(bounds.len() as u64) as usize;
                bounds[lane] += random.below(10) as i64;
                floors.set(lane, bounds[lane]);
                let from = random.below(bounds.len() as u64 + 2) as usize;
                let start = random.below(150) as i64;
                let want = (bounds.iter().enumerate().skip(from))
                    .find_map(|(lane, bound)| (*bound <= start).then_some(lane));
                assert_eq!(floors.find(from, start), want);
            }
        }
    }
}
