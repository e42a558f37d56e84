//! Writes that hold pointers: all that these lead to is copied, and they lead to the copies.

use std::sync::Arc;

use nvtxw_abi::raw::NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED;

use crate::call::{EventBatchCall, FlexData, Memory, PayloadBytes, Piece, Pointer};
use crate::data::{Data, Flex, Steps};
use crate::refusal::{Refusal, Result};
use crate::relay::RelayStream;
use crate::relay::copy::Copied;
use crate::relay::place::{Finder, Reference, has_offsets, once};
use crate::relay::stream::EMPTY;
use crate::schema::{Schema, Way};
use crate::walk;

/// Zeros before and behind a piece: a null of any size that ends what is there.
const ZEROS: usize = 64;

/// Pieces lie as they did before in so many bytes.
const ALIGN: usize = 16;

/// Copies of parts and pieces, in which pointers lead from one to the other.
pub(super) struct Moved<'c> {
    /// Those of the parts, and behind them that of the pieces if these are in none of them.
    pub(super) copies: &'c mut [Copied],
}

impl<'c> Moved<'c> {
    /// The pieces come behind the part with this number; apart, if there is none.
    pub(super) fn new(
        parts: &[&[u8]],
        memory: &Memory,
        home: usize,
        copies: &'c mut Vec<Copied>,
    ) -> Result<Self> {
        if memory.addresses.len() != parts.len() {
            return Err(Refusal::invalid(
                "what the pointers lead to is that of another number of payloads",
            ));
        }
        let count = parts.len().max(home + 1);
        copies.resize_with(copies.len().max(count), Copied::default);
        let copies = &mut copies[..count];
        for (index, copy) in copies.iter_mut().enumerate() {
            copy.set(parts.get(index).copied().unwrap_or_default(), ZEROS);
        }
        let starts = put(&memory.pieces, &mut copies[home]);
        let place = |Pointer { part, offset }: Pointer| match part.checked_sub(parts.len()) {
            None => (part, offset),
            Some(piece) => (home, starts[piece] + offset),
        };
        let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
        let index = memory.index(&lengths);
        for pointer in &memory.pointers {
            let piece = |number: usize| Some(&*memory.pieces.get(number)?.bytes);
            let bytes = match pointer.part.checked_sub(parts.len()) {
                None => Some(parts[pointer.part]),
                Some(number) => piece(number),
            };
            let end = pointer.offset.saturating_add(size_of::<u64>());
            if bytes.is_none_or(|bytes| end > bytes.len()) {
                return Err(Refusal::invalid(
                    "a pointer is said to be where no payload is",
                ));
            }
            let (copy, at) = place(*pointer);
            let address = copies[copy].word(at);
            let to = match address {
                0 => continue,
                address => index.find(address).map(place),
            };
            if let Some((to, offset)) = to {
                let start = copies[to].bytes().as_ptr().expose_provenance();
                let there = (start + offset) as u64;
                copies[copy].replace(at, |_| there);
            }
        }
        Ok(Self { copies })
    }

    /// The copy with this number.
    pub(super) fn copy(&self, index: usize) -> &[u8] {
        self.copies.get(index).map_or(&[], Copied::bytes)
    }
}

/// Puts the pieces behind what is there; returns where they start.
fn put(pieces: &[Piece], copy: &mut Copied) -> Vec<usize> {
    let mut end = copy.bytes().len();
    let mut starts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let aligned = (end + ZEROS).next_multiple_of(ALIGN);
        let start = aligned + piece.address as usize % ALIGN;
        end = start + piece.bytes.len();
        starts.push(start);
    }
    if !pieces.is_empty() {
        copy.extend(end + ZEROS);
    }
    for (start, piece) in starts.iter().zip(pieces) {
        copy.bytes_mut()[*start..start + piece.bytes.len()].copy_from_slice(&piece.bytes);
    }
    starts
}

impl RelayStream {
    pub(super) fn event_with(
        &self,
        own: &[PayloadBytes<'_>],
        memory: &Memory,
        copies: &mut Vec<Copied>,
    ) -> Result<()> {
        let parts: Vec<_> = own.iter().map(|payload| payload.bytes).collect();
        let moved = Moved::new(&parts, memory, parts.len(), copies)?;
        let mut finder = self.find_in_event(own, &moved)?;
        if self.is_instance() {
            finder.rebase(moved.copies);
        }
        let mut found = finder.found();
        for (index, own) in own.iter().enumerate() {
            let start = moved.copy(index).as_ptr().addr();
            let (references, _) = self.references(own, &[])?;
            let references = references.iter();
            found.extend(references.map(|(at, reference)| (start + at, *reference)));
        }
        // Walks come by them too.
        let found = once(found);
        let mut missing = None;
        self.replace_found(&found, moved.copies, &mut missing);
        if self.is_strict() && !found.is_empty() {
            // Entries may overlap, so that pointers have changed too.
            self.find_in_event(own, &moved)?;
        }
        let mut there = Vec::with_capacity(moved.copies.len());
        for (own, copy) in own.iter().zip(&*moved.copies) {
            there.push(PayloadBytes {
                schema: self.layout(own.schema)?,
                bytes: match self.is_instance() && own.is_terminated && own.bytes.is_empty() {
                    true => EMPTY,
                    false => copy.bytes(),
                },
                is_terminated: own.is_terminated && !self.is_instance(),
            });
        }
        if self.is_instance() && !memory.pieces.is_empty() {
            // It looks nowhere else.
            there.push(PayloadBytes {
                schema: NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED,
                bytes: moved.copy(own.len()),
                is_terminated: false,
            });
        }
        let written = self.write_payloads(&there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// Where references are in the copies of an event, by their addresses. All that is there has to be as the schemas say.
    fn find_in_event(&self, own: &[PayloadBytes<'_>], moved: &Moved<'_>) -> Result<Finder> {
        let copied = own.iter().zip(&*moved.copies);
        let copied = copied.map(|(own, copy)| PayloadBytes {
            bytes: copy.bytes(),
            ..*own
        });
        let copied: Vec<_> = copied.collect();
        let payloads = copied.iter().map(|payload| self.payload(payload));
        let payloads: Vec<_> = payloads.collect::<Result<_>>()?;
        let pieces = moved.copy(own.len());
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let bytes = bytes.sum::<usize>() + pieces.len();
        let data = Data {
            payloads: &payloads,
            flex: None,
            pieces,
            domain: self.known(),
            steps: &Steps::for_bytes(bytes, true),
        };
        let mut finder = Finder::default();
        for payload in &payloads {
            if payload.schema.plan.way != Way::Settled {
                let walked = walk::walk(payload.schema, payload.bytes, &data, &mut finder);
                // What was accepted from a producer goes on as it is.
                if self.is_strict() {
                    walked?;
                    finder.check()?;
                }
            }
        }
        Ok(finder)
    }

    /// `there` has the other backend's IDs, and the bytes that are to be moved.
    pub(super) fn event_batch_with(
        &self,
        schema: &Arc<Schema>,
        there: &EventBatchCall<'_>,
        memory: &Memory,
        copies: &mut Vec<Copied>,
    ) -> Result<()> {
        let is_apart = !self.is_instance() || memory.pieces.is_empty();
        if !is_apart && there.flex.is_none() && has_offsets(schema) {
            return Err(Refusal::unsupported(format!(
                "a batch of {} points out of itself and has offsets too, but no flexible data: a backend in the same program \
                 looks for both in that",
                schema.label()
            )));
        }
        // Such a backend looks nowhere else.
        let home = if is_apart { 2 } else { 1 };
        let own = there.flex.map_or(&[][..], |flex| flex.bytes);
        let moved = Moved::new(&[there.bytes, own], memory, home, copies)?;
        let offset = match there.flex {
            Some(flex) => Some(flex.offset),
            None => (!is_apart).then_some(0),
        };
        let find = |moved: &Moved<'_>| {
            let (flex, behind) = moved.copy(1).split_at(own.len());
            let pieces = if is_apart { moved.copy(2) } else { behind };
            let size = there.bytes.len() + flex.len() + pieces.len();
            let flex = offset.map(|offset| Flex {
                bytes: flex,
                offset,
            });
            let steps = Steps::for_bytes(size, true);
            self.find_rows(schema, (moved.copy(0), false), flex, pieces, &steps)
        };
        let found = find(&moved)?.found();
        let mut missing = None;
        self.replace_found(&found, moved.copies, &mut missing);
        if self.is_strict() && !found.is_empty() {
            // Entries may overlap, so that pointers have changed too.
            find(&moved)?;
        }
        let there = EventBatchCall {
            bytes: moved.copy(0),
            flex: offset.map(|offset| FlexData {
                bytes: moved.copy(1),
                offset,
            }),
            ..*there
        };
        let written = self.write_events(&there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// Replaces the references at these addresses in the copies.
    pub(super) fn replace_found(
        &self,
        found: &[(usize, Reference)],
        copies: &mut [Copied],
        missing: &mut Option<Refusal>,
    ) {
        for (address, reference) in found {
            for copy in &mut *copies {
                let at = address.wrapping_sub(copy.bytes().as_ptr().addr());
                if at < copy.bytes().len() {
                    copy.replace(at, |own| self.there(*reference, own, missing));
                }
            }
        }
    }
}
