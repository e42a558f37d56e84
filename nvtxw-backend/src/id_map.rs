//! A map from IDs that only grows, and is read without a lock.

use crate::sync::OnceLock;

/// A map from IDs that only grows. Any thread may insert, and read without waiting.
///
/// A tree that branches by the bits of the ID's hash. The hash is a bijection, so two IDs part after 32 levels at the
/// latest, whoever picked them.
pub(crate) struct IdMap<T> {
    root: OnceLock<Box<Node<T>>>,
}

struct Node<T> {
    id: u64,
    value: T,
    children: [OnceLock<Box<Node<T>>>; 4],
}

impl<T> IdMap<T> {
    pub(crate) fn new() -> Self {
        Self {
            root: OnceLock::new(),
        }
    }

    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        let mut hash = hash(id);
        let mut slot = &self.root;
        while let Some(node) = slot.get() {
            if node.id == id {
                return Some(&node.value);
            }
            slot = &node.children[(hash >> 62) as usize];
            hash <<= 2;
        }
        None
    }

    /// Inserts `value`; false, and nothing happens, if `id` has a value already.
    pub(crate) fn insert(&self, id: u64, value: T) -> bool {
        let mut new = Box::new(Node {
            id,
            value,
            children: std::array::from_fn(|_| OnceLock::new()),
        });
        let mut hash = hash(id);
        let mut slot = &self.root;
        loop {
            match slot.set(new) {
                Ok(()) => return true,
                Err(back) => new = back,
            }
            let node = slot.get().expect("a slot that can't be set is set");
            if node.id == id {
                return false;
            }
            slot = &node.children[(hash >> 62) as usize];
            hash <<= 2;
        }
    }
}

/// Spreads neighbouring IDs; odd factors make it a bijection.
fn hash(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::IdMap;

    #[test]
    fn ids_are_found_and_kept_apart() {
        let map = IdMap::new();
        for id in (1 << 24)..(1 << 24) + 3000 {
            assert!(map.insert(id, id));
        }
        assert!(!map.insert(1 << 24, 7), "the first stays");
        assert!(((1 << 24)..(1 << 24) + 3000).all(|id| map.get(id) == Some(&id)));
        assert_eq!(map.get((1 << 24) + 3000), None);
    }

    #[test]
    fn ids_whose_hashes_share_their_first_bits_end_somewhere() {
        let map = IdMap::new();
        // Multiples of 2^32 differ in the hash's upper half only, where the tree looks first; their inverse images in
        // the lower half only, where it looks last.
        let inverse: u64 = 0xF1DE_83E1_9937_733D;
        assert_eq!(inverse.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1);
        for n in 0..100 {
            assert!(map.insert(inverse.wrapping_mul(n), n));
        }
        assert!((0..100).all(|n| map.get(inverse.wrapping_mul(n)) == Some(&n)));
    }

    #[test]
    fn of_two_threads_with_one_id_one_wins() {
        for _ in 0..100 {
            let map = IdMap::new();
            let wins = std::thread::scope(|scope| {
                let insert = |value| map.insert(1 << 24, value);
                let (one, two) = (
                    scope.spawn(move || insert(1)),
                    scope.spawn(move || insert(2)),
                );
                [one, two].map(|thread| thread.join().expect("no panic"))
            });
            assert!(wins[0] != wins[1]);
            assert_eq!(map.get(1 << 24), Some(if wins[0] { &1 } else { &2 }));
        }
    }
}
