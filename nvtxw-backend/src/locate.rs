//! The decoder of what most payloads without a fixed layout are: a few fields of varying size, or elsewhere, each of them text or
//! some elements that are settled.
//!
//! Their data is located, and checked, when the event comes; each look at the event's fields finds it in place.

use crate::data::{Data, SKIPPED, Target, endless, outside, too_much};
use crate::decode::check_elements;
use crate::domain::Domain;
use crate::event::Text;
use crate::refusal::Result;
use crate::region::Region;
use crate::scalar::{Read, read};
use crate::schema::{Beyond, Extent, Field, FieldKind, Integer, Place, Schema, Shape};
use crate::text;

/// So many fields of an event may be loose; with more, its payload is walked through.
pub(crate) const LOOSE: usize = 8;

/// The data of loose fields; `None` behind a null pointer. Text ends before its null.
pub(crate) type Found<'a> = [Option<&'a [u8]>; LOOSE];

/// How a loose field is found, worked out when the schema is registered.
#[derive(Debug)]
pub(crate) struct Loose {
    /// The field's index.
    pub(crate) field: usize,
    start: Start,
    refers: bool,
    extent: LooseExtent,
    /// Bytes of one element, or of one code unit of text.
    unit: usize,
    is_text: bool,
    has_checks: bool,
}

/// Where a field starts.
#[derive(Clone, Copy, Debug)]
enum Start {
    At(usize),
    /// Where the one before it ends, under this alignment but one, which is a power of two.
    Follows(usize),
}

/// How much of it there is.
#[derive(Clone, Copy, Debug)]
enum LooseExtent {
    /// So many bytes.
    Fixed(usize),
    ZeroTerminated,
    /// As many elements as an integer at a known place says.
    Told(Integer),
    /// As many as the loose field before it in this place says.
    ToldBy(usize, Read),
}

impl Loose {
    /// For a field of a schema with these fields; `None` if its data can't be located like this.
    pub(crate) fn new(field: &Field, fields: &[Field]) -> Option<Self> {
        let is_settled = match &field.kind {
            FieldKind::Scalar(_) | FieldKind::Text(_) | FieldKind::Enum(_) => true,
            FieldKind::Struct(schema) => schema.plan.is_settled,
            FieldKind::Union(schema) => schema.plan.is_settled && schema.shape != Shape::Union,
        };
        let extent = match (field.extent, field.told_by) {
            (Extent::Schema, _) => LooseExtent::Fixed(field.span()),
            (Extent::ZeroTerminated, _) => LooseExtent::ZeroTerminated,
            (Extent::Entry(_), Some(integer)) => LooseExtent::Told(integer),
            (Extent::Entry(entry), None) => {
                let teller = &fields[entry];
                let slot = teller
                    .loose
                    .filter(|_| teller.plain && teller.count.is_none())?;
                LooseExtent::ToldBy(slot, teller.element)
            }
            (Extent::Payload(_), _) => return None,
        };
        let is_inside = match field.place {
            Place::Pointer(beyond) => beyond == Beyond::Refused,
            _ => true,
        };
        if !is_settled || !is_inside {
            return None;
        }
        Some(Self {
            field: field.index,
            start: match field.follows {
                true => Start::Follows(field.align - 1),
                false => Start::At(field.offset),
            },
            refers: field.place != Place::Here,
            extent,
            unit: field.size,
            is_text: matches!(field.kind, FieldKind::Text(_)),
            has_checks: field.has_checks,
        })
    }
}

/// Locates the loose fields of a payload of a regular schema, and refuses it if something in them is bad. Returns where the
/// payload ends.
pub(crate) fn locate<'a>(
    schema: &'a Schema,
    bytes: &'a [u8],
    data: &Data<'_, 'a>,
    found: &mut Found<'a>,
) -> Result<usize> {
    if !data.steps.try_take(schema.plan.work) {
        return Err(too_much(&schema.fields[0]));
    }
    let (mut cursor, mut end) = (0, schema.size);
    for (slot, loose) in schema.plan.loose.iter().enumerate().take(LOOSE) {
        let field = || &schema.fields[loose.field];
        let start = match loose.start {
            Start::At(at) => at,
            Start::Follows(mask) => (cursor + mask) & !mask,
        };
        let (mut region, mut at) = (bytes, start);
        if loose.refers {
            cursor = start + size_of::<u64>();
            end = end.max(cursor);
            let Some(reference) = bytes.get(start..cursor) else {
                let region = Region::Inside(bytes);
                return Err(outside(field(), start, size_of::<u64>(), region));
            };
            let here = Region::Inside(bytes);
            match data.target(field(), read(reference, 0), cursor, here)? {
                Target::At(Region::Inside(there), place) => (region, at) = (there, place),
                // What leads out of the event is found by a walk.
                Target::Nothing | Target::Address(_) | Target::At(Region::Outside(_), _) => {
                    found[slot] = None;
                    continue;
                }
            }
        }
        let (size, taken) = match loose.extent {
            LooseExtent::ZeroTerminated => up_to_null(loose, field(), region, at, data)?,
            LooseExtent::Fixed(size) => (size, size),
            LooseExtent::Told(integer) => {
                let count = integer.reading.count(bytes, integer.at as usize);
                let size = count.unwrap_or_default().saturating_mul(loose.unit);
                (size, size)
            }
            LooseExtent::ToldBy(teller, reading) => {
                let count = found[teller].and_then(|data| reading.count(data, 0));
                let size = count.unwrap_or_default().saturating_mul(loose.unit);
                (size, size)
            }
        };
        let Some(content) = Region::Inside(region).piece(at, size) else {
            return Err(outside(field(), at, size, Region::Inside(region)));
        };
        let steps = if loose.is_text { size / SKIPPED } else { size };
        if !data.steps.try_take(steps as u64) {
            return Err(too_much(field()));
        }
        if loose.has_checks {
            check_elements(field(), content, data.domain)?;
        }
        found[slot] = Some(content);
        if !loose.refers {
            cursor = at + taken;
            end = end.max(cursor);
        }
    }
    Ok(end)
}

/// How many bytes come before a null, and up to behind it.
fn up_to_null(
    loose: &Loose,
    field: &Field,
    region: &[u8],
    at: usize,
    data: &Data<'_, '_>,
) -> Result<(usize, usize)> {
    let Some(rest) = region.get(at..) else {
        return Err(outside(field, at, 0, Region::Inside(region)));
    };
    match data.find_null(field, rest, loose.unit)? {
        Some(len) => Ok((len, len + loose.unit)),
        // Without a null, text ends with what it is in.
        None if loose.is_text => Ok((rest.len() / loose.unit * loose.unit, rest.len())),
        None => Err(endless(field, rest.len())),
    }
}

/// The message that is in a loose field.
pub(crate) fn message<'a>(
    field: &Field,
    found: &Found<'a>,
    domain: &'a Domain,
) -> Option<Text<'a>> {
    let data = found[field.loose?]?;
    match (&field.kind, field.extent) {
        (FieldKind::Text(ty), Extent::Schema) => {
            Text::of(text::value(*ty, text::before_null(*ty, data)))
        }
        (FieldKind::Text(ty), _) => Text::of(text::value(*ty, data)),
        _ => domain.registered(read(data, 0)).map(Text::Registered),
    }
}
