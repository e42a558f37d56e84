//! What pointers in payloads lead to.

use crate::data::{Data, Flex, Steps};
use crate::domain::Domain;
use crate::event::Payload;
use crate::refusal::Result;
use crate::scalar::read;
use crate::schema::{Field, Place, Schema};
use crate::sink::Sink;
use crate::value::Value;
use crate::walk;

/// Bytes that lie so close together are one piece: a struct may have gaps.
const GAP: u64 = 16;

/// Where the pointers of a write are, and what they lead to: so that what is written can be moved, or kept.
///
/// The parts of an event are its payloads, then the pieces. Those of a batch are its events, its flexible data (empty without one),
/// then the pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The addresses of the parts that are no pieces, as pointers have them.
    pub addresses: Vec<u64>,
    /// What lies outside, as far as the schemas describe it.
    pub pieces: Vec<Piece>,
    /// All pointers.
    pub pointers: Vec<Pointer>,
}

/// Memory outside of payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its address, as pointers have it.
    pub address: u64,
    /// Its bytes; without the null, or the element of zeros, that is behind them.
    pub bytes: Vec<u8>,
}

/// Where a pointer is. It leads nowhere if it is null, or if what it holds is in no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The part that it is in.
    pub part: usize,
    /// Where in that, in bytes.
    pub offset: usize,
}

/// Takes all that a walk comes by.
#[derive(Default)]
struct Tracer<'a> {
    seen: Vec<&'a [u8]>,
    /// 8 bytes each.
    pointers: Vec<&'a [u8]>,
}

impl<'a> Sink<'a> for Tracer<'a> {
    fn plain(&mut self, _: &'a Field, _: Option<usize>, bytes: &'a [u8]) -> Result<()> {
        self.seen.push(bytes);
        Ok(())
    }

    fn value(&mut self, _: &'a Field, value: Value<'a>) {
        match value {
            Value::Text(bytes) => self.seen.push(bytes),
            Value::Wide(text) => self.seen.push(text.bytes()),
            _ => {}
        }
    }

    fn begin_array(&mut self, _: &'a Field, _: usize) {}
    fn end_array(&mut self, _: &'a Field) {}
    fn begin_struct(&mut self, _: &'a Field, _: &'a Schema) {}
    fn end_struct(&mut self, _: &'a Field) {}

    fn reference(&mut self, field: &'a Field, bytes: &'a [u8]) {
        self.seen.push(bytes);
        if matches!(field.place, Place::Pointer(_)) {
            self.pointers.push(bytes);
        }
    }

    fn whole(&mut self, bytes: &'a [u8]) {
        self.seen.push(bytes);
    }
}

impl Memory {
    /// That of an event of these payloads.
    pub(crate) fn of_event(payloads: &[Payload<'_>], domain: &Domain) -> Self {
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let data = Data {
            payloads,
            flex: None,
            domain,
            steps: &Steps::for_bytes(bytes.sum(), true),
        };
        let mut tracer = Tracer::default();
        for payload in payloads {
            // It was walked through before; what was not good was refused.
            let _ = walk::walk(payload.schema, payload.bytes, &data, &mut tracer);
        }
        let parts: Vec<_> = payloads.iter().map(|payload| payload.bytes).collect();
        Self::of(&parts, tracer)
    }

    /// That of a batch, as far as its events are good. `split` takes an event off what is left.
    pub(crate) fn of_batch<'a>(
        bytes: &'a [u8],
        flex: Option<Flex<'a>>,
        domain: &'a Domain,
        schema: &'a std::sync::Arc<Schema>,
    ) -> Self {
        let steps = Steps::for_bytes(bytes.len(), true);
        let mut tracer = Tracer::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let event = match schema.is_dynamic() {
                true => rest,
                false => &rest[..schema.size.min(rest.len())],
            };
            let payload = Payload {
                schema,
                bytes: event,
                count: None,
            };
            let data = Data {
                payloads: &[payload],
                flex,
                domain,
                steps: &steps,
            };
            let walked = match event.len() < schema.size {
                true => break,
                false => walk::walk(schema, event, &data, &mut tracer),
            };
            let end = match (walked, schema.is_dynamic()) {
                (Ok(end), true) => end.max(1),
                (Err(_), true) => break,
                (_, false) => event.len(),
            };
            rest = &rest[end..];
        }
        let flex = flex.map_or(&[][..], |flex| flex.bytes);
        Self::of(&[bytes, flex], tracer)
    }

    fn of(parts: &[&[u8]], tracer: Tracer<'_>) -> Self {
        let address = |bytes: &[u8]| bytes.as_ptr().addr() as u64;
        let mut memory = Self {
            addresses: parts.iter().map(|part| address(part)).collect(),
            ..Self::default()
        };
        let is_inside = |at: u64| {
            parts
                .iter()
                .any(|part| at.wrapping_sub(address(part)) < part.len() as u64)
        };
        let mut outside: Vec<_> = tracer
            .seen
            .iter()
            .filter(|seen| !seen.is_empty() && !is_inside(address(seen)))
            .map(|seen| (address(seen), *seen))
            .collect();
        outside.sort_by_key(|(address, _)| *address);
        for (address, bytes) in outside {
            memory.add(address, bytes);
        }
        // Nothing is read of what is empty.
        for pointer in &tracer.pointers {
            let to: u64 = read(pointer, 0);
            if to != 0 && !is_inside(to) && memory.find(&[], to).is_none() {
                memory.pieces.push(Piece {
                    address: to,
                    bytes: Vec::new(),
                });
            }
        }
        let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
        let mut pointers: Vec<_> = tracer
            .pointers
            .iter()
            .filter_map(|pointer| memory.find(&lengths, address(pointer)))
            .collect();
        pointers.sort_by_key(|pointer| (pointer.part, pointer.offset));
        pointers.dedup();
        memory.pointers = pointers;
        memory
    }

    /// Adds bytes that don't start before those of the last piece.
    fn add(&mut self, address: u64, bytes: &[u8]) {
        if let Some(last) = self.pieces.last_mut() {
            let end = last.address + last.bytes.len() as u64;
            if address < end + GAP {
                let at = (address - last.address) as usize;
                let len = last.bytes.len().max(at + bytes.len());
                last.bytes.resize(len, 0);
                last.bytes[at..at + bytes.len()].copy_from_slice(bytes);
                return;
            }
        }
        self.pieces.push(Piece {
            address,
            bytes: bytes.to_vec(),
        });
    }

    /// What an address means, where the parts that are no pieces have these lengths. The end of a piece is of it too: there its
    /// null is.
    pub fn find(&self, lengths: &[usize], address: u64) -> Option<Pointer> {
        let parts = self.addresses.iter().zip(lengths);
        let parts = parts.map(|(start, len)| (*start, *len as u64));
        let pieces = self.pieces.iter();
        let pieces = pieces.map(|piece| (piece.address, piece.bytes.len() as u64 + 1));
        let first_piece = self.addresses.len();
        let mut parts = (0..).zip(parts).chain((first_piece..).zip(pieces));
        parts.find_map(|(part, (start, len))| {
            let offset = address.checked_sub(start).filter(|offset| *offset < len)?;
            Some(Pointer {
                part,
                offset: offset as usize,
            })
        })
    }
}
