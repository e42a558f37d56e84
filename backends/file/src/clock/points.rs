//! Instants that two clocks share, as they were known at any time.

use std::iter;

use super::ratio::Ratio;

/// An instant.
#[derive(Debug)]
pub(super) struct Point {
    /// On either clock.
    pub(super) at: [i64; 2],
    /// The version from which on it is known.
    pub(super) since: u64,
    pub(super) slope: Option<Slope>,
}

/// Ticks of the second clock for each one of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    pub(super) ratio: Ratio,
    pub(super) since: u64,
}

/// Instants that ascend on both clocks: a tree with random weights, ordered by the first clock.
///
/// No node has a greater weight than its parent, so each step takes logarithmic time on average, whatever the order of
/// insertion and the version of a query are. Appending takes constant time: sync points usually come in order.
#[derive(Debug, Default)]
pub(super) struct Points {
    nodes: Vec<Node>,
    root: Option<u32>,
    /// The path from the root to the last instant.
    spine: Vec<u32>,
}

#[derive(Debug)]
struct Node {
    point: Point,
    /// Those before it, and those after it.
    children: [Option<u32>; 2],
    /// The first version in which there is anything here or below.
    first: u64,
    /// None below has a greater one.
    weight: u64,
}

/// On which side of a boundary the next instant is looked for.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Before,
    After,
}

impl Points {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn get(&self, number: u32) -> &Point {
        &self.node(number).point
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Point {
        &mut self.nodes[number as usize].point
    }

    /// The number of the instant next to a boundary that was known in `version`. `is_beyond` tells which are on that
    /// side of it.
    pub(super) fn next(
        &self,
        side: Side,
        version: u64,
        is_beyond: impl Fn(&Point) -> bool,
    ) -> Option<u32> {
        self.next_below(self.root, side, version, &is_beyond)
    }

    fn next_below(
        &self,
        root: Option<u32>,
        side: Side,
        version: u64,
        is_beyond: &impl Fn(&Point) -> bool,
    ) -> Option<u32> {
        let node = self.node(root?);
        if node.first > version {
            return None;
        }
        let [near, far] = match side {
            Side::Before => [1, 0],
            Side::After => [0, 1],
        };
        let next = |child: usize| self.next_below(node.children[child], side, version, is_beyond);
        if !is_beyond(&node.point) {
            return next(far);
        }
        next(near)
            .or_else(|| root.filter(|_| node.point.since <= version))
            .or_else(|| next(far))
    }

    /// The last instant on both clocks.
    pub(super) fn last(&self) -> Option<&Point> {
        self.spine.last().map(|number| self.get(*number))
    }

    /// Iterates in order over the instants whose ticks on clock `of` are `least` or more.
    pub(super) fn from(&self, of: usize, least: i64) -> impl Iterator<Item = &Point> {
        // Each comes after its left children, and before the next one on this stack.
        let mut stack = Vec::new();
        let mut below = self.root;
        while let Some(number) = below {
            let node = self.node(number);
            let is_in = node.point.at[of] >= least;
            if is_in {
                stack.push(number);
            }
            below = node.children[usize::from(!is_in)];
        }
        iter::from_fn(move || {
            let node = self.node(stack.pop()?);
            let mut below = node.children[1];
            while let Some(number) = below {
                stack.push(number);
                below = self.node(number).children[0];
            }
            Some(&node.point)
        })
    }

    /// Adds an instant at new ticks. No earlier one has a later version.
    pub(super) fn insert(&mut self, point: Point) {
        let is_last = self.last().is_none_or(|last| last.at[0] < point.at[0]);
        let number = self.nodes.len() as u32;
        self.nodes.push(Node {
            first: point.since,
            point,
            children: [None; 2],
            weight: weight(number),
        });
        if is_last {
            self.append(number);
            return;
        }
        self.root = Some(self.insert_below(self.root, number));
        self.spine.clear();
        let mut below = self.root;
        while let Some(number) = below {
            self.spine.push(number);
            below = self.node(number).children[1];
        }
    }

    /// Adds a node after all others. Each node leaves the spine once at most, so this takes constant time on average.
    fn append(&mut self, number: u32) {
        let weight = self.node(number).weight;
        let nodes = &mut self.nodes;
        let mut below = None;
        while let Some(lighter) = (self.spine).pop_if(|node| nodes[*node as usize].weight < weight)
        {
            below = Some(lighter);
        }
        nodes[number as usize].children[0] = below;
        match self.spine.last() {
            Some(parent) => nodes[*parent as usize].children[1] = Some(number),
            None => self.root = Some(number),
        }
        self.spine.push(number);
        self.count_in(number);
    }

    /// Returns what stands in the place of `root` then.
    fn insert_below(&mut self, root: Option<u32>, number: u32) -> u32 {
        let new = self.node(number);
        let at = new.point.at[0];
        let Some(old) = root.filter(|old| self.node(*old).weight >= new.weight) else {
            self.nodes[number as usize].children = self.split(root, at);
            return self.count_in(number);
        };
        let side = usize::from(self.get(old).at[0] < at);
        let child = self.insert_below(self.node(old).children[side], number);
        self.nodes[old as usize].children[side] = Some(child);
        self.count_in(old)
    }

    /// Parts what is before a tick of the first clock from what is after it.
    fn split(&mut self, root: Option<u32>, at: i64) -> [Option<u32>; 2] {
        let Some(number) = root else {
            return [None; 2];
        };
        // What the node itself is on, and its child on the other side.
        let side = usize::from(self.get(number).at[0] >= at);
        let mut parts = self.split(self.node(number).children[1 - side], at);
        self.nodes[number as usize].children[1 - side] = parts[side];
        parts[side] = Some(self.count_in(number));
        parts
    }

    /// Takes into account what is below.
    fn count_in(&mut self, number: u32) -> u32 {
        let node = self.node(number);
        let below = node.children.iter().flatten();
        let first = below.map(|child| self.node(*child).first).min();
        let first = first.unwrap_or(u64::MAX).min(node.point.since);
        self.nodes[number as usize].first = first;
        number
    }

    fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }
}

/// A number without any order, for each one its own.
fn weight(number: u32) -> u64 {
    let mut mixed = u64::from(number)
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for (shift, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
        mixed = (mixed ^ mixed >> shift).wrapping_mul(factor);
    }
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Random;

    /// The longest way from a node down.
    fn depth(points: &Points, root: Option<u32>) -> usize {
        root.map_or(0, |root| {
            let below = points.node(root).children;
            1 + below
                .map(|child| depth(points, child))
                .into_iter()
                .max()
                .unwrap_or(0)
        })
    }

    #[test]
    fn the_next_one_of_any_version_is_found_whatever_the_order_was() {
        type Order = fn(&mut Random, i64) -> i64;
        let orders: [Order; 3] = [
            |_, i| i,
            |_, i| -i,
            |random, _| random.below(1 << 40) as i64,
        ];
        for order in orders {
            let mut random = Random::new(7);
            let (mut points, mut all) = (Points::default(), Vec::new());
            for version in 1..=1000 {
                let at = order(&mut random, version as i64) * 10;
                if all.iter().any(|(known, _)| *known == at) {
                    continue;
                }
                all.push((at, version));
                points.insert(Point {
                    at: [at, at * 3],
                    since: version,
                    slope: None,
                });
            }
            assert!(depth(&points, points.root) < 40);
            for _ in 0..2000 {
                let version = random.below(1002);
                let of = random.below(2) as usize;
                let near = all[random.below(all.len() as u64) as usize].0;
                let ticks = (near + random.below(3) as i64 - 1) * [1, 3][of];
                let known = all.iter().filter(|(_, since)| *since <= version);
                let on_clock = known.map(|(at, _)| at * [1, 3][of]);
                let before = on_clock.clone().filter(|at| *at <= ticks).max();
                let after = on_clock.filter(|at| *at > ticks).min();
                let found = |side, is_beyond: &dyn Fn(&Point) -> bool| {
                    let number = points.next(side, version, is_beyond);
                    number.map(|number| points.get(number).at[of])
                };
                assert_eq!(found(Side::Before, &|point| point.at[of] <= ticks), before);
                assert_eq!(found(Side::After, &|point| point.at[of] > ticks), after);
            }
            all.sort_unstable();
            let in_order: Vec<_> = points
                .from(1, i64::MIN)
                .map(|p| (p.at[0], p.since))
                .collect();
            assert_eq!(in_order, all);
        }
    }
}
