//! What a producer asks for, read from C and not checked any further.

use std::borrow::Cow;

use crate::enumeration::EnumEntry;
use crate::semantics::Semantics;

/// A session to begin.
pub(crate) struct SessionSpec<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) config: Option<Cow<'a, str>>,
}

/// A stream to open.
pub(crate) struct StreamSpec<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    /// A domain's handle; 0 is the default domain.
    pub(crate) domain: u64,
    pub(crate) scope: u64,
    pub(crate) time_domain: u64,
    pub(crate) interleaving: i16,
    pub(crate) ordering: i16,
    pub(crate) skid: i32,
    pub(crate) skid_amount: i64,
}

/// A scope to register.
pub(crate) struct ScopeSpec<'a> {
    pub(crate) path: Option<Cow<'a, str>>,
    pub(crate) parent: u64,
    pub(crate) id: u64,
}

/// A schema to register.
#[derive(Default)]
pub(crate) struct SchemaSpec<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) kind: u64,
    pub(crate) flags: u64,
    pub(crate) entries: Vec<EntrySpec<'a>>,
    /// 0 lets it be computed.
    pub(crate) size: usize,
    /// 0 is natural alignment.
    pub(crate) pack: usize,
    pub(crate) id: u64,
}

/// An entry of a schema.
#[derive(Default)]
pub(crate) struct EntrySpec<'a> {
    pub(crate) flags: u64,
    pub(crate) ty: u64,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) description: Option<Cow<'a, str>>,
    pub(crate) detail: u64,
    pub(crate) offset: u64,
    pub(crate) semantics: Semantics,
}

/// An enum to register.
pub(crate) struct EnumSpec<'a> {
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) entries: Vec<EnumEntry>,
    pub(crate) size: usize,
    pub(crate) id: u64,
}

/// A counter to register.
pub(crate) struct CounterSpec<'a> {
    pub(crate) schema: u64,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) description: Option<Cow<'a, str>>,
    pub(crate) scope: u64,
    pub(crate) semantics: Semantics,
    pub(crate) id: u64,
}

/// A resource to register.
pub(crate) struct ResourceSpec<'a> {
    pub(crate) kind: i32,
    pub(crate) identifier: u64,
    pub(crate) message: MessageSpec<'a>,
}

/// The name of a resource.
pub(crate) enum MessageSpec<'a> {
    None,
    Text(Cow<'a, str>),
    /// A registered string's handle.
    Registered(u64),
}
