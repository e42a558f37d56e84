//! A list that only grows, and is read without a lock.

use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Items of the first chunk; each further chunk has twice as many as the one before. Few in models, so that they get to
/// the second chunk and to the end.
const FIRST: u64 = if cfg!(all(test, loom)) { 1 } else { 16 };
/// So many chunks that every `u32` below [`CAPACITY`] is an index.
const CHUNKS: usize = if cfg!(all(test, loom)) { 2 } else { 28 };
const CAPACITY: u64 = FIRST * ((1 << CHUNKS) - 1);

/// A list that only grows. Any thread may push, and read without waiting; items never move.
pub(crate) struct List<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    next: AtomicU64,
}

impl<T> List<T> {
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            next: AtomicU64::new(0),
        }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| OnceLock::new()),
            next: AtomicU64::new(0),
        }
    }

    /// Adds the item that `build` makes of its index; `None` if the list is full.
    pub(crate) fn push_with(&self, build: impl FnOnce(u32) -> T) -> Option<&T> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= CAPACITY {
            self.next.store(CAPACITY, Ordering::Relaxed);
            return None;
        }
        let (chunk, place) = locate(index);
        let chunk = self.chunks[chunk]
            .get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect());
        Some(chunk[place].get_or_init(|| build(index as u32)))
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        if u64::from(index) >= CAPACITY {
            return None;
        }
        let (chunk, place) = locate(u64::from(index));
        self.chunks[chunk].get()?[place].get()
    }
}

#[inline]
fn locate(index: u64) -> (usize, usize) {
    let position = index + FIRST;
    let chunk = (position.ilog2() - FIRST.ilog2()) as usize;
    (chunk, (position - (FIRST << chunk)) as usize)
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, CHUNKS, FIRST, List, locate};

    #[test]
    fn every_index_has_its_own_place() {
        let mut expected = (0, 0);
        for index in 0..5000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 as u64 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(
            locate(CAPACITY - 1),
            (CHUNKS - 1, (FIRST as usize) << (CHUNKS - 1)).map_last(|n| n - 1)
        );
        assert!(CAPACITY <= u64::from(u32::MAX) + 1);
    }

    trait MapLast {
        fn map_last(self, f: impl Fn(usize) -> usize) -> Self;
    }

    impl MapLast for (usize, usize) {
        fn map_last(self, f: impl Fn(usize) -> usize) -> Self {
            (self.0, f(self.1))
        }
    }

    #[test]
    fn many_threads_push_and_all_items_stay() {
        let list = List::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let item = list.push_with(|index| index).expect("not full");
                        assert_eq!(list.get(*item), Some(item));
                    }
                });
            }
        });
        assert!((0..4000).all(|index| list.get(index) == Some(&index)));
        assert_eq!(list.get(4000), None);
        assert_eq!(list.get(u32::MAX), None);
    }
}
