//! Maps whose keys are IDs. Those that a producer chooses are its own, so that the hash need not withstand keys that
//! were chosen to collide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::intern::mix;

/// A map of IDs, or of some together.
pub(crate) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

pub(crate) type IdSet<K> = HashSet<K, BuildHasherDefault<IdHasher>>;

/// Hashes few numbers faster than texts are.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0.rotate_left(23) ^ number);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
