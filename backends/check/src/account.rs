//! What was found in one session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nvtxw_abi::OneLine;
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
    has_ended: AtomicBool,
}

impl Account {
    /// For what is on no session.
    pub(crate) fn outside(config: &Config, all: &Report) -> Result<Self> {
        let account = Self::new("", config, all)?;
        account.has_ended.store(true, Ordering::Relaxed);
        Ok(account)
    }

    /// Of a session of this name and config.
    pub(crate) fn new(session: &str, config: &Config, all: &Report) -> Result<Self> {
        let Options { outlet, examples } = Options::new(config)?;
        Ok(Self {
            session: session.into(),
            own: Report::default(),
            all: all.clone(),
            outlet,
            examples,
            has_ended: AtomicBool::new(false),
        })
    }

    /// The session has begun.
    pub(crate) fn begin(&self) {
        self.outlet.begin(&self.session);
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
            what: OneLine(what()).to_string(),
        };
        if is_first {
            self.all.show(finding.clone());
        }
        if is_own {
            let has_ended = self.has_ended.load(Ordering::Relaxed);
            self.outlet.finding(&finding, has_ended);
            self.own.show(finding);
        }
    }

    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.outlet.end(&self.session, &self.own);
    }
}
