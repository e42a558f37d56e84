//! The fields of rows that only the run of a program makes known.

use std::hash::{Hash, Hasher};

use nvtxw_abi::{EntryPurpose, EntryRole, EntryType, EventKind, SchemaRole, TimestampRole, raw};

use crate::counter_options::CounterSemantics;
use crate::enumeration::Enumeration;
use crate::rows::RowSchema;
use crate::time::Clock;

/// The type of a [`RowField`]: numbers in this machine's byte order, and what is made of them.
///
/// None of them refers to memory elsewhere, so that whatever bytes a row holds, it can be written. Registered strings are
/// for [`RecordLayout`](crate::RecordLayout).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum RowType {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    BF16,
    F32,
    F64,
    /// One byte, 0 or 1.
    Bool,
    /// A UTF-32 code unit: Rust's `char`.
    Char,
    /// A byte of no known meaning.
    Byte,
    /// An address, which is shown and not followed, in the size of this machine's.
    Address,
    /// UTF-8 text of so many bytes; a NUL ends it before.
    Text(usize),
    /// UTF-8 text of any length up to a NUL; only in a [`payload`](crate::RowLayout::payload), behind all fields of other
    /// types. The texts follow each other, and the row ends with the last one's NUL.
    TerminatedText,
    /// A value of an enum.
    Enumeration(Enumeration),
    /// A row of another layout, which must be a [`payload`](crate::RowLayout::payload).
    Row(RowSchema),
}

/// How a type lies in memory.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) size: usize,
    pub(crate) align: usize,
}

impl RowType {
    /// The ABI's type, if it has one of its own.
    pub(crate) fn entry_type(self) -> Option<EntryType> {
        Some(match self {
            Self::I8 => EntryType::Int8,
            Self::I16 => EntryType::Int16,
            Self::I32 => EntryType::Int32,
            Self::I64 => EntryType::Int64,
            Self::I128 => EntryType::Int128,
            Self::U8 => EntryType::UInt8,
            Self::U16 => EntryType::UInt16,
            Self::U32 => EntryType::UInt32,
            Self::U64 => EntryType::UInt64,
            Self::U128 => EntryType::UInt128,
            Self::F16 => EntryType::Float16,
            Self::BF16 => EntryType::BFloat16,
            Self::F32 => EntryType::Float32,
            Self::F64 => EntryType::Float64,
            Self::Char => EntryType::Char32,
            Self::Byte => EntryType::Byte,
            Self::Address => EntryType::Address,
            Self::Text(_) | Self::TerminatedText => EntryType::CStringUtf8,
            Self::Bool | Self::Enumeration(_) | Self::Row(_) => return None,
        })
    }

    fn extent(self) -> Extent {
        let of = |size: usize| Extent { size, align: size };
        match self {
            Self::Bool => of(1),
            Self::Text(size) => Extent { size, align: 1 },
            Self::TerminatedText => Extent { size: 0, align: 1 },
            Self::Enumeration(enumeration) => of(enumeration.size),
            Self::Row(schema) => schema.extent(),
            _ => {
                let layout = self.entry_type().and_then(EntryType::layout);
                let (size, align) = layout.unwrap_or((1, 1));
                Extent { size, align }
            }
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::TerminatedText)
    }

    fn is_numeric(self) -> bool {
        self.entry_type().is_some_and(EntryType::is_numeric)
    }
}

/// What a field is to its event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FieldRole {
    None,
    Timestamp,
    TimestampStart,
    TimestampEnd,
    Message,
    Color,
    Category,
    Scope,
    RangeId,
    Correlation(String),
}

impl FieldRole {
    /// The role's name, as the derive has it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Timestamp => "timestamp",
            Self::TimestampStart => "timestamp_start",
            Self::TimestampEnd => "timestamp_end",
            Self::Message => "message",
            Self::Color => "color",
            Self::Category => "category",
            Self::Scope => "scope",
            Self::RangeId => "range_id",
            Self::Correlation(_) => "correlation",
        }
    }

    /// What the role is stored in, in words, unless `ty` will do.
    fn lacks(&self, ty: RowType) -> Option<&'static str> {
        let (fits, words) = match self {
            Self::None => (true, ""),
            Self::Timestamp | Self::TimestampStart | Self::TimestampEnd => {
                (matches!(ty, RowType::I64 | RowType::U64), "an i64 or a u64")
            }
            Self::Message => (ty.is_text(), "text"),
            Self::Color | Self::Category => (ty == RowType::U32, "a u32"),
            Self::Scope | Self::RangeId => (ty == RowType::U64, "a u64"),
            Self::Correlation(_) => (
                matches!(ty, RowType::U64 | RowType::I64 | RowType::U32),
                "a u64, an i64 or a u32",
            ),
        };
        (!fits).then_some(words)
    }

    /// Whether a layout of this role may have the field.
    pub(crate) fn belongs_to(&self, role: SchemaRole) -> bool {
        match (self, role) {
            (Self::None, _) => true,
            (Self::Timestamp, SchemaRole::CounterGroup) => true,
            (_, SchemaRole::CounterGroup) => false,
            (Self::Correlation(_) | Self::Message, SchemaRole::Generic) => true,
            (_, SchemaRole::Generic) => false,
            (Self::Timestamp, SchemaRole::Event(kind)) => kind == EventKind::Mark,
            (Self::TimestampStart, SchemaRole::Event(kind)) => is_start(kind),
            (Self::TimestampEnd, SchemaRole::Event(kind)) => is_end(kind),
            (Self::RangeId, SchemaRole::Event(kind)) => has_id(kind),
            (_, SchemaRole::Event(_)) => true,
        }
    }

    /// The flags and the type that the entry has for this.
    pub(crate) fn entry(&self, role: SchemaRole) -> (u64, Option<EntryType>) {
        let timestamp = |role| EntryRole::Timestamp(role).flags();
        match self {
            Self::None if role == SchemaRole::CounterGroup => {
                (EntryRole::Purpose(EntryPurpose::Counter).flags(), None)
            }
            Self::None | Self::Correlation(_) => (0, None),
            Self::Timestamp if role == SchemaRole::CounterGroup => {
                (timestamp(TimestampRole::Plain), None)
            }
            Self::Timestamp => (timestamp(TimestampRole::Mark), None),
            Self::TimestampStart => (timestamp(TimestampRole::RangeBegin), None),
            Self::TimestampEnd => (timestamp(TimestampRole::RangeEnd), None),
            Self::Message => (EntryRole::Message.flags(), None),
            Self::Color => (0, Some(EntryType::ColorArgb)),
            Self::Category => (0, Some(EntryType::Category)),
            Self::Scope => (0, Some(EntryType::ScopeId)),
            Self::RangeId => (0, Some(EntryType::RangeId)),
        }
    }
}

fn is_start(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Mark | EventKind::RangePop | EventKind::RangeEnd
    )
}

fn is_end(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Mark | EventKind::RangePush | EventKind::RangeStart
    )
}

fn has_id(kind: EventKind) -> bool {
    matches!(kind, EventKind::RangeStart | EventKind::RangeEnd)
}

/// A field of a [`RowLayout`](crate::RowLayout).
///
/// ```
/// use nvtxw::{CounterSemantics, RowField, RowType};
///
/// let start = RowField::new("start", RowType::I64).timestamp_start();
/// let grid = RowField::new("grid", RowType::U32).array(3).description("blocks per dimension");
/// let shared = RowField::new("shared", RowType::U64).semantics(CounterSemantics::new().unit("bytes"));
/// # let _ = (start, grid, shared);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct RowField {
    pub(crate) name: String,
    pub(crate) ty: RowType,
    pub(crate) count: Option<usize>,
    pub(crate) role: FieldRole,
    pub(crate) offset: Option<usize>,
    pub(crate) description: Option<String>,
    pub(crate) hidden: bool,
    pub(crate) semantics: CounterSemantics,
    pub(crate) clock: Option<Clock>,
}

impl RowField {
    /// A field that is data and nothing else; in a counter group, a counter.
    pub fn new(name: &str, ty: RowType) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            count: None,
            role: FieldRole::None,
            offset: None,
            description: None,
            hidden: false,
            semantics: CounterSemantics::new(),
            clock: None,
        }
    }

    /// Hashes all parts, so that equal fields have equal hashes.
    pub(crate) fn hash(&self, state: &mut impl Hasher) {
        let Self {
            name,
            ty,
            count,
            role,
            offset,
            description,
            hidden,
            semantics,
            clock,
        } = self;
        (name, ty, count, role, offset, description, hidden, clock).hash(state);
        semantics.hash(state);
    }

    /// It is an array of `count` such values.
    pub fn array(mut self, count: usize) -> Self {
        self.count = Some(count);
        self
    }

    /// It begins `offset` bytes from the row's start, instead of where C would put it after the field before.
    pub fn at(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    /// What it holds, for people.
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// Viewers don't show it.
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// What its numbers mean.
    pub fn semantics(mut self, semantics: CounterSemantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// It is a timestamp of this clock, instead of the stream's: a [`TimestampType`](crate::TimestampType) or a
    /// [`TimeDomain`](crate::TimeDomain) of the layout's domain.
    pub fn time_domain(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = Some(clock.into());
        self
    }

    /// When the mark happens, or the counters were sampled.
    pub fn timestamp(self) -> Self {
        self.role(FieldRole::Timestamp)
    }

    /// When the range starts.
    pub fn timestamp_start(self) -> Self {
        self.role(FieldRole::TimestampStart)
    }

    /// When the range ends.
    pub fn timestamp_end(self) -> Self {
        self.role(FieldRole::TimestampEnd)
    }

    /// The event's message.
    pub fn message(self) -> Self {
        self.role(FieldRole::Message)
    }

    /// The event's colour: a number as [`Argb::to_u32`](crate::Argb::to_u32) gives it.
    pub fn color(self) -> Self {
        self.role(FieldRole::Color)
    }

    /// The event's category: a number as [`CategoryId::to_u32`](crate::CategoryId::to_u32) gives it.
    pub fn category(self) -> Self {
        self.role(FieldRole::Category)
    }

    /// The event's scope: a number as [`ScopeId::to_u64`](crate::ScopeId::to_u64) gives it.
    pub fn scope(self) -> Self {
        self.role(FieldRole::Scope)
    }

    /// What joins the start of a range to its end: a number that isn't 0.
    pub fn range_id(self) -> Self {
        self.role(FieldRole::RangeId)
    }

    /// A number that relates events: those with the same one in correlations of this name belong together.
    pub fn correlation(self, name: &str) -> Self {
        self.role(FieldRole::Correlation(name.to_owned()))
    }

    fn role(mut self, role: FieldRole) -> Self {
        self.role = role;
        self
    }

    pub(crate) fn extent(&self) -> Extent {
        let Extent { size, align } = self.ty.extent();
        Extent {
            size: size.saturating_mul(self.count.unwrap_or(1)),
            align,
        }
    }

    /// `NVTX_PAYLOAD_ENTRY_FLAG_*`, beside those of the role, and the detail of the entry.
    pub(crate) fn shape(&self) -> (u64, usize) {
        let mut flags = 0;
        if self.hidden {
            flags |= raw::NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
        }
        match (self.ty, self.count) {
            (RowType::Text(size), _) => (flags, size),
            (RowType::TerminatedText, _) => (
                flags | raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
                0,
            ),
            (_, Some(count)) => (flags | raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, count),
            (_, None) => (flags, 0),
        }
    }

    /// What is wrong with the field in a layout of this role.
    pub(crate) fn problem(&self, layout: SchemaRole) -> Option<String> {
        let name = &self.name;
        if self.ty == RowType::TerminatedText && layout != SchemaRole::Generic {
            return Some(format!(
                "field `{name}` is text of any length, which only payloads have; give it a fixed size with `RowType::Text`"
            ));
        }
        if self.extent().size == 0 && self.ty != RowType::TerminatedText {
            return Some(format!("field `{name}` has no bytes; leave it out"));
        }
        let role = self.role.name();
        if !self.role.belongs_to(layout) {
            return Some(format!(
                "{} has no {role}, as field `{name}` is",
                words(layout)
            ));
        }
        if let Some(storage) = self.role.lacks(self.ty) {
            return Some(format!(
                "field `{name}` is a {role}, which is {storage}, not {:?}",
                self.ty
            ));
        }
        let is_plain = self.role == FieldRole::None;
        if self.count.is_some() && (!is_plain || self.ty.is_text()) {
            return Some(format!(
                "field `{name}` is an array; only plain numbers, enums and rows are"
            ));
        }
        if layout == SchemaRole::CounterGroup
            && is_plain
            && (!self.ty.is_numeric() || self.count.is_some())
        {
            return Some(format!(
                "field `{name}` is not one number; a counter is an integer or a float"
            ));
        }
        if let RowType::Row(schema) = self.ty
            && schema.role != SchemaRole::Generic
        {
            return Some(format!(
                "field `{name}` is a row of an event or a counter group; nest a `RowLayout::payload`"
            ));
        }
        if let RowType::Row(schema) = self.ty
            && schema.texts > 0
        {
            return Some(format!(
                "field `{name}` is a row with text of any length; nest one whose text has a fixed size"
            ));
        }
        if !self.semantics.is_empty() {
            if !is_plain || !self.ty.is_numeric() {
                return Some(format!(
                    "field `{name}` is no plain number, so it has no unit, scale, limits and so on"
                ));
            }
            if let Some(ty) = self.ty.entry_type()
                && let Some(problem) = self.semantics.problem(ty)
            {
                return Some(format!("field `{name}`: {problem}"));
            }
        }
        if self.clock.is_some()
            && EntryRole::from_flags(self.role.entry(layout).0)
                .is_none_or(|role| !matches!(role, EntryRole::Timestamp(_)))
        {
            return Some(format!(
                "field `{name}` is no timestamp, so it has no time domain"
            ));
        }
        None
    }
}

/// What a row is called in an error.
pub(crate) fn words(role: SchemaRole) -> String {
    match role {
        SchemaRole::Generic => "a payload".to_owned(),
        SchemaRole::CounterGroup => "a counter group".to_owned(),
        SchemaRole::Event(kind) => format!("an event of kind {}", kind.name()),
    }
}
