//! Handles, and the attributes of sessions, domains and streams.

use core::ffi::c_char;

use crate::raw::definition::{constants, layout};

/// What a session handle points to; only the backend knows it.
#[repr(C)]
pub struct nvtxwSession_st {
    opaque: [u8; 0],
}

/// What a stream handle points to; only the backend knows it.
#[repr(C)]
pub struct nvtxwStream_st {
    opaque: [u8; 0],
}

/// What a domain handle points to; only the backend knows it.
#[repr(C)]
pub struct nvtxDomainRegistration_st {
    opaque: [u8; 0],
}

/// What a string handle points to; only the backend knows it.
#[repr(C)]
pub struct nvtxStringRegistration_st {
    opaque: [u8; 0],
}

/// A session, from `SessionBegin` to `SessionEnd`.
pub type nvtxwSessionHandle_t = *mut nvtxwSession_st;
/// A stream, from `StreamOpen` to `StreamClose` or to the end of its session.
pub type nvtxwStreamHandle_t = *mut nvtxwStream_st;
/// A domain, from `DomainRegister` to the end of its session.
pub type nvtxDomainHandle_t = *mut nvtxDomainRegistration_st;
/// A registered string, from `StringRegister` to the end of its session; null means none.
pub type nvtxStringHandle_t = *mut nvtxStringRegistration_st;
/// What joins the start and the end of a range; 0 means none.
pub type nvtxRangeId_t = u64;

layout! {
    /// What a session begins with.
    struct nvtxwSessionAttributes_t: size 24, align 8 {
        /// Bytes of this struct that the caller knows.
        structSize @ 0: usize,
        /// The session's name; a backend may name its output after it.
        name @ 8: *const c_char,
        /// `key=value` entries separated by line feed, carriage return or `|`; null means none.
        configString @ 16: *const c_char,
    }

    /// Which domain to register or to find.
    struct nvtxwDomainAttributes_t: size 16, align 8 {
        /// Bytes of this struct that the caller knows.
        structSize @ 0: usize,
        /// The domain's name; null and empty are the session's default domain.
        name @ 8: *const c_char,
    }

    /// What a stream opens with.
    struct nvtxwStreamAttributes_t: size 56, align 8 {
        /// Bytes of this struct that the caller knows.
        structSize @ 0: usize,
        /// The stream's name, unique in its session.
        name @ 8: *const c_char,
        /// The domain in which everything that the stream's data refers to is registered; null is
        /// the default domain.
        domain @ 16: nvtxDomainHandle_t,
        /// The scope of data that names none: `NVTX_SCOPE_NONE`, `NVTX_SCOPE_ROOT` or one of the
        /// domain's.
        scopeId @ 24: u64,
        /// The time domain of timestamps that name none: a timestamp type or one of the domain's.
        timeDomainId @ 32: u64,
        /// `NVTXW_STREAM_ORDER_INTERLEAVING_*`.
        orderInterleaving @ 40: i16,
        /// `NVTXW_STREAM_ORDERING_TYPE_*`.
        orderingType @ 42: i16,
        /// `NVTXW_STREAM_ORDERING_SKID_*`.
        orderingSkid @ 44: i32,
        /// How far data may be out of order, in the unit that `orderingSkid` names.
        orderingSkidAmount @ 48: i64,
    }
}

constants! { CONSTANTS: Int as i128;
    /// The stream's order holds across all of its scopes.
    NVTXW_STREAM_ORDER_INTERLEAVING_NONE: i16 = 0;
    /// The stream's order holds within each scope only.
    NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE: i16 = 1;

    /// Nothing is known about the order.
    NVTXW_STREAM_ORDERING_TYPE_UNKNOWN: i16 = 0;
    /// All data are points in time, written in the order in which they happened.
    NVTXW_STREAM_ORDERING_TYPE_STRICT: i16 = 1;
    /// Points in the order in which they happened, ranges by their start.
    NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START: i16 = 2;
    /// Points in the order in which they happened, ranges by their end.
    NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END: i16 = 3;

    /// The order is exact.
    NVTXW_STREAM_ORDERING_SKID_NONE: i32 = 0;
    /// Data may come late by up to `orderingSkidAmount` nanoseconds, whatever the unit of the
    /// timestamps.
    NVTXW_STREAM_ORDERING_SKID_TIME_NS: i32 = 1;
    /// Data may come late by up to `orderingSkidAmount` events.
    NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT: i32 = 2;
}
