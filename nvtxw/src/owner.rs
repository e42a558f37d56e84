//! Which domains there are, so that a mismatch can name both sides.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::domain::DomainState;
use crate::error::Error;
use crate::id::Owner;

type Domains = BTreeMap<u32, Weak<DomainState>>;

/// The domains of this process that a session or a stream still holds.
static DOMAINS: Mutex<Domains> = Mutex::new(BTreeMap::new());

static NEXT: AtomicU32 = AtomicU32::new(1);

fn domains() -> MutexGuard<'static, Domains> {
    DOMAINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number that no domain of this process has had.
///
/// # Panics
/// After 2^32 - 1 domains, from then on always: a number that came again would let one domain's things pass for another's.
pub(crate) fn next() -> Owner {
    next_of(&NEXT)
}

fn next_of(numbers: &AtomicU32) -> Owner {
    numbers
        .try_update(Ordering::Relaxed, Ordering::Relaxed, |number| {
            // 0 stands for "used up", and stays.
            NonZeroU32::new(number).map(|number| number.checked_add(1).map_or(0, NonZeroU32::get))
        })
        .ok()
        .and_then(NonZeroU32::new)
        .map(Owner)
        .expect("fewer than 2^32 domains in one process")
}

/// Makes a domain known by its number.
pub(crate) fn enter(domain: &Arc<DomainState>) {
    domains().insert(domain.owner.0.get(), Arc::downgrade(domain));
}

/// Forgets a domain.
pub(crate) fn leave(owner: Owner) {
    domains().remove(&owner.0.get());
}

/// The domain with this number, if it is still known.
pub(crate) fn find(owner: Owner) -> Option<Arc<DomainState>> {
    domains().get(&owner.0.get()).and_then(Weak::upgrade)
}

/// The domain in words, with its session.
pub(crate) fn describe(owner: Owner) -> String {
    find(owner).map_or_else(
        || "a session that has ended".to_owned(),
        |domain| domain.describe(),
    )
}

/// The error of using `object`, which belongs to the domain `owner`, where `place` says, which ends in the domain `here`.
#[cold]
pub(crate) fn foreign(object: String, owner: Owner, place: &str, here: Owner) -> Error {
    let (mut there, mut here_words) = (describe(owner), describe(here));
    if there == here_words {
        for (words, owner) in [(&mut there, owner), (&mut here_words, here)] {
            if let Some(domain) = find(owner) {
                *words = domain.describe_numbered();
            }
        }
    }
    Error::Foreign {
        object,
        owner: there,
        place: format!("{place} {here_words}"),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicU32;

    use super::next_of;

    #[test]
    fn numbers_never_come_again() {
        let numbers = AtomicU32::new(u32::MAX - 1);
        assert_eq!(next_of(&numbers).0.get(), u32::MAX - 1);
        assert_eq!(next_of(&numbers).0.get(), u32::MAX);
        for _ in 0..3 {
            catch_unwind(|| next_of(&numbers)).unwrap_err();
        }
    }
}
