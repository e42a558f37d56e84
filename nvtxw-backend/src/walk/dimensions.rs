//! How long arrays are.

use super::{Frame, Walk, place};
use crate::data::outside;
use crate::refusal::{Refusal, Result};
use crate::region::Region;
use crate::schema::{Extent, Field, FieldKind, Place};
use crate::sink::Sink;

/// Arrays have no more dimensions.
const DIMENSIONS: usize = 32;

/// Sizes of an array, the outermost dimension first.
pub(super) struct Dimensions {
    sizes: [usize; DIMENSIONS],
    count: usize,
}

impl Dimensions {
    pub(super) fn as_slice(&self) -> &[usize] {
        &self.sizes[..self.count]
    }
}

impl<'a, S: Sink<'a>> Walk<'_, '_, 'a, S> {
    /// The dimensions of an array whose length is elsewhere.
    pub(super) fn dimensions(&self, field: &Field, frame: &Frame<'_, 'a>) -> Result<Dimensions> {
        let (index, source, count, region, at) = match field.extent {
            Extent::Entry(entry) => {
                let source = &frame.schema.fields[entry];
                (
                    entry,
                    source,
                    source.count,
                    frame.region,
                    place(frame, source),
                )
            }
            Extent::Payload(index) => {
                let payload = self
                    .data
                    .payloads
                    .get(index)
                    .ok_or_else(|| no_payload(field, index, self.data.payloads.len()))?;
                let [source] = &*payload.schema.fields else {
                    return Err(no_length(field, index));
                };
                let region = Region::Inside(payload.bytes);
                (
                    index,
                    source,
                    payload.count.or(source.count),
                    region,
                    source.offset,
                )
            }
            Extent::Schema | Extent::ZeroTerminated => (0, field, Some(0), frame.region, 0),
        };
        match (&source.kind, source.place) {
            (FieldKind::Scalar(ty), Place::Here) if ty.is_integer() => {}
            _ => return Err(no_length(field, index)),
        }
        let mut dimensions = Dimensions {
            sizes: [0; DIMENSIONS],
            count: 0,
        };
        let mut at = at;
        loop {
            let is_fixed = source.extent == Extent::Schema;
            if is_fixed && dimensions.count == count.unwrap_or(1) {
                return Ok(dimensions);
            }
            let size = (region.piece(at, source.size))
                .ok_or_else(|| outside(source, at, source.size, region))?;
            if !is_fixed && size.iter().all(|byte| *byte == 0) {
                return Ok(dimensions);
            }
            let next = dimensions
                .sizes
                .get_mut(dimensions.count)
                .ok_or_else(|| too_many_dimensions(field))?;
            *next = source.element.count(size, 0).unwrap_or_default();
            dimensions.count += 1;
            at += source.size;
        }
    }
}

/// The number of elements; too many are as many as can be.
pub(super) fn product(sizes: &[usize]) -> usize {
    if sizes.contains(&0) {
        return 0;
    }
    sizes
        .iter()
        .fold(1, |product: usize, size| product.saturating_mul(*size))
}

#[cold]
fn no_payload(field: &Field, index: usize, count: usize) -> Refusal {
    Refusal::invalid(format!(
        "the length of `{}` is in payload {index} of the event, which has only {count}",
        field.name()
    ))
}

#[cold]
fn no_length(field: &Field, index: usize) -> Refusal {
    Refusal::invalid(format!(
        "the length of `{}` is in payload {index} of the event, which holds no integer in its one entry",
        field.name()
    ))
}

#[cold]
fn too_many_dimensions(field: &Field) -> Refusal {
    Refusal::unsupported(format!(
        "`{}` has more than {DIMENSIONS} dimensions, which are not decoded",
        field.name()
    ))
}
