//! What was found in one session.

use std::sync::Arc;

use nvtxw_backend::{Config, Result};

use crate::finding::{Finding, FindingKind, Place};
use crate::outlet::{Options, Outlet};
use crate::report::Report;

/// The findings of a session, which go to its outlet, and to the report of all sessions.
#[derive(Debug)]
pub(crate) struct Account {
    session: Arc<str>,
    own: Report,
    all: Report,
    outlet: Outlet,
    examples: u64,
}

impl Account {
    pub(crate) fn begin(session: &str, config: &Config, all: &Report) -> Result<Self> {
        let Options { outlet, examples } = Options::new(config)?;
        outlet.begin(session);
        Ok(Self {
            session: session.into(),
            own: Report::default(),
            all: all.clone(),
            outlet,
            examples,
        })
    }

    /// Counts a case, and tells it if it is one of the first of its kind. Only then `what` is asked.
    pub(crate) fn note(&self, kind: FindingKind, place: Place, what: impl FnOnce() -> String) {
        let is_own = self.own.count_one(kind, self.examples);
        let is_first = self.all.count_one(kind, self.examples);
        if !is_own && !is_first {
            return;
        }
        let finding = Finding {
            kind,
            session: Arc::clone(&self.session),
            place,
            what: what(),
        };
        if is_first {
            self.all.show(finding.clone());
        }
        if is_own {
            self.outlet.finding(&finding);
            self.own.show(finding);
        }
    }

    pub(crate) fn end(&self) {
        self.outlet.end(&self.session, &self.own);
    }
}
