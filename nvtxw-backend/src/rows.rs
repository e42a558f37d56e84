//! Payloads of one schema, one after the other: the events of a batch, or samples.

use std::sync::Arc;

use crate::data::Data;
use crate::event::Payload;
use crate::refusal::{Refusal, Result};
use crate::schema::Schema;
use crate::sink::Sink;
use crate::walk;

/// Calls `take` with the bytes that each row may have, which returns where that ends; with all of them if there is just one row.
///
/// # Errors
/// That of `take`, or if the last row is cut; then there are no more.
pub(crate) fn each<'a>(
    schema: &Schema,
    bytes: &'a [u8],
    is_one: bool,
    mut take: impl FnMut(&'a [u8]) -> Result<usize>,
) -> Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let row = match is_one || schema.is_dynamic() {
            true => rest,
            false => &rest[..schema.size.min(rest.len())],
        };
        if row.len() < schema.size {
            return Err(too_small(schema, row.len()));
        }
        let end = take(row)?;
        rest = match (is_one, schema.is_dynamic()) {
            (true, _) => &[],
            // What takes no bytes would come for ever.
            (false, true) => &rest[end.max(1)..],
            (false, false) => &rest[row.len()..],
        };
    }
    Ok(())
}

/// Walks through each row; `around` is what it may refer to besides its own bytes. A bad one of a fixed size ends it only if
/// this `is_strict`.
///
/// # Errors
/// Those of [`each`], and that of the row that ended it.
pub(crate) fn walk<'a>(
    schema: &'a Arc<Schema>,
    (bytes, is_one): (&'a [u8], bool),
    around: Data<'_, 'a>,
    is_strict: bool,
    sink: &mut impl Sink<'a>,
) -> Result<()> {
    each(schema, bytes, is_one, |bytes| {
        let payload = Payload {
            schema,
            bytes,
            count: None,
        };
        let data = Data {
            payloads: &[payload],
            ..around
        };
        match walk::walk(schema, bytes, &data, sink) {
            Err(_) if !is_strict && !schema.is_dynamic() => Ok(bytes.len()),
            walked => walked,
        }
    })
}

#[cold]
pub(crate) fn too_small(schema: &Schema, size: usize) -> Refusal {
    Refusal::invalid(format!(
        "{size} bytes are too few for {}, which has {}",
        schema.label(),
        schema.size
    ))
}
