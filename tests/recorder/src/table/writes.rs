//! The members that write to a stream.

use std::ffi::c_void;

use nvtxw_abi::raw::*;
use serde_json::{Value, json};

use crate::read::{bytes, get, slice, text};
use crate::recording::{self, Domain};
use crate::{decode, symbol};

/// The order of a batch.
fn order(flags: u64) -> String {
    symbol::name("NVTX_BATCH_FLAG_", flags & 3 << 1)
}

/// The bytes of a payload or an event, and what they say.
fn payload(domain: &Domain, schema: u64, bytes: &[u8], flex: &[u8]) -> Value {
    let lasting = decode::lasting(domain, schema, bytes);
    let mut line = json!({"bytes": symbol::hex(&lasting)});
    if let Some(values) = decode::payload(domain, schema, bytes, flex) {
        line["values"] = values;
    } else if let Some(text) = decode::text(domain, schema, bytes) {
        line["text"] = text;
    }
    line
}

/// Events or samples of the same schema, one after the other.
fn rows(domain: &Domain, schema: u64, bytes: &[u8], flex: &[u8]) -> Value {
    match domain.size(schema) {
        Some(size) if size > 0 => bytes
            .chunks(size)
            .map(|row| payload(domain, schema, row, flex))
            .collect(),
        _ => json!([{"bytes": symbol::hex(bytes)}]),
    }
}

pub(super) unsafe extern "C" fn event_write(
    stream: nvtxwStreamHandle_t,
    payloads: *const nvtxPayloadData_t,
    count: usize,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        let payloads = slice(payloads, count).iter().map(|data| {
            if data.size == usize::MAX {
                return json!({"schema": domain.type_name(data.schemaId), "text": text(data.payload.cast())});
            }
            let mut line = payload(domain, data.schemaId, bytes(data.payload, data.size), &[]);
            line["schema"] = json!(domain.type_name(data.schemaId));
            line
        });
        json!({"call": "EventWrite", "payloads": payloads.collect::<Vec<_>>()})
    })
}

pub(super) unsafe extern "C" fn event_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxEventBatch_t,
) -> i32 {
    let batch = get(batch);
    recording::stream(stream.addr(), |domain| {
        let flex = if batch.flexData.is_null() {
            &[]
        } else {
            bytes(batch.flexData, batch.flexDataOffset + batch.flexDataSize)
        };
        let mut line = json!({
            "call": "EventBatchWrite",
            "schema": domain.type_name(batch.eventSchemaId),
            "events": rows(domain, batch.eventSchemaId, bytes(batch.events, batch.size), flex),
            "scope": domain.scope(batch.scope),
            "order": order(batch.flags),
            "other_flags": batch.flags & !(3 << 1),
        });
        if !batch.flexData.is_null() {
            line["flex"] = json!({"offset": batch.flexDataOffset, "size": batch.flexDataSize, "bytes": symbol::hex(flex)});
        }
        line
    })
}

/// A counter's name and the type of its samples.
fn counter(domain: &Domain, id: u64) -> (String, u64) {
    (
        domain.counter(id),
        domain.counters.get(&id).map_or(0, |counter| counter.schema),
    )
}

pub(super) unsafe extern "C" fn counter_write(
    stream: nvtxwStreamHandle_t,
    timestamp: i64,
    id: u64,
    data: *const c_void,
    size: usize,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        let (label, schema) = counter(domain, id);
        json!({"call": "CounterWrite", "counter": label, "time": timestamp, "sample": payload(domain, schema, bytes(data, size), &[])})
    })
}

pub(super) unsafe extern "C" fn counter_no_value_write(
    stream: nvtxwStreamHandle_t,
    timestamp: i64,
    id: u64,
    reason: u8,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        let reason = symbol::name("NVTX_COUNTER_SAMPLE_", reason);
        json!({"call": "CounterNoValueWrite", "counter": domain.counter(id), "time": timestamp, "reason": reason})
    })
}

pub(super) unsafe extern "C" fn counter_batch_write(
    stream: nvtxwStreamHandle_t,
    batch: *const nvtxCounterBatch_t,
) -> i32 {
    let batch = get(batch);
    recording::stream(stream.addr(), |domain| {
        let (label, schema) = counter(domain, batch.counterId);
        assert_eq!(
            batch.timestampsSize % size_of::<i64>(),
            0,
            "CounterBatchWrite: a timestamp is cut"
        );
        let times = slice(batch.timestamps, batch.timestampsSize / size_of::<i64>());
        json!({
            "call": "CounterBatchWrite",
            "counter": label,
            "samples": rows(domain, schema, bytes(batch.counters, batch.countersSize), &[]),
            "order": order(batch.flags),
            "other_flags": symbol::flags("NVTX_COUNTER_BATCH_FLAG_", &[3 << 32], batch.flags & !(3 << 1)),
            "times": (!batch.timestamps.is_null()).then_some(times),
        })
    })
}

pub(super) unsafe extern "C" fn time_sync_point_write(
    stream: nvtxwStreamHandle_t,
    domain1: u64,
    domain2: u64,
    time1: i64,
    time2: i64,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        json!({
            "call": "TimeSyncPointWrite",
            "time_domains": [domain.time_domain(domain1), domain.time_domain(domain2)],
            "times": [time1, time2],
        })
    })
}

pub(super) unsafe extern "C" fn time_sync_point_table_write(
    stream: nvtxwStreamHandle_t,
    from: u64,
    to: u64,
    points: *const nvtxSyncPoint_t,
    count: usize,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        let points = slice(points, count)
            .iter()
            .map(|point| json!([point.src, point.dst]));
        json!({
            "call": "TimeSyncPointTableWrite",
            "time_domains": [domain.time_domain(from), domain.time_domain(to)],
            "points": points.collect::<Vec<_>>(),
        })
    })
}

pub(super) unsafe extern "C" fn timestamp_conversion_factor_write(
    stream: nvtxwStreamHandle_t,
    from: u64,
    to: u64,
    slope: f64,
    time_from: i64,
    time_to: i64,
) -> i32 {
    recording::stream(stream.addr(), |domain| {
        json!({
            "call": "TimestampConversionFactorWrite",
            "time_domains": [domain.time_domain(from), domain.time_domain(to)],
            "slope": slope,
            "times": [time_from, time_to],
        })
    })
}
