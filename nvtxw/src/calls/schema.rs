//! Registration of payload schemas.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::{ArrayStyle, EntryType, raw};

use super::register::{text, time_semantics};
use super::{CounterSemantics, DomainHandle, LiveSession, Refusal};

/// A schema to register.
pub(crate) struct SchemaDefinition<'a> {
    pub(crate) name: Option<&'a CStr>,
    /// `NVTX_PAYLOAD_SCHEMA_TYPE_*`.
    pub(crate) kind: u64,
    pub(crate) flags: u64,
    pub(crate) size: usize,
    pub(crate) pack_align: Option<usize>,
    pub(crate) entries: &'a [EntryDefinition<'a>],
    /// 0 if the backend picks the ID.
    pub(crate) static_id: u64,
}

/// One entry of a schema.
pub(crate) struct EntryDefinition<'a> {
    pub(crate) flags: u64,
    pub(crate) ty: u64,
    pub(crate) name: &'a CStr,
    pub(crate) description: Option<&'a CStr>,
    pub(crate) detail: u64,
    pub(crate) offset: usize,
    pub(crate) semantics: EntrySemantics<'a>,
}

impl EntryDefinition<'_> {
    /// Whether the values are addresses that a backend follows. Text without any length is such.
    fn is_pointer(&self) -> bool {
        let is_text = EntryType::from_raw(self.ty).is_some_and(EntryType::is_string);
        let has_length =
            self.detail != 0 || ArrayStyle::from_raw(self.flags) != Some(ArrayStyle::None);
        self.flags & raw::NVTX_PAYLOAD_ENTRY_FLAG_POINTER != 0 || is_text && !has_length
    }
}

/// What an entry's values mean.
pub(crate) enum EntrySemantics<'a> {
    None,
    Counter(CounterSemantics<'a>),
    /// The ID of the time domain.
    Time(u64),
    Correlation {
        uuid: [u8; 16],
        name: Option<&'a CStr>,
    },
}

/// [`EntrySemantics`] as the ABI has it.
enum RawSemantics {
    None,
    Counter(raw::nvtxSemanticsCounter_t),
    Time(raw::nvtxSemanticsTime_t),
    Correlation(raw::nvtxSemanticsCorrelation_t),
}

impl RawSemantics {
    fn of(semantics: &EntrySemantics<'_>) -> Self {
        match *semantics {
            EntrySemantics::None => Self::None,
            EntrySemantics::Counter(counter) => Self::Counter(counter.to_raw()),
            EntrySemantics::Time(time_domain) => Self::Time(time_semantics(time_domain)),
            EntrySemantics::Correlation { uuid, name } => {
                Self::Correlation(raw::nvtxSemanticsCorrelation_t {
                    header: raw::nvtxSemanticsHeader_t {
                        structSize: size_of::<raw::nvtxSemanticsCorrelation_t>() as u32,
                        semanticId: raw::NVTX_SEMANTIC_ID_CORRELATION_V1,
                        version: raw::NVTX_CORRELATION_SEMANTIC_VERSION,
                        next: ptr::null(),
                    },
                    correlationDomainUuid: uuid,
                    displayName: text(name),
                    role: raw::NVTX_CORRELATION_ROLE_NONE,
                })
            }
        }
    }

    /// The address of the whole struct, as the list of semantics has it.
    fn header(&self) -> *const raw::nvtxSemanticsHeader_t {
        match self {
            Self::None => ptr::null(),
            Self::Counter(counter) => ptr::from_ref(counter).cast(),
            Self::Time(time) => ptr::from_ref(time).cast(),
            Self::Correlation(correlation) => ptr::from_ref(correlation).cast(),
        }
    }
}

impl LiveSession {
    /// Registers a schema in a domain of this session.
    pub(crate) fn register_schema(
        &self,
        domain: DomainHandle,
        schema: &SchemaDefinition<'_>,
    ) -> Result<u64, Refusal> {
        // What safe code writes must not be taken for an address.
        debug_assert!(!schema.entries.iter().any(EntryDefinition::is_pointer));
        let semantics: Vec<_> = schema
            .entries
            .iter()
            .map(|entry| RawSemantics::of(&entry.semantics))
            .collect();
        let entries: Vec<_> = schema
            .entries
            .iter()
            .zip(&semantics)
            .map(|(entry, semantics)| raw::nvtxPayloadSchemaEntry_t {
                flags: entry.flags,
                r#type: entry.ty,
                name: entry.name.as_ptr(),
                description: text(entry.description),
                arrayOrUnionDetail: entry.detail,
                offset: entry.offset as u64,
                semantics: semantics.header(),
                reserved: ptr::null(),
            })
            .collect();
        let mut mask = raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
            | raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
            | raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
            | raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
            | raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
        if schema.name.is_some() {
            mask |= raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
        }
        if schema.pack_align.is_some() {
            mask |= raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
        }
        if schema.static_id != 0 {
            mask |= raw::NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
        }
        let attributes = raw::nvtxPayloadSchemaAttr_t {
            fieldMask: mask,
            name: text(schema.name),
            r#type: schema.kind,
            flags: schema.flags,
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            payloadStaticSize: schema.size,
            packAlign: schema.pack_align.unwrap_or(0),
            schemaId: schema.static_id,
            extension: ptr::null_mut(),
        };
        let mut schema = 0;
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The names, the entries and their semantics live through the call, and `schema` is a place of the right type.
        self.id(
            unsafe { (self.functions().schema_register)(domain.0, &attributes, &mut schema) },
            schema,
        )
    }
}
