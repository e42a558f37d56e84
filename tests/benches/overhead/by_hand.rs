//! The measured loops, written by hand on the function table as a C program would: what stays the same is looked up
//! before, and each call fills its structs on the stack, calls, and compares the result with 0.

use std::ffi::c_void;
use std::hint::black_box;
use std::num::NonZeroI32;
use std::ptr;

use nvtxw::abi::raw::*;

use crate::cases::{Kernel, Mark, Range, Sample};
use crate::place::place;
use crate::table::Given;

/// What the calls need.
pub struct Producer {
    event_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        *const nvtxPayloadData_t,
        usize,
    ) -> nvtxwResultCode_t,
    batch_write:
        unsafe extern "C" fn(nvtxwStreamHandle_t, *const nvtxEventBatch_t) -> nvtxwResultCode_t,
    counter_write: unsafe extern "C" fn(
        nvtxwStreamHandle_t,
        i64,
        u64,
        *const c_void,
        usize,
    ) -> nvtxwResultCode_t,
    stream: nvtxwStreamHandle_t,
    schema: u64,
    message_schema: u64,
    counter: u64,
    scope: u64,
    flags: u64,
    name: nvtxStringHandle_t,
}

impl Producer {
    /// A producer whose functions come from `table`; the compiler doesn't know one of its fields.
    pub fn of(table: &nvtxwInterface_v2_t) -> Self {
        black_box(Self {
            event_write: table.EventWrite.expect("the table is complete"),
            batch_write: table.EventBatchWrite.expect("the table is complete"),
            counter_write: table.CounterWrite.expect("the table is complete"),
            stream: Given::VALUE,
            schema: Given::VALUE,
            message_schema: Given::VALUE,
            counter: Given::VALUE,
            scope: NVTX_SCOPE_NONE,
            flags: NVTX_BATCH_FLAG_UNSORTED,
            name: Given::VALUE,
        })
    }
}

fn check(code: nvtxwResultCode_t) -> Result<(), NonZeroI32> {
    match NonZeroI32::new(code) {
        None => Ok(()),
        Some(code) => Err(code),
    }
}

#[inline(never)]
pub fn write_batch<const PLACE: usize>(
    out: &Producer,
    batches: &[&[Kernel]],
) -> Result<(), NonZeroI32> {
    place::<PLACE>();
    for batch in batches {
        if batch.is_empty() {
            continue;
        }
        let batch = nvtxEventBatch_t {
            eventSchemaId: out.schema,
            size: size_of_val(*batch),
            events: batch.as_ptr().cast(),
            scope: out.scope,
            flags: out.flags,
            flexData: ptr::null(),
            flexDataSize: 0,
            flexDataOffset: 0,
        };
        // SAFETY:
        // - The stream is open, and the batch lives through the call.
        check(unsafe { (out.batch_write)(out.stream, &batch) })?;
    }
    Ok(())
}

#[inline(never)]
pub fn write<const PLACE: usize>(out: &Producer, events: &[Kernel]) -> Result<(), NonZeroI32> {
    place::<PLACE>();
    for event in events {
        let payload = nvtxPayloadData_t {
            schemaId: out.schema,
            size: size_of::<Kernel>(),
            payload: ptr::from_ref(event).cast(),
        };
        // SAFETY:
        // - The stream is open, and the event lives through the call.
        check(unsafe { (out.event_write)(out.stream, &payload, 1) })?;
    }
    Ok(())
}

#[inline(never)]
pub fn mark<const PLACE: usize>(out: &Producer, marks: &[Mark]) -> Result<(), NonZeroI32> {
    place::<PLACE>();
    for mark in marks {
        let event = nvtxwEventUtf8Payload_t {
            timestamp: mark.time,
            attr: nvtxwEventUtf8HeaderAttr_t {
                color: 0,
                category: 0,
            },
        };
        let text = if mark.text.is_empty() {
            "\0"
        } else {
            mark.text
        };
        let payloads = [
            nvtxPayloadData_t {
                schemaId: out.schema,
                size: size_of_val(&event),
                payload: ptr::from_ref(&event).cast(),
            },
            nvtxPayloadData_t {
                schemaId: out.message_schema,
                size: text.len(),
                payload: text.as_ptr().cast(),
            },
        ];
        // SAFETY:
        // - The stream is open, and the payloads live through the call.
        check(unsafe { (out.event_write)(out.stream, payloads.as_ptr(), payloads.len()) })?;
    }
    Ok(())
}

#[inline(never)]
pub fn pushpop<const PLACE: usize>(out: &Producer, ranges: &[Range]) -> Result<(), NonZeroI32> {
    place::<PLACE>();
    for range in ranges {
        let event = nvtxwRangeEventRegStringPayload_t {
            timestampBegin: range.start,
            timestampEnd: range.end,
            attr: nvtxwEventAttributes_t {
                color: 0,
                category: 0,
                message: out.name,
            },
        };
        let payload = nvtxPayloadData_t {
            schemaId: out.schema,
            size: size_of_val(&event),
            payload: ptr::from_ref(&event).cast(),
        };
        // SAFETY:
        // - The stream is open, and the event lives through the call.
        check(unsafe { (out.event_write)(out.stream, &payload, 1) })?;
    }
    Ok(())
}

#[inline(never)]
pub fn sample<const PLACE: usize>(out: &Producer, samples: &[Sample]) -> Result<(), NonZeroI32> {
    place::<PLACE>();
    for sample in samples {
        let level = f64::from(sample.level);
        // SAFETY:
        // - The stream is open, and the value lives through the call.
        check(unsafe {
            (out.counter_write)(
                out.stream,
                sample.time,
                out.counter,
                ptr::from_ref(&level).cast(),
                size_of_val(&level),
            )
        })?;
    }
    Ok(())
}
