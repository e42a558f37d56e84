//! Payload memory: what data is written from.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::slice;

use nvtxw_abi::raw::{nvtxCounterBatch_t, nvtxEventBatch_t, nvtxPayloadData_t};

use crate::call::{CounterBatchCall, EventBatchCall, FlexData, Pointees, WriteCall};
use crate::data::Flex;
use crate::raw::outside::{Promise, TEXT_LIMIT};
use crate::raw::views::items;
use crate::refusal::{Refusal, Result};

/// A payload as the producer describes it. Its memory stays as it is for `'a`.
#[repr(transparent)]
pub(crate) struct PayloadArg<'a> {
    data: nvtxPayloadData_t,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> PayloadArg<'a> {
    /// # Safety
    /// `data` is null or points to `count` payloads. Each one's `payload` is null or points to `size` bytes, or to
    /// null-terminated bytes if that is `SIZE_MAX`. All of it stays as it is for `'a`.
    pub(crate) unsafe fn all(data: *const nvtxPayloadData_t, count: usize) -> Result<&'a [Self]> {
        // SAFETY:
        // - This is a transparent wrapper of the pointee, and the caller vouches for `count` of them for `'a`.
        unsafe { items("payloads", "payloadCount", data.cast::<Self>(), count) }
    }

    pub(crate) fn schema_id(&self) -> u64 {
        self.data.schemaId
    }

    /// Whether its end is where its null is.
    pub(crate) fn is_terminated(&self) -> bool {
        self.data.size == usize::MAX
    }

    /// Whether the payload is to be ignored.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.size == 0
    }

    /// The payload's bytes. Only text, of code units of so many bytes, may say that its end is where its null is, and only
    /// where a promise lets us look for that.
    #[inline(always)]
    pub(crate) fn bytes(&self, unit: Option<usize>, promise: Option<Promise>) -> Result<&'a [u8]> {
        let nvtxPayloadData_t { size, payload, .. } = self.data;
        if size != usize::MAX || payload.is_null() {
            // SAFETY:
            // - Who made this vouched for `size` bytes for `'a`.
            return unsafe { bytes("payload", "size", payload, size) };
        }
        self.bytes_up_to_null(unit, promise)
    }

    #[inline(never)]
    fn bytes_up_to_null(&self, unit: Option<usize>, promise: Option<Promise>) -> Result<&'a [u8]> {
        let payload = self.data.payload;
        let Some(unit) = unit else {
            return Err(Refusal::invalid(
                "size is SIZE_MAX, which only zero-terminated text may have; give the size",
            ));
        };
        let Some(promise) = promise else {
            return Err(Refusal::unsupported(
                "size is SIZE_MAX, but this backend was not loaded as a library, so that it looks for no null; give the size",
            ));
        };
        promise.text(payload.cast(), unit).ok_or_else(|| {
            Refusal::invalid(format!(
                "size is SIZE_MAX, but no null comes within {TEXT_LIMIT} bytes; give the size"
            ))
        })
    }
}

/// A batch of events as the producer describes it.
#[derive(Debug)]
pub(crate) struct EventBatchArg<'a> {
    pub(crate) schema: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) flex: FlexArg<'a>,
    pub(crate) scope: u64,
    pub(crate) flags: u64,
}

impl<'a> EventBatchArg<'a> {
    /// # Safety
    /// `batch` is null or points to a batch, whose `events` are null or point to `size` bytes, and whose `flexData` is null or
    /// has `flexDataSize` bytes at `flexDataOffset`. These stay as they are for `'a`.
    pub(crate) unsafe fn new(batch: *const nvtxEventBatch_t) -> Result<Self> {
        if batch.is_null() {
            return Err(Refusal::invalid("eventBatch is null"));
        }
        // SAFETY:
        // - The pointer is not null, and the caller vouches for what it points to.
        let batch = unsafe { batch.read_unaligned() };
        // SAFETY:
        // - The caller vouches for `size` bytes for `'a`.
        let bytes = unsafe { bytes("events", "size", batch.events, batch.size) }?;
        Ok(Self {
            schema: batch.eventSchemaId,
            bytes,
            flex: FlexArg {
                data: batch.flexData,
                size: batch.flexDataSize,
                offset: batch.flexDataOffset,
                memory: PhantomData,
            },
            scope: batch.scope,
            flags: batch.flags,
        })
    }

    /// The call. `pointees` are those of all events.
    pub(crate) fn call(&self, pointees: Pointees<'a>) -> WriteCall<'a> {
        // Where events refer to it, it was read before; what is none is left out.
        let flex = self.flex.get().ok().flatten();
        WriteCall::EventBatch(EventBatchCall {
            schema: self.schema,
            bytes: self.bytes,
            flex: flex.map(|Flex { bytes, offset }| FlexData { bytes, offset }),
            scope: self.scope,
            flags: self.flags,
            pointees,
        })
    }
}

/// The flexible data of a batch as the producer describes it. Its memory stays as it is for `'a`.
#[derive(Debug)]
pub(crate) struct FlexArg<'a> {
    data: *const c_void,
    size: usize,
    offset: usize,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> FlexArg<'a> {
    /// The flexible data; `None` where there is none, so that events refer to their own bytes.
    pub(crate) fn get(&self) -> Result<Option<Flex<'a>>> {
        if self.data.is_null() {
            return Ok(None);
        }
        let start = self.data.wrapping_byte_add(self.offset);
        // SAFETY:
        // - Who made this vouched for so many bytes there for `'a`.
        let bytes = unsafe { bytes("flexData", "flexDataSize", start, self.size) }?;
        let offset = self.offset;
        Ok(Some(Flex { bytes, offset }))
    }
}

/// A batch of counter samples as the producer describes it.
#[derive(Debug)]
pub(crate) struct CounterBatchArg<'a> {
    pub(crate) counter: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) flags: u64,
    pub(crate) timestamps: Option<&'a [u8]>,
}

impl<'a> CounterBatchArg<'a> {
    /// # Safety
    /// `batch` is null or points to a batch, whose `counters` and `timestamps` are null or point to `countersSize` and
    /// `timestampsSize` bytes. These stay as they are for `'a`.
    pub(crate) unsafe fn new(batch: *const nvtxCounterBatch_t) -> Result<Self> {
        if batch.is_null() {
            return Err(Refusal::invalid("counterBatch is null"));
        }
        // SAFETY:
        // - The pointer is not null, and the caller vouches for what it points to.
        let batch = unsafe { batch.read_unaligned() };
        let timestamps = match batch.timestamps.is_null() {
            true => None,
            // SAFETY:
            // - The caller vouches for `timestampsSize` bytes for `'a`.
            false => Some(unsafe {
                bytes(
                    "timestamps",
                    "timestampsSize",
                    batch.timestamps.cast(),
                    batch.timestampsSize,
                )
            }?),
        };
        // SAFETY:
        // - The caller vouches for `countersSize` bytes for `'a`.
        let bytes = unsafe {
            bytes(
                "counters",
                "countersSize",
                batch.counters,
                batch.countersSize,
            )
        }?;
        Ok(Self {
            counter: batch.counterId,
            bytes,
            flags: batch.flags,
            timestamps,
        })
    }

    /// The call. `pointees` are those of all samples.
    pub(crate) fn call(&self, pointees: Pointees<'a>) -> WriteCall<'a> {
        WriteCall::CounterBatch(CounterBatchCall {
            counter: self.counter,
            bytes: self.bytes,
            flags: self.flags,
            timestamps: self.timestamps,
            pointees,
        })
    }
}

/// Bytes that arguments called `what` and `how_many` describe. Null is fine where there are none.
///
/// # Safety
/// `pointer` is null or points to `size` bytes that stay as they are for `'a`.
#[inline]
pub(crate) unsafe fn bytes<'a>(
    what: &str,
    how_many: &str,
    pointer: *const c_void,
    size: usize,
) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || size > isize::MAX as usize {
        return Err(no_bytes(what, how_many, pointer, size));
    }
    // SAFETY:
    // - The pointer is not null, and bytes need no alignment.
    // - The size is no more than `isize::MAX`.
    // - The caller vouches for so many bytes for `'a`.
    Ok(unsafe { slice::from_raw_parts(pointer.cast(), size) })
}

#[cold]
fn no_bytes(what: &str, how_many: &str, pointer: *const c_void, size: usize) -> Refusal {
    Refusal::invalid(match pointer.is_null() {
        true => format!("{what} is null, but {how_many} is {size}"),
        false => format!("{how_many} is {size}, more than the address space holds"),
    })
}
