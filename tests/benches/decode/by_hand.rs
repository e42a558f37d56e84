//! The backend by hand: functions for one stream of events of one schema, with the checks that the ABI asks for.

use std::ffi::c_void;
use std::sync::Mutex;
use std::{ptr, slice};

use nvtxw_abi::raw::*;

use crate::decoders::{Decoder, Input, Strings};
use crate::producer::Calls;
use crate::shapes::{STRINGS, Shape};
use crate::sink::{Sink, sink};

/// The ID of the one schema, or of the one counter.
const ID: u64 = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;

struct State {
    decoder: Decoder,
    strings: Strings,
    sink: Box<dyn Sink>,
}

/// A stream. A call that comes into another one must fail.
pub struct Opened(Box<Mutex<State>>);

impl Opened {
    pub fn new(shape: &Shape, handles: &[u64]) -> Self {
        let text = |text: &std::ffi::CStr| text.to_str().expect("it is ASCII").into();
        let strings = Strings {
            domain: (handles[0] >> 32) as u32,
            texts: STRINGS.into_iter().map(text).collect(),
        };
        Self(Box::new(Mutex::new(State {
            decoder: shape.decoder,
            strings,
            sink: sink(),
        })))
    }

    pub fn calls(&self) -> Calls {
        Calls {
            table: nvtxwInterface_v2_t {
                EventWrite: Some(event_write),
                EventBatchWrite: Some(event_batch_write),
                CounterWrite: Some(counter_write),
                CounterBatchWrite: Some(counter_batch_write),
                ..EMPTY
            },
            stream: ptr::from_ref(&*self.0).cast_mut().cast(),
            id: ID,
        }
    }

    /// Returns the tape of the stream's sink.
    pub fn close(self) -> Vec<u8> {
        let state = self.0.into_inner().expect("nobody panics");
        state.sink.tape().to_vec()
    }
}

/// Decodes what was written to a stream.
///
/// # Safety
/// `stream` is null, or the handle that [`Opened::calls`] gave of one that still lives.
unsafe fn decode(
    stream: nvtxwStreamHandle_t,
    bytes: &[u8],
    pool: &[u8],
    times: &[u8],
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The caller vouches for it.
    let Some(stream) = (unsafe { stream.cast::<Mutex<State>>().as_ref() }) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    let Ok(mut state) = stream.try_lock() else {
        return NVTXW_RESULT_FAILED;
    };
    let State {
        decoder,
        strings,
        sink,
    } = &mut *state;
    let input = Input {
        bytes,
        pool,
        times,
        strings,
        sink: &mut **sink,
    };
    match decoder(input) {
        Some(()) => NVTXW_RESULT_SUCCESS,
        None => NVTXW_RESULT_INVALID_ARGUMENT,
    }
}

/// Bytes of the producer; null where there are none.
///
/// # Safety
/// `pointer` is null, or so many bytes are there for `'a`.
unsafe fn bytes<'a>(pointer: *const c_void, size: usize) -> Option<&'a [u8]> {
    match size {
        0 => Some(&[]),
        _ if pointer.is_null() => None,
        // SAFETY:
        // - The caller vouches for it.
        _ => Some(unsafe { slice::from_raw_parts(pointer.cast(), size) }),
    }
}

unsafe extern "C" fn event_write(
    stream: nvtxwStreamHandle_t,
    payloads: *const nvtxPayloadData_t,
    count: usize,
) -> nvtxwResultCode_t {
    if payloads.is_null() || count != 1 {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    }
    // SAFETY:
    // - The producer gives a pointer to one payload.
    let payload = unsafe { payloads.read() };
    if payload.schemaId != ID {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    }
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let Some(bytes) = (unsafe { bytes(payload.payload, payload.size) }) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    // SAFETY:
    // - The producer gives the handle of an open stream.
    unsafe { decode(stream, bytes, &[], &[]) }
}

unsafe extern "C" fn event_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxEventBatch_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The producer gives a pointer to a batch.
    let Some(batch) = (unsafe { batch.as_ref() }) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    if batch.eventSchemaId != ID {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    }
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let events = unsafe { bytes(batch.events, batch.size) };
    let pool = batch.flexData.wrapping_byte_add(batch.flexDataOffset);
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let pool = unsafe { bytes(pool, batch.flexDataSize) };
    let (Some(events), Some(pool)) = (events, pool) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    // SAFETY:
    // - The producer gives the handle of an open stream.
    unsafe { decode(stream, events, pool, &[]) }
}

unsafe extern "C" fn counter_write(
    stream: nvtxwStreamHandle_t,
    time: i64,
    counter: u64,
    data: *const c_void,
    size: usize,
) -> nvtxwResultCode_t {
    if counter != ID {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    }
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let Some(bytes) = (unsafe { bytes(data, size) }) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    // SAFETY:
    // - The producer gives the handle of an open stream.
    unsafe { decode(stream, bytes, &[], &time.to_ne_bytes()) }
}

unsafe extern "C" fn counter_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxCounterBatch_t,
) -> nvtxwResultCode_t {
    // SAFETY:
    // - The producer gives a pointer to a batch.
    let Some(batch) = (unsafe { batch.as_ref() }) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    if batch.counterId != ID {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    }
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let samples = unsafe { bytes(batch.counters, batch.countersSize) };
    // SAFETY:
    // - The producer gives a pointer to so many bytes.
    let times = unsafe { bytes(batch.timestamps.cast(), batch.timestampsSize) };
    let (Some(samples), Some(times)) = (samples, times) else {
        return NVTXW_RESULT_INVALID_ARGUMENT;
    };
    // SAFETY:
    // - The producer gives the handle of an open stream.
    unsafe { decode(stream, samples, &[], times) }
}

/// A table without functions.
const EMPTY: nvtxwInterface_v2_t = nvtxwInterface_v2_t {
    SessionBegin: None,
    SessionEnd: None,
    DomainRegister: None,
    CategoryRegister: None,
    StringRegister: None,
    ResourceRegister: None,
    ScopeRegister: None,
    SchemaRegister: None,
    EnumRegister: None,
    CounterRegister: None,
    TimeDomainRegister: None,
    StreamOpen: None,
    StreamClose: None,
    EventWrite: None,
    EventBatchWrite: None,
    CounterWrite: None,
    CounterNoValueWrite: None,
    CounterBatchWrite: None,
    TimeSyncPointWrite: None,
    TimeSyncPointTableWrite: None,
    TimestampConversionFactorWrite: None,
    reserved: [None; 43],
};
