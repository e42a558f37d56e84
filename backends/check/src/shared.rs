//! What is checked of a session as a whole.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvtxw_backend::call::Registration;
use nvtxw_backend::{Cause, Domain, IdKind, Refusal, StreamInfo, TimeRelation, log};

use crate::account::Account;
use crate::checks::is_invalid;
use crate::dates::Dates;
use crate::finding::{FindingKind, Place};
use crate::gate::Gate;
use crate::ranges::Started;
use crate::registrations::{Breach, Names};
use crate::values::not_utf8;

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
    /// The names of all streams so far, with the numbers of their domains.
    streams: HashMap<Box<str>, u32>,
    /// The domains by name.
    domains: HashMap<Box<str>, u32>,
    /// Their names.
    domain_names: HashMap<u32, Box<str>>,
    names: Names,
    dates: Dates,
    opened: u32,
}

impl State {
    /// An ID is used that nothing is registered under, on the stream or the domain of this name. Returns the name of the domain
    /// that has it.
    fn miss(
        &mut self,
        object: &str,
        is_stream: bool,
        (kind, id): (IdKind, u64),
        place: Place,
    ) -> Option<Box<str>> {
        let objects = if is_stream {
            &self.streams
        } else {
            &self.domains
        };
        let domain = *objects.get(object)?;
        let other = self.names.miss(domain, kind, id, place)?;
        self.domain_names.get(&other).cloned()
    }
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

    /// A stream is opened. Its number in the session.
    pub(crate) fn open_stream(&self, stream: &StreamInfo) -> u32 {
        let (name, domain) = (stream.name(), stream.domain().index());
        if let Some(bad) = stream
            .attributes()
            .name
            .and_then(|name| not_utf8(name.to_bytes()))
        {
            self.account
                .note(FindingKind::NotUtf8, of_stream(name), || {
                    format!("StreamOpen: the name is {bad}")
                });
        }
        let mut state = self.state();
        let is_new = state.streams.insert(name.into(), domain).is_none() || name.is_empty();
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

    /// A stream with this number has timestamps of a time domain, the first one at this place.
    pub(crate) fn use_clock(
        &self,
        number: u32,
        stream: &StreamInfo,
        time_domain: u64,
        place: Place,
    ) {
        self.state().dates.add(number, stream, time_domain, place);
    }

    /// Two time domains are related.
    pub(crate) fn relate(&self, domain: &Domain, relation: &TimeRelation<'_>) {
        self.state().dates.relate(domain, relation);
    }

    /// Calls overlap that must not, outside of a stream's writes.
    pub(crate) fn overlap(&self, member: &str, place: Place) {
        self.account.note(FindingKind::OverlappingCalls, place, || {
            format!("{member} runs while another call does")
        });
    }

    /// Something is registered.
    pub(crate) fn register(&self, domain: &Domain, registration: &Registration<'_>) {
        let mut breaches: Vec<Breach> = Vec::new();
        let mut state = self.state();
        if let Registration::Domain { .. } = registration {
            let name = domain.name().unwrap_or_default();
            state.domains.insert(name.into(), domain.index());
            state.domain_names.insert(domain.index(), name.into());
        }
        (state.names).take(domain, registration, |breach| breaches.push(breach));
        drop(state);
        for (kind, place, what) in breaches {
            self.account.note(kind, place, || what);
        }
    }

    /// A call was refused, before it reached the backend.
    pub(crate) fn refused(&self, report: &log::Report<'_>) {
        let refusal = report.refusal;
        let kind = match refusal.cause() {
            Cause::Told => return,
            Cause::Handle => FindingKind::UnknownHandle,
            Cause::Unregistered(..) => FindingKind::UnknownId,
            Cause::Taken => FindingKind::NameTwice,
            Cause::Overlap => FindingKind::OverlappingCalls,
            Cause::EndBeforeStart => FindingKind::EndBeforeStart,
            Cause::BatchSize => FindingKind::BatchSize,
            Cause::CategoryZero => FindingKind::CategoryZero,
            _ if is_invalid(refusal) => FindingKind::RefusedCall,
            _ => return,
        };
        let is_on_stream = report.member.contains("Write") || report.member == "StreamClose";
        let place = match is_on_stream && !report.object.is_empty() {
            true => of_stream(report.object),
            false => Place::default(),
        };
        let other = match refusal.cause() {
            Cause::Unregistered(kind, id) => {
                let mut state = self.state();
                state.miss(report.object, is_on_stream, (kind, id), place.clone())
            }
            _ => None,
        };
        let other = other.map_or_else(String::new, |name| {
            format!("; it is registered in the domain {name:?}")
        });
        self.account.note(kind, place, || {
            format!("{}: {}{other}", report.member, refusal.reason())
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
        let undated = self.state().dates.take();
        for (place, what) in undated {
            self.account
                .note(FindingKind::UndatedStream, place, || what);
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
