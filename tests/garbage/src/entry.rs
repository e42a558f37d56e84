//! Entries of schemas.

use std::ptr;

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::choices::Choices;
use crate::known::Known;
use crate::memory::Memory;
use crate::schema::name;
use crate::semantics;

const INTEGERS: [EntryType; 8] = [
    EntryType::UInt8,
    EntryType::Int32,
    EntryType::UInt64,
    EntryType::Int64,
    EntryType::UInt16,
    EntryType::Int8,
    EntryType::UInt128,
    EntryType::Int128,
];
pub const TEXTS: [EntryType; 4] = [
    EntryType::CStringUtf8,
    EntryType::CString,
    EntryType::CStringUtf16,
    EntryType::CStringUtf32,
];
const ATTRIBUTES: [EntryType; 4] = [
    EntryType::ColorArgb,
    EntryType::Category,
    EntryType::RangeId,
    EntryType::ScopeId,
];
const PLACES: [u64; 4] = [
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER,
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY,
];
/// The flags that say where the data is.
pub const PLACE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_POINTER
    | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
    | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;
/// The bits that say how much it is.
pub const STYLE: u64 = NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY;

const FIXED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
const ZERO_TERMINATED: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
const LENGTH_INDEX: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
const PAYLOAD_INDEX: u64 = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
const TIMESTAMP: u64 = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;

pub const MARK_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_MARK;
pub const BEGIN_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN;
pub const END_TIME: u64 = TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;

/// Which forms the entries of a schema have: bits in the order of [`FORMS`].
pub type Forms = u32;

/// What says how much an entry holds, and where that is.
pub const FORMS: [&str; 20] = [
    "one, here",
    "fixed array, here",
    "zero-terminated, here",
    "length in an entry, here",
    "length in a payload, here",
    "one, offset from base",
    "fixed array, offset from base",
    "zero-terminated, offset from base",
    "length in an entry, offset from base",
    "length in a payload, offset from base",
    "one, offset from here",
    "fixed array, offset from here",
    "zero-terminated, offset from here",
    "length in an entry, offset from here",
    "length in a payload, offset from here",
    "one, pointer",
    "fixed array, pointer",
    "zero-terminated, pointer",
    "length in an entry, pointer",
    "length in a payload, pointer",
];

/// The form of an entry that was accepted.
pub fn form(entry: &nvtxPayloadSchemaEntry_t) -> Forms {
    let place = match entry.flags & PLACE {
        0 => 0,
        NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE => 1,
        NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE => 2,
        _ => 3,
    };
    1 << (place * 5 + (entry.flags & STYLE) / FIXED)
}

/// Whether an entry of a schema with these flags may point out of its event: a string without a length, or data that is to be
/// copied. Such a pointer is followed where the producer promises that it holds.
pub fn is_outward(entry: &nvtxPayloadSchemaEntry_t, flags: u64) -> bool {
    let is_pointer = entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER != 0;
    let is_copied = entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY != 0
        && flags & NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY != 0;
    let is_text = EntryType::from_raw(entry.r#type).is_some_and(EntryType::is_string);
    let is_string = match entry.flags & STYLE {
        0 => entry.arrayOrUnionDetail == 0 && (is_pointer || entry.flags & PLACE == 0),
        ZERO_TERMINATED => is_pointer,
        _ => false,
    };
    is_text && is_string || is_pointer && is_copied
}

/// How much an entry holds that points out of its event: the bytes of a unit, and what says how many. `None` if that can't be
/// told here.
pub fn outward(
    entry: &nvtxPayloadSchemaEntry_t,
    before: &[nvtxPayloadSchemaEntry_t],
) -> Option<(usize, Units)> {
    let ty = EntryType::from_raw(entry.r#type)?;
    let unit = match ty {
        EntryType::CString | EntryType::CStringUtf8 => 1,
        EntryType::CStringUtf16 => 2,
        EntryType::CStringUtf32 => 4,
        EntryType::UnionSelector => return None,
        ty => ty.layout()?.0,
    };
    let detail = entry.arrayOrUnionDetail;
    let units = match entry.flags & STYLE {
        0 if ty.is_string() && detail == 0 => Units::Terminated,
        0 if ty.is_string() => Units::Exactly(usize::try_from(detail).ok()?),
        0 => Units::Exactly(1),
        FIXED => Units::Exactly(usize::try_from(detail).ok()?),
        ZERO_TERMINATED => Units::Terminated,
        LENGTH_INDEX => {
            let length = before.get(usize::try_from(detail).ok()?)?;
            let is_one = length.flags & (STYLE | PLACE) == 0;
            let is_integer = EntryType::from_raw(length.r#type)?.is_integer();
            Units::At(Some(detail as usize).filter(|_| is_one && is_integer)?)
        }
        _ => return None,
    };
    match units {
        Units::Exactly(count) if count > 64 => None,
        units => Some((unit, units)),
    }
}

/// What says how many units there are.
#[derive(Clone, Copy, Debug)]
pub enum Units {
    Exactly(usize),
    /// A unit of all zeros, which is the last.
    Terminated,
    /// The entry of this index.
    At(usize),
}

/// Whether the detail of an entry may be the index of another one: of a length, or of the selector of a union.
pub fn names_entry(entry: &nvtxPayloadSchemaEntry_t) -> bool {
    match entry.flags & STYLE {
        LENGTH_INDEX => true,
        0 => entry.r#type >= 1 << 24,
        _ => false,
    }
}

/// Whether the entry at `index` may be the length or the selector of another one.
pub fn is_referred_to(index: usize, entries: &[nvtxPayloadSchemaEntry_t]) -> bool {
    entries[index].r#type == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR
        || entries.iter().any(|entry| {
            (entry.flags & STYLE == LENGTH_INDEX || entry.r#type >= 1 << 24)
                && entry.arrayOrUnionDetail == index as u64
        })
}

/// An entry without a name, whose offset is computed.
pub fn entry(flags: u64, ty: EntryType, detail: u64) -> nvtxPayloadSchemaEntry_t {
    nvtxPayloadSchemaEntry_t {
        flags,
        r#type: ty.to_raw(),
        name: ptr::null(),
        description: ptr::null(),
        arrayOrUnionDetail: detail,
        offset: 0,
        semantics: ptr::null(),
        reserved: ptr::null(),
    }
}

/// An entry of any kind, after these.
pub fn any(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
    is_dynamic: bool,
    before: &[nvtxPayloadSchemaEntry_t],
) -> nvtxPayloadSchemaEntry_t {
    let mut made = form_of_any(choices, known, is_dynamic, before);
    if choices.one_in(6) {
        made.flags |= NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
    }
    if choices.one_in(12) {
        made.offset = choices.below(64);
    }
    if choices.one_in(4) {
        made.name = name(choices, memory);
        made.description = name(choices, memory);
    }
    if choices.one_in(8) {
        made.semantics = semantics::list(choices, memory, known);
    }
    made
}

fn form_of_any(
    choices: &mut Choices<'_>,
    known: &Known,
    is_dynamic: bool,
    before: &[nvtxPayloadSchemaEntry_t],
) -> nvtxPayloadSchemaEntry_t {
    match choices.below(24) {
        0..4 => entry(0, choices.pick(&INTEGERS), 0),
        4 => entry(0, choices.pick(EntryType::ALL), 0),
        5 => {
            // The dimensions of an array that comes later, maybe.
            let (style, count) = choices.pick(&[(FIXED, 2), (FIXED, 3), (ZERO_TERMINATED, 0)]);
            let style = if is_dynamic { style } else { FIXED };
            entry(style, choices.pick(&INTEGERS), count.max(1))
        }
        6 => entry(FIXED, choices.pick(EntryType::ALL), 1 + choices.below(5)),
        7 => entry(
            FIXED * choices.below(2),
            choices.pick(&TEXTS),
            1 + choices.below(9),
        ),
        // A pointer to text.
        8 => entry(0, choices.pick(&TEXTS), 0),
        9..13 => {
            // What varies in size is mostly elsewhere where it can't be here.
            let place = match is_dynamic || choices.one_in(8) {
                true => 0,
                false => choices.pick(&PLACES),
            };
            varying(choices, place, before)
        }
        13..15 => {
            let place = choices.pick(&PLACES);
            varying(choices, place, before)
        }
        15..18 => nested(choices, known, before),
        18 => entry(
            choices.below(2) * NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
            EntryType::RegisteredString,
            0,
        ),
        19 => entry(
            choices.pick(&[0, 0, MARK_TIME]),
            choices.pick(&ATTRIBUTES),
            0,
        ),
        20 => {
            let varying = if is_dynamic {
                (ZERO_TERMINATED, 0)
            } else {
                (PLACES[0], 4)
            };
            let (flags, detail) = choices.pick(&[(FIXED, 7), (0, 0), varying]);
            let flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | flags;
            entry(flags, choices.pick(&TEXTS), detail)
        }
        21 => {
            let ty = choices.pick(&[EntryType::Int64, EntryType::UInt64]);
            entry(TIMESTAMP | choices.below(6) << 12, ty, 0)
        }
        22 if choices.one_in(4) => entry(
            0,
            EntryType::UnionSelector,
            choices.pick(&[0, 1, 2, 4, 8, 3]),
        ),
        23 if choices.one_in(2) => nvtxPayloadSchemaEntry_t {
            r#type: choices.number(),
            offset: choices.number(),
            ..entry(choices.number(), EntryType::Int8, choices.number())
        },
        _ => entry(0, choices.pick(EntryType::ALL), 0),
    }
}

/// An entry that holds as much as something else says.
fn varying(
    choices: &mut Choices<'_>,
    place: u64,
    before: &[nvtxPayloadSchemaEntry_t],
) -> nvtxPayloadSchemaEntry_t {
    let style = match place {
        0 => choices.pick(&[ZERO_TERMINATED, LENGTH_INDEX, PAYLOAD_INDEX]),
        _ => choices.below(5) * FIXED,
    };
    let ty = match choices.below(2) {
        0 => choices.pick(&TEXTS),
        _ => choices.pick(EntryType::ALL),
    };
    let detail = match style {
        LENGTH_INDEX => integer(choices, before),
        _ => choices.below(4),
    };
    entry(style | place, ty, detail)
}

/// An entry of another schema or of an enum.
fn nested(
    choices: &mut Choices<'_>,
    known: &Known,
    before: &[nvtxPayloadSchemaEntry_t],
) -> nvtxPayloadSchemaEntry_t {
    let Some(layout) = known.layout(choices) else {
        return entry(0, EntryType::Int32, 0);
    };
    let place = match choices.below(4) {
        3 => choices.pick(&PLACES),
        _ => 0,
    };
    let style = match choices.below(4) {
        0..2 => 0,
        2 if !layout.is_selected => FIXED,
        2 => 0,
        _ => choices.below(5) * FIXED,
    };
    let detail = match style {
        FIXED | PAYLOAD_INDEX => 1 + choices.below(3),
        _ => integer(choices, before),
    };
    nvtxPayloadSchemaEntry_t {
        r#type: layout.id,
        ..entry(style | place, EntryType::Int8, detail)
    }
}

/// The index of an entry that holds an integer, or the integers of many dimensions; mostly.
fn integer(choices: &mut Choices<'_>, before: &[nvtxPayloadSchemaEntry_t]) -> u64 {
    let is_integer = |entry: &nvtxPayloadSchemaEntry_t| {
        entry.flags & PLACE == 0
            && EntryType::from_raw(entry.r#type).is_some_and(EntryType::is_integer)
    };
    let integers: Vec<u64> = (0..)
        .zip(before)
        .filter(|(_, entry)| is_integer(entry))
        .map(|(index, _)| index)
        .collect();
    match choices.below(16) {
        15 => choices.below(8),
        _ => choices.pick_or(&integers, 0),
    }
}
