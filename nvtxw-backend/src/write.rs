//! The path of data into streams.

use std::sync::Arc;

use nvtxw_abi::raw::{NVTX_TYPE_PAYLOAD_SCHEMA_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED};
use nvtxw_abi::{BatchOrdering, IdClass, IntervalPlacement, NoValueReason};

use crate::batch::EventBatch;
use crate::counter::{Counter, CounterKind};
use crate::domain::Domain;
use crate::event::{Event, Payload};
use crate::handle::Entered;
use crate::predefined;
use crate::raw::{CounterBatchArg, EventBatchArg, PayloadArg};
use crate::refusal::{Refusal, Result};
use crate::sample::{CounterBatch, Times};
use crate::schema::Schema;
use crate::stream::{OpenStream, STREAMS};

/// So many payloads of an event are gathered without an allocation.
const INLINE: usize = 8;

pub(crate) fn event(stream: u64, args: &[PayloadArg<'_>]) -> Result<()> {
    let mut stream = enter(stream)?;
    let OpenStream { info, backend, .. } = &mut *stream;
    let domain = &**info.domain();
    let payload = |index: usize| {
        payload(domain, &args[index]).map_err(|refusal| refusal.at(format_args!("payload {index}")))
    };

    if args.len() == 1
        && let Some(payload) = payload(0)?
        && let Some(kind) = payload.schema.event_kind()
    {
        let event = Event::of_one(info, 0, payload, kind)?;
        return backend.call(|backend| backend.write_event(&event));
    }
    let mut inline;
    let mut heap;
    let gathered: &mut [Payload<'_>] = if args.len() <= INLINE {
        inline = [predefined::empty_payload(); INLINE];
        &mut inline
    } else {
        heap = vec![predefined::empty_payload(); args.len()];
        &mut heap
    };
    let mut kept = 0;
    for index in 0..args.len() {
        if let Some(payload) = payload(index)? {
            gathered[kept] = payload;
            kept += 1;
        }
    }
    let event = Event::gather(info, &gathered[..kept])?;
    backend.call(|backend| backend.write_event(&event))
}

/// The payload that `arg` describes; `None` if it is one that is not shown.
fn payload<'a>(domain: &'a Domain, arg: &PayloadArg<'a>) -> Result<Option<Payload<'a>>> {
    let id = arg.schema_id();
    if arg.is_empty()
        || matches!(
            id,
            NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED | NVTX_TYPE_PAYLOAD_SCHEMA_RAW
        )
    {
        return Ok(None);
    }
    let (schema, is_predefined) = match IdClass::of(id) {
        IdClass::Predefined => (predefined::schema(id)?, true),
        IdClass::Static | IdClass::Dynamic => (schema(domain, id)?, false),
    };
    let bytes = arg.bytes(schema.is_text())?;
    let size = schema.size();
    if bytes.len() < size {
        return Err(too_small(schema, bytes.len()));
    }
    let count = (is_predefined && !schema.is_text())
        .then(|| bytes.len() / size)
        .filter(|count| *count != 1);
    Ok(Some(Payload {
        schema,
        bytes,
        count,
    }))
}

pub(crate) fn event_batch(stream: u64, arg: &EventBatchArg<'_>) -> Result<()> {
    let mut stream = enter(stream)?;
    let OpenStream { info, backend, .. } = &mut *stream;
    let domain = &**info.domain();
    let schema = schema(domain, arg.schema).map_err(|refusal| refusal.at("eventSchemaId"))?;
    let Some(kind) = schema.event_kind() else {
        return Err(no_event_schema(schema));
    };
    check_stride("size", arg.bytes.len(), schema.size(), "event")?;
    if !domain.knows_scope(arg.scope) {
        return Err(Refusal::invalid(format!(
            "scope {} is neither predefined nor registered in the stream's domain",
            arg.scope
        )));
    }
    if arg.bytes.is_empty() {
        return Ok(());
    }
    let batch = EventBatch::new(
        info,
        schema,
        kind,
        arg.bytes,
        arg.scope,
        ordering(arg.flags),
    );
    let written = backend.call(|backend| backend.write_batch(&batch));
    written.and(batch.into_refusal().map_or(Ok(()), Err))
}

pub(crate) fn counter(stream: u64, time: i64, counter_id: u64, bytes: &[u8]) -> Result<()> {
    let mut stream = enter(stream)?;
    let OpenStream { info, backend, .. } = &mut *stream;
    let counter = counter_of(info.domain(), counter_id)?;
    if bytes.len() != counter.sample_size() {
        return Err(Refusal::invalid(format!(
            "size is {}, but a sample of counter `{}` has {} bytes",
            bytes.len(),
            counter.name(),
            counter.sample_size()
        )));
    }
    let batch = CounterBatch::new(
        info,
        counter,
        bytes,
        Times::One(time),
        BatchOrdering::Sorted,
    );
    backend.call(|backend| backend.write_counters(&batch))
}

pub(crate) fn no_value(stream: u64, time: i64, counter_id: u64, reason: u8) -> Result<()> {
    let mut stream = enter(stream)?;
    let OpenStream { info, backend, .. } = &mut *stream;
    let counter = counter_of(info.domain(), counter_id)?;
    let reason = NoValueReason::from_raw(reason)
        .ok_or_else(|| Refusal::invalid(format!("reason is {reason}; the ABI defines 0 to 2")))?;
    backend.call(|backend| backend.write_no_value(counter, time, reason))
}

pub(crate) fn counter_batch(stream: u64, arg: &CounterBatchArg<'_>) -> Result<()> {
    let mut stream = enter(stream)?;
    let OpenStream { info, backend, .. } = &mut *stream;
    let counter = counter_of(info.domain(), arg.counter)?;
    if arg.flags & IntervalPlacement::MASK != 0 {
        return Err(Refusal::unsupported(
            "flags ask for a pair of time and interval, which is not read yet: give each sample a timestamp",
        ));
    }
    check_stride(
        "countersSize",
        arg.bytes.len(),
        counter.sample_size(),
        "sample",
    )?;
    let count = arg.bytes.len() / counter.sample_size();
    let embedded = match counter.kind() {
        CounterKind::Group(schema) => schema.plan.time,
        CounterKind::Scalar(_) => None,
    };
    let times = match (arg.timestamps, embedded) {
        (Some(times), _) if times.len() / size_of::<i64>() < count => {
            return Err(Refusal::invalid(format!(
                "timestamps is {} bytes long (timestampsSize), too short for {count} samples: it needs {}",
                times.len(),
                count * size_of::<i64>()
            )));
        }
        (Some(times), _) => Times::Each(times),
        (None, Some(at)) => Times::Embedded(at),
        (None, None) => {
            return Err(Refusal::invalid(format!(
                "timestamps is null, and a sample of counter `{}` holds no timestamp either: give one of them",
                counter.name()
            )));
        }
    };
    if count == 0 {
        return Ok(());
    }
    let batch = CounterBatch::new(info, counter, arg.bytes, times, ordering(arg.flags));
    let written = backend.call(|backend| backend.write_counters(&batch));
    written.and(batch.into_refusal().map_or(Ok(()), Err))
}

/// What is valid, but has no effect yet.
pub(crate) fn clock_relation(stream: u64) -> Result<()> {
    enter(stream)?;
    Err(Refusal::unsupported(
        "relations between time domains are not read yet: convert the timestamps to one time domain before writing them",
    ))
}

fn enter(stream: u64) -> Result<Entered<'static, OpenStream>> {
    let stream = STREAMS.enter(stream)?;
    stream.backend.check()?;
    Ok(stream)
}

fn schema(domain: &Domain, id: u64) -> Result<&Arc<Schema>> {
    domain.registered_schema(id).ok_or_else(|| {
        Refusal::invalid(format!(
            "{id} is no schema of the stream's domain: register it there, and use the ID it gets"
        ))
    })
}

fn counter_of(domain: &Domain, id: u64) -> Result<&Arc<Counter>> {
    domain.counters.get(id).ok_or_else(|| {
        Refusal::invalid(format!(
            "counterId {id} is no counter of the stream's domain: register it there, and use the ID it gets"
        ))
    })
}

fn ordering(flags: u64) -> BatchOrdering {
    // All four numbers that fit there are defined.
    BatchOrdering::from_raw(flags).unwrap_or(BatchOrdering::Unsorted)
}

fn check_stride(argument: &str, size: usize, stride: usize, what: &str) -> Result<()> {
    match size % stride {
        0 => Ok(()),
        rest => Err(Refusal::invalid(format!(
            "{argument} is {size}, which leaves {rest} bytes over: each {what} has {stride} bytes; nothing was written"
        ))),
    }
}

#[cold]
fn too_small(schema: &Schema, size: usize) -> Refusal {
    Refusal::invalid(format!(
        "size is {size}, but a payload of {} has {} bytes",
        schema.label(),
        schema.size()
    ))
}

#[cold]
fn no_event_schema(schema: &Schema) -> Refusal {
    Refusal::invalid(format!(
        "eventSchemaId: {} describes no events: set the kind in its flags; nothing was written",
        schema.label()
    ))
}
