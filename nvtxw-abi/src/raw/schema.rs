//! Payload schemas and enums: how the bytes of a payload are read.

use core::ffi::{c_char, c_void};

use crate::raw::definition::{constants, layout};
use crate::raw::nvtxSemanticsHeader_t;

layout! {
    /// One entry (field) of a schema.
    struct nvtxPayloadSchemaEntry_t: size 64, align 8 {
        /// `NVTX_PAYLOAD_ENTRY_FLAG_*`: single bits, and three numbers in bit-fields.
        flags @ 0: u64,
        /// A predefined `NVTX_PAYLOAD_ENTRY_TYPE_*`, or the ID of a schema or of an enum of the
        /// same domain.
        r#type @ 8: u64,
        /// The entry's name; may be null.
        name @ 16: *const c_char,
        /// What the entry holds, for people; may be null.
        description @ 24: *const c_char,
        /// A string's length in code units, an array's length or where it is found, or the entry
        /// that selects a union's member.
        arrayOrUnionDetail @ 32: u64,
        /// Bytes from the start of the payload. 0 says "here" in the first entry and "compute it"
        /// in later ones.
        offset @ 40: u64,
        /// The first of a linked list of semantics; null means none.
        semantics @ 48: *const nvtxSemanticsHeader_t,
        /// Null.
        reserved @ 56: *const c_void,
    }

    /// A schema to register.
    struct nvtxPayloadSchemaAttr_t: size 80, align 8 {
        /// Which fields are set: `NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_*`. Other fields must not be read.
        fieldMask @ 0: u64,
        /// The schema's name.
        name @ 8: *const c_char,
        /// `NVTX_PAYLOAD_SCHEMA_TYPE_*`.
        r#type @ 16: u64,
        /// `NVTX_PAYLOAD_SCHEMA_FLAG_*`: single bits, and the event role as a number in a
        /// bit-field.
        flags @ 24: u64,
        /// `numEntries` entries.
        entries @ 32: *const nvtxPayloadSchemaEntry_t,
        /// Number of entries.
        numEntries @ 40: usize,
        /// Bytes of one payload of a static schema.
        payloadStaticSize @ 48: usize,
        /// No entry is aligned to more than this, in bytes; 0 means natural alignment.
        packAlign @ 56: usize,
        /// A static ID that the producer picked; 0 lets the backend pick one.
        schemaId @ 64: u64,
        /// Reserved.
        extension @ 72: *mut c_void,
    }

    /// One value of an enum.
    struct nvtxPayloadEnum_t: size 24, align 8 {
        /// The value's name.
        name @ 0: *const c_char,
        /// The value, zero-extended from the enum's size.
        value @ 8: u64,
        /// Not 0 if the value is a bit that may be combined with others.
        isFlag @ 16: i8,
    }

    /// An enum to register.
    struct nvtxPayloadEnumAttr_t: size 56, align 8 {
        /// Which fields are set: `NVTX_PAYLOAD_ENUM_ATTR_FIELD_*`. Other fields must not be read.
        fieldMask @ 0: u64,
        /// The enum's name.
        name @ 8: *const c_char,
        /// `numEntries` values.
        entries @ 16: *const nvtxPayloadEnum_t,
        /// Number of values.
        numEntries @ 24: usize,
        /// Bytes of one value in a payload.
        sizeOfEnum @ 32: usize,
        /// A static ID that the producer picked; 0 lets the backend pick one.
        schemaId @ 40: u64,
        /// Reserved.
        extension @ 48: *mut c_void,
    }

    /// Size and alignment of a predefined entry type on the producer's machine.
    struct nvtxPayloadEntryTypeInfo_t: size 4, align 2 {
        /// Size in bytes.
        size @ 0: u16,
        /// Alignment in bytes.
        align @ 2: u16,
    }
}

constants! { CONSTANTS: Int as i128;
    /// Not a schema type.
    NVTX_PAYLOAD_SCHEMA_TYPE_INVALID: u64 = 0;
    /// A struct of fixed size.
    NVTX_PAYLOAD_SCHEMA_TYPE_STATIC: u64 = 1;
    /// Entries of varying size, one after the other.
    NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC: u64 = 2;
    /// A union whose member is selected by an entry beside it.
    NVTX_PAYLOAD_SCHEMA_TYPE_UNION: u64 = 3;
    /// A union that holds its own selector.
    NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR: u64 = 4;

    /// No flag.
    NVTX_PAYLOAD_SCHEMA_FLAG_NONE: u64 = 0;
    /// Entries may have
    /// [`NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY`](crate::raw::NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY).
    NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY: u64 = 1 << 1;
    /// Other payloads of the event may point into a payload of this schema.
    NVTX_PAYLOAD_SCHEMA_FLAG_REFERENCED: u64 = 1 << 2;
    /// Role 1 at bit 3: a counter group.
    NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP: u64 = 1 << 3;
    /// Role 2 at bit 3: a whole range that nests in others.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP: u64 = 2 << 3;
    /// Role 3 at bit 3: a whole range that may overlap others.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND: u64 = 3 << 3;
    /// Role 4 at bit 3: a mark.
    NVTX_PAYLOAD_SCHEMA_FLAG_MARK: u64 = 4 << 3;
    /// Role 5 at bit 3: the start of a nesting range.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSH: u64 = 5 << 3;
    /// Role 6 at bit 3: the end of the nesting range that was pushed last.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_POP: u64 = 6 << 3;
    /// Role 7 at bit 3: the start of a range with an ID.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_START: u64 = 7 << 3;
    /// Role 8 at bit 3: the end of the range with the same ID.
    NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_END: u64 = 8 << 3;

    /// `name` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME: u64 = 1 << 1;
    /// `type` is set; mandatory.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE: u64 = 1 << 2;
    /// `flags` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS: u64 = 1 << 3;
    /// `entries` is set; mandatory.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES: u64 = 1 << 4;
    /// `numEntries` is set; mandatory.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES: u64 = 1 << 5;
    /// `payloadStaticSize` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE: u64 = 1 << 6;
    /// `packAlign` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT: u64 = 1 << 7;
    /// `schemaId` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID: u64 = 1 << 8;
    /// `extension` is set.
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_EXTENSION: u64 = 1 << 9;

    /// `name` is set.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME: u64 = 1 << 1;
    /// `entries` is set; mandatory.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES: u64 = 1 << 2;
    /// `numEntries` is set; mandatory.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES: u64 = 1 << 3;
    /// `sizeOfEnum` is set; mandatory.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE: u64 = 1 << 4;
    /// `schemaId` is set.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID: u64 = 1 << 5;
    /// `extension` is set.
    NVTX_PAYLOAD_ENUM_ATTR_FIELD_EXTENSION: u64 = 1 << 6;

    /// The first ID that a producer may pick for a schema or an enum.
    NVTX_PAYLOAD_SCHEMA_ID_STATIC_START: u64 = 1 << 24;
    /// The first ID that a backend picks for a schema or an enum.
    NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START: u64 = 1 << 32;
}
