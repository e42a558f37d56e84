//! Values of predefined types: how each is read.

use bytemuck::AnyBitPattern;
use nvtxw_abi::EntryType;

use crate::domain::Domain;
use crate::schema::{FieldKind, Integer};
use crate::value::Value;

/// The value of type `T` at `offset`, aligned or not.
#[inline(always)]
pub(crate) fn read<T: AnyBitPattern>(bytes: &[u8], offset: usize) -> T {
    bytemuck::pod_read_unaligned(&bytes[offset..offset + size_of::<T>()])
}

/// How an element is read, or a field as a whole: worked out when its schema is registered, so that one jump leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F16,
    BFloat16,
    TensorFloat32,
    F32,
    F64,
    F128,
    LongDouble,
    Char8,
    Char16,
    Char32,
    Address,
    String,
    Byte,
    /// An enum of so many bytes.
    Enum1,
    Enum2,
    Enum4,
    Enum8,
    Text,
    Struct,
    /// Its member is found by a walk.
    Union,
    /// Several elements.
    Array,
    /// What an event has located: text of bytes, up to where it ends; one element; other text, or several elements.
    LooseText,
    LooseOne,
    Loose,
    /// What an event has as an attribute, and doesn't show as a field.
    Nothing,
}

impl Read {
    /// How an element of this kind is read.
    pub(crate) fn of(kind: &FieldKind) -> Self {
        match kind {
            FieldKind::Scalar(ty) => Self::of_scalar(*ty),
            FieldKind::Text(_) => Self::Text,
            FieldKind::Struct(_) => Self::Struct,
            FieldKind::Union(_) => Self::Union,
            FieldKind::Enum(meaning) => match meaning.size() {
                1 => Self::Enum1,
                2 => Self::Enum2,
                4 => Self::Enum4,
                _ => Self::Enum8,
            },
        }
    }

    /// Of what is no scalar (text, a union's selector) the first byte.
    fn of_scalar(ty: EntryType) -> Self {
        use EntryType::*;

        match ty {
            Int8 => Self::I8,
            Int16 => Self::I16,
            Int32 => Self::I32,
            Int64 => Self::I64,
            Int128 => Self::I128,
            Short | Int | Long | LongLong => match width(ty) {
                2 => Self::I16,
                4 => Self::I32,
                _ => Self::I64,
            },
            UInt128 => Self::U128,
            UChar | UShort | UInt | ULong | ULongLong | UInt8 | UInt16 | UInt32 | UInt64 | Size
            | RangeId | Category | ColorArgb | ScopeId | PidUInt32 | PidUInt64 | TidUInt32
            | TidUInt64 => match width(ty) {
                1 => Self::U8,
                2 => Self::U16,
                4 => Self::U32,
                _ => Self::U64,
            },
            Float16 => Self::F16,
            BFloat16 => Self::BFloat16,
            TensorFloat32 => Self::TensorFloat32,
            Float | Float32 => Self::F32,
            Double | Float64 => Self::F64,
            Float128 => Self::F128,
            LongDouble => Self::LongDouble,
            Char | Char8 | Char16 | Char32 | WChar => match width(ty) {
                1 => Self::Char8,
                2 => Self::Char16,
                _ => Self::Char32,
            },
            Address => Self::Address,
            RegisteredString => Self::String,
            Byte | CString | CStringUtf8 | CStringUtf16 | CStringUtf32 | UnionSelector => {
                Self::Byte
            }
        }
    }

    /// The value of a scalar at `at`; `None` for what is none, or has a meaning.
    pub(crate) fn scalar<'a>(
        self,
        bytes: &'a [u8],
        at: usize,
        domain: &'a Domain,
    ) -> Option<Value<'a>> {
        Some(match self {
            Self::I8 => Value::I64(read::<i8>(bytes, at).into()),
            Self::I16 => Value::I64(read::<i16>(bytes, at).into()),
            Self::I32 => Value::I64(read::<i32>(bytes, at).into()),
            Self::I64 => Value::I64(read(bytes, at)),
            Self::I128 => Value::I128(read(bytes, at)),
            Self::U8 => Value::U64(read::<u8>(bytes, at).into()),
            Self::U16 => Value::U64(read::<u16>(bytes, at).into()),
            Self::U32 => Value::U64(read::<u32>(bytes, at).into()),
            Self::U64 => Value::U64(read(bytes, at)),
            Self::U128 => Value::U128(read(bytes, at)),
            Self::F16 => Value::F32(from_f16(read(bytes, at))),
            Self::BFloat16 => Value::F32(f32::from_bits(u32::from(read::<u16>(bytes, at)) << 16)),
            Self::TensorFloat32 => Value::F32(from_tf32(read(bytes, at))),
            Self::F32 => Value::F32(read(bytes, at)),
            Self::F64 => Value::F64(read(bytes, at)),
            Self::F128 => Value::F64(from_f128(read(bytes, at))),
            Self::LongDouble => Value::F64(from_long_double(read(bytes, at))),
            Self::Char8 => Value::Char(read::<u8>(bytes, at).into()),
            Self::Char16 => Value::Char(read::<u16>(bytes, at).into()),
            Self::Char32 => Value::Char(read(bytes, at)),
            Self::Address => Value::Address(read(bytes, at)),
            Self::String => Value::Registered(domain.registered(read(bytes, at))),
            Self::Byte => Value::Bytes(&bytes[at..=at]),
            _ => return None,
        })
    }

    /// The bits of an integer at `at`, named or not; `None` for what is none, or too great.
    #[inline(always)]
    pub(crate) fn bits(self, bytes: &[u8], at: usize) -> Option<u64> {
        Some(match self {
            Self::I8 | Self::U8 | Self::Char8 | Self::Enum1 => read::<u8>(bytes, at).into(),
            Self::I16 | Self::U16 | Self::Enum2 => read::<u16>(bytes, at).into(),
            Self::I32 | Self::U32 | Self::Enum4 => read::<u32>(bytes, at).into(),
            Self::I64 | Self::U64 | Self::Enum8 => read(bytes, at),
            Self::I128 | Self::U128 => return u64::try_from(read::<u128>(bytes, at)).ok(),
            _ => return None,
        })
    }

    #[inline(never)]
    fn any_bits(self, bytes: &[u8], at: usize) -> Option<u64> {
        self.bits(bytes, at)
    }

    /// An integer at `at` as a number of things: a negative one counts as 0, and what is too great as the greatest. `None` for
    /// what is no integer.
    #[inline(always)]
    pub(crate) fn count(self, bytes: &[u8], at: usize) -> Option<usize> {
        let not_negative = |value: i64| usize::try_from(value).unwrap_or_default();
        Some(match self {
            Self::I8 | Self::Char8 => not_negative(read::<i8>(bytes, at).into()),
            Self::I16 => not_negative(read::<i16>(bytes, at).into()),
            Self::I32 => not_negative(read::<i32>(bytes, at).into()),
            Self::I64 => not_negative(read(bytes, at)),
            Self::U8 => read::<u8>(bytes, at).into(),
            Self::U16 => read::<u16>(bytes, at).into(),
            Self::U32 => read::<u32>(bytes, at) as usize,
            Self::U64 => read::<u64>(bytes, at) as usize,
            Self::I128 => usize::try_from(read::<i128>(bytes, at).max(0)).unwrap_or(usize::MAX),
            Self::U128 => usize::try_from(read::<u128>(bytes, at)).unwrap_or(usize::MAX),
            _ => return None,
        })
    }

    /// The same, and 0 for what is no integer.
    #[inline(never)]
    fn any_count(self, bytes: &[u8], at: usize) -> usize {
        self.count(bytes, at).unwrap_or_default()
    }
}

impl Integer {
    /// It as a number of things. `bytes` start with the struct that it is in.
    #[inline(always)]
    pub(crate) fn count(self, bytes: &[u8]) -> usize {
        let at = self.at as usize;
        match self.reading {
            // What most lengths are needs no jump.
            Read::U32 => read::<u32>(bytes, at) as usize,
            Read::U64 => read::<u64>(bytes, at) as usize,
            reading => reading.any_count(bytes, at),
        }
    }

    /// Its bits; `None` if it is too great.
    #[inline(always)]
    pub(crate) fn bits(self, bytes: &[u8]) -> Option<u64> {
        let at = self.at as usize;
        match self.reading {
            Read::U32 => Some(read::<u32>(bytes, at).into()),
            reading => reading.any_bits(bytes, at),
        }
    }
}

#[inline]
fn width(ty: EntryType) -> usize {
    ty.layout().map_or(0, |(size, _)| size)
}

/// IEEE 754 binary16, exactly.
fn from_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1F), u32::from(bits & 0x3FF));
    let magnitude = match exponent {
        // Subnormal: the fraction counts steps of 2^-24.
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        0x1F => f32::from_bits(0xFF << 23 | fraction << 13),
        _ => f32::from_bits((exponent + 127 - 15) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | u32::from(bits >> 15) << 31)
}

/// TensorFloat-32: an `f32` whose lower 13 bits of fraction mean nothing.
fn from_tf32(bits: u32) -> f32 {
    let is_nan = f32::from_bits(bits).is_nan();
    // A NaN stays one, also where only those bits make it.
    f32::from_bits(bits & !0x1FFF | u32::from(is_nan) << 22)
}

/// IEEE 754 binary128, as the nearest `f64`.
fn from_f128(bits: u128) -> f64 {
    let exponent = (bits >> 112) as i32 & 0x7FFF;
    let fraction = bits & ((1 << 112) - 1);
    let magnitude = match exponent {
        0x7FFF => special(fraction == 0),
        0 => nearest(fraction, 1 - 16383 - 112),
        _ => nearest(fraction | 1 << 112, exponent - 16383 - 112),
    };
    magnitude.copysign(sign(bits >> 127 != 0))
}

/// C's `long double` of x86: 80 bits, the fraction's first bit spelled out; as the nearest `f64`. Where `long double` is
/// something else, that.
fn from_long_double(bits: u128) -> f64 {
    if !cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        return from_f128(bits);
    }
    let exponent = (bits >> 64) as i32 & 0x7FFF;
    let significand = bits as u64;
    let magnitude = match exponent {
        0x7FFF => special(significand << 1 == 0),
        _ => nearest(significand.into(), exponent.max(1) - 16383 - 63),
    };
    magnitude.copysign(sign(bits >> 79 & 1 != 0))
}

fn special(is_infinite: bool) -> f64 {
    if is_infinite { f64::INFINITY } else { f64::NAN }
}

fn sign(is_negative: bool) -> f64 {
    if is_negative { -1.0 } else { 1.0 }
}

/// The `f64` nearest to `significand * 2^exponent`; of two that are equally near, the even one.
fn nearest(significand: u128, exponent: i32) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    // The number lies in [2^top, 2^(top + 1)); its last bit in an f64 is 2^last.
    let top = exponent + significand.ilog2() as i32;
    if top > 1023 {
        return f64::INFINITY;
    }
    let last = (top - 52).max(-1074);
    let kept = match last - exponent {
        drop @ 1..=127 => {
            let (kept, rest) = (significand >> drop, significand & ((1 << drop) - 1));
            let half = 1 << (drop - 1);
            kept + u128::from(rest > half || rest == half && kept & 1 == 1)
        }
        drop if drop > 127 => 0,
        drop => significand << -drop,
    };
    // Exact, but for an overflow to infinity: `kept` has at most 54 bits, and then ends in a zero.
    scale(kept as f64, last)
}

/// `value * 2^exponent`, in steps that are exact.
fn scale(value: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    match exponent {
        ..-1022 => value * power(-1022) * power(exponent + 1022),
        -1022.. => value * power(exponent),
    }
}

#[cfg(test)]
mod tests {
    use nvtxw_abi::EntryType;

    use super::{Read, from_f16, from_f128, from_long_double, from_tf32};

    #[test]
    fn half_floats_are_exact() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 2f32.powi(-24)),
            (0x03FF, 1023.0 * 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x7C00, f32::INFINITY),
            (0xFC00, f32::NEG_INFINITY),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(from_f16(bits), value, "{bits:#x}");
        }
        assert!(from_f16(0x7E00).is_nan());
        assert!(from_f16(0x8000).is_sign_negative());
    }

    #[test]
    fn tensor_floats_have_ten_bits_of_fraction() {
        assert_eq!(from_tf32(1.5_f32.to_bits() | 0x1FFF), 1.5);
        assert_eq!(from_tf32(f32::NEG_INFINITY.to_bits()), f32::NEG_INFINITY);
        assert!(from_tf32(f32::INFINITY.to_bits() | 1).is_nan());
    }

    /// The same number as binary128 and as the 80 bits of x86; every `f64` is one.
    fn widened(value: f64) -> (u128, u128) {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63);
        let (exponent, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
        let (exponent, significand) = match exponent {
            0 if fraction == 0 => return (sign << 127, sign << 79),
            0x7FF => (0x7FFF, 1 << 63 | fraction << 11),
            0 => {
                let shift = fraction.leading_zeros();
                (16383 - 1022 + 11 - shift as i32, fraction << shift)
            }
            _ => (exponent - 1023 + 16383, 1 << 63 | fraction << 11),
        };
        let (exponent, fraction) = (exponent as u128, u128::from(significand) & !(1 << 63));
        (
            sign << 127 | exponent << 112 | fraction << 49,
            sign << 79 | exponent << 64 | u128::from(significand),
        )
    }

    #[test]
    fn wide_floats_of_an_f64_come_back() {
        for value in [
            0.0,
            -0.0,
            1.0,
            -0.1,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            -2.5e-310,
            f64::NEG_INFINITY,
            std::f64::consts::PI,
        ] {
            let (quad, extended) = widened(value);
            assert_eq!(from_f128(quad).to_bits(), value.to_bits(), "{value:e}");
            assert_eq!(
                from_long_double(extended).to_bits(),
                value.to_bits(),
                "{value:e}"
            );
        }
        let (quad, extended) = widened(f64::NAN);
        assert!(from_f128(quad).is_nan() && from_long_double(extended).is_nan());
    }

    #[test]
    fn wide_floats_between_two_f64_become_the_nearest() {
        let (one, next) = (1.0_f64, 1.0 + f64::EPSILON);
        let (quad, extended) = widened(one);
        // The last bit of an f64 is 2^60 of binary128's fraction, and 2^11 of the 80 bits' one.
        for (quarters, value) in [(1, one), (2, one), (3, next), (4, next)] {
            assert_eq!(from_f128(quad + (quarters << 58)), value);
            assert_eq!(from_long_double(extended + (quarters << 9)), value);
        }
        // A tie goes to the even one, and what is a little more up.
        assert_eq!(from_f128(quad + (6 << 58)), 1.0 + 2.0 * f64::EPSILON);
        assert_eq!(from_f128(quad + (2 << 58) + 1), next);
        // Beyond both ends.
        let exponent = |exponent: u128| exponent << 112;
        assert_eq!(from_f128(exponent(16383 + 1024)), f64::INFINITY);
        assert_eq!(from_f128(exponent(16383 - 1075)), 0.0);
        assert_eq!(from_f128(exponent(16383 - 1075) + 1), 5e-324);
        assert_eq!(from_f128(1), 0.0);
        assert_eq!(from_f128((1 << 127) | exponent(0x7FFE)), f64::NEG_INFINITY);
    }

    #[test]
    fn counts_are_never_negative() {
        let count = |ty, bytes: &[u8]| Read::of_scalar(ty).count(bytes, 0).expect("an integer");
        assert_eq!(count(EntryType::Int8, &[0xFF]), 0);
        assert_eq!(count(EntryType::Char, &[0xFF]), 0);
        assert_eq!(count(EntryType::UInt8, &[0xFF]), 255);
        assert_eq!(count(EntryType::Short, &(-1_i16).to_ne_bytes()), 0);
        assert_eq!(count(EntryType::Int64, &i64::MIN.to_ne_bytes()), 0);
        assert_eq!(count(EntryType::Int32, &7_i32.to_ne_bytes()), 7);
        assert_eq!(count(EntryType::Int128, &(-1_i128).to_ne_bytes()), 0);
        assert_eq!(
            count(EntryType::Int128, &i128::MAX.to_ne_bytes()),
            usize::MAX
        );
        assert_eq!(
            count(EntryType::UInt128, &u128::MAX.to_ne_bytes()),
            usize::MAX
        );
        assert_eq!(Read::of_scalar(EntryType::Float64).count(&[0; 8], 0), None);
    }

    #[test]
    fn every_integer_can_be_a_count() {
        for ty in EntryType::ALL.iter().filter(|ty| ty.is_integer()) {
            assert!(Read::of_scalar(*ty).count(&[0; 16], 0).is_some(), "{ty:?}");
        }
    }
}
