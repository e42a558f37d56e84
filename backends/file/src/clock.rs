//! From ticks of a time domain to the file's nanoseconds.

use std::num::NonZeroU64;

use nvtxw_backend::{Domain, Refusal, Result, Time};

const NANOSECONDS: u64 = 1_000_000_000;

/// How fast a time domain ticks, if that is known and not once per nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    ticks_per_second: NonZeroU64,
}

impl Clock {
    /// `None` where a tick is taken for a nanosecond: time domains that the ABI predefines, and those that don't say.
    pub(crate) fn of(domain: &Domain, time_domain: u64) -> Option<Self> {
        let ticks_per_second = NonZeroU64::new(domain.time_domain(time_domain)?.resolution()?)?;
        (ticks_per_second.get() != NANOSECONDS).then_some(Self { ticks_per_second })
    }

    /// The nanosecond in which the tick `ticks` lies; later ticks never come out earlier.
    pub(crate) fn nanoseconds(self, ticks: i64) -> Result<i64> {
        let rate = i128::from(self.ticks_per_second.get());
        let time = (i128::from(ticks) * i128::from(NANOSECONDS)).div_euclid(rate);
        time.try_into().map_err(|_| {
            Refusal::invalid(format!(
                "the timestamp {ticks} at {rate} ticks per second is {time} ns, which 64 bits don't hold"
            ))
        })
    }
}

/// A time in nanoseconds, of which a range's end has a clock of its own.
pub(crate) fn time(time: Time, clock: Option<Clock>, end_clock: Option<Clock>) -> Result<Time> {
    let nanoseconds =
        |clock: Option<Clock>, ticks| clock.map_or(Ok(ticks), |clock| clock.nanoseconds(ticks));
    Ok(match time {
        Time::Point(at) => Time::Point(nanoseconds(clock, at)?),
        Time::Range { start, end } => {
            let (start, end) = (nanoseconds(clock, start)?, nanoseconds(end_clock, end)?);
            if end < start {
                return Err(Refusal::invalid(format!(
                    "ends before it starts: start {start} ns, end {end} ns"
                )));
            }
            Time::Range { start, end }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(ticks_per_second: u64) -> Clock {
        Clock {
            ticks_per_second: NonZeroU64::new(ticks_per_second).unwrap(),
        }
    }

    #[test]
    fn ticks_become_nanoseconds() {
        assert_eq!(clock(1_000_000).nanoseconds(1000).unwrap(), 1_000_000);
        assert_eq!(clock(1_000_000).nanoseconds(-3).unwrap(), -3000);
        // 1.755 GHz: 0.57 ns; rounded down, before 0 too.
        assert_eq!(clock(1_755_000_000).nanoseconds(1).unwrap(), 0);
        assert_eq!(clock(1_755_000_000).nanoseconds(-1).unwrap(), -1);
        assert_eq!(clock(1_755_000_000).nanoseconds(1755).unwrap(), 1000);
        assert_eq!(clock(u64::MAX).nanoseconds(i64::MAX).unwrap(), 499_999_999);
    }

    #[test]
    fn a_range_s_start_and_end_may_have_different_clocks() {
        let range = |start, end| Time::Range { start, end };
        let (micro, milli) = (Some(clock(1_000_000)), Some(clock(1000)));
        let converted = |time_of, a, b| time(time_of, a, b).unwrap();
        assert_eq!(
            converted(range(5000, 7), micro, milli),
            range(5_000_000, 7_000_000)
        );
        assert_eq!(converted(range(1, 2), None, micro), range(1, 2000));
        assert_eq!(
            converted(Time::Point(3), milli, None),
            Time::Point(3_000_000)
        );
        let refusal = time(range(5000, 4), micro, milli).unwrap_err();
        assert_eq!(
            refusal.reason(),
            "ends before it starts: start 5000000 ns, end 4000000 ns"
        );
    }

    #[test]
    fn what_64_bits_do_not_hold_is_refused() {
        let refusal = clock(1).nanoseconds(10_000_000_000).unwrap_err();
        assert_eq!(
            refusal.reason(),
            "the timestamp 10000000000 at 1 ticks per second is 10000000000000000000 ns, which 64 bits don't hold"
        );
    }
}
