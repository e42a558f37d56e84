//! Events: payloads that are checked, with their attributes worked out.

mod reading;

use std::borrow::Cow;
use std::sync::Arc;

use nvtxw_abi::EventKind;

pub(crate) use self::reading::unknown_scope;
use crate::attributes::Attributes;
use crate::data::{Data, Flex, Steps};
use crate::decode::{self, Context};
use crate::domain::Domain;
use crate::refusal::{Refusal, Result};
use crate::schema::{Schema, Way};
use crate::scope::ScopeRef;
use crate::stream::StreamInfo;
use crate::string::Registered;
use crate::text::WideText;
use crate::time::Time;
use crate::value::{Value, Visitor};
use crate::walk;

/// One event: its payloads, checked, with its attributes worked out.
///
/// Where payloads or entries give an attribute more than once, the last one counts.
#[derive(Debug)]
pub struct Event<'a> {
    stream: &'a StreamInfo,
    pub(crate) schema: &'a Arc<Schema>,
    kind: EventKind,
    /// Of the payload that has that schema.
    bytes: &'a [u8],
    /// All payloads, if these are not just that one, or that one and a text.
    many: Option<&'a [Payload<'a>]>,
    /// Whether the fields of the one payload are found without a walk.
    is_direct: bool,
    /// Whether the message is a payload of its own, behind that one.
    has_text: bool,
    pub(crate) flex: Option<Flex<'a>>,
    start: i64,
    /// Of a range.
    end: Option<i64>,
    time_domain: u64,
    end_time_domain: u64,
    pub(crate) attributes: Attributes<'a>,
    scope: u64,
    /// With the loose fields of the one payload.
    pub(crate) context: Context<'a>,
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

impl<'a> Event<'a> {
    /// A [plain](Self::plain) event of `stream` once more, by its [schema](Self::schema) and bytes: for what has to be done
    /// later than in the call that the event came in.
    ///
    /// # Errors
    /// If the bytes are none of a plain event of this schema.
    pub fn again(stream: &'a StreamInfo, schema: &'a Arc<Schema>, bytes: &'a [u8]) -> Result<Self> {
        let kind = schema
            .event_kind()
            .filter(|_| schema.plan.is_plain && schema.size == bytes.len());
        let kind = kind.ok_or_else(|| {
            Refusal::invalid(format!(
                "{} bytes are no plain event of {}",
                bytes.len(),
                schema.label()
            ))
        })?;
        let mut event = Self::unread(stream, 0, schema, kind, None);
        event.read_single(bytes)?;
        Ok(event)
    }

    /// The domain in which all that the event refers to is registered: its stream's.
    #[inline]
    pub fn domain(&self) -> &'a Arc<Domain> {
        self.stream.domain()
    }

    /// What the event says.
    ///
    /// Ranges that come as two events are the backend's to pair, and so is what has no other half: a
    /// [`RangePop`](EventKind::RangePop) ends the last [`RangePush`](EventKind::RangePush) that is open in its stream and
    /// [scope](Self::scope_id), a [`RangeEnd`](EventKind::RangeEnd) the [`RangeStart`](EventKind::RangeStart) of its
    /// [ID](Self::range_id), in whatever stream of the session.
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
        match (self.start, self.end) {
            (start, Some(end)) => Time::Range { start, end },
            (at, None) => Time::Point(at),
        }
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

    /// The number of the process that the event is of, by an entry of one of the types for process IDs. It says more exactly
    /// where the event belongs than the scope of a batch, a schema or a stream does; `None` if the event names a scope itself.
    #[inline]
    pub fn process_id(&self) -> Option<u64> {
        self.attributes.process
    }

    /// The same for a thread, by an entry of one of the types for thread IDs.
    #[inline]
    pub fn thread_id(&self) -> Option<u64> {
        self.attributes.thread
    }

    /// How many payloads with fields the event has. With more than one, names of fields may repeat.
    #[inline]
    pub fn payload_count(&self) -> usize {
        let has_fields = |payload: &&Payload<'_>| !payload.schema.fields().is_empty();
        match self.many {
            None => 1 + usize::from(self.has_text),
            Some(payloads) => payloads.iter().filter(has_fields).count(),
        }
    }

    /// The bytes of the event, if it has just one payload, in which each field has a [fixed place](crate::Field::offset): so
    /// that a backend can work out once how it reads the events of a schema.
    #[inline]
    pub fn plain(&self) -> Option<&'a [u8]> {
        let is_plain = self.many.is_none() && self.schema.plan.is_plain && !self.has_text;
        is_plain.then_some(self.bytes)
    }

    /// The same, also if there is text elsewhere: the [message](Self::message) in one more payload that is nothing but that, as
    /// plain ranges and marks have it, or that and other [texts](Self::texts) in fields of any length or place. Then those have no
    /// place in the bytes, and behind the others there may be more.
    #[inline]
    pub fn plain_but_texts(&self) -> Option<&'a [u8]> {
        (self.many.is_none() && self.schema.plan.is_plain_but_texts).then_some(self.bytes)
    }

    /// What fields of a [plain](Self::plain_but_texts) event hold that are text of any length or place, without a null, by their
    /// [index](crate::Field::text_index) among them. Meant to be UTF-8; it may not be. `None` behind a null pointer.
    #[inline]
    pub fn texts(&self) -> &[Option<&'a [u8]>] {
        &self.context.found[..self.schema.plan.loose.len()]
    }

    /// Shows one field of [`schema`](Self::schema), by its index there, of a [plain](Self::plain_but_texts) event; nothing if it
    /// holds an attribute of the event.
    ///
    /// # Panics
    /// If the event is not plain, or the schema has no such field.
    pub fn visit_field<V: Visitor>(&self, index: usize, visitor: &mut V) {
        let bytes = self.plain_but_texts().expect("the event is plain");
        let field = &self.schema.fields()[index];
        decode::visit(field, field.shown, bytes, field.at, &self.context, visitor);
    }

    /// Shows the fields of all payloads in order, without those that hold the event's attributes. Hidden ones are shown too.
    #[inline(always)]
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        if self.is_direct {
            decode::visit_event(self.schema, self.bytes, &self.context, visitor);
        } else {
            self.visit_payloads(visitor);
        }
    }

    fn visit_payloads<V: Visitor>(&self, visitor: &mut V) {
        let domain = self.context.domain;
        let one = [self.payload(self.bytes)];
        let data = Data {
            payloads: self.many.unwrap_or(&one),
            flex: self.flex,
            pieces: &[],
            domain,
            steps: &Steps::unlimited(),
        };
        let context = &Context::new(domain);
        for Payload {
            schema,
            bytes,
            count,
        } in data.payloads
        {
            match (count, schema.fields()) {
                _ if schema.plan.way != Way::Settled => walk::show(schema, bytes, &data, visitor),
                (Some(count), [field]) if !field.is_attribute => {
                    decode::visit_array(field, *count, bytes, context, visitor);
                }
                _ => decode::visit_payload(schema, bytes, context, visitor),
            }
        }
    }
}
