//! One event of the Chrome trace-event format, as its JSON text says it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The argument that relates a call to what it started.
pub const CORRELATION: &str = "correlation";

/// The members that a converter needs, still as text: times are decimal numbers that no float can hold, and a member of the
/// wrong type has to be named.
#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(borrow)]
    ph: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    cat: Option<&'a RawValue>,
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    dur: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    s: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bad {
    NotAnObject,
    /// A member stands twice.
    Malformed(String),
    Missing(&'static str),
    WrongType(&'static str, &'static str),
    NegativeDuration,
    TooLarge(&'static str),
    /// An argument that a metadata event is about is absent or of another type.
    Argument(&'static str),
    Phase(String),
    Metadata(String),
    /// The trace that is written doesn't take it.
    Refused(String),
}

impl Bad {
    pub fn refused(error: nvtxw::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("not an object"),
            Self::Malformed(reason) | Self::Refused(reason) => f.write_str(reason),
            Self::Missing(member) => write!(f, "`{member}` is missing"),
            Self::WrongType(member, wanted) => write!(f, "`{member}` is not {wanted}"),
            Self::NegativeDuration => f.write_str("`dur` is negative"),
            Self::TooLarge(member) => write!(f, "`{member}` does not fit 64-bit nanoseconds"),
            Self::Argument(name) => write!(f, "metadata without a usable `args.{name}`"),
            Self::Phase(phase) => write!(f, "phase `{phase}` is not converted"),
            Self::Metadata(name) => write!(f, "metadata `{name}` is not converted"),
        }
    }
}

impl<'a> Event<'a> {
    pub fn parse(json: &'a str) -> Result<Self, Bad> {
        if !json.starts_with('{') {
            return Err(Bad::NotAnObject);
        }
        serde_json::from_str(json).map_err(|error| {
            // The position in the message would be the one inside this event.
            let reason = error.to_string();
            Bad::Malformed(
                reason
                    .split_once(" at line ")
                    .map_or(reason.clone(), |(reason, _)| reason.to_owned()),
            )
        })
    }

    pub fn phase(&self) -> Result<Cow<'a, str>, Bad> {
        text("ph", self.ph)?.ok_or(Bad::Missing("ph"))
    }

    pub fn name(&self) -> Result<Option<Cow<'a, str>>, Bad> {
        text("name", self.name)
    }

    pub fn category(&self) -> Result<Option<Cow<'a, str>>, Bad> {
        text("cat", self.cat)
    }

    /// How far an instant reaches: `g`lobal, `p`rocess or `t`hread.
    pub fn reach(&self) -> Result<Option<Cow<'a, str>>, Bad> {
        text("s", self.s)
    }

    pub fn process(&self) -> Result<Cow<'a, str>, Bad> {
        id("pid", self.pid)
    }

    pub fn thread(&self) -> Result<Cow<'a, str>, Bad> {
        id("tid", self.tid)
    }

    pub fn id(&self) -> Result<Cow<'a, str>, Bad> {
        id("id", self.id)
    }

    /// Nanoseconds.
    pub fn time(&self) -> Result<i64, Bad> {
        nanoseconds("ts", self.ts.ok_or(Bad::Missing("ts"))?.get())
    }

    /// First and last nanosecond; a complete event without `dur` has no length.
    pub fn span(&self) -> Result<(i64, i64), Bad> {
        let start = self.time()?;
        let length = self
            .dur
            .map_or(Ok(0), |dur| nanoseconds("dur", dur.get()))?;
        if length < 0 {
            return Err(Bad::NegativeDuration);
        }
        Ok((
            start,
            start.checked_add(length).ok_or(Bad::TooLarge("dur"))?,
        ))
    }

    pub fn args(&self) -> Result<Args<'a>, Bad> {
        let all = match self.args {
            None => BTreeMap::new(),
            Some(raw) => {
                serde_json::from_str(raw.get()).map_err(|_| Bad::WrongType("args", "an object"))?
            }
        };
        Ok(Args {
            all,
            taken: Vec::new(),
        })
    }
}

fn text<'a>(member: &'static str, raw: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, Bad> {
    raw.map(|raw| string(raw).ok_or(Bad::WrongType(member, "a string")))
        .transpose()
}

/// Process, thread and flow ids are numbers in one writer's files and strings in another's: `7` and `"7"` are the same.
fn id<'a>(member: &'static str, raw: Option<&'a RawValue>) -> Result<Cow<'a, str>, Bad> {
    let raw = raw.ok_or(Bad::Missing(member))?;
    match raw.get().as_bytes()[0] {
        b'-' | b'0'..=b'9' => Ok(Cow::Borrowed(raw.get())),
        _ => string(raw).ok_or(Bad::WrongType(member, "a number or a string")),
    }
}

/// The string that `raw` spells, without its escapes.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// The arguments of an event by name; what a typed struct takes is not in the rest.
pub struct Args<'a> {
    all: BTreeMap<Cow<'a, str>, &'a RawValue>,
    taken: Vec<&'static str>,
}

/// What events have in common that belong together.
#[derive(Clone, Copy)]
pub enum Correlation<'a> {
    Number(u64),
    /// Anything else, as JSON.
    Other(&'a str),
}

/// An argument that no typed struct took.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg<'a> {
    I64(i64),
    U64(u64),
    F64(f64),
    Bool(bool),
    /// A string; and what has no other form: null, a list or an object as JSON, a number that no 64 bits hold.
    Text(Cow<'a, str>),
}

impl<'a> Args<'a> {
    /// The value of `name` if it is there and a `T`.
    pub fn take<T: Deserialize<'a>>(&mut self, name: &'static str) -> Option<T> {
        let value = serde_json::from_str(self.all.get(name)?.get()).ok()?;
        self.taken.push(name);
        Some(value)
    }

    /// The same, where the event makes no sense without it.
    pub fn need<T: Deserialize<'a>>(&mut self, name: &'static str) -> Result<T, Bad> {
        self.take(name).ok_or(Bad::Argument(name))
    }

    /// Takes the number that relates a call to what it started; 0 relates nothing.
    pub fn take_correlation(&mut self) -> Option<u64> {
        match self.correlation() {
            Some(Correlation::Other(_)) => None,
            Some(Correlation::Number(_)) => self.take(CORRELATION),
            None => self.take(CORRELATION).filter(|&number| number == 0),
        }
    }

    /// What relates the event to others, taken or not. The profilers write 0, -1 and 2^32-1 for "nothing".
    pub fn correlation(&self) -> Option<Correlation<'a>> {
        let json = self.all.get(CORRELATION)?.get();
        match json {
            "0" | "-1" | "4294967295" | "null" => None,
            _ => Some(
                json.parse()
                    .map_or(Correlation::Other(json), Correlation::Number),
            ),
        }
    }

    /// Gives back what was taken.
    pub fn put_back(&mut self) {
        self.taken.clear();
    }

    /// What was not taken, in the order of the names.
    pub fn rest(&self) -> impl Iterator<Item = (&str, Arg<'a>)> {
        self.all
            .iter()
            .filter(|(name, _)| !self.taken.contains(&name.as_ref()))
            .map(|(name, raw)| (name.as_ref(), Arg::from(*raw)))
    }
}

impl<'a> From<&'a RawValue> for Arg<'a> {
    fn from(raw: &'a RawValue) -> Self {
        let json = raw.get();
        match json {
            "true" => return Self::Bool(true),
            "false" => return Self::Bool(false),
            _ => {}
        }
        if let Some(text) = string(raw) {
            return Self::Text(text);
        }
        if let Ok(value) = json.parse() {
            return Self::I64(value);
        }
        if let Ok(value) = json.parse() {
            return Self::U64(value);
        }
        // `null`, `[…]` and `{…}` parse as no number; an integer beyond 64 bits must not lose its digits.
        match json.parse::<f64>() {
            Ok(value) if value.is_finite() && json.contains(['.', 'e', 'E']) => Self::F64(value),
            _ => Self::Text(Cow::Borrowed(json)),
        }
    }
}

fn nanoseconds(member: &'static str, json: &str) -> Result<i64, Bad> {
    if json.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        thousandfold(json).ok_or(Bad::TooLarge(member))
    } else {
        Err(Bad::WrongType(member, "a number"))
    }
}

/// Whole nanoseconds from decimal microseconds, exactly: `1712195495519689.047` has more digits than a float. What is
/// finer than a nanosecond is rounded to the nearest, halves to the even one.
fn thousandfold(json: &str) -> Option<i64> {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent
        .checked_add(3)?
        .checked_sub(fraction.len().try_into().ok()?)?;
    if digits == 0 {
        return Some(0);
    }
    let Some(scale) = 10_i128.checked_pow(exponent.unsigned_abs()) else {
        return (exponent < 0).then_some(0);
    };
    if exponent >= 0 {
        return digits.checked_mul(scale)?.try_into().ok();
    }
    let (quotient, rest) = (digits.div_euclid(scale), digits.rem_euclid(scale));
    let up = rest > scale - rest || (rest == scale - rest && quotient % 2 != 0);
    (quotient + i128::from(up)).try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_exact() {
        for (json, want) in [
            ("1712195495519689.047", 1_712_195_495_519_689_047),
            ("1695835542514261", 1_695_835_542_514_261_000),
            ("2.503", 2_503),
            ("-1.5", -1_500),
            ("1e3", 1_000_000),
            ("1.25E-2", 12),
            ("0.0005", 0),
            ("0.0015", 2),
            ("0.00251", 3),
            ("-0.0015", -2),
            ("-0.0005", 0),
            ("0.000", 0),
            ("0e99", 0),
            ("1e-99", 0),
            ("9223372036854775.807", i64::MAX),
            ("-9223372036854775.808", i64::MIN),
        ] {
            assert_eq!(nanoseconds("ts", json), Ok(want), "{json}");
        }
        assert_eq!(
            nanoseconds("ts", "9223372036854775.808"),
            Err(Bad::TooLarge("ts"))
        );
        assert_eq!(nanoseconds("ts", "1e99"), Err(Bad::TooLarge("ts")));
        assert_eq!(
            nanoseconds("dur", "\"5\""),
            Err(Bad::WrongType("dur", "a number"))
        );
    }

    #[test]
    fn a_bad_member_is_named() {
        let span = |json: &'static str| {
            Event::parse(json)
                .and_then(|e| e.span())
                .map_err(|bad| bad.to_string())
        };
        assert_eq!(span(r#"{"ts": 1, "dur": 2.5}"#), Ok((1_000, 3_500)));
        assert_eq!(span(r#"{"ts": 1}"#), Ok((1_000, 1_000)));
        assert_eq!(span(r#"{"dur": 1}"#).unwrap_err(), "`ts` is missing");
        assert_eq!(
            span(r#"{"ts": 1, "dur": -0.001}"#).unwrap_err(),
            "`dur` is negative"
        );
        assert_eq!(
            span(r#"{"ts": 9e15, "dur": 9e15}"#).unwrap_err(),
            "`dur` does not fit 64-bit nanoseconds"
        );
        assert_eq!(span(r#"{"ts": [1]}"#).unwrap_err(), "`ts` is not a number");
        assert_eq!(span("7").unwrap_err(), "not an object");
        assert_eq!(
            span(r#"{"ts": 1, "ts": 2}"#).unwrap_err(),
            "duplicate field `ts`"
        );

        let event =
            Event::parse(r#"{"name": 5, "pid": true, "tid": "a\"b", "id": -1, "args": [1]}"#)
                .unwrap();
        assert_eq!(event.name(), Err(Bad::WrongType("name", "a string")));
        assert_eq!(
            event.process(),
            Err(Bad::WrongType("pid", "a number or a string"))
        );
        assert_eq!(event.thread().unwrap(), "a\"b");
        assert_eq!(event.id().unwrap(), "-1");
        assert_eq!(
            event.args().err(),
            Some(Bad::WrongType("args", "an object"))
        );
        assert_eq!(event.phase(), Err(Bad::Missing("ph")));
    }

    #[test]
    fn args_keep_their_types() {
        let json = r#"{"args": {"i": -5, "u": 18446744073709551615, "big": 18446744073709551616, "f": 0.5, "g": 2e1, "inf": 1e999,
            "s": "a\tb", "n": null, "b": true, "l": [1, "x"], "o": {"k": 1}, "grid": [1, 2, 3], "i": 6}}"#;
        let event = Event::parse(json).unwrap();
        let mut args = event.args().unwrap();
        assert_eq!(args.take::<[u32; 3]>("grid"), Some([1, 2, 3]));
        assert_eq!(args.take::<[u32; 3]>("l"), None);
        assert_eq!(args.take::<i64>("f"), None);
        assert_eq!(args.take::<i64>("absent"), None);
        let text = |s| Arg::Text(Cow::Borrowed(s));
        let want = [
            ("b", Arg::Bool(true)),
            ("big", text("18446744073709551616")),
            ("f", Arg::F64(0.5)),
            ("g", Arg::F64(20.0)),
            ("i", Arg::I64(6)),
            ("inf", text("1e999")),
            ("l", text("[1, \"x\"]")),
            ("n", text("null")),
            ("o", text("{\"k\": 1}")),
            ("s", text("a\tb")),
            ("u", Arg::U64(u64::MAX)),
        ];
        assert!(args.rest().eq(want));
        args.put_back();
        assert_eq!(args.rest().count(), 12);
    }
}
