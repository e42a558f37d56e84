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
pub(crate) fn next() -> Owner {
    Owner(
        NonZeroU32::new(NEXT.fetch_add(1, Ordering::Relaxed))
            .expect("fewer than 2^32 domains in one process"),
    )
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
