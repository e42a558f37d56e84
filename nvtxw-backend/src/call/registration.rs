//! What a producer registers, and opens streams with.

use std::ffi::CStr;

/// A registration that was accepted, with the ID or the handle that the producer gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Registration<'a> {
    /// The domain itself. Of several with one name, and of those without one, all but the first get what is there.
    Domain {
        /// Its name. Without one, or with an empty one, it is the session's default domain.
        name: Option<&'a CStr>,
    },
    /// A category's name.
    Category {
        /// The category.
        category: u32,
        /// Its name; what an earlier call said counts no more.
        name: &'a CStr,
    },
    /// A string.
    String {
        /// Its text.
        text: &'a CStr,
        /// Its handle, as it is in payloads.
        handle: u64,
    },
    /// A name for an object of the traced program.
    Resource(ResourceAttributes<'a>),
    /// A scope.
    Scope {
        /// What was asked for.
        attributes: ScopeAttributes<'a>,
        /// Its ID.
        id: u64,
    },
    /// A schema.
    Schema {
        /// What was asked for.
        attributes: SchemaAttributes<'a>,
        /// Its ID.
        id: u64,
    },
    /// An enum.
    Enum {
        /// What was asked for.
        attributes: EnumAttributes<'a>,
        /// Its ID, of those of schemas.
        id: u64,
    },
    /// A counter.
    Counter {
        /// What was asked for.
        attributes: CounterAttributes<'a>,
        /// Its ID.
        id: u64,
    },
    /// A time domain.
    TimeDomain {
        /// What was asked for.
        attributes: TimeDomainAttributes,
        /// Its ID.
        id: u64,
    },
}

impl Registration<'_> {
    /// The function of the table that was called.
    pub fn member(&self) -> &'static str {
        match self {
            Self::Domain { .. } => "DomainRegister",
            Self::Category { .. } => "CategoryRegister",
            Self::String { .. } => "StringRegister",
            Self::Resource(_) => "ResourceRegister",
            Self::Scope { .. } => "ScopeRegister",
            Self::Schema { .. } => "SchemaRegister",
            Self::Enum { .. } => "EnumRegister",
            Self::Counter { .. } => "CounterRegister",
            Self::TimeDomain { .. } => "TimeDomainRegister",
        }
    }
}

/// `nvtxResourceAttributes_t`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceAttributes<'a> {
    /// The version that the struct says it has.
    pub version: u16,
    /// What the identifier is: a [`ResourceType`](crate::ResourceType) or another number.
    pub kind: i32,
    /// Which object is meant: an address or a number.
    pub identifier: u64,
    /// Its name.
    pub message: Message<'a>,
}

/// The name of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<'a> {
    /// None: a null pointer, or a type that says so.
    None {
        /// The type of what isn't there.
        kind: i32,
    },
    /// Text of bytes.
    Text(&'a CStr),
    /// Text of wide characters (UTF-16 on Windows, else UTF-32), without the null.
    Wide(Vec<u32>),
    /// A registered string's handle.
    Registered(u64),
}

/// `nvtxScopeAttr_t`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopeAttributes<'a> {
    /// The path below the parent.
    pub path: Option<&'a CStr>,
    /// The parent's ID.
    pub parent: u64,
    /// The ID that the producer picked; 0 if it did not.
    pub id: u64,
}

/// `nvtxPayloadSchemaAttr_t`. What the mask leaves out is `None` or 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemaAttributes<'a> {
    /// Which fields the producer set: type, entries and their number are among them.
    pub mask: u64,
    /// The schema's name.
    pub name: Option<&'a CStr>,
    /// Static, dynamic or a union.
    pub kind: u64,
    /// The role, and more.
    pub flags: u64,
    /// The entries.
    pub entries: Vec<EntryAttributes<'a>>,
    /// Bytes of a payload; 0 lets it be computed.
    pub size: usize,
    /// The greatest alignment; 0 is the natural one.
    pub pack: usize,
    /// The ID that the producer picked; 0 if it did not.
    pub id: u64,
}

/// `nvtxPayloadSchemaEntry_t`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryAttributes<'a> {
    /// Array style, role, and more.
    pub flags: u64,
    /// A predefined type, or the ID of a schema or of an enum.
    pub ty: u64,
    /// The entry's name.
    pub name: Option<&'a CStr>,
    /// What it holds, for people.
    pub description: Option<&'a CStr>,
    /// A length, or the index of what has it or selects a union's member.
    pub detail: u64,
    /// Bytes from the payload's start; 0 in all entries but the first lets it be computed.
    pub offset: u64,
    /// What it means beyond its type.
    pub semantics: Vec<SemanticNode<'a>>,
    /// The pointer that the ABI reserves, as a number: 0 for null. It is never followed nor passed on.
    pub reserved: u64,
}

/// A node of a list of semantics.
#[derive(Clone, Debug, PartialEq)]
pub struct SemanticNode<'a> {
    /// How many bytes the node has.
    pub size: u32,
    /// The version that it says it has.
    pub version: u16,
    /// What it says.
    pub semantic: Semantic<'a>,
}

/// What a node of a list of semantics says.
#[derive(Clone, Debug, PartialEq)]
pub enum Semantic<'a> {
    /// `nvtxSemanticsScope_t`: a scope's ID.
    Scope(u64),
    /// `nvtxSemanticsTime_t`: a time domain's ID.
    Time(u64),
    /// `nvtxSemanticsCorrelation_t`.
    Correlation {
        /// Which correlation domain: a UUID.
        domain: [u8; 16],
        /// Its name.
        name: Option<&'a CStr>,
        /// What the value is in it.
        role: u64,
    },
    /// `nvtxSemanticsCounter_t`.
    Counter {
        /// Value type, interpolation, which limits there are.
        flags: u64,
        /// The unit.
        unit: Option<&'a CStr>,
        /// Numerator and denominator of the scale.
        scale: (u64, u64),
        /// The type of the limits.
        limit_type: i64,
        /// The bits of the minimum.
        min: u64,
        /// The bits of the maximum.
        max: u64,
    },
    /// One that the ABI of today doesn't know.
    Other {
        /// Its number.
        kind: u16,
        /// What comes after its header.
        bytes: &'a [u8],
    },
}

/// `nvtxPayloadEnumAttr_t`. What the mask leaves out is `None` or 0.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumAttributes<'a> {
    /// Which fields the producer set: entries, their number and the size are among them.
    pub mask: u64,
    /// The enum's name.
    pub name: Option<&'a CStr>,
    /// The named values.
    pub entries: Vec<EnumValue<'a>>,
    /// Bytes of one value.
    pub size: usize,
    /// The ID that the producer picked; 0 if it did not.
    pub id: u64,
}

/// `nvtxPayloadEnum_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumValue<'a> {
    /// The value's name.
    pub name: &'a CStr,
    /// The value.
    pub value: u64,
    /// Whether it is a bit, or some, that may be combined with others.
    pub is_flag: bool,
}

/// `nvtxCounterAttr_t`.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterAttributes<'a> {
    /// A predefined type, or the ID of a schema.
    pub schema: u64,
    /// The counter's name.
    pub name: Option<&'a CStr>,
    /// What is counted, for people.
    pub description: Option<&'a CStr>,
    /// The ID of its scope.
    pub scope: u64,
    /// What its values mean beyond their type.
    pub semantics: Vec<SemanticNode<'a>>,
    /// The ID that the producer picked; 0 if it did not.
    pub id: u64,
}

/// `nvtxTimeDomainAttr_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeDomainAttributes {
    /// The ID of the scope whose clock this is.
    pub scope: u64,
    /// Which clock this is: a [`TimestampType`](crate::TimestampType).
    pub timestamp_type: u64,
    /// The ID that the producer picked; 0 if it did not.
    pub id: u64,
    /// What holds for the clock.
    pub flags: u64,
    /// Ticks per second; 0 if unknown.
    pub resolution: i64,
    /// When the clock stood at 0.
    pub start: u64,
}

/// `nvtxwStreamAttributes_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamAttributes<'a> {
    /// The stream's name.
    pub name: Option<&'a CStr>,
    /// The [number](crate::Domain::index) of its domain in the session.
    pub domain: u32,
    /// Whether the producer gave that domain's handle; if not, it is the default domain.
    pub names_domain: bool,
    /// The ID of the scope of what names none.
    pub scope: u64,
    /// The ID of the time domain of timestamps that name none.
    pub time_domain: u64,
    /// Among which data the order holds.
    pub interleaving: i16,
    /// By which of its timestamps an event takes its place.
    pub ordering: i16,
    /// The unit of how late data may come.
    pub skid: i32,
    /// How late data may come, in that unit.
    pub skid_amount: i64,
}
