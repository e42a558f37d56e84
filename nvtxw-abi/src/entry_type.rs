//! The predefined types of schema entries.

use core::ffi::{c_int, c_long, c_longlong, c_short};

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A type that needs no registration. C's types have the sizes of the producer's machine.
    EntryType: u64;
    /// C's `char`.
    Char = raw::NVTX_PAYLOAD_ENTRY_TYPE_CHAR,
    /// C's `unsigned char`.
    UChar = raw::NVTX_PAYLOAD_ENTRY_TYPE_UCHAR,
    /// C's `short`.
    Short = raw::NVTX_PAYLOAD_ENTRY_TYPE_SHORT,
    /// C's `unsigned short`.
    UShort = raw::NVTX_PAYLOAD_ENTRY_TYPE_USHORT,
    /// C's `int`.
    Int = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT,
    /// C's `unsigned int`.
    UInt = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT,
    /// C's `long`.
    Long = raw::NVTX_PAYLOAD_ENTRY_TYPE_LONG,
    /// C's `unsigned long`.
    ULong = raw::NVTX_PAYLOAD_ENTRY_TYPE_ULONG,
    /// C's `long long`.
    LongLong = raw::NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG,
    /// C's `unsigned long long`.
    ULongLong = raw::NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG,
    /// `i8`.
    Int8 = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT8,
    /// `u8`.
    UInt8 = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT8,
    /// `i16`.
    Int16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT16,
    /// `u16`.
    UInt16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT16,
    /// `i32`.
    Int32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT32,
    /// `u32`.
    UInt32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT32,
    /// `i64`.
    Int64 = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT64,
    /// `u64`.
    UInt64 = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT64,
    /// C's `float`.
    Float = raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT,
    /// C's `double`.
    Double = raw::NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
    /// C's `long double`.
    LongDouble = raw::NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE,
    /// `usize`.
    Size = raw::NVTX_PAYLOAD_ENTRY_TYPE_SIZE,
    /// An address that is shown as such.
    Address = raw::NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS,
    /// C's `wchar_t`.
    WChar = raw::NVTX_PAYLOAD_ENTRY_TYPE_WCHAR,
    /// A UTF-8 code unit.
    Char8 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CHAR8,
    /// A UTF-16 code unit.
    Char16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CHAR16,
    /// A UTF-32 code unit: Rust's `char`.
    Char32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CHAR32,
    /// A byte of no known meaning.
    Byte = raw::NVTX_PAYLOAD_ENTRY_TYPE_BYTE,
    /// `i128`.
    Int128 = raw::NVTX_PAYLOAD_ENTRY_TYPE_INT128,
    /// `u128`.
    UInt128 = raw::NVTX_PAYLOAD_ENTRY_TYPE_UINT128,
    /// IEEE 754 binary16.
    Float16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16,
    /// `f32`.
    Float32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32,
    /// `f64`.
    Float64 = raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64,
    /// IEEE 754 binary128.
    Float128 = raw::NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128,
    /// bfloat16: the upper half of an `f32`.
    BFloat16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_BF16,
    /// TensorFloat-32, stored in 32 bits.
    TensorFloat32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_TF32,
    /// Event attribute: the ID that joins a range's start and end.
    RangeId = raw::NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID,
    /// Event attribute: a category of the domain.
    Category = raw::NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY,
    /// Event attribute: a colour as `0xAARRGGBB`.
    ColorArgb = raw::NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB,
    /// Event attribute: a scope of the domain.
    ScopeId = raw::NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID,
    /// Event attribute: a 32-bit process ID as scope.
    PidUInt32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32,
    /// Event attribute: a 64-bit process ID as scope.
    PidUInt64 = raw::NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64,
    /// Event attribute: a 32-bit thread ID as scope.
    TidUInt32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32,
    /// Event attribute: a 64-bit thread ID as scope.
    TidUInt64 = raw::NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64,
    /// Text in the encoding of the producer's locale.
    CString = raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
    /// UTF-8 text.
    CStringUtf8 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8,
    /// UTF-16 text.
    CStringUtf16 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16,
    /// UTF-32 text.
    CStringUtf32 = raw::NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32,
    /// A registered string's handle.
    RegisteredString = raw::NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
    /// The entry of a union that says which member is stored.
    UnionSelector = raw::NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR,
}

impl EntryType {
    /// The type's name: the C name's end in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::UChar => "uchar",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::LongLong => "longlong",
            Self::ULongLong => "ulonglong",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::LongDouble => "longdouble",
            Self::Size => "size",
            Self::Address => "address",
            Self::WChar => "wchar",
            Self::Char8 => "char8",
            Self::Char16 => "char16",
            Self::Char32 => "char32",
            Self::Byte => "byte",
            Self::Int128 => "int128",
            Self::UInt128 => "uint128",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Float128 => "float128",
            Self::BFloat16 => "bf16",
            Self::TensorFloat32 => "tf32",
            Self::RangeId => "range_id",
            Self::Category => "category",
            Self::ColorArgb => "color_argb",
            Self::ScopeId => "scope_id",
            Self::PidUInt32 => "pid_uint32",
            Self::PidUInt64 => "pid_uint64",
            Self::TidUInt32 => "tid_uint32",
            Self::TidUInt64 => "tid_uint64",
            Self::CString => "cstring",
            Self::CStringUtf8 => "cstring_utf8",
            Self::CStringUtf16 => "cstring_utf16",
            Self::CStringUtf32 => "cstring_utf32",
            Self::RegisteredString => "nvtx_registered_string_handle",
            Self::UnionSelector => "union_selector",
        }
    }

    /// Size and alignment in bytes of one value on this machine; `None` for a union's selector,
    /// whose size its union decides. A string here is a pointer to one (8 bytes each on 64-bit
    /// machines); inline text has the size that its entry says. `long double` counts as 16 bytes,
    /// as on 64-bit Linux.
    pub const fn layout(self) -> Option<(usize, usize)> {
        const fn of<T>() -> (usize, usize) {
            (size_of::<T>(), align_of::<T>())
        }
        Some(match self {
            Self::Char | Self::UChar | Self::Int8 | Self::UInt8 | Self::Char8 | Self::Byte => {
                of::<u8>()
            }
            Self::Int16 | Self::UInt16 | Self::Char16 | Self::Float16 | Self::BFloat16 => {
                of::<u16>()
            }
            Self::Int32 | Self::UInt32 | Self::Char32 => of::<u32>(),
            Self::Category | Self::ColorArgb | Self::PidUInt32 | Self::TidUInt32 => of::<u32>(),
            Self::Int64 | Self::UInt64 => of::<u64>(),
            Self::RangeId | Self::ScopeId | Self::PidUInt64 | Self::TidUInt64 => of::<u64>(),
            Self::Short | Self::UShort => of::<c_short>(),
            Self::Int | Self::UInt => of::<c_int>(),
            Self::Long | Self::ULong => of::<c_long>(),
            Self::LongLong | Self::ULongLong => of::<c_longlong>(),
            Self::WChar => of::<raw::wchar_t>(),
            Self::Float | Self::Float32 | Self::TensorFloat32 => of::<f32>(),
            Self::Double | Self::Float64 => of::<f64>(),
            Self::Int128 | Self::UInt128 | Self::Float128 | Self::LongDouble => (16, 16),
            Self::Size | Self::Address => of::<usize>(),
            Self::CString | Self::CStringUtf8 | Self::CStringUtf16 | Self::CStringUtf32 => {
                of::<usize>()
            }
            Self::RegisteredString => of::<raw::nvtxStringHandle_t>(),
            Self::UnionSelector => return None,
        })
    }

    /// Whether a value is an integer: such an entry may hold a length, a union's selector or a
    /// timestamp (64 bits).
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Char
                | Self::UChar
                | Self::Short
                | Self::UShort
                | Self::Int
                | Self::UInt
                | Self::Long
                | Self::ULong
                | Self::LongLong
                | Self::ULongLong
                | Self::Int8
                | Self::UInt8
                | Self::Int16
                | Self::UInt16
                | Self::Int32
                | Self::UInt32
                | Self::Int64
                | Self::UInt64
                | Self::Int128
                | Self::UInt128
                | Self::Size
        )
    }

    /// Whether a value is an integer that may be negative.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::Char
                | Self::Short
                | Self::Int
                | Self::Long
                | Self::LongLong
                | Self::Int8
                | Self::Int16
                | Self::Int32
                | Self::Int64
                | Self::Int128
        )
    }

    /// Whether a value is a floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::Float
                | Self::Double
                | Self::LongDouble
                | Self::Float16
                | Self::Float32
                | Self::Float64
                | Self::Float128
                | Self::BFloat16
                | Self::TensorFloat32
        )
    }

    /// Whether a value is an integer or a floating-point number: what a counter can have.
    pub const fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float()
    }

    /// Whether a value is text, inline or by pointer. (A registered string's handle is not.)
    pub const fn is_string(self) -> bool {
        matches!(
            self,
            Self::CString | Self::CStringUtf8 | Self::CStringUtf16 | Self::CStringUtf32
        )
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::EntryType;
    use crate::layout::{Value, constants};

    #[test]
    fn every_predefined_type_is_here_under_its_c_name() {
        // A count and the absence of a type have the prefix but are no types.
        let no_types = ["INVALID", "INFO_ARRAY_SIZE"];
        let mut types = 0;
        for constant in constants() {
            let Some(name) = constant.name.strip_prefix("NVTX_PAYLOAD_ENTRY_TYPE_") else {
                continue;
            };
            let Value::Int(number) = constant.value else {
                panic!("{name} is a number")
            };
            let entry_type = EntryType::from_raw(u64::try_from(number).unwrap());
            if no_types.contains(&name) {
                assert_eq!(entry_type, None);
                continue;
            }
            let entry_type = entry_type.unwrap_or_else(|| panic!("{name} is missing"));
            let lower: String = name
                .chars()
                .map(|letter| letter.to_ascii_lowercase())
                .collect();
            assert_eq!(entry_type.name(), lower);
            types += 1;
        }
        assert_eq!(types, EntryType::ALL.len());
    }

    #[test]
    fn each_type_is_of_one_class() {
        for entry_type in EntryType::ALL {
            let classes = [
                entry_type.is_integer(),
                entry_type.is_float(),
                entry_type.is_string(),
            ];
            assert!(
                classes.iter().filter(|&&class| class).count() <= 1,
                "{entry_type:?}"
            );
            assert_eq!(entry_type.is_numeric(), classes[0] || classes[1]);
        }
        let count =
            |class: fn(EntryType) -> bool| EntryType::ALL.iter().filter(|&&t| class(t)).count();
        assert_eq!(count(EntryType::is_integer), 10 + 8 + 2 + 1);
        assert_eq!(count(EntryType::is_float), 3 + 4 + 2);
        assert_eq!(count(EntryType::is_string), 4);
        for entry_type in [
            EntryType::Byte,
            EntryType::Char32,
            EntryType::Address,
            EntryType::RangeId,
        ] {
            assert!(!entry_type.is_numeric(), "{entry_type:?}");
        }
        assert!(!EntryType::RegisteredString.is_string());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn layouts_are_those_of_64_bit_linux() {
        for &entry_type in EntryType::ALL {
            let bytes = match entry_type.to_raw() {
                1 | 2 | 11 | 12 | 25 | 32 => 1,
                3 | 4 | 13 | 14 | 26 | 42 | 50 => 2,
                5 | 6 | 15 | 16 | 19 | 24 | 27 | 43 | 52 | 68 | 69 | 71 | 73 => 4,
                7..=10 | 17 | 18 | 20 | 22 | 23 | 44 | 67 | 70 | 72 | 74..=78 | 80 => 8,
                21 | 33 | 34 | 45 => 16,
                number => {
                    assert_eq!(number, 100);
                    assert_eq!(entry_type.layout(), None);
                    continue;
                }
            };
            assert_eq!(entry_type.layout(), Some((bytes, bytes)), "{entry_type:?}");
        }
    }
}
