//! What could not be converted: the first cases in full, all of them counted.

use std::collections::BTreeMap;

use nvtxw::abi::OneLine;

use crate::event::Bad;

/// Cases that are shown one by one.
const SHOWN: u64 = 20;

#[derive(Default)]
pub struct Problems {
    kinds: BTreeMap<Bad, u64>,
    total: u64,
}

impl Problems {
    /// Counts a bad event; `number` is its place in the file, from 0.
    pub fn add(&mut self, number: u64, bad: Bad) {
        self.total += 1;
        if self.total <= SHOWN {
            // It may quote the file, which may hold anything.
            eprintln!("event {number}: {}: skipped", OneLine(&bad));
        }
        if self.total == SHOWN + 1 {
            eprintln!("further events are skipped as well; counts follow");
        }
        *self.kinds.entry(bad).or_default() += 1;
    }

    /// Says how many there were of each kind.
    pub fn report(&self) {
        if self.total > 0 {
            eprintln!("{} events skipped:", self.total);
        }
        for (bad, count) in &self.kinds {
            eprintln!("{count:>8} × {}", OneLine(bad));
        }
    }
}
