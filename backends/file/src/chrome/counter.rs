//! A counter's values as lines.

use super::Chrome;
use super::lines::close;
use super::threads::Spot;
use crate::format::Number;
use crate::json;
use crate::proto::Writer;
use crate::track::{Scale, TrackId, Tracks};

/// A counter of a stream.
pub(super) struct Counter {
    spot: Spot,
    /// What tells it from the counters of other streams that are shown as one with it.
    pub(super) source: u64,
    /// What its values begin with, up to the time.
    head: Vec<u8>,
    /// What is between the time and the value.
    middle: Vec<u8>,
    /// Of the values so far, if each is the difference to the one before.
    sum: Option<Number>,
    described: bool,
}

/// What the line of a counter's value begins with.
pub(super) const VALUE: &[u8] = b",\n{\"ph\":\"C\",\"source\":";
/// What stands before a difference to the value before.
pub(super) const DELTA: &[u8] = b",\"delta\":";

impl Counter {
    /// The counter that a track is, which no other stream has with this `source`.
    pub(super) fn new(track: TrackId, source: u64, session: &Chrome, tracks: &Tracks) -> Self {
        let spot = Spot::of(track, tracks);
        let mut head = Writer::default();
        head.raw(VALUE);
        json::digits(source, &mut head);
        head.raw(b",\"pid\":");
        json::digits(spot.process, &mut head);
        head.raw(b",\"ts\":");
        let mut middle = Writer::default();
        middle.raw(b",\"name\":");
        json::text(&spot.name, &mut middle);
        if session.threads.is_namesake(&spot) {
            middle.raw(b",\"id\":\"");
            json::digits(track, &mut middle);
            middle.raw(b"\"");
        }
        middle.raw(b",\"args\":{");
        json::text(&unit(spot.scale.as_deref()), &mut middle);
        middle.raw(b":");
        let is_delta = spot.scale.as_ref().is_some_and(|scale| scale.is_delta);
        Self {
            spot,
            source,
            sum: is_delta.then_some(Number::Int(0)),
            head: head.as_bytes().to_vec(),
            middle: middle.as_bytes().to_vec(),
            described: false,
        }
    }

    /// The same for a file that has the counter's description already.
    pub(super) fn again(track: TrackId, source: u64, session: &Chrome, tracks: &Tracks) -> Self {
        Self {
            described: true,
            ..Self::new(track, source, session, tracks)
        }
    }

    pub(super) fn track(&self) -> TrackId {
        self.spot.track()
    }

    /// Whether each value is the difference to the one before.
    pub(super) fn is_sum(&self) -> bool {
        self.sum.is_some()
    }

    /// Describes the counter if the file does not know it yet.
    pub(super) fn describe(&mut self, session: &Chrome, out: &mut Writer) {
        if !self.described {
            self.described = true;
            session.threads.add_counter(&self.spot, out);
        }
    }

    /// Appends the line of a value.
    pub(super) fn add(&mut self, base: i64, time: i64, value: &[u8], out: &mut Writer) {
        let Some(before) = self.sum else {
            self.write(base, time, out, |out| out.raw(value));
            return;
        };
        let sum = add(before, value);
        self.sum = Some(sum);
        out.raw(&self.head);
        json::micros(base, time, out);
        out.raw(DELTA);
        out.raw(value);
        out.raw(&self.middle);
        super::value(sum, out);
        close(out);
    }

    /// Appends the line of a value that is no difference.
    pub(super) fn write(
        &self,
        base: i64,
        time: i64,
        out: &mut Writer,
        value: impl FnOnce(&mut Writer),
    ) {
        out.raw(&self.head);
        json::micros(base, time, out);
        out.raw(&self.middle);
        value(out);
        close(out);
    }
}

/// The value at the end of a counter's line that is not closed: no number, and none of the strings that stand for one, has
/// a colon.
pub(super) fn value_of(line: &[u8]) -> &[u8] {
    let at = line.iter().rposition(|byte| *byte == b':');
    at.map_or(&[], |at| &line[at + 1..])
}

/// The sum of a number and one that is written; what is no number is left out.
fn add(sum: Number, value: &[u8]) -> Number {
    let text = str::from_utf8(value).unwrap_or_default();
    let float = |sum: f64| {
        let value = text.parse().unwrap_or(0.0);
        Number::Float(sum + value)
    };
    match (sum, text.parse::<i64>()) {
        (Number::Int(sum), Ok(value)) => match sum.checked_add(value) {
            Some(sum) => Number::Int(sum),
            None => Number::Float(sum as f64 + value as f64),
        },
        _ => float(sum.as_f64()),
    }
}

/// What the numbers of a counter are called.
fn unit(scale: Option<&Scale>) -> String {
    let (unit, multiplier) =
        scale.map_or((None, 1), |scale| (scale.unit.as_deref(), scale.multiplier));
    match (unit.unwrap_or_default(), multiplier) {
        ("", 1) => "value".to_owned(),
        (unit, 1) => unit.to_owned(),
        ("", multiplier) => format!("{multiplier}"),
        (unit, multiplier) => format!("{multiplier} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_add_up() {
        let mut sum = Number::Int(0);
        for (value, want) in [
            ("5", Number::Int(5)),
            ("-7", Number::Int(-2)),
            ("\"NaN\"", Number::Float(-2.0)),
            ("0.5", Number::Float(-1.5)),
            ("2", Number::Float(0.5)),
        ] {
            sum = add(sum, value.as_bytes());
            assert_eq!(sum, want);
        }
        let most = add(Number::Int(i64::MAX), b"1");
        assert_eq!(most, Number::Float(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn units_name_what_is_counted() {
        let scale = |unit: Option<&str>, multiplier| Scale {
            unit: unit.map(str::to_owned),
            multiplier,
            is_delta: false,
            group: None,
        };
        assert_eq!(unit(None), "value");
        assert_eq!(unit(Some(&scale(None, 1))), "value");
        assert_eq!(unit(Some(&scale(Some("W"), 1))), "W");
        assert_eq!(unit(Some(&scale(Some("B"), 1024))), "1024 B");
        assert_eq!(unit(Some(&scale(None, 1024))), "1024");
    }
}
