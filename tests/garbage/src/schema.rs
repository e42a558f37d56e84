//! Schemas and enums, most of which a registry accepts.

use std::ffi::{CStr, CString, c_char};
use std::mem::offset_of;
use std::ptr;

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::choices::Choices;
use crate::entry::{self, BEGIN_TIME, END_TIME, MARK_TIME, entry};
use crate::known::{Known, Pointers};
use crate::memory::Memory;

pub const NAMES: [&CStr; 6] = [c"", c"a", c"b", c"time", c"\xFF", c"\xE2\x82\xAC"];

/// An address that nothing is at, for what must not be read.
pub fn nowhere<T>() -> *mut T {
    ptr::without_provenance_mut(0xDEAD_BEEF_0BAD)
}

/// A name, or none.
pub fn name(choices: &mut Choices<'_>, memory: &mut Memory) -> *const c_char {
    match choices.one_in(4) {
        true => ptr::null(),
        false => memory.text(&text(choices)),
    }
}

/// Text of one of the names, or of any bytes.
pub fn text(choices: &mut Choices<'_>) -> CString {
    if !choices.one_in(4) {
        return choices.pick(&NAMES).into();
    }
    let len = choices.below(24) as usize;
    let mut bytes = choices.bytes(len);
    bytes.retain(|byte| *byte != 0);
    CString::new(bytes).expect("no null")
}

const MANDATORY: u64 = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
    | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;

/// A schema that is to be registered.
pub struct Made {
    pub attr: *const nvtxPayloadSchemaAttr_t,
    /// `NVTX_PAYLOAD_SCHEMA_TYPE_*`, or anything else.
    pub kind: u64,
    pub flags: u64,
    /// What alignment is limited to, if that is said.
    pub pack: Option<usize>,
    pub entries: Vec<nvtxPayloadSchemaEntry_t>,
}

/// A static schema of these entries, with garbage in every field that is not set.
pub fn of_entries(flags: u64, entries: &[nvtxPayloadSchemaEntry_t]) -> nvtxPayloadSchemaAttr_t {
    nvtxPayloadSchemaAttr_t {
        fieldMask: MANDATORY | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS,
        name: nowhere(),
        r#type: NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        flags,
        entries: entries.as_ptr(),
        numEntries: entries.len(),
        payloadStaticSize: 0xDEAD,
        packAlign: 0xDEAD,
        schemaId: 0xDEAD,
        extension: nowhere(),
    }
}

/// The timestamps, and the range ID, that an event of this role has.
pub fn times(role: u64, ty: EntryType) -> Vec<nvtxPayloadSchemaEntry_t> {
    let times: &[u64] = match role {
        2 | 3 => &[BEGIN_TIME, END_TIME],
        4 => &[MARK_TIME],
        5 | 7 => &[BEGIN_TIME],
        _ => &[END_TIME],
    };
    let mut entries: Vec<_> = times.iter().map(|flags| entry(*flags, ty, 0)).collect();
    if role >= 7 {
        entries.push(entry(0, EntryType::RangeId, 0));
    }
    entries
}

/// A schema that is often acceptable. An ID of 0 leaves it to the backend.
pub fn schema(choices: &mut Choices<'_>, memory: &mut Memory, known: &Known, id: u64) -> Made {
    let kind = match choices.below(20) {
        0..8 => NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        8..15 => NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
        15 | 16 => NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
        17 | 18 => NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR,
        _ => choices.number(),
    };
    let is_union = kind > NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    let role = match choices.below(5) {
        _ if is_union && !choices.one_in(8) => 0,
        0 | 1 => 0,
        2 => 4,
        3 => 2,
        _ => choices.below(10),
    };
    let mut entries = Vec::new();
    if role >= 2 && !choices.one_in(16) {
        let ty = choices.pick(&[EntryType::Int64, EntryType::UInt64]);
        entries = times(role, ty);
    }
    let is_dynamic = kind == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
    for _ in 0..1 + choices.below(7) {
        entries.push(entry::any(choices, memory, known, is_dynamic, &entries));
    }
    if kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR {
        let place = choices.below(entries.len() as u64) as usize;
        let size = choices.pick(&[0, 1, 2, 4, 8]);
        entries.insert(place, entry(0, EntryType::UnionSelector, size));
    }

    let flags = role << 3 | choices.below(4) << 1;
    for index in 0..entries.len() {
        let (before, entry) = (&entries[..index], &entries[index]);
        let is_held = match known.pointers {
            Pointers::Any => true,
            Pointers::Held => entry::outward(entry, before).is_some(),
            Pointers::None => false,
        };
        if entry::is_outward(entry, flags) && !is_held {
            entries[index] = entry::entry(0, EntryType::Int64, 0);
        }
    }
    let mut attr = of_entries(flags, &entries);
    attr.r#type = kind;
    attr.entries = memory.items(entries.clone());
    let mut mask = attr.fieldMask;
    if choices.one_in(3) {
        mask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
        attr.packAlign = choices.pick(&[1, 2, 4, 8, 16, 0, 3]);
    }
    if choices.one_in(4) {
        mask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
        attr.payloadStaticSize = match choices.below(16) {
            15 => choices.number() as usize,
            _ => choices.pick(&[0, 64, 128, 24]),
        };
    }
    if choices.one_in(3) {
        mask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
        attr.name = name(choices, memory);
    }
    if id != 0 {
        mask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
        attr.schemaId = id;
    }
    if choices.one_in(32) {
        // Something that must be set is not, or is null.
        match choices.below(3) {
            0 => mask &= !(1 << (2 + choices.below(4))),
            1 => attr.entries = ptr::null(),
            _ => attr.numEntries = 0,
        }
    }
    attr.fieldMask = mask;
    Made {
        attr: memory.head(&attr, set_part(mask)),
        kind,
        flags: if mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS == 0 {
            0
        } else {
            flags
        },
        pack: (mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT != 0).then_some(attr.packAlign),
        entries,
    }
}

/// Up to where the fields of a schema's attributes reach that are set.
pub fn set_part(mask: u64) -> usize {
    const ENDS: [usize; 9] = [
        offset_of!(nvtxPayloadSchemaAttr_t, r#type),
        offset_of!(nvtxPayloadSchemaAttr_t, flags),
        offset_of!(nvtxPayloadSchemaAttr_t, entries),
        offset_of!(nvtxPayloadSchemaAttr_t, numEntries),
        offset_of!(nvtxPayloadSchemaAttr_t, payloadStaticSize),
        offset_of!(nvtxPayloadSchemaAttr_t, packAlign),
        offset_of!(nvtxPayloadSchemaAttr_t, schemaId),
        offset_of!(nvtxPayloadSchemaAttr_t, extension),
        size_of::<nvtxPayloadSchemaAttr_t>(),
    ];

    let last = (0..ENDS.len()).rfind(|field| mask & 2 << field != 0);
    last.map_or(size_of::<u64>(), |field| ENDS[field])
}

/// The attributes of an enum whose values have this size.
pub fn enumeration(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    size: usize,
    id: u64,
) -> *const nvtxPayloadEnumAttr_t {
    let mut entries = Vec::new();
    for _ in 0..choices.below(4) {
        entries.push(nvtxPayloadEnum_t {
            name: memory.text(&text(choices)),
            value: choices.number(),
            isFlag: choices.below(2) as i8,
        });
    }
    let mut attr = nvtxPayloadEnumAttr_t {
        fieldMask: NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
            | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
        name: nowhere(),
        entries: ptr::null(),
        numEntries: entries.len(),
        sizeOfEnum: size,
        schemaId: id,
        extension: nowhere(),
    };
    attr.entries = memory.items(entries);
    let mut end = offset_of!(nvtxPayloadEnumAttr_t, schemaId);
    if id != 0 {
        attr.fieldMask |= NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
        end = offset_of!(nvtxPayloadEnumAttr_t, extension);
    }
    memory.head(&attr, end)
}
