//! Events: payloads that are checked, with their attributes worked out.

use std::sync::Arc;

use nvtxw_abi::EventKind;

use crate::decode::{self, read};
use crate::domain::Domain;
use crate::refusal::{Refusal, Result};
use crate::schema::{MessageAt, Schema, TimeAt};
use crate::scope::ScopeRef;
use crate::stream::StreamInfo;
use crate::string::Registered;
use crate::value::Visitor;

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
    attributes: Attributes<'a>,
    scope: u64,
}

/// When an event happens, in ticks of its time domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// At one instant: marks, and the starts and ends of ranges that are written one by one.
    Point(i64),
    /// A whole range. It does not end before it starts.
    Range {
        /// The start.
        start: i64,
        /// The end.
        end: i64,
    },
}

/// The text of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// Text in the event itself, without a null. Meant to be UTF-8; it may not be.
    Inline(&'a [u8]),
    /// A registered string.
    Registered(Registered<'a>),
}

impl<'a> Text<'a> {
    /// The text's bytes. Meant to be UTF-8; they may not be if the text is inline.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Inline(bytes) => bytes,
            Self::Registered(string) => string.text().as_bytes(),
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
    One(Payload<'a>),
    Many(&'a [Payload<'a>]),
}

impl<'a> Payloads<'a> {
    #[inline]
    fn as_slice(&self) -> &[Payload<'a>] {
        match self {
            Self::One(payload) => std::slice::from_ref(payload),
            Self::Many(payloads) => payloads,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Attributes<'a> {
    message: Option<Text<'a>>,
    color: u32,
    category: u32,
    range_id: Option<u64>,
}

/// The scopes that payloads name, by rank, best first; 0 says nothing. The batch's comes between the last two.
type Scopes = [u64; 4];

impl<'a> Event<'a> {
    /// An event of several payloads.
    pub(crate) fn gather(stream: &'a StreamInfo, payloads: &'a [Payload<'a>]) -> Result<Self> {
        let domain = &**stream.domain();
        let (mut attributes, mut scopes) = (Attributes::default(), Scopes::default());
        let mut main: Option<(&Payload<'a>, EventKind)> = None;
        for payload in payloads {
            if let Some(kind) = payload.schema.event_kind() {
                if let Some((first, _)) = main {
                    return Err(two_events(first.schema, payload.schema));
                }
                main = Some((payload, kind));
            }
            attributes.add(payload, domain, &mut scopes)?;
        }
        let Some((main, kind)) = main else {
            return Err(no_event(payloads));
        };
        Self::new(
            stream,
            0,
            main,
            kind,
            Payloads::Many(payloads),
            attributes,
            scopes,
        )
    }

    /// An event of one payload, of a schema of this kind. `batch_scope` is 0 for a single event.
    #[inline]
    pub(crate) fn of_one(
        stream: &'a StreamInfo,
        batch_scope: u64,
        payload: Payload<'a>,
        kind: EventKind,
    ) -> Result<Self> {
        let (mut attributes, mut scopes) = (Attributes::default(), Scopes::default());
        attributes.add(&payload, stream.domain(), &mut scopes)?;
        Self::new(
            stream,
            batch_scope,
            &payload,
            kind,
            Payloads::One(payload),
            attributes,
            scopes,
        )
    }

    #[inline]
    fn new(
        stream: &'a StreamInfo,
        batch_scope: u64,
        main: &Payload<'a>,
        kind: EventKind,
        payloads: Payloads<'a>,
        attributes: Attributes<'a>,
        scopes: Scopes,
    ) -> Result<Self> {
        let plan = &main.schema.plan;
        let time = match (plan.time, plan.end) {
            (Some(start), None) => Time::Point(start.read(main.bytes)?),
            (Some(start), Some(end)) => {
                let (start, end) = (start.read(main.bytes)?, end.read(main.bytes)?);
                if end < start {
                    return Err(ends_before_start(start, end));
                }
                Time::Range { start, end }
            }
            (None, _) => return Err(no_time(main.schema)),
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
        let time_domain = plan.time_domain.unwrap_or(stream.time_domain());
        Ok(Self {
            stream,
            schema: main.schema,
            kind,
            payloads,
            time,
            time_domain,
            attributes,
            scope,
        })
    }

    /// What the event says.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The schema of the payload that makes this an event of its kind.
    pub fn schema(&self) -> &Arc<Schema> {
        self.schema
    }

    /// When the event happens, in ticks of its [time domain](Self::time_domain). A range for the kinds
    /// [`RangePushPop`](EventKind::RangePushPop) and [`RangeStartEnd`](EventKind::RangeStartEnd), a point for all others.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The time domain of its timestamps: that of the schema, else the stream's. A
    /// [`TimestampType`](crate::TimestampType) or a registered [time domain](Domain::time_domain); 0 for a timeline of its own.
    pub fn time_domain(&self) -> u64 {
        self.time_domain
    }

    /// The message. An empty one is not the same as none.
    pub fn message(&self) -> Option<Text<'a>> {
        self.attributes.message
    }

    /// The colour, as `0xAARRGGBB`.
    pub fn color(&self) -> Option<u32> {
        Some(self.attributes.color).filter(|color| *color != 0)
    }

    /// The category. It may have a [name](Domain::category).
    pub fn category(&self) -> Option<u32> {
        Some(self.attributes.category).filter(|category| *category != 0)
    }

    /// What joins the start and the end of a range.
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
    pub fn scope_id(&self) -> u64 {
        self.scope
    }

    /// How many payloads the event has. With more than one, names of fields may repeat.
    pub fn payload_count(&self) -> usize {
        self.payloads.as_slice().len()
    }

    /// Shows the fields of all payloads in order, without those that hold the event's attributes. Hidden ones are shown too.
    #[inline]
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        let domain = self.stream.domain();
        for payload in self.payloads.as_slice() {
            for field in payload
                .schema
                .fields()
                .iter()
                .filter(|field| !field.is_attribute)
            {
                decode::visit_field(
                    field,
                    payload.count.or(field.count),
                    payload.bytes,
                    domain,
                    visitor,
                );
            }
        }
    }
}

impl<'a> Attributes<'a> {
    /// Adds what `payload` says, over what earlier ones said.
    #[inline]
    fn add(
        &mut self,
        payload: &Payload<'a>,
        domain: &'a Domain,
        scopes: &mut Scopes,
    ) -> Result<()> {
        let Payload {
            schema,
            bytes,
            count,
        } = *payload;
        let plan = &schema.plan;
        match plan.message {
            None => {}
            Some(MessageAt::Handle(offset)) => match read(bytes, offset) {
                0 => {}
                handle => match domain.registered(handle) {
                    Some(string) => self.message = Some(Text::Registered(string)),
                    None => decode::check_handle(handle, "message", domain)?,
                },
            },
            Some(MessageAt::Fixed { offset, len }) => {
                self.message = Some(Text::Inline(decode::text(&bytes[offset..offset + len])));
            }
            Some(MessageAt::Whole) => self.message = Some(Text::Inline(decode::text(bytes))),
        }
        if let Some(color) = plan
            .color
            .map(|offset| read(bytes, offset))
            .filter(|color| *color != 0)
        {
            self.color = color;
        }
        if let Some(category) = plan
            .category
            .map(|offset| read(bytes, offset))
            .filter(|category| *category != 0)
        {
            self.category = category;
        }
        if let Some(offset) = plan.range_id {
            self.range_id = Some(read(bytes, offset));
        }
        if plan.scopes.is_any() {
            let entry = |offset: Option<usize>| offset.map_or(0, |offset| read(bytes, offset));
            let at = &plan.scopes;
            let named = [
                entry(at.purpose_entry),
                at.purpose_semantics,
                entry(at.entry),
                at.semantics,
            ];
            for (known, scope) in scopes
                .iter_mut()
                .zip(named)
                .filter(|(_, scope)| *scope != 0)
            {
                *known = scope;
            }
        }
        if plan.has_handles {
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
fn unknown_scope(scope: u64) -> Refusal {
    Refusal::invalid(format!(
        "the scope {scope} is neither predefined nor registered in the stream's domain"
    ))
}
