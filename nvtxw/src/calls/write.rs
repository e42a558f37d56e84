//! The calls that write.

use std::marker::PhantomData;
use std::ptr;

use nvtxw_abi::{NoValueReason, raw};

use super::{Functions, LiveSession, StreamHandle};
use crate::derived::{NvtxCounterGroup, NvtxEvent, NvtxPayload};
use crate::error::WriteError;

/// Bytes that go to the backend as one sample of a counter.
///
/// # Safety
/// Every byte of every value is initialised.
pub unsafe trait SampleBytes: Copy + 'static {}

macro_rules! numbers {
    ($($ty:ty)+) => { $(
        // SAFETY:
        // - Integers and floats have no padding.
        unsafe impl SampleBytes for $ty {}
    )+ };
}

numbers!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

// SAFETY:
// - `NvtxCounterGroup` requires it.
unsafe impl<G: NvtxCounterGroup> SampleBytes for G {}

/// A struct of a plain event.
///
/// # Safety
/// Every byte of every value is initialised.
pub(crate) unsafe trait PlainBytes: Copy {}

macro_rules! plain {
    ($($name:ident: $($field:ty),+;)+) => {
        $(
            const _: () = assert!(size_of::<raw::$name>() == 0 $(+ size_of::<$field>())+, "the struct has padding");

            // SAFETY:
            // - The struct is as large as its fields together (asserted above), and they have no padding.
            unsafe impl PlainBytes for raw::$name {}
        )+
    };
}

plain! {
    nvtxwEventUtf8Payload_t: i64, u32, u32;
    nvtxwEventRegStringPayload_t: i64, u32, u32, raw::nvtxStringHandle_t;
    nvtxwRangePopPayload_t: i64;
    nvtxwRangeEventUtf8Payload_t: i64, i64, u32, u32;
    nvtxwRangeEventRegStringPayload_t: i64, i64, u32, u32, raw::nvtxStringHandle_t;
    nvtxwRangeIdEventUtf8Payload_t: u64, i64, u32, u32;
    nvtxwRangeIdEventRegStringPayload_t: u64, i64, u32, u32, raw::nvtxStringHandle_t;
    nvtxwRangeEndPayload_t: u64, i64;
}

/// One payload of an event, borrowed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Payload<'a> {
    data: raw::nvtxPayloadData_t,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Payload<'a> {
    #[inline]
    fn new<T>(schema: u64, value: *const T, size: usize) -> Self {
        Self {
            data: raw::nvtxPayloadData_t {
                schemaId: schema,
                size,
                payload: value.cast(),
            },
            bytes: PhantomData,
        }
    }

    /// A typed event; `schema` is its type's.
    #[inline]
    pub(crate) fn event<E: NvtxEvent>(schema: u64, event: &'a E) -> Self {
        Self::new(schema, event, size_of::<E>())
    }

    /// A struct beside an event; `schema` is its type's.
    #[inline]
    pub(crate) fn nested<P: NvtxPayload>(schema: u64, value: &'a P) -> Self {
        Self::new(schema, value, size_of::<P>())
    }

    /// A plain event; `schema` is its struct's.
    #[inline]
    pub(crate) fn plain<T: PlainBytes>(schema: u64, event: &'a T) -> Self {
        Self::new(schema, event, size_of::<T>())
    }

    /// A message, not empty; `schema` is that of zero-terminated UTF-8.
    #[inline]
    pub(crate) fn text(schema: u64, text: &'a [u8]) -> Self {
        Self::new(schema, text.as_ptr(), text.len())
    }

    /// A row of a layout; `schema` is that layout's.
    #[inline]
    pub(crate) fn bytes(schema: u64, row: &'a [u8]) -> Self {
        Self::new(schema, row.as_ptr(), row.len())
    }

    /// A row of a record; `schema` is its record's.
    #[inline]
    pub(crate) fn row(schema: u64, cells: &'a [u64]) -> Self {
        Self::new(schema, cells.as_ptr(), size_of_val(cells))
    }
}

/// What writes events to one stream.
#[derive(Debug)]
pub(crate) struct EventPort<'w> {
    event: unsafe extern "C" fn(
        raw::nvtxwStreamHandle_t,
        *const raw::nvtxPayloadData_t,
        usize,
    ) -> raw::nvtxwResultCode_t,
    batch: unsafe extern "C" fn(
        raw::nvtxwStreamHandle_t,
        *const raw::nvtxEventBatch_t,
    ) -> raw::nvtxwResultCode_t,
    stream: StreamHandle,
    session: PhantomData<&'w LiveSession>,
}

impl<'w> EventPort<'w> {
    #[inline]
    pub(super) fn new(functions: &'w Functions, stream: &StreamHandle) -> Self {
        Self {
            event: functions.event_write,
            batch: functions.event_batch_write,
            stream: StreamHandle(stream.0),
            session: PhantomData,
        }
    }

    /// Writes one event.
    #[inline]
    pub(crate) fn write(&self, payloads: &[Payload<'_>]) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - `Payload` has the layout of `nvtxPayloadData_t`; each one's bytes are initialised and live through the call.
        WriteError::check(unsafe {
            (self.event)(self.stream.0, payloads.as_ptr().cast(), payloads.len())
        })
    }

    /// Writes events in one call; `schema` is their type's, and `flex` what they refer to.
    #[inline]
    pub(crate) fn write_batch<E: NvtxEvent>(
        &self,
        schema: u64,
        events: &[E],
        scope: u64,
        flags: u64,
        flex: &[u8],
    ) -> Result<(), WriteError> {
        let batch = raw::nvtxEventBatch_t {
            eventSchemaId: schema,
            size: size_of_val(events),
            events: events.as_ptr().cast(),
            scope,
            flags,
            flexData: if flex.is_empty() {
                ptr::null()
            } else {
                flex.as_ptr().cast()
            },
            flexDataSize: flex.len(),
            flexDataOffset: 0,
        };
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - The events and `flex` live through the call, and `NvtxEvent` requires that the events' bytes are initialised.
        // - What the events refer to lies within `flex`: `EventWriter` checks that.
        WriteError::check(unsafe { (self.batch)(self.stream.0, &batch) })
    }
}

impl EventPort<'_> {
    /// Writes the bytes of rows in one call; `schema` is that of their layout, whose rows refer to nothing.
    #[inline]
    pub(crate) fn write_batch_bytes(
        &self,
        schema: u64,
        rows: &[u8],
        scope: u64,
        flags: u64,
    ) -> Result<(), WriteError> {
        let batch = raw::nvtxEventBatch_t {
            eventSchemaId: schema,
            size: rows.len(),
            events: rows.as_ptr().cast(),
            scope,
            flags,
            flexData: ptr::null(),
            flexDataSize: 0,
            flexDataOffset: 0,
        };
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - The rows live through the call.
        WriteError::check(unsafe { (self.batch)(self.stream.0, &batch) })
    }
}

/// What writes counters to one stream.
#[derive(Debug)]
pub(crate) struct CounterPort<'w> {
    sample: unsafe extern "C" fn(
        raw::nvtxwStreamHandle_t,
        i64,
        u64,
        *const std::ffi::c_void,
        usize,
    ) -> raw::nvtxwResultCode_t,
    no_value:
        unsafe extern "C" fn(raw::nvtxwStreamHandle_t, i64, u64, u8) -> raw::nvtxwResultCode_t,
    batch: unsafe extern "C" fn(
        raw::nvtxwStreamHandle_t,
        *const raw::nvtxCounterBatch_t,
    ) -> raw::nvtxwResultCode_t,
    stream: StreamHandle,
    session: PhantomData<&'w LiveSession>,
}

impl<'w> CounterPort<'w> {
    #[inline]
    pub(super) fn new(functions: &'w Functions, stream: &StreamHandle) -> Self {
        Self {
            sample: functions.counter_write,
            no_value: functions.counter_no_value_write,
            batch: functions.counter_batch_write,
            stream: StreamHandle(stream.0),
            session: PhantomData,
        }
    }

    /// Writes one sample of a counter of that type.
    #[inline]
    pub(crate) fn sample<C: SampleBytes>(
        &self,
        counter: u64,
        time: i64,
        sample: &C,
    ) -> Result<(), WriteError> {
        self.sample_bytes(counter, time, bytes(std::slice::from_ref(sample)))
    }

    /// Writes the bytes of one sample.
    #[inline]
    pub(crate) fn sample_bytes(
        &self,
        counter: u64,
        time: i64,
        sample: &[u8],
    ) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - The sample lives through the call.
        WriteError::check(unsafe {
            (self.sample)(
                self.stream.0,
                time,
                counter,
                sample.as_ptr().cast(),
                sample.len(),
            )
        })
    }

    /// Writes a sample without a value.
    #[inline]
    pub(crate) fn no_value(
        &self,
        counter: u64,
        time: i64,
        reason: NoValueReason,
    ) -> Result<(), WriteError> {
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        WriteError::check(unsafe { (self.no_value)(self.stream.0, time, counter, reason.to_raw()) })
    }

    /// Writes samples of a counter of that type in one call; no `times` if they hold theirs, the pair that `flags` say, or
    /// one for each.
    #[inline]
    pub(crate) fn batch<C: SampleBytes>(
        &self,
        counter: u64,
        times: &[i64],
        samples: &[C],
        flags: u64,
    ) -> Result<(), WriteError> {
        self.batch_bytes(counter, times, bytes(samples), flags)
    }

    /// Writes the bytes of samples, as [`batch`](Self::batch).
    #[inline]
    pub(crate) fn batch_bytes(
        &self,
        counter: u64,
        times: &[i64],
        samples: &[u8],
        flags: u64,
    ) -> Result<(), WriteError> {
        let batch = raw::nvtxCounterBatch_t {
            counterId: counter,
            counters: samples.as_ptr().cast(),
            countersSize: samples.len(),
            flags,
            timestamps: if times.is_empty() {
                ptr::null()
            } else {
                times.as_ptr()
            },
            timestampsSize: size_of_val(times),
        };
        // SAFETY:
        // - The stream is open as long as its session is borrowed, and one thread at a time has a writer of it.
        // - The samples and times live through the call.
        WriteError::check(unsafe { (self.batch)(self.stream.0, &batch) })
    }
}

/// The bytes of samples.
#[inline]
fn bytes<C: SampleBytes>(samples: &[C]) -> &[u8] {
    // SAFETY:
    // - The slice is that long, and lives as long as the result.
    // - `SampleBytes` requires that every byte is initialised.
    unsafe { std::slice::from_raw_parts(samples.as_ptr().cast(), size_of_val(samples)) }
}
