//! The decoder of what most payloads without a fixed layout are: a few fields of varying size, or elsewhere, each of them text or
//! some elements that are settled.
//!
//! Their data is located, and checked, when the event comes; each look at the event's fields finds it in place.

use std::cell::Cell;
use std::sync::Arc;

use crate::check::check_elements;
use crate::data::{Data, Flex, SKIPPED, Steps, Target, endless, outside, too_much};
use crate::domain::Domain;
use crate::event::{Event, Payload, Text};
use crate::refusal::{Refusal, Result};
use crate::region::Region;
use crate::scalar::{Read, read};
use crate::schema::{Beyond, Extent, Field, FieldKind, Integer, MessageAt, Place, Schema, Shape};
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
    via: Via,
    extent: LooseExtent,
    /// Bytes of one element, or of one code unit of text.
    unit: usize,
    /// One step stands for so many bytes of it, as a power of two.
    step: u32,
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

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    /// Its data.
    Nothing,
    /// An offset that leads to its data, and counts in flexible data if there is such.
    Offset,
    Pointer,
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
        let via = match field.place {
            Place::Here => Via::Nothing,
            Place::FromBase | Place::FromHere => Via::Offset,
            Place::Pointer(Beyond::Refused) => Via::Pointer,
            Place::Pointer(_) => return None,
        };
        let is_text = matches!(field.kind, FieldKind::Text(_));
        is_settled.then_some(Self {
            field: field.index,
            start: match field.follows {
                true => Start::Follows(field.align - 1),
                false => Start::At(field.offset),
            },
            via,
            extent,
            unit: field.size,
            step: if is_text { SKIPPED.ilog2() } else { 0 },
            is_text,
            has_checks: field.has_checks,
        })
    }

    /// Whether it is text of bytes to which an offset in a fixed place leads, and whose length varies.
    pub(crate) fn is_flexible_text(&self) -> bool {
        let varies = !matches!(self.extent, LooseExtent::Fixed(_));
        self.is_text && self.unit == 1 && self.via == Via::Offset && varies
    }

    /// [Such a text](Self::is_flexible_text) in flexible data, of the payload with these bytes whose other fields are settled.
    /// `None` if it is not there, or takes too many steps.
    #[inline(always)]
    pub(crate) fn flexible_text<'a>(
        &self,
        bytes: &[u8],
        flex: &Flex<'a>,
        steps: &Steps,
    ) -> Option<&'a [u8]> {
        let Start::At(start) = self.start else {
            return None;
        };
        let at = read::<u64>(bytes, start).wrapping_sub(flex.offset as u64);
        let rest = flex.bytes.get(usize::try_from(at).ok()?..)?;
        let len = match self.extent {
            LooseExtent::Told(integer) => integer.count(bytes),
            // Without a null, text ends with what it is in.
            LooseExtent::ZeroTerminated => steps.find_null(rest, 1)?.unwrap_or(rest.len()),
            LooseExtent::Fixed(_) | LooseExtent::ToldBy(..) => return None,
        };
        let text = rest.get(..len)?;
        steps.try_take((len >> self.step) as u64).then_some(text)
    }
}

impl<'a> Event<'a> {
    /// Locates the loose fields of the payload, of a regular schema, with which `bytes` start, and the message if it is among
    /// them; refuses it if something in them is bad. Returns where the payload ends.
    #[inline(always)]
    pub(crate) fn locate(&mut self, bytes: &'a [u8], steps: &Steps) -> Result<usize> {
        let schema = &**self.schema;
        if !steps.try_take(schema.plan.work) {
            return Err(too_much(&schema.fields[0]));
        }
        let (mut cursor, mut end) = (0, schema.size);
        let found = Cell::from_mut(&mut self.context.found[..]).as_slice_of_cells();
        for (loose, place) in schema.plan.loose.iter().zip(found) {
            let search = Search {
                loose,
                schema: self.schema,
                bytes,
                flex: &self.flex,
                domain: self.context.domain,
                found,
                steps,
            };
            let start = match loose.start {
                Start::At(at) => at,
                Start::Follows(mask) => (cursor + mask) & !mask,
            };
            if loose.via == Via::Nothing {
                let (content, taken) = search.content(bytes, start)?;
                place.set(Some(content));
                cursor = start + taken;
            } else {
                place.set(search.referred(start)?);
                cursor = start + size_of::<u64>();
            }
            end = end.max(cursor);
        }
        if let Some(MessageAt::Loose(index)) = schema.plan.message {
            self.attributes.message = self.located_message(&schema.fields[index]);
        }
        Ok(end)
    }

    /// The message that is in a loose field.
    #[inline(never)]
    fn located_message(&self, field: &Field) -> Option<Text<'a>> {
        let data = self.context.found[field.loose?]?;
        match (&field.kind, field.extent) {
            (FieldKind::Text(ty), Extent::Schema) => {
                Text::of(text::value(*ty, text::before_null(*ty, data)))
            }
            (FieldKind::Text(ty), _) => Text::of(text::value(*ty, data)),
            _ => self
                .context
                .domain
                .registered(read(data, 0))
                .map(Text::Registered),
        }
    }
}

/// The search for the data of a loose field.
struct Search<'s, 'a> {
    loose: &'s Loose,
    schema: &'a Arc<Schema>,
    /// They start with the payload.
    bytes: &'a [u8],
    flex: &'s Option<Flex<'a>>,
    domain: &'a Domain,
    /// The data of the fields before.
    found: &'s [Cell<Option<&'a [u8]>>],
    steps: &'s Steps,
}

// What is called from here gets its parts, not all of it, so that they stay in registers.
impl<'a> Search<'_, 'a> {
    /// The data that the reference at `start` leads to; `None` if that is null.
    #[inline(always)]
    fn referred(&self, start: usize) -> Result<Option<&'a [u8]>> {
        let there = match self.flexible(start) {
            None => self.target(start)?,
            there => there,
        };
        let Some((region, at)) = there else {
            return Ok(None);
        };
        let (content, _) = self.content(region, at)?;
        Ok(Some(content))
    }

    /// Where a good offset into flexible data leads.
    #[inline(always)]
    fn flexible(&self, start: usize) -> Option<(&'a [u8], usize)> {
        let flex = (self.flex.as_ref()).filter(|_| self.loose.via == Via::Offset)?;
        let reference = self.bytes.get(start..)?.first_chunk()?;
        let at = u64::from_ne_bytes(*reference).wrapping_sub(flex.offset as u64);
        (at <= flex.bytes.len() as u64).then_some((flex.bytes, at as usize))
    }

    /// Where any reference leads; `None` if it is null.
    #[inline(always)]
    fn target(&self, start: usize) -> Result<Option<(&'a [u8], usize)>> {
        let payload = Payload {
            schema: self.schema,
            bytes: self.bytes,
            count: None,
        };
        let data = Data {
            payloads: &[payload],
            flex: *self.flex,
            pieces: &[],
            domain: self.domain,
            steps: self.steps,
        };
        target(self.field(), self.bytes, start, &data)
    }

    /// The data at `at`, and how many bytes it takes there.
    #[inline(always)]
    fn content(&self, region: &'a [u8], at: usize) -> Result<(&'a [u8], usize)> {
        let loose = self.loose;
        let (size, taken) = match loose.extent {
            LooseExtent::ZeroTerminated => self.up_to_null(region, at)?,
            LooseExtent::Fixed(size) => (size, size),
            LooseExtent::Told(integer) => self.elements(integer.count(self.bytes)),
            LooseExtent::ToldBy(teller, reading) => {
                self.elements(told_by(self.found[teller].get(), reading))
            }
        };
        let Some(content) = region.get(at..).and_then(|rest| rest.get(..size)) else {
            return Err(cut(self.field(), region, at, size));
        };
        if !self.steps.try_take((size >> loose.step) as u64) {
            return Err(too_much(self.field()));
        }
        if loose.has_checks {
            check_elements(self.field(), content, self.domain)?;
        }
        Ok((content, taken))
    }

    /// How many bytes come before a null, and up to behind it.
    #[inline(always)]
    fn up_to_null(&self, region: &[u8], at: usize) -> Result<(usize, usize)> {
        let Some(rest) = region.get(at..) else {
            return Err(cut(self.field(), region, at, 0));
        };
        let unit = self.loose.unit;
        match self.steps.find_null(rest, unit) {
            Some(Some(len)) => Ok((len, len + unit)),
            // Without a null, text ends with what it is in.
            Some(None) if self.loose.is_text => Ok((rest.len() / unit * unit, rest.len())),
            Some(None) => Err(endless(self.field(), rest.len())),
            None => Err(too_much(self.field())),
        }
    }

    /// How many bytes so many elements have, twice.
    #[inline(always)]
    fn elements(&self, count: usize) -> (usize, usize) {
        let size = count.saturating_mul(self.loose.unit);
        (size, size)
    }

    #[inline(always)]
    fn field(&self) -> &'a Field {
        &self.schema.fields[self.loose.field]
    }
}

#[inline(never)]
fn target<'a>(
    field: &Field,
    bytes: &'a [u8],
    start: usize,
    data: &Data<'_, 'a>,
) -> Result<Option<(&'a [u8], usize)>> {
    let here = Region::Inside(bytes);
    let end = start + size_of::<u64>();
    let Some(reference) = bytes.get(start..end) else {
        return Err(outside(field, start, size_of::<u64>(), here));
    };
    Ok(match data.target(field, read(reference, 0), end, here)? {
        Target::At(Region::Inside(region), at) => Some((region, at)),
        // What leads out of the event is found by a walk.
        Target::Nothing | Target::Address(_) | Target::At(Region::Outside(_), _) => None,
    })
}

/// The number of elements that a loose field with this data tells.
#[inline(never)]
fn told_by(teller: Option<&[u8]>, reading: Read) -> usize {
    let count = teller.and_then(|data| reading.count(data, 0));
    count.unwrap_or_default()
}

#[cold]
fn cut(field: &Field, region: &[u8], at: usize, size: usize) -> Refusal {
    outside(field, at, size, Region::Inside(region))
}
