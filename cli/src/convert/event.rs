//! One event of the Chrome trace-event format, as its JSON text says it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use super::arrows::Order;
use super::columns::string;
use super::decimal::{scaled, sum};
use super::json::{self, KnownNames, Level, Member, Span};

/// The members that a converter needs, still as text: times are decimal numbers that no float can hold, and a member of the
/// wrong type has to be named.
pub struct Event<'a> {
    text: &'a str,
    spans: &'a Spans,
    args: &'a [Member],
    /// Members that it does without, because they are wrong.
    dropped: RefCell<Vec<Bad>>,
}

/// The arguments of an event.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// As they stand in the file.
    pub json: &'a str,
    text: &'a str,
    members: &'a [Member],
}

/// A member that is known.
#[derive(Clone, Copy)]
enum Part {
    Ph,
    Name,
    Cat,
    Pid,
    Tid,
    Ts,
    Dur,
    Id,
    Id2,
    Scope,
    S,
    Bp,
    BindId,
    FlowIn,
    FlowOut,
    Args,
    Unused,
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bad {
    Missing(&'static str),
    WrongType(&'static str, &'static str),
    TooLarge(&'static str),
    /// A member that an event can do without, and what it is not.
    Member(&'static str, &'static str),
    /// An argument that a metadata event is about is absent or of another type.
    Argument(String, &'static str),
    Phase(String),
    Metadata(String),
    /// So many values of a counter are no numbers.
    NoNumber(u64),
}

impl Bad {
    /// How many things are wrong.
    pub fn count(&self) -> u64 {
        match self {
            Self::NoNumber(count) => *count,
            _ => 1,
        }
    }
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
            Self::Member(member, wanted) => write!(
                f,
                "the member `{member}` of an event is left out, as it is not {wanted}"
            ),
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
            Self::NoNumber(_) => f.write_str("a counter value that is no number is left out"),
        }
    }
}

/// Where the members of an event are in a text.
#[derive(Default)]
pub struct Spans {
    /// Where the event begins.
    pub start: usize,
    /// A member that is absent has no length.
    parts: [Span; Part::Args as usize + 1],
    /// Members that aren't converted.
    others: Vec<Box<str>>,
    /// Its arguments, among those of others.
    args: Range<u32>,
}

/// The events of a text, and all their arguments.
#[derive(Default)]
pub struct Events {
    pub all: Vec<Spans>,
    args: Vec<Member>,
}

impl Events {
    pub fn clear(&mut self) {
        self.all.clear();
        self.args.clear();
    }

    /// Adds the event that begins at `start` in `text`, and gives its end, or where in `text` it is no JSON; at the end, more text
    /// may help. Of a member that stands twice, the last counts.
    pub fn add(
        &mut self,
        text: &str,
        start: usize,
        known: &mut KnownNames,
    ) -> Result<usize, usize> {
        self.all.push(Spans {
            start,
            ..Spans::default()
        });
        let spans = self.all.last_mut().expect("it was added");
        let args = &mut self.args;
        let before = args.len();
        let mut first = before;
        let end = json::members_and_inner(text, start, known, b"args", |level, member| {
            if level == Level::Inner {
                args.push(member);
                return;
            }
            let part = match member.plain_name(text) {
                Some(name) => part(name),
                None => part(member.name(text).as_bytes()),
            };
            match part {
                Some(Part::Unused) => {}
                Some(part) => spans.parts[part as usize] = member.value,
                None => spans.others.push(member.name(text).into()),
            }
            if matches!(part, Some(Part::Args)) {
                spans.args = first as u32..args.len() as u32;
                first = args.len();
            }
        });
        if end.is_err() {
            self.all.pop();
            self.args.truncate(before);
        }
        end
    }

    /// One of them, in that text.
    pub fn event<'a>(&'a self, spans: &'a Spans, text: &'a str) -> Event<'a> {
        let Range { start, end } = spans.args;
        Event {
            text,
            spans,
            args: &self.args[start as usize..end as usize],
            dropped: RefCell::default(),
        }
    }
}

/// `None`: it isn't converted.
fn part(name: &[u8]) -> Option<Part> {
    Some(match name {
        b"ph" => Part::Ph,
        b"name" => Part::Name,
        b"cat" => Part::Cat,
        b"pid" => Part::Pid,
        b"tid" => Part::Tid,
        b"ts" => Part::Ts,
        b"dur" => Part::Dur,
        b"id" => Part::Id,
        b"id2" => Part::Id2,
        b"scope" => Part::Scope,
        b"s" => Part::S,
        b"bp" => Part::Bp,
        b"bind_id" => Part::BindId,
        b"flow_in" => Part::FlowIn,
        b"flow_out" => Part::FlowOut,
        b"args" => Part::Args,
        // What the built-in backend adds for itself.
        b"flow" | b"source" | b"delta" => Part::Unused,
        _ => return None,
    })
}

/// What joins the points of a flow, or the halves of a range.
pub struct Id<'a> {
    pub text: Cow<'a, str>,
    /// It means something in its process only.
    pub is_local: bool,
}

impl<'a> Event<'a> {
    /// The JSON of a member; `null` is none.
    fn get(&self, part: Part) -> Option<&'a str> {
        let span = self.spans.parts[part as usize];
        let json = span.of(self.text);
        (!matches!(json, "" | "null")).then_some(json)
    }

    /// Notes a member that the event does without, and what it is not.
    fn drop_member(&self, name: &'static str, wanted: &'static str) {
        let (bad, mut dropped) = (Bad::Member(name, wanted), self.dropped.borrow_mut());
        if !dropped.contains(&bad) {
            dropped.push(bad);
        }
    }

    pub fn has_dropped(&self) -> bool {
        !self.dropped.borrow().is_empty()
    }

    /// Problems of optional members that were read.
    pub fn dropped(&self) -> Vec<Bad> {
        self.dropped.take()
    }

    /// The same, if it is an id.
    fn optional_id(&self, part: Part, name: &'static str) -> Option<Cow<'a, str>> {
        let json = self.get(part)?;
        let id = id(json);
        if id.is_none() {
            self.drop_member(name, "a number or a string");
        }
        id
    }

    pub fn phase(&self) -> Result<Cow<'a, str>, Bad> {
        let raw = self.get(Part::Ph).ok_or(Bad::Missing("ph"))?;
        string(raw).ok_or(Bad::WrongType("ph", "a string"))
    }

    /// The name; a number or the like is its own text.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.get(Part::Name))
    }

    pub fn category(&self) -> Option<Cow<'a, str>> {
        text(self.get(Part::Cat))
    }

    /// How far an instant reaches: `g`lobal, `p`rocess or `t`hread.
    pub fn reach(&self) -> Option<Cow<'a, str>> {
        text(self.get(Part::S))
    }

    /// Whether the end of a flow is in the range around it, and not in the next one.
    pub fn is_enclosed(&self) -> bool {
        text(self.get(Part::Bp)).is_some_and(|bp| bp == "e")
    }

    /// The members that tell process and thread, as they stand in the file.
    pub fn place(&self) -> (Option<&'a str>, Option<&'a str>) {
        (self.get(Part::Pid), self.get(Part::Tid))
    }

    /// The id in `bind_id`, and what the event does in that flow.
    pub fn bound(&self) -> Option<(Cow<'a, str>, Order)> {
        let is = |part| self.get(part) == Some("true");
        let order = match (is(Part::FlowIn), is(Part::FlowOut)) {
            (false, true) => Order::Start,
            (true, true) => Order::Step,
            (true, false) => Order::End,
            (false, false) => return None,
        };
        Some((self.optional_id(Part::BindId, "bind_id")?, order))
    }

    pub fn process(&self) -> Option<Cow<'a, str>> {
        self.optional_id(Part::Pid, "pid")
    }

    pub fn thread(&self) -> Option<Cow<'a, str>> {
        self.optional_id(Part::Tid, "tid")
    }

    pub fn id(&self) -> Result<Id<'a>, Bad> {
        if let Some(json) = self.get(Part::Id) {
            let text = id(json).ok_or(Bad::WrongType("id", "a number or a string"))?;
            return Ok(Id {
                text,
                is_local: false,
            });
        }
        let id2 = self.get(Part::Id2).ok_or(Bad::Missing("id"))?;
        let (mut local, mut global) = (None, None);
        let found = json::members(id2, |member| match &*member.name(id2) {
            "local" => local = id(member.value.of(id2)),
            "global" => global = id(member.value.of(id2)),
            _ => {}
        });
        let is_local = local.is_some();
        match local.or(global) {
            Some(text) if found.is_ok() => Ok(Id { text, is_local }),
            _ => Err(Bad::WrongType("id2", "an object with `local` or `global`")),
        }
    }

    /// What keeps ids of one category apart.
    pub fn id_scope(&self) -> Option<Cow<'a, str>> {
        text(self.get(Part::Scope))
    }

    /// Nanoseconds.
    pub fn time(&self) -> Result<i64, Bad> {
        let time = unquoted(self.get(Part::Ts).ok_or(Bad::Missing("ts"))?);
        match scaled(time, MICROSECOND) {
            Some(time) => Ok(time),
            None if time.parse::<f64>().is_ok_and(f64::is_finite) => Err(Bad::TooLarge("ts")),
            None => Err(Bad::WrongType("ts", "a number")),
        }
    }

    /// First and last nanosecond; a complete event without `dur` has no length.
    pub fn span(&self) -> Result<(i64, i64), Bad> {
        let start = self.time()?;
        let (Some(time), Some(length)) = (self.get(Part::Ts), self.get(Part::Dur)) else {
            return Ok((start, start));
        };
        let length = unquoted(length);
        let end = sum((unquoted(time), MICROSECOND), (length, MICROSECOND));
        let problem = match end {
            Some(end) if end >= start => return Ok((start, end)),
            None if length
                .parse::<f64>()
                .is_ok_and(|length| length.is_finite() && length > 0.0) =>
            {
                "a length that fits 64-bit nanoseconds"
            }
            _ => "a number from 0 on",
        };
        self.drop_member("dur", problem);
        Ok((start, start))
    }

    /// The arguments, if there are any.
    pub fn args(&self) -> Option<Args<'a>> {
        let json = self.get(Part::Args)?;
        if !json.starts_with('{') {
            self.drop_member("args", "an object");
            return None;
        }
        Some(Args {
            json,
            text: self.text,
            members: self.args,
        })
    }

    /// The names of members that aren't converted.
    pub fn others(&self) -> &'a [Box<str>] {
        &self.spans.others
    }
}

impl<'a> Args<'a> {
    /// Hands each argument to `each`, in the order of the file.
    pub fn each(self, mut each: impl FnMut(&str, &'a str)) {
        // None is known of members whose name has escapes.
        if self.members.is_empty() {
            json::members(self.json, |member| {
                each(&member.name(self.json), member.value.of(self.json));
            })
            .expect("it was read as JSON before");
        }
        for member in self.members {
            each(&member.name(self.text), member.value.of(self.text));
        }
    }
}

/// A string's text; that of other values is their JSON.
pub fn text(json: Option<&str>) -> Option<Cow<'_, str>> {
    let json = json.filter(|&json| json != "null")?;
    Some(string(json).unwrap_or(Cow::Borrowed(json)))
}

/// Process, thread and flow ids are numbers in one writer's files and strings or floats in another's: `7`, `"7"` and `7.0` are
/// the same.
fn id(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes()[0] {
        b'-' | b'0'..=b'9' => Some(whole(json).map_or(Cow::Borrowed(json), Cow::Owned)),
        _ => string(json),
    }
}

/// A whole number that is written as a float, without what makes it one.
fn whole(raw: &str) -> Option<String> {
    if !raw.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return None;
    }
    let number: f64 = raw.parse().ok()?;
    // Larger floats stand for several numbers.
    let is_whole = number.trunc() == number && number.abs() < (1_u64 << 53) as f64;
    is_whole.then(|| (number as i64).to_string())
}

/// A microsecond is 10^this nanoseconds.
const MICROSECOND: u8 = 3;

/// Some writers put numbers into quotes.
fn unquoted(json: &str) -> &str {
    json.strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'))
        .map_or(json, str::trim)
}

#[cfg(test)]
mod tests;
