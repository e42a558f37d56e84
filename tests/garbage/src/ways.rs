//! Schemas that say the same, and are decoded in different ways.
//!
//! Where all lies in place, or but a few fields don't, a decoder may know the way; with an entry more that only a walk can
//! tell, it has to walk. What it finds must be the same.

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::entry::{self, entry};
use crate::known::Layout;
use crate::memory::Memory;
use crate::payload::Piece;
use crate::schema::{self, Made};

/// Bytes before the other entries of a dynamic schema: so many that alignment stays as it is.
pub const BEFORE: usize = 16;

/// Whether something in a payload of a dynamic schema could be a pointer to the bytes before it, which are in the payload of the
/// other schema only.
pub fn points_before(payload: Piece) -> bool {
    let start = payload.start.addr();
    let bytes = payload.bytes();
    let mut words = bytes.windows(8).map(|word| {
        let word = word.try_into().expect("8 bytes");
        usize::from_ne_bytes(word)
    });
    words.any(|word| (start - BEFORE..start).contains(&word))
}

/// Where the entry more is in a payload of a static schema: behind the others.
pub fn behind(layout: &Layout) -> usize {
    layout.size.next_multiple_of(8)
}

/// The same schema with an entry more: a pointer, which is null, to an array whose length another payload would tell. `None`
/// for one that this would make another one.
pub fn walked(
    made: &Made,
    layout: &Layout,
    memory: &mut Memory,
) -> Option<nvtxPayloadSchemaAttr_t> {
    let flags =
        NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
    let more = entry(flags, EntryType::Byte, 0);
    let mut entries = made.entries.clone();
    match made.kind {
        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC => entries.push(nvtxPayloadSchemaEntry_t {
            offset: behind(layout) as u64,
            ..more
        }),
        NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC => {
            let offsets =
                NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;
            if entries.iter().any(|entry| entry.flags & offsets != 0) || layout.has_offsets {
                return None;
            }
            for (index, entry) in entries.iter_mut().enumerate() {
                if index == 0 || entry.offset != 0 {
                    entry.offset = entry.offset.checked_add(BEFORE as u64)?;
                }
                if entry::names_entry(entry) {
                    entry.arrayOrUnionDetail = entry.arrayOrUnionDetail.checked_add(1)?;
                }
            }
            entries.insert(0, more);
        }
        _ => return None,
    }
    let mut attr = schema::of_entries(made.flags, &entries);
    attr.r#type = made.kind;
    attr.entries = memory.items(entries);
    if let Some(pack) = made.pack {
        attr.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
        attr.packAlign = pack;
    }
    Some(attr)
}
