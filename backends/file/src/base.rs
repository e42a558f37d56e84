//! The instant that the file's timestamps count from.

use nvtxw_backend::{Refusal, Result};

use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::timeline::Base;

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

    /// Refuses a time that the file can't hold. Before the decision every time is taken, and
    /// remembered for it.
    pub(crate) fn admit(&self, time: i64) -> Result<()> {
        match self.decided.get() {
            Some(&base) => match shift(base, time) {
                Some(_) => Ok(()),
                None => Err(unfit(base, time)),
            },
            None => {
                if time < 0 {
                    self.negative.store(true, Ordering::Relaxed);
                }
                Ok(())
            }
        }
    }

    /// The base that events are made ready for: until one is decided, 0, which most files have.
    #[inline]
    pub(crate) fn expected(&self) -> (i64, Base) {
        match self.decided.get() {
            Some(&base) => (base, Base::Decided),
            None => (0, Base::Zero),
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

#[cold]
fn unfit(base: i64, time: i64) -> Refusal {
    Refusal::invalid(format!(
        "timestamp {time} doesn't fit the file's time base {base} (it holds {base} to {}): set the \
         session's `base` key to the smallest timestamp",
        base.saturating_add(i64::MAX)
    ))
}

/// For events that came before the base was decided, and don't fit it.
pub(crate) fn outside_base(count: u64, base: i64) -> Refusal {
    Refusal::failed(format!(
        "{count} events came before the first flush decided the time base {base}, and don't fit \
         it (it holds {base} to {}): set the session's `base` key to the smallest timestamp",
        base.saturating_add(i64::MAX)
    ))
}

/// `time` as the file has it: counted from `base`, in 0..2^63; `None` outside.
#[inline]
pub(crate) fn shift(base: i64, time: i64) -> Option<u64> {
    time.checked_sub(base)?.try_into().ok()
}

/// The same for two times of which the second is not before the first.
#[inline(always)]
pub(crate) fn shift_both(base: i64, start: i64, end: i64) -> Option<[u64; 2]> {
    debug_assert!(start <= end);
    let [from, to] = [start, end].map(|time| time.wrapping_sub(base));
    // Beyond the greatest time the second difference wraps.
    (start >= base && to >= 0).then_some([from as u64, to as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_times_are_shifted_as_each_is() {
        let times = [
            i64::MIN,
            NEGATIVE - 1,
            NEGATIVE,
            -1,
            0,
            1,
            (1 << 62) - 1,
            1 << 62,
            i64::MAX,
        ];
        for base in [0, 5, NEGATIVE, i64::MIN] {
            for (index, &start) in times.iter().enumerate() {
                for &end in &times[index..] {
                    let want = shift(base, start).zip(shift(base, end));
                    assert_eq!(shift_both(base, start, end).map(<(u64, u64)>::from), want);
                }
            }
        }
    }

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
        assert_eq!(base.expected(), (0, Base::Zero));
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
        assert_eq!(base.expected(), (1000, Base::Decided));
        base.admit(999).unwrap_err();
    }
}

#[cfg(all(test, loom))]
mod loom {
    use std::sync::Arc;

    use nvtxw_loom::{model, thread};

    use super::*;

    #[test]
    fn the_base_is_decided_once_and_what_it_leaves_out_is_refused_from_then_on() {
        model(["negative", "zero", "left out"], |outcomes| {
            let base = Arc::new(TimeBase::new(None));
            let here = Arc::clone(&base);
            let one = thread::spawn(move || {
                let admitted = here.admit(-1).is_ok();
                (admitted, here.decide())
            });
            let here = Arc::clone(&base);
            let other = thread::spawn(move || {
                let admitted = here.admit(5).is_ok();
                (admitted, here.decide())
            });
            let (admitted, (decided, first)) = one.join().unwrap();
            let (always, (same, too)) = other.join().unwrap();
            assert!(always);
            assert_eq!(decided, same);
            assert!(first != too, "one of them tells the file");
            let [negative, zero, left_out] = outcomes;
            if decided == NEGATIVE {
                assert!(admitted);
                base.admit(-1).unwrap();
                negative.met();
            } else {
                assert_eq!(decided, 0);
                assert!(!first, "who met a negative time decides for one");
                base.admit(-1).unwrap_err();
                zero.met();
                if admitted {
                    // The flush counts it.
                    assert_eq!(shift(decided, -1), None);
                    left_out.met();
                }
            }
        });
    }
}
