//! What pointers in payloads lead to.

use std::sync::Arc;

use crate::data::{Data, Flex, Steps};
use crate::domain::Domain;
use crate::event::Payload;
use crate::refusal::Result;
use crate::rows;
use crate::scalar::read;
use crate::schema::{AttributesAt, Field, Place, Plan, Schema};
use crate::sink::Sink;
use crate::value::Value;
use crate::walk;

/// Bytes that lie so close together are one piece: a struct may have gaps.
const GAP: u64 = 16;

/// Where the pointers of a write are, and what they lead to: so that what is written can be moved, or kept.
///
/// The parts of an event are its payloads, then the pieces. Those of a batch are its events, its flexible data (empty without one),
/// then the pieces; those of samples are all samples, then the pieces.
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
    /// Its bytes, with the null, or the element of zeros, that ends them.
    pub bytes: Vec<u8>,
}

/// Where a pointer is. It leads nowhere if it is null, or if what it holds is in no part: such a pointer is shown as the address
/// that it is.
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
    /// That of the payload whose attributes are to be found.
    plan: Option<&'a Plan>,
    at: Option<AttributesAt>,
    seen: Vec<&'a [u8]>,
    /// 8 bytes each, and whether what they lead to is looked at.
    pointers: Vec<(&'a [u8], bool)>,
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
            // It comes right after its pointer.
            Value::Address(_) => {
                if let Some((_, is_followed)) = self.pointers.last_mut() {
                    *is_followed = false;
                }
            }
            _ => {}
        }
    }

    fn begin_array(&mut self, _: &'a Field, _: usize) {}
    fn end_array(&mut self, _: &'a Field) {}
    fn begin_struct(&mut self, _: &'a Field, _: &'a Schema) {}
    fn end_struct(&mut self, _: &'a Field) {}

    fn reference(&mut self, field: &'a Field, bytes: &'a [u8], _: Option<usize>) {
        self.seen.push(bytes);
        if matches!(field.place, Place::Pointer(_)) {
            self.pointers.push((bytes, true));
        }
    }

    fn whole(&mut self, bytes: &'a [u8]) {
        self.seen.push(bytes);
    }

    fn places(&mut self, places: &[usize]) {
        if let Some(plan) = self.plan.filter(|plan| !plan.late.is_empty()) {
            self.at = Some(plan.at_places(places));
        }
    }
}

/// Walks through all rows of a schema, as far as they are good, or the only one.
fn trace<'a>(
    bytes: &'a [u8],
    is_one: bool,
    flex: Option<Flex<'a>>,
    domain: &'a Domain,
    schema: &'a Arc<Schema>,
) -> Tracer<'a> {
    let size = bytes.len() + flex.map_or(0, |flex| flex.bytes.len());
    let steps = Steps::for_bytes(size, true);
    let around = Data {
        payloads: &[],
        flex,
        pieces: &[],
        domain,
        steps: &steps,
    };
    let mut tracer = Tracer::default();
    // What comes after a row without an end was refused.
    let _ = rows::walk(schema, (bytes, is_one), around, false, &mut tracer);
    tracer
}

impl Memory {
    /// That of an event of these payloads.
    pub(crate) fn of_event(payloads: &[Payload<'_>], domain: &Domain) -> Self {
        let bytes = payloads.iter().map(|payload| payload.bytes.len());
        let data = Data {
            payloads,
            flex: None,
            pieces: &[],
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

    /// That of a batch, as far as its events are good.
    pub(crate) fn of_batch<'a>(
        bytes: &'a [u8],
        flex: Option<Flex<'a>>,
        domain: &'a Domain,
        schema: &'a Arc<Schema>,
    ) -> Self {
        let tracer = trace(bytes, false, flex, domain, schema);
        let flex = flex.map_or(&[][..], |flex| flex.bytes);
        Self::of(&[bytes, flex], tracer)
    }

    /// That of samples, as far as they are good; or of one, of which all bytes are.
    pub(crate) fn of_samples<'a>(
        bytes: &'a [u8],
        is_one: bool,
        domain: &'a Domain,
        schema: &'a Arc<Schema>,
    ) -> Self {
        Self::of(&[bytes], trace(bytes, is_one, None, domain, schema))
    }

    /// That of a sample, where it is [one of several](rows::each): what it points to is in `around`. Also where it ends, and where
    /// its attributes are if not all are where its schema says.
    pub(crate) fn of_sample<'a>(
        bytes: &'a [u8],
        around: &'a [u8],
        domain: &'a Domain,
        schema: &'a Arc<Schema>,
    ) -> (Self, Result<usize>, Option<AttributesAt>) {
        let sample = Payload {
            schema,
            bytes,
            count: None,
        };
        let data = Data {
            payloads: &[sample],
            flex: None,
            pieces: around,
            domain,
            steps: &Steps::for_bytes(bytes.len() + around.len(), true),
        };
        let mut tracer = Tracer {
            plan: Some(&schema.plan),
            ..Tracer::default()
        };
        let end = walk::walk(schema, bytes, &data, &mut tracer);
        let at = tracer.at.take();
        let bytes = match (&end, schema.is_dynamic()) {
            (Ok(end), true) => &bytes[..*end],
            _ => bytes,
        };
        (Self::of(&[bytes], tracer), end, at)
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
        let seen = tracer.seen.iter().filter(|seen| !seen.is_empty());
        let seen = seen.map(|seen| (address(seen), *seen));
        // Nothing is read of what is empty.
        let followed = tracer
            .pointers
            .iter()
            .filter(|(_, is_followed)| *is_followed);
        let targets = followed.map(|(pointer, _)| (read(pointer, 0), &[][..]));
        let mut outside: Vec<_> = seen
            .chain(targets)
            .filter(|(at, _)| *at != 0 && !is_inside(*at))
            .collect();
        outside.sort_by_key(|(address, _)| *address);
        for (address, bytes) in outside {
            memory.add(address, bytes);
        }
        let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
        let index = memory.index(&lengths);
        let mut pointers: Vec<_> = tracer
            .pointers
            .iter()
            .filter_map(|(pointer, _)| index.find(address(pointer)))
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

    /// What addresses mean, where the parts that are no pieces have these lengths.
    pub(crate) fn index(&self, lengths: &[usize]) -> Index {
        let parts = self.addresses.iter().zip(lengths).enumerate();
        let parts = parts.map(|(part, (start, len))| (*start, *len as u64, part));
        let first_piece = self.addresses.len();
        let pieces = (first_piece..).zip(&self.pieces);
        // The end of a piece is of it too: what is empty is there.
        let pieces =
            pieces.map(|(part, piece)| (piece.address, piece.bytes.len() as u64 + 1, part));
        let mut pieces: Vec<_> = pieces.collect();
        pieces.sort_by_key(|(start, ..)| *start);
        Index {
            parts: parts.collect(),
            pieces,
        }
    }
}

/// The parts of a [`Memory`]: where each starts, how long it is, and its number.
pub(crate) struct Index {
    parts: Vec<(u64, u64, usize)>,
    /// By address.
    pieces: Vec<(u64, u64, usize)>,
}

impl Index {
    /// What an address means.
    pub(crate) fn find(&self, address: u64) -> Option<Pointer> {
        let of = |(start, len, part): &(u64, u64, usize)| {
            let offset = address.checked_sub(*start).filter(|offset| offset < len)?;
            Some(Pointer {
                part: *part,
                offset: offset as usize,
            })
        };
        self.parts.iter().find_map(of).or_else(|| {
            let before = self.pieces.partition_point(|(start, ..)| *start <= address);
            of(&self.pieces[before.checked_sub(1)?])
        })
    }
}
