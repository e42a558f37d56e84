//! One event of the Chrome trace-event format, as its JSON text says it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::string;
use super::decimal::scaled;

/// The members that a converter needs, still as text: times are decimal numbers that no float can hold, and a member of the
/// wrong type has to be named.
#[derive(Default)]
pub struct Event<'a> {
    ph: Option<&'a str>,
    name: Option<&'a str>,
    cat: Option<&'a str>,
    pid: Option<&'a str>,
    tid: Option<&'a str>,
    ts: Option<&'a str>,
    dur: Option<&'a str>,
    id: Option<&'a str>,
    id2: Option<&'a str>,
    scope: Option<&'a str>,
    s: Option<&'a str>,
    bp: Option<&'a str>,
    args: Option<&'a str>,
    /// The first member that isn't converted.
    other: Option<Cow<'a, str>>,
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bad {
    Missing(&'static str),
    WrongType(&'static str, &'static str),
    NegativeDuration,
    TooLarge(&'static str),
    /// An argument that a metadata event is about is absent or of another type.
    Argument(String, &'static str),
    Phase(String),
    Metadata(String),
    /// A counter without a number.
    NoNumber,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(member) => {
                write!(f, "an event without `{member}` is left out")
            }
            Self::WrongType(member, wanted) => {
                write!(f, "an event whose `{member}` is not {wanted} is left out")
            }
            Self::NegativeDuration => f.write_str("an event whose `dur` is negative is left out"),
            Self::TooLarge(member) => write!(
                f,
                "an event whose `{member}` does not fit 64-bit nanoseconds is left out"
            ),
            Self::Argument(metadata, name) => {
                write!(
                    f,
                    "metadata `{metadata}` without a usable `args.{name}` is left out"
                )
            }
            Self::Phase(phase) => write!(f, "an event of phase `{phase}` is not converted"),
            Self::Metadata(name) => write!(f, "metadata `{name}` is not converted"),
            Self::NoNumber => f.write_str("a counter value that is no number is left out"),
        }
    }
}

/// Where the members of an event are in a text, so that they go to another thread with it.
pub struct Spans {
    /// Where the event begins.
    pub start: usize,
    /// Beginnings and lengths; a member that is absent has no length.
    members: [(u32, u32); MEMBERS],
    other: Option<Box<str>>,
}

const MEMBERS: usize = 13;

impl Spans {
    /// Of an event that begins at `start` in `text`.
    pub fn of(event: &Event<'_>, text: &str, start: usize) -> Self {
        let span = |member: Option<&str>| {
            member.map_or((0, 0), |member| {
                let start = member.as_ptr().addr() - text.as_ptr().addr();
                (start as u32, member.len() as u32)
            })
        };
        Self {
            start,
            members: event.members().map(span),
            other: event.other.as_deref().map(Into::into),
        }
    }

    /// The event in that text.
    pub fn event<'a>(&'a self, text: &'a str) -> Event<'a> {
        let [
            ph,
            name,
            cat,
            pid,
            tid,
            ts,
            dur,
            id,
            id2,
            scope,
            s,
            bp,
            args,
        ] = self
            .members
            .map(|(start, len)| (len > 0).then(|| &text[start as usize..][..len as usize]));
        Event {
            ph,
            name,
            cat,
            pid,
            tid,
            ts,
            dur,
            id,
            id2,
            scope,
            s,
            bp,
            args,
            other: self.other.as_deref().map(Cow::Borrowed),
        }
    }
}

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, which is an object")
    }

    /// Of a member that stands twice, the last counts.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
        let mut event = Event::default();
        while let Some(Name(name)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let member = match &*name {
                "ph" => &mut event.ph,
                "name" => &mut event.name,
                "cat" => &mut event.cat,
                "pid" => &mut event.pid,
                "tid" => &mut event.tid,
                "ts" => &mut event.ts,
                "dur" => &mut event.dur,
                "id" => &mut event.id,
                "id2" => &mut event.id2,
                "scope" => &mut event.scope,
                "s" => &mut event.s,
                "bp" => &mut event.bp,
                "args" => &mut event.args,
                // What the built-in backend adds for itself.
                "flow" | "end_flow" | "source" | "delta" => continue,
                _ => {
                    event.other.get_or_insert(name);
                    continue;
                }
            };
            *member = Some(value.get());
        }
        Ok(event)
    }
}

/// A name of a member, borrowed where it has no escapes.
pub struct Name<'a>(pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// What joins the points of a flow, or the halves of a range.
pub struct Id<'a> {
    pub text: Cow<'a, str>,
    /// It means something in its process only.
    pub is_local: bool,
}

impl<'a> Event<'a> {
    fn members(&self) -> [Option<&'a str>; MEMBERS] {
        [
            self.ph, self.name, self.cat, self.pid, self.tid, self.ts, self.dur, self.id, self.id2,
            self.scope, self.s, self.bp, self.args,
        ]
    }

    pub fn phase(&self) -> Result<Cow<'a, str>, Bad> {
        let raw = self.ph.ok_or(Bad::Missing("ph"))?;
        string(raw).ok_or(Bad::WrongType("ph", "a string"))
    }

    /// The name; a number or the like is its own text.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name)
    }

    pub fn category(&self) -> Option<Cow<'a, str>> {
        text(self.cat)
    }

    /// How far an instant reaches: `g`lobal, `p`rocess or `t`hread.
    pub fn reach(&self) -> Option<Cow<'a, str>> {
        text(self.s)
    }

    /// Whether the end of a flow is in the range around it, and not in the next one.
    pub fn is_enclosed(&self) -> bool {
        text(self.bp).is_some_and(|bp| bp == "e")
    }

    pub fn process(&self) -> Result<Option<Cow<'a, str>>, Bad> {
        id("pid", self.pid)
    }

    pub fn thread(&self) -> Result<Option<Cow<'a, str>>, Bad> {
        id("tid", self.tid)
    }

    pub fn id(&self) -> Result<Id<'a>, Bad> {
        if let Some(text) = id("id", self.id)? {
            return Ok(Id {
                text,
                is_local: false,
            });
        }
        #[derive(serde::Deserialize)]
        struct Id2<'a> {
            #[serde(borrow)]
            local: Option<&'a RawValue>,
            #[serde(borrow)]
            global: Option<&'a RawValue>,
        }
        let id2 = self.id2.ok_or(Bad::Missing("id"))?;
        let wrong = Bad::WrongType("id2", "an object with `local` or `global`");
        let id2: Id2<'a> = serde_json::from_str(id2).map_err(|_| wrong.clone())?;
        let is_local = id2.local.is_some();
        let text = id("id2", id2.local.or(id2.global).map(RawValue::get))?.ok_or(wrong)?;
        Ok(Id { text, is_local })
    }

    /// What keeps ids of one category apart.
    pub fn id_scope(&self) -> Option<Cow<'a, str>> {
        text(self.scope)
    }

    /// Nanoseconds.
    pub fn time(&self) -> Result<i64, Bad> {
        nanoseconds("ts", self.ts.ok_or(Bad::Missing("ts"))?)
    }

    /// First and last nanosecond; a complete event without `dur` has no length.
    pub fn span(&self) -> Result<(i64, i64), Bad> {
        let start = self.time()?;
        let length = self.dur.map_or(Ok(0), |dur| nanoseconds("dur", dur))?;
        if length < 0 {
            return Err(Bad::NegativeDuration);
        }
        let end = start.checked_add(length).ok_or(Bad::TooLarge("dur"))?;
        Ok((start, end))
    }

    /// The arguments as they stand in the file.
    pub fn args(&self) -> Result<Option<&'a str>, Bad> {
        match self.args {
            Some(args) if args.starts_with('{') => Ok(Some(args)),
            Some(args) if args != "null" => Err(Bad::WrongType("args", "an object")),
            _ => Ok(None),
        }
    }

    pub fn other(&self) -> Option<&str> {
        self.other.as_deref()
    }
}

/// Hands each argument to `each`, in the order of the file.
pub fn each_arg<'a>(args: &'a str, mut each: impl FnMut(&str, &'a str)) {
    struct Args<F>(F);
    impl<'de, F: FnMut(&str, &'de str)> Visitor<'de> for Args<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("arguments")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some(Name(name)) = map.next_key()? {
                let value: &RawValue = map.next_value()?;
                (self.0)(&name, value.get());
            }
            Ok(())
        }
    }
    let mut json = serde_json::Deserializer::from_str(args);
    json.deserialize_map(Args(&mut each))
        .expect("it was read as JSON before");
}

fn text<'a>(raw: Option<&'a str>) -> Option<Cow<'a, str>> {
    let raw = raw.filter(|&raw| raw != "null")?;
    Some(string(raw).unwrap_or(Cow::Borrowed(raw)))
}

/// Process, thread and flow ids are numbers in one writer's files and strings in another's: `7` and `"7"` are the same.
fn id<'a>(member: &'static str, raw: Option<&'a str>) -> Result<Option<Cow<'a, str>>, Bad> {
    let Some(raw) = raw.filter(|&raw| raw != "null") else {
        return Ok(None);
    };
    match raw.as_bytes()[0] {
        b'-' | b'0'..=b'9' => Ok(Some(Cow::Borrowed(raw))),
        _ => string(raw)
            .map(Some)
            .ok_or(Bad::WrongType(member, "a number or a string")),
    }
}

/// Some writers put numbers into quotes.
fn nanoseconds(member: &'static str, json: &str) -> Result<i64, Bad> {
    let json = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'))
        .map_or(json, str::trim);
    match scaled(json, 3) {
        Some(time) => Ok(time),
        None if json.parse::<f64>().is_ok_and(f64::is_finite) => Err(Bad::TooLarge(member)),
        None => Err(Bad::WrongType(member, "a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Event<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_bad_member_is_named() {
        let span = |json| parse(json).span().map_err(|bad| bad.to_string());
        assert_eq!(span(r#"{"ts": 1, "dur": 2.5}"#), Ok((1_000, 3_500)));
        assert_eq!(span(r#"{"ts": "1", "dur": "2.5"}"#), Ok((1_000, 3_500)));
        assert_eq!(span(r#"{"ts": 1}"#), Ok((1_000, 1_000)));
        for (json, problem) in [
            (r#"{"dur": 1}"#, "an event without `ts` is left out"),
            (
                r#"{"ts": 1, "dur": -0.001}"#,
                "an event whose `dur` is negative is left out",
            ),
            (
                r#"{"ts": 9e15, "dur": 9e15}"#,
                "an event whose `dur` does not fit 64-bit nanoseconds is left out",
            ),
            (
                r#"{"ts": 9e99}"#,
                "an event whose `ts` does not fit 64-bit nanoseconds is left out",
            ),
            (
                r#"{"ts": [1]}"#,
                "an event whose `ts` is not a number is left out",
            ),
            (
                r#"{"ts": "soon"}"#,
                "an event whose `ts` is not a number is left out",
            ),
        ] {
            assert_eq!(span(json).unwrap_err(), problem);
        }
        let event = parse(
            r#"{"name": 5, "pid": true, "tid": "a\"b", "id": -1, "args": [1], "x": 1, "y": 2}"#,
        );
        assert_eq!(event.name().unwrap(), "5");
        assert_eq!(
            event.process(),
            Err(Bad::WrongType("pid", "a number or a string"))
        );
        assert_eq!(event.thread().unwrap().unwrap(), "a\"b");
        assert_eq!(event.id().unwrap().text, "-1");
        assert_eq!(
            event.args().err(),
            Some(Bad::WrongType("args", "an object"))
        );
        assert_eq!(event.phase(), Err(Bad::Missing("ph")));
        assert_eq!(event.other(), Some("x"));
    }

    #[test]
    fn ids_have_a_second_form() {
        let id = |json| {
            parse(json)
                .id()
                .map(|id| (id.text.into_owned(), id.is_local))
                .map_err(|bad| bad.to_string())
        };
        assert_eq!(id(r#"{"id": "0x1"}"#), Ok(("0x1".to_owned(), false)));
        assert_eq!(id(r#"{"id2": {"local": 7}}"#), Ok(("7".to_owned(), true)));
        assert_eq!(
            id(r#"{"id2": {"global": "7"}}"#),
            Ok(("7".to_owned(), false))
        );
        assert_eq!(id("{}").unwrap_err(), "an event without `id` is left out");
        assert_eq!(
            id(r#"{"id2": {}}"#).unwrap_err(),
            "an event whose `id2` is not an object with `local` or `global` is left out"
        );
    }
}
