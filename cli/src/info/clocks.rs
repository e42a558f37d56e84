//! The clocks of a Perfetto file, brought to one.

use std::collections::HashMap;

use super::packets::{Fields, Value};

/// The clock of packets that name none, if the file doesn't tell another one.
const BOOTTIME: u64 = 6;

/// Clocks that each sequence has of its own.
const OWN: std::ops::RangeInclusive<u64> = 64..=127;

mod snapshot {
    pub(super) const CLOCKS: u32 = 1;
    pub(super) const PRIMARY: u32 = 2;
    pub(super) const CLOCK: u32 = 1;
    pub(super) const TIMESTAMP: u32 = 2;
    pub(super) const INCREMENTAL: u32 = 3;
    pub(super) const MULTIPLIER: u32 = 4;
}

/// By sequence, which is 0 for clocks that all share, and number.
#[derive(Default)]
pub(super) struct Clocks {
    clocks: HashMap<(u64, u64), Clock>,
    primary: Option<u64>,
}

struct Clock {
    is_incremental: bool,
    /// Nanoseconds of a tick.
    multiplier: u64,
    /// The last time that an incremental clock told, in nanoseconds.
    last: u64,
    /// What brings its nanoseconds to the primary clock.
    offset: u64,
}

fn key(sequence: u64, clock: u64) -> (u64, u64) {
    (if OWN.contains(&clock) { sequence } else { 0 }, clock)
}

impl Clocks {
    /// What all clocks tell at one instant.
    pub(super) fn snapshot(&mut self, sequence: u64, message: &[u8]) {
        let mut told = Vec::new();
        for field in Fields::of(message) {
            match field {
                (snapshot::CLOCKS, Value::Bytes(clock)) => told.push(read(clock)),
                (snapshot::PRIMARY, Value::Int(primary)) => self.primary = Some(primary),
                _ => {}
            }
        }
        let primary = self.primary.unwrap_or(BOOTTIME);
        let reference = told.iter().find(|(clock, _)| *clock == primary);
        let Some(reference) = reference.map(|(_, clock)| clock.last) else {
            return;
        };
        for (number, mut clock) in told {
            clock.offset = reference.wrapping_sub(clock.last);
            self.clocks.insert(key(sequence, number), clock);
        }
    }

    /// The time of a packet on the primary clock, if it is told on `clock`.
    #[inline]
    pub(super) fn time(&mut self, sequence: u64, clock: Option<u64>, timestamp: u64) -> u64 {
        let Some(clock) = clock else {
            return timestamp;
        };
        let Some(clock) = self.clocks.get_mut(&key(sequence, clock)) else {
            return timestamp;
        };
        let ticks = timestamp.wrapping_mul(clock.multiplier);
        let time = match clock.is_incremental {
            true => {
                clock.last = clock.last.wrapping_add(ticks);
                clock.last
            }
            false => ticks,
        };
        time.wrapping_add(clock.offset)
    }
}

/// A clock's number, and the clock with its time as `last`.
fn read(message: &[u8]) -> (u64, Clock) {
    let (mut number, mut ticks) = (0, 0_u64);
    let mut clock = Clock {
        is_incremental: false,
        multiplier: 1,
        last: 0,
        offset: 0,
    };
    for field in Fields::of(message) {
        match field {
            (snapshot::CLOCK, Value::Int(value)) => number = value,
            (snapshot::TIMESTAMP, Value::Int(value)) => ticks = value,
            (snapshot::INCREMENTAL, Value::Int(value)) => clock.is_incremental = value != 0,
            (snapshot::MULTIPLIER, Value::Int(value)) => clock.multiplier = value.max(1),
            _ => {}
        }
    }
    clock.last = ticks.wrapping_mul(clock.multiplier);
    (number, clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clock 6 at 1000, clock 64 at 5 in steps of 100 ns, counting on, clock 3 at 400.
    const SNAPSHOT: &[u8] = b"\x0a\x05\x08\x06\x10\xe8\x07\x0a\x08\x08\x40\x10\x05\x18\x01\x20\x64\x0a\x05\x08\x03\x10\x90\x03";

    #[test]
    fn clocks_are_brought_to_the_primary_one() {
        let mut clocks = Clocks::default();
        clocks.snapshot(9, SNAPSHOT);
        assert_eq!(clocks.time(9, None, 7), 7);
        assert_eq!(clocks.time(9, Some(6), 7), 7);
        assert_eq!(clocks.time(8, Some(3), 500), 1100);
        assert_eq!(clocks.time(9, Some(64), 1), 1100);
        assert_eq!(clocks.time(9, Some(64), 3), 1400);
        // Another sequence has not told of its own clock.
        assert_eq!(clocks.time(8, Some(64), 3), 3);
        // On another primary clock.
        clocks.snapshot(9, &[SNAPSHOT, b"\x10\x03"].concat());
        assert_eq!(clocks.time(9, Some(6), 1000), 400);
    }
}
