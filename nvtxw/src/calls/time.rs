//! Time domains and resources, and how time domains relate.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;

use nvtxw_abi::raw;

use super::{DomainHandle, Functions, LiveSession, Refusal, StreamHandle, StringHandle};
use crate::error::WriteError;

/// A time domain to register.
pub(crate) struct TimeDomainDefinition {
    pub(crate) scope: u64,
    /// `NVTX_TIMESTAMP_TYPE_*`.
    pub(crate) clock: u64,
    /// 0 if the backend picks the ID.
    pub(crate) static_id: u64,
    /// `NVTX_TIMER_FLAG_*`.
    pub(crate) flags: u64,
    /// Ticks per second; 0 if unknown.
    pub(crate) resolution: i64,
    /// `NVTX_TIMER_START_*`.
    pub(crate) start: u64,
}

/// What a resource is called.
pub(crate) enum ResourceName<'a> {
    Text(&'a CStr),
    Registered(StringHandle),
}

/// One instant as two time domains count it: see [`Writer::sync_points`](crate::Writer::sync_points).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SyncPoint {
    /// The instant in the source time domain, in its ticks.
    pub source: i64,
    /// The same instant in the destination time domain, in its ticks.
    pub destination: i64,
}

const _: () = {
    assert!(size_of::<SyncPoint>() == size_of::<raw::nvtxSyncPoint_t>());
    assert!(align_of::<SyncPoint>() == align_of::<raw::nvtxSyncPoint_t>());
    assert!(
        std::mem::offset_of!(SyncPoint, source) == std::mem::offset_of!(raw::nvtxSyncPoint_t, src)
    );
};

impl LiveSession {
    /// Registers a time domain in a domain of this session.
    pub(crate) fn register_time_domain(
        &self,
        domain: DomainHandle,
        definition: &TimeDomainDefinition,
    ) -> Result<u64, Refusal> {
        let attributes = raw::nvtxTimeDomainAttr_t {
            scopeId: definition.scope,
            timestampTypeId: definition.clock,
            timeDomainId: definition.static_id,
            timerFlags: definition.flags,
            timerResolution: definition.resolution,
            timerStart: definition.start,
        };
        let mut time_domain = 0;
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - `time_domain` is a place of the right type.
        self.id(
            unsafe {
                (self.functions().time_domain_register)(domain.0, &attributes, &mut time_domain)
            },
            time_domain,
        )
    }

    /// Names a resource in a domain of this session; a registered name is one of that domain's.
    pub(crate) fn register_resource(
        &self,
        domain: DomainHandle,
        kind: i32,
        identifier: u64,
        name: &ResourceName<'_>,
    ) -> Result<(), Refusal> {
        let (message_type, message) = match name {
            ResourceName::Text(text) => (
                raw::NVTX_MESSAGE_TYPE_ASCII,
                raw::nvtxMessageValue_t {
                    ascii: text.as_ptr(),
                },
            ),
            ResourceName::Registered(string) => (
                raw::NVTX_MESSAGE_TYPE_REGISTERED,
                raw::nvtxMessageValue_t {
                    registered: string.0,
                },
            ),
        };
        let attributes = raw::nvtxResourceAttributes_t {
            version: raw::NVTX_VERSION,
            size: raw::NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
            identifierType: kind,
            identifier: raw::nvtxResourceIdentifier_t {
                ullValue: identifier,
            },
            messageType: message_type,
            message,
        };
        // SAFETY:
        // - The domain is one of this session's, which lives as long as `self`.
        // - The name lives through the call, and is what `messageType` says.
        self.check(unsafe { (self.functions().resource_register)(domain.0, &attributes) })
    }

    /// What relates time domains in a stream of this session, as [`events`](Self::events) writes events.
    #[inline]
    pub(crate) fn time(&self, stream: &StreamHandle) -> TimePort<'_> {
        TimePort {
            functions: self.functions(),
            stream: StreamHandle(stream.0),
            session: PhantomData,
        }
    }
}

/// What relates time domains in one stream. The numbers of time domains are those of its domain.
pub(crate) struct TimePort<'w> {
    functions: &'w Functions,
    stream: StreamHandle,
    session: PhantomData<&'w LiveSession>,
}

impl TimePort<'_> {
    /// Writes that the two times of `point` are one instant.
    pub(crate) fn sync_point(
        &self,
        source: u64,
        destination: u64,
        point: SyncPoint,
    ) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        WriteError::check(unsafe {
            (self.functions.time_sync_point_write)(
                self.stream.0,
                source,
                destination,
                point.source,
                point.destination,
            )
        })
    }

    /// As [`sync_point`](Self::sync_point), for many.
    pub(crate) fn sync_points(
        &self,
        source: u64,
        destination: u64,
        points: &[SyncPoint],
    ) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - The points live through the call, and have the layout of `nvtxSyncPoint_t` (asserted above).
        WriteError::check(unsafe {
            (self.functions.time_sync_point_table_write)(
                self.stream.0,
                source,
                destination,
                ptr::from_ref(points).cast(),
                points.len(),
            )
        })
    }

    /// Writes that the destination has `slope` ticks per tick of the source, from `point` on.
    pub(crate) fn conversion(
        &self,
        source: u64,
        destination: u64,
        slope: f64,
        point: SyncPoint,
    ) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        WriteError::check(unsafe {
            (self.functions.timestamp_conversion_factor_write)(
                self.stream.0,
                source,
                destination,
                slope,
                point.source,
                point.destination,
            )
        })
    }
}
