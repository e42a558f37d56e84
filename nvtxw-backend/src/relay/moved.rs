//! Writes that hold pointers: all that these lead to is copied, and they lead to the copies.

use std::sync::Arc;

use nvtxw_abi::raw::NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED;

use crate::call::{EventBatchCall, FlexData, Memory, PayloadBytes, Pointer};
use crate::data::{Data, Flex, Steps};
use crate::event::Payload;
use crate::predefined;
use crate::refusal::{Refusal, Result};
use crate::relay::RelayStream;
use crate::relay::copy::Copied;
use crate::relay::place::{Finder, Reference};
use crate::schema::{Schema, Way};
use crate::walk;

/// Zeros behind a copy: a null of any size that ends what is there.
const ZEROS: usize = 64;

/// So many of them are shown where the end of a piece is looked for.
const NULL: usize = 16;

/// Copies of parts and pieces, in which pointers lead from one to the other.
struct Moved<'c> {
    copies: &'c mut [Copied],
    /// The first pointer that leads to none of them.
    stray: Option<u64>,
}

impl<'c> Moved<'c> {
    fn new(parts: &[&[u8]], memory: &Memory, copies: &'c mut Vec<Copied>) -> Result<Self> {
        if memory.addresses.len() != parts.len() {
            return Err(Refusal::invalid(
                "what the pointers lead to is that of another number of payloads",
            ));
        }
        let pieces = memory.pieces.iter().map(|piece| &*piece.bytes);
        let all: Vec<_> = parts.iter().copied().chain(pieces).collect();
        copies.resize_with(copies.len().max(all.len()), Copied::default);
        let copies = &mut copies[..all.len()];
        for (copy, bytes) in copies.iter_mut().zip(&all) {
            copy.set(bytes, ZEROS);
        }
        let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
        let mut stray = None;
        for Pointer { part, offset } in &memory.pointers {
            let is_there = (all.get(*part))
                .is_some_and(|bytes| offset.saturating_add(size_of::<u64>()) <= bytes.len());
            if !is_there {
                return Err(Refusal::invalid(
                    "a pointer is said to be where no payload is",
                ));
            }
            let address = copies[*part].word(*offset);
            let to = match address {
                0 => continue,
                address => memory.find(&lengths, address),
            };
            match to {
                None => stray = stray.or(Some(address)),
                Some(to) => {
                    let start = copies[to.part].bytes().as_ptr().expose_provenance();
                    let there = (start + to.offset) as u64;
                    copies[*part].replace(*offset, |_| there);
                }
            }
        }
        Ok(Self { copies, stray })
    }

    /// Refuses what leads to memory that is not known.
    fn check(&self) -> Result<()> {
        match self.stray {
            None => Ok(()),
            Some(address) => Err(Refusal::unsupported(format!(
                "a pointer leads to {address:#x}, and nothing says what is there"
            ))),
        }
    }
}

impl RelayStream {
    pub(super) fn event_with(
        &self,
        own: &[PayloadBytes<'_>],
        memory: &Memory,
        copies: &mut Vec<Copied>,
    ) -> Result<()> {
        let parts: Vec<_> = own.iter().map(|payload| payload.bytes).collect();
        let moved = Moved::new(&parts, memory, copies)?;
        if self.is_strict() {
            moved.check()?;
        }
        let mut found = {
            let copied = own.iter().zip(&*moved.copies);
            let copied = copied.map(|(own, copy)| PayloadBytes {
                bytes: copy.bytes(),
                ..*own
            });
            let copied: Vec<_> = copied.collect();
            let payloads = copied.iter().map(|payload| self.payload(payload));
            let pieces = moved.copies[own.len()..].iter();
            let pieces = pieces.map(|piece| Ok(predefined::blob(piece.bytes_and(NULL))));
            let payloads: Vec<_> = payloads.chain(pieces).collect::<Result<_>>()?;
            self.find_moved(&payloads, None)?
        };
        for (own, copy) in own.iter().zip(&*moved.copies) {
            let start = copy.bytes().as_ptr().addr();
            let (references, _) = self.references(own, &[])?;
            let references = references.iter();
            found.extend(references.map(|(at, reference)| (start + at, *reference)));
        }
        let mut missing = None;
        self.replace_found(&found, moved.copies, &mut missing);
        let mut there = Vec::with_capacity(moved.copies.len());
        for (own, copy) in own.iter().zip(&*moved.copies) {
            there.push(PayloadBytes {
                schema: self.layout(own.schema)?,
                bytes: copy.bytes(),
                is_terminated: own.is_terminated && !self.is_instance(),
            });
        }
        if self.is_instance() {
            // It looks nowhere else.
            let pieces = moved.copies[own.len()..].iter();
            there.extend(pieces.map(|piece| PayloadBytes {
                schema: NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED,
                bytes: piece.bytes_and(NULL),
                is_terminated: false,
            }));
        }
        let written = self.write_payloads(&there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// `there` has the other backend's IDs, and the bytes that are to be moved.
    pub(super) fn event_batch_with(
        &self,
        schema: &Arc<Schema>,
        there: &EventBatchCall<'_>,
        memory: &Memory,
        copies: &mut Vec<Copied>,
    ) -> Result<()> {
        if self.is_instance() && !memory.pieces.is_empty() {
            return Err(Refusal::unsupported(format!(
                "a batch of {} points out of itself, which a backend in the same program doesn't follow",
                schema.label()
            )));
        }
        let flex = there.flex.map_or(&[][..], |flex| flex.bytes);
        let moved = Moved::new(&[there.bytes, flex], memory, copies)?;
        moved.check()?;
        let mut found = Vec::new();
        {
            let [events, flex, pieces @ ..] = &*moved.copies else {
                return Err(Refusal::failed("the parts of a batch have no place"));
            };
            let offset = there.flex.map(|flex| flex.offset);
            let flex = offset.map(|offset| Flex {
                bytes: flex.bytes(),
                offset,
            });
            let mut rest = events.bytes();
            while !rest.is_empty() {
                let event = match schema.is_dynamic() {
                    true => rest,
                    false => &rest[..schema.size.min(rest.len())],
                };
                if event.len() < schema.size {
                    return Err(super::stream::too_small(schema, event.len()));
                }
                let payload = Payload {
                    schema,
                    bytes: event,
                    count: None,
                };
                let blobs = pieces
                    .iter()
                    .map(|piece| predefined::blob(piece.bytes_and(NULL)));
                let payloads: Vec<_> = [payload].into_iter().chain(blobs).collect();
                let (more, end) = self.find_moved_in(&payloads, flex)?;
                found.extend(more);
                rest = match schema.is_dynamic() {
                    true => &rest[end.max(1)..],
                    false => &rest[schema.size..],
                };
            }
        }
        let mut missing = None;
        self.replace_found(&found, moved.copies, &mut missing);
        let [events, flex, ..] = &*moved.copies else {
            return Err(Refusal::failed("the parts of a batch have no place"));
        };
        let there = EventBatchCall {
            bytes: events.bytes(),
            flex: there.flex.map(|own| FlexData {
                bytes: flex.bytes(),
                ..own
            }),
            ..*there
        };
        let written = self.write_events(&there);
        written.and(missing.map_or(Ok(()), Err))
    }

    /// Where references are, by their addresses, in payloads of which the first are those of an event. All that is there has to be
    /// as the schemas say.
    fn find_moved(
        &self,
        payloads: &[Payload<'_>],
        flex: Option<Flex<'_>>,
    ) -> Result<Vec<(usize, Reference)>> {
        let mut found = Vec::new();
        for index in 0..payloads.len() {
            if payloads[index].schema.plan.way != Way::Settled {
                found.extend(self.walk_moved(payloads, index, flex)?.0);
            }
        }
        Ok(found)
    }

    /// The same in the first payload; returns where that ends too.
    fn find_moved_in(
        &self,
        payloads: &[Payload<'_>],
        flex: Option<Flex<'_>>,
    ) -> Result<(Vec<(usize, Reference)>, usize)> {
        self.walk_moved(payloads, 0, flex)
    }

    fn walk_moved(
        &self,
        payloads: &[Payload<'_>],
        index: usize,
        flex: Option<Flex<'_>>,
    ) -> Result<(Vec<(usize, Reference)>, usize)> {
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let data = Data {
            payloads,
            flex,
            domain: self.known(),
            steps: &Steps::for_bytes(bytes.sum(), true),
        };
        let mut finder = Finder::default();
        let payload = &payloads[index];
        match walk::walk(payload.schema, payload.bytes, &data, &mut finder) {
            Ok(end) => Ok((finder.found(), end)),
            Err(refusal) if self.is_strict() => Err(refusal),
            Err(_) => Ok((finder.found(), payload.bytes.len())),
        }
    }

    /// Replaces the references at these addresses in the copies.
    fn replace_found(
        &self,
        found: &[(usize, Reference)],
        copies: &mut [Copied],
        missing: &mut Option<Refusal>,
    ) {
        // Payloads and events may share data.
        let mut found = found.to_vec();
        found.sort_by_key(|(address, _)| *address);
        found.dedup_by_key(|(address, _)| *address);
        for (address, reference) in found {
            for copy in &mut *copies {
                let at = address.wrapping_sub(copy.bytes().as_ptr().addr());
                if at < copy.bytes().len() {
                    copy.replace(at, |own| self.there(reference, own, missing));
                }
            }
        }
    }
}
