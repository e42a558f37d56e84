//! What a producer asks for, with its text as text and its semantics as they are meant; not checked any further.

use std::borrow::Cow;
use std::ffi::CStr;

use crate::call::{
    CounterAttributes, EnumAttributes, Message, ResourceAttributes, SchemaAttributes,
    ScopeAttributes,
};
use crate::enumeration::EnumEntry;
use crate::refusal::Result;
use crate::semantics::Semantics;
use crate::text::lossy;

/// A session to begin.
pub(crate) struct SessionSpec<'a> {
    pub(crate) name: Option<&'a CStr>,
    pub(crate) config: Option<&'a CStr>,
}

/// A stream to open.
pub(crate) struct StreamSpec<'a> {
    pub(crate) name: Option<&'a CStr>,
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

impl<'a> ScopeSpec<'a> {
    pub(crate) fn of(attributes: &ScopeAttributes<'a>) -> Self {
        Self {
            path: lossy(attributes.path),
            parent: attributes.parent,
            id: attributes.id,
        }
    }
}

impl<'a> SchemaSpec<'a> {
    pub(crate) fn of(attributes: &SchemaAttributes<'a>) -> Result<Self> {
        let entries = attributes.entries.iter().enumerate();
        let entries = entries.map(|(index, entry)| {
            let semantics = Semantics::of(&entry.semantics)
                .map_err(|refusal| refusal.at(entry_label(index, lossy(entry.name).as_deref())))?;
            Ok(EntrySpec {
                flags: entry.flags,
                ty: entry.ty,
                name: lossy(entry.name),
                description: lossy(entry.description),
                detail: entry.detail,
                offset: entry.offset,
                semantics,
            })
        });
        Ok(Self {
            name: lossy(attributes.name),
            kind: attributes.kind,
            flags: attributes.flags,
            entries: entries.collect::<Result<_>>()?,
            size: attributes.size,
            pack: attributes.pack,
            id: attributes.id,
        })
    }
}

impl<'a> EnumSpec<'a> {
    pub(crate) fn of(attributes: &EnumAttributes<'a>) -> Self {
        let entries = attributes.entries.iter().map(|entry| EnumEntry {
            name: entry.name.to_string_lossy().into(),
            value: entry.value,
            is_flag: entry.is_flag,
        });
        Self {
            name: lossy(attributes.name),
            entries: entries.collect(),
            size: attributes.size,
            id: attributes.id,
        }
    }
}

impl<'a> CounterSpec<'a> {
    pub(crate) fn of(attributes: &CounterAttributes<'a>) -> Result<Self> {
        Ok(Self {
            schema: attributes.schema,
            name: lossy(attributes.name),
            description: lossy(attributes.description),
            scope: attributes.scope,
            semantics: Semantics::of(&attributes.semantics)
                .map_err(|refusal| refusal.at("attr"))?,
            id: attributes.id,
        })
    }
}

impl<'a> ResourceSpec<'a> {
    pub(crate) fn of(attributes: &ResourceAttributes<'a>) -> Self {
        Self {
            kind: attributes.kind,
            identifier: attributes.identifier,
            message: match &attributes.message {
                Message::None { .. } => MessageSpec::None,
                Message::Text(text) => MessageSpec::Text(text.to_string_lossy()),
                Message::Wide(units) => MessageSpec::Text(wide(units).into()),
                Message::Registered(handle) => MessageSpec::Registered(*handle),
            },
        }
    }
}

/// Text of wide characters, with U+FFFD for what is none.
fn wide(units: &[u32]) -> String {
    if cfg!(windows) {
        let units = units.iter().map(|unit| *unit as u16);
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    } else {
        units
            .iter()
            .map(|unit| char::from_u32(*unit).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    }
}

/// How people call an entry.
pub(crate) fn entry_label(index: usize, name: Option<&str>) -> String {
    match name {
        None | Some("") => format!("entry {index}"),
        Some(name) => format!("entry {index} `{name}`"),
    }
}
