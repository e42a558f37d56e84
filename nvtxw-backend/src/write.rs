//! The path of data into streams.

use std::sync::Arc;

use nvtxw_abi::raw::{NVTX_TYPE_PAYLOAD_SCHEMA_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED};
use nvtxw_abi::{BatchOrdering, EventKind, IdClass, IntervalPlacement, NoValueReason};

use crate::batch::EventBatch;
use crate::call::{EventCall, Pointees};
use crate::counter::Counter;
use crate::domain::Domain;
use crate::event::{Event, Payload};
use crate::plain::PlainEvent;
use crate::raw::{CounterBatchArg, EventBatchArg, PayloadArg};
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::relation::{RelationKind, TimeRelation};
use crate::sample::{CounterBatch, Times};
use crate::scalar::read;
use crate::schema::{Schema, Shape};
use crate::stream::{OpenStream, STREAMS, StreamInfo};
use crate::text::{unit_size, units_before_null};

pub(crate) fn event(stream: u64, args: &[PayloadArg<'_>]) -> Result<()> {
    enter(stream, |stream| {
        let OpenStream {
            info,
            backend,
            payloads,
            with_text,
            ..
        } = stream;
        let domain = &**info.domain();
        if let [arg] = args {
            let payload = payload(domain, 0, arg)?;
            if let Some(kind) = payload.schema.event_kind() {
                let Payload { schema, bytes, .. } = payload;
                if let Some(scope) = plain_scope(info, schema) {
                    let event = PlainEvent::single(bytes, None);
                    let taken =
                        backend.call(|backend| Ok(backend.take_plain(schema, scope, &event)));
                    if let Some(taken) = taken? {
                        return taken;
                    }
                }
                let mut event = Event::unread(info, 0, schema, kind, None);
                event.read_single(bytes)?;
                let call = EventCall::accepted(args, domain);
                return backend.call(|backend| backend.take_event(&event, &call));
            }
        }
        let call = EventCall::accepted(args, domain);
        if let [main, text] = args {
            let ids = [main.schema_id(), text.schema_id()];
            let known = &mut with_text[ids[0] as usize % WITH_TEXT];
            let is_known = known.as_ref().is_some_and(|known| known.ids == ids);
            if !is_known || main.is_empty() || text.is_empty() {
                let payloads = [payload(domain, 0, main)?, payload(domain, 1, text)?];
                let Some((kind, unit)) = Event::kind_before_text(&payloads) else {
                    let event = Event::gather(info, &payloads)?;
                    return backend.call(|backend| backend.take_event(&event, &call));
                };
                let scope = plain_scope(info, payloads[0].schema).filter(|_| unit == 1);
                let schemas = payloads.map(|payload| Arc::clone(payload.schema));
                *known = Some(WithText {
                    ids,
                    schemas,
                    kind,
                    unit,
                    scope,
                });
            }
            if let Some(WithText {
                schemas,
                kind,
                unit,
                scope,
                ..
            }) = &*known
            {
                let [schema, text_schema] = schemas;
                let main = whole_of(domain, schema, None, main);
                let main = main.map_err(|refusal| in_payload(0, refusal))?;
                let text = whole_of(domain, text_schema, Some(*unit), text);
                let text = text.map_err(|refusal| in_payload(1, refusal))?;
                let text = units_before_null(*unit, text);
                if let Some(scope) = *scope {
                    let event = PlainEvent::single(main, Some(text));
                    let taken =
                        backend.call(|backend| Ok(backend.take_plain(schema, scope, &event)));
                    if let Some(taken) = taken? {
                        return taken;
                    }
                }
                let mut event = Event::unread(info, 0, schema, *kind, None);
                event.read_before_text(main, text, *unit)?;
                return backend.call(|backend| backend.take_event(&event, &call));
            }
        }
        let mut gathered = emptied(std::mem::take(payloads));
        for (index, arg) in args.iter().enumerate() {
            gathered.push(payload(domain, index, arg)?);
        }
        let written = Event::gather(info, &gathered)
            .and_then(|event| backend.call(|backend| backend.take_event(&event, &call)));
        *payloads = emptied(gathered);
        written
    })
}

/// The schemas of [a payload and a text](Event::kind_before_text), as plain events are that: so that those are looked up
/// only when they change.
pub(crate) struct WithText {
    ids: [u64; 2],
    schemas: [Arc<Schema>; 2],
    kind: EventKind,
    /// Bytes of a unit of the text.
    unit: usize,
    /// That of all such events, if they may be [taken by their bytes](crate::Stream::take_plain).
    scope: Option<u64>,
}

/// The scope of all single events of a schema, if they may be [taken by their bytes](crate::Stream::take_plain).
#[inline]
fn plain_scope(info: &StreamInfo, schema: &Schema) -> Option<u64> {
    let scope = schema.plan.fixed_scope(0, info.scope_id());
    scope.filter(|_| schema.plan.is_plain)
}

/// How many of them a stream keeps, by their first ID: as many as there are plain events, which have IDs in a row.
pub(crate) const WITH_TEXT: usize = 16;

/// The list without its payloads, so that its memory is used again for others.
fn emptied<'b>(mut payloads: Vec<Payload<'_>>) -> Vec<Payload<'b>> {
    payloads.clear();
    // Collected where it is.
    let none = payloads.into_iter().map(|_| unreachable!("it is empty"));
    none.collect()
}

#[cold]
fn in_payload(index: usize, refusal: Refusal) -> Refusal {
    refusal.at(format_args!("payload {index}"))
}

/// The payload that `arg` describes, the one at `index` of an event.
#[inline(always)]
fn payload<'a>(domain: &'a Domain, index: usize, arg: &PayloadArg<'a>) -> Result<Payload<'a>> {
    described(domain, arg).map_err(|refusal| in_payload(index, refusal))
}

#[inline(always)]
pub(crate) fn described<'a>(domain: &'a Domain, arg: &PayloadArg<'a>) -> Result<Payload<'a>> {
    match IdClass::of(arg.schema_id()) {
        IdClass::Static | IdClass::Dynamic if !arg.is_empty() => {
            let schema = schema(domain, arg.schema_id())?;
            let bytes = whole(domain, schema, arg)?;
            Ok(Payload {
                schema,
                bytes,
                count: None,
            })
        }
        _ => predefined_payload(domain, arg),
    }
}

/// The same for a payload of a predefined type, and for one that is ignored.
fn predefined_payload<'a>(domain: &'a Domain, arg: &PayloadArg<'a>) -> Result<Payload<'a>> {
    let predefined = &domain.predefined;
    if arg.is_empty() {
        return Ok(predefined.blob(&[]));
    }
    let schema = match arg.schema_id() {
        NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED => {
            return Ok(predefined.blob(arg.bytes(None, None)?));
        }
        NVTX_TYPE_PAYLOAD_SCHEMA_RAW => return Ok(predefined.raw(arg.bytes(None, None)?)),
        id => predefined.schema(id)?,
    };
    let bytes = whole(domain, schema, arg)?;
    let count = match schema.plan.whole_text {
        Some(_) => None,
        None => Some(bytes.len() / schema.size()).filter(|count| *count != 1),
    };
    Ok(Payload {
        schema,
        bytes,
        count,
    })
}

/// The bytes of a payload of `schema`, at least as many as that has.
#[inline(always)]
fn whole<'a>(domain: &Domain, schema: &Schema, arg: &PayloadArg<'a>) -> Result<&'a [u8]> {
    whole_of(domain, schema, schema.plan.whole_text.map(unit_size), arg)
}

/// The same, which has units of so many bytes if it is text as a whole.
#[inline(always)]
fn whole_of<'a>(
    domain: &Domain,
    schema: &Schema,
    unit: Option<usize>,
    arg: &PayloadArg<'a>,
) -> Result<&'a [u8]> {
    let bytes = arg.bytes(unit, domain.promise)?;
    match bytes.len() < schema.size() {
        true => Err(too_small(schema, bytes.len())),
        false => Ok(bytes),
    }
}

/// Bytes of a code unit of the text that a payload of this schema is as a whole.
pub(crate) fn text_unit(domain: &Domain, schema: u64) -> Option<usize> {
    let schema = match IdClass::of(schema) {
        IdClass::Predefined => domain.predefined.schema(schema).ok()?,
        _ => domain.registered_schema(schema)?,
    };
    schema.plan.whole_text.map(unit_size)
}

pub(crate) fn event_batch(stream: u64, arg: &EventBatchArg<'_>) -> Result<()> {
    enter(
        stream,
        |OpenStream {
             info,
             backend,
             session,
             ..
         }| {
            let domain = &**info.domain();
            let schema =
                schema(domain, arg.schema).map_err(|refusal| refusal.at("eventSchemaId"))?;
            let Some(kind) = schema.event_kind() else {
                return Err(no_event_schema(schema));
            };
            if schema.shape != Shape::Dynamic {
                check_stride("size", arg.bytes.len(), schema.size(), "event")?;
            }
            if !domain.knows_scope(arg.scope) {
                return Err(Refusal::invalid(format!(
                    "scope {} is neither predefined nor registered in the stream's domain",
                    arg.scope
                ))
                .because(Cause::Unregistered(IdKind::Scope, arg.scope)));
            }
            if arg.bytes.is_empty() {
                return backend.call(|backend| backend.take_nothing(&arg.call(Pointees::UNKNOWN)));
            }
            // What no entry refers to is not looked at.
            let flex = match schema.plan.refers {
                true => arg.flex.get()?,
                false => None,
            };
            let batch = EventBatch::new(info, schema, kind, arg, flex, ordering(arg.flags));
            let written = backend.call(|backend| backend.write_batch(&batch));
            written.and(batch.finish(&session.account.tally))
        },
    )
}

pub(crate) fn counter(stream: u64, time: i64, counter_id: u64, bytes: &[u8]) -> Result<()> {
    enter(stream, |OpenStream { info, backend, .. }| {
        let counter = counter_of(info.domain(), counter_id)?;
        let size = counter.sample_size();
        // Behind a struct there may be what it refers to.
        let (is_right, least) = match counter.is_plain() {
            true => (bytes.len() == size, ""),
            false => (bytes.len() >= size && !bytes.is_empty(), "at least "),
        };
        if !is_right {
            return Err(Refusal::invalid(format!(
                "size is {}, but a sample of counter `{}` has {least}{size} bytes",
                bytes.len(),
                counter.name(),
            )));
        }
        let batch = CounterBatch::new(
            info,
            counter,
            bytes,
            Times::One(time),
            BatchOrdering::Sorted,
        );
        batch.check(bytes)?;
        backend.call(|backend| backend.write_counters(&batch))
    })
}

pub(crate) fn no_value(stream: u64, time: i64, counter_id: u64, reason: u8) -> Result<()> {
    enter(stream, |OpenStream { info, backend, .. }| {
        let counter = counter_of(info.domain(), counter_id)?;
        let reason = NoValueReason::from_raw(reason).ok_or_else(|| {
            Refusal::invalid(format!("reason is {reason}; the ABI defines 0 to 2"))
        })?;
        backend.call(|backend| backend.write_no_value(counter, time, reason))
    })
}

pub(crate) fn counter_batch(stream: u64, arg: &CounterBatchArg<'_>) -> Result<()> {
    enter(
        stream,
        |OpenStream {
             info,
             backend,
             session,
             ..
         }| {
            let counter = counter_of(info.domain(), arg.counter)?;
            if !counter.is_dynamic() {
                let size = counter.sample_size();
                check_stride("countersSize", arg.bytes.len(), size, "sample")?;
            }
            let mut batch = CounterBatch::new(
                info,
                counter,
                arg.bytes,
                Times::Embedded,
                ordering(arg.flags),
            );
            let count = batch.len();
            if count == 0 {
                return backend.call(|backend| backend.take_nothing(&arg.call(Pointees::UNKNOWN)));
            }
            batch.arg = Some(arg);
            batch.times = times(arg.flags, arg.timestamps, counter, count)?;
            let written = backend.call(|backend| backend.write_counters(&batch));
            written.and(batch.finish(&session.account.tally))
        },
    )
}

/// Where the timestamps of `count` samples are, at least one.
pub(crate) fn times<'a>(
    flags: u64,
    timestamps: Option<&'a [u8]>,
    counter: &Counter,
    count: usize,
) -> Result<Times<'a>> {
    let placement = match flags & IntervalPlacement::MASK {
        0 => None,
        flags => Some(IntervalPlacement::from_raw(flags).ok_or_else(|| {
            Refusal::invalid(
                "flags say both that the time of the pair is the first sample's and that it is the last one's",
            )
        })?),
    };
    let needed = match placement {
        None => count * size_of::<i64>(),
        Some(_) => 2 * size_of::<i64>(),
    };
    match (timestamps, placement, counter.has_times()) {
        (Some(times), None, _) if times.len() < needed => Err(Refusal::invalid(format!(
            "timestamps is {} bytes long (timestampsSize), too short for {count} samples: it needs {needed}",
            times.len()
        ))),
        (Some(times), Some(_), _) if times.len() < needed => Err(Refusal::invalid(format!(
            "timestamps is {} bytes long (timestampsSize), too short for a pair of time and interval: it needs {needed}",
            times.len()
        ))),
        (Some(times), None, _) => Ok(Times::Each(times)),
        (Some(pair), Some(placement), _) => Ok(Times::Steps {
            time: read(pair, 0),
            interval: read(pair, size_of::<i64>()),
            before: match placement {
                IntervalPlacement::BeginTime => 0,
                IntervalPlacement::EndTime => count - 1,
            },
        }),
        (None, Some(_), _) => Err(Refusal::invalid(
            "timestamps is null, but flags promise a pair of time and interval there",
        )),
        (None, None, true) => Ok(Times::Embedded),
        (None, None, false) => Err(Refusal::invalid(format!(
            "timestamps is null, and a sample of counter `{}` holds no timestamp either: give one of them",
            counter.name()
        ))),
    }
}

pub(crate) fn relation(stream: u64, relation: &TimeRelation<'_>) -> Result<()> {
    enter(stream, |OpenStream { info, backend, .. }| {
        relation.check(info.domain())?;
        match relation.kind() {
            RelationKind::Points(points) if points.iter().len() == 0 => {
                backend.call(|backend| backend.take_nothing(&relation.call()))
            }
            _ => backend.call(|backend| backend.write_relation(relation)),
        }
    })
}

/// Does the work of a call on a stream, alone.
fn enter(stream: u64, work: impl FnOnce(&mut OpenStream) -> Result<()>) -> Result<()> {
    let mut stream = STREAMS.enter(stream)?;
    stream.backend.check()?;
    work(&mut stream)
}

fn schema(domain: &Domain, id: u64) -> Result<&Arc<Schema>> {
    domain.registered_schema(id).ok_or_else(|| {
        Refusal::invalid(format!(
            "{id} is no schema of the stream's domain: register it there, and use the ID it gets"
        ))
        .because(Cause::Unregistered(IdKind::Layout, id))
    })
}

fn counter_of(domain: &Domain, id: u64) -> Result<&Arc<Counter>> {
    domain.counters.get(id).ok_or_else(|| {
        Refusal::invalid(format!(
            "counterId {id} is no counter of the stream's domain: register it there, and use the ID it gets"
        ))
        .because(Cause::Unregistered(IdKind::Counter, id))
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
        ))
        .because(Cause::BatchSize)),
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
