//! Payloads with fields at fixed places: what the formats' short ways for usual events read, without asking for
//! each field what it is.

use std::hint::cold_path;

use nvtxw_backend::{
    EntryType, EventKind, Field, FieldKind, FieldRole, Schema, SchemaRole, TimestampRole,
};

use crate::proto::{LONG_SLOT, SHORT_SLOT};

/// Where the usual ranges, or marks, of a schema have what they need: two times, which are the same one of marks, perhaps a
/// message that is registered or elsewhere, a category, and a colour.
#[derive(Clone, Copy)]
pub(crate) struct Usual {
    start: usize,
    end: usize,
    name: Option<usize>,
    category: Option<usize>,
    color: Option<usize>,
    /// Whether there is a category or a colour.
    pub(crate) has_more: bool,
    pub(crate) is_mark: bool,
}

/// A usual range.
#[derive(Clone, Copy)]
pub(crate) struct UsualRange {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// A registered string's handle; 0 if there is none in the payload.
    pub(crate) name: u64,
    /// 0 if there is none.
    pub(crate) category: u32,
}

impl Usual {
    /// `None` if the schema has other attributes, or has them in another form.
    pub(crate) fn of(schema: &Schema) -> Option<Self> {
        let (mut start, mut end) = (None, None);
        let (mut name, mut category, mut color) = (None, None, None);
        for field in schema.fields().iter().filter(|field| field.is_attribute()) {
            // Where text is that varies, the event tells.
            let is_text = matches!(field.kind(), FieldKind::Text(_)) && field.varies();
            let (place, ty) = match field.role() {
                FieldRole::Message if is_text && field.count().is_none() => continue,
                FieldRole::Time(TimestampRole::RangeEnd) => (&mut end, EntryType::Int64),
                FieldRole::Time(_) => (&mut start, EntryType::Int64),
                FieldRole::Message => (&mut name, EntryType::RegisteredString),
                FieldRole::Category => (&mut category, EntryType::Category),
                FieldRole::Color => (&mut color, EntryType::ColorArgb),
                _ => return None,
            };
            if !is_one(field, ty) || place.replace(field.offset()).is_some() {
                return None;
            }
        }
        let is_mark = schema.role() == SchemaRole::Event(EventKind::Mark);
        Some(Self {
            start: start?,
            end: if is_mark { start } else { end }?,
            is_mark,
            name,
            category,
            color,
            has_more: category.or(color).is_some(),
        })
    }

    /// Whether all of it is near in any payload's first bytes.
    pub(crate) fn is_near(&self) -> bool {
        let all = [self.name, self.category, self.color];
        let mut all = all.into_iter().flatten().chain([self.start, self.end]);
        all.all(|offset| offset < SHORT_SLOT - 8)
    }

    /// `None` for a range that ends before it starts, or has a colour.
    #[inline]
    pub(crate) fn read(&self, payload: &[u8]) -> Option<UsualRange> {
        let (start, end) = self.times(payload)?;
        Some(UsualRange {
            start,
            end,
            name: self.name(payload),
            category: (self.color(payload) == 0).then(|| self.category(payload))?,
        })
    }

    /// Start and end; `None` for a range that ends before it starts.
    #[inline(always)]
    pub(crate) fn times(&self, payload: &(impl Payload + ?Sized)) -> Option<(i64, i64)> {
        let start = i64::from_ne_bytes(payload.bytes(self.start));
        let end = i64::from_ne_bytes(payload.bytes(self.end));
        (start <= end).then_some((start, end))
    }

    /// The handle of the name; 0 if there is none in the payload.
    #[inline(always)]
    pub(crate) fn name(&self, payload: &(impl Payload + ?Sized)) -> u64 {
        match self.name {
            Some(at) => u64::from_ne_bytes(payload.bytes(at)),
            None => {
                cold_path();
                0
            }
        }
    }

    /// The category, or 0.
    #[inline(always)]
    pub(crate) fn category(&self, payload: &(impl Payload + ?Sized)) -> u32 {
        number(payload, self.category)
    }

    /// The colour, or 0.
    #[inline(always)]
    pub(crate) fn color(&self, payload: &(impl Payload + ?Sized)) -> u32 {
        number(payload, self.color)
    }
}

/// 0 if there is none.
#[inline(always)]
fn number(payload: &(impl Payload + ?Sized), at: Option<usize>) -> u32 {
    at.map_or(0, |at| u32::from_ne_bytes(payload.bytes(at)))
}

/// Whether a field is one value of this type.
fn is_one(field: &Field, ty: EntryType) -> bool {
    field.count().is_none() && matches!(field.kind(), FieldKind::Scalar(found) if *found == ty)
}

/// How a number is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Address,
    F32,
    F64,
}

impl Load {
    /// `None` for a field that is no number of up to 64 bits.
    pub(crate) fn of(field: &Field) -> Option<Self> {
        let (FieldKind::Scalar(ty), None) = (field.kind(), field.count()) else {
            return None;
        };
        Self::of_type(*ty)
    }

    /// The same by the type of one element.
    pub(crate) fn of_type(ty: EntryType) -> Option<Self> {
        use EntryType::*;
        let signed = match ty {
            Int8 | Int16 | Int32 | Int64 | Short | Int | Long | LongLong => true,
            UInt8 | UInt16 | UInt32 | UInt64 | UChar | UShort | UInt | ULong | ULongLong | Size => {
                false
            }
            Float | Float32 => return Some(Self::F32),
            Double | Float64 => return Some(Self::F64),
            Address => return Some(Self::Address),
            _ => return None,
        };
        let (size, _) = ty.layout()?;
        Some(match (size, signed) {
            (1, true) => Self::I8,
            (2, true) => Self::I16,
            (4, true) => Self::I32,
            (_, true) => Self::I64,
            (1, false) => Self::U8,
            (2, false) => Self::U16,
            (4, false) => Self::U32,
            (_, false) => Self::U64,
        })
    }

    /// Of an integer without a sign of so many bytes: 1, 2, 4 or 8.
    pub(crate) fn unsigned(size: usize) -> Self {
        match size {
            1 => Self::U8,
            2 => Self::U16,
            4 => Self::U32,
            _ => Self::U64,
        }
    }

    #[inline(always)]
    pub(crate) fn read(self, payload: &(impl Payload + ?Sized), at: usize) -> Loaded {
        match self {
            Self::I8 => Loaded::Signed(i8::from_ne_bytes(payload.bytes(at)).into()),
            Self::I16 => Loaded::Signed(i16::from_ne_bytes(payload.bytes(at)).into()),
            Self::I32 => Loaded::Signed(i32::from_ne_bytes(payload.bytes(at)).into()),
            Self::I64 => Loaded::Signed(i64::from_ne_bytes(payload.bytes(at))),
            Self::U8 => Loaded::Unsigned(u8::from_ne_bytes(payload.bytes(at)).into()),
            Self::U16 => Loaded::Unsigned(u16::from_ne_bytes(payload.bytes(at)).into()),
            Self::U32 => Loaded::Unsigned(u32::from_ne_bytes(payload.bytes(at)).into()),
            Self::U64 => Loaded::Unsigned(u64::from_ne_bytes(payload.bytes(at))),
            Self::Address => Loaded::Address(u64::from_ne_bytes(payload.bytes(at))),
            Self::F32 => Loaded::Single(f32::from_ne_bytes(payload.bytes(at))),
            Self::F64 => Loaded::Double(f64::from_ne_bytes(payload.bytes(at))),
        }
    }
}

/// A number that was read.
#[derive(Clone, Copy)]
pub(crate) enum Loaded {
    Signed(i64),
    Unsigned(u64),
    Address(u64),
    Single(f32),
    Double(f64),
}

/// The bytes of a payload, which has all of its schema's, and perhaps others behind.
pub(crate) trait Payload {
    /// The bytes of a field.
    fn bytes<const N: usize>(&self, offset: usize) -> [u8; N];
}

impl Payload for [u8] {
    #[inline(always)]
    fn bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self[offset..offset + N]);
        bytes
    }
}

/// The first bytes of a payload, with some that are no part of any field. Fields that begin before the last eight are near: their
/// places need no checks.
impl<const N: usize> Payload for [u8; N] {
    #[inline(always)]
    fn bytes<const COUNT: usize>(&self, offset: usize) -> [u8; COUNT] {
        const { assert!(COUNT <= 8) };
        let (at, mut bytes) = (offset % (N - 8), [0; COUNT]);
        bytes.copy_from_slice(&self[at..at + COUNT]);
        bytes
    }
}

/// So many bytes of a payload can be near at most.
pub(crate) const FARTHEST: usize = LONG_SLOT;

/// Where the near bytes of a payload are copied to that has too few behind it.
pub(crate) struct Copied([u8; FARTHEST]);

impl Default for Copied {
    fn default() -> Self {
        Self([0; FARTHEST])
    }
}

impl Copied {
    /// The near bytes of a payload.
    #[inline(always)]
    pub(crate) fn near<'p, const N: usize>(&'p mut self, payload: &'p [u8]) -> &'p [u8; N] {
        const { assert!(N <= FARTHEST) };
        match payload.first_chunk() {
            Some(near) => near,
            None => {
                cold_path();
                self.0[..payload.len()].copy_from_slice(payload);
                (&self.0[..N]).try_into().expect("it has so many bytes")
            }
        }
    }
}
