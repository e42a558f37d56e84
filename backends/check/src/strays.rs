//! Refusals that no session is told of: of calls on what is no handle, or on what has ended.
//!
//! Which of the checkers in a process is meant nobody knows: all are told.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use nvtxw_backend::{Config, log};

use crate::account::Account;
use crate::report::Report;
use crate::shared::Shared;

static ALL: Mutex<Vec<Weak<Strays>>> = Mutex::new(Vec::new());

/// Where the strays of one checker go.
pub(crate) struct Strays {
    report: Report,
    /// The session that began last, whether it has ended or not.
    last: Mutex<Option<Arc<Shared>>>,
}

impl Strays {
    pub(crate) fn new(report: Report) -> Arc<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| log::set_stray_hook(Some(tell)));

        let strays = Arc::new(Self {
            report,
            last: Mutex::new(None),
        });
        let mut all = lock(&ALL);
        all.push(Arc::downgrade(&strays));
        strays
    }

    pub(crate) fn begin(&self, session: &Arc<Shared>) {
        *lock(&self.last) = Some(Arc::clone(session));
    }

    fn note(&self, refused: &log::Report<'_>) {
        let last = lock(&self.last).clone();
        let last = last.or_else(|| {
            let account = Account::outside(&Config::default(), &self.report);
            Some(Arc::new(Shared::new(account.ok()?)))
        });
        if let Some(last) = last {
            last.refused(refused);
        }
    }
}

impl Drop for Strays {
    fn drop(&mut self) {
        let mut all = lock(&ALL);
        all.retain(|strays| strays.strong_count() > 0);
        // Nothing frees the memory of a static when its library is unloaded.
        if all.is_empty() {
            *all = Vec::new();
        }
    }
}

fn tell(refused: &log::Report<'_>) {
    let all: Vec<_> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
    for strays in all {
        strays.note(refused);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
