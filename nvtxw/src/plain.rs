//! Plain marks and ranges: events without a struct of your own.

use std::ffi::CStr;
use std::mem::offset_of;
use std::sync::Arc;

use nvtxw_abi::raw::{
    self, nvtxwEventAttributes_t, nvtxwEventRegStringPayload_t, nvtxwEventUtf8HeaderAttr_t,
    nvtxwEventUtf8Payload_t, nvtxwRangeEndPayload_t, nvtxwRangeEventRegStringPayload_t,
    nvtxwRangeEventUtf8Payload_t, nvtxwRangeIdEventRegStringPayload_t,
    nvtxwRangeIdEventUtf8Payload_t, nvtxwRangePopPayload_t,
};
use nvtxw_abi::{EntryRole, EntryType, EventKind, ResultCode, TimestampRole};

use crate::calls::{
    EntryDefinition, EntrySemantics, LiveSession, Payload, Refusal, SchemaDefinition,
};
use crate::color::Argb;
use crate::domain::DomainState;
use crate::error::WriteError;
use crate::id::{CategoryId, RangeId};
use crate::register::Registrar;
use crate::string::{IntoMessage, Message, RegisteredString};
use crate::writer::Writer;

/// A schema's ID, or the backend's refusal to register it.
type SchemaId = Result<u64, Refusal>;

/// The schemas of a domain's plain events. They are those that the helpers of C and Python register too, in that order, so
/// that every backend knows them.
#[derive(Debug)]
pub(crate) struct PlainSchemas([SchemaId; 13]);

/// The schemas' IDs. Each writer holds a copy, so that a loop that writes keeps in registers what it uses. 0 is none; an
/// event whose message follows as text has an ID only if the message has one too.
pub(crate) type PlainIds = [u64; 13];

/// Where schemas stand among the 13. Of an event with two forms, it is the one whose message follows as text, and the one
/// whose message is a registered string stands `REGISTERED` behind.
const MARK: usize = 0;
const PUSHPOP: usize = 2;
const STARTEND: usize = 4;
const PUSH: usize = 6;
const POP: usize = 8;
const START: usize = 9;
const END: usize = 11;
const MESSAGE: usize = 12;
const REGISTERED: usize = 1;

/// The entries that describe fields of `$payload`.
macro_rules! entries {
    ($payload:ty: $($entry:ident $field:literal ($($path:tt)+) $(as $role:expr)?),+) => {
        [$( $entry($field, offset_of!($payload, $($path)+) $(, $role)?) ),+]
    };
}

impl PlainSchemas {
    /// Those of `domain`, registered if they aren't yet. The caller has borrowed the session mutably.
    pub(crate) fn of(live: &LiveSession, domain: &DomainState) -> Arc<Self> {
        let mut registered = domain.registered();
        if let Some(plain) = &registered.plain {
            return Arc::clone(plain);
        }
        let plain = Arc::new(Self::register(&Registrar::new(
            live,
            domain.handle,
            &mut registered,
        )));
        registered.plain = Some(Arc::clone(&plain));
        plain
    }

    fn register(registrar: &Registrar<'_>) -> Self {
        let point = |kind, role| {
            [
                event::<nvtxwEventUtf8Payload_t>(
                    registrar,
                    kind,
                    &entries!(nvtxwEventUtf8Payload_t:
                        time c"timestamp" (timestamp) as role,
                        color c"color" (attr.color),
                        category c"category" (attr.category)
                    ),
                ),
                event::<nvtxwEventRegStringPayload_t>(
                    registrar,
                    kind,
                    &entries!(nvtxwEventRegStringPayload_t:
                        time c"timestamp" (timestamp) as role,
                        color c"color" (attr.color),
                        category c"category" (attr.category),
                        message c"message" (attr.message)
                    ),
                ),
            ]
        };
        let range = |kind| {
            [
                event::<nvtxwRangeEventUtf8Payload_t>(
                    registrar,
                    kind,
                    &entries!(nvtxwRangeEventUtf8Payload_t:
                        time c"timestampBegin" (timestampBegin) as TimestampRole::RangeBegin,
                        time c"timestampEnd" (timestampEnd) as TimestampRole::RangeEnd,
                        color c"color" (attr.color),
                        category c"category" (attr.category)
                    ),
                ),
                event::<nvtxwRangeEventRegStringPayload_t>(
                    registrar,
                    kind,
                    &entries!(nvtxwRangeEventRegStringPayload_t:
                        time c"timestampBegin" (timestampBegin) as TimestampRole::RangeBegin,
                        time c"timestampEnd" (timestampEnd) as TimestampRole::RangeEnd,
                        color c"color" (attr.color),
                        category c"category" (attr.category),
                        message c"message" (attr.message)
                    ),
                ),
            ]
        };
        let [mark, mark_registered] = point(EventKind::Mark, TimestampRole::Mark);
        let [pushpop, pushpop_registered] = range(EventKind::RangePushPop);
        let [startend, startend_registered] = range(EventKind::RangeStartEnd);
        let [push, push_registered] = point(EventKind::RangePush, TimestampRole::RangeBegin);
        let pop = event::<nvtxwRangePopPayload_t>(
            registrar,
            EventKind::RangePop,
            &entries!(nvtxwRangePopPayload_t:
                time c"timestamp" (timestamp) as TimestampRole::RangeEnd
            ),
        );
        let [start, start_registered] = [
            event::<nvtxwRangeIdEventUtf8Payload_t>(
                registrar,
                EventKind::RangeStart,
                &entries!(nvtxwRangeIdEventUtf8Payload_t:
                    range_id c"rangeId" (rangeId),
                    time c"timestamp" (timestamp) as TimestampRole::RangeBegin,
                    color c"color" (attr.color),
                    category c"category" (attr.category)
                ),
            ),
            event::<nvtxwRangeIdEventRegStringPayload_t>(
                registrar,
                EventKind::RangeStart,
                &entries!(nvtxwRangeIdEventRegStringPayload_t:
                    range_id c"rangeId" (rangeId),
                    time c"timestamp" (timestamp) as TimestampRole::RangeBegin,
                    color c"color" (attr.color),
                    category c"category" (attr.category),
                    message c"message" (attr.message)
                ),
            ),
        ];
        let end = event::<nvtxwRangeEndPayload_t>(
            registrar,
            EventKind::RangeEnd,
            &entries!(nvtxwRangeEndPayload_t:
                range_id c"rangeId" (rangeId),
                time c"timestamp" (timestamp) as TimestampRole::RangeEnd
            ),
        );
        let message = schema(
            registrar,
            raw::NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
            0,
            0,
            &[entry(
                c"message",
                0,
                EntryRole::Message.flags() | raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
                EntryType::CStringUtf8,
            )],
        );
        Self([
            mark,
            mark_registered,
            pushpop,
            pushpop_registered,
            startend,
            startend_registered,
            push,
            push_registered,
            pop,
            start,
            start_registered,
            end,
            message,
        ])
    }

    /// The IDs.
    pub(crate) fn ids(&self) -> PlainIds {
        let mut ids = self.0.each_ref().map(|id| *id.as_ref().unwrap_or(&0));
        if ids[MESSAGE] == 0 {
            for event in [MARK, PUSHPOP, STARTEND, PUSH, START] {
                ids[event] = 0;
            }
        }
        ids
    }

    /// The error of an event without a schema: that at `index` is missing, or the one of the text that follows it.
    fn error(&self, index: usize) -> WriteError {
        let missing = if self.0[index].is_err() {
            index
        } else {
            MESSAGE
        };
        let code = match &self.0[missing] {
            Err(Refusal::Code { code, .. }) => *code,
            _ => ResultCode::SUCCESS,
        };
        WriteError::plain_schema(missing, code)
    }

    /// The backend's reason for rejecting the schema at `index`, if it gave one.
    pub(crate) fn reason(&self, index: usize) -> Option<String> {
        match self.0.get(index) {
            Some(Err(Refusal::Code { reason, .. })) => reason.clone(),
            _ => None,
        }
    }
}

/// The events that the schema at `index` describes.
pub(crate) fn schema_name(index: usize) -> &'static str {
    const NAMES: [&str; 13] = [
        "marks with text",
        "marks with registered strings",
        "push/pop ranges with text",
        "push/pop ranges with registered strings",
        "start/end ranges with text",
        "start/end ranges with registered strings",
        "pushes with text",
        "pushes with registered strings",
        "pops",
        "starts with text",
        "starts with registered strings",
        "ends",
        "the text of events",
    ];
    NAMES[index]
}

fn event<T>(
    registrar: &Registrar<'_>,
    kind: EventKind,
    entries: &[EntryDefinition<'_>],
) -> SchemaId {
    schema(
        registrar,
        raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        kind.schema_flags(),
        size_of::<T>(),
        entries,
    )
}

fn schema(
    registrar: &Registrar<'_>,
    kind: u64,
    flags: u64,
    size: usize,
    entries: &[EntryDefinition<'_>],
) -> SchemaId {
    let schema = SchemaDefinition {
        name: None,
        kind,
        flags,
        size,
        pack_align: None,
        entries,
        static_id: 0,
    };
    registrar.define(&schema)
}

fn entry(
    name: &'static CStr,
    offset: usize,
    flags: u64,
    ty: EntryType,
) -> EntryDefinition<'static> {
    EntryDefinition {
        flags,
        ty: ty.to_raw(),
        name,
        description: None,
        detail: 0,
        offset,
        semantics: EntrySemantics::None,
    }
}

fn time(name: &'static CStr, offset: usize, role: TimestampRole) -> EntryDefinition<'static> {
    entry(
        name,
        offset,
        EntryRole::Timestamp(role).flags(),
        EntryType::Int64,
    )
}

fn color(name: &'static CStr, offset: usize) -> EntryDefinition<'static> {
    entry(name, offset, 0, EntryType::ColorArgb)
}

fn category(name: &'static CStr, offset: usize) -> EntryDefinition<'static> {
    entry(name, offset, 0, EntryType::Category)
}

fn range_id(name: &'static CStr, offset: usize) -> EntryDefinition<'static> {
    entry(name, offset, 0, EntryType::RangeId)
}

fn message(name: &'static CStr, offset: usize) -> EntryDefinition<'static> {
    entry(
        name,
        offset,
        EntryRole::Message.flags(),
        EntryType::RegisteredString,
    )
}

/// What a plain event says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Mark(i64),
    PushPop(i64, i64),
    StartEnd(i64, i64),
    Push(i64),
    Start(i64, RangeId),
}

impl Shape {
    /// Where the schema for a message that follows as text stands.
    #[inline(always)]
    fn index(self) -> usize {
        match self {
            Self::Mark(_) => MARK,
            Self::PushPop(..) => PUSHPOP,
            Self::StartEnd(..) => STARTEND,
            Self::Push(_) => PUSH,
            Self::Start(..) => START,
        }
    }
}

/// A plain event that is being put together: [`write`](PlainEvent::write) writes it.
///
/// Without a message it has an empty one; the built-in backend then shows the name of its kind, such as `mark`.
///
/// ```
/// # use nvtxw::{Argb, CategoryId, RegisteredString, Writer, WriteError};
/// fn launches(out: &Writer<'_>, name: RegisteredString, api: CategoryId) -> Result<(), WriteError> {
///     out.mark(100).message("start").write()?;
///     out.pushpop(120, 180).message(name).color(Argb::GREEN).category(api).write()
/// }
/// ```
#[derive(Debug)]
#[must_use = "nothing is written before `write()`"]
pub struct PlainEvent<'a> {
    writer: &'a Writer<'a>,
    shape: Shape,
    message: Message<'a>,
    color: Argb,
    category: CategoryId,
}

// Inlined always: what the caller passes decides nearly everything here, and what is left is too much for rustc to inline
// by its own choice before it sees that.
impl<'a> PlainEvent<'a> {
    #[inline(always)]
    pub(crate) fn new(writer: &'a Writer<'a>, shape: Shape) -> Self {
        Self {
            writer,
            shape,
            message: Message::Text(b""),
            color: Argb::NONE,
            category: CategoryId::NONE,
        }
    }

    /// What the event says: text, or a [`RegisteredString`] of the stream's domain.
    #[inline(always)]
    pub fn message(mut self, message: impl IntoMessage<'a>) -> Self {
        self.message = message.into();
        self
    }

    /// The event's colour: an [`Argb`], its number, or red, green and blue; [`Argb::NONE`], the default, leaves it to the
    /// reader.
    #[inline(always)]
    pub fn color(mut self, color: impl Into<Argb>) -> Self {
        self.color = color.into();
        self
    }

    /// The event's category, one of the stream's domain; [`CategoryId::NONE`] is the default.
    #[inline(always)]
    pub fn category(mut self, category: CategoryId) -> Self {
        self.category = category;
        self
    }

    /// Writes the event.
    ///
    /// # Errors
    /// What the backend answered, also to the registration of the event's schema when the stream was opened; that a
    /// registered message belongs to another domain; that the stream was opened without plain events.
    #[inline(always)]
    pub fn write(self) -> Result<(), WriteError> {
        let index = self.shape.index();
        match self.message {
            Message::Text(text) => {
                let schema = schema_id(self.writer, index)?;
                self.write_text(schema, self.writer.plain_ids()[MESSAGE], text)
            }
            Message::Registered(string) => {
                let schema = schema_id(self.writer, index + REGISTERED)?;
                self.write_registered(schema, string)
            }
        }
    }

    #[inline(always)]
    fn write_text(&self, schema: u64, message_schema: u64, text: &[u8]) -> Result<(), WriteError> {
        let attr = nvtxwEventUtf8HeaderAttr_t {
            color: self.color.to_u32(),
            category: self.category.to_u32(),
        };
        // An empty payload is one that isn't there.
        let message = Payload::text(message_schema, if text.is_empty() { b"\0" } else { text });
        let port = self.writer.port();
        match self.shape {
            Shape::Mark(timestamp) | Shape::Push(timestamp) => port.write(&[
                Payload::plain(schema, &nvtxwEventUtf8Payload_t { timestamp, attr }),
                message,
            ]),
            Shape::PushPop(start, end) | Shape::StartEnd(start, end) => {
                let event = nvtxwRangeEventUtf8Payload_t {
                    timestampBegin: start,
                    timestampEnd: end,
                    attr,
                };
                port.write(&[Payload::plain(schema, &event), message])
            }
            Shape::Start(timestamp, id) => {
                let event = nvtxwRangeIdEventUtf8Payload_t {
                    rangeId: id.get(),
                    timestamp,
                    attr,
                };
                port.write(&[Payload::plain(schema, &event), message])
            }
        }
    }

    #[inline(always)]
    fn write_registered(&self, schema: u64, string: RegisteredString) -> Result<(), WriteError> {
        if string.owner != self.writer.owner() {
            return Err(WriteError::foreign(string.owner));
        }
        let attr = nvtxwEventAttributes_t {
            color: self.color.to_u32(),
            category: self.category.to_u32(),
            message: string.handle.raw(),
        };
        let port = self.writer.port();
        match self.shape {
            Shape::Mark(timestamp) | Shape::Push(timestamp) => port.write(&[Payload::plain(
                schema,
                &nvtxwEventRegStringPayload_t { timestamp, attr },
            )]),
            Shape::PushPop(start, end) | Shape::StartEnd(start, end) => {
                let event = nvtxwRangeEventRegStringPayload_t {
                    timestampBegin: start,
                    timestampEnd: end,
                    attr,
                };
                port.write(&[Payload::plain(schema, &event)])
            }
            Shape::Start(timestamp, id) => {
                let event = nvtxwRangeIdEventRegStringPayload_t {
                    rangeId: id.get(),
                    timestamp,
                    attr,
                };
                port.write(&[Payload::plain(schema, &event)])
            }
        }
    }
}

/// The ID of the schema at `index`.
#[inline(always)]
fn schema_id(writer: &Writer<'_>, index: usize) -> Result<u64, WriteError> {
    match writer.plain_ids()[index] {
        0 => Err(no_schema(writer, index)),
        id => Ok(id),
    }
}

#[cold]
#[inline(never)]
fn no_schema(writer: &Writer<'_>, index: usize) -> WriteError {
    let schemas = writer.plain_schemas();
    schemas.map_or(WriteError::NO_PLAIN_EVENTS, |schemas| schemas.error(index))
}

/// Writes the end of the range that was pushed last.
#[inline]
pub(crate) fn pop(writer: &Writer<'_>, timestamp: i64) -> Result<(), WriteError> {
    let schema = schema_id(writer, POP)?;
    writer.port().write(&[Payload::plain(
        schema,
        &nvtxwRangePopPayload_t { timestamp },
    )])
}

/// Writes the end of the range `id`.
#[inline]
pub(crate) fn end(writer: &Writer<'_>, timestamp: i64, id: RangeId) -> Result<(), WriteError> {
    let schema = schema_id(writer, END)?;
    writer.port().write(&[Payload::plain(
        schema,
        &nvtxwRangeEndPayload_t {
            rangeId: id.get(),
            timestamp,
        },
    )])
}
