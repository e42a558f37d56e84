//! Schemas: how the bytes of a payload are read.

use std::sync::Arc;

use nvtxw_abi::{EntryType, EventKind, SchemaRole, TimestampRole};

use crate::enumeration::Enum;
use crate::semantics::{Correlation, CounterSemantics};

/// A registered schema: the layout of a payload, worked out at registration.
#[derive(Debug)]
pub struct Schema {
    pub(crate) id: u64,
    pub(crate) name: Option<Box<str>>,
    pub(crate) role: SchemaRole,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) fields: Box<[Field]>,
    pub(crate) plan: Plan,
}

impl Schema {
    /// The schema's ID, unique among the schemas and enums of its domain. A predefined type that serves as the schema of a
    /// payload has the type's number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The schema's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What the schema describes.
    pub fn role(&self) -> SchemaRole {
        self.role
    }

    /// Bytes of one payload; 0 for text, whose payload says how long it is.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The entries, in the order of their registration; those that hold an event's attributes too.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The kind of the events that the schema describes.
    #[inline]
    pub(crate) fn event_kind(&self) -> Option<EventKind> {
        match self.role {
            SchemaRole::Event(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether the payload is text as a whole.
    pub(crate) fn is_text(&self) -> bool {
        matches!(
            *self.fields,
            [Field {
                kind: FieldKind::Text,
                ..
            }]
        )
    }

    /// How people call it.
    pub(crate) fn label(&self) -> String {
        match self.name() {
            Some(name) => format!("schema {} `{name}`", self.id),
            None => format!("schema {}", self.id),
        }
    }
}

/// One entry of a schema.
#[derive(Debug)]
pub struct Field {
    pub(crate) index: usize,
    pub(crate) name: Box<str>,
    pub(crate) description: Option<Box<str>>,
    pub(crate) kind: FieldKind,
    pub(crate) offset: usize,
    /// Bytes of one element.
    pub(crate) size: usize,
    pub(crate) count: Option<usize>,
    pub(crate) hidden: bool,
    pub(crate) role: FieldRole,
    /// Whether an event takes the value as one of its attributes, so that it is not shown as a field.
    pub(crate) is_attribute: bool,
    pub(crate) has_handles: bool,
    pub(crate) counter_semantics: Option<CounterSemantics>,
    pub(crate) correlation: Option<Correlation>,
}

impl Field {
    /// The field's place among the [fields](Schema::fields) of its schema.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The field's name, unique in its schema. A field without a name is called `field N`, N being its index; where a name
    /// comes twice, the later one gets ` (N)` appended.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the field holds, for people.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// How one element is read.
    pub fn kind(&self) -> &FieldKind {
        &self.kind
    }

    /// Bytes from the start of the payload, or of the struct that the field is in.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of elements, if the field is a fixed array.
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    /// Whether the producer asks not to show the field.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// What the field is to the event.
    pub fn role(&self) -> FieldRole {
        self.role
    }

    /// What the field's values mean as a counter's.
    pub fn counter_semantics(&self) -> Option<&CounterSemantics> {
        self.counter_semantics.as_ref()
    }

    /// That the field joins events, and which.
    pub fn correlation(&self) -> Option<&Correlation> {
        self.correlation.as_ref()
    }
}

/// How one element of a field is read.
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// A value of a predefined type.
    Scalar(EntryType),
    /// Text in a fixed number of code units; it ends before the first null.
    FixedString(EntryType, usize),
    /// A value of an enum.
    Enum(Arc<Enum>),
    /// A nested struct. All of its fields are plain data, whatever their role.
    Struct(Arc<Schema>),
    /// The whole payload is text; it ends before the first null.
    Text,
}

/// What a field is to the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRole {
    /// Plain data.
    Plain,
    /// The event's message.
    Message,
    /// A timestamp.
    Time(TimestampRole),
    /// The event's colour.
    Color,
    /// The event's category.
    Category,
    /// What joins the start and the end of a range.
    RangeId,
    /// The event's scope.
    Scope,
}

/// Where an event's attributes are in a payload.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The one timestamp of the event or sample, or the range's start.
    pub(crate) time: Option<TimeAt>,
    /// The range's end, where `time` is its start.
    pub(crate) end: Option<TimeAt>,
    pub(crate) message: Option<MessageAt>,
    pub(crate) color: Option<usize>,
    pub(crate) category: Option<usize>,
    pub(crate) range_id: Option<usize>,
    pub(crate) scopes: ScopesAt,
    /// The time domain that the timestamps name.
    pub(crate) time_domain: Option<u64>,
    /// Whether a field that is shown is or holds a registered string.
    pub(crate) has_handles: bool,
    /// Whether all fields are numbers (or timestamps): what a counter can have.
    pub(crate) is_numeric: bool,
    /// Values that one visit shows.
    pub(crate) values: u64,
    /// Structs inside one another, this one included.
    pub(crate) depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeAt {
    pub(crate) offset: usize,
    pub(crate) unsigned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageAt {
    /// A registered string's handle.
    Handle(usize),
    /// Text in place.
    Fixed { offset: usize, len: usize },
    /// The whole payload.
    Whole,
}

/// Where an event's scope may be, best first. A scope of 0 says nothing.
#[derive(Debug, Default)]
pub(crate) struct ScopesAt {
    /// Offset of a scope entry with a purpose.
    pub(crate) purpose_entry: Option<usize>,
    /// The scope that the semantics of an entry with a purpose name.
    pub(crate) purpose_semantics: u64,
    /// Offset of another scope entry.
    pub(crate) entry: Option<usize>,
    /// The scope that the semantics of another entry name: behind the batch's scope.
    pub(crate) semantics: u64,
}
