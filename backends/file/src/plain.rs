//! Payloads with fields at fixed places.

use nvtxw_backend::{EntryType, Field, FieldKind, FieldRole, Schema, TimestampRole};

/// Where the usual ranges of a schema have what they need: two times, perhaps a message that is
/// registered or elsewhere, a category, and a colour.
#[derive(Clone, Copy)]
pub(crate) struct Usual {
    start: usize,
    end: usize,
    name: Option<usize>,
    category: Option<usize>,
    color: Option<usize>,
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
                FieldRole::Time(TimestampRole::RangeBegin) => (&mut start, EntryType::Int64),
                FieldRole::Time(TimestampRole::RangeEnd) => (&mut end, EntryType::Int64),
                FieldRole::Message => (&mut name, EntryType::RegisteredString),
                FieldRole::Category => (&mut category, EntryType::Category),
                FieldRole::Color => (&mut color, EntryType::ColorArgb),
                _ => return None,
            };
            if !is_one(field, ty) || place.replace(field.offset()).is_some() {
                return None;
            }
        }
        Some(Self {
            start: start?,
            end: end?,
            name,
            category,
            color,
        })
    }

    /// `None` for a range that ends before it starts, or has a colour.
    #[inline(always)]
    pub(crate) fn read(&self, payload: &[u8]) -> Option<UsualRange> {
        let start = i64::from_ne_bytes(bytes(payload, self.start));
        let end = i64::from_ne_bytes(bytes(payload, self.end));
        if end < start || number(payload, self.color) != 0 {
            return None;
        }
        Some(UsualRange {
            start,
            end,
            name: match self.name {
                None => 0,
                Some(at) => u64::from_ne_bytes(bytes(payload, at)),
            },
            category: number(payload, self.category),
        })
    }
}

/// 0 if there is none.
#[inline(always)]
fn number(payload: &[u8], at: Option<usize>) -> u32 {
    at.map_or(0, |at| u32::from_ne_bytes(bytes(payload, at)))
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
        use EntryType::*;
        let (FieldKind::Scalar(ty), None) = (field.kind(), field.count()) else {
            return None;
        };
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

    #[inline(always)]
    pub(crate) fn read(self, payload: &[u8], at: usize) -> Loaded {
        match self {
            Self::I8 => Loaded::Signed(i8::from_ne_bytes(bytes(payload, at)).into()),
            Self::I16 => Loaded::Signed(i16::from_ne_bytes(bytes(payload, at)).into()),
            Self::I32 => Loaded::Signed(i32::from_ne_bytes(bytes(payload, at)).into()),
            Self::I64 => Loaded::Signed(i64::from_ne_bytes(bytes(payload, at))),
            Self::U8 => Loaded::Unsigned(u8::from_ne_bytes(bytes(payload, at)).into()),
            Self::U16 => Loaded::Unsigned(u16::from_ne_bytes(bytes(payload, at)).into()),
            Self::U32 => Loaded::Unsigned(u32::from_ne_bytes(bytes(payload, at)).into()),
            Self::U64 => Loaded::Unsigned(u64::from_ne_bytes(bytes(payload, at))),
            Self::Address => Loaded::Address(u64::from_ne_bytes(bytes(payload, at))),
            Self::F32 => Loaded::Single(f32::from_ne_bytes(bytes(payload, at))),
            Self::F64 => Loaded::Double(f64::from_ne_bytes(bytes(payload, at))),
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

/// The bytes of a payload's field; a payload has all of its schema's.
#[inline(always)]
fn bytes<const N: usize>(payload: &[u8], offset: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&payload[offset..offset + N]);
    bytes
}
