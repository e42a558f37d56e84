//! Writes what was read: a scope and a stream for each thread, then its events in the order of time.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use nvtxw::{
    BatchOrdering, Domain, DomainId, RecordLayout, RecordRow, Schema, Session, Stream,
    StreamOptions, StreamOrdering, Writer, escape_segment,
};

use crate::row::{
    Annotation, Call, CpuOp, CpuRange, GpuAnnotation, GpuRange, InRow, Instant, Kernel, MemoryOp,
    Row, Sync,
};
use crate::trace::{Held, Process, Thread, Trace};

/// What was written.
#[derive(Default)]
pub struct Written {
    pub ranges: usize,
    pub instants: usize,
    pub threads: usize,
}

/// Registers everything, then writes thread by thread.
pub fn write(session: &mut Session, domain: DomainId, trace: &mut Trace) -> nvtxw::Result<Written> {
    let mut registering = session.domain_at(domain)?;
    let schemas = Schemas::register(&mut registering)?;
    let mut records = register_records(&mut registering, trace)?;

    let threads = in_order(trace);
    let mut streams = open_streams(session, domain, trace, &threads)?;
    let mut written = Written {
        threads: threads.len(),
        ..Written::default()
    };
    for (thread, stream) in threads.iter().zip(&mut streams) {
        let out = session.writer(stream)?;
        let mut events = thread.events.as_slice();
        while let Some(first) = events.first() {
            let done = match first.row {
                Row::CpuOp(_) => write_run(&out, schemas.cpu_op, events, &mut records)?,
                Row::Annotation(_) => write_run(&out, schemas.annotation, events, &mut records)?,
                Row::Call(_) => write_run(&out, schemas.call, events, &mut records)?,
                Row::CpuRange(_) => write_run(&out, schemas.cpu_range, events, &mut records)?,
                Row::Kernel(_) => write_run(&out, schemas.kernel, events, &mut records)?,
                Row::MemoryOp(_) => write_run(&out, schemas.memory_op, events, &mut records)?,
                Row::Sync(_) => write_run(&out, schemas.sync, events, &mut records)?,
                Row::GpuAnnotation(_) => {
                    write_run(&out, schemas.gpu_annotation, events, &mut records)?
                }
                Row::GpuRange(_) => write_run(&out, schemas.gpu_range, events, &mut records)?,
                Row::Instant(_) => write_run(&out, schemas.instant, events, &mut records)?,
            };
            match first.row {
                Row::Instant(_) => written.instants += done,
                _ => written.ranges += done,
            }
            events = &events[done..];
        }
    }
    Ok(written)
}

/// The threads that have events, by the numbers that the profiler sorts processes and threads by.
fn in_order(trace: &Trace) -> Vec<&Thread> {
    let mut threads: Vec<_> = trace
        .threads
        .iter()
        .filter(|thread| !thread.events.is_empty())
        .collect();
    threads.sort_by_key(|thread| {
        let process = &trace.processes[thread.process];
        (process.sort_index, thread.process, thread.sort_index)
    });
    threads
}

/// Opens a stream for each thread, with the scope `process/thread`. Tracks stand in the order in which their scopes are
/// registered.
fn open_streams(
    session: &mut Session,
    domain: DomainId,
    trace: &Trace,
    threads: &[&Thread],
) -> nvtxw::Result<Vec<Stream>> {
    let open = |(process, thread): (String, String)| {
        let (process, thread) = (escape_segment(&process), escape_segment(&thread));
        let mut registering = session.domain_at(domain)?;
        let process_scope = registering.scope(&process)?;
        let scope = registering.scope_in(process_scope, &thread)?;
        let options = StreamOptions::new(domain)
            .scope(scope)
            .ordering(StreamOrdering::PackedRangeStart)
            .batch_ordering(BatchOrdering::Sorted)
            .plain_events(false);
        session.open_stream(&format!("{process}/{thread}"), options)
    };
    labels(trace, threads).into_iter().map(open).collect()
}

/// Writes the rows of one type that `events` begins with, and says how many they were.
fn write_run<E: InRow>(
    out: &Writer<'_>,
    schema: Schema<E>,
    events: &[Held],
    records: &mut [RecordRow],
) -> nvtxw::Result<usize> {
    let out = out.events(schema)?;
    let mut batch = Vec::new();
    for event in events {
        let Some(row) = E::of(&event.row) else { break };
        if let Some(record) = event.record {
            if batch.is_empty() {
                let record = &mut records[record];
                for (column, (_, cell)) in event.extra.iter().enumerate() {
                    record.set(column, cell.value())?;
                }
                out.write_with(row, &*record)?;
                return Ok(1);
            }
            break;
        }
        batch.push(*row);
    }
    out.write_batch(&batch)?;
    Ok(batch.len())
}

/// Registers a record for each set of names and types of arguments that no struct has, and tells the events.
fn register_records(domain: &mut Domain<'_>, trace: &mut Trace) -> nvtxw::Result<Vec<RecordRow>> {
    let mut by_layout = HashMap::new();
    let mut rows = Vec::new();
    for event in trace
        .threads
        .iter_mut()
        .flat_map(|thread| &mut thread.events)
        .filter(|event| !event.extra.is_empty())
    {
        let columns = event.extra.iter();
        let layout = columns.fold(RecordLayout::new(), |layout, (name, cell)| {
            cell.add_to(layout, trace.names.text(*name))
        });
        event.record = Some(match by_layout.entry(layout) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                rows.push(domain.record("arguments", new.key())?.row());
                *new.insert(rows.len() - 1)
            }
        });
    }
    Ok(rows)
}

/// What the process and the thread of each stream are called; no two pairs are alike.
fn labels(trace: &Trace, threads: &[&Thread]) -> Vec<(String, String)> {
    let mut namesakes = HashMap::new();
    for thread in threads {
        *namesakes
            .entry((thread.process, thread_label(thread, trace)))
            .or_insert(0) += 1;
    }
    let mut used = HashSet::new();
    let mut labels = Vec::new();
    for thread in threads {
        let id = trace.names.text(thread.id);
        let process = process_label(&trace.processes[thread.process], trace);
        let mut label = thread_label(thread, trace);
        if namesakes[&(thread.process, label.clone())] > 1 {
            label = format!("{label} {id}");
        }
        while !used.insert((process.clone(), label.clone())) {
            label = format!("{label} {id}");
        }
        labels.push((process, label));
    }
    labels
}

/// `python 4711 (CPU)`: the name, the id, the labels.
fn process_label(process: &Process, trace: &Trace) -> String {
    let labels = process.labels.as_ref().map(|labels| format!("({labels})"));
    let id = Some(trace.names.text(process.id));
    let parts = [process.name.as_deref(), id, labels.as_deref()];
    let parts = parts.into_iter().flatten().map(str::trim);
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "(no process)".to_owned()
    } else {
        parts.join(" ")
    }
}

/// The name, else the id.
fn thread_label(thread: &Thread, trace: &Trace) -> String {
    let name = thread.name.as_deref().unwrap_or_default().trim();
    let id = trace.names.text(thread.id).trim();
    let label = [name, id].into_iter().find(|part| !part.is_empty());
    label.unwrap_or("(no thread)").to_owned()
}

struct Schemas {
    cpu_op: Schema<CpuOp>,
    annotation: Schema<Annotation>,
    call: Schema<Call>,
    cpu_range: Schema<CpuRange>,
    kernel: Schema<Kernel>,
    memory_op: Schema<MemoryOp>,
    sync: Schema<Sync>,
    gpu_annotation: Schema<GpuAnnotation>,
    gpu_range: Schema<GpuRange>,
    instant: Schema<Instant>,
}

impl Schemas {
    fn register(domain: &mut Domain<'_>) -> nvtxw::Result<Self> {
        Ok(Self {
            cpu_op: domain.schema()?,
            annotation: domain.schema()?,
            call: domain.schema()?,
            cpu_range: domain.schema()?,
            kernel: domain.schema()?,
            memory_op: domain.schema()?,
            sync: domain.schema()?,
            gpu_annotation: domain.schema()?,
            gpu_range: domain.schema()?,
            instant: domain.schema()?,
        })
    }
}
