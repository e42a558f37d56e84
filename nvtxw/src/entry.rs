//! The entries of schemas that are put together at run time.

use std::ffi::{CStr, CString};

use nvtxw_abi::{SchemaRole, raw};

use crate::calls::{EntryDefinition, EntrySemantics, Refusal, SchemaDefinition};
use crate::counter_options::CounterSemantics;
use crate::id::StaticId;
use crate::register::Registrar;
use crate::table::correlation_uuid;

/// An entry that holds its texts.
#[derive(Debug)]
pub(crate) struct OwnedEntry {
    pub(crate) name: CString,
    pub(crate) description: Option<CString>,
    /// `NVTX_PAYLOAD_ENTRY_FLAG_*`.
    pub(crate) flags: u64,
    pub(crate) ty: u64,
    pub(crate) detail: usize,
    pub(crate) offset: usize,
    pub(crate) semantics: OwnedSemantics,
}

/// What an entry's values mean.
#[derive(Debug)]
pub(crate) enum OwnedSemantics {
    None,
    /// With the unit, which the semantics have too, as C has it.
    Counter(CounterSemantics, Option<CString>),
    /// The correlation of this name.
    Correlation(CString),
    /// The number of a time domain.
    Time(u64),
}

impl OwnedEntry {
    fn borrow(&self) -> EntryDefinition<'_> {
        EntryDefinition {
            flags: self.flags,
            ty: self.ty,
            name: &self.name,
            description: self.description.as_deref(),
            detail: self.detail as u64,
            offset: self.offset,
            semantics: match &self.semantics {
                OwnedSemantics::None => EntrySemantics::None,
                OwnedSemantics::Counter(semantics, unit) => semantics
                    .with_unit(unit.as_deref())
                    .map_or(EntrySemantics::None, EntrySemantics::Counter),
                OwnedSemantics::Correlation(name) => EntrySemantics::Correlation {
                    uuid: correlation_uuid(name),
                    name: Some(name),
                },
                OwnedSemantics::Time(clock) => EntrySemantics::Time(*clock),
            },
        }
    }
}

/// Registers a schema of rows of `size` bytes, or of more, if they vary.
pub(crate) fn register(
    registrar: &Registrar<'_>,
    name: &CStr,
    role: SchemaRole,
    (size, pack_align, varies): (usize, Option<usize>, bool),
    static_id: Option<StaticId>,
    entries: &[OwnedEntry],
) -> Result<u64, Refusal> {
    let entries: Vec<_> = entries.iter().map(OwnedEntry::borrow).collect();
    registrar.define(&SchemaDefinition {
        name: Some(name),
        kind: if varies {
            raw::NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC
        } else {
            raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC
        },
        flags: role.flags(),
        size: if varies { 0 } else { size },
        pack_align,
        entries: &entries,
        static_id: StaticId::raw(static_id),
    })
}
