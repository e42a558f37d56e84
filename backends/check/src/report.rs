//! What was found so far.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::finding::{Finding, FindingKind};

/// What a checker found: of each kind how many cases, and the first ones.
///
/// Clones are the same report. It may be read at any time, from any thread; all is in it when the sessions have ended.
#[derive(Clone, Debug, Default)]
pub struct Report(Arc<Mutex<BTreeMap<FindingKind, Tally>>>);

#[derive(Debug, Default)]
struct Tally {
    count: u64,
    examples: Vec<Finding>,
}

impl Report {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.lock().is_empty()
    }

    /// Number of cases of all kinds.
    pub fn total(&self) -> u64 {
        self.lock().values().map(|tally| tally.count).sum()
    }

    /// Number of cases of this kind.
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.lock().get(&kind).map_or(0, |tally| tally.count)
    }

    /// The kinds that were found.
    pub fn kinds(&self) -> Vec<FindingKind> {
        self.lock().keys().copied().collect()
    }

    /// The first cases of this kind.
    pub fn examples(&self, kind: FindingKind) -> Vec<Finding> {
        let tallies = self.lock();
        tallies
            .get(&kind)
            .map_or_else(Vec::new, |tally| tally.examples.clone())
    }

    /// Counts a case. Whether it is one of the first `limit`, and so is to be [shown](Self::show).
    pub(crate) fn count_one(&self, kind: FindingKind, limit: u64) -> bool {
        let mut tallies = self.lock();
        let tally = tallies.entry(kind).or_default();
        tally.count += 1;
        tally.count <= limit
    }

    /// Keeps a case that was counted.
    pub(crate) fn show(&self, finding: Finding) {
        let mut tallies = self.lock();
        let tally = tallies.entry(finding.kind).or_default();
        tally.examples.push(finding);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<FindingKind, Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As it goes to standard error; nothing if nothing was found.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, tally) in &*self.lock() {
            writeln!(f, "{kind} ({}): {}", tally.count, kind.meaning())?;
            for example in &tally.examples {
                writeln!(f, "    {example}")?;
            }
            let more = tally.count - tally.examples.len() as u64;
            if more > 0 {
                writeln!(f, "    and {more} more")?;
            }
            writeln!(f, "  why: {}", kind.why())?;
            writeln!(f, "  fix: {}", kind.fix())?;
        }
        Ok(())
    }
}
