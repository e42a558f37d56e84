//! Registration of strings, categories, scopes, enums and counters.

use std::ffi::CStr;
use std::ptr;

use nvtxw_abi::{Interpolation, Limit, ResultCode, ValueType, raw};

use super::{DomainHandle, LiveSession, StringHandle};
use crate::error::Error;

/// Why a lifecycle or registration call didn't give what it should.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// The backend said no.
    Code {
        code: ResultCode,
        /// Why, if the backend tells.
        reason: Option<String>,
    },
    /// The backend said yes, and gave a null handle or the ID 0.
    NullHandle,
}

impl Refusal {
    /// The error of trying to `operation` the `object`.
    pub(crate) fn of(self, operation: &'static str, object: String) -> Error {
        match self {
            Self::Code { code, reason } => Error::Call {
                operation,
                object,
                code,
                reason,
            },
            Self::NullHandle => Error::NullHandle { operation, object },
        }
    }
}

/// A counter or a counter group to register.
pub(crate) struct CounterDefinition<'a> {
    pub(crate) name: &'a CStr,
    pub(crate) description: Option<&'a CStr>,
    pub(crate) schema: u64,
    pub(crate) scope: u64,
    pub(crate) semantics: Option<CounterSemantics<'a>>,
    pub(crate) time_domain: Option<u64>,
    /// 0 if the backend picks the ID.
    pub(crate) static_id: u64,
}

/// A scope to register.
pub(crate) struct ScopeDefinition<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) parent: u64,
    /// 0 if the backend picks the ID.
    pub(crate) static_id: u64,
}

/// An enum to register.
pub(crate) struct EnumDefinition<'a> {
    pub(crate) name: &'a CStr,
    /// Bytes of a value.
    pub(crate) size: usize,
    pub(crate) values: &'a [(&'a CStr, u64)],
    /// The values are bits that may be combined.
    pub(crate) flags: bool,
    /// 0 if the backend picks the ID.
    pub(crate) static_id: u64,
}

/// What a counter's values mean. Both limits are of one type.
#[derive(Clone, Copy)]
pub(crate) struct CounterSemantics<'a> {
    pub(crate) unit: Option<&'a CStr>,
    pub(crate) scale: (u64, u64),
    pub(crate) min: Option<Limit>,
    pub(crate) max: Option<Limit>,
    pub(crate) interpolation: Option<Interpolation>,
    pub(crate) value_type: Option<ValueType>,
    /// Integers stand for the range 0 to 1, or -1 to 1 if they are signed.
    pub(crate) normalize: bool,
}

impl CounterSemantics<'_> {
    pub(super) fn to_raw(self) -> raw::nvtxSemanticsCounter_t {
        let (min_type, min) = self
            .min
            .map_or((raw::NVTX_COUNTER_LIMIT_UNDEFINED, 0), Limit::to_raw);
        let (max_type, max) = self.max.map_or((min_type, 0), Limit::to_raw);
        let mut flags = self.interpolation.map_or(0, Interpolation::to_raw);
        flags |= self.value_type.map_or(0, ValueType::to_raw);
        if self.normalize {
            flags |= raw::NVTX_COUNTER_FLAG_NORMALIZE;
        }
        if self.min.is_some() {
            flags |= raw::NVTX_COUNTER_FLAG_LIMIT_MIN;
        }
        if self.max.is_some() {
            flags |= raw::NVTX_COUNTER_FLAG_LIMIT_MAX;
        }
        raw::nvtxSemanticsCounter_t {
            header: raw::nvtxSemanticsHeader_t {
                structSize: size_of::<raw::nvtxSemanticsCounter_t>() as u32,
                semanticId: raw::NVTX_SEMANTIC_ID_COUNTERS_V1,
                version: raw::NVTX_COUNTER_SEMANTIC_VERSION,
                next: ptr::null(),
            },
            flags,
            unit: text(self.unit),
            unitScaleNumerator: self.scale.0,
            unitScaleDenominator: self.scale.1,
            limitType: max_type,
            min: raw::nvtxCounterLimit_t { u64: min },
            max: raw::nvtxCounterLimit_t { u64: max },
        }
    }
}

/// The semantics of a timestamp, or of a counter, that names its time domain.
pub(super) fn time_semantics(time_domain: u64) -> raw::nvtxSemanticsTime_t {
    raw::nvtxSemanticsTime_t {
        header: raw::nvtxSemanticsHeader_t {
            structSize: size_of::<raw::nvtxSemanticsTime_t>() as u32,
            semanticId: raw::NVTX_SEMANTIC_ID_TIME_V1,
            version: raw::NVTX_TIME_SEMANTIC_VERSION,
            next: ptr::null(),
        },
        timeDomainId: time_domain,
    }
}

/// The pointer of an optional text.
pub(super) fn text(text: Option<&CStr>) -> *const std::ffi::c_char {
    text.map_or(ptr::null(), CStr::as_ptr)
}

impl LiveSession {
    /// The ID that a registration gave, which is never 0.
    pub(super) fn id(&self, code: raw::nvtxwResultCode_t, id: u64) -> Result<u64, Refusal> {
        self.check(code)?;
        if id == 0 {
            Err(Refusal::NullHandle)
        } else {
            Ok(id)
        }
    }

    /// Registers a string in a domain of this session.
    pub(crate) fn register_string(
        &self,
        domain: DomainHandle,
        string: &CStr,
    ) -> Result<StringHandle, Refusal> {
        let mut handle = ptr::null_mut();
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The string lives through the call, and `handle` is a place of the right type.
        self.check(unsafe {
            (self.functions().string_register)(domain.0, string.as_ptr(), &mut handle)
        })?;
        if handle.is_null() {
            Err(Refusal::NullHandle)
        } else {
            Ok(StringHandle(handle))
        }
    }

    /// Names a category of a domain of this session.
    pub(crate) fn register_category(
        &self,
        domain: DomainHandle,
        id: u32,
        name: &CStr,
    ) -> Result<(), Refusal> {
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The name lives through the call.
        self.check(unsafe { (self.functions().category_register)(domain.0, id, name.as_ptr()) })
    }

    /// Registers a scope in a domain of this session.
    pub(crate) fn register_scope(
        &self,
        domain: DomainHandle,
        scope: &ScopeDefinition<'_>,
    ) -> Result<u64, Refusal> {
        let attributes = raw::nvtxScopeAttr_t {
            structSize: size_of::<raw::nvtxScopeAttr_t>(),
            path: scope.path.as_ptr(),
            parentScope: scope.parent,
            scopeId: scope.static_id,
        };
        let mut scope = 0;
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The path lives through the call, and `scope` is a place of the right type.
        self.id(
            unsafe { (self.functions().scope_register)(domain.0, &attributes, &mut scope) },
            scope,
        )
    }

    /// Registers an enum in a domain of this session.
    pub(crate) fn register_enum(
        &self,
        domain: DomainHandle,
        enumeration: &EnumDefinition<'_>,
    ) -> Result<u64, Refusal> {
        let entries: Vec<_> = enumeration
            .values
            .iter()
            .map(|&(name, value)| raw::nvtxPayloadEnum_t {
                name: name.as_ptr(),
                value,
                isFlag: i8::from(enumeration.flags && value != 0),
            })
            .collect();
        let mut mask = raw::NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME
            | raw::NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
            | raw::NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
            | raw::NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
        if enumeration.static_id != 0 {
            mask |= raw::NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
        }
        let attributes = raw::nvtxPayloadEnumAttr_t {
            fieldMask: mask,
            name: enumeration.name.as_ptr(),
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            sizeOfEnum: enumeration.size,
            schemaId: enumeration.static_id,
            extension: ptr::null_mut(),
        };
        let mut schema = 0;
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The names and the entries live through the call, and `schema` is a place of the right type.
        self.id(
            unsafe { (self.functions().enum_register)(domain.0, &attributes, &mut schema) },
            schema,
        )
    }

    /// Registers a counter in a domain of this session.
    pub(crate) fn register_counter(
        &self,
        domain: DomainHandle,
        counter: &CounterDefinition<'_>,
    ) -> Result<u64, Refusal> {
        let time = counter.time_domain.map(time_semantics);
        let time = time
            .as_ref()
            .map_or(ptr::null(), |time| ptr::from_ref(time).cast());
        let semantics = counter.semantics.map(|semantics| {
            let mut semantics = semantics.to_raw();
            semantics.header.next = time;
            semantics
        });
        let attributes = raw::nvtxCounterAttr_t {
            structSize: size_of::<raw::nvtxCounterAttr_t>(),
            schemaId: counter.schema,
            name: counter.name.as_ptr(),
            description: text(counter.description),
            scopeId: counter.scope,
            semantics: semantics
                .as_ref()
                .map_or(time, |semantics| ptr::from_ref(semantics).cast()),
            counterId: counter.static_id,
        };
        let mut counter = 0;
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The texts and the semantics live through the call, and `counter` is a place of the right type.
        self.id(
            unsafe { (self.functions().counter_register)(domain.0, &attributes, &mut counter) },
            counter,
        )
    }
}
