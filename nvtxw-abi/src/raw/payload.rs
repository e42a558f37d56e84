//! Payloads: the bytes of events, one by one or in batches.

use core::ffi::c_void;

use crate::raw::definition::{constants, layout};

layout! {
    /// One payload of an event.
    struct nvtxPayloadData_t: size 24, align 8 {
        /// A schema of the stream's domain, a predefined entry type,
        /// [`NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED`] or [`NVTX_TYPE_PAYLOAD_SCHEMA_RAW`].
        schemaId @ 0: u64,
        /// Size in bytes. 0 means that the payload is ignored; `SIZE_MAX` that it is a
        /// null-terminated string.
        size @ 8: usize,
        /// The bytes.
        payload @ 16: *const c_void,
    }

    /// Events of one schema.
    struct nvtxEventBatch_t: size 64, align 8 {
        /// A schema of the stream's domain.
        eventSchemaId @ 0: u64,
        /// Bytes of all events together.
        size @ 8: usize,
        /// The events, one after the other.
        events @ 16: *const c_void,
        /// The scope of events that name none.
        scope @ 24: u64,
        /// `NVTX_BATCH_FLAG_*`: a number in a bit-field.
        flags @ 32: u64,
        /// What offsets inside the events are relative to; null if they refer to nothing.
        flexData @ 40: *const c_void,
        /// Bytes of flexible data that the events may refer to.
        flexDataSize @ 48: usize,
        /// Bytes from `flexData` to where those begin.
        flexDataOffset @ 56: usize,
    }
}

constants! { CONSTANTS: Int as i128;
    /// A payload that is not shown itself; entries of other payloads refer into it.
    NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED: u64 = 1022;
    /// A payload of bytes without a schema.
    NVTX_TYPE_PAYLOAD_SCHEMA_RAW: u64 = 1023;

    /// Order 0 at bit 1: sorted by each event's first timestamp.
    NVTX_BATCH_FLAG_TIME_SORTED: u64 = 0;
    /// Order 1 at bit 1: partially sorted, as the stream's ordering says.
    NVTX_BATCH_FLAG_TIME_SORTED_PARTIALLY: u64 = 1 << 1;
    /// Order 2 at bit 1: sorted within each scope.
    NVTX_BATCH_FLAG_TIME_SORTED_PER_SCOPE: u64 = 2 << 1;
    /// Order 3 at bit 1: not sorted.
    NVTX_BATCH_FLAG_UNSORTED: u64 = 3 << 1;

    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: no payload.
    NVTX_PAYLOAD_UNKNOWN: i32 = 0;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: a `u64`.
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: i32 = 1;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: an `i64`.
    NVTX_PAYLOAD_TYPE_INT64: i32 = 2;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: an `f64`.
    NVTX_PAYLOAD_TYPE_DOUBLE: i32 = 3;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: a `u32`.
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: i32 = 4;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: an `i32`.
    NVTX_PAYLOAD_TYPE_INT32: i32 = 5;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: an `f32`.
    NVTX_PAYLOAD_TYPE_FLOAT: i32 = 6;
    /// `nvtxEventAttributes_t::payloadType` of NVTX proper: an array of [`nvtxPayloadData_t`].
    NVTX_PAYLOAD_TYPE_EXT: i32 = 0xDFBD_0009_u32 as i32;
    /// The size in bytes of `nvtxEventAttributes_t` of NVTX proper.
    NVTX_EVENT_ATTRIB_STRUCT_SIZE: u16 = 48;
}
