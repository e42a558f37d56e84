//! The flags and the types of schema entries.

use crate::raw::definition::constants;

constants! { CONSTANTS: Int as i128;
    /// No flag.
    NVTX_PAYLOAD_ENTRY_FLAG_UNUSED: u64 = 0;
    /// The entry is an address of the value, in another payload of the event (or anywhere, with
    /// [`NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY`]).
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER: u64 = 1 << 1;
    /// The entry is the value's distance in bytes from the start of the payload.
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE: u64 = 1 << 2;
    /// The entry is the value's distance in bytes from the end of the entry.
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE: u64 = 1 << 3;

    /// Array style 1: `arrayOrUnionDetail` elements.
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE: u64 = 1 << 4;
    /// Array style 2: up to an element of all zero bytes.
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED: u64 = 2 << 4;
    /// Array style 3: `arrayOrUnionDetail` is the index of the earlier entry that holds the length.
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX: u64 = 3 << 4;
    /// Array style 4: `arrayOrUnionDetail` is the index of the event's payload that holds the
    /// length.
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX: u64 = 4 << 4;
    /// The bits of the array style, which is a number.
    NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY: u64 = 7 << 4;

    /// What the entry points to is copied during the call; the schema must have
    /// [`NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY`](crate::raw::NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY) too.
    NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY: u64 = 1 << 8;
    /// A viewer should not show the entry.
    NVTX_PAYLOAD_ENTRY_FLAG_HIDE: u64 = 1 << 9;

    /// Role 1 at bit 10: the event's message.
    NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE: u64 = 1 << 10;
    /// Role 2 at bit 10: a timestamp.
    NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP: u64 = 2 << 10;

    /// Purpose 1 at bit 12: belongs to the start of a range.
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN: u64 = 1 << 12;
    /// Purpose 2 at bit 12: belongs to the end of a range.
    NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END: u64 = 2 << 12;
    /// Purpose 3 at bit 12: belongs to a mark.
    NVTX_PAYLOAD_ENTRY_FLAG_MARK: u64 = 3 << 12;
    /// Purpose 4 at bit 12: a counter's value, or something that belongs to it.
    NVTX_PAYLOAD_ENTRY_FLAG_COUNTER: u64 = 4 << 12;

    /// Not a type.
    NVTX_PAYLOAD_ENTRY_TYPE_INVALID: u64 = 0;
    /// C's `char`.
    NVTX_PAYLOAD_ENTRY_TYPE_CHAR: u64 = 1;
    /// C's `unsigned char`.
    NVTX_PAYLOAD_ENTRY_TYPE_UCHAR: u64 = 2;
    /// C's `short`.
    NVTX_PAYLOAD_ENTRY_TYPE_SHORT: u64 = 3;
    /// C's `unsigned short`.
    NVTX_PAYLOAD_ENTRY_TYPE_USHORT: u64 = 4;
    /// C's `int`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT: u64 = 5;
    /// C's `unsigned int`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT: u64 = 6;
    /// C's `long`.
    NVTX_PAYLOAD_ENTRY_TYPE_LONG: u64 = 7;
    /// C's `unsigned long`.
    NVTX_PAYLOAD_ENTRY_TYPE_ULONG: u64 = 8;
    /// C's `long long`.
    NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG: u64 = 9;
    /// C's `unsigned long long`.
    NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG: u64 = 10;
    /// `i8`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT8: u64 = 11;
    /// `u8`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT8: u64 = 12;
    /// `i16`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT16: u64 = 13;
    /// `u16`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT16: u64 = 14;
    /// `i32`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT32: u64 = 15;
    /// `u32`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT32: u64 = 16;
    /// `i64`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT64: u64 = 17;
    /// `u64`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT64: u64 = 18;
    /// C's `float`.
    NVTX_PAYLOAD_ENTRY_TYPE_FLOAT: u64 = 19;
    /// C's `double`.
    NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE: u64 = 20;
    /// C's `long double`.
    NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE: u64 = 21;
    /// C's `size_t`.
    NVTX_PAYLOAD_ENTRY_TYPE_SIZE: u64 = 22;
    /// An address that is shown as such and not followed.
    NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS: u64 = 23;
    /// C's `wchar_t`.
    NVTX_PAYLOAD_ENTRY_TYPE_WCHAR: u64 = 24;
    /// A UTF-8 code unit.
    NVTX_PAYLOAD_ENTRY_TYPE_CHAR8: u64 = 25;
    /// A UTF-16 code unit.
    NVTX_PAYLOAD_ENTRY_TYPE_CHAR16: u64 = 26;
    /// A UTF-32 code unit.
    NVTX_PAYLOAD_ENTRY_TYPE_CHAR32: u64 = 27;
    /// The length of a table that is indexed by the types above: a count, not a type.
    NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE: u64 = NVTX_PAYLOAD_ENTRY_TYPE_CHAR32 + 1;
    /// A byte of no known meaning.
    NVTX_PAYLOAD_ENTRY_TYPE_BYTE: u64 = 32;
    /// `i128`.
    NVTX_PAYLOAD_ENTRY_TYPE_INT128: u64 = 33;
    /// `u128`.
    NVTX_PAYLOAD_ENTRY_TYPE_UINT128: u64 = 34;
    /// IEEE 754 binary16.
    NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16: u64 = 42;
    /// IEEE 754 binary32.
    NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32: u64 = 43;
    /// IEEE 754 binary64.
    NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64: u64 = 44;
    /// IEEE 754 binary128.
    NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128: u64 = 45;
    /// bfloat16: the upper half of a binary32.
    NVTX_PAYLOAD_ENTRY_TYPE_BF16: u64 = 50;
    /// TensorFloat-32, stored in 32 bits.
    NVTX_PAYLOAD_ENTRY_TYPE_TF32: u64 = 52;
    /// Event attribute, 64 bits: the ID that joins a range's start and end.
    NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID: u64 = 67;
    /// Event attribute, 32 bits: a category of the domain, 0 for none.
    NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY: u64 = 68;
    /// Event attribute, 32 bits: a colour as `0xAARRGGBB`, 0 for none.
    NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB: u64 = 69;
    /// Event attribute, 64 bits: a scope of the domain.
    NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID: u64 = 70;
    /// Event attribute, 32 bits: a process ID as scope.
    NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32: u64 = 71;
    /// Event attribute, 64 bits: a process ID as scope.
    NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64: u64 = 72;
    /// Event attribute, 32 bits: a thread ID as scope.
    NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32: u64 = 73;
    /// Event attribute, 64 bits: a thread ID as scope.
    NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64: u64 = 74;
    /// Text in the encoding of the producer's locale.
    NVTX_PAYLOAD_ENTRY_TYPE_CSTRING: u64 = 75;
    /// UTF-8 text.
    NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8: u64 = 76;
    /// UTF-16 text.
    NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16: u64 = 77;
    /// UTF-32 text.
    NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32: u64 = 78;
    /// A registered string's handle.
    NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE: u64 = 80;
    /// The entry of a union with internal selector that says which member is stored.
    NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR: u64 = 100;
}
