//! The bytes of payloads: rather such that lead somewhere.

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;

use crate::choices::Choices;
use crate::known::{Known, LENGTH, Layout, Outward, Pointers, What};
use crate::memory::Memory;
use crate::show;

/// Bytes in a piece of memory of their own.
#[derive(Clone, Copy)]
pub struct Piece {
    pub start: *const u8,
    pub len: usize,
}

impl Piece {
    /// A copy of what is there.
    pub fn bytes(self) -> Vec<u8> {
        (0..self.len)
            // SAFETY:
            // - So many bytes were stored there, and stay until the run is over.
            .map(|at| unsafe { self.start.wrapping_add(at).read() })
            .collect()
    }
}

/// Bytes for payloads of `layout`, one after the other, aligned or not. Some are numbers that mean something: places in the
/// piece itself and in `other`, short lengths, strings, scopes and times.
pub fn piece(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
    other: Option<Piece>,
    layout: &Layout,
    len: usize,
) -> Piece {
    let skew = choices.pick(&[0, 0, 1, 4]);
    piece_after(choices, memory, known, other, layout, len, skew)
}

/// The same, with so many zeros before it.
pub fn piece_after(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
    other: Option<Piece>,
    layout: &Layout,
    len: usize,
    zeros: usize,
) -> Piece {
    let bytes = choices.bytes(len);
    let start = memory.skewed(&bytes, zeros);
    let piece = Piece { start, len };
    let put = |number: u64, at: usize, width: usize| {
        let bytes = number.to_ne_bytes();
        for (index, byte) in bytes
            .into_iter()
            .take(width)
            .enumerate()
            .take(len.saturating_sub(at))
        {
            // SAFETY:
            // - So many bytes were just stored there.
            let place = unsafe { start.add(at + index) };
            // SAFETY:
            // - It is one of these bytes, and nothing else refers to them.
            unsafe { *place = byte };
        }
    };
    let stride = layout.size.max(1);
    if !layout.aims.is_empty() && !choices.one_in(4) {
        for (index, aim) in
            (0..len / stride).flat_map(|index| layout.aims.iter().map(move |aim| (index, aim)))
        {
            let number = match aim.what {
                What::Address => place(choices, piece, other),
                What::Offset => choices.below(len as u64 + 2),
                What::String => choices.pick_or(&known.strings, 0) * choices.below(2),
                What::Scope => choices.pick_or(&known.scopes, 0) * choices.below(2),
                What::Small => choices.below(8),
                What::Time => (index * 10 + aim.at) as u64,
            };
            put(number, index * stride + aim.at, aim.width);
        }
    }
    for _ in 0..choices.pick(&[0, 0, 1, 3]) {
        let number = match choices.below(6) {
            0 => choices.below(8),
            1 | 2 => place(choices, piece, other),
            3 => choices.pick_or(&known.strings, 0),
            4 => choices.pick_or(&known.scopes, 0),
            _ => choices.number(),
        };
        let at = choices.below(len as u64 / 4 + 1) as usize * 4;
        put(number, at, choices.pick(&[8, 8, 4, 1]));
    }
    // Over all else: what is followed out of the event must hold.
    for index in 0..len / stride {
        for &(at, width) in &layout.lengths {
            put(LENGTH as u64, index * stride + at, width.min(8));
            put(0, index * stride + at + 8, width.saturating_sub(8));
        }
        for outward in &layout.outward {
            let address = pointed_to(choices, memory, *outward);
            put(address, index * stride + outward.at, 8);
        }
    }
    show::show(|| show::piece(piece));
    piece
}

/// Makes some bytes of a piece zeros.
pub fn clear(piece: Piece, at: usize, len: usize) {
    assert!(at + len <= piece.len);
    let start = piece.start.wrapping_add(at).cast_mut();
    // SAFETY:
    // - So many bytes are there, in memory that was given out to be written to, and nothing else refers to them.
    unsafe { start.write_bytes(0, len) };
}

/// The address of what a pointer may lead to; now and then null.
fn pointed_to(choices: &mut Choices<'_>, memory: &mut Memory, outward: Outward) -> u64 {
    if choices.one_in(8) {
        return 0;
    }
    let unit = outward.unit;
    let count = outward.units.unwrap_or(choices.below(5) as usize);
    let mut bytes = choices.bytes(unit * count);
    if outward.units.is_none() {
        // No unit before the last is all zeros.
        bytes.iter_mut().step_by(unit).for_each(|byte| *byte |= 1);
        bytes.extend(vec![0; unit]);
    }
    memory.skewed(&bytes, choices.pick(&[0, 0, 1])).addr() as u64
}

/// An address in one of two pieces, or just behind.
fn place(choices: &mut Choices<'_>, piece: Piece, other: Option<Piece>) -> u64 {
    let piece = match other {
        Some(other) if choices.below(2) == 0 => other,
        _ => piece,
    };
    piece.start.addr() as u64 + choices.below(piece.len as u64 + 2)
}

/// A payload that is the beginning of a piece.
pub fn of_piece(schema: u64, piece: Piece, size: usize) -> nvtxPayloadData_t {
    nvtxPayloadData_t {
        schemaId: schema,
        size: size.min(piece.len),
        payload: piece.start.cast(),
    }
}

/// The layout's own ID; now and then any number, where that may come true.
pub fn schema_id(choices: &mut Choices<'_>, known: &Known, layout: &Layout) -> u64 {
    match choices.one_in(8) {
        true if known.pointers == Pointers::Any => choices.number(),
        true => choices.below(1 << 24),
        false => layout.id,
    }
}

/// A payload of any kind beside the one that makes an event of it. `blob` is what others may point to.
pub fn beside(
    choices: &mut Choices<'_>,
    memory: &mut Memory,
    known: &Known,
    blob: Piece,
) -> nvtxPayloadData_t {
    match choices.below(10) {
        0 | 1 => of_piece(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, blob, blob.len),
        2 => of_piece(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, blob, blob.len),
        3..5 => {
            let ty = choices.pick(EntryType::ALL).to_raw();
            let len = choices.below(40) as usize;
            let plain = Layout::default();
            of_piece(
                ty,
                piece(choices, memory, known, Some(blob), &plain, len),
                len,
            )
        }
        5 => {
            // Text up to its null.
            let types = [
                (EntryType::CStringUtf8, 1),
                (EntryType::CString, 1),
                (EntryType::CStringUtf16, 2),
                (EntryType::CStringUtf32, 4),
            ];
            let (ty, unit) = choices.pick(&types);
            let units = choices.below(9) as usize;
            let mut text = choices.bytes(units * unit);
            text.extend(vec![0; unit]);
            nvtxPayloadData_t {
                schemaId: ty.to_raw(),
                size: usize::MAX,
                payload: memory.items(text).cast(),
            }
        }
        6 => nvtxPayloadData_t {
            schemaId: choices.number(),
            size: 0,
            payload: crate::schema::nowhere::<u8>().cast(),
        },
        7 => nvtxPayloadData_t {
            schemaId: known.layout(choices).map_or(17, |layout| layout.id),
            size: choices.number() as usize,
            payload: std::ptr::null(),
        },
        _ => {
            let none = Layout::default();
            let layout = known.layout(choices).unwrap_or(&none);
            let len = layout.size.min(1 << 12) + choices.pick(&[0, 0, 20, 3]) as usize;
            let schema = schema_id(choices, known, layout);
            of_piece(
                schema,
                piece(choices, memory, known, Some(blob), layout, len),
                len,
            )
        }
    }
}
