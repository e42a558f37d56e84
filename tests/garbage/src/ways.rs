//! Schemas that say the same, and are decoded in different ways.
//!
//! Where all lies in place, or but a few fields don't, a decoder may know the way; with an entry more that only a walk can
//! tell, it has to walk. What it finds must be the same.

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;
use nvtxw_backend::ResultCode;

use crate::choices::Choices;
use crate::decoding::Run;
use crate::entry::{self, entry};
use crate::known::Layout;
use crate::memory::Memory;
use crate::payload::{self, Piece};
use crate::schema::{self, Made};
use crate::table::member;

/// Bytes before the other entries of a dynamic schema: so many that alignment stays as it is.
const BEFORE: usize = 16;

/// Whether something in a payload of a dynamic schema could be a pointer to the bytes before it, which are in the payload of the
/// other schema only.
fn points_before(payload: Piece) -> bool {
    let start = payload.start.addr();
    let bytes = payload.bytes();
    let mut words = bytes.windows(8).map(|word| {
        let word = word.try_into().expect("8 bytes");
        usize::from_ne_bytes(word)
    });
    words.any(|word| (start - BEFORE..start).contains(&word))
}

/// Where the entry more is in a payload of a static schema: behind the others.
fn behind(layout: &Layout) -> usize {
    layout.size.next_multiple_of(8)
}

/// The same schema with an entry more: a pointer, which is null, to an array whose length another payload would tell. `None`
/// for one that this would make another one.
fn walked(made: &Made, layout: &Layout, memory: &mut Memory) -> Option<nvtxPayloadSchemaAttr_t> {
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

impl Run {
    /// Writes the same bytes under the schema and under one that says the same and has to be walked through.
    pub fn compare(&mut self, choices: &mut Choices<'_>, made: &Made, layout: &Layout) {
        let Some(attr) = walked(made, layout, &mut self.memory) else {
            return;
        };
        let mut id = 0;
        let registered =
            self.register(|side| member!(side.table, SchemaRegister(side.domain, &attr, &mut id)));
        if !registered.is_success() || layout.size > 1 << 12 {
            return;
        }
        let size = self.domain().schema(id).expect("it is registered").size();
        let blob = self.blob(choices);
        for _ in 0..2 {
            let (before, at) = match layout.is_static {
                true => (0, behind(layout)),
                false => (BEFORE, 0),
            };
            // A payload without bytes is ignored.
            let len = size.saturating_sub(before).max(1) + choices.pick(&[0, 8, 30, 64]);
            let known = &self.known;
            let piece = payload::piece_after(
                choices,
                &mut self.memory,
                known,
                Some(blob),
                layout,
                len,
                before,
            );
            if layout.is_static {
                payload::clear(piece, at, 8);
            } else if points_before(piece) {
                continue;
            }
            let walked = Piece {
                start: piece.start.wrapping_sub(before),
                len: len + before,
            };
            let [known_way, walk] = [(layout.id, piece), (id, walked)].map(|(id, piece)| {
                let lengths = self.memory.items(vec![3_u8, 0, 0, 0, 0, 0, 0, 0]);
                let length = |ty: EntryType, size| nvtxPayloadData_t {
                    schemaId: ty.to_raw(),
                    size,
                    payload: lengths.cast(),
                };
                // Before the payload itself are those that an entry may take its length from.
                let mut payloads = vec![
                    length(EntryType::UInt8, 1),
                    length(EntryType::Int64, 8),
                    length(EntryType::UInt16, 4),
                    payload::of_piece(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, blob, blob.len),
                    payload::of_piece(id, piece, piece.len),
                ];
                if !layout.is_event {
                    payloads.push(self.mark());
                }
                let count = payloads.len();
                let payloads = self.memory.items(payloads);
                self.write(|side| member!(side.table, EventWrite(side.stream, payloads, count)))
            });
            // One of them may be more than is decoded for so few bytes.
            let codes = [known_way.code, walk.code];
            if !codes.contains(&ResultCode::NOT_SUPPORTED) {
                assert_eq!(codes[0], codes[1], "{} | {}", known_way.reason, walk.reason);
                assert_eq!(known_way.reached.events, walk.reached.events);
                assert_eq!(known_way.reached.sights, walk.reached.sights);
                self.decoded.compared += u64::from(known_way.is_success());
            }
        }
    }

    /// A mark of its own.
    fn mark(&mut self) -> nvtxPayloadData_t {
        nvtxPayloadData_t {
            schemaId: self.mark,
            size: 8,
            payload: self.memory.place(5_i64).cast(),
        }
    }
}
