//! Events: payloads that are checked, with their attributes worked out.

use std::borrow::Cow;
use std::sync::Arc;

use nvtxw_abi::EventKind;

use crate::data::{Data, Flex, Steps};
use crate::decode;
use crate::domain::Domain;
use crate::refusal::{Refusal, Result};
use crate::scalar::read;
use crate::schema::{AttributesAt, MessageAt, Schema, Scopes, TimeAt};
use crate::scope::ScopeRef;
use crate::stream::StreamInfo;
use crate::string::Registered;
use crate::text::{self, WideText};
use crate::value::{Value, Visitor};
use crate::walk;

/// One event: its payloads, checked, with its attributes worked out.
///
/// Where payloads or entries give an attribute more than once, the last one counts.
#[derive(Debug)]
pub struct Event<'a> {
    stream: &'a StreamInfo,
    schema: &'a Arc<Schema>,
    kind: EventKind,
    payloads: Payloads<'a>,
    time: Time,
    time_domain: u64,
    end_time_domain: u64,
    attributes: Attributes<'a>,
    scope: u64,
}

/// When an event happens, in ticks of its [time domain](Event::time_domain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// At one instant: marks, and the starts and ends of ranges that are written one by one.
    Point(i64),
    /// A whole range. If start and end are in one time domain, it does not end before it starts.
    Range {
        /// The start.
        start: i64,
        /// The end, in ticks of [its own](Event::end_time_domain) time domain.
        end: i64,
    },
}

impl Time {
    /// The instant, or the range's start.
    pub fn start(self) -> i64 {
        match self {
            Self::Point(start) | Self::Range { start, .. } => start,
        }
    }

    /// The range's end.
    pub fn end(self) -> Option<i64> {
        match self {
            Self::Point(_) => None,
            Self::Range { end, .. } => Some(end),
        }
    }
}

/// The text of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// Text in the event itself, without a null. Meant to be UTF-8; it may not be.
    Inline(&'a [u8]),
    /// Text of wider code units in the event itself, without a null.
    Wide(WideText<'a>),
    /// A registered string.
    Registered(Registered<'a>),
}

impl<'a> Text<'a> {
    /// The text, with U+FFFD for what is none. Allocates if something has to be converted.
    pub fn to_string_lossy(self) -> Cow<'a, str> {
        match self {
            Self::Inline(bytes) => String::from_utf8_lossy(bytes),
            Self::Wide(text) => text.to_string().into(),
            Self::Registered(string) => string.text().into(),
        }
    }

    /// The text that a value is.
    pub(crate) fn of(value: Value<'a>) -> Option<Self> {
        match value {
            Value::Text(bytes) => Some(Self::Inline(bytes)),
            Value::Wide(text) => Some(Self::Wide(text)),
            Value::Registered(string) => string.map(Self::Registered),
            _ => None,
        }
    }
}

/// A payload whose bytes suffice for its schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload<'a> {
    pub(crate) schema: &'a Arc<Schema>,
    pub(crate) bytes: &'a [u8],
    /// Number of elements, in a payload of a predefined type that has not exactly one.
    pub(crate) count: Option<usize>,
}

/// The payloads of an event, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payloads<'a> {
    One(Payload<'a>, Option<Flex<'a>>),
    Many(&'a [Payload<'a>]),
}

impl<'a> Payloads<'a> {
    #[inline]
    fn as_slice(&self) -> &[Payload<'a>] {
        match self {
            Self::One(payload, _) => std::slice::from_ref(payload),
            Self::Many(payloads) => payloads,
        }
    }

    /// All that they may refer to.
    #[inline]
    fn data<'e>(&'e self, domain: &'a Domain, steps: &'e Steps) -> Data<'e, 'a> {
        Data {
            steps,
            payloads: self.as_slice(),
            flex: match self {
                Self::One(_, flex) => *flex,
                Self::Many(_) => None,
            },
            domain,
        }
    }
}

/// The payload that makes an event of its kind.
struct Main<'p, 'a> {
    payload: &'p Payload<'a>,
    kind: EventKind,
    /// Where its attributes are.
    at: &'p AttributesAt,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attributes<'a> {
    message: Option<Text<'a>>,
    color: u32,
    category: u32,
    range_id: Option<u64>,
}

impl<'a> Event<'a> {
    /// An event of several payloads.
    pub(crate) fn gather(stream: &'a StreamInfo, payloads: &'a [Payload<'a>]) -> Result<Self> {
        let all = Payloads::Many(payloads);
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let reach_out = payloads
            .iter()
            .any(|payload| payload.schema.plan.reaches_out);
        let steps = Steps::for_bytes(bytes.fold(0, usize::saturating_add), reach_out);
        let data = all.data(stream.domain(), &steps);
        let (mut attributes, mut scopes) = (Attributes::default(), Scopes::default());
        let mut main: Option<(&Payload<'a>, EventKind, Option<AttributesAt>)> = None;
        for payload in payloads {
            let mut found = None;
            attributes.add(payload, &data, &mut scopes, &mut found)?;
            if let Some(kind) = payload.schema.event_kind() {
                if let Some((first, ..)) = main {
                    return Err(two_events(first.schema, payload.schema));
                }
                main = Some((payload, kind, found));
            }
        }
        let Some((payload, kind, found)) = main else {
            return Err(no_event(payloads));
        };
        let at = found.as_ref().unwrap_or(&payload.schema.plan.at);
        let main = Main { payload, kind, at };
        Self::new(stream, 0, main, all, attributes, scopes)
    }

    /// An event of one payload, of a schema of this kind. `batch_scope` and `flex` are 0 and `None` for a single event.
    #[inline]
    pub(crate) fn of_one(
        stream: &'a StreamInfo,
        batch_scope: u64,
        payload: Payload<'a>,
        kind: EventKind,
        flex: Option<Flex<'a>>,
        steps: &Steps,
    ) -> Result<Self> {
        let one = Payloads::One(payload, flex);
        let (mut attributes, mut scopes) = (Attributes::default(), Scopes::default());
        let data = one.data(stream.domain(), steps);
        let mut found = None;
        attributes.add(&payload, &data, &mut scopes, &mut found)?;
        let main = Main {
            payload: &payload,
            kind,
            at: found.as_ref().unwrap_or(&payload.schema.plan.at),
        };
        Self::new(stream, batch_scope, main, one, attributes, scopes)
    }

    #[inline]
    fn new(
        stream: &'a StreamInfo,
        batch_scope: u64,
        main: Main<'_, 'a>,
        payloads: Payloads<'a>,
        attributes: Attributes<'a>,
        scopes: Scopes,
    ) -> Result<Self> {
        let Main { payload, kind, at } = main;
        let plan = &payload.schema.plan;
        let time_domain = plan.time_domain.unwrap_or(stream.time_domain());
        let end_time_domain = match at.end {
            Some(_) => plan.end_time_domain.unwrap_or(stream.time_domain()),
            None => time_domain,
        };
        let time = match (at.time, at.end) {
            (Some(start), None) => Time::Point(start.read(payload.bytes)?),
            (Some(start), Some(end)) => {
                let (start, end) = (start.read(payload.bytes)?, end.read(payload.bytes)?);
                if end < start && time_domain == end_time_domain {
                    return Err(ends_before_start(start, end));
                }
                Time::Range { start, end }
            }
            (None, _) => return Err(no_time(payload.schema)),
        };
        let [purpose_entry, purpose_semantics, entry, semantics] = scopes;
        let named = [purpose_entry, purpose_semantics, entry]
            .into_iter()
            .find(|scope| *scope != 0);
        let scope = match named {
            Some(scope) if stream.domain().knows_scope(scope) => scope,
            Some(scope) => return Err(unknown_scope(scope)),
            // These were checked when the batch came, at registration, and at StreamOpen.
            None if batch_scope != 0 => batch_scope,
            None if semantics != 0 => semantics,
            None => stream.scope_id(),
        };
        Ok(Self {
            stream,
            schema: payload.schema,
            kind,
            payloads,
            time,
            time_domain,
            end_time_domain,
            attributes,
            scope,
        })
    }

    /// What the event says.
    #[inline]
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The schema of the payload that makes this an event of its kind.
    #[inline]
    pub fn schema(&self) -> &Arc<Schema> {
        self.schema
    }

    /// When the event happens, in ticks of its [time domain](Self::time_domain). A range for the kinds
    /// [`RangePushPop`](EventKind::RangePushPop) and [`RangeStartEnd`](EventKind::RangeStartEnd), a point for all others.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The time domain of its timestamp, or of a range's start: that of the schema, else the stream's. A
    /// [`TimestampType`](crate::TimestampType) or a registered [time domain](Domain::time_domain); 0 for a timeline of its own.
    #[inline]
    pub fn time_domain(&self) -> u64 {
        self.time_domain
    }

    /// The time domain of a range's end. Of an event with one timestamp it is that of the timestamp.
    #[inline]
    pub fn end_time_domain(&self) -> u64 {
        self.end_time_domain
    }

    /// The message. An empty one is not the same as none.
    #[inline]
    pub fn message(&self) -> Option<Text<'a>> {
        self.attributes.message
    }

    /// The colour, as `0xAARRGGBB`.
    #[inline]
    pub fn color(&self) -> Option<u32> {
        Some(self.attributes.color).filter(|color| *color != 0)
    }

    /// The category. It may have a [name](Domain::category).
    #[inline]
    pub fn category(&self) -> Option<u32> {
        Some(self.attributes.category).filter(|category| *category != 0)
    }

    /// What joins the start and the end of a range.
    #[inline]
    pub fn range_id(&self) -> Option<u64> {
        self.attributes.range_id
    }

    /// Where the event belongs: the scope that the event names, else the batch's, else the schema's, else the stream's.
    pub fn scope(&self) -> ScopeRef {
        self.stream
            .domain()
            .scope_ref(self.scope)
            .unwrap_or(ScopeRef::None)
    }

    /// The ID of [`scope`](Self::scope): a key for caches.
    #[inline]
    pub fn scope_id(&self) -> u64 {
        self.scope
    }

    /// How many payloads with fields the event has. With more than one, names of fields may repeat.
    #[inline]
    pub fn payload_count(&self) -> usize {
        let payloads = self.payloads.as_slice().iter();
        payloads
            .filter(|payload| !payload.schema.fields().is_empty())
            .count()
    }

    /// The bytes of the event, if it has just one payload, in which each field has a [fixed place](crate::Field::offset): so
    /// that a backend can work out once how it reads the events of a schema.
    #[inline]
    pub fn plain(&self) -> Option<&'a [u8]> {
        match self.payloads.as_slice() {
            [payload] if !payload.schema.plan.needs_walk && payload.count.is_none() => {
                Some(payload.bytes)
            }
            _ => None,
        }
    }

    /// Shows one field of [`schema`](Self::schema), by its index there, of a [plain](Self::plain) event; nothing if it holds an
    /// attribute of the event.
    ///
    /// # Panics
    /// If the event is not plain, or the schema has no such field.
    pub fn visit_field<V: Visitor>(&self, index: usize, visitor: &mut V) {
        let bytes = self.plain().expect("the event is plain");
        let field = &self.schema.fields()[index];
        if !field.is_attribute {
            let (bytes, domain) = (&bytes[field.offset..], self.stream.domain());
            decode::visit_field(field, field.count, bytes, domain, visitor);
        }
    }

    /// Shows the fields of all payloads in order, without those that hold the event's attributes. Hidden ones are shown too.
    #[inline]
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        let domain = self.stream.domain();
        let steps = Steps::unlimited();
        for payload in self.payloads.as_slice() {
            if payload.schema.plan.needs_walk {
                let data = self.payloads.data(domain, &steps);
                walk::show(payload.schema, payload.bytes, &data, visitor);
                continue;
            }
            for field in payload
                .schema
                .fields()
                .iter()
                .filter(|field| !field.is_attribute)
            {
                decode::visit_field(
                    field,
                    payload.count.or(field.count),
                    &payload.bytes[field.offset..],
                    domain,
                    visitor,
                );
            }
        }
    }
}

impl<'a> Attributes<'a> {
    /// Adds what `payload` says, over what earlier ones said. Where its attributes are is in `found`, if not all are where its
    /// plan says.
    #[inline]
    fn add(
        &mut self,
        payload: &Payload<'a>,
        data: &Data<'_, 'a>,
        scopes: &mut Scopes,
        found: &mut Option<AttributesAt>,
    ) -> Result<()> {
        let Payload {
            schema,
            bytes,
            count,
        } = *payload;
        let (plan, domain) = (&schema.plan, data.domain);
        if plan.needs_walk {
            let walked = walk::check(schema, bytes, data)?;
            self.message = walked.message.or(self.message);
            *found = walked.at;
        }
        let at = found.as_ref().unwrap_or(&plan.at);
        match plan.message {
            None | Some(MessageAt::Walk(_)) => {}
            Some(MessageAt::Handle(offset)) => match read(bytes, offset) {
                0 => {}
                handle => match domain.registered(handle) {
                    Some(string) => self.message = Some(Text::Registered(string)),
                    None => decode::check_handle(handle, "message", domain)?,
                },
            },
            Some(MessageAt::Fixed { ty, offset, len }) => {
                let text = text::before_null(ty, &bytes[offset..offset + len]);
                self.message = Text::of(text::value(ty, text));
            }
            Some(MessageAt::Whole(ty)) => {
                self.message = Text::of(text::value(ty, text::before_null(ty, bytes)));
            }
        }
        if let Some(color) = at
            .color
            .map(|offset| read(bytes, offset))
            .filter(|color| *color != 0)
        {
            self.color = color;
        }
        if let Some(category) = at
            .category
            .map(|offset| read(bytes, offset))
            .filter(|category| *category != 0)
        {
            self.category = category;
        }
        if let Some(offset) = at.range_id {
            self.range_id = Some(read(bytes, offset));
        }
        if plan.names_scope() {
            let named = plan.scopes(at, bytes);
            for (known, scope) in scopes
                .iter_mut()
                .zip(named)
                .filter(|(_, scope)| *scope != 0)
            {
                *known = scope;
            }
        }
        if plan.has_handles && !plan.needs_walk {
            decode::check_handles(schema, count, bytes, domain, |field| !field.is_attribute)?;
        }
        Ok(())
    }
}

impl TimeAt {
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> Result<i64> {
        let time: i64 = read(bytes, self.offset);
        if self.unsigned && time < 0 {
            Err(time_too_great(time as u64))
        } else {
            Ok(time)
        }
    }
}

#[cold]
fn time_too_great(time: u64) -> Refusal {
    Refusal::invalid(format!(
        "the unsigned timestamp {time} is greater than the greatest possible, 2^63 - 1"
    ))
}

#[cold]
fn ends_before_start(start: i64, end: i64) -> Refusal {
    Refusal::invalid(format!("ends before it starts: start {start}, end {end}"))
}

#[cold]
fn two_events(first: &Schema, second: &Schema) -> Refusal {
    Refusal::invalid(format!(
        "two payloads have an event role, of {} and {}; an event has exactly one",
        first.label(),
        second.label()
    ))
}

#[cold]
fn no_event(payloads: &[Payload<'_>]) -> Refusal {
    match payloads {
        [] => Refusal::invalid(
            "no payload has an event role: there is none; an event has exactly one",
        ),
        _ => Refusal::invalid(
            "no payload has an event role: set the kind in the flags of one schema",
        ),
    }
}

#[cold]
fn no_time(schema: &Schema) -> Refusal {
    Refusal::failed(format!(
        "{} has an event role but no timestamp",
        schema.label()
    ))
}

#[cold]
pub(crate) fn unknown_scope(scope: u64) -> Refusal {
    Refusal::invalid(format!(
        "the scope {scope} is neither predefined nor registered in the stream's domain"
    ))
}
