//! What registers the schemas of structs.

use std::any::TypeId;

use nvtxw_abi::{EntryType, raw};

use crate::calls::{
    CounterSemantics, DomainHandle, EntryDefinition, EntrySemantics, EnumDefinition, LiveSession,
    Refusal, SchemaDefinition,
};
use crate::derived::{NvtxEnum, NvtxPayload};
use crate::describe::SchemaInfo;
use crate::domain::Registered;
use crate::error::Result;
use crate::field::TypeCode;
use crate::id::StaticId;
use crate::table::{Entry, EnumTable, SchemaTable, Semantics};

/// Registers schemas in a domain, and what they refer to, each thing once.
#[doc(hidden)]
pub struct Registrar<'a> {
    live: &'a LiveSession,
    domain: DomainHandle,
    registered: &'a mut Registered,
}

impl<'a> Registrar<'a> {
    /// The caller has borrowed the session mutably.
    pub(crate) fn new(
        live: &'a LiveSession,
        domain: DomainHandle,
        registered: &'a mut Registered,
    ) -> Self {
        Self {
            live,
            domain,
            registered,
        }
    }

    /// The ID of the schema of the type `ty`, which `table` describes; the given one, if it has to have that.
    pub(crate) fn schema(
        &mut self,
        ty: TypeId,
        table: &SchemaTable,
        static_id: Option<StaticId>,
    ) -> Result<u64> {
        let key = (ty, table.role);
        if let Some(&id) = self.registered.schemas.get(&key) {
            return StaticId::same(static_id, id, || {
                format!("schema `{}`", table.name.to_string_lossy())
            });
        }
        let mut entries = Vec::with_capacity(table.entries.len());
        for entry in table.entries {
            self.entry(entry, &mut entries)?;
        }
        let schema = SchemaDefinition {
            name: Some(table.name),
            kind: raw::NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
            flags: table.role.flags(),
            size: table.size,
            pack_align: table.pack_align,
            entries: &entries,
            static_id: StaticId::raw(static_id),
        };
        let id = self.define(&schema).map_err(|refusal| {
            refusal.of(
                "register",
                format!("schema `{}`", table.name.to_string_lossy()),
            )
        })?;
        let info = SchemaInfo {
            id,
            name: table.name.to_string_lossy().into(),
            role: table.role,
            row_size: table.size,
        };
        self.registered.schema_infos.insert(id, info);
        self.registered.schemas.insert(key, id);
        Ok(id)
    }

    /// The ID of the schema of a nested struct.
    pub(crate) fn payload<P: NvtxPayload>(&mut self) -> Result<u64> {
        const { P::CHECK };
        self.schema(TypeId::of::<P>(), &P::SCHEMA, None)
    }

    /// The ID of an enum.
    pub(crate) fn enumeration<E: NvtxEnum>(&mut self) -> Result<u64> {
        self.enum_of(TypeId::of::<E>(), &E::TABLE)
    }

    /// The ID of the enum with the values `false` and `true`, one byte.
    pub(crate) fn bool_enum(&mut self) -> Result<u64> {
        const TABLE: EnumTable = EnumTable {
            name: c"bool",
            size: 1,
            flags: false,
            values: &[(c"false", 0), (c"true", 1)],
        };
        self.enum_of(TypeId::of::<bool>(), &TABLE)
    }

    fn enum_of(&mut self, ty: TypeId, table: &EnumTable) -> Result<u64> {
        if let Some(&id) = self.registered.enums.get(&ty) {
            return Ok(id);
        }
        let definition = EnumDefinition {
            name: table.name,
            size: table.size,
            values: table.values,
            flags: table.flags,
            static_id: 0,
        };
        let id = self
            .live
            .register_enum(self.domain, &definition)
            .map_err(|refusal| {
                let name = table.name.to_string_lossy();
                refusal.of("register", format!("the enum of `{name}`"))
            })?;
        self.registered.enums.insert(ty, id);
        Ok(id)
    }

    /// Registers a schema.
    pub(crate) fn define(&self, schema: &SchemaDefinition<'_>) -> Result<u64, Refusal> {
        self.live.register_schema(self.domain, schema)
    }

    /// Adds the entry of a field; for text in a pool, also that of its length.
    fn entry(&mut self, entry: &Entry, entries: &mut Vec<EntryDefinition<'static>>) -> Result<()> {
        let mut flags = entry.role_flags;
        if entry.hide {
            flags |= raw::NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
        }
        let (mut offset, mut detail) = (entry.offset, entry.ty.count.unwrap_or(0));
        if let Some(length) = entry.length {
            flags |= raw::NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
                | raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
            detail = entries.len();
            entries.push(EntryDefinition {
                flags: raw::NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
                ty: EntryType::UInt64.to_raw(),
                name: length,
                description: None,
                detail: 0,
                offset,
                semantics: EntrySemantics::None,
            });
            offset += size_of::<u64>();
        } else if entry.ty.count.is_some() && !entry.ty.is_text() {
            flags |= raw::NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
        }
        let ty = match (entry.entry_type, entry.ty.code) {
            (Some(ty), _) | (None, TypeCode::Predefined(ty)) => ty.to_raw(),
            (None, TypeCode::Registered(register)) => register(self)?,
        };
        let semantics = match entry.semantics {
            Semantics::None => EntrySemantics::None,
            Semantics::Counter {
                unit,
                scale,
                min,
                max,
                interpolation,
                value_type,
            } => EntrySemantics::Counter(CounterSemantics {
                unit,
                scale,
                min,
                max,
                interpolation,
                value_type,
                normalize: false,
            }),
            Semantics::Time(clock) => EntrySemantics::Time(clock.to_raw()),
            Semantics::Correlation { uuid, name } => EntrySemantics::Correlation { uuid, name },
        };
        entries.push(EntryDefinition {
            flags,
            ty,
            name: entry.name,
            description: entry.description,
            detail: detail as u64,
            offset,
            semantics,
        });
        Ok(())
    }
}
