//! The decoder of what has no fixed place or size: dynamic schemas, unions, and data behind offsets and pointers.
//!
//! All of it is found by a walk through the payload, which checks each step. An event's payloads are walked once when the
//! event comes, so that a bad one is refused before the backend sees it, and again for each look at its fields.

mod dimensions;

use nvtxw_abi::EntryType;

use self::dimensions::product;
use crate::data::{Data, SKIPPED, Target, endless, outside, too_much};
use crate::event::Text;
use crate::raw::TEXT_LIMIT;
use crate::refusal::{Refusal, Result};
use crate::region::Region;
use crate::scalar::read;
use crate::schema::{AttributesAt, Extent, Field, FieldKind, MessageAt, Place, Schema, Shape};
use crate::sink::{Check, Show, Sink};
use crate::text;
use crate::value::{Value, Visitor};

/// What a walk finds in a payload that is good.
pub(crate) struct Found<'a> {
    /// The message, if [`MessageAt::Loose`] says that it has one.
    pub(crate) message: Option<Text<'a>>,
    /// Where the attributes are, if not all are where the plan says.
    pub(crate) at: Option<AttributesAt>,
    /// Where the payload ends.
    pub(crate) end: usize,
}

/// Walks through a payload, and refuses it if something in it is bad.
pub(crate) fn check<'a>(
    schema: &'a Schema,
    bytes: &'a [u8],
    data: &Data<'_, 'a>,
) -> Result<Found<'a>> {
    let mut check = Check {
        domain: data.domain,
        plan: &schema.plan,
        wanted: match schema.plan.message {
            Some(MessageAt::Loose(index)) => Some(&schema.fields[index]),
            _ => None,
        },
        message: None,
        at: None,
    };
    let region = Region::Inside(bytes);
    let end = Walk::new(data, &mut check).payload(schema, region, |_| true)?;
    Ok(Found {
        message: check.message,
        at: check.at,
        end,
    })
}

/// Walks through a payload, and gives `sink` what it comes by; returns where the payload ends.
pub(crate) fn walk<'a>(
    schema: &'a Schema,
    bytes: &'a [u8],
    data: &Data<'_, 'a>,
    sink: &mut impl Sink<'a>,
) -> Result<usize> {
    Walk::new(data, sink).payload(schema, Region::Inside(bytes), |_| true)
}

/// Shows the fields of a payload that is checked, without those that hold the event's attributes.
pub(crate) fn show<'a, V: Visitor>(
    schema: &'a Schema,
    bytes: &'a [u8],
    data: &Data<'_, 'a>,
    visitor: &mut V,
) {
    show_some(schema, bytes, data, |field| !field.is_attribute, visitor);
}

/// Shows those fields of a payload that is checked that `shown` lets through.
pub(crate) fn show_some<'a, V: Visitor>(
    schema: &'a Schema,
    bytes: &'a [u8],
    data: &Data<'_, 'a>,
    shown: impl Fn(&Field) -> bool,
    visitor: &mut V,
) {
    let mut show = Show {
        domain: data.domain,
        visitor,
    };
    // The walk got through when the payload came, and nothing has changed since.
    let _ = Walk::new(data, &mut show).payload(schema, Region::Inside(bytes), shown);
}

struct Walk<'w, 'e, 'a, S> {
    data: &'w Data<'e, 'a>,
    sink: &'w mut S,
    /// Whether nothing is shown: the walk only looks for where a field ends.
    is_muted: bool,
}

/// The struct that a walk is in.
struct Frame<'f, 'a> {
    schema: &'a Schema,
    /// The payload, or whatever else the struct is in.
    region: Region<'a>,
    /// Where in it the struct starts.
    base: usize,
    /// Where its fields with slots are.
    places: &'f [usize],
}

impl<'w, 'e, 'a, S: Sink<'a>> Walk<'w, 'e, 'a, S> {
    fn new(data: &'w Data<'e, 'a>, sink: &'w mut S) -> Self {
        Self {
            data,
            sink,
            is_muted: false,
        }
    }

    /// Walks through a payload; returns where it ends.
    fn payload(
        &mut self,
        schema: &'a Schema,
        region: Region<'a>,
        shown: impl Fn(&Field) -> bool,
    ) -> Result<usize> {
        match schema.shape {
            Shape::Static | Shape::Dynamic => schema.places.with(schema.plan.slots, |places| {
                let end = self.fields(schema, region, 0, places, shown)?;
                self.sink.places(places);
                Ok(end)
            }),
            Shape::SelectingUnion(_) | Shape::Union => self.member(schema, region, 0, None),
        }
    }

    /// Walks through the struct at `base`; returns where it ends.
    fn fields(
        &mut self,
        schema: &'a Schema,
        region: Region<'a>,
        base: usize,
        places: &mut [usize],
        shown: impl Fn(&Field) -> bool,
    ) -> Result<usize> {
        let (mut cursor, mut end) = (base, base);
        for field in schema.fields() {
            let at = match field.follows {
                true => base + (cursor - base).next_multiple_of(field.align),
                false => base + field.offset,
            };
            if let Some(slot) = field.slot {
                places[slot] = at;
            }
            let was_muted = self.is_muted;
            self.is_muted |= !shown(field);
            let frame = Frame {
                schema,
                region,
                base,
                places,
            };
            cursor = self.field(field, at, &frame)?;
            end = end.max(cursor);
            self.is_muted = was_muted;
        }
        match schema.shape {
            Shape::Dynamic => Ok(end),
            _ => {
                let all = region.piece(base, schema.size);
                let all = all.ok_or_else(|| cut(schema.label(), base, schema.size, region))?;
                self.sink.whole(all);
                Ok(base + schema.size)
            }
        }
    }

    /// Walks through the field at `at`; returns where it ends.
    fn field(&mut self, field: &'a Field, at: usize, frame: &Frame<'_, 'a>) -> Result<usize> {
        self.step(1, field)?;
        if field.plain {
            return self.plain(field, field.count, frame.region, at);
        }
        if field.place == Place::Here {
            return self.content(field, frame.region, at, frame);
        }
        let reference = (frame.region.piece(at, size_of::<u64>()))
            .ok_or_else(|| outside(field, at, size_of::<u64>(), frame.region))?;
        let end = at + size_of::<u64>();
        let base = self.data.flex.is_none().then(|| frame.region.address());
        self.sink.reference(field, reference, base);
        match self
            .data
            .target(field, read(reference, 0), end, frame.region)?
        {
            Target::Nothing => {}
            Target::Address(address) => self.value(field, Value::Address(address)),
            Target::At(region, at) => {
                self.content(field, region, at, frame)?;
            }
        }
        Ok(end)
    }

    /// Walks through the data of a field; returns where that ends.
    fn content(
        &mut self,
        field: &'a Field,
        region: Region<'a>,
        at: usize,
        frame: &Frame<'_, 'a>,
    ) -> Result<usize> {
        if let FieldKind::Text(ty) = field.kind {
            return self.text(field, ty, region, at, frame);
        }
        match (field.extent, field.count) {
            (Extent::Schema, None) => self.element(field, region, at, frame),
            (Extent::Schema, Some(count)) => self.array(field, &[count], region, at, frame),
            (Extent::ZeroTerminated, _) => {
                let len = self.zero(field, region, at, field.size)?;
                let len = len.ok_or_else(|| endless(field, region.len().saturating_sub(at)))?;
                let count = len / field.size;
                let end = self.array(field, &[count], region, at, frame)?;
                Ok(end + field.size)
            }
            (Extent::Entry(_) | Extent::Payload(_), _) => {
                let sizes = self.dimensions(field, frame)?;
                self.array(field, sizes.as_slice(), region, at, frame)
            }
        }
    }

    fn text(
        &mut self,
        field: &'a Field,
        ty: EntryType,
        region: Region<'a>,
        at: usize,
        frame: &Frame<'_, 'a>,
    ) -> Result<usize> {
        let unit = text::unit_size(ty);
        let (shown, taken) = match field.extent {
            Extent::Schema => {
                let whole = region
                    .piece(at, field.size)
                    .ok_or_else(|| outside(field, at, field.size, region))?;
                let len = self.find_null(field, whole, unit)?;
                (&whole[..len.unwrap_or(whole.len())], field.size)
            }
            Extent::ZeroTerminated => {
                let (len, taken) = match self.zero(field, region, at, unit)? {
                    Some(len) => (len, len + unit),
                    // Without a null, text ends with what it is in.
                    None => {
                        let rest = region.len().saturating_sub(at);
                        (rest / unit * unit, rest)
                    }
                };
                let text = region
                    .piece(at, len)
                    .ok_or_else(|| outside(field, at, len, region))?;
                (text, taken)
            }
            Extent::Entry(_) | Extent::Payload(_) => {
                let sizes = self.dimensions(field, frame)?;
                let units = product(sizes.as_slice());
                let size = units.saturating_mul(unit);
                let whole =
                    (region.piece(at, size)).ok_or_else(|| outside(field, at, size, region))?;
                (whole, size)
            }
        };
        self.step((shown.len() / SKIPPED) as u64, field)?;
        self.value(field, text::value(ty, shown));
        Ok(at + taken)
    }

    /// Walks through one element; returns where it ends.
    fn element(
        &mut self,
        field: &'a Field,
        region: Region<'a>,
        at: usize,
        frame: &Frame<'_, 'a>,
    ) -> Result<usize> {
        self.step(1, field)?;
        match &field.kind {
            FieldKind::Struct(schema) if !schema.plan.is_plain => {
                self.begin_struct(field, schema);
                let end = (schema.places).with(schema.plan.slots, |places| {
                    self.fields(schema, region, at, places, |_| true)
                })?;
                self.end_struct(field);
                Ok(end)
            }
            FieldKind::Union(schema) => {
                let selector = field.selector.map(|selector| select(frame, selector));
                self.begin_struct(field, schema);
                let end = self.member(schema, region, at, selector)?;
                self.end_struct(field);
                Ok(end)
            }
            _ => self.plain(field, None, region, at),
        }
    }

    /// Walks through the stored member of a union, which the union itself selects if `selector` is `None`.
    fn member(
        &mut self,
        schema: &'a Schema,
        region: Region<'a>,
        base: usize,
        selector: Option<u64>,
    ) -> Result<usize> {
        let all = region.piece(base, schema.size);
        let all = all.ok_or_else(|| cut(schema.label(), base, schema.size, region))?;
        self.sink.whole(all);
        let frame = Frame {
            schema,
            region,
            base,
            places: &[],
        };
        let selected = match (selector, schema.shape) {
            (None, Shape::SelectingUnion(own)) => Some(select(&frame, own)),
            (selected, _) => selected,
        };
        let Some(field) = selected.and_then(|selected| schema.member(selected)) else {
            return Err(schema.selects_none(selected));
        };
        self.field(field, base + field.offset, &frame)?;
        Ok(base + schema.size)
    }

    /// Walks through an array of these dimensions; returns where it ends.
    fn array(
        &mut self,
        field: &'a Field,
        sizes: &[usize],
        region: Region<'a>,
        at: usize,
        frame: &Frame<'_, 'a>,
    ) -> Result<usize> {
        let bytes = product(sizes).saturating_mul(field.size);
        if region.piece(at, bytes).is_none() {
            return Err(outside(field, at, bytes, region));
        }
        if bytes == 0 {
            return self.plain(field, Some(0), region, at);
        }
        self.rows(field, sizes, region, at, frame)
    }

    fn rows(
        &mut self,
        field: &'a Field,
        sizes: &[usize],
        region: Region<'a>,
        at: usize,
        frame: &Frame<'_, 'a>,
    ) -> Result<usize> {
        let is_plain = match &field.kind {
            FieldKind::Struct(schema) => schema.plan.is_plain,
            FieldKind::Union(_) => false,
            _ => true,
        };
        let mut cursor = at;
        match *sizes {
            [] => self.element(field, region, at, frame),
            [count] if is_plain => self.plain(field, Some(count), region, at),
            [count, ref inner @ ..] => {
                self.begin_array(field, count);
                for _ in 0..count {
                    self.step(1, field)?;
                    cursor = self.rows(field, inner, region, cursor, frame)?;
                }
                self.end_array(field);
                Ok(cursor)
            }
        }
    }

    /// How many bytes from `at` come before the first unit of all zero bytes; `None` if the region has none.
    fn zero(
        &mut self,
        field: &Field,
        region: Region<'a>,
        at: usize,
        unit: usize,
    ) -> Result<Option<usize>> {
        let len = match region {
            Region::Inside(bytes) => {
                self.find_null(field, bytes.get(at..).unwrap_or_default(), unit)?
            }
            Region::Outside(memory) => {
                let left = usize::try_from(self.data.steps.left()).unwrap_or(usize::MAX);
                let len = memory.find_zero(at, unit, left.min(TEXT_LIMIT));
                let len = len.ok_or_else(|| match left < TEXT_LIMIT {
                    true => too_much(field),
                    false => too_long(field),
                })?;
                self.step(len as u64, field)?;
                Some(len)
            }
        };
        // What ends it is there too.
        if let Some(all) = len.and_then(|len| region.piece(at, len + unit)) {
            self.sink.whole(all);
        }
        Ok(len)
    }

    /// How many bytes come before the first unit of all zero bytes, if there is one.
    fn find_null(&self, field: &Field, bytes: &[u8], unit: usize) -> Result<Option<usize>> {
        let found = self.data.steps.find_null(bytes, unit);
        found.ok_or_else(|| too_much(field))
    }

    /// What lies in one piece at `at`; returns where it ends.
    fn plain(
        &mut self,
        field: &'a Field,
        count: Option<usize>,
        region: Region<'a>,
        at: usize,
    ) -> Result<usize> {
        let size = field.size * count.unwrap_or(1);
        let bytes = (region.piece(at, size)).ok_or_else(|| outside(field, at, size, region))?;
        self.step(size as u64, field)?;
        if !self.is_muted {
            self.sink.plain(field, count, bytes)?;
        }
        Ok(at + size)
    }

    fn value(&mut self, field: &'a Field, value: Value<'a>) {
        if !self.is_muted {
            self.sink.value(field, value);
        }
    }

    fn begin_array(&mut self, field: &'a Field, len: usize) {
        if !self.is_muted {
            self.sink.begin_array(field, len);
        }
    }

    fn end_array(&mut self, field: &'a Field) {
        if !self.is_muted {
            self.sink.end_array(field);
        }
    }

    fn begin_struct(&mut self, field: &'a Field, schema: &'a Schema) {
        if !self.is_muted {
            self.sink.begin_struct(field, schema);
        }
    }

    fn end_struct(&mut self, field: &'a Field) {
        if !self.is_muted {
            self.sink.end_struct(field);
        }
    }

    #[inline]
    fn step(&self, steps: u64, field: &Field) -> Result<()> {
        self.data.steps.take(steps, field)
    }
}

/// Where a field of the struct is that others refer to.
fn place(frame: &Frame<'_, '_>, field: &Field) -> usize {
    match field.slot {
        Some(slot) => frame.places[slot],
        None => frame.base + field.offset,
    }
}

/// What a selector says. It was walked through before its union, or is a part of it.
fn select(frame: &Frame<'_, '_>, selector: usize) -> u64 {
    let field = &frame.schema.fields[selector];
    let bytes = frame.region.piece(place(frame, field), field.size);
    let selected = bytes.and_then(|bytes| field.element.bits(bytes, 0));
    selected.unwrap_or(u64::MAX)
}

#[cold]
fn cut(what: String, at: usize, size: usize, region: Region<'_>) -> Refusal {
    Refusal::invalid(format!(
        "{what} would have {size} bytes at offset {at}, but there are only {} bytes",
        region.len()
    ))
}

#[cold]
fn too_long(field: &Field) -> Refusal {
    Refusal::invalid(format!(
        "`{}` points to memory outside of the event that has no element of all zero bytes within {TEXT_LIMIT} bytes; store \
         its length in another entry",
        field.name()
    ))
}
