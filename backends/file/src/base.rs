//! The instant that the file's timestamps count from.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nvtxw_backend::{Refusal, Result};

/// The base of a session with negative timestamps: room for a quarter of the 64-bit range before
/// zero, and for half of it after.
const NEGATIVE: i64 = -(1 << 62);

/// A session's timestamp base: given, or decided by the first flush of any of its streams.
pub(crate) struct TimeBase {
    decided: OnceLock<i64>,
    /// Whether a negative timestamp was seen before the decision.
    negative: AtomicBool,
}

impl TimeBase {
    pub(crate) fn new(given: Option<i64>) -> Self {
        Self {
            decided: given.map_or_else(OnceLock::new, OnceLock::from),
            negative: AtomicBool::new(false),
        }
    }

    /// Whether the file can hold `time`. Before the decision every time is taken, and remembered
    /// for it.
    pub(crate) fn admit(&self, time: i64) -> Result<()> {
        match self.decided.get() {
            Some(&base) if shift(base, time).is_some() => Ok(()),
            Some(&base) => Err(Refusal::invalid(format!(
                "timestamp {time} doesn't fit the file's time base {base} (it holds {base} to \
                 {}): set the session's `base` key to the smallest timestamp",
                base.saturating_add(i64::MAX)
            ))),
            None => {
                if time < 0 {
                    self.negative.store(true, Ordering::Relaxed);
                }
                Ok(())
            }
        }
    }

    /// The base, and whether this call decided it.
    pub(crate) fn decide(&self) -> (i64, bool) {
        let mut first = false;
        let base = *self.decided.get_or_init(|| {
            first = true;
            if self.negative.load(Ordering::Relaxed) {
                NEGATIVE
            } else {
                0
            }
        });
        (base, first)
    }
}

/// `time` as the file has it: counted from `base`, in 0..2^63; `None` outside.
pub(crate) fn shift(base: i64, time: i64) -> Option<u64> {
    time.checked_sub(base)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_takes_exactly_the_times_that_a_reader_keeps() {
        assert_eq!(shift(0, 0), Some(0));
        assert_eq!(shift(0, -1), None);
        assert_eq!(shift(0, i64::MAX), Some(i64::MAX as u64));
        assert_eq!(shift(NEGATIVE, NEGATIVE), Some(0));
        assert_eq!(shift(NEGATIVE, NEGATIVE - 1), None);
        assert_eq!(shift(NEGATIVE, (1 << 62) - 1), Some(i64::MAX as u64));
        assert_eq!(shift(NEGATIVE, 1 << 62), None);
        assert_eq!(shift(i64::MIN, i64::MIN), Some(0));
        assert_eq!(shift(i64::MIN, -1), Some(i64::MAX as u64));
        assert_eq!(shift(i64::MIN, 0), None);
        assert_eq!(shift(5, i64::MIN), None);
    }

    #[test]
    fn the_first_decision_holds() {
        let base = TimeBase::new(None);
        base.admit(i64::MIN).unwrap();
        assert_eq!(base.decide(), (NEGATIVE, true));
        assert_eq!(base.decide(), (NEGATIVE, false));

        let base = TimeBase::new(None);
        base.admit(7).unwrap();
        assert_eq!(base.decide(), (0, true));
        base.admit(0).unwrap();
        let refusal = base.admit(-5).unwrap_err();
        assert_eq!(
            refusal.reason(),
            "timestamp -5 doesn't fit the file's time base 0 (it holds 0 to 9223372036854775807): \
             set the session's `base` key to the smallest timestamp"
        );

        let base = TimeBase::new(Some(1000));
        assert_eq!(base.decide(), (1000, false));
        base.admit(1000).unwrap();
        base.admit(999).unwrap_err();
    }
}
