//! What is checked of a session as a whole.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::{Cause, Domain, Refusal};

use crate::account::Account;
use crate::checks::is_invalid;
use crate::finding::{FindingKind, Place};
use crate::gate::Gate;
use crate::ranges::Started;

/// What the streams of a session share.
pub(crate) struct Shared {
    pub(crate) account: Account,
    pub(crate) gate: Gate,
    pub(crate) started: Started,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where categories without a name were used first, by the number of their domain.
    unnamed: BTreeMap<(u32, u32), (Arc<Domain>, Place)>,
    /// The names of all streams so far.
    streams: HashSet<Box<str>>,
    opened: u32,
}

impl Shared {
    pub(crate) fn new(account: Account) -> Self {
        Self {
            account,
            gate: Gate::default(),
            started: Started::default(),
            state: Mutex::default(),
        }
    }

    /// A stream of this name is opened. Its number in the session.
    pub(crate) fn open_stream(&self, name: &str) -> u32 {
        let mut state = self.state();
        let is_new = name.is_empty() || state.streams.insert(name.into());
        state.opened += 1;
        let number = state.opened;
        drop(state);
        if !is_new {
            let place = of_stream(name);
            self.account.note(FindingKind::NameTwice, place, || {
                "an earlier stream of the session has this name".to_owned()
            });
        }
        number
    }

    /// An event is in a category.
    pub(crate) fn use_category(&self, domain: &Arc<Domain>, category: u32, place: Place) {
        if domain.category(category).is_none() {
            let mut state = self.state();
            let unnamed = state.unnamed.entry((domain.index(), category));
            unnamed.or_insert_with(|| (Arc::clone(domain), place));
        }
    }

    /// Calls overlap that must not, outside of a stream's writes.
    pub(crate) fn overlap(&self, member: &str, place: Place) {
        self.account.note(FindingKind::OverlappingCalls, place, || {
            format!("{member} runs while another call does")
        });
    }

    /// What the backend behind refuses; if it isn't told yet why, it is now.
    pub(crate) fn refused_behind(
        &self,
        member: &str,
        refusal: Refusal,
        place: Place,
        has_told: bool,
    ) -> Refusal {
        if !is_invalid(&refusal) {
            return refusal;
        }
        if !has_told {
            self.account.note(FindingKind::RefusedCall, place, || {
                format!("{member}: the backend refuses it: {}", refusal.reason())
            });
        }
        refusal.because(Cause::Told)
    }

    /// All streams are closed.
    pub(crate) fn end(&self) {
        for (id, half) in self.started.take() {
            self.account
                .note(FindingKind::StartWithoutEnd, half.place, || {
                    format!("starts the range {id}, which has not ended when the session does")
                });
        }
        let unnamed = std::mem::take(&mut self.state().unnamed);
        for ((_, category), (domain, place)) in unnamed {
            let kind = match domain.category(category) {
                Some(_) => FindingKind::LateRegistration,
                None => FindingKind::UnnamedCategory,
            };
            self.account.note(kind, place, || match kind {
                FindingKind::LateRegistration => {
                    format!("is in the category {category}, which gets its name later")
                }
                _ => format!("is in the category {category}, which has no name"),
            });
        }
        self.account.end();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream as a place.
pub(crate) fn of_stream(name: &str) -> Place {
    Place {
        stream: Some(name.into()),
        ..Place::default()
    }
}
