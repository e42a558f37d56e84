//! The const tables that the derives make.

use std::ffi::CStr;

use nvtxw_abi::{EntryType, Interpolation, Limit, SchemaRole, TimestampType, ValueType};

use crate::field::{FieldType, Storage, TypeCode};
use crate::layout::Failure;
use crate::limit;

/// A struct's schema.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SchemaTable {
    /// The schema's name.
    pub name: &'static CStr,
    /// What the schema describes.
    pub role: SchemaRole,
    /// The struct's size in bytes.
    pub size: usize,
    /// What `packed` limits alignment to, in bytes.
    pub pack_align: Option<usize>,
    /// In the order of their offsets.
    pub entries: &'static [Entry],
}

impl SchemaTable {
    /// The table of a struct whose derive failed. Nothing reads it.
    pub const REFUSED: Self = Self {
        name: c"",
        role: SchemaRole::Generic,
        size: 0,
        pack_align: None,
        entries: &[],
    };
}

/// An enum's values.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct EnumTable {
    /// The enum's name.
    pub name: &'static CStr,
    /// Its size in bytes.
    pub size: usize,
    /// Whether its values combine.
    pub flags: bool,
    /// Names and values, in the order of the variants.
    pub values: &'static [(&'static CStr, u64)],
}

impl EnumTable {
    /// The table of an enum whose derive failed. Nothing reads it.
    pub const REFUSED: Self = Self {
        name: c"",
        size: 1,
        flags: false,
        values: &[],
    };

    /// The bytes of a value of an enum of `size` bytes; those beyond it are 0.
    pub const fn value(discriminant: i128, size: usize) -> u64 {
        discriminant as u64 & u64::MAX >> (u64::BITS as usize - 8 * size)
    }
}

/// One field.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The entry's name.
    pub name: &'static CStr,
    /// What it holds, for people.
    pub description: Option<&'static CStr>,
    /// `NVTX_PAYLOAD_ENTRY_FLAG_*` of the field's role.
    pub role_flags: u64,
    /// Viewers don't show it.
    pub hide: bool,
    /// How the value lies in memory.
    pub ty: FieldType,
    /// Of text in a pool: the name of the entry of its length, which comes first.
    pub length: Option<&'static CStr>,
    /// The type that the role has in the ABI, instead of `ty`'s.
    pub entry_type: Option<EntryType>,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// What the value means.
    pub semantics: Semantics,
}

/// What an entry's value means beyond its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Semantics {
    /// Nothing more.
    None,
    /// It is a number with a unit, limits, a course.
    Counter {
        /// The unit's name.
        unit: Option<&'static CStr>,
        /// A value times the first, divided by the second, is in the unit.
        scale: (u64, u64),
        /// The least value; of the same variant as `max`.
        min: Option<Limit>,
        /// The greatest value.
        max: Option<Limit>,
        /// How the number runs between events.
        interpolation: Option<Interpolation>,
        /// What the number is.
        value_type: Option<ValueType>,
    },
    /// It is a time of this clock.
    Time(TimestampType),
    /// It relates the event to others.
    Correlation {
        /// The correlation domain.
        uuid: [u8; 16],
        /// Its name.
        name: Option<&'static CStr>,
    },
}

/// A number of an attribute.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// Without a fraction.
    Int(i128),
    /// Any other.
    Float(f64),
}

impl Entry {
    /// A field that is stored so, `offset` bytes from the struct's start.
    pub const fn new(name: &'static CStr, storage: Storage, offset: usize) -> Self {
        Self {
            name,
            description: None,
            role_flags: storage.role_flags,
            hide: false,
            ty: storage.ty,
            length: None,
            entry_type: storage.entry_type,
            offset,
            semantics: Semantics::None,
        }
    }

    /// With a description.
    pub const fn description(mut self, description: &'static CStr) -> Self {
        self.description = Some(description);
        self
    }

    /// Not to be shown.
    pub const fn hidden(mut self) -> Self {
        self.hide = true;
        self
    }

    /// Text in a pool; `length` is what the entry of its length is called.
    pub const fn flex(mut self, length: &'static CStr) -> Self {
        self.length = Some(length);
        self
    }

    /// A time of this clock.
    pub const fn time_domain(mut self, clock: TimestampType) -> Self {
        self.semantics = Semantics::Time(clock);
        self
    }

    /// Relates events within the correlation domain of this name.
    pub const fn correlation(mut self, domain: &'static CStr) -> Self {
        self.semantics = Semantics::Correlation {
            uuid: correlation_uuid(domain),
            name: Some(domain),
        };
        self
    }

    /// With a unit.
    #[track_caller]
    pub const fn unit(mut self, name: &'static CStr) -> Self {
        self.number_type("unit");
        if let Semantics::Counter { unit, .. } = self.counter() {
            *unit = Some(name);
        }
        self
    }

    /// With a scale: neither number is 0.
    #[track_caller]
    pub const fn scale(mut self, numerator: u64, denominator: u64) -> Self {
        self.number_type("scale");
        if let Semantics::Counter { scale, .. } = self.counter() {
            *scale = (numerator, denominator);
        }
        self
    }

    /// With a course.
    #[track_caller]
    pub const fn interpolation(mut self, choice: Interpolation) -> Self {
        self.number_type("interpolation");
        if let Semantics::Counter { interpolation, .. } = self.counter() {
            *interpolation = Some(choice);
        }
        self
    }

    /// With a value type.
    #[track_caller]
    pub const fn value_type(mut self, choice: ValueType) -> Self {
        self.number_type("value_type");
        if let Semantics::Counter { value_type, .. } = self.counter() {
            *value_type = Some(choice);
        }
        self
    }

    /// With a least value.
    #[track_caller]
    pub const fn min(mut self, number: Number) -> Self {
        let limit = self.limit("min", number);
        if let Semantics::Counter { min, .. } = self.counter() {
            *min = Some(limit);
        }
        self
    }

    /// With a greatest value; comes after the least one.
    #[track_caller]
    pub const fn max(mut self, number: Number) -> Self {
        let limit = self.limit("max", number);
        if let Semantics::Counter { min, max, .. } = self.counter() {
            let is_below = match (*min, limit) {
                (Some(Limit::I64(min)), Limit::I64(max)) => max < min,
                (Some(Limit::U64(min)), Limit::U64(max)) => max < min,
                (Some(Limit::F64(min)), Limit::F64(max)) => max < min,
                _ => false,
            };
            *max = Some(limit);
            if is_below {
                self.problem("max").text("is below `min`: swap them").fail();
            }
        }
        self
    }

    /// The counter semantics, empty ones if there were none.
    const fn counter(&mut self) -> &mut Semantics {
        if let Semantics::None = self.semantics {
            self.semantics = Semantics::Counter {
                unit: None,
                scale: (1, 1),
                min: None,
                max: None,
                interpolation: None,
                value_type: None,
            };
        }
        &mut self.semantics
    }

    /// The type of the field's numbers; `attribute` needs some.
    #[track_caller]
    const fn number_type(&self, attribute: &str) -> EntryType {
        match self.ty.code {
            TypeCode::Predefined(ty) if ty.is_integer() || ty.is_float() => ty,
            _ => self
                .problem(attribute)
                .text("is for numbers, and the field holds none: remove it")
                .fail(),
        }
    }

    #[track_caller]
    const fn limit(&self, attribute: &str, number: Number) -> Limit {
        let ty = self.number_type(attribute);
        match number {
            Number::Int(number) if ty.is_float() => self.float_limit(attribute, ty, number as f64),
            Number::Float(number) if ty.is_float() => self.float_limit(attribute, ty, number),
            Number::Int(number) => self.integer_limit(attribute, ty, number),
            Number::Float(_) => self
                .problem(attribute)
                .text("has a fraction, and the field holds integers: write an integer")
                .fail(),
        }
    }

    #[track_caller]
    const fn integer_limit(&self, attribute: &str, ty: EntryType, number: i128) -> Limit {
        let (min, max) = limit::integers(ty);
        if number < min || number > max {
            let problem = if number < 0 && !ty.is_signed() {
                "is negative, and the field is unsigned"
            } else if matches!(ty, EntryType::Int128 | EntryType::UInt128) {
                "is out of the range of 64 bits that limits have"
            } else {
                "is out of the field's range"
            };
            self.problem(attribute)
                .text(problem)
                .text(": write a number from ")
                .number(min)
                .text(" to ")
                .number(max)
                .fail();
        }
        if ty.is_signed() {
            Limit::I64(number as i64)
        } else {
            Limit::U64(number as u64)
        }
    }

    #[track_caller]
    const fn float_limit(&self, attribute: &str, ty: EntryType, number: f64) -> Limit {
        if let Some((infinite, max)) = limit::floats(ty)
            && number.abs() >= infinite
        {
            self.problem(attribute)
                .text("is out of the field's range: write a number from -")
                .text(max)
                .text(" to ")
                .text(max)
                .fail();
        }
        Limit::F64(number)
    }

    const fn problem(&self, attribute: &str) -> Failure {
        let name = match self.name.to_str() {
            Ok(name) => name,
            Err(_) => "",
        };
        Failure::new()
            .text("`")
            .text(attribute)
            .text("` of `")
            .text(name)
            .text("` ")
    }
}

/// The UUID of the correlation domain of this name: the same wherever the name is, in any domain and any program.
///
/// It is the name's 128-bit FNV-1a hash, marked as a UUID of version 8 (RFC 9562).
pub(crate) const fn correlation_uuid(name: &CStr) -> [u8; 16] {
    let name = name.to_bytes();
    let mut hash: u128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
        at += 1;
    }
    let mut uuid = hash.to_be_bytes();
    uuid[6] = uuid[6] & 0x0F | 0x80;
    uuid[8] = uuid[8] & 0x3F | 0x80;
    uuid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StringHandle;
    use crate::field::NvtxField;

    #[test]
    fn values_of_enums_are_their_bytes() {
        assert_eq!(EnumTable::value(-1, 1), 0xFF);
        assert_eq!(EnumTable::value(-1, 2), 0xFFFF);
        assert_eq!(EnumTable::value(-2, 8), u64::MAX - 1);
        assert_eq!(EnumTable::value(u64::MAX.into(), 8), u64::MAX);
    }

    const fn entry<T: NvtxField>() -> Entry {
        Entry::new(c"x", T::PLAIN, 0)
    }

    #[track_caller]
    fn failure(make: fn() -> Entry) -> String {
        *std::panic::catch_unwind(make)
            .expect_err("the entry was made")
            .downcast()
            .expect("a text")
    }

    fn limits(entry: Entry) -> (Option<Limit>, Option<Limit>) {
        match entry.semantics {
            Semantics::Counter { min, max, .. } => (min, max),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn limits_have_the_class_of_the_field() {
        let signed = entry::<i32>().min(Number::Int(-1)).max(Number::Int(1));
        assert_eq!(limits(signed), (Some(Limit::I64(-1)), Some(Limit::I64(1))));
        let unsigned = entry::<u128>().max(Number::Int(u64::MAX.into()));
        assert_eq!(limits(unsigned), (None, Some(Limit::U64(u64::MAX))));
        let narrow = entry::<i8>().min(Number::Int(-128)).max(Number::Int(127));
        assert_eq!(
            limits(narrow),
            (Some(Limit::I64(-128)), Some(Limit::I64(127)))
        );
        let float = entry::<[f32; 2]>()
            .min(Number::Int(-3))
            .max(Number::Float(0.5));
        assert_eq!(
            limits(float),
            (Some(Limit::F64(-3.0)), Some(Limit::F64(0.5)))
        );
    }

    #[test]
    fn limits_that_do_not_fit_are_named() {
        assert_eq!(
            failure(|| entry::<u8>().min(Number::Int(-1))),
            "`min` of `x` is negative, and the field is unsigned: write a number from 0 to 255"
        );
        assert_eq!(
            failure(|| entry::<[u8; 2]>().max(Number::Int(256))),
            "`max` of `x` is out of the field's range: write a number from 0 to 255"
        );
        assert_eq!(
            failure(|| entry::<i16>().min(Number::Int(-32769))),
            "`min` of `x` is out of the field's range: write a number from -32768 to 32767"
        );
        assert_eq!(
            failure(|| entry::<usize>().max(Number::Int(1 << 64))),
            "`max` of `x` is out of the field's range: write a number from 0 to 18446744073709551615"
        );
        assert_eq!(
            failure(|| entry::<f32>().min(Number::Float(-3.5e38))),
            "`min` of `x` is out of the field's range: write a number from -3.4028235e38 to 3.4028235e38"
        );
        assert_eq!(
            failure(|| entry::<i64>().max(Number::Float(0.5))),
            "`max` of `x` has a fraction, and the field holds integers: write an integer"
        );
        assert_eq!(
            failure(|| entry::<i128>().max(Number::Int(i128::from(i64::MAX) + 1))),
            "`max` of `x` is out of the range of 64 bits that limits have: write a number from -9223372036854775808 to \
             9223372036854775807"
        );
        assert_eq!(
            failure(|| entry::<f64>().min(Number::Int(1)).max(Number::Float(0.5))),
            "`max` of `x` is below `min`: swap them"
        );
        assert_eq!(
            failure(|| entry::<StringHandle>().unit(c"bytes")),
            "`unit` of `x` is for numbers, and the field holds none: remove it"
        );
        assert_eq!(
            failure(|| entry::<bool>().value_type(ValueType::Delta)),
            "`value_type` of `x` is for numbers, and the field holds none: remove it"
        );
    }

    #[test]
    fn semantics_add_up() {
        let entry = entry::<u64>()
            .unit(c"bytes")
            .scale(1, 1000)
            .interpolation(Interpolation::Linear)
            .value_type(ValueType::Delta);
        assert_eq!(
            entry.semantics,
            Semantics::Counter {
                unit: Some(c"bytes"),
                scale: (1, 1000),
                min: None,
                max: None,
                interpolation: Some(Interpolation::Linear),
                value_type: Some(ValueType::Delta),
            }
        );
    }

    #[test]
    fn correlation_domains_are_their_names() {
        // The 128-bit FNV-1a hash of "a" is d228cb696f1a8caf78912b704e4a8964.
        let uuid = [
            0xD2, 0x28, 0xCB, 0x69, 0x6F, 0x1A, 0x8C, 0xAF, 0xB8, 0x91, 0x2B, 0x70, 0x4E, 0x4A,
            0x89, 0x64,
        ];
        assert_eq!(correlation_uuid(c"a"), uuid);
        assert_ne!(correlation_uuid(c"ac2g"), correlation_uuid(c"ac2h"));
        let entry = entry::<u64>().correlation(c"a");
        assert_eq!(
            entry.semantics,
            Semantics::Correlation {
                uuid,
                name: Some(c"a")
            }
        );
    }
}
