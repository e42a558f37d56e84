//! Schemas: how the bytes of a payload are read.

use std::sync::Arc;

use nvtxw_abi::{EntryType, EventKind, SchemaRole, TimestampRole};

use crate::check::Check;
use crate::enumeration::Enum;
use crate::locate::Loose;
use crate::places::Places;
use crate::raw::Promise;
use crate::refusal::Refusal;
use crate::scalar::Read;
use crate::semantics::{Correlation, CounterSemantics};
use crate::text::unit_size;

/// A registered schema: the layout of a payload, worked out at registration.
#[derive(Debug)]
pub struct Schema {
    pub(crate) id: u64,
    pub(crate) name: Option<Box<str>>,
    pub(crate) role: SchemaRole,
    pub(crate) shape: Shape,
    /// Of a dynamic schema, up to where the entries of fixed size at its start reach.
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) fields: Box<[Field]>,
    pub(crate) plan: Plan,
    pub(crate) places: Places,
}

impl Schema {
    /// The schema's ID, unique among the schemas and enums of its domain. A predefined type that serves as the schema of a
    /// payload has the type's number.
    #[inline]
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

    /// The time domain of its timestamp, or of a range's start, where it is not the stream's.
    pub fn time_domain(&self) -> Option<u64> {
        self.plan.time_domain
    }

    /// The time domain of a range's end beside its start, where it is not the stream's.
    pub fn end_time_domain(&self) -> Option<u64> {
        self.plan.end_time_domain
    }

    /// Whether each field has a fixed place, with so many values, in all payloads: there are no unions, nothing of varying
    /// length, nothing behind offsets and pointers.
    pub fn is_plain(&self) -> bool {
        self.plan.is_plain
    }

    /// Bytes of one payload; of a dynamic schema, whose payloads differ, what they have at least.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The entries, in the order of their registration; those that hold an event's attributes too.
    #[inline]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether payloads differ in size.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.shape == Shape::Dynamic
    }

    /// The kind of the events that the schema describes.
    #[inline]
    pub(crate) fn event_kind(&self) -> Option<EventKind> {
        match self.role {
            SchemaRole::Event(kind) => Some(kind),
            _ => None,
        }
    }

    /// The member of a union that a selector of this value selects. The selector itself is none.
    #[inline]
    pub(crate) fn member(&self, selected: u64) -> Option<&Field> {
        match self.shape {
            Shape::SelectingUnion(own) if own as u64 == selected => None,
            _ => self.fields.get(usize::try_from(selected).ok()?),
        }
    }

    /// That a union's selector has this value, or there is none.
    #[cold]
    pub(crate) fn selects_none(&self, selector: Option<u64>) -> Refusal {
        let label = self.label();
        Refusal::invalid(match selector {
            Some(selector) => format!(
                "the selector of the union {label} is {selector}, which is none of its members: that is the index of an entry"
            ),
            None => format!(
                "{label} is a union that an entry beside it selects from: put it into a struct that has such an entry"
            ),
        })
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
    /// How one element is read.
    pub(crate) element: Read,
    /// How all of the field is, if it is settled; and what is shown of it as a field of an event.
    pub(crate) whole: Read,
    pub(crate) shown: Read,
    /// 0 for one that `follows`.
    pub(crate) offset: usize,
    /// The same of a settled field, which is in the first 4 GiB, so that where something there ends can't overflow; of a loose
    /// one its number among these.
    pub(crate) at: u32,
    /// Whether it comes after a field of varying size, so that only a walk finds it.
    pub(crate) follows: bool,
    pub(crate) align: usize,
    /// Bytes of one element, wherever it is; of text all of it, if that is fixed.
    pub(crate) size: usize,
    pub(crate) place: Place,
    pub(crate) extent: Extent,
    /// Number of elements, if the schema says it.
    pub(crate) count: Option<usize>,
    /// Of wide text of a fixed length: it is several texts, with nulls between them.
    pub(crate) has_texts: bool,
    /// The entry that selects the member of a union beside it.
    pub(crate) selector: Option<usize>,
    /// Where a walk keeps the place of a field that others refer to.
    pub(crate) slot: Option<usize>,
    /// What tells the length of all elements, or selects the member of the union, if it is an integer at a known place.
    pub(crate) told_by: Option<Integer>,
    /// What selects the member of a settled union, beside it or in it.
    pub(crate) selected_by: Option<Integer>,
    /// Whether it lies here with a fixed size, and all that is in it does, without unions.
    pub(crate) plain: bool,
    /// The same with unions whose selectors are at known places.
    pub(crate) settled: bool,
    /// Whether a settled field holds something that may be wrong: a registered string, or a union's selector.
    pub(crate) has_checks: bool,
    /// Where an event of a [regular](Way::Regular) schema keeps the data of a field that is not settled, or follows one of varying
    /// size.
    pub(crate) loose: Option<usize>,
    pub(crate) hidden: bool,
    pub(crate) role: FieldRole,
    /// Whether an event takes the value as one of its attributes, so that it is not shown as a field.
    pub(crate) is_attribute: bool,
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

    /// Bytes from the start of the payload, or of the struct that the field is in; 0 where that is different in each payload,
    /// because the field comes after one of varying size.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes of one element; of text of a fixed length all of it.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of elements, if the field is a fixed array.
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    /// Whether payloads have different numbers of elements, or of characters.
    pub fn varies(&self) -> bool {
        self.extent != Extent::Schema
    }

    /// The field's place among the [texts](crate::Event::texts) of an event, if it is text of bytes whose length varies and it is
    /// one of the few fields without a fixed place that are found when an event comes.
    pub fn text_index(&self) -> Option<usize> {
        let is_text = matches!(self.kind, FieldKind::Text(ty) if unit_size(ty) == 1);
        self.loose.filter(|_| is_text && self.varies())
    }

    /// Whether the producer asks not to show the field.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// What the field is to the event.
    pub fn role(&self) -> FieldRole {
        self.role
    }

    /// Whether an event takes the value as one of its attributes, so that a visit does not show it.
    pub fn is_attribute(&self) -> bool {
        self.is_attribute
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
    /// Text of one of the predefined types.
    Text(EntryType),
    /// A value of an enum.
    Enum(Arc<Enum>),
    /// A nested struct. All of its fields are plain data, whatever their role.
    Struct(Arc<Schema>),
    /// A nested union: of its fields one is stored.
    Union(Arc<Schema>),
}

/// How the entries of a schema lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// At fixed places.
    Static,
    /// One after the other, of varying size.
    Dynamic,
    /// In the same place; an entry beside the union selects one.
    Union,
    /// The same, where this entry selects one.
    SelectingUnion(usize),
}

/// Where the data of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the field's own bytes.
    Here,
    /// Where the pointer there points to.
    Pointer(Beyond),
    /// At that distance from the payload's start.
    FromBase,
    /// At that distance from the field's end.
    FromHere,
}

/// What becomes of a pointer that leads out of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// The event is refused.
    Refused,
    /// Its address is shown.
    Shown,
    /// It is followed, as the producer promised that it may be.
    Followed(Promise),
}

/// What says how many elements a field has, or how long its text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The schema.
    Schema,
    /// A null after the last one.
    ZeroTerminated,
    /// An entry before it in the same schema.
    Entry(usize),
    /// Another payload of the event.
    Payload(usize),
}

/// An integer in the same struct, in its first 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) at: u32,
    pub(crate) reading: Read,
}

/// How the fields of a payload are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// All are settled.
    #[default]
    Settled,
    /// A few are not; each of them is text, or some settled elements.
    Regular,
    /// By a walk.
    Irregular,
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

/// How payloads of a schema are read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Where an event's attributes are.
    pub(crate) at: AttributesAt,
    /// Those of them that only a walk finds, and the slots in which it keeps their places.
    pub(crate) late: Box<[(Attribute, usize)]>,
    pub(crate) message: Option<MessageAt>,
    /// The scopes that semantics name.
    pub(crate) scopes: NamedScopes,
    /// The time domain that `time` names.
    pub(crate) time_domain: Option<u64>,
    /// The one that `end` names.
    pub(crate) end_time_domain: Option<u64>,
    /// Whether an event has attributes at places in its bytes, beside its time.
    pub(crate) has_attributes: bool,
    /// Whether these are colour and category, and no others.
    pub(crate) has_just_paint: bool,
    /// Whether it has some, or some of its fields have to be [checked](Self::checked).
    pub(crate) has_more: bool,
    /// The settled fields that hold something that may be wrong, and that nobody else looks at.
    pub(crate) checked: Box<[Check]>,
    pub(crate) way: Way,
    /// The [loose](Field::loose) fields.
    pub(crate) loose: Box<[Loose]>,
    /// Steps that are taken for all that lies in place.
    pub(crate) work: u64,
    /// Whether a payload refers to data outside of its fields.
    pub(crate) refers: bool,
    /// Whether a pointer in it is followed out of the event.
    pub(crate) reaches_out: bool,
    /// Whether all fields are plain, and the schema is static.
    pub(crate) is_plain: bool,
    /// Whether all fields are plain and in fixed places, but for a message and [texts](Field::text_index).
    pub(crate) is_plain_but_texts: bool,
    /// Whether all fields are settled, and the size is fixed.
    pub(crate) is_settled: bool,
    /// The type of the text that the payload is as a whole.
    pub(crate) whole_text: Option<EntryType>,
    /// Whether all fields are numbers (or timestamps): what a counter can have.
    pub(crate) is_numeric: bool,
    /// How many places of fields a walk keeps.
    pub(crate) slots: usize,
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

/// Where the number of a process or a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OsIdAt {
    pub(crate) offset: usize,
    /// Of 64 bits, and not of 32.
    pub(crate) is_wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageAt {
    /// A registered string's handle.
    Handle(usize),
    /// Text in place.
    Fixed {
        ty: EntryType,
        offset: usize,
        len: usize,
    },
    /// The whole payload.
    Whole(EntryType),
    /// In the field of this index, which is not plain or follows one of varying size.
    Loose(usize),
}

/// Offsets of an event's attributes in a payload; any number for those that only a walk finds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AttributesAt {
    /// The one timestamp of the event or sample, or the range's start.
    pub(crate) time: Option<TimeAt>,
    /// The range's end, where `time` is its start.
    pub(crate) end: Option<TimeAt>,
    pub(crate) color: Option<usize>,
    pub(crate) category: Option<usize>,
    pub(crate) range_id: Option<usize>,
    /// The scope of one thing that the event has.
    pub(crate) purpose_scope: Option<usize>,
    pub(crate) scope: Option<usize>,
    pub(crate) process: Option<OsIdAt>,
    pub(crate) thread: Option<OsIdAt>,
}

/// One of [`AttributesAt`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attribute {
    Time,
    End,
    Color,
    Category,
    RangeId,
    PurposeScope,
    Scope,
    Process,
    Thread,
}

/// The scopes that semantics of entries name; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NamedScopes {
    /// Of an entry that is about one thing that the event has.
    pub(crate) purpose: u64,
    /// Of another entry: behind the batch's scope.
    pub(crate) general: u64,
}

/// The scopes that payloads name, by rank, best first; 0 says nothing. A batch's comes between the last two.
pub(crate) type Scopes = [u64; 4];
