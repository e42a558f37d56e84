//! Plain marks and ranges: the layouts that C and Python producers register for them.
//!
//! Each comes in two forms: a fixed header that is followed by the message's UTF-8 bytes as a
//! second payload, and a struct that holds the handle of a registered string.

use core::ffi::c_char;

use crate::raw::definition::{constants, layout};
use crate::raw::{nvtxRangeId_t, nvtxStringHandle_t};

layout! {
    /// Attributes of a plain event, its message as a registered string.
    struct nvtxwEventAttributes_t: size 16, align 8 {
        /// Colour as `0xAARRGGBB`; 0 means none.
        color @ 0: u32,
        /// A category of the domain; 0 means none.
        category @ 4: u32,
        /// The message; null means none.
        message @ 8: nvtxStringHandle_t,
    }

    /// Attributes of a plain event, its message as text. An argument of C's helper functions, not a
    /// payload.
    struct nvtxwEventAttributesUtf8_t: size 24, align 8 {
        /// Colour as `0xAARRGGBB`; 0 means none.
        color @ 0: u32,
        /// A category of the domain; 0 means none.
        category @ 4: u32,
        /// Bytes of the message; 0 means that it is null-terminated.
        messageLength @ 8: u32,
        /// The message; null means none.
        message @ 16: *const c_char,
    }

    /// The IDs of the schemas of plain events in one domain.
    struct nvtxwEventHelperSchemaIds_t: size 104, align 8 {
        /// [`nvtxwEventUtf8Payload_t`] as mark.
        markUtf8 @ 0: u64,
        /// [`nvtxwEventRegStringPayload_t`] as mark.
        markRegString @ 8: u64,
        /// [`nvtxwRangeEventUtf8Payload_t`] as nesting range.
        rangePushPopUtf8 @ 16: u64,
        /// [`nvtxwRangeEventRegStringPayload_t`] as nesting range.
        rangePushPopRegString @ 24: u64,
        /// [`nvtxwRangeEventUtf8Payload_t`] as range that may overlap others.
        rangeStartEndUtf8 @ 32: u64,
        /// [`nvtxwRangeEventRegStringPayload_t`] as range that may overlap others.
        rangeStartEndRegString @ 40: u64,
        /// [`nvtxwEventUtf8Payload_t`] as push.
        rangePushUtf8 @ 48: u64,
        /// [`nvtxwEventRegStringPayload_t`] as push.
        rangePushRegString @ 56: u64,
        /// [`nvtxwRangePopPayload_t`].
        rangePop @ 64: u64,
        /// [`nvtxwRangeIdEventUtf8Payload_t`] as start.
        rangeStartUtf8 @ 72: u64,
        /// [`nvtxwRangeIdEventRegStringPayload_t`] as start.
        rangeStartRegString @ 80: u64,
        /// [`nvtxwRangeEndPayload_t`].
        rangeEnd @ 88: u64,
        /// The message that follows each UTF-8 header: one zero-terminated string with the message
        /// role.
        eventMessageUtf8 @ 96: u64,
    }

    /// The attributes in the header of an event whose message follows as text.
    struct nvtxwEventUtf8HeaderAttr_t: size 8, align 4 {
        /// Colour as `0xAARRGGBB`; 0 means none.
        color @ 0: u32,
        /// A category of the domain; 0 means none.
        category @ 4: u32,
    }

    /// A mark or a push; the message follows.
    struct nvtxwEventUtf8Payload_t: size 16, align 8 {
        /// When it happened.
        timestamp @ 0: i64,
        /// Colour and category.
        attr @ 8: nvtxwEventUtf8HeaderAttr_t,
    }

    /// A mark or a push with a registered message.
    struct nvtxwEventRegStringPayload_t: size 24, align 8 {
        /// When it happened.
        timestamp @ 0: i64,
        /// Colour, category and message.
        attr @ 8: nvtxwEventAttributes_t,
    }

    /// A pop.
    struct nvtxwRangePopPayload_t: size 8, align 8 {
        /// When it happened.
        timestamp @ 0: i64,
    }

    /// A whole range; the message follows.
    struct nvtxwRangeEventUtf8Payload_t: size 24, align 8 {
        /// When it started.
        timestampBegin @ 0: i64,
        /// When it ended.
        timestampEnd @ 8: i64,
        /// Colour and category.
        attr @ 16: nvtxwEventUtf8HeaderAttr_t,
    }

    /// A whole range with a registered message.
    struct nvtxwRangeEventRegStringPayload_t: size 32, align 8 {
        /// When it started.
        timestampBegin @ 0: i64,
        /// When it ended.
        timestampEnd @ 8: i64,
        /// Colour, category and message.
        attr @ 16: nvtxwEventAttributes_t,
    }

    /// The start of a range with an ID; the message follows.
    struct nvtxwRangeIdEventUtf8Payload_t: size 24, align 8 {
        /// Joins start and end; never 0.
        rangeId @ 0: nvtxRangeId_t,
        /// When it started.
        timestamp @ 8: i64,
        /// Colour and category.
        attr @ 16: nvtxwEventUtf8HeaderAttr_t,
    }

    /// The start of a range with an ID and a registered message.
    struct nvtxwRangeIdEventRegStringPayload_t: size 32, align 8 {
        /// Joins start and end; never 0.
        rangeId @ 0: nvtxRangeId_t,
        /// When it started.
        timestamp @ 8: i64,
        /// Colour, category and message.
        attr @ 16: nvtxwEventAttributes_t,
    }

    /// The end of a range with an ID.
    struct nvtxwRangeEndPayload_t: size 16, align 8 {
        /// The ID of the range's start.
        rangeId @ 0: nvtxRangeId_t,
        /// When it ended.
        timestamp @ 8: i64,
    }
}

constants! { CONSTANTS: Int as i128;
    /// Selects [`markUtf8`](nvtxwEventHelperSchemaIds_t::markUtf8).
    NVTXW_EVENT_HELPER_SCHEMA_MARK_UTF8: u32 = 1 << 0;
    /// Selects [`markRegString`](nvtxwEventHelperSchemaIds_t::markRegString).
    NVTXW_EVENT_HELPER_SCHEMA_MARK_REG_STRING: u32 = 1 << 1;
    /// Selects [`rangePushPopUtf8`](nvtxwEventHelperSchemaIds_t::rangePushPopUtf8).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_UTF8: u32 = 1 << 2;
    /// Selects [`rangePushPopRegString`](nvtxwEventHelperSchemaIds_t::rangePushPopRegString).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_REG_STRING: u32 = 1 << 3;
    /// Selects [`rangeStartEndUtf8`](nvtxwEventHelperSchemaIds_t::rangeStartEndUtf8).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_UTF8: u32 = 1 << 4;
    /// Selects [`rangeStartEndRegString`](nvtxwEventHelperSchemaIds_t::rangeStartEndRegString).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_REG_STRING: u32 = 1 << 5;
    /// Selects [`rangePushUtf8`](nvtxwEventHelperSchemaIds_t::rangePushUtf8).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_UTF8: u32 = 1 << 6;
    /// Selects [`rangePushRegString`](nvtxwEventHelperSchemaIds_t::rangePushRegString).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_REG_STRING: u32 = 1 << 7;
    /// Selects [`rangePop`](nvtxwEventHelperSchemaIds_t::rangePop).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_POP: u32 = 1 << 8;
    /// Selects [`rangeStartUtf8`](nvtxwEventHelperSchemaIds_t::rangeStartUtf8).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_UTF8: u32 = 1 << 9;
    /// Selects [`rangeStartRegString`](nvtxwEventHelperSchemaIds_t::rangeStartRegString).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_REG_STRING: u32 = 1 << 10;
    /// Selects [`rangeEnd`](nvtxwEventHelperSchemaIds_t::rangeEnd).
    NVTXW_EVENT_HELPER_SCHEMA_RANGE_END: u32 = 1 << 11;
    /// Selects all of them. The message's schema comes with each UTF-8 one.
    NVTXW_EVENT_HELPER_SCHEMA_ALL: u32 = (1 << 12) - 1;
}
