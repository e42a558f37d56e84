//! Memory in which a walk keeps where the fields of a struct are that something refers to.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many places are kept on the stack.
const INLINE: usize = 16;

/// Memory for a schema with more places: as much as was ever in use at once, so that no event needs new one.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Vec<Box<[usize]>>>);

impl Places {
    /// Does work that keeps `count` places, always as many for a schema.
    #[inline]
    pub(crate) fn with<T>(&self, count: usize, work: impl FnOnce(&mut [usize]) -> T) -> T {
        if count <= INLINE {
            return work(&mut [0; INLINE][..count]);
        }
        let spare = self.lock().pop();
        let mut places = spare.unwrap_or_else(|| vec![0; count].into());
        let done = work(&mut places);
        self.lock().push(places);
        done
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Box<[usize]>>> {
        // The list is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
