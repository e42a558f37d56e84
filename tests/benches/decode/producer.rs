//! The producer: it writes bytes through any table of C functions.

use std::ptr;

use nvtxw_abi::raw::*;

/// In how many calls the data is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    /// All of it in one.
    Batch,
    /// Each event in one of its own.
    Single,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "in a batch",
            Self::Single => "one by one",
        }
    }
}

/// What is written.
#[derive(Default)]
pub struct Data {
    pub bytes: Vec<u8>,
    /// Where each event ends.
    pub ends: Vec<usize>,
    /// What events in a batch refer to.
    pub pool: Vec<u8>,
    /// Of counters.
    pub times: Option<Vec<i64>>,
    /// So many values are in all of it.
    pub values: usize,
}

/// A stream, and where it goes.
pub struct Calls {
    pub table: nvtxwInterface_v2_t,
    pub stream: nvtxwStreamHandle_t,
    /// The schema of events, or the counter.
    pub id: u64,
}

fn check(code: nvtxwResultCode_t) {
    assert_eq!(code, NVTXW_RESULT_SUCCESS);
}

impl Calls {
    pub fn write(&self, data: &Data, way: Way) {
        match (way, &data.times) {
            (Way::Batch, None) => self.write_batch(data),
            (Way::Single, None) => self.write_events(data),
            (Way::Batch, Some(times)) => self.write_samples(data, times),
            (Way::Single, Some(times)) => self.write_each_sample(data, times),
        }
    }

    fn write_batch(&self, data: &Data) {
        let batch = nvtxEventBatch_t {
            eventSchemaId: self.id,
            size: data.bytes.len(),
            events: data.bytes.as_ptr().cast(),
            scope: NVTX_SCOPE_NONE,
            flags: NVTX_BATCH_FLAG_TIME_SORTED,
            flexData: match data.pool.is_empty() {
                true => ptr::null(),
                false => data.pool.as_ptr().cast(),
            },
            flexDataSize: data.pool.len(),
            flexDataOffset: 0,
        };
        let write = self.table.EventBatchWrite.expect("the table has it");
        // SAFETY:
        // - The stream is open, and what the batch points to lives through the call.
        check(unsafe { write(self.stream, &batch) });
    }

    fn write_events(&self, data: &Data) {
        let write = self.table.EventWrite.expect("the table has it");
        let mut start = 0;
        for &end in &data.ends {
            let payload = nvtxPayloadData_t {
                schemaId: self.id,
                size: end - start,
                payload: data.bytes[start..end].as_ptr().cast(),
            };
            // SAFETY:
            // - The stream is open, and the payload lives through the call.
            check(unsafe { write(self.stream, &payload, 1) });
            start = end;
        }
    }

    fn write_samples(&self, data: &Data, times: &[i64]) {
        let batch = nvtxCounterBatch_t {
            counterId: self.id,
            counters: data.bytes.as_ptr().cast(),
            countersSize: data.bytes.len(),
            flags: NVTX_BATCH_FLAG_TIME_SORTED,
            timestamps: times.as_ptr(),
            timestampsSize: size_of_val(times),
        };
        let write = self.table.CounterBatchWrite.expect("the table has it");
        // SAFETY:
        // - The stream is open, and what the batch points to lives through the call.
        check(unsafe { write(self.stream, &batch) });
    }

    fn write_each_sample(&self, data: &Data, times: &[i64]) {
        let write = self.table.CounterWrite.expect("the table has it");
        let mut start = 0;
        for (&end, &time) in data.ends.iter().zip(times) {
            let bytes = &data.bytes[start..end];
            // SAFETY:
            // - The stream is open, and the sample lives through the call.
            check(unsafe {
                write(
                    self.stream,
                    time,
                    self.id,
                    bytes.as_ptr().cast(),
                    bytes.len(),
                )
            });
            start = end;
        }
    }
}
